"""Metropolis-Hastings on one thread: Gibbs sweeps at first, then saved proposals (X-DMM)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends._gibbs import LAYOUT, GibbsChain
from coterie.backends.base import DEFAULT, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.kernels import _proposals as kernel
from coterie.kernels import gibbs, metropolis
from coterie.kernels._proposals import FULL, SEED, Proposals
from coterie.state import Assignment, State
from coterie.urns import Urn

FEW = 0.1  # Gibbs sweeps end when no larger share of the documents moves,
WINDOW, CALM = 3, 0.8  # and in three sweeps not less than this part of what moved in three before;
LATEST = 30  # and after so many at the latest
ANCHORS = 4  # documents by which the others name a cluster

KEPT = ("ptr", "entry", "mass", "size")  # of Proposals; the alias tables follow from these
Arrays = dict[str, npt.NDArray[Any]]


class MetropolisChain(GibbsChain):
    """A state being sampled by Metropolis-Hastings.

    Gibbs sweeps come first. When few documents move, and no longer fewer from sweep to sweep, the
    conditional of every document is saved as its proposal, and the sweeps after that are Metropolis
    sweeps; `SweepStats.sampler` and so the trace say which a sweep was. The proposals stay as they
    are, and the chain's law is the posterior: long-run frequencies of all partitions of five tiny
    documents match it.

    `options.refresh=n` saves them again every n sweeps, as X-DMM does. A proposal made from the chain's own
    past biases it: total variation from the posterior on the same tiny corpora, 200,000 sweeps, where
    never to refresh measures 0.5 to 0.6%, all of it noise:

        n                         1           2           3           5
        few words shared     2.3, 3.1    1.5, 1.8    0.8, 1.3    0.9, 0.8    % (finite, process)
        many words shared    0.9, 0.8    0.5, 0.7    0.6, 0.6    0.6, 0.5
        tied documents       2.7, 3.2    1.8, 2.0    1.2, 1.3    0.7, 1.1

    Without full draws for documents whose cluster has changed, it is twice as much.
    """

    def __init__(
        self, counts: Counts, urn: Urn, state: State, options: SamplerOptions = DEFAULT
    ) -> None:
        super().__init__(counts, urn, state, options)
        self.proposals: Proposals | None = None  # None: still Gibbs
        self.since = 0  # the sweep after which proposals were saved
        self.moved: list[int] = []  # what moved in the last sweeps, while it is Gibbs

    @staticmethod
    def refusal(urn: Urn, options: SamplerOptions) -> str | None:
        """Why this sampler cannot take this urn, in a sentence; None if it can."""
        if urn.location.kappa:
            return "sampler='metropolis' cannot use document vectors; use sampler='gibbs' or 'blocked'."
        return None

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        if self._is_due(sweep - 1):
            if not self._save(should_stop):
                return None
            self.since = sweep - 1
        if self.proposals is not None:
            return self._metropolis(self.proposals, key, sweep, should_stop)
        stats = super().sweep(key, sweep, should_stop)
        if stats is not None:
            self.moved = [*self.moved, stats.moved][-2 * WINDOW :]
        return stats

    def wants_relayout(self, sweep: int) -> bool:
        """Less often than for Gibbs: a layout costs more than a sweep of proposals."""
        calm = self.proposals is not None and sweep % 64 != 0
        return not calm and super().wants_relayout(sweep)

    def memory(self) -> Arrays:
        """Beside the layout the proposals, once there are any: the state they were saved from is gone.

        Before that, what moved.
        """
        layout = super().memory()
        if self.proposals is None:
            return {**layout, "moved": np.array(self.moved, np.int64)}
        kept = {name: getattr(self.proposals, name) for name in KEPT}
        return {**layout, "since": np.array([self.since], np.int64), **kept}

    def recall(self, memory: Arrays) -> bool:
        """Take up what moved, or saved proposals; False if they cannot be of this corpus and urn."""
        layout = {name: array for name, array in memory.items() if name.startswith(LAYOUT)}
        memory = {name: array for name, array in memory.items() if name not in layout}
        if not super().recall(layout):
            return False
        if set(memory) <= {"moved"}:
            moved = memory.get("moved", np.zeros(0, np.int64))
            self.moved = moved.ravel().tolist()
            return moved.dtype == np.int64 and moved.ndim == 1 and moved.size <= 2 * WINDOW
        if not _is_sound(memory, self.counts, self.urn.seeds.weight.size):
            return False
        self.since = int(memory["since"][0])
        self.proposals = _with_alias(*(memory[name] for name in KEPT))
        return True

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment; proposals are saved when it has settled."""
        super().replace(assignment)
        self.proposals, self.moved = None, []

    def _is_due(self, done: int) -> bool:
        """Whether to save proposals after so many sweeps."""
        if self.proposals is None:
            return self._is_calm() or done >= LATEST
        return self.options.refresh is not None and done - self.since == self.options.refresh

    def _is_calm(self) -> bool:
        """Whether few documents move, and no longer fewer from sweep to sweep."""
        before, now = sum(self.moved[:-WINDOW]), sum(self.moved[-WINDOW:])
        if len(self.moved) < 2 * WINDOW:
            return False
        few = self.moved[-1] <= FEW * self.counts.weight.sum()
        return bool(few) and now >= CALM * before

    def _metropolis(
        self, proposals: Proposals, key: int, sweep: int, should_stop: Callable[[], bool] | None
    ) -> SweepStats | None:
        self.begin(key, sweep)
        self.scratch.stats[:] = 0
        tally = np.zeros(3, np.int64)
        done = 0
        for stop in self.stops:
            while done < stop:
                done = metropolis.sweep(
                    self.counts, self.urn, self.state, self.fixed, self.derived, self.scratch, proposals,
                    self.options.steps, np.uint64(key), sweep, done, stop, tally,
                )  # fmt: skip
                if done < stop:
                    self.relayout()
            if should_stop is not None and stop < self.counts.n_docs and should_stop():
                return None
        return SweepStats("metropolis", *self.scratch.stats.tolist(), *tally.tolist())

    def _save(self, should_stop: Callable[[], bool] | None) -> bool:
        """Save every document's conditional as its proposal; False if told to stop."""
        counts, urn, state = self.counts, self.urn, self.state
        width = state.size.size
        fixed, scratch = self.fixed, self.scratch
        derived = self.derived._replace(log_weight=np.zeros(width), log_total=np.zeros(width))
        gibbs.derive(counts, urn, state, derived, scratch)
        rest = np.zeros(int(counts.length[~self.fixed.is_long].max(initial=0)) + 1)
        kernel.note_rest(urn, state, rest)
        slots, shares, sizes = [], [], []
        first = 0
        for stop in self.stops:
            slot = np.zeros((stop - first, kernel.KEPT + 1), np.int32)
            share = np.zeros(slot.shape)
            kernel.record(
                counts, urn, state, fixed, derived, scratch, rest, first, stop, slot, share
            )
            kept = share > 0.0
            slots.append(slot[kept])
            shares.append(share[kept])
            sizes.append(kept.sum(axis=1, dtype=np.int64))
            first = stop
            if should_stop is not None and stop < counts.n_docs and should_stop():
                return False
        ptr = np.append(0, np.cumsum(np.concatenate(sizes)))
        mass = np.concatenate(shares)
        slot = np.concatenate(slots)
        entry = _named(state.z, urn.seeds.weight.size, ptr, slot, mass)
        main = slot[ptr[:-1]]
        size = state.size[main] - np.where(main == state.z, counts.weight, 0)
        self.proposals = _with_alias(ptr, entry, mass, np.where(main < 0, 0, size))
        return True


