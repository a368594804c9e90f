"""A chain whose sweeps are made shard by shard, by any engine that can call a function per shard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from coterie.backends._chain import BaseChain
from coterie.backends.base import SamplerOptions, SweepStats
from coterie.counts import NO_VECTORS, Counts
from coterie.distributed.laying import as_documents
from coterie.distributed.layout import shard_bounds, tally_parts
from coterie.distributed.merge import Delta, in_corpus, taken, twins
from coterie.distributed.shard import Moves, Order
from coterie.state import Assignment, from_labels
from coterie.urns import Urn, is_located

Labels = npt.NDArray[np.int32]


class Engine(Protocol):
    """Where shards are swept."""

    def sweep(
        self, labels: list[Labels], order: Order, should_stop: Callable[[], bool] | None
    ) -> tuple[list[Moves], Delta] | None:
        """Sweep every shard; the moves in the order of shards, and the sum of all deltas.

        None if `should_stop` said yes on the way: then nothing has happened.
        """

    def advance(self, delta: Delta, twin: npt.NDArray[np.int64]) -> None:
        """Hear what became of a sweep, for engines that keep labels and clusters: see `taken`."""

    def forget(self) -> None:
        """Keep no labels and clusters: the next ones do not follow from those of the last sweep."""


class ShardedChain:
    """See `coterie.backends.base.Chain`. Between sweeps the clusters are whole-number counts."""

    kind = "sharded"

    def __init__(
        self,
        counts: Counts,
        urn: Urn,
        assignment: Assignment,
        options: SamplerOptions,
        engine: Engine,
    ) -> None:
        self.counts, self.urn, self.options, self.engine = counts, urn, options, engine
        self.bounds = shard_bounds(counts, options.shards)
        self.replace(assignment)

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment: everything is counted again."""
        self.engine.forget()
        slots = assignment.open_slots
        self.labels: Labels = assignment.numbers[assignment.labels]
        self.id, self.next_id = assignment.id[slots].copy(), assignment.next_id
        self.clusters = tally_parts(self._counted(), self.bounds, self.labels, slots.size)

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values."""
        again = is_located(self.counts, urn) != is_located(self.counts, self.urn)
        self.urn = urn
        if again:
            self.engine.forget()
            self.clusters = tally_parts(self._counted(), self.bounds, self.labels, self.id.size)

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        n = self.id.size
        order = Order(self.urn, self.clusters, self.options, key, sweep, len(self.bounds))
        done = self.engine.sweep([self.labels[a:b] for a, b in self.bounds], order, should_stop)
        if done is None:
            return None
        moves, delta = done
        first = n
        for (begin, _), move in zip(self.bounds, moves, strict=True):
            self.labels[begin + move.documents] = in_corpus(move.labels, n, first)
            first += move.n_opened
        alone = sum(move.n_opened > 0 for move in moves) < 2
        twin = np.arange(first - n) if alone else twins(self.urn, delta)
        every = self._take(delta, twin)
        if not np.array_equal(every, np.arange(every.size)):
            self.labels = every[self.labels]
        self.engine.advance(delta, twin)
        return SweepStats(self.options.sampler, sum(move.moved for move in moves))

    def _take(self, delta: Delta, twin: npt.NDArray[np.int64]) -> Labels:
        """Apply the changes of a sweep: join twins, close what is empty, number what is open.

        `twin` is the number of each new cluster. Returns the new number of every cluster.
        """
        done = taken(self.clusters, delta, twin, self.urn.seeds.weight.size)
        self.clusters = done.clusters
        self.id = np.concatenate([self.id[done.keep], self.next_id + np.arange(done.n_new)])
        self.next_id += done.n_new
        return done.every

    def assignment(self) -> Assignment:
        """The assignment as it is now."""
        words = np.asarray(self.clusters.held.sum(axis=1)).ravel() * self.urn.words.one
        words = words.astype(np.int64) + self._seed_totals()
        flag = np.zeros(0, np.uint8)
        return Assignment(self.labels, self.clusters.size, words, flag, self.id, self.next_id)

    def _seed_totals(self) -> npt.NDArray[np.int64]:
        """The pseudo-words of the urn's own seeds, per cluster."""
        seeds = self.urn.seeds
        running = np.append(0, np.cumsum(seeds.tally, dtype=np.int64))
        total = np.zeros(self.id.size, np.int64)
        total[: seeds.weight.size] = np.diff(running[seeds.ptr])
        return total

    def joint_terms(self) -> tuple[float, float]:
        """Sums over all word counts: those of a corpus in which every cluster is one document."""
        once, slots = as_documents(self.clusters.held)
        state = from_labels(once, self.urn, slots, compact=False)
        sums = np.zeros((state.size.size, self.clusters.sums.shape[1]))
        sums[: self.id.size] = self.clusters.sums
        return BaseChain(once, self.urn, state._replace(sums=sums), self.options).joint_terms()

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """Nothing beyond the assignment: a sweep begins with clusters that are counted anew."""
        return {}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept: nothing."""
        return not memory

    def _counted(self) -> Counts:
        """The corpus, without vectors where they do not count."""
        if is_located(self.counts, self.urn):
            return self.counts
        return self.counts._replace(vectors=NO_VECTORS)


def tree(parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Join neighbours, and the results, until one is left: the same tree for any engine."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [join(one, other) for one, other in pairs] + odd
    return parts[0]
