"""backend="dask": the labels of one machine with the same layout, for any number of workers."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tiny import random_corpus, seeded

from coterie import GSDMM, sampler, urns
from coterie.backends import SamplerOptions, get_backend
from coterie.errors import InvalidInput, Unsupported
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


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    """Two workers in this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def run(backend: str, urn: Urn, init: str, **more: Any) -> sampler.Run:
    plan = sampler.Plan(SWEEPS, init, 7, SamplerOptions("blocked", shards=SHARDS), **more)
    return sampler.run(COUNTS, urn, plan, get_backend(backend))


@pytest.mark.parametrize("name", URNS)
def test_same_labels_as_one_machine(threads: Any, name: str) -> None:
    here, there = run("sharded", *URNS[name]), run("dask", *URNS[name])
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)
    np.testing.assert_array_equal(here.assignment.id, there.assignment.id)
    assert [r.log_joint for r in here.trace] == [r.log_joint for r in there.trace]


def test_a_run_can_go_on_elsewhere(threads: Any, tmp_path: Any) -> None:
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
    threads: Any, monkeypatch: pytest.MonkeyPatch, poll: float
) -> None:
    """However often we look up while waiting, and without the garbage collector's help."""
    from coterie.distributed import dask_backend

    monkeypatch.setattr(dask_backend, "POLL", poll)
    gc.collect()
    gc.disable()
    try:
        run("dask", *URNS["finite"])
        deadline = time.monotonic() + 30
        while threads.run_on_scheduler(_tasks) and time.monotonic() < deadline:
            time.sleep(0.5)
        assert threads.run_on_scheduler(_tasks) == []
    finally:
        gc.enable()


def _tasks(dask_scheduler: Any) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks]


def test_a_lost_shard_is_sent_again(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a dead worker held is gone; the sweep is repeated, with the same labels."""
    from coterie.distributed import dask_backend

    lost: list[int] = []
    finished = dask_backend._finished

    def losing(client: Any, asked: list[Any], should_stop: Any) -> bool:
        if not lost:
            lost.append(1)
            client.cancel(asked, force=True)
        return finished(client, asked, should_stop)

    monkeypatch.setattr(dask_backend, "_finished", losing)
    there = run("dask", *URNS["finite"])
    assert lost
    here = run("sharded", *URNS["finite"])
    np.testing.assert_array_equal(here.assignment.labels, there.assignment.labels)


def test_little_memory_is_said_before_starting(
    threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coterie.distributed import dask_backend

    monkeypatch.setattr(dask_backend, "COPIES", 1e12)
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
def test_ten_kills_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are killed between sweeps and in the middle of them, one of them twice."""
    from coterie.distributed import dask_backend

    expected = run("sharded", *URNS["process"])
    finished = dask_backend._finished
    for kill in range(10):
        with _processes(2) as cluster, distributed.Client(cluster) as client:
            killer = _Killer(client, sweep=1 + kill % (SWEEPS - 1), times=2 if kill == 9 else 1)

            def in_the_middle(*arguments: Any, killer: _Killer = killer) -> bool:
                killer.strike()
                return finished(*arguments)

            with monkeypatch.context() as patched:
                if kill % 2:
                    patched.setattr(dask_backend, "_finished", in_the_middle)
                    killer.is_due = False
                there = run("dask", *URNS["process"], callbacks=[killer])
        assert killer.killed == killer.times
        np.testing.assert_array_equal(expected.assignment.labels, there.assignment.labels)


def _processes(n_workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


class _Killer:
    """Kills workers: after a sweep, or (where that is not wanted) in the middle of the next one."""

    def __init__(self, client: Any, sweep: int, times: int) -> None:
        self.client, self.sweep, self.times, self.killed = client, sweep, times, 0
        self.is_due = True

    def __call__(self, event: sampler.Event) -> None:
        if event.record.sweep < self.sweep:
            return
        if self.is_due:
            self.strike()
        self.is_due = True

    def strike(self) -> None:
        if self.is_due and self.killed < self.times:
            pids = sorted(self.client.run(os.getpid, on_error="ignore").values())
            os.kill(pids[0], signal.SIGKILL)
            self.killed += 1
