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
RETRIES = 6  # of tasks that lost their workers more often than Dask allows
COPIES = 6.0  # memory that a task needs, as a multiple of the size of its shard
LOST_AGAIN = (
    "Workers of the Dask cluster were lost several times in the same task. Look at the logs of the"
    " workers; they may need more memory."
)
OnDone = Callable[[int, int], Any]  # told how many parts are done, and how many there are


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
    """What the keys of a run contain. Clients of the same scheduler share what has the same key."""
    return uuid.uuid4().hex


def key_of(step: str, run: str, *numbers: int) -> str:
    """A key that no other task has; the dashboard shows a group of tasks per step."""
    return "-".join([f"coterie_{step}", run, *map(str, numbers)])


def submit(
    client: Any, key: str, function: Callable[..., Any], *arguments: Any, at: str | None = None
) -> Any:
    """A task with all that it needs, so that it can be repeated anywhere; `at` is only a wish.

    Dask forgets that it is one if it loses all its workers at once: see `_look`.
    """
    from dask import config

    wish = {} if at is None else {"workers": [at], "allow_other_workers": True}
    with guarded(client), config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return client.submit(function, *arguments, key=key, pure=False, **wish)


def gathered(
    client: Any,
    futures: list[Any],
    should_stop: Callable[[], bool] | None = None,
    on_done: OnDone | None = None,
) -> Any:
    """The contents of parcels; None if the user wants to stop. Errors if the cluster is lost."""
    from distributed import KilledWorker

    for retry in range(1 + RETRIES):
        try:
            with guarded(client):
                if not finished(client, futures, should_stop, on_done):
                    client.cancel(futures)
                    return None
                return [parcel.content for parcel in client.gather(futures)]
        except KilledWorker as error:
            if retry == RETRIES:
                raise ConnectionLost(LOST_AGAIN) from error
            _retry(client, futures)
        except CancelledError as error:
            raise ConnectionLost(LOST_AGAIN) from error


def _retry(client: Any, futures: list[Any]) -> None:
    """Begin again with tasks that Dask has given up, and wait until the client knows.

    Dask counts every worker that was lost while a task was queued there, and never forgets.
    """
    with guarded(client):
        client.run_on_scheduler(_begin_again, [future.key for future in futures])
    deadline = time.monotonic() + 10
    while any(future.status == "error" for future in futures) and time.monotonic() < deadline:
        time.sleep(0.01)


def _begin_again(keys: list[Any], dask_scheduler: Any) -> None:
    tasks = dask_scheduler.tasks
    dask_scheduler.stimulus_retry(
        [key for key in keys if key in tasks and tasks[key].state == "erred"]
    )


def computed(client: Any, collection: Any) -> Any:
    """What `collection.compute()` gives, but an error if there is nobody to wait for."""
    future = client.compute(collection)
    finished(client, [future])
    return future.result()


def finished(
    client: Any,
    asked: list[Any],
    should_stop: Callable[[], bool] | None = None,
    on_done: OnDone | None = None,
) -> bool:
    """Wait for results; False if the user wants to stop. An error if there is nobody to wait for.

    `distributed.wait` with a timeout would raise an error whose traceback keeps these results on the
    workers until the garbage collector comes by.
    """
    arrived, last_seen = threading.Semaphore(0), time.monotonic()
    for future in asked:
        future.add_done_callback(lambda _: arrived.release())
    for n_done in range(1, len(asked) + 1):
        while not arrived.acquire(timeout=POLL):
            if should_stop is not None and should_stop():
                return False
            found = client.run_on_scheduler(_look, [future.key for future in asked])
            now, (working, paused, impossible) = time.monotonic(), found
            if working and not impossible:
                last_seen = now
            elif now - last_seen > PATIENCE:
                raise ConnectionLost(_nobody(paused, impossible))
        last_seen = time.monotonic()
        if on_done is not None:
            on_done(n_done, len(asked))
    return True


def _look(keys: list[Any], dask_scheduler: Any) -> tuple[int, int, str]:
    """How many workers take tasks, or still do one; how many are paused; a task that none of them can do.

    When all workers of a cluster are lost at once, its tasks wait for the addresses that they prefer,
    although any worker may do them. So they are sent to the workers that are there now.
    """
    every = list(dask_scheduler.workers.values())
    paused = sum(worker.status.name == "paused" for worker in every)
    working = sum(worker.status.name == "running" or bool(worker.executing) for worker in every)
    if not (dask_scheduler.unrunnable and dask_scheduler.running):
        return working, paused, ""
    stray = [t for t in _awaited(dask_scheduler, keys, "no-worker") if t.loose_restrictions]
    dask_scheduler.transitions({t.key: "processing" for t in stray}, f"coterie-{time.time()}")
    impossible = _awaited(dask_scheduler, keys, "no-worker")
    others = _awaited(dask_scheduler, keys, "processing", "queued")
    return working, paused, str(impossible[0].key) if impossible and not others else ""


def _awaited(dask_scheduler: Any, keys: list[Any], *states: str) -> list[Any]:
    """The tasks in these states that some results wait for, in the order that they were asked for."""
    seen: dict[Any, None] = {}
    rest = [dask_scheduler.tasks[key] for key in keys if key in dask_scheduler.tasks]
    while rest:
        task = rest.pop()
        if task not in seen:
            seen[task] = None
            rest.extend(task.waiting_on or ())
    return sorted((task for task in seen if task.state in states), key=lambda task: task.priority)


def check_open(client: Any) -> None:
    """Refuse a client that is closed, by its user or because its scheduler was lost."""
    if client.status == "closed":
        raise ConnectionLost(
            "The Dask client that clustered these rows is closed, and its workers no longer hold their"
            " clusters. Use the table before you close the client, or cluster again with another one."
        )


def free(client: Any, name: str) -> None:
    """Let all tasks of a run go to any worker, for when nobody looks after them any more."""
    with guarded(client):
        client.run_on_scheduler(_free, name)


def _free(name: str, dask_scheduler: Any) -> None:
    for key, task in dask_scheduler.tasks.items():
        if name in str(key):
            task.suspicious = 0  # workers were lost, but it was done
            if task.loose_restrictions:
                task.worker_restrictions, task.loose_restrictions = None, False


def _nobody(paused: int, impossible: str) -> str:
    again = "fit again; with the same checkpoint the run goes on where it was."
    if impossible:
        return (
            f"For {PATIENCE:g} seconds, no worker of the Dask cluster could do the task {impossible!r},"
            f" which asks for workers or resources that are not there. Start such workers, and {again}"
        )
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
