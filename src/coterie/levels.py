"""How many groups: the tree of a clustering, levels of it, and which level several runs agree on.

The clusters of a run are joined pair by pair (`merging.tree`). Cutting that tree at n groups, and a few
sweeps in which no other group may open, give n groups that are better than those of a run with n
clusters from the start. To choose n, other runs of a sample of the texts are cut the same way: `choose`
takes the level that says most on which the runs agree. How often they agree on a text and its group is
the trust in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import merging, metrics, sampler
from coterie._agreement import entropy
from coterie.backends import SamplerOptions, get_backend, threads
from coterie.counts import Counts, subset
from coterie.fitting import Task
from coterie.merging import MergeClusters, Tree
from coterie.sample_start import is_large, thinned
from coterie.state import Assignment, dense, from_labels
from coterie.urns import NO_CAP, Urn, changed

SAMPLE, SAMPLE_LARGE = (
    8000,
    25_000,
)  # texts that several runs are compared on, at least and at most,
SHARE = 8  # and in between this part of them: an eighth
OTHER_RUNS, OTHER_SWEEPS = 2, 15
REFINE, REFINE_SAMPLE = 6, 4  # sweeps after a cut: of all texts, of the sample
REFINE_LARGE = 3  # of all texts of a large corpus
GROWTH = 1.3  # from one level to the next
ENOUGH = 0.74  # agreement of which more counts for a level, and less against it
NEARLY = 0.9  # a finer level is taken if its score is at least this share of the best
PERFECT = 1.1  # what the agreement is seen against: near 1, little more of it counts much
FEW, SURE = 5, 0.95  # three or four groups are taken only if the runs agree so well on them
CHOSEN = "The number of clusters"  # opens the note on the level that was chosen
DOUBT = 0.4  # clusters whose trust is lower are doubtful
PRIOR = 0.1  # alpha of a fixed number of groups cut from a process

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Level(NamedTuple):
    """A number of groups, and what speaks for it."""

    groups: int
    log_joint: float
    agreement: float  # between runs cut at this number, 1: identical; nan: there was one run only


class Found(NamedTuple):
    """All levels, and the one that was chosen."""

    levels: list[Level]  # few groups first; the last one is the finest
    chosen: int  # number of groups
    trust: Floats  # (documents,) how well the runs agree on each text and its group
    tree: Tree | None = None  # of the finest groups


class _Cut(NamedTuple):
    """A run that can be cut."""

    assignment: Assignment
    urn: Urn
    tree: Tree | None

    @property
    def finest(self) -> int:
        return int(self.assignment.open_slots.size)


def grid(finest: int, fewest: int = 2) -> list[int]:
    """The numbers of groups that are tried, the finest last."""
    levels, n = [], float(fewest)
    while round(n) < finest:
        levels.append(round(n))
        n = max(n + 1, n * GROWTH)
    return [*levels, finest]


def cut(task: Task, urn: Urn, assignment: Assignment, n: int, key: int) -> tuple[Urn, Assignment]:
    """Exactly n groups (seeds included) of an assignment with more, and the urn that has n.

    There must be a tree, or no more than n groups.
    """
    tree = merging.tree(task.counts, urn, assignment)
    return _refined(task, _Cut(assignment, urn, tree), n, key, _sweeps(task.counts))


def _sweeps(counts: Counts) -> int:
    """How many follow a cut of all texts."""
    return REFINE_LARGE if is_large(counts) else REFINE


def _refined(task: Task, run: _Cut, n: int, key: int, sweeps: int) -> tuple[Urn, Assignment]:
    urn = with_cap(run.urn, n)
    if run.tree is None or n >= run.finest:
        return urn, run.assignment
    n_seeds = urn.seeds.weight.size
    labels = run.tree.labels(run.assignment, n - n_seeds)
    begun = from_labels(task.counts, urn, _packed(labels, n_seeds)).assignment
    options = task.plan.options._replace(sampler=_exact(task.plan.options))
    plan = sampler.Plan(sweeps, begun, key, options)
    done = _run(task, urn, plan)
    return urn, _with_all(task.counts, urn, begun, done.assignment)


def _run(task: Task, urn: Urn, plan: sampler.Plan) -> sampler.Run:
    """A run that ends with KeyboardInterrupt if it is interrupted: half of a comparison is none."""
    done = sampler.run(task.counts, urn, plan, get_backend(task.backend))
    if done.stop.kind == "interrupted":
        raise KeyboardInterrupt
    return done


def _exact(options: SamplerOptions) -> str:
    return options.sampler if options.sampler in ("gibbs", "blocked") else "auto"


def divided(
    task: Task, urn: Urn, assignment: Assignment, n: int, key: int
) -> tuple[Urn, Assignment]:
    """Exactly n groups of an assignment with fewer: the largest one in two parts, again and again."""
    labels, n_seeds = assignment.labels.copy(), urn.seeds.weight.size
    while True:
        found = labels[labels >= n_seeds]
        size = np.bincount(found, minlength=int(labels.max()) + 1)
        if np.count_nonzero(size) + n_seeds >= n or size.max() < 2:
            break
        docs = np.flatnonzero(labels == size.argmax())
        labels[docs[_half(task, urn, docs, key)]] = size.size
    urn = with_cap(urn, n)
    return urn, from_labels(task.counts, urn, _packed(labels, n_seeds)).assignment


def _half(task: Task, urn: Urn, docs: Ints, key: int) -> npt.NDArray[np.bool_]:
    """Which of these documents to part from the others; every other one, if they are all alike."""
    counts = subset(task.counts, docs)
    none = changed(with_cap(urn, 2), **NO_SEEDS)
    options = task.plan.options._replace(sampler=_exact(task.plan.options))
    plan = sampler.Plan(REFINE, "random", key, options)
    labels = _run(task._replace(counts=counts), none, plan).assignment.labels
    apart = labels != labels[0]
    return np.asarray(apart if apart.any() else np.arange(docs.size) % 2 == 1)


NO_SEEDS = {
    "seed_weight": np.zeros(0),
    "seed_ptr": np.zeros(1, np.int64),
    "seed_word": np.zeros(0, np.int32),
    "seed_count": np.zeros(0, np.int32),
}


def with_cap(urn: Urn, n: int) -> Urn:
    """The urn of exactly n groups: none can open beside them."""
    if urn.sizes.cap < NO_CAP:
        return changed(urn, cap=n)
    return changed(urn, cap=n, size_prior=PRIOR, open_weight=0.0)


def _with_all(counts: Counts, urn: Urn, begun: Assignment, done: Assignment) -> Assignment:
    """Give groups that lost all their documents back those that they began with."""
    labels, was = _by_id(done), _by_id(begun)
    lost = begun.open_slots.size - done.open_slots.size
    if lost <= 0:
        return done
    gone = np.setdiff1d(was, labels)[:lost]
    back = np.where(np.isin(was, gone), was, labels)
    whole = from_labels(counts, urn, _packed(back, urn.seeds.weight.size)).assignment
    return whole if whole.open_slots.size == begun.open_slots.size else begun


def _packed(labels: npt.NDArray[Any], n_seeds: int) -> npt.NDArray[np.int32]:
    """Slots without gaps behind those of the seeds, so that none is beyond the cap."""
    found = labels >= n_seeds
    packed = labels.astype(np.int32)
    packed[found] = n_seeds + dense(labels[found])
    return packed


def _by_id(assignment: Assignment) -> Ints:
    return np.asarray(assignment.id[assignment.labels], np.int64)


def find(
    task: Task,
    run: sampler.Run,
    *,
    asked: int | None = None,
    choose_level: bool = True,
    n_jobs: int | None = None,
    on_progress: Callable[[int, int], Any] = lambda done, total: None,
) -> tuple[sampler.Run, Found]:
    """Choose a level by the agreement of several runs, or take the one asked for.

    Returns the run with the labels of that level. `on_progress` is told how many sweeps of the sample are
    done, and of how many.
    """
    main = _Cut(run.assignment, run.urn, merging.tree(task.counts, run.urn, run.assignment))
    docs = _sample(task.counts.n_docs)
    some = task._replace(counts=subset(task.counts, docs))
    runs = [_of_sample(task, some, main, docs), *_others(task, some, run, n_jobs)]
    finest = max(2, int(np.median([one.finest for one in runs])))
    if asked is not None:
        tried = [min(asked, finest)]
    else:
        can_cut = choose_level and main.tree is not None
        tried = grid(finest, 2 + run.urn.seeds.weight.size) if can_cut else [finest]
    labels, begun = [], OTHER_RUNS * OTHER_SWEEPS
    each = len(runs) * REFINE_SAMPLE
    for number, n in enumerate(tried):
        on_progress(begun + number * each, begun + len(tried) * each)
        labels.append(_at_level(some, runs, n, run.key, n_jobs))
    agreed = [_agreement(of_runs) for of_runs in labels]
    said = [float(np.mean([_entropy(z) for z in of_runs])) for of_runs in labels]
    best = choose(tried, agreed, said, _is_thin(task.counts.n_docs)) if asked is None else 0
    n = asked if asked is not None else (main.finest if tried[best] == finest else tried[best])
    measured = dict(zip(tried, agreed, strict=True))
    if main.finest not in measured:  # the other runs have as many as that, or all that they have
        measured[main.finest] = _agreement(_at_level(some, runs, main.finest, run.key, n_jobs))
    levels = _levels(main, run, measured)
    if n < main.finest or asked is not None:
        urn, assignment = _refined(task, main, n, run.key, _sweeps(task.counts))
        run = run._replace(urn=urn, assignment=assignment)
    trust = _trust(run.assignment.labels, docs, labels[best][1:])
    return run, Found(levels, int(run.assignment.open_slots.size), trust, main.tree)


def choose(
    tried: Sequence[int], agreed: Sequence[float], entropy: Sequence[float], thin: bool = False
) -> int:
    """The level that says most on which the runs agree.

    Its score is entropy x (agreement - ENOUGH) / (PERFECT - agreement). Of levels that are nearly as
    good, it is the finest. Where none reaches ENOUGH, the level is taken that they agree on best. Three or
    four groups must be agreed on nearly perfectly, and two are never enough: all texts fall into some
    broad parts that say little.

    A thin sample has only some texts of each fine group, so runs of it agree less on these than the texts
    would allow. There, where none reaches ENOUGH, it is the level with the highest agreement x
    sqrt(entropy). Without that, of two samples of 100,000 titles one was given 5 groups and one 860.
    """
    n, agreement = np.array(tried), np.array(agreed)
    fits = (n >= FEW) | ((agreement >= SURE) & (n > 2)) | (n == n.max())
    score = np.array(entropy) * (agreement - ENOUGH) / (PERFECT - agreement)
    nearly = NEARLY
    if not (score[fits] > 0.0).any():
        score = np.maximum(agreement, 0.0)
        if thin:
            score, nearly = score * np.sqrt(entropy), 1.0
    best = score[fits].max()
    return int(np.flatnonzero(fits & (score >= nearly * best))[-1])


def stops(levels: Sequence[Level]) -> list[int]:
    """Numbers of groups on which the runs agree better than on the next coarser and finer ones."""
    found = []
    for i, level in enumerate(levels):
        near = [other.agreement for other in levels[max(i - 1, 0) : i + 2]]
        if level.groups >= 3 and level.agreement == max(near):
            found.append(level.groups)
    return found


def _is_thin(n_docs: int) -> bool:
    """Return whether the sample for the comparison has few texts of each group."""
    return n_docs > SAMPLE_LARGE


def _sample(n_docs: int) -> Ints:
    """Documents for the comparison, evenly spaced."""
    size = min(max(SAMPLE, n_docs // SHARE), SAMPLE_LARGE)
    if n_docs <= size:
        return np.arange(n_docs)
    return np.linspace(0, n_docs - 1, size).astype(np.int64)


def _of_sample(task: Task, some: Task, main: _Cut, docs: Ints) -> _Cut:
    """The main run, with the sample's documents only."""
    if docs.size == task.counts.n_docs:
        return main
    labels = main.assignment.labels[docs]
    found = from_labels(some.counts, main.urn, labels).assignment
    return _Cut(found, main.urn, merging.tree(some.counts, main.urn, found))


