"""Backend "dask": every sweep is one pure task per shard, on the workers of a Dask cluster.

Tasks depend on nothing but their shard and what they are told, so a lost worker costs its part of a
sweep and changes no label. Nothing is pinned to a worker, and no task outlives its sweep. Workers keep the
labels and the clusters of the last sweep (see `kept`), so that they are told only what changed.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends.base import SamplerOptions
from coterie.counts import Counts
from coterie.distributed.calls import (
    Parcel,
    check_memory,
    dropped_on_error,
    fetched,
    finished,
    guarded,
    key_of,
    run_name,
    submit,
    unchanged,
)
from coterie.distributed.chain import Engine, Labels, tree
from coterie.distributed.clients import current_client
from coterie.distributed.kept import Desk, KeptShard, Since, Whole, swept
from coterie.distributed.layout import cut, shard_bounds
from coterie.distributed.local import ShardedBackend
from coterie.distributed.merge import Delta, SlimDelta, add, change_of, slim, wide
from coterie.distributed.placing import placed
from coterie.distributed.shard import Moves, Order
from coterie.errors import ConnectionLost

log = logging.getLogger("coterie")
PAUSE = 1.0  # seconds after a loss: a nanny starts a worker again
COPIES = 2.0  # memory that a sweep of a shard takes, as a multiple of its size
TRIES = 20  # of a sweep: each loses a worker, or what it held


class Workers:
    """An engine that sweeps the shards on the workers of a Dask cluster."""

    def __init__(self, client: Any, counts: Counts, options: SamplerOptions) -> None:
        bounds = shard_bounds(counts, options.shards)
        self.client, self.name = client, run_name()
        self.parts = [cut(counts, first, end) for first, end in bounds]
        most = COPIES * max(map(_bytes, self.parts))
        check_memory(client, most, len(self.parts), "shard", "Give the workers more memory.")
        self.opened: list[int] = []  # by each shard, in the last sweep
        self.where: list[str | None] = [None for _ in self.parts]  # the worker that has each shard
        self.told: Since | None = None  # what changed in it
        self._lose()

    def sweep(
        self, labels: list[Labels], order: Order, should_stop: Callable[[], bool] | None
    ) -> tuple[list[Moves], Delta] | None:
        """See `coterie.distributed.chain.Engine`."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        for attempt in range(TRIES):
            try:
                with guarded(self.client):
                    done = self._try(labels, order, should_stop, attempt)
            except (CancelledError, KilledWorker, CommClosedError):
                log.warning("A Dask worker was lost in sweep %s; it is repeated.", order.sweep)
                self._lose()
                time.sleep(PAUSE)
            else:
                self.forget()  # until `advance` says what became of this sweep
                return done
        raise ConnectionLost(
            f"Sweep {order.sweep} lost its Dask workers {TRIES} times. Look at the logs of the workers;"
            " they may need more memory. A checkpoint, if you asked for one, holds the sweeps before."
        )

    def advance(self, delta: Delta, twin: npt.NDArray[np.int64]) -> None:
        """See `coterie.distributed.chain.Engine`: the next sweep is told only what changed."""
        n_seeds = self.order.urn.seeds.weight.size
        n = delta.known.size.size
        self.told = Since(self.order.sweep, n, change_of(delta, twin, n_seeds))

    def forget(self) -> None:
        """See `coterie.distributed.chain.Engine`: the next sweep is told everything."""
        self.told = None

    def _lose(self) -> None:
        """Begin with new copies of everything."""
        self.held: list[Any] = []  # the shards on the workers, as futures,
        self.desks: dict[str | None, Any] = {}  # what those of a worker share,
        self.rules: Any = None  # and the urn and the settings
        self.urn: Any = None  # those that `rules` has
        self.forget()

    def _try(
        self,
        labels: list[Labels],
        order: Order,
        should_stop: Callable[[], bool] | None,
        attempt: int,
    ) -> tuple[list[Moves], Delta] | None:
        now, shards = (order.sweep, attempt), range(len(self.parts))
        self.where = placed(self.client.nthreads(), self.where)
        self._hold(now, order)
        self.order, told = order, self.told
        missing, done = list(shards), [None for _ in shards]
        for part in range(TRIES):
            what = told or Whole(order.clusters)
            tasks = self._each((*now, part), what, None if told else labels, missing)
            for shard, each in zip(missing, tasks, strict=True):
                done[shard] = each
            found = self._reports((*now, part), done, should_stop)
            if found is None:
                return None
            moves, delta = found
            lacking = [i for i in shards if moves[i] is None]
            if delta is not None and not lacking:
                self.opened = [move.n_opened for move in moves]
                return moves, wide(delta)
            # Workers that lack the last sweep get everything, and so do all if one was lost meanwhile. One
            # that was lost after its changes had been added up repeats its task elsewhere, and may lack it.
            missing, told = lacking or list(shards), None
        raise CancelledError

    def _hold(self, now: tuple[int, ...], order: Order) -> None:
        """Send what lasts longer than a sweep, if it is not there."""
        for at in set(self.where) - set(self.desks):
            # not one for all: Dask drops copies it can spare
            key = key_of("desk", self.name, *now, len(self.desks))
            self.desks[at] = submit(self.client, key, unchanged, Parcel(Desk()), at=at)
        if not self.held:
            for i, (part, at) in enumerate(zip(self.parts, self.where, strict=True)):
                key = key_of("hold", self.name, *now, i)
                held = submit(self.client, key, unchanged, Parcel(KeptShard(part)), at=at)
                self.held.append(held)
        if self.urn is not order.urn:
            none: Any = None
            rules = Parcel(order._replace(clusters=none))
            self.rules = self._submit("urn", now, unchanged, rules)
            self.urn = order.urn

    def _each(
        self,
        now: tuple[int, ...],
        what: Whole | Since,
        labels: list[Labels] | None,
        shards: list[int],
    ) -> list[Any]:
        """A task per shard; all are told the same, and their labels if they need them."""
        told, sweep = self._submit("told", now, unchanged, Parcel(what)), self.order.sweep
        firsts = (what.n if isinstance(what, Since) else 0) + np.cumsum([0, *self.opened])
        made = []
        for shard in shards:
            known = self.held[shard], self.desks[self.where[shard]], self.rules, told
            own = (None, int(firsts[shard])) if labels is None else (labels[shard], 0)
            given = *known, shard, sweep, *own
            key, at = key_of("sweep", self.name, *now, shard), self.where[shard]
            made.append(submit(self.client, key, _sweep, *given, at=at))
        return made

    def _reports(
        self, now: tuple[int, ...], done: list[Any], should_stop: Callable[[], bool] | None
    ) -> tuple[list[Any], SlimDelta | None] | None:
        """What shards did, and the sum of all; no sum if one of them lacked what it needed."""
        number = itertools.count()
        moves = [self._submit("moves", (*now, i), _moves, each) for i, each in enumerate(done)]
        total = tree(
            [self._submit("delta", (*now, i), _delta, each) for i, each in enumerate(done)],
            lambda one, other: self._submit("add", (*now, next(number)), _add, one, other),
        )
        asked = [*moves, total]
        with dropped_on_error(self.client, [*done, *asked]):
            all_done = finished(self.client, asked, should_stop)
            parcels = fetched(self.client, asked, should_stop) if all_done else None
            if parcels is None:
                self.client.cancel([*done, *asked])
                return None
        *found, delta = (parcel.content for parcel in parcels)
        return found, delta

    def _submit(
        self, step: str, now: tuple[int, ...], function: Callable[..., Any], *arguments: Any
    ) -> Any:
        return submit(self.client, key_of(step, self.name, *now), function, *arguments)


def _sweep(
    part: Parcel, desk: Parcel, rules: Parcel, told: Parcel, shard: int, sweep: int,
    labels: Labels | None, first: int,
) -> Parcel:  # fmt: skip
    given = part.content, desk.content, rules.content, told.content
    return Parcel(swept(*given, shard, sweep, labels, first))


def _moves(report: Parcel) -> Parcel:
    return Parcel(None if report.content is None else report.content.moves)


def _delta(report: Parcel) -> Parcel:
    return Parcel(None if report.content is None else report.content.delta)


def _add(one: Parcel, other: Parcel) -> Parcel:
    if one.content is None or other.content is None:
        return Parcel(None)
    return Parcel(slim(add(wide(one.content), wide(other.content))))


def _bytes(part: Counts) -> int:
    arrays = part.ptr, part.word, part.tally, part.length, part.weight, part.vectors
    return sum(array.nbytes for array in arrays)


class DaskBackend(ShardedBackend):
    """Shards on the workers of the current client."""

    name = "dask"

    def engine(self, counts: Counts, options: SamplerOptions) -> Engine:
        """What sweeps the shards."""
        return Workers(current_client(), counts, options)


BACKEND = DaskBackend()
