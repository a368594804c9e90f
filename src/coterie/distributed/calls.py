"""Calls of a Dask client: submits tasks and waits for them; a lost cluster is reported in one sentence."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from coterie._memory import in_units
from coterie._optional import require
from coterie.errors import ConnectionLost, CoterieError, InvalidInput, Unsupported

POLL = 0.5  # seconds between two looks at whether the user wants to stop
PATIENCE = 60.0  # seconds to wait for a worker where there is none
COPIES = 6.0  # memory that a task needs, as a multiple of the size of its shard


class Parcel:
    """Something that Dask carries as it is, without looking into it."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __sizeof__(self) -> int:
        from dask.sizeof import sizeof

        return int(sizeof(self.content))  # what moving it would cost


def unchanged(parcel: Parcel) -> Parcel:
    """A task that only holds something."""
    return parcel


def run_name() -> str:
    """How the keys of a run begin. Clients of the same scheduler share what has the same key."""
    return f"coterie-{uuid.uuid4().hex}"


def submit(
    client: Any, key: str, function: Callable[..., Any], *arguments: Any, at: str | None = None
) -> Any:
    """A task with all that it needs, so that it can be repeated anywhere; `at` is only a wish."""
    from dask import config

    wish = {} if at is None else {"workers": [at], "allow_other_workers": True}
    with guarded(client), config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return client.submit(function, *arguments, key=key, pure=False, **wish)


def gathered(client: Any, futures: list[Any], should_stop: Callable[[], bool] | None = None) -> Any:
    """The contents of parcels; None if the user wants to stop. Errors if the cluster is lost."""
    from distributed import KilledWorker

    try:
        with guarded(client):
            if not finished(client, futures, should_stop):
                client.cancel(futures)
                return None
            return [parcel.content for parcel in client.gather(futures)]
    except (CancelledError, KilledWorker) as error:
        raise ConnectionLost(
            "Workers of the Dask cluster were lost several times in the same task. Look at the logs of the"
            " workers; they may need more memory."
        ) from error


def finished(client: Any, asked: list[Any], should_stop: Callable[[], bool] | None) -> bool:
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
            now, paused = time.monotonic(), 0
            working = len(client.sync(client.scheduler.ncores_running))
            if not working:
                working, paused = client.run_on_scheduler(_at_work)
            if working:
                last_seen = now
            elif now - last_seen > PATIENCE:
                raise ConnectionLost(_nobody(paused))
        last_seen = time.monotonic()
    return True


def _at_work(dask_scheduler: Any) -> tuple[int, int]:
    """How many workers take tasks, or still do one, and how many are paused."""
    every = list(dask_scheduler.workers.values())
    paused = sum(worker.status.name == "paused" for worker in every)
    return sum(
        worker.status.name == "running" or bool(worker.executing) for worker in every
    ), paused


def _nobody(paused: int) -> str:
    again = "fit again; with the same checkpoint the run goes on where it was."
    if paused:
        return (
            f"All Dask workers ({paused}) were paused for lack of memory for {PATIENCE:g} seconds. Give"
            f" them more memory, or start more of them, and {again}"
        )
    return f"The Dask cluster had no worker for {PATIENCE:g} seconds. Start some, and {again}"


@contextmanager
def guarded(client: Any) -> Iterator[None]:
    """Say so if a call of the client failed because the scheduler was lost.

    Closed connections are OSErrors; a client that has given up cancels its futures, and refuses new ones
    with a RuntimeError or an error of its own.
    """
    from distributed import client as clients

    closed = getattr(clients, "ClosedClientError", RuntimeError)  # not in older versions
    try:
        yield
    except CoterieError:
        raise
    except (OSError, TimeoutError, CancelledError, RuntimeError, closed) as error:
        _check_alive(client, error)
        raise


def _check_alive(client: Any, error: Exception) -> None:
    """Raise an error that says so if it is the scheduler that was lost."""
    try:
        client.sync(client.scheduler.identity, callback_timeout=10)
    except Exception:
        raise ConnectionLost(
            "The connection to the Dask scheduler was lost. Start a scheduler, connect to it, and fit"
            " again; with the same checkpoint the run goes on where it was."
        ) from error


def check_memory(
    client: Any,
    shard_bytes: int,
    what: str = "shard of these documents",
    cure: str = "Give the workers more memory.",
) -> None:
    """Refuse workers that cannot hold a shard and what sampling it takes."""
    needs = COPIES * shard_bytes
    with guarded(client):
        limits = client.run_on_scheduler(_memory_limits)
    small = [limit for limit in limits if 0 < limit < needs]
    if small:
        raise InvalidInput(
            f"A Dask worker has {in_units(min(small))} of memory, but a {what} needs"
            f" about {in_units(needs)}. {cure}"
        )


def _memory_limits(dask_scheduler: Any) -> list[int]:
    return [worker.memory_limit for worker in dask_scheduler.workers.values()]


def current_client(
    what: str = "backend='dask'", instead: str = ", or use backend='sharded'"
) -> Any:
    """The Dask client that the user has opened."""
    distributed = require("distributed", "dask", what)
    try:
        return distributed.default_client()
    except ValueError:
        raise Unsupported(
            f"{what} needs a Dask client. Create one first, as in"
            f" `client = dask.distributed.Client()`{instead}."
        ) from None
