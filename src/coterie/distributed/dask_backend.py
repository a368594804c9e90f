"""Backend "dask": every sweep is one pure task per shard, on the workers of a Dask cluster.

Tasks depend on nothing but their shard and what they are told, so a lost worker costs its part of a
sweep and changes no label. Nothing is pinned to a worker, and no task outlives its sweep.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from coterie._memory import in_units
from coterie._optional import require
from coterie.backends.base import SamplerOptions
from coterie.counts import Counts
from coterie.distributed.chain import Engine, Labels, tree
from coterie.distributed.layout import cut, shard_bounds
from coterie.distributed.local import ShardedBackend
from coterie.distributed.merge import Delta, add
from coterie.distributed.shard import Moves, Order, sweep_shard
from coterie.errors import ConnectionLost, InvalidInput, Unsupported

log = logging.getLogger("coterie")
POLL = 0.5  # seconds between two looks at whether the user wants to stop
PATIENCE = 60.0  # seconds to wait for a worker where there is none
PAUSE = 1.0  # seconds after a loss: a nanny starts a worker again
TRIES = 20  # of a sweep: each loses a worker, or what it held
COPIES = 6.0  # memory that a task needs, in times of its shard
RUNS = itertools.count()


class Workers:
    """An engine that sweeps the shards on the workers of a Dask cluster."""

    def __init__(self, client: Any, counts: Counts, options: SamplerOptions) -> None:
        bounds = shard_bounds(counts, options.shards)
        self.client, self.name = client, f"coterie-{next(RUNS)}"
        self.parts = [cut(counts, first, end) for first, end in bounds]
        _check_memory(client, max(map(_bytes, self.parts)))
        self.held: list[Any] = []  # the shards on the workers, as futures

    def sweep(
        self, labels: list[Labels], order: Order, should_stop: Callable[[], bool] | None
    ) -> tuple[list[Moves], Delta] | None:
        """See `coterie.distributed.chain.Engine`."""
        from distributed import KilledWorker

        for attempt in range(TRIES):
            try:
                return self._try(labels, order, should_stop, attempt)
            except (CancelledError, KilledWorker) as error:
                _check_alive(self.client, error)
                log.warning("A Dask worker was lost in sweep %s; it is repeated.", order.sweep)
                self.held = []
                time.sleep(PAUSE)
        raise ConnectionLost(
            f"Sweep {order.sweep} lost its Dask workers {TRIES} times. Look at the logs of the workers;"
            " they may need more memory. A checkpoint, if you asked for one, holds the sweeps before."
        )

    def _try(
        self,
        labels: list[Labels],
        order: Order,
        should_stop: Callable[[], bool] | None,
        attempt: int,
    ) -> tuple[list[Moves], Delta] | None:
        name, step = f"{self.name}-sweep-{order.sweep}-try-{attempt}", itertools.count()
        self.held = self.held or [
            self._submit(f"{name}-hold-{shard}", unchanged, Parcel(part))
            for shard, part in enumerate(self.parts)
        ]
        told = self._submit(f"{name}-told", unchanged, Parcel(order))
        done = [
            self._submit(f"{name}-shard-{shard}", _sweep, part, own, shard, told)
            for shard, (part, own) in enumerate(zip(self.held, labels, strict=True))
        ]
        moves = [self._submit(f"{name}-moves-{i}", _moves, each) for i, each in enumerate(done)]
        total = tree(
            [self._submit(f"{name}-delta-{i}", _delta, each) for i, each in enumerate(done)],
            lambda one, other: self._submit(f"{name}-add-{next(step)}", _add, one, other),
        )
        asked = [*moves, total]
        if not _finished(self.client, asked, should_stop):
            self.client.cancel([*done, *asked])
            return None
        *found, delta = (parcel.content for parcel in self.client.gather(asked))
        return found, delta

    def _submit(self, key: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return submit(self.client, key, function, *arguments)


def submit(client: Any, key: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A task with all that it needs, so that it can be repeated anywhere."""
    from dask import config

    with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return client.submit(function, *arguments, key=key, pure=False)


