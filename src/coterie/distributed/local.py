"""Backend "sharded": the layout of many machines, on this one, a shard after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from coterie.backends.base import DEFAULT, Chain, SamplerOptions
from coterie.backends.cpu import BACKEND as CPU
from coterie.counts import Counts
from coterie.distributed.chain import Engine, Labels, ShardedChain, tree
from coterie.distributed.layout import cut, shard_bounds
from coterie.distributed.merge import Delta, add
from coterie.distributed.shard import Moves, Order, sweep_shard
from coterie.state import Assignment
from coterie.urns import Urn

TAKES = ("gibbs", "blocked")


def refusal(urn: Urn, options: SamplerOptions) -> str | None:
    """Why shards cannot take this urn or these settings, in a sentence; None if they can."""
    if options.sampler not in TAKES:
        return (
            f"The sampler {options.sampler!r} cannot work in shards. Use sampler='gibbs' or"
            " sampler='blocked', or backend='cpu'."
        )
    if urn.relations.promotion:
        return "Related words (word_vectors) cannot be sampled in shards. Use backend='cpu'."
    return CPU.supports(urn, options)


class Here:
    """An engine that sweeps the shards in this process."""

    def __init__(self, counts: Counts, options: SamplerOptions) -> None:
        bounds = shard_bounds(counts, options.shards)
        self.parts = [cut(counts, first, end) for first, end in bounds]

    def sweep(
        self, labels: list[Labels], order: Order, should_stop: Callable[[], bool] | None
    ) -> tuple[list[Moves], Delta] | None:
        """See `coterie.distributed.chain.Engine`."""
        moves, deltas = [], []
        for shard, (part, own) in enumerate(zip(self.parts, labels, strict=True)):
            if should_stop is not None and shard and should_stop():
                return None
            moved, delta = sweep_shard(part, own, shard, order)
            moves.append(moved)
            deltas.append(delta)
        return moves, tree(deltas, add)

    def advance(self, delta: Delta, twin: npt.NDArray[np.int64]) -> None:
        """Nothing is kept."""

    def forget(self) -> None:
        """Nothing is kept."""


class ShardedBackend:
    """See `coterie.backends.base.Backend`."""

    name = "sharded"

    def supports(self, urn: Urn, options: SamplerOptions) -> str | None:
        """None, or the sentence to show the user."""
        return refusal(urn, options)

    def open(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions = DEFAULT
    ) -> Chain:
        """A chain that samples on from this assignment; documents are first placed on this machine."""
        if (assignment.labels < 0).any():  # a start that places documents one by one
            return CPU.open(counts, urn, assignment, options)
        return ShardedChain(counts, urn, assignment, options, self.engine(counts, options))

    def engine(self, counts: Counts, options: SamplerOptions) -> Engine:
        """What sweeps the shards."""
        return Here(counts, options)

    score = CPU.score


BACKEND = ShardedBackend()
