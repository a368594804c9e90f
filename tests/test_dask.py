"""backend="dask": the labels of one machine with the same layout, for any number of workers."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tiny import random_corpus, seeded

from coterie import GSDMM, _rng, sampler, urns
from coterie.backends import SamplerOptions, get_backend
from coterie.distributed import calls
from coterie.distributed.dask_backend import Workers
from coterie.distributed.merge import Delta
from coterie.distributed.placing import placed
from coterie.errors import ConnectionLost, InvalidInput, Unsupported
from coterie.urns import Urn

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")

kills = pytest.mark.skipif("COTERIE_TEST_DASK" not in os.environ, reason="run by `make test-dask`")
V, SHARDS, SWEEPS = 60, 5, 5
BETA = urns.per_word(0.3, V)
COUNTS = random_corpus(900, V, 9, seed=2, heaviest=2, topics=6)
URNS = {
    "finite": (urns.finite(25, 0.4, BETA), "random"),
    "process": (urns.process(1.5, BETA), "one"),
    "seeded": (seeded(urns.process(1.5, BETA), aab=0.6, jk=1.5), "anchored"),
}


def run(backend: str, urn: Urn, init: str, **more: Any) -> sampler.Run:
    plan = sampler.Plan(SWEEPS, init, 7, SamplerOptions("blocked", shards=SHARDS), **more)
    return sampler.run(COUNTS, urn, plan, get_backend(backend))


@pytest.mark.parametrize("name", URNS)
def test_same_labels_as_one_machine(dask_client: Any, name: str) -> None:
    here, there = run("sharded", *URNS[name]), run("dask", *URNS[name])
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)
    np.testing.assert_array_equal(here.assignment.id, there.assignment.id)
    assert [r.log_joint for r in here.trace] == [r.log_joint for r in there.trace]


def test_a_worker_is_lost_after_its_changes_were_added_up(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its task is repeated by one that lacks the last sweep: the sum is there, its moves are not."""
    reports, lost = Workers._reports, []

    def losing(self: Workers, *given: Any) -> Any:
        moves, delta = reports(self, *given)
        if self.told is not None and self.order.sweep == 3 and not lost:
            lost.append(3)
            moves[1] = None
        return moves, delta

    monkeypatch.setattr(Workers, "_reports", losing)
    here, there = run("sharded", *URNS["process"]), run("dask", *URNS["process"])
    assert lost
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)
    assert [r.log_joint for r in here.trace] == [r.log_joint for r in there.trace]


def test_a_run_can_go_on_elsewhere(dask_client: Any, tmp_path: Any) -> None:
    """A checkpoint that was written on Dask is taken up by one machine, and the other way round."""
    urn, init = URNS["process"]
    whole = run("sharded", urn, init)
    options = SamplerOptions("blocked", shards=SHARDS)
    for first, then in (("dask", "sharded"), ("sharded", "dask")):
        plan = sampler.Plan(2, init, 7, options, checkpoint=tmp_path / first)
        sampler.run(COUNTS, urn, plan, get_backend(first))
        rest = sampler.run(COUNTS, urn, plan._replace(n_sweeps=SWEEPS), get_backend(then))
        np.testing.assert_array_equal(rest.assignment.labels, whole.assignment.labels)


@pytest.mark.parametrize("poll", [1e-4, 0.5])
def test_no_task_outlives_its_sweep(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch, poll: float
) -> None:
    """However often we look up while waiting, and without the garbage collector's help."""
    monkeypatch.setattr(calls, "POLL", poll)
    gc.collect()
    gc.disable()
    try:
        run("dask", *URNS["finite"])
        deadline = time.monotonic() + 30
        while dask_client.run_on_scheduler(_tasks) and time.monotonic() < deadline:
            time.sleep(0.5)
        assert dask_client.run_on_scheduler(_tasks) == []
    finally:
        gc.enable()


def _tasks(dask_scheduler: Any) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks]


def groups_of(client: Any) -> set[str]:
    """The groups of tasks that the dashboard has shown since the cluster was started."""
    return {name for name in client.run_on_scheduler(_prefixes) if name.startswith("coterie")}


def _prefixes(dask_scheduler: Any) -> list[str]:
    return list(dask_scheduler.task_prefixes)


