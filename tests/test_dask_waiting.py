"""Waiting for a Dask cluster: for workers that are too small, paused, lost or not there, and for errors."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_dask import replaceable
from test_dask_clients import FAST, TEXTS, frame
from tiny import random_corpus

import coterie
from coterie.counts import Corpus
from coterie.distributed import calls, dask_backend, per_shard, remote
from coterie.errors import ConnectionLost, InvalidInput
from coterie.large import per_partition

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")


def tasks(client: Any, function: Callable[[int], Any], n: int) -> list[Any]:
    run = calls.run_name()
    return [calls.submit(client, calls.key_of("test", run, i), function, i) for i in range(n)]


def pending(client: Any) -> list[str]:
    """Our tasks that the scheduler still means to do."""
    return [key for key, state in client.run_on_scheduler(_states) if state in TO_DO]


TO_DO = ("released", "waiting", "no-worker", "queued", "processing")


def _states(dask_scheduler: Any) -> list[tuple[str, str]]:
    known = dask_scheduler.tasks.items()
    return [(str(key), task.state) for key, task in known if str(key).startswith("coterie_")]


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---------------------------------------------------------------- memory
def test_partitions_that_are_too_large_are_refused(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[str] = []
    monkeypatch.setattr(calls, "WORKER", 1e15)
    with pytest.raises(InvalidInput, match=r"work on a partition takes about [\d.,]+ .B\. Give"):
        coterie.cluster_large(frame(TEXTS[:200], TEXTS[200:]), on_stage=stages.append, **FAST)
    assert "sample" not in stages


def of_memory(limit: float, threads: int) -> Any:
    """A client of two workers, one of them as small as that."""
    return SimpleNamespace(run_on_scheduler=lambda _: [(10**12, 1), (int(limit), threads)])


@pytest.mark.parametrize(
    ("limit", "threads", "parts", "says"),
    [
        (1.3e9, 1, 9, "with 1 thread has 1.3 GB of memory, but work on a shard takes about 1.4 GB"),
        (2.4e9, 4, 2, "with 4 threads has 2.4 GB of memory, but work on 2 shards at once takes"),
        (4.3e9, 4, 9, "but work on 4 shards at once takes about 4.5 GB. Cure."),
    ],
)
def test_each_thread_of_a_worker_needs_memory(
    limit: float, threads: int, parts: int, says: str
) -> None:
    """450 MB for the worker, and 1 GB for each shard that it works on."""
    with pytest.raises(InvalidInput) as error:
        calls.check_memory(of_memory(limit, threads), 1e9, parts, "shard", "Cure.")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("limit", "threads", "parts"), [(0, 64, 64), (1.5e9, 1, 9), (2.5e9, 4, 2), (4.5e9, 4, 9)]
)
def test_workers_with_enough_memory_are_taken(limit: float, threads: int, parts: int) -> None:
    """No limit, and the same workers with a little more."""
    calls.check_memory(of_memory(limit, threads), 1e9, parts, "shard", "Cure.")


def test_a_partition_takes_more_as_a_table_of_pandas_and_with_vectors() -> None:
    """A million texts of ten words: megabytes as in `benchmarks/engine/results/worker_memory.json`."""
    about = per_partition.About(10**6, 0, 9_220_000, 69 * 10**6, b"")
    asked = ((True, 0), (True, 512), (False, 0), (False, 512))
    found = [round(about.n_bytes(*each) / 1e6) for each in asked]
    assert found == [687, 1199, 285, 797]


@pytest.fixture
def limited(dask_client: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Says that each worker has so many bytes beside what it takes without data."""

    def limit(n_bytes: float) -> None:
        worker = int(calls.WORKER + n_bytes), 1
        monkeypatch.setattr(calls, "_limits", lambda dask_scheduler: [worker])

    return limit


