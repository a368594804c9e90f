"""From a model of a sample to a model of all documents, which may lie on disk or on workers.

Every document is put into its most probable cluster, shard by shard; a few sweeps in shards follow; then
every document moves to its most probable cluster again, and the model is counted from all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import sampler
from coterie.backends import SamplerOptions
from coterie.distributed.documents import Documents
from coterie.distributed.shard import seed_words
from coterie.distributed.tallying import Tally
from coterie.fitting import ENOUGH, LARGE_PASSES, settle
from coterie.levels import with_cap
from coterie.model import Model, SeedClusters
from coterie.urns import Urn

Labels = npt.NDArray[np.int32]


class Spread(NamedTuple):
    """A model of all documents, whose labels are its clusters."""

    model: Model
    agreement: float  # share of documents in their most probable clusters
    run: sampler.Run | None  # None: no sweeps were asked for


class Course(NamedTuple):
    """How to go on from a sample."""

    sweeps: int
    key: int
    may_open: bool  # whether new clusters may be found
    n_jobs: int = 1
    max_time: float | None = None
    callbacks: Sequence[Callable[[sampler.Event], Any]] = ()
    checkpoint: Path | None = None  # of the sweeps
    enter: Callable[[str], Any] = lambda stage: None
    tell: Callable[[str, int, int], Any] = lambda stage, done, total: None


def spread(documents: Documents, model: Model, course: Course) -> Spread:
    """Fit all documents, from a model of some of them that has the same vocabulary."""
    urn = model.urn if course.may_open else with_cap(model.urn, model.n_clusters)
    located = model.n_dimensions > 0
    n, run = model.n_clusters, None
    course.enter("placing")
    documents.on_done = partial(course.tell, "placing")
    documents.place(model, slots_of(model))
    if course.sweeps:
        course.enter("sampling")
        plan = sampler.Plan(
            course.sweeps,
            "one",  # not used: the labels are the start
            course.key,
            SamplerOptions("auto", n_jobs=course.n_jobs),
            max_time=course.max_time,
            callbacks=course.callbacks,
            checkpoint=course.checkpoint,
        )
        run = documents.sweep(urn, plan, n)
        n = run.assignment.open_slots.size

    def counted(n: int) -> Model:
        made, cluster_of = freeze(urn, documents.counted(n, located), model)
        documents.renumber(cluster_of)
        return made

    def again(now: Model) -> Model:
        documents.renumber(slots_of(now))
        return counted(now.n_clusters)

    course.enter("settling")
    documents.on_done = _Passes(partial(course.tell, "settling"))
    made, agreement = settle(documents, counted(n), again, urn.sizes.cap, LARGE_PASSES, ENOUGH)
    return Spread(made, agreement, run)


class _Passes:
    """Tells how much of several passes is done, as if the current one was the last."""

    def __init__(self, tell: Callable[[int, int], Any]) -> None:
        self.tell, self.finished = tell, 0

    def __call__(self, done: int, total: int) -> None:
        self.tell(self.finished * total + done, (self.finished + 1) * total)
        self.finished += done == total


def freeze(urn: Urn, held: Tally, like: Model) -> tuple[Model, Labels]:
    """The model of counted clusters, seeds first, with the words and seeds of another one.

    Returns the cluster of each slot, too (-1: empty).
    """
    n_seeds = urn.seeds.weight.size
    used = np.flatnonzero((held.size > 0) | (np.arange(held.size.size) < n_seeds))
    by_size = used[np.argsort(-held.size[used], kind="stable")]
    cluster_of = np.full(held.size.size, -1, np.int32)
    cluster_of[by_size] = np.arange(by_size.size)
    words = (held.held * urn.words.one).tocsr()
    if n_seeds:
        words = words + seed_words(urn, held.size.size)
    by_word = sparse.csc_matrix(words[by_size])
    by_word.eliminate_zeros()
    by_word.sort_indices()
    total = np.asarray(by_word.sum(axis=1)).ravel().astype(np.int64)
    seeds = None
    if like.seeds is not None:
        at = cluster_of[:n_seeds].astype(np.int64)
        seeds = SeedClusters(like.seeds.names, at, like.seeds.unknown)
    arrays = by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32)
    made = Model.make(
        urn, held.size[by_size], total, *arrays, by_word.data.astype(np.int32), like.words, seeds,
        held.sums[by_size],
    )  # fmt: skip
    return made, cluster_of


def slots_of(model: Model) -> Labels:
    """The slot of each cluster: the seeds first, then the others in order."""
    slots = np.full(model.n_clusters, -1, np.int32)
    if model.seeds is not None:
        slots[model.seeds.cluster] = np.arange(model.seeds.cluster.size)
    others = np.flatnonzero(slots < 0)
    slots[others] = model.n_clusters - others.size + np.arange(others.size)
    return slots