def _others(task: Task, some: Task, run: sampler.Run, n_jobs: int | None) -> list[_Cut]:
    """Other runs of the sample, with what the main run learned.

    The prior shrinks with a thin sample, as where the run of a large corpus begins: 25,000 of a million
    texts have few of each group, and with the whole prior these would be merged.
    """
    n_docs = task.counts.n_docs
    share = some.counts.n_docs / n_docs if _is_thin(n_docs) else 1.0
    start = thinned(run.urn, share)

    def one(number: int) -> _Cut:
        plan = sampler.Plan(
            OTHER_SWEEPS,
            "anchored" if run.urn.seeds.weight.size else "random",
            (run.key + number) % 2**64,
            task.plan.options._replace(sampler=_exact(task.plan.options), n_jobs=1),
            steps=[MergeClusters((10, OTHER_SWEEPS))],
        )
        urn = start
        room = some.counts.n_docs + urn.seeds.weight.size
        if urn.sizes.cap < NO_CAP:
            urn = changed(urn, cap=min(urn.sizes.cap, room))
        other = _run(some, urn, plan)
        tree = merging.tree(some.counts, urn, other.assignment)
        return _Cut(other.assignment, urn, tree)

    return _in_threads(one, range(1, OTHER_RUNS + 1), n_jobs)