def test_the_size_of_a_partition_decides(limited: Callable[[float], None]) -> None:
    """Before the sample without vectors, and after it with them."""
    stages: list[str] = []
    how = {**FAST, "on_stage": stages.append, "embedder": embeds}
    limited(80_000)
    with pytest.raises(InvalidInput, match="work on a partition takes about"):
        coterie.cluster_large(frame(TEXTS[:200], TEXTS[200:]), **how)
    assert "sample" not in stages
    limited(200_000)
    with pytest.raises(InvalidInput, match="work on a partition takes about"):
        coterie.cluster_large(frame(TEXTS[:200], TEXTS[200:]), **how)
    assert "sample" in stages
    limited(2_000_000)
    assert coterie.cluster_large(frame(TEXTS[:200], TEXTS[200:]), **how).n_texts == 400


def embeds(texts: list[str]) -> Any:
    return np.array([[len(text) % 7 - 3.0, *[1.0] * 499] for text in texts])


def test_the_size_of_a_shard_decides(limited: Callable[[float], None]) -> None:
    model = coterie.GSDMM(9, backend="dask", n_sweeps=2, embedder=None)
    limited(5_000)
    with pytest.raises(InvalidInput, match="work on a shard takes about"):
        model.fit(TEXTS)
    limited(500_000)
    model.fit(TEXTS)


def test_workers_that_are_paused_are_not_waited_for(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "PATIENCE", 0.3)
    monkeypatch.setattr(calls, "POLL", 0.1)
    assert dask_client.run_on_scheduler(calls._look, []) == (2, 0, "")
    dask_client.run(_set_status, "paused")
    try:
        deadline = time.monotonic() + 30
        while dask_client.run_on_scheduler(calls._look, []) != (0, 2, ""):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        future = calls.submit(dask_client, calls.run_name(), calls.unchanged, calls.Parcel(1))
        with pytest.raises(ConnectionLost, match="paused for lack of memory"):
            calls.gathered(dask_client, [future])
    finally:
        dask_client.run(_set_status, "running")


def test_a_cluster_without_workers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "PATIENCE", 0.3)
    monkeypatch.setattr(calls, "POLL", 0.1)
    nobody: Any = dict(n_workers=0, processes=False, dashboard_address=":0")
    with (
        distributed.LocalCluster(**nobody) as cluster,
        distributed.Client(cluster),
        pytest.raises(ConnectionLost, match="had no worker for"),
    ):
        coterie.cluster(frame(TEXTS[:200], TEXTS[200:]), text="text", **FAST)


def _set_status(name: str, dask_worker: Any) -> None:
    from distributed.core import Status

    # else it would look at its memory, and go on
    dask_worker.memory_manager.memory_pause_fraction = False if name == "paused" else 0.8
    dask_worker.status = Status[name]


# ---------------------------------------------------------------- errors
def _first_fails(i: int) -> calls.Parcel:
    if i == 0:
        raise InvalidInput("The first partition is damaged.")
    distributed.Event(f"go on {i % 2}").wait(60)
    return calls.Parcel(i)


def test_an_error_is_said_at_once_and_the_other_tasks_are_dropped(dask_client: Any) -> None:
    """The other tasks wait for an event that never comes."""
    told: list[int] = []
    asked = tasks(dask_client, _first_fails, 9)
    with pytest.raises(InvalidInput, match="first partition is damaged"):
        calls.gathered(dask_client, asked, on_done=lambda done, _: told.append(done))
    assert told == []
    wait_until(lambda: not pending(dask_client))  # though one is still at work
    for i in range(2):
        distributed.Event(f"go on {i}", client=dask_client).set()


