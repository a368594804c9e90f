"""From a model of a sample to a model of all documents, which may lie on disk.

Every document is put into its most probable cluster, shard by shard; a few sweeps in shards follow; then
every document moves to its most probable cluster again, and the model is counted from all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import sampler
from coterie.backends import SamplerOptions, get_backend
from coterie.counts import Counts
from coterie.distributed.layout import cut, shard_bounds, tally_parts
from coterie.distributed.merge import Tally
from coterie.distributed.remote import RemoteBackend, RemoteDocuments
from coterie.distributed.shard import seed_words
from coterie.fitting import leaving_none_empty
from coterie.levels import with_cap
from coterie.model import Model, SeedClusters
from coterie.state import Assignment, no_flags
from coterie.urns import Urn

PASSES = 4  # that move documents to their most probable clusters, at most
ENOUGH = 0.999  # documents that are in their most probable clusters

Labels = npt.NDArray[np.int32]
Bounds = list[tuple[int, int]]


class Spread(NamedTuple):
    """A model of all documents."""

    model: Model
    labels: Labels  # (documents,)
    probability: npt.NDArray[np.float32]  # (documents,) of the most probable cluster of each
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


def spread(counts: Counts, model: Model, course: Course) -> Spread:
    """Fit all documents, from a model of some of them that has the same vocabulary."""
    bounds = shard_bounds(counts, None)
    urn = model.urn if course.may_open else with_cap(model.urn, model.n_clusters)
    slots = slots_of(model)
    labels = slots[best_of(counts, bounds, model, course.n_jobs)[0]]
    run = None
    if course.sweeps:
        options = SamplerOptions("auto", n_jobs=course.n_jobs)
        plan = sampler.Plan(
            course.sweeps,
            _uncounted(counts, urn, labels, model.n_clusters),
            course.key,
            options,
            max_time=course.max_time,
            callbacks=course.callbacks,
        )
        run = sampler.run(counts, urn, plan, get_backend("sharded"))
        labels = run.assignment.numbers[run.assignment.labels]
    return _settled(counts, bounds, urn, labels, model, course.n_jobs)._replace(run=run)


def best_of(
    counts: Counts, bounds: Bounds, model: Model, n_jobs: int
) -> tuple[Labels, npt.NDArray[np.float32]]:
    """The most probable cluster of each document, and its probability."""
    best = np.empty(counts.n_docs, np.int32)
    probability = np.empty(counts.n_docs, np.float32)
    for first, end in bounds:
        found = model.best(cut(counts, first, end), n_jobs=n_jobs)
        best[first:end], probability[first:end] = found
    return best, probability


def _settled(
    counts: Counts, bounds: Bounds, urn: Urn, labels: Labels, like: Model, n_jobs: int
) -> Spread:
    """Move every document to its most probable cluster, until nearly none moves."""
    model, labels = _frozen(counts, bounds, urn, labels, like)
    n_docs = int(counts.weight.sum())
    for last in (*[False] * PASSES, True):
        best, probability = best_of(counts, bounds, model, n_jobs)
        agree = int(counts.weight[best == labels].sum()) / max(n_docs, 1)
        if last or agree >= ENOUGH:
            break
        if model.n_clusters == urn.sizes.cap:  # none may empty
            best = leaving_none_empty(labels, best)
        model, labels = _frozen(counts, bounds, urn, slots_of(model)[best], like)
    return Spread(model, labels, probability, agree, None)


def _frozen(
    counts: Counts, bounds: Bounds, urn: Urn, slots: Labels, like: Model
) -> tuple[Model, Labels]:
    """The model of documents in these slots, seeds first; and the cluster of each document."""
    n = max(int(slots.max(initial=-1)) + 1, urn.seeds.weight.size)
    counted = counts if like.n_dimensions else counts._replace(vectors=np.zeros((0, 0), np.float32))
    model, cluster_of = freeze(urn, tally_parts(counted, bounds, slots, n), like)
    return model, cluster_of[slots]


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


def _uncounted(counts: Counts, urn: Urn, labels: Labels, n: int) -> Assignment:
    """An assignment to open a chain with, which counts by itself."""
    used = np.zeros(n, bool)
    for first, end in pairwise([*range(0, labels.size, 2**20), labels.size]):
        used[labels[first:end]] = True
    used[: urn.seeds.weight.size] = True
    none = np.zeros(n, np.int64)
    ids = np.where(used, np.cumsum(used) - 1, -1)
    return Assignment(labels, none, none, no_flags(counts, urn), ids, int(used.sum()))


def spread_remote(documents: RemoteDocuments, model: Model, course: Course) -> tuple[Model, float]:
    """As `spread`, for documents on workers, which keep their labels; the model and the agreement."""
    urn = model.urn if course.may_open else with_cap(model.urn, model.n_clusters)
    documents.place(model, slots_of(model))
    n = model.n_clusters
    if course.sweeps:
        outline = documents.outline()
        start = _uncounted(outline, urn, np.zeros(0, np.int32), n)
        options = SamplerOptions("auto")
        plan = sampler.Plan(course.sweeps, start, course.key, options, max_time=course.max_time)
        plan = plan._replace(callbacks=course.callbacks)
        run = sampler.run(outline, urn, plan, RemoteBackend(documents, n))
        n = run.assignment.id.size
    located = model.n_dimensions > 0
    made, cluster_of = freeze(urn, documents.counted(n, located), model)
    documents.renumber(cluster_of)
    for last in (*[False] * PASSES, True):
        before = documents.labels
        documents.place(made, np.arange(made.n_clusters, dtype=np.int32))
        agree = documents.agreement(before)
        if last or agree >= ENOUGH:
            break
        if made.n_clusters == urn.sizes.cap:  # none may empty
            had = made.frozen.size > 0
            while (lost := np.flatnonzero(had & (documents.n_in(made.n_clusters) == 0))).size:
                documents.keep(before, lost)
        documents.renumber(slots_of(made))
        made, cluster_of = freeze(urn, documents.counted(made.n_clusters, located), model)
        documents.renumber(cluster_of)
    documents.labels = before
    return made, agree
