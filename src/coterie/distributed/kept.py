"""What Dask workers keep between two sweeps, so that only what changed has to travel.

The client has all labels and the counts of the clusters; what lies here is a copy that saves sending
them. It is found under the number of the sweep that left it, and where it is missing, because a worker was
lost or a shard went to another one, the task says so and gets everything. So a task depends on nothing
but what it is told, and repeating it anywhere gives the same result.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.counts import Counts
from coterie.distributed.merge import (
    Change,
    SlimDelta,
    Taken,
    changed_clusters,
    renumbered,
    slim,
)
from coterie.distributed.shard import Moves, Order, sweep_shard
from coterie.distributed.tallying import Tally

Labels = npt.NDArray[np.int32]


class Whole(NamedTuple):
    """The clusters of the whole corpus, as a sweep begins; the shards get their labels, too."""

    clusters: Tally


class Since(NamedTuple):
    """What changed since the clusters and labels that a worker keeps from sweep `last`."""

    last: int
    n: int  # the number of clusters then
    change: Change


class Report(NamedTuple):
    """What a shard says after a sweep."""

    moves: Moves
    delta: SlimDelta


class Desk:
    """The clusters as a worker knows them: one copy for all its shards."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.sweep = 0  # that begins with these clusters
        self.clusters: Tally | None = None
        self.every: Labels = np.zeros(0, np.int32)  # the number of each cluster of the sweep before

    def __reduce__(self) -> Any:
        return Desk, ()  # another worker begins with an empty one

    def lay(self, told: Whole | Since, sweep: int) -> Taken | None:
        """The clusters of a sweep, and what those of the sweep before are called now; None if unknown."""
        with self.lock:
            if isinstance(told, Whole):
                self.clusters, self.every = told.clusters, np.zeros(0, np.int32)
            elif self.clusters is None or self.sweep not in (told.last, sweep):
                return None
            elif self.sweep == told.last:
                then = changed_clusters(self.clusters, told.change)
                self.clusters, self.every = then.clusters, then.every
            self.sweep = sweep
            return Taken(self.clusters, self.every, np.zeros(0, bool), 0)


class KeptShard:
    """The documents of a shard, and their labels as a sweep left them."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.after: tuple[int, Labels] | None = None  # the sweep, and labels in its numbers

    def __sizeof__(self) -> int:
        return sum(array.nbytes for array in self.counts if isinstance(array, np.ndarray))

    def __reduce__(self) -> Any:
        return KeptShard, (self.counts,)  # labels stay where they are

    def labels(self, told: Since, first: int, every: Labels) -> Labels | None:
        """The labels as a sweep begins; None if they are not here, or not those."""
        after, self.after = self.after, None
        if after is None or after[0] != told.last or every.size == 0:
            return None
        return renumbered(after[1], told.n, first, every)


def swept(
    shard: KeptShard,
    desk: Desk,
    order: Order,
    told: Whole | Since,
    number: int,
    sweep: int,
    labels: Labels | None,
    first: int,
) -> Report | None:
    """Draw every document of a shard once; None if this worker lacks what `told` is the change of.

    `first`: what the first cluster is called that this shard opened in the last sweep.
    """
    now = desk.lay(told, sweep)
    if now is not None and isinstance(told, Since):
        labels = shard.labels(told, first, now.every)
    if now is None or labels is None:
        return None
    order = order._replace(clusters=now.clusters, sweep=sweep)
    moves, delta = sweep_shard(shard.counts, labels, number, order)
    after = labels.copy()
    after[moves.documents] = moves.labels
    shard.after = (sweep, after)
    small = moves._replace(documents=moves.documents.astype(np.int32))
    return Report(small, slim(delta))