def _named(
    z: npt.NDArray[np.int32],
    n_seeds: int,
    ptr: npt.NDArray[np.int64],
    slot: npt.NDArray[np.int32],
    mass: npt.NDArray[np.float64],
) -> npt.NDArray[np.int32]:
    """Entries for slots: of each cluster's documents one of those surest to stay, SEED - k for seeds."""
    doc = np.repeat(np.arange(z.size), np.diff(ptr))
    sure = np.bincount(doc, mass * (slot == z[doc]), z.size)
    by_slot = np.lexsort((-sure, z))
    size = np.bincount(z)
    start = np.cumsum(size) - size
    entry = np.where(slot >= 0, SEED - slot, slot)
    found = slot >= n_seeds
    slot, doc = slot[found], doc[found]
    n_anchors = np.minimum(size[slot], ANCHORS)
    anchor = by_slot[start[slot] + doc % n_anchors]
    next_one = by_slot[start[slot] + (doc + 1) % n_anchors]
    entry[found] = np.where(anchor == doc, next_one, anchor)
    return entry.astype(np.int32)


def _with_alias(
    ptr: npt.NDArray[np.int64],
    entry: npt.NDArray[np.int32],
    mass: npt.NDArray[np.float64],
    size: npt.NDArray[np.int64],
) -> Proposals:
    """Proposals with their alias tables."""
    made = Proposals(ptr, entry, mass, size, np.empty_like(mass), np.empty_like(entry))
    longest = int(np.diff(ptr).max(initial=0))
    kernel.fill_alias(made, np.zeros(longest, np.int64), np.zeros(longest, np.int64))
    return made


def _is_sound(memory: Arrays, counts: Counts, n_seeds: int) -> bool:
    """Whether these are proposals for this corpus: no kernel may leave an array by them."""
    types = {"since": np.int64, "ptr": np.int64, "entry": np.int32, "mass": np.float64}
    if {name: array.dtype for name, array in memory.items()} != types | {"size": np.int64}:
        return False
    ptr, entry, mass, size = (memory[name] for name in KEPT)
    shaped = (
        memory["since"].shape == (1,)
        and ptr.shape == (counts.n_docs + 1,)
        and size.shape == (counts.n_docs,)
        and entry.shape == mass.shape == (entry.size,)
        and ptr[0] == 0
        and ptr[-1] == entry.size
        and bool((np.diff(ptr) > 0).all())
    )
    return shaped and bool(
        (entry[ptr[1:] - 1] == FULL).all()
        and (entry > SEED - n_seeds).all()
        and (entry < counts.n_docs).all()
        and (entry != np.repeat(np.arange(counts.n_docs), np.diff(ptr))).all()
        and (mass > 0.0).all()
        and (abs(np.add.reduceat(mass, ptr[:-1]) - 1.0) < 1e-9).all()
        and ((size >= 0) & (size <= counts.weight.sum())).all()
    )
