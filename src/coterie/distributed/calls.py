"""Calls of a Dask client: submits tasks and waits for them; a lost cluster is reported in one sentence."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

from coterie._memory import in_units
from coterie._sentence import counted
from coterie.errors import ConnectionLost, CoterieError, InvalidInput

POLL = 0.5  # seconds between two looks at whether the user wants to stop
PATIENCE = 60.0  # seconds to wait for a worker where there is none
RETRIES = 6  # of tasks that lost their workers more often than Dask allows
WORKER = 450e6  # bytes of a worker with the packages and kernels of coterie, without its data
LOST_AGAIN = (
    "Workers of the Dask cluster were lost several times in the same task. Look at the logs of the"
    " workers; they may need more memory."
)
UNKNOWN = (
    "The Dask scheduler no longer knows this run: it was started again, or the run was cancelled. Fit"
    " again; with the same checkpoint the run goes on where it was."
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
    found = _results(client, futures, should_stop, on_done)
    return None if found is None else [parcel.content for parcel in found]


def computed(client: Any, collection: Any) -> Any:
    """What `collection.compute()` gives, but an error if there is nobody to wait for."""
    with guarded(client):
        future = client.compute(collection)
    return _results(client, [future])[0]


def _results(
    client: Any,
    futures: list[Any],
    should_stop: Callable[[], bool] | None = None,
    on_done: OnDone | None = None,
) -> Any:
    from distributed import KilledWorker

    tell = None if on_done is None else _onward(on_done)
    with dropped_on_error(client, futures):
        for _ in range(RETRIES):
            try:
                return _once(client, futures, should_stop, tell)
            except KilledWorker:
                _retry(client, futures)
        try:
            return _once(client, futures, should_stop, tell)
        except KilledWorker as error:
            raise ConnectionLost(LOST_AGAIN) from error


def _once(
    client: Any,
    futures: list[Any],
    should_stop: Callable[[], bool] | None,
    on_done: OnDone | None,
) -> Any:
    try:
        with guarded(client):
            all_done = finished(client, futures, should_stop, on_done)
            found = fetched(client, futures, should_stop) if all_done else None
            if found is None:
                client.cancel(futures)
            return found
    except CancelledError as error:
        raise ConnectionLost(UNKNOWN) from error


def _onward(on_done: OnDone) -> OnDone:
    """Tells nothing twice: what was done before a task is repeated is done again at once."""
    most = 0

    def told(done: int, total: int) -> None:
        nonlocal most
        if done > most:
            most = done
            on_done(done, total)

    return told


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


def finished(
    client: Any,
    asked: list[Any],
    should_stop: Callable[[], bool] | None = None,
    on_done: OnDone | None = None,
) -> bool:
    """Wait for results, or for the first that cannot be had; False if the user wants to stop.

    An error if there is nobody to wait for. `distributed.wait` with a timeout would raise an error whose
    traceback keeps these results on the workers until the garbage collector comes by.
    """
    arrived: SimpleQueue[Any] = SimpleQueue()
    lost: list[Any] = []  # again on their way: Dask calls them done
    watch = _Watch(client, asked)
    for future in asked:
        future.add_done_callback(arrived.put)
    for n_done in range(1, len(asked) + 1):
        while (future := _next(arrived, lost)) is None:
            if should_stop is not None and should_stop():
                return False
            watch.look()
        watch.seen()
        if future.status in ("error", "cancelled"):
            break  # fetching them says why
        if on_done is not None:
            on_done(n_done, len(asked))
    return True


def _next(arrived: SimpleQueue[Any], lost: list[Any]) -> Any:
    """What has arrived, if something did; None after a while."""
    for future in lost:
        if future.status != "lost":
            lost.remove(future)
            return future
    with suppress(Empty):
        future = arrived.get(timeout=POLL)
        if future.status != "lost":
            return future
        lost.append(future)
    return None


def fetched(
    client: Any, futures: list[Any], should_stop: Callable[[], bool] | None = None
) -> list[Any] | None:
    """The results; None if the user wants to stop while some that were lost are made again.

    As `client.gather`, which waits for ever if nobody is there to make them.
    """
    from asyncio import run_coroutine_threadsafe

    gathering = client.gather(futures, asynchronous=True)
    coming = run_coroutine_threadsafe(gathering, client.loop.asyncio_loop)
    watch = _Watch(client, futures)
    try:
        while not wait([coming], POLL).done:
            if should_stop is not None and should_stop():
                return None
            watch.look()
        found: list[Any] = coming.result()
        return found
    finally:
        coming.cancel()


@contextmanager
def dropped_on_error(client: Any, futures: list[Any]) -> Iterator[None]:
    """Take tasks back that nobody waits for any more.

    The callbacks of `finished` would keep those that are not done, and the traceback of an error, which
    the client keeps with the future that failed, all others.
    """
    try:
        yield
    except BaseException:
        with suppress(Exception):
            client.cancel(futures)
        raise


class _Watch:
    """Looks whether anybody works at what is awaited."""

    def __init__(self, client: Any, asked: list[Any]) -> None:
        self.client, self.keys = client, [future.key for future in asked]
        self.seen()

    def seen(self) -> None:
        """Somebody has just done some of it."""
        self.last_seen = time.monotonic()

    def look(self) -> None:
        """An error if nobody has been there for a while."""
        working, paused, impossible = self.client.run_on_scheduler(_look, self.keys)
        now = time.monotonic()
        if working and not impossible:
            self.last_seen = now
        elif now - self.last_seen > PATIENCE:
            raise ConnectionLost(_nobody(paused, impossible))


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
    return (
        f"The Dask cluster had no worker for {PATIENCE:g} seconds. Start some that have coterie"
        f" installed, and {again}"
    )


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


def check_memory(client: Any, n_bytes: float, n_parts: int, what: str, cure: str) -> None:
    """Refuse workers that cannot do their task with the largest part, in all of their threads."""
    with guarded(client):
        workers = client.run_on_scheduler(_limits)
    for limit, n_threads in sorted(workers):
        at_once, takes = min(n_threads, n_parts), needs(n_bytes, n_threads, n_parts)
        if 0 < limit < takes:
            work = f"a {what}" if at_once == 1 else f"{at_once} {what}s at once"
            raise InvalidInput(
                f"A Dask worker with {counted(n_threads, 'thread')} has {in_units(limit)} of memory, but"
                f" work on {work} takes about {in_units(takes)}. {cure}"
            )


def needs(n_bytes: float, n_threads: int, n_parts: int) -> float:
    """Memory of a worker whose threads each do a task that takes so many bytes."""
    return WORKER + min(n_threads, n_parts) * n_bytes


def _limits(dask_scheduler: Any) -> list[tuple[int, int]]:
    return [(w.memory_limit or 0, w.nthreads) for w in dask_scheduler.workers.values()]