def test_no_task_is_left_where_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither after an error that nobody was there, nor after Ctrl-C."""
    monkeypatch.setattr(calls, "PATIENCE", 0.3)
    monkeypatch.setattr(calls, "POLL", 0.1)

    def interrupted() -> bool:
        raise KeyboardInterrupt

    nobody: Any = dict(n_workers=0, processes=False, dashboard_address=":0")
    with distributed.LocalCluster(**nobody) as cluster, distributed.Client(cluster) as client:
        with pytest.raises(ConnectionLost, match="had no worker for"):
            calls.gathered(client, tasks(client, calls.Parcel, 8))
        with pytest.raises(KeyboardInterrupt):
            calls.gathered(client, tasks(client, calls.Parcel, 8), interrupted)
        wait_until(lambda: not pending(client))


def test_a_failed_call_leaves_nothing_on_the_workers(dask_client: Any) -> None:
    """A client keeps the error of a task, whose traceback would keep all others of the call."""
    for _ in range(2):
        with pytest.raises(InvalidInput, match=r"partition 1 .*no column 'text'"):
            coterie.cluster_large(one_without_texts(), text="text")
    wait_until(lambda: gc.collect() >= 0 and not dask_client.run_on_scheduler(_states))


def one_without_texts() -> Any:
    import dask.dataframe as dd
    import pandas as pd
    from dask import delayed

    made = [pd.DataFrame({name: TEXTS[:200]}) for name in ("text", "other", "text")]
    return dd.from_delayed(list(map(delayed, made)), meta=made[0][:0], verify_meta=False)


def _held_up(*_: Any) -> Any:
    GO_ON.wait(60)


GO_ON = threading.Event()


@pytest.fixture
def held_up() -> Iterator[Callable[..., Any]]:
    """A task that does not end before the test does."""
    GO_ON.clear()
    yield _held_up
    GO_ON.set()


def ctrl_c_during(task: str) -> Callable[..., bool]:
    """As `calls.finished`, with a Ctrl-C while such a task waits or runs."""

    def finished(client: Any, asked: list[Any], *_: Any, **__: Any) -> bool:
        def interrupted() -> bool:
            wait_until(lambda: any(task in key for key in pending(client)))
            raise KeyboardInterrupt

        return calls.finished(client, asked, interrupted)

    return finished


def test_no_task_of_a_sweep_is_left_after_ctrl_c(
    dask_client: Any, held_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_backend, "_sweep", held_up)
    monkeypatch.setattr(dask_backend, "finished", ctrl_c_during("coterie_sweep"))
    with pytest.raises(KeyboardInterrupt):
        coterie.GSDMM(9, backend="dask", n_sweeps=2).fit(TEXTS[:100])
    wait_until(lambda: not pending(dask_client))


def placed(client: Any) -> remote.RemoteDocuments:
    """Documents on two workers."""
    counts = random_corpus(60, 8, 5, seed=3)
    docs = [client.submit(calls.Parcel, (Corpus(counts, np.arange(60)),), pure=False)] * 2
    return remote.RemoteDocuments(client, docs, 8, 0)


def test_no_task_that_places_documents_is_left_after_ctrl_c(
    dask_client: Any, held_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = placed(dask_client)
    there.on_done = lambda *_: None
    monkeypatch.setattr(per_shard, "best", held_up)
    monkeypatch.setattr(remote, "finished", ctrl_c_during("coterie_best"))
    with pytest.raises(KeyboardInterrupt):
        there.place(None, np.zeros(1, np.int32))
    del there.labels, there.probability
    wait_until(lambda: not pending(dask_client))


def test_a_scheduler_that_is_lost_while_documents_are_placed(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: Any, **__: Any) -> Any:
        raise OSError("closed")

    there = placed(dask_client)
    there.on_done = lambda *_: None
    monkeypatch.setattr(remote, "finished", closed)
    monkeypatch.setattr(dask_client, "sync", closed)
    with pytest.raises(ConnectionLost, match="connection to the Dask scheduler was lost"):
        there.place(None, np.zeros(1, np.int32))


def test_progress_does_not_go_back_when_a_task_is_repeated() -> None:
    told: list[tuple[int, int]] = []
    tell = calls._onward(lambda *now: told.append(now))
    for done in (1, 2, 1, 2, 3):
        tell(done, 3)
    assert told == [(1, 3), (2, 3), (3, 3)]


# ---------------------------------------------------------------- lost results
def test_results_that_are_lost_before_they_are_fetched_are_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The only worker is replaced when all is done; Dask alone would wait for ever for the old one."""
    monkeypatch.setattr(calls, "POLL", 0.1)
    held: list[Any] = []
    nobody: Any = dict(n_workers=0, processes=False, dashboard_address=":0")
    with distributed.LocalCluster(**nobody) as cluster, distributed.Client(cluster) as client:

        async def start() -> None:
            held.append(await distributed.Worker(cluster.scheduler_address, nthreads=1))

        def replaced(*given: Any) -> bool:
            done = finished(*given)
            cluster.sync(held.pop().close)
            wait_until(lambda: not client.nthreads())
            cluster.sync(start)
            return done

        cluster.sync(start)
        finished = calls.finished
        monkeypatch.setattr(calls, "finished", replaced)
        at, run = next(iter(client.nthreads())), calls.run_name()
        asked = [
            calls.submit(client, calls.key_of("test", run, i), calls.Parcel, i, at=at)
            for i in range(3)
        ]
        found: list[Any] = []
        waits = threading.Thread(
            target=lambda: found.append(calls.gathered(client, asked)), daemon=True
        )
        waits.start()
        waits.join(60)
        assert found == [[0, 1, 2]]
        cluster.sync(held.pop().close)


