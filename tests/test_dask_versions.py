"""Dask clusters that lack coterie, or have another version of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_dask import kills

import coterie
from coterie.distributed.clients import check_installed
from coterie.errors import InvalidInput

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")

MISSING = ModuleNotFoundError("No module named 'coterie'")


def cluster_of(scheduler: Any, *workers: Any) -> Any:
    """A client of servers that answer so when they are asked for their version."""

    def answers(*_: Any) -> Any:
        if isinstance(scheduler, Exception):
            raise scheduler
        return scheduler

    found = {f"tcp://{i}": worker for i, worker in enumerate(workers)}
    return SimpleNamespace(run_on_scheduler=answers, run=lambda *_, **__: found)


NOW = coterie.__version__


@pytest.mark.parametrize(
    ("servers", "says"),
    [
        ((MISSING, NOW), "The Dask scheduler cannot import coterie (No module named 'coterie')."),
        ((NOW, NOW, MISSING), "The Dask worker tcp://1 cannot import coterie (No module"),
        (("0.0.1", NOW), f"The Dask scheduler has coterie 0.0.1, but this is {NOW}."),
        (
            (NOW, "9.0"),
            f"The Dask worker tcp://0 has coterie 9.0, but this is {NOW}. Install coterie",
        ),
    ],
)
def test_every_server_needs_this_version(servers: tuple[Any, ...], says: str) -> None:
    with pytest.raises(InvalidInput) as error:
        check_installed(cluster_of(*servers))
    assert says in str(error.value)
    assert f"Install coterie {NOW} on the scheduler and on all workers" in str(error.value)


def test_a_worker_that_was_just_lost_is_not_asked_again() -> None:
    check_installed(cluster_of(NOW, NOW, OSError("closed")))
    with pytest.raises(ValueError, match="else"):
        check_installed(cluster_of(NOW, ValueError("something else")))


def _frame(*_: Any) -> None:
    from test_dask_clients import FAST, TEXTS, frame

    coterie.cluster_large(frame(TEXTS[:200], TEXTS[200:]), **FAST)


def _files(folder: Path) -> None:
    import polars as pl
    from test_dask_clients import FAST, TEXTS

    from coterie.large.clustering import defaults
    from coterie.large.on_dask import Partitions, fit_dask
    from coterie.large.settings import asked

    pl.DataFrame({"text": TEXTS}).write_parquet(folder / "a.parquet")
    what = asked({**defaults(), "data": str(folder / "a.parquet"), "text": "text", **FAST})
    fit_dask(what, Partitions.of_files(what, distributed.default_client()))


def _backend(*_: Any) -> None:
    coterie.GSDMM(5, backend="dask").fit(["bread oven", "bike ride"] * 9)


@pytest.mark.parametrize("fit", [_frame, _files, _backend])
def test_it_is_asked_before_anything_is_sent(
    dask_client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fit: Callable[[Path], None]
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(dask_client, "run", lambda *_, **__: {"tcp://a": MISSING})
    monkeypatch.setattr(dask_client, "submit", lambda *given, **_: sent.append(given))
    monkeypatch.setattr(dask_client, "compute", lambda *given, **_: sent.append(given))
    with pytest.raises(InvalidInput, match="worker tcp://a cannot import coterie"):
        fit(tmp_path)
    assert sent == []


@kills
@pytest.mark.parametrize("lacks", ["scheduler", "worker"])
def test_servers_without_coterie_are_left_alone(tmp_path: Path, lacks: str) -> None:
    """Real processes, in which coterie cannot be imported; a worker must not shut down."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['coterie'] = None")
    where = ["--scheduler-file", str(tmp_path / "scheduler.json"), "--no-dashboard"]
    started = []
    for what, how in (("scheduler", ["--port", "0"]), ("worker", ["--nthreads", "1"])):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *how, *where]
        env = {**os.environ, "PYTHONPATH": str(tmp_path)} if what == lacks else None
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, env=env))
    try:
        with distributed.Client(scheduler_file=where[1], timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            with pytest.raises(InvalidInput, match=f"The Dask {lacks} .*cannot import coterie"):
                coterie.GSDMM(5, backend="dask").fit(["bread oven", "bike ride"] * 9)
            assert len(client.run(os.getpid)) == 1
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