def test_the_dashboard_shows_a_group_per_step(dask_client: Any) -> None:
    run("dask", *URNS["finite"])
    steps = "desk", "hold", "urn", "told", "sweep", "moves", "delta", "add"
    assert groups_of(dask_client) >= {f"coterie_{step}" for step in steps}
    assert all("_" in name and "-" not in name for name in groups_of(dask_client))


def test_a_lost_shard_is_sent_again(dask_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a dead worker held is gone; the sweep is repeated, with the same labels."""
    from coterie.distributed import dask_backend

    lost: list[int] = []
    finished = dask_backend.finished

    def losing(client: Any, asked: list[Any], should_stop: Any) -> bool:
        if not lost:
            lost.append(1)
            client.cancel(asked, force=True)
        return finished(client, asked, should_stop)

    monkeypatch.setattr(dask_backend, "finished", losing)
    there = run("dask", *URNS["finite"])
    assert lost
    here = run("sharded", *URNS["finite"])
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)


def test_workers_are_told_only_what_changed(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They keep labels and clusters from one sweep to the next."""
    from coterie.distributed import dask_backend
    from coterie.distributed.kept import Since, Whole

    sent: list[Any] = []
    submit = dask_backend.submit

    def noted(client: Any, key: str, function: Any, *arguments: Any, **more: Any) -> Any:
        if key.startswith("coterie_told"):
            sent.append(arguments[0].content)
        elif function is dask_backend._sweep:
            labels = arguments[6]
            assert (labels is None) == isinstance(sent[-1], Since)
        return submit(client, key, function, *arguments, **more)

    monkeypatch.setattr(dask_backend, "submit", noted)
    run("dask", *URNS["process"])
    assert [type(told) for told in sent] == [Whole] + [Since] * (SWEEPS - 1)


@pytest.mark.parametrize("name", ["process", "seeded"])
def test_workers_that_keep_nothing_get_everything(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Some shards, and some workers, have lost what they kept; the labels are the same."""
    from coterie.distributed import kept

    asked = {"labels": 0, "lay": 0}
    known = kept.KeptShard.labels, kept.Desk.lay

    def some_labels(self: Any, *told: Any) -> Any:
        asked["labels"] += 1
        found = known[0](self, *told)
        return None if asked["labels"] % 3 == 0 else found

    def some_clusters(self: Any, told: Any, sweep: int) -> Any:
        asked["lay"] += 1
        if asked["lay"] % 8 == 7 and isinstance(told, kept.Since):
            self.clusters = None
        return known[1](self, told, sweep)

    monkeypatch.setattr(kept.KeptShard, "labels", some_labels)
    monkeypatch.setattr(kept.Desk, "lay", some_clusters)
    there = run("dask", *URNS[name])
    assert asked["labels"] > 3 < asked["lay"]
    here = run("sharded", *URNS[name])
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)
    np.testing.assert_array_equal(here.assignment.id, there.assignment.id)


def test_what_a_worker_keeps_is_found_by_its_sweep() -> None:
    """Nothing of another sweep is taken for what was asked, and nothing of it travels."""
    import pickle

    from coterie.distributed.kept import Desk, KeptShard, Since, Whole
    from coterie.distributed.merge import change_of
    from coterie.distributed.tallying import tally

    labels = np.zeros(COUNTS.n_docs, np.int32)
    clusters = tally(COUNTS, labels, 1)
    nothing = Delta(tally(COUNTS, labels - 1, 1), tally(COUNTS, labels - 1, 0), COUNTS, labels[:0])
    change = change_of(nothing, labels[:0], 0)
    desk, shard = Desk(), KeptShard(COUNTS)
    assert desk.lay(Since(3, 1, change), 4) is None
    desk.lay(Whole(clusters), 3)
    now = desk.lay(Since(3, 1, change), 4)
    assert now is not None
    np.testing.assert_array_equal(now.every, [0])
    again = desk.lay(Since(3, 1, change), 4)  # the next shard of the same worker
    assert again is not None
    assert again.clusters is now.clusters
    assert desk.lay(Since(2, 1, change), 3) is None
    for sweep, expected in ((3, labels), (2, None)):
        shard.after = (sweep, labels)
        found = shard.labels(Since(3, 1, change), 1, now.every)
        np.testing.assert_array_equal(found, expected)
        assert shard.after is None
    shard.after = (3, labels)
    assert pickle.loads(pickle.dumps(shard)).after is None
    assert pickle.loads(pickle.dumps(desk)).clusters is None


def test_shards_stay_where_they_are() -> None:
    """Each worker has its share by threads; what it has, it keeps, and the rest goes to where room is."""
    one, two = {"a": 1}, {"a": 1, "b": 1}
    assert placed({}, [None, "a"]) == [None, None]
    assert placed(one, [None, None, "gone"]) == ["a", "a", "a"]
    assert placed(two, [None] * 4) == ["a", "b", "a", "b"]
    assert placed(two, ["b", "b", "a", "a"]) == ["b", "b", "a", "a"]
    assert placed(two, ["a", "a", "a", "a"]) == ["a", "a", "b", "b"]  # one has joined
    assert placed(two, ["a", "gone", "gone", "a"]) == ["a", "b", "b", "a"]
    assert placed({"a": 3, "b": 1}, [None] * 4) == ["a", "a", "a", "b"]
    assert placed({"a": 1, "b": 1, "c": 1}, ["c"] * 4).count("c") == 2


# ---------------------------------------------------------------- all workers are lost at once
@contextmanager
def replaceable() -> Iterator[Any]:
    """A cluster of one worker in this process, and what replaces it by another."""
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        held: list[Any] = []

        async def start() -> None:
            held.append(await distributed.Worker(cluster.scheduler_address, nthreads=1))

        def replace() -> None:
            cluster.sync(held.pop().close)
            _wait_for(lambda: not client.nthreads())
            cluster.sync(start)

        cluster.sync(start)
        try:
            yield client, replace
        finally:
            cluster.sync(held.pop().close)


def _wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_only_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask keeps its tasks waiting for an address that is gone, although any worker may do them."""
    monkeypatch.setattr(calls, "POLL", 0.05)
    expected = run("sharded", *URNS["process"])

    def replace(event: sampler.Event) -> None:
        if event.record.sweep in (1, 3):
            change()

    with replaceable() as (_, change):
        there = run("dask", *URNS["process"], callbacks=[replace])
    np.testing.assert_array_equal(expected.assignment.labels, there.assignment.labels)


def test_tasks_that_nobody_looks_after_go_to_any_worker() -> None:
    """The table of a Dask DataFrame needs what a fit left, long after it: see `calls.free`."""
    with replaceable() as (client, change):
        name, [at] = calls.run_name(), client.nthreads()
        held = calls.submit(client, calls.key_of("held", name), calls.Parcel, 7, at=at)
        assert calls.gathered(client, [client.submit(calls.unchanged, held, pure=False)]) == [7]
        client.run_on_scheduler(_suspect, held.key)
        calls.free(client, name)
        assert client.run_on_scheduler(_suspicion, held.key) == 0
        change()
        assert held.result(timeout=60).content == 7


def _suspect(key: str, dask_scheduler: Any) -> None:
    """As if it had lost a worker."""
    dask_scheduler.tasks[key].suspicious = 1


def _suspicion(key: str, dask_scheduler: Any) -> int:
    return int(dask_scheduler.tasks[key].suspicious)


BEGUN, GO = [], threading.Event()


def _slow_at_first() -> calls.Parcel:
    BEGUN.append(1)
    if len(BEGUN) == 1:
        assert GO.wait(60)
    return calls.Parcel(7)


async def _lose_all(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = 0
    for address in list(dask_scheduler.workers):
        await dask_scheduler.remove_worker(address, stimulus_id="test")


def test_a_task_that_dask_has_given_up_begins_again() -> None:
    """Dask counts all workers that a task has lost, however long the run is and whatever they died of."""
    with replaceable() as (client, change):
        future = calls.submit(client, calls.key_of("slow", calls.run_name()), _slow_at_first)
        _wait_for(lambda: bool(BEGUN))
        client.run_on_scheduler(_lose_all)
        _wait_for(lambda: future.status == "error")
        GO.set()
        change()
        assert calls.gathered(client, [future]) == [7]


def test_tasks_that_no_worker_can_do_are_not_waited_for(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as those of a Dask DataFrame that ask for resources."""
    monkeypatch.setattr(calls, "PATIENCE", 0.3)
    monkeypatch.setattr(calls, "POLL", 0.1)
    begun = dask_client.submit(calls.Parcel, 1, key="needs-magic", resources={"MAGIC": 1})
    rest = calls.submit(dask_client, calls.run_name(), calls.unchanged, begun)
    with pytest.raises(ConnectionLost, match="could do the task 'needs-magic'"):
        calls.gathered(dask_client, [rest])


def test_dask_knows_how_large_a_shard_is() -> None:
    """Else it sends shards to whichever worker is free."""
    from dask.sizeof import sizeof

    from coterie.distributed.calls import Parcel
    from coterie.distributed.kept import KeptShard

    assert sizeof(Parcel(KeptShard(COUNTS))) > 8 * COUNTS.word.size
    assert sizeof(Parcel((COUNTS, COUNTS.word))) > 12 * COUNTS.word.size


def test_little_memory_is_said_before_starting(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "WORKER", 1e15)
    with pytest.raises(InvalidInput, match="Give the workers more memory"):
        run("dask", *URNS["finite"])


def test_without_a_client_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> None:
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", nobody)
    with pytest.raises(Unsupported, match="needs a Dask client"):
        GSDMM(3, backend="dask", random_state=0).fit([["a", "b"], ["b", "c"], ["c", "a"]])


@kills
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_processes_give_the_same_labels(n_workers: int) -> None:
    here = run("sharded", *URNS["process"])
    with _processes(n_workers) as cluster, distributed.Client(cluster):
        there = run("dask", *URNS["process"])
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)


@kills
@pytest.mark.parametrize("n_workers", [1, 2])
def test_all_workers_are_killed_twice(n_workers: int) -> None:
    expected = run("sharded", *URNS["process"])
    with _processes(n_workers) as cluster, distributed.Client(cluster) as client:
        killed: list[int] = []

        def kill(event: sampler.Event) -> None:
            if event.record.sweep in (1, 3):
                killed.extend(kill_all(client))

        there = run("dask", *URNS["process"], callbacks=[kill])
    assert len(killed) == 2 * n_workers
    np.testing.assert_array_equal(expected.assignment.labels, there.assignment.labels)


def kill_all(client: Any) -> list[int]:
    """Kill all workers of a client, which must be processes."""
    pids = list(client.run(os.getpid).values())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return pids


@kills
def test_ten_kills_change_nothing() -> None:
    """Workers are killed at random moments; the tenth kill hits the one that replaces it, too."""
    expected = run("sharded", *URNS["process"])
    killed = 0
    for kill, (sweep, wait) in enumerate(zip(*_moments(10), strict=True)):
        with _processes(2) as cluster, distributed.Client(cluster) as client:
            killer = _Killer(client, int(sweep), float(wait), times=2 if kill == 9 else 1)
            there = run("dask", *URNS["process"], callbacks=[killer])
        killed += killer.killed
        np.testing.assert_array_equal(expected.assignment.labels, there.assignment.labels)
    assert killed == 11


def _moments(n: int) -> tuple[Any, Any]:
    """A sweep and seconds after its beginning; a sweep takes some tenths of a second."""
    u = _rng.uniform(4, 1, np.arange(2 * n), 0)
    return (u[:n] * (SWEEPS - 2)).astype(int), 0.4 * u[n:]


def _processes(n_workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


class _Killer:
    """Kills a worker some time after a sweep, whatever it does then; and again when it is back."""

    def __init__(self, client: Any, sweep: int, wait: float, times: int) -> None:
        self.client, self.sweep, self.wait, self.times = client, sweep, wait, times
        self.killed, self.pid = 0, 0
        self.thread = threading.Thread(target=self._strike)
        if sweep == 0:
            self.thread.start()

    def __call__(self, event: sampler.Event) -> None:
        if event.record.sweep == self.sweep:
            self.thread.start()
        elif event.record.sweep == SWEEPS - 1:
            self.thread.join()  # so that no kill comes too late

    def _strike(self) -> None:
        for _ in range(self.times):
            time.sleep(self.wait)
            pid = None
            while pid is None or pid == self.pid:  # nobody there, or still the one that was killed
                pid = self.client.run(_pid_of, 0, on_error="ignore")
                pid = next((found for found in pid.values() if found), None)
            os.kill(pid, signal.SIGKILL)
            self.pid, self.killed = pid, self.killed + 1


def _pid_of(name: int, dask_worker: Any) -> int:
    """The process of the worker of this name; the one that replaces it has the same name."""
    return os.getpid() if dask_worker.name == name else 0