def gathered(client: Any, futures: list[Any], should_stop: Callable[[], bool] | None = None) -> Any:
    """The contents of parcels; None if the user wants to stop. Errors if the cluster is lost."""
    from distributed import KilledWorker

    try:
        if not _finished(client, futures, should_stop):
            client.cancel(futures)
            return None
        return [parcel.content for parcel in client.gather(futures)]
    except (CancelledError, KilledWorker) as error:
        _check_alive(client, error)
        raise ConnectionLost(
            "Workers of the Dask cluster were lost several times in the same task. Look at the logs of the"
            " workers; they may need more memory."
        ) from error


def _finished(client: Any, asked: list[Any], should_stop: Callable[[], bool] | None) -> bool:
    """Wait for results; False if the user wants to stop. An error if there is nobody to wait for.

    `distributed.wait` with a timeout would raise an error whose traceback keeps these results on the
    workers until the garbage collector comes by.
    """
    arrived, last_seen = threading.Semaphore(0), time.monotonic()
    for future in asked:
        future.add_done_callback(lambda _: arrived.release())
    for _ in asked:
        while not arrived.acquire(timeout=POLL):
            if should_stop is not None and should_stop():
                return False
            now = time.monotonic()
            if client.nthreads():
                last_seen = now
            elif now - last_seen > PATIENCE:
                raise ConnectionLost(
                    f"The Dask cluster had no worker for {PATIENCE:g} seconds. Start some, and fit again;"
                    " with the same checkpoint the run goes on where it was."
                )
    return True


class Parcel:
    """Something that Dask carries as it is, without looking into it."""

    def __init__(self, content: Any) -> None:
        self.content = content


def unchanged(parcel: Parcel) -> Parcel:
    """A task that only holds something."""
    return parcel


def _sweep(part: Parcel, labels: Labels, shard: int, order: Parcel) -> Parcel:
    return Parcel(sweep_shard(part.content, labels, shard, order.content))


def _moves(report: Parcel) -> Parcel:
    return Parcel(report.content[0])


def _delta(report: Parcel) -> Parcel:
    return Parcel(report.content[1])


def _add(one: Parcel, other: Parcel) -> Parcel:
    return Parcel(add(one.content, other.content))


def _bytes(part: Counts) -> int:
    arrays = part.ptr, part.word, part.tally, part.length, part.weight, part.vectors
    return sum(array.nbytes for array in arrays)


def _check_memory(client: Any, shard_bytes: int) -> None:
    """Refuse workers that cannot hold a shard and what sampling it takes."""
    needs = COPIES * shard_bytes
    limits = client.run_on_scheduler(_memory_limits)
    small = [limit for limit in limits if 0 < limit < needs]
    if small:
        raise InvalidInput(
            f"A Dask worker has {in_units(min(small))} of memory, but a shard of these documents needs"
            f" about {in_units(needs)}. Give the workers more memory."
        )


def _memory_limits(dask_scheduler: Any) -> list[int]:
    return [worker.memory_limit for worker in dask_scheduler.workers.values()]


def _check_alive(client: Any, error: Exception) -> None:
    """Raise an error that says so if it is the scheduler that was lost."""
    try:
        client.sync(client.scheduler.identity, callback_timeout=10)
    except Exception:
        raise ConnectionLost(
            "The connection to the Dask scheduler was lost. Start a scheduler, connect to it, and fit"
            " again; with the same checkpoint the run goes on where it was."
        ) from error


class DaskBackend(ShardedBackend):
    """Shards on the workers of the current client."""

    name = "dask"

    def engine(self, counts: Counts, options: SamplerOptions) -> Engine:
        """What sweeps the shards."""
        return Workers(current_client(), counts, options)


def current_client() -> Any:
    """The Dask client that the user has opened."""
    distributed = require("distributed", "dask", "backend='dask'")
    try:
        return distributed.default_client()
    except ValueError:
        raise Unsupported(
            "backend='dask' needs a Dask client. Create one first, as in"
            " `client = dask.distributed.Client()`, or use backend='sharded'."
        ) from None


BACKEND = DaskBackend()