def _quick_once(i: int) -> calls.Parcel:
    if i in QUICK:
        GO_ON.wait(60)
    QUICK.add(i)
    return calls.Parcel(i)


QUICK: set[int] = set()


@pytest.fixture
def lost(held_up: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, list[Any]]]:
    """Results whose worker was replaced; making them again takes until the test ends."""
    monkeypatch.setattr(calls, "POLL", 0.1)
    QUICK.clear()
    with replaceable() as (client, replace):
        asked = tasks(client, _quick_once, 3)
        assert calls.gathered(client, asked) == [0, 1, 2]
        replace()
        wait_until(lambda: all(future.status == "lost" for future in asked))
        yield client, asked
        GO_ON.set()


def test_lost_results_are_no_progress(lost: tuple[Any, list[Any]]) -> None:
    client, asked = lost
    told: list[int] = []
    looks = iter([False] * 4 + [True])
    note = lambda done, _: told.append(done)  # noqa: E731
    assert calls.gathered(client, asked, lambda: next(looks), note) is None
    assert told == []


def test_lost_results_are_waited_for(lost: tuple[Any, list[Any]]) -> None:
    client, asked = lost
    told: list[int] = []

    def goes_on() -> bool:
        GO_ON.set()
        return False

    found = calls.gathered(client, asked, goes_on, lambda done, _: told.append(done))
    assert (found, told) == ([0, 1, 2], [1, 2, 3])


def test_a_user_may_stop_while_lost_results_are_made_again(
    lost: tuple[Any, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were lost after all of them were done."""
    client, asked = lost
    monkeypatch.setattr(calls, "finished", lambda *_: True)
    assert calls.gathered(client, asked, lambda: True) is None
    wait_until(lambda: not pending(client))


def _killed(*_: Any) -> Any:
    raise distributed.KilledWorker("text", None, 4)


def test_first_rows_that_kill_workers_are_said_in_a_sentence(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "fetched", _killed)
    monkeypatch.setattr(calls, "_retry", lambda *_: None)
    with pytest.raises(ConnectionLost, match="lost several times in the same task"):
        coterie.cluster(frame(TEXTS[:200], TEXTS[200:]), text="text", **FAST)


def test_a_run_that_the_scheduler_has_forgotten(dask_client: Any) -> None:
    asked = tasks(dask_client, calls.Parcel, 2)
    dask_client.cancel(asked)
    with pytest.raises(ConnectionLost, match="no longer knows this run"):
        calls.gathered(dask_client, asked)
