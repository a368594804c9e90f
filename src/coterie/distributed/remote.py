"""Documents that stay on the workers of a Dask cluster, with their labels: pure tasks, one per shard.

Every worker has the counts of all clusters. A sweep brings what changed to the client, added up as a
tree on the workers, and sends the sum to all workers; labels never travel. Nothing is pinned to a worker:
what a lost one held is computed again by Dask, from the same inputs to the same result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import sampler
from coterie.backends.base import DEFAULT, Chain, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.distributed import per_shard
from coterie.distributed.calls import (
    OnDone,
    Parcel,
    dropped_on_error,
    finished,
    gathered,
    guarded,
    key_of,
    run_name,
    submit,
    unchanged,
)
from coterie.distributed.chain import ShardedChain, tree
from coterie.distributed.local import refusal
from coterie.distributed.merge import (
    SlimDelta,
    Taken,
    change_of,
    twins,
    wide,
)
from coterie.distributed.per_shard import Size
from coterie.distributed.placing import placed
from coterie.distributed.shard import Order
from coterie.distributed.tallying import Tally, grouped
from coterie.sample_start import uncounted
from coterie.state import Assignment
from coterie.urns import Urn, is_located

Labels = npt.NDArray[np.int32]


class Tasks:
    """Pure tasks on the workers, one per shard."""

    def __init__(self, client: Any, n_shards: int) -> None:
        self.client, self.n_shards = client, n_shards
        self.name, self.step = run_name(), itertools.count()
        self.places: list[str | None] = [None for _ in range(n_shards)]  # see `placing`

    def follow(self, parts: list[Any]) -> None:
        """From now on, do tasks where these futures are, one per shard."""
        with guarded(self.client):
            found, threads = self.client.who_has(parts), self.client.nthreads()
        where = [min(found.get(part.key) or (None,)) for part in parts]
        self.places = placed(threads, where)

    def each(self, what: str, function: Callable[..., Any], *lists: Any) -> list[Any]:
        """A task per shard; a list holds one thing per shard, anything else goes to all."""
        step, made = next(self.step), []
        for i in range(self.n_shards):
            given = (each[i] if isinstance(each, list) else each for each in lists)
            key = key_of(what, self.name, step, i)
            made.append(submit(self.client, key, function, *given, at=self.places[i]))
        return made

    def told(self, what: Any, at: str | None = None) -> Any:
        """Something that all tasks read, or those of one worker."""
        key = key_of("told", self.name, next(self.step))
        return submit(self.client, key, unchanged, Parcel(what), at=at)

    def total(
        self,
        parts: list[Any],
        join: Callable[[Any, Any], Any],
        should_stop: Callable[[], bool] | None = None,
    ) -> Any:
        """The sum of parts, added up on the workers; None if the user wants to stop."""
        step, number = next(self.step), itertools.count()

        def joined(one: Any, other: Any) -> Any:
            return submit(
                self.client, key_of("join", self.name, step, next(number)), join, one, other
            )

        whole = tree(parts, joined)
        found = gathered(self.client, [whole], should_stop)
        return None if found is None else found[0]


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

    def __init__(
        self,
        client: Any,
        docs: list[Any],
        n_words: int,
        n_dimensions: int,
        on_done: OnDone | None = None,
    ) -> None:
        self.client, self.docs, self.tasks = client, docs, Tasks(client, len(docs))
        self.n_words, self.n_dimensions = n_words, n_dimensions
        sizes = self.tasks.each("size", per_shard.size, docs)
        self.sizes: list[Size] = gathered(client, sizes, on_done=on_done)
        self.on_done: OnDone | None = None
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
        found = self.tasks.each("best", per_shard.best, self.docs, self.tasks.told((model, slots)))
        self.labels = self.tasks.each("labels", per_shard.first, found)
        self.probability = self.tasks.each("probability", per_shard.second, found)
        if self.on_done is not None:
            with guarded(self.client), dropped_on_error(self.client, found):
                finished(self.client, found, on_done=self.on_done)

    def counted(self, n: int, located: bool) -> Tally:
        """What all documents add up to, with their labels as they are."""
        parts = self.tasks.each("tally", per_shard.tally, self.docs, self.labels, n, located)
        found: Tally = self.tasks.total(parts, per_shard.join)
        return found

    def agreement(self, before: list[Any]) -> float:
        """The share of documents whose labels are what they were."""
        same = gathered(
            self.client, self.tasks.each("same", per_shard.same, self.docs, self.labels, before)
        )
        return float(sum(same) / max(sum(size.n_docs for size in self.sizes), 1))

    def n_in(self, n: int) -> npt.NDArray[np.int64]:
        """How many documents have each of n labels."""
        sizes = gathered(
            self.client, self.tasks.each("sizes", per_shard.sizes, self.docs, self.labels, n)
        )
        return np.asarray(sum(sizes))

    def keep(self, before: list[Any], clusters: npt.NDArray[np.int64]) -> None:
        """Give documents that were in these clusters their labels back."""
        told = self.tasks.told(clusters)
        self.labels = self.tasks.each("keep", per_shard.kept, self.labels, before, told)

    def renumber(self, every: Labels) -> None:
        """Give all labels other numbers."""
        self.labels = self.tasks.each(
            "renumber", per_shard.renumber, self.labels, self.tasks.told(every)
        )

    # ---------------------------------------------------------------- checkpoints
    def digest(self) -> str:
        """Of all documents, in the order of the shards."""
        return " ".join(
            gathered(self.client, self.tasks.each("digest", per_shard.digest, self.docs))
        )

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
        done = tasks.each("sweep", per_shard.sweep, *lists)
        moves = gathered(documents.client, tasks.each("moves", per_shard.third, done), should_stop)
        if moves is None:
            return None
        deltas = tasks.each("delta", per_shard.second, done)
        small: SlimDelta | None = tasks.total(deltas, per_shard.add, should_stop)
        if small is None:
            return None
        delta = wide(small)
        opened = [n_opened for _, n_opened in moves]
        alone = sum(n_opened > 0 for n_opened in opened) < 2
        twin = np.arange(sum(opened)) if alone else twins(self.urn, delta)
        self._take(delta, twin)
        change = tasks.told(change_of(delta, twin, self.urn.seeds.weight.size))
        firsts: Any = [n + before for before in itertools.accumulate([0, *opened[:-1]])]
        for i, (at, table) in enumerate(self.tables.items()):
            name = key_of("table", tasks.name, next(tasks.step), i)
            self.tables[at] = submit(tasks.client, name, per_shard.advanced, table, change, at=at)
        tables = [self.tables[at] for at in tasks.places]
        documents.labels = tasks.each("labels", per_shard.relabelled, done, tables, n, firsts)
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
