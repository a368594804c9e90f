"""Documents that stay on the workers of a Dask cluster, with their labels: pure tasks, one per shard.

Every worker has the counts of all clusters. A sweep brings what changed to the client, added up as a
tree on the workers, and sends the sum to all workers; labels never travel. Nothing is pinned to a worker:
what a lost one held is computed again by Dask, from the same inputs to the same result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import sampler
from coterie.backends.base import DEFAULT, Chain, SamplerOptions, SweepStats
from coterie.checkpoint import digest_of
from coterie.counts import NO_VECTORS, Corpus, Counts
from coterie.distributed.chain import ShardedChain, tree
from coterie.distributed.dask_backend import Parcel, gathered, submit, unchanged
from coterie.distributed.local import refusal
from coterie.distributed.merge import (
    Delta,
    Taken,
    Tally,
    add,
    change_of,
    changed_clusters,
    grouped,
    renumbered,
    slim,
    tally,
    twins,
    wide,
)
from coterie.distributed.placing import placed
from coterie.distributed.shard import Order, sweep_shard
from coterie.sample_start import uncounted
from coterie.state import Assignment
from coterie.urns import Urn, is_located

RUNS = itertools.count()
Labels = npt.NDArray[np.int32]


class Size(NamedTuple):
    """What the client knows of a shard."""

    n_docs: int  # copies counted
    n_entries: int
    n_words: int
    n_labels: int  # copies not counted


class Tasks:
    """Pure tasks on the workers, one per shard."""

    def __init__(self, client: Any, n_shards: int) -> None:
        self.client, self.n_shards = client, n_shards
        self.name, self.step = f"coterie-{next(RUNS)}", itertools.count()
        self.places: list[str | None] = [None for _ in range(n_shards)]  # see `placing`

    def follow(self, parts: list[Any]) -> None:
        """From now on, do tasks where these futures are, one per shard."""
        found = self.client.who_has(parts)
        where = [min(found.get(part.key) or (None,)) for part in parts]
        self.places = placed(self.client.nthreads(), where)

    def each(self, what: str, function: Callable[..., Any], *lists: Any) -> list[Any]:
        """A task per shard; a list holds one thing per shard, anything else goes to all."""
        name = f"{self.name}-{next(self.step)}-{what}"
        made = []
        for i in range(self.n_shards):
            given = (each[i] if isinstance(each, list) else each for each in lists)
            made.append(submit(self.client, f"{name}-{i}", function, *given, at=self.places[i]))
        return made

    def told(self, what: Any, at: str | None = None) -> Any:
        """Something that all tasks read, or those of one worker."""
        name = f"{self.name}-{next(self.step)}-told"
        return submit(self.client, name, unchanged, Parcel(what), at=at)

    def total(self, parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
        """The sum of parts, added up on the workers."""
        name = f"{self.name}-{next(self.step)}-join"
        steps = itertools.count()
        whole = tree(
            parts, lambda one, other: submit(self.client, f"{name}-{next(steps)}", join, one, other)
        )
        return gathered(self.client, [whole])[0]


def lazy_frame(
    function: Callable[..., Any], lists: list[list[Any]], told: Any, meta: Any, divisions: Any
) -> Any:
    """A Dask DataFrame whose partitions a function makes, when they are asked for."""
    import dask.dataframe as dd
    from dask import delayed

    make = delayed(function, pure=False)
    parts = [make(*given, told) for given in zip(*lists, strict=True)]
    return dd.from_delayed(parts, meta=meta, divisions=divisions, verify_meta=False)


class RemoteDocuments:
    """See `documents.Documents`: shards on the workers; `docs` are futures of parcels, a `Corpus` first."""

    def __init__(self, client: Any, docs: list[Any], n_words: int, n_dimensions: int) -> None:
        self.client, self.docs, self.tasks = client, docs, Tasks(client, len(docs))
        self.n_words, self.n_dimensions = n_words, n_dimensions
        self.sizes: list[Size] = gathered(client, self.tasks.each("size", _size, docs))
        self.labels: list[Any] = []  # futures of `Parcel(labels)`
        self.probability: list[Any] = []  # and of the probabilities of the best clusters

    def outline(self) -> Counts:
        """A corpus of two documents with as many words and copies as all: enough to report a sweep."""
        docs, entries, words = (
            sum(each) for each in zip(*(s[:3] for s in self.sizes), strict=True)
        )
        return Counts(
            np.array([0, entries, entries]), np.zeros(0, np.int32), np.zeros(0, np.int32),
            np.array([words, 0]), np.array([1, docs - 1]), self.n_words,
            np.zeros((0, self.n_dimensions), np.int16),
        )  # fmt: skip

    # ---------------------------------------------------------------- most probable clusters
    def place(self, model: Any, slots: Labels) -> None:
        """Put every document into the slot of its most probable cluster."""
        found = self.tasks.each("best", _best, self.docs, self.tasks.told((model, slots)))
        self.labels = self.tasks.each("labels", _first, found)
        self.probability = self.tasks.each("probability", _second, found)

    def counted(self, n: int, located: bool) -> Tally:
        """What all documents add up to, with their labels as they are."""
        parts = self.tasks.each("tally", _tally, self.docs, self.labels, n, located)
        found: Tally = self.tasks.total(parts, _join)
        return found

    def agreement(self, before: list[Any]) -> float:
        """The share of documents whose labels are what they were."""
        same = gathered(self.client, self.tasks.each("same", _same, self.docs, self.labels, before))
        return float(sum(same) / max(sum(size.n_docs for size in self.sizes), 1))

    def n_in(self, n: int) -> npt.NDArray[np.int64]:
        """How many documents have each of n labels."""
        sizes = gathered(self.client, self.tasks.each("sizes", _sizes, self.docs, self.labels, n))
        return np.asarray(sum(sizes))

    def keep(self, before: list[Any], clusters: npt.NDArray[np.int64]) -> None:
        """Give documents that were in these clusters their labels back."""
        told = self.tasks.told(clusters)
        self.labels = self.tasks.each("keep", _kept, self.labels, before, told)

    def renumber(self, every: Labels) -> None:
        """Give all labels other numbers."""
        self.labels = self.tasks.each("renumber", _renumber, self.labels, self.tasks.told(every))

    # ---------------------------------------------------------------- checkpoints
    def digest(self) -> str:
        """Of all documents, in the order of the shards."""
        return " ".join(gathered(self.client, self.tasks.each("digest", _digest, self.docs)))

    def all_labels(self) -> dict[str, npt.NDArray[Any]]:
        """The labels of every shard, under its number."""
        found = gathered(self.client, list(self.labels))
        return {str(shard): labels for shard, labels in enumerate(found)}

    def take_labels(self, given: dict[str, npt.NDArray[Any]], n: int) -> bool:
        """Send labels to the workers; False if they cannot be those of these shards and n clusters."""
        found = [given.get(str(shard)) for shard in range(len(self.docs))]
        for labels, size in zip(found, self.sizes, strict=True):
            if labels is None or labels.dtype != np.int32 or labels.shape != (size.n_labels,):
                return False
            if labels.size and not 0 <= labels.min() <= labels.max() < n:
                return False
        if len(given) != len(found):
            return False
        self.labels = self.tasks.each("restore", unchanged, [Parcel(each) for each in found])
        return True

    def sweep(self, urn: Urn, plan: sampler.Plan, n: int) -> sampler.Run:
        """Sample on from the labels, which are 0..n-1."""
        outline = self.outline()
        start = uncounted(outline, urn, np.zeros(0, np.int32), n)
        plan = plan._replace(init=start, options=plan.options._replace(n_jobs=1))
        return sampler.run(outline, urn, plan, RemoteBackend(self, n))


class RemoteChain(ShardedChain):
    """See `coterie.backends.base.Chain`; the labels stay where the documents are."""

    kind = "remote"

    def __init__(
        self,
        documents: RemoteDocuments,
        urn: Urn,
        n: int,
        given: Assignment,
        options: SamplerOptions,
    ) -> None:
        self.documents, self.urn, self.given, self.options = documents, urn, given, options
        self.counts = documents.outline()
        self.labels = np.zeros(0, np.int32)
        self.tables: dict[str | None, Any] = {}  # a `Taken` for the shards of each worker
        held = documents.counted(n, is_located(self.counts, urn))
        used = (held.size > 0) | (np.arange(n) < urn.seeds.weight.size)
        number = np.where(used, np.cumsum(used) - 1, -1)
        documents.renumber(number.astype(np.int32))
        self.clusters = grouped(held, number, int(used.sum()))
        self.id, self.next_id = np.arange(int(used.sum())), int(used.sum())

    def replace(self, assignment: Assignment) -> None:
        """Labels are not here, so they cannot be replaced."""
        raise NotImplementedError

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values."""
        self.urn, self.tables = urn, {}

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """The labels of every shard: a checkpoint is the only thing that brings them here."""
        return self.documents.all_labels()

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up the labels that a checkpoint kept; False if they cannot be those of these documents."""
        n, n_seeds = self.given.id.size, self.urn.seeds.weight.size
        if not self.documents.take_labels(memory, n):
            return False
        self.clusters = self.documents.counted(n, is_located(self.counts, self.urn))
        self.id, self.next_id, self.tables = self.given.id, self.given.next_id, {}
        return bool((self.clusters.size[n_seeds:] > 0).all())

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        documents, n = self.documents, self.id.size
        tasks, n_shards = documents.tasks, len(documents.docs)
        tasks.follow(documents.docs)
        tables = self._tables(key)
        numbers: Any = list(range(n_shards))
        lists = (documents.docs, documents.labels, tables, numbers, self.told, sweep)
        done = tasks.each("sweep", _sweep, *lists)
        moves = gathered(documents.client, tasks.each("moves", _third, done), should_stop)
        if moves is None:
            return None
        small: Delta = tasks.total(tasks.each("delta", _second, done), _add)
        delta = wide(small)
        opened = [n_opened for _, n_opened in moves]
        alone = sum(n_opened > 0 for n_opened in opened) < 2
        twin = np.arange(sum(opened)) if alone else twins(self.urn, delta)
        self._take(delta, twin)
        change = tasks.told(change_of(small, twin, self.urn.seeds.weight.size))
        firsts: Any = [n + before for before in itertools.accumulate([0, *opened[:-1]])]
        for i, (at, table) in enumerate(self.tables.items()):
            name = f"{tasks.name}-sweep-{sweep}-table-{i}"
            self.tables[at] = submit(tasks.client, name, _advanced, table, change, at=at)
        tables = [self.tables[at] for at in tasks.places]
        documents.labels = tasks.each("labels", _relabelled, done, tables, n, firsts)
        return SweepStats(self.options.sampler, sum(moved for moved, _ in moves))

    def _tables(self, key: int) -> list[Any]:
        """The counts of the clusters for each shard: one copy per worker, which is told what changes."""
        tasks = self.documents.tasks
        if not self.tables:
            none: Any = None
            order = Order(self.urn, none, self.options, key, 0, tasks.n_shards)
            self.told = tasks.told(order)
        now = Taken(self.clusters, np.zeros(0, np.int32), np.zeros(0, bool), 0)
        self.tables = {
            at: self.tables[at] if at in self.tables else tasks.told(now, at)
            for at in dict.fromkeys(tasks.places)
        }
        return [self.tables[at] for at in tasks.places]


class RemoteBackend:
    """See `coterie.backends.base.Backend`: for documents that are already on the workers."""

    name = "remote"

    def __init__(self, documents: RemoteDocuments, n: int) -> None:
        self.documents, self.n = documents, n

    def supports(self, urn: Urn, options: SamplerOptions) -> str | None:
        """None, or the sentence to show the user."""
        return refusal(urn, options)

    def open(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions = DEFAULT
    ) -> Chain:
        """A chain that samples on from the labels on the workers."""
        return RemoteChain(self.documents, urn, self.n, assignment, options)

    def identity(self) -> dict[str, str]:
        """See `coterie.backends.base.Elsewhere`: digests of all shards."""
        return {"documents": self.documents.digest()}

    def is_possible(self, counts: Counts, urn: Urn, given: Assignment) -> bool:
        """See `coterie.backends.base.Elsewhere`: `recall` judges the labels."""
        ids = given.id
        return bool(
            given.labels.size == given.flag.size == 0
            and ids.dtype == np.int64
            and ids.ndim == 1
            and urn.seeds.weight.size <= ids.size <= urn.sizes.cap
            and ((ids >= 0) & (ids < given.next_id)).all()
            and np.unique(ids).size == ids.size
            and given.next_id < 2**62
        )

    def score(self, *_: Any, **__: Any) -> None:
        """Documents are not here."""
        raise NotImplementedError


# ---------------------------------------------------------------- tasks
def _size(docs: Parcel) -> Parcel:
    corpus: Corpus = docs.content[0]
    counts = corpus.counts
    words = int(counts.length @ counts.weight)
    n_docs = int(counts.weight.sum())
    return Parcel(Size(n_docs, counts.word.size, words, counts.n_docs))


def _digest(docs: Parcel) -> Parcel:
    return Parcel(digest_of(docs.content[0].counts._asdict()))


def _best(docs: Parcel, told: Parcel) -> Parcel:
    model, slots = told.content
    best, probability = model.best(docs.content[0].counts)
    return Parcel((slots[best], probability.astype(np.float32)))


def _first(found: Parcel) -> Parcel:
    return Parcel(found.content[0])


def _second(found: Parcel) -> Parcel:
    return Parcel(found.content[1])


def _third(found: Parcel) -> Parcel:
    return Parcel(found.content[2])


def _tally(docs: Parcel, labels: Parcel, n: int, located: bool) -> Parcel:
    counts = docs.content[0].counts
    if not located:
        counts = counts._replace(vectors=NO_VECTORS)
    return Parcel(tally(counts, labels.content, n))


def _join(one: Parcel, other: Parcel) -> Parcel:
    return Parcel(one.content + other.content)


def _add(one: Parcel, other: Parcel) -> Parcel:
    return Parcel(slim(add(wide(one.content), wide(other.content))))


def _same(docs: Parcel, labels: Parcel, before: Parcel) -> Parcel:
    return Parcel(int(docs.content[0].counts.weight[labels.content == before.content].sum()))


def _sizes(docs: Parcel, labels: Parcel, n: int) -> Parcel:
    weight = docs.content[0].counts.weight
    return Parcel(np.bincount(labels.content, weight, n).astype(np.int64))


def _kept(labels: Parcel, before: Parcel, told: Parcel) -> Parcel:
    return Parcel(np.where(np.isin(before.content, told.content), before.content, labels.content))


def _sweep(
    docs: Parcel, labels: Parcel, table: Parcel, shard: int, told: Parcel, sweep: int
) -> Parcel:
    """Returns (labels, where new clusters follow the known ones; what changed; moved and opened)."""
    order: Order = told.content._replace(clusters=table.content.clusters, sweep=sweep)
    moves, delta = sweep_shard(docs.content[0].counts, labels.content, shard, order)
    after = labels.content.copy()
    after[moves.documents] = moves.labels
    return Parcel((after, slim(delta), (moves.moved, moves.n_opened)))


def _advanced(table: Parcel, change: Parcel) -> Parcel:
    """The clusters after a sweep, and what each is called now."""
    return Parcel(changed_clusters(table.content.clusters, change.content))


def _relabelled(done: Parcel, table: Parcel, n: int, first: int) -> Parcel:
    return Parcel(renumbered(done.content[0], n, first, table.content.every))


def _renumber(labels: Parcel, every: Parcel) -> Parcel:
    return Parcel(every.content[labels.content])