def _at_level(some: Task, runs: list[_Cut], n: int, key: int, n_jobs: int | None) -> list[Ints]:
    """The sample's labels in every run when it is cut at n groups."""

    def one(run: _Cut) -> Ints:
        if n >= run.finest:
            return run.assignment.labels.astype(np.int64)
        return _by_id(_refined(some, run, n, key, REFINE_SAMPLE)[1])

    return _in_threads(one, runs, n_jobs)


def _in_threads(do: Callable[[Any], Any], over: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """The results in order; they do not depend on the number of threads."""
    with ThreadPoolExecutor(threads(n_jobs)) as pool:
        return list(pool.map(do, over))


def _agreement(labels: list[Ints]) -> float:
    """How well the runs agree, on average over their pairs: mostly in information, a little in pairs."""
    pairs = [(a, b) for i, a in enumerate(labels) for b in labels[:i]]
    return float(np.mean([0.9 * metrics.ami(a, b) + 0.1 * metrics.ari(a, b) for a, b in pairs]))


def _entropy(labels: Ints) -> float:
    return entropy(np.unique(labels, return_counts=True)[1])


def _levels(main: _Cut, run: sampler.Run, agreed: dict[int, float]) -> list[Level]:
    """A row per level that the main run has; the joint is that of the main run, cut there."""
    gain = np.zeros(1) if main.tree is None else np.append(0.0, np.cumsum(main.tree.gain))
    finest = run.trace[-1].log_joint if len(run.trace) else float("nan")
    of = {n: each for n, each in sorted(agreed.items()) if n <= main.finest}
    at = {n: min(main.finest - n, gain.size - 1) for n in of}
    return [Level(n, finest + float(gain[at[n]]), each) for n, each in of.items()]


def _trust(labels: npt.NDArray[np.int32], docs: Ints, others: list[Ints]) -> Floats:
    """For each document, what its group and its group in another run have in common, on average.

    1: all runs have exactly this group. Documents that are not in the sample get their group's mean.
    """
    own = labels[docs]
    shares = np.array([_overlap(own, other) for other in others]).mean(axis=0)
    n = int(labels.max(initial=0)) + 1
    held = np.bincount(own, minlength=n)
    mean = np.bincount(own, shares, n) / np.maximum(held, 1)
    trust = np.where(held > 0, mean, np.nan)[labels]
    trust[docs] = shares
    return np.asarray(trust)


def _overlap(one: npt.NDArray[Any], other: Ints) -> Floats:
    """|A and B| / |A or B| of each document's groups A and B."""
    a, b = np.unique(one, return_inverse=True)[1], np.unique(other, return_inverse=True)[1]
    both = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(both, (a, b), 1.0)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0, keepdims=True) - both
    return np.asarray((both / either)[a, b])
