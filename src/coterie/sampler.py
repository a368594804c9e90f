"""run(): the only loop over sweeps, with stopping, callbacks, checkpoints and time limit."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from coterie import checkpoint
from coterie._disk import Claim
from coterie._system import noted_interrupts
from coterie.backends.base import DEFAULT, Backend, Chain, Elsewhere, SamplerOptions
from coterie.counts import Counts
from coterie.errors import Unsupported
from coterie.sample_start import Sampling, Started, sample_start
from coterie.start import Init, first_assignment
from coterie.state import Assignment, is_possible
from coterie.steps import Learned, Moment, Step
from coterie.trace import SweepRecord, Trace, record
from coterie.urns import Urn

WINDOW = 5  # sweeps over which "settled" is judged, against as many before them
LIVELY = 0.02  # share of documents that may move after convergence without a word about it
TOL = 1e-3  # what `converged` means when no tol was given
AUTO_BLOCKED = 5_000_000  # entries (distinct words of documents) from which "auto" draws in blocks
GPU_PAYS = 20_000_000  # entries from which a sweep on all cores takes some tenths of a second


class Plan(NamedTuple):
    """How to run: everything except the data, the urn and the backend."""

    n_sweeps: int
    init: Init
    key: int | None  # None: drawn from the system, or taken from the checkpoint
    options: SamplerOptions = DEFAULT
    tol: float | None = None
    max_time: float | None = None
    callbacks: Sequence[Callable[[Event], Any]] = ()
    checkpoint: Path | None = None
    checkpoint_every: int = 1
    steps: Sequence[Step] = ()  # between sweeps, in this order
    sampling: Sampling = Sampling()  # init="sample"
    on_sample: Callable[[int, int], Any] | None = None  # called with a sweep of it, and the most

    @property
    def from_sample(self) -> bool:
        """Whether a sample is fitted first."""
        return isinstance(self.init, str) and self.init == "sample"


class Event(NamedTuple):
    """What a callback gets after each sweep. Returning True stops the run."""

    record: SweepRecord
    n_sweeps: int
    last: bool
    assignment: Assignment  # as it is now: copy what you want to keep
    trace: Trace


class Stop(NamedTuple):
    """Why a run ended."""

    kind: str  # "sweeps" (all done), "settled", "time", "interrupted" or "callback"
    words: str


class Run(NamedTuple):
    """A finished run."""

    assignment: Assignment
    urn: Urn  # the one it ended with
    learned: Mapping[str, Learned]  # by the name of the step
    trace: Trace
    key: int
    converged: bool
    reason: str
    stop: Stop


def run(counts: Counts, urn: Urn, plan: Plan, backend: Backend) -> Run:
    """Sample: start, or continue from a checkpoint, then sweep until done or stopped."""
    options, why = resolved(plan.options, counts, getattr(backend, "default_sampler", None))
    plan = plan._replace(options=options)
    refusal = backend.supports(urn, options)
    if refusal:
        raise Unsupported(refusal)
    began = time.perf_counter()
    with checkpoint.claimed(plan.checkpoint) as place:
        return _sample(counts, urn, plan, backend, place, why, began)


def _sample(
    counts: Counts,
    urn: Urn,
    plan: Plan,
    backend: Backend,
    place: Claim | None,
    why: str,
    began: float,
) -> Run:
    decides = {"init": plan.init, "key": plan.key, **plan.options._replace(n_jobs=1)._asdict()}
    decides |= {"steps": [step.name for step in plan.steps]} if plan.steps else {}
    decides |= backend.identity() if plan.checkpoint and isinstance(backend, Elsewhere) else {}
    mark = checkpoint.fingerprint(counts, urn, decides) if plan.checkpoint else ""
    saved = _read(plan, mark, counts, urn, backend)
    if saved is not None:
        trace, key, learned = saved.trace, saved.key, saved.learned
        urn = _restored(urn, plan.steps, learned)
        assignment = saved.assignment
        began -= saved.elapsed
    else:
        key = plan.key if plan.key is not None else secrets.randbits(64)
        assignment, learned, note = _start(counts, urn, plan, key, backend)
        urn = _restored(urn, plan.steps, learned)
        trace = Trace(notes=[said for said in (why, note) if said])
    chain = backend.open(counts, urn, assignment, plan.options)
    if saved is not None and saved.kind == chain.kind and not chain.recall(saved.memory):
        assert plan.checkpoint is not None
        raise checkpoint.misfit(plan.checkpoint)
    stop: Stop | None = None
    with noted_interrupts() as interrupted, _closing(plan.callbacks):
        if 0 < len(trace) < plan.n_sweeps:  # a run that had stopped stays so
            stop = _why_stop(trace, plan, counts, time.perf_counter() - began, interrupted)
            stop = _tell(plan, trace, chain, stop)
        while stop is None and len(trace) < plan.n_sweeps:
            sweep = len(trace) + 1
            started = time.perf_counter()
            stats = chain.sweep(key, sweep, interrupted)
            if stats is None:
                stop = Stop("interrupted", f"interrupted in sweep {sweep}")
                break
            urn, learned = _between(counts, urn, plan, chain, key, sweep, learned)
            terms, seconds = chain.joint_terms(), time.perf_counter() - started
            what = (sweep, stats.moved, seconds, stats.sampler)
            trace.append(record(counts, urn, chain.assignment(), terms, *what))
            stop = _why_stop(trace, plan, counts, time.perf_counter() - began, interrupted)
            stop = _tell(plan, trace, chain, stop)
            due = sweep % plan.checkpoint_every == 0 or stop or sweep == plan.n_sweeps
            if place is not None and due:
                elapsed = time.perf_counter() - began
                now = (chain.assignment(), trace, key, elapsed, learned, chain.kind, chain.memory())
                checkpoint.write(place, mark, checkpoint.Saved(*now))
    n_docs = int(counts.weight.sum())
    settled, why = judge(trace, n_docs, plan.tol if plan.tol is not None else TOL)
    done = stop or Stop("sweeps", f"all {plan.n_sweeps} sweeps done")
    reason = f"{done.words}; {why}"
    return Run(chain.assignment(), urn, learned, trace, key, settled, reason, done)


def _start(counts: Counts, urn: Urn, plan: Plan, key: int, backend: Backend) -> Started:
    """The first assignment, and what was learned on the way to it."""
    if not plan.from_sample:
        return Started(first_assignment(counts, urn, plan.init, key, backend))

    def say(event: Event) -> None:  # returns nothing: True would stop the sweeps
        if plan.on_sample is not None:
            plan.on_sample(event.record.sweep, event.n_sweeps)

    def fit(some: Counts, thin: Urn, init: Init, inner: int) -> Started:
        steps = [step for step in plan.steps if step.learns]
        how = DEFAULT._replace(sampler="auto")
        if plan.options.sampler == "blocked":  # threads share the sample, too
            how = DEFAULT._replace(sampler="blocked", n_jobs=plan.options.n_jobs)
        small = Plan(
            plan.sampling.sweeps, init, inner, how, plan.tol, plan.max_time, [say], steps=steps
        )
        done = run(some, thin, small, backend)
        if done.stop.kind == "interrupted":
            raise KeyboardInterrupt
        return Started(done.assignment, done.learned)

    return sample_start(counts, urn, key, backend, fit, plan.options, plan.sampling.most)


def _read(
    plan: Plan, mark: str, counts: Counts, urn: Urn, backend: Backend
) -> checkpoint.Saved | None:
    """The checkpoint to go on from, if there is one."""
    if plan.checkpoint is None:
        return None
    judge = backend.is_possible if isinstance(backend, Elsewhere) else is_possible
    saved = checkpoint.read(plan.checkpoint, mark, plan.n_sweeps, partial(judge, counts, urn))
    if saved is None:
        return None
    unknown = set(saved.learned) - {step.name for step in plan.steps}
    if plan.key not in (None, saved.key) or unknown:
        raise checkpoint.misfit(plan.checkpoint)
    return saved


def _restored(urn: Urn, steps: Sequence[Step], learned: Mapping[str, Learned]) -> Urn:
    """The urn with all that was learned in earlier sittings."""
    for step in steps:
        if step.name in learned:
            urn = step.restore(urn, learned[step.name])
    return urn


def _between(
    counts: Counts,
    urn: Urn,
    plan: Plan,
    chain: Chain,
    key: int,
    sweep: int,
    learned: Mapping[str, Learned],
) -> tuple[Urn, Mapping[str, Learned]]:
    """Do the steps of the plan; returns the urn to go on with, and all that was learned."""
    for step in plan.steps:
        change = step(Moment(counts, urn, chain.assignment(), key, sweep, plan.n_sweeps))
        if change is None:
            continue
        if change.urn is not None:
            urn = change.urn
            chain.retune(urn)
        if change.assignment is not None:
            chain.replace(change.assignment)
        if change.learned:
            learned = {**learned, step.name: dict(change.learned)}
    return urn, learned


def resolved(
    options: SamplerOptions, counts: Counts, only: str | None = None
) -> tuple[SamplerOptions, str]:
    """The sampler that "auto" means for this corpus, and a sentence why: never by cores or timing.

    `only`: the one that the backend has, if it has one.
    """
    if options.sampler != "auto":
        return options, ""
    if only is not None:
        return options._replace(sampler=only), f"Sampler: {only!r}, the default of this backend."
    words = int(counts.ptr[-1])
    many = words >= AUTO_BLOCKED
    sampler = "blocked" if many else "gibbs"
    why = (
        f"Sampler: {sampler!r}. The documents have {words:,} words (repeats within a document count once);"
        f" from {AUTO_BLOCKED:,}, they are drawn in blocks, which threads can share."
    )
    if words >= GPU_PAYS:
        why += " An NVIDIA GPU would be much faster: backend='cuda'."
    return options._replace(sampler=sampler), why


def judge(trace: Trace, n_docs: int, tol: float) -> tuple[bool, str]:
    """Whether the chain has converged, and a sentence about it.

    Converged: compared with the five sweeps before, in the last five sweeps the likelihood per word
    rose by less than `tol` nats per sweep, and the share of documents that move fell by less than a
    tenth (or is below `tol`). A Gibbs chain never stops moving; it stops improving.
    """
    if len(trace) < 2 * WINDOW:
        return False, f"too few sweeps ({len(trace)}) to judge convergence"
    likelihood, moved = trace["log_likelihood"], trace["moved"] / max(n_docs, 1)
    rise = (likelihood[-WINDOW:].mean() - likelihood[-2 * WINDOW : -WINDOW].mean()) / WINDOW
    now, before = moved[-WINDOW:].mean(), moved[-2 * WINDOW : -WINDOW].mean()
    quiet = now <= tol or now >= 0.9 * before
    settled = bool(quiet and rise < tol)
    return settled, (
        f"{'converged' if settled else 'not converged'}: log-likelihood per word"
        f" {likelihood[-WINDOW:].mean():.3f} ({rise:+.2g} per sweep), {now:.1%} of the documents move"
        f" per sweep ({before:.1%} before)"
        + (", between clusters that suit them equally well" if settled and now > LIVELY else "")
    )


def _why_stop(
    trace: Trace, plan: Plan, counts: Counts, elapsed: float, interrupted: Callable[[], bool]
) -> Stop | None:
    if interrupted():
        return Stop("interrupted", f"interrupted after sweep {len(trace)}")
    if plan.max_time is not None and elapsed >= plan.max_time:
        return Stop("time", f"time limit of {plan.max_time:g} s reached after sweep {len(trace)}")
    if plan.tol is not None and judge(trace, int(counts.weight.sum()), plan.tol)[0]:
        return Stop("settled", f"stopped early after sweep {len(trace)}")
    return None


def _tell(plan: Plan, trace: Trace, chain: Chain, stop: Stop | None) -> Stop | None:
    last = stop is not None or len(trace) >= plan.n_sweeps
    event = Event(trace[-1], plan.n_sweeps, last, chain.assignment(), trace)
    for callback in plan.callbacks:
        if callback(event) is True and stop is None:
            stop = Stop("callback", f"stopped by a callback after sweep {len(trace)}")
    return stop


@contextmanager
def _closing(callbacks: Sequence[Any]) -> Iterator[None]:
    """Close the callbacks that can be closed, however the run ends."""
    try:
        yield
    finally:
        for callback in callbacks:
            if hasattr(callback, "close"):
                callback.close()
