"""Dask clusters that are shared, lost or interrupted, and their samples."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_dask import kills

import coterie
from coterie import GSDMM, sampler
from coterie.demo.synthetic import make_corpus
from coterie.distributed import calls
from coterie.errors import ConnectionLost, InvalidInput, Unsupported

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")
pytest.importorskip("pyarrow", reason="Dask DataFrames need pyarrow")

N = 400
TEXTS = [" ".join(words) for words in make_corpus(N, seed=5)[0]]
FAST: dict[str, Any] = dict(embedder=None, levels=False, max_clusters=20, n_sweeps=8)


def frame(*parts: Any, **columns: Any) -> Any:
    """A Dask DataFrame whose partitions are these texts."""
    import dask.dataframe as dd
    import pandas as pd
    from dask import delayed

    made = [pd.DataFrame({"text": part, **columns}) for part in parts]
    return dd.from_delayed(list(map(delayed, made)), meta=made[0][:0], verify_meta=False)


# ---------------------------------------------------------------- two clients
CLIENT = """
import sys
import numpy as np
from distributed import Client
from coterie import GSDMM
from coterie.distributed.calls import gathered
from coterie.distributed.remote import Tasks, Parcel

mine, address = sys.argv[1:]
texts = [f"{mine}{i % 3} {mine}{i % 3}x {mine}{i % 7}" for i in range(int(mine) + 200)]

def wait(event):
    if event.record.sweep == 1:
        print("ready", flush=True)
        sys.stdin.readline()

if __name__ == "__main__":
    with Client(address) as client:
        tasks = Tasks(client, 2)
        held = tasks.each("hold", Parcel, [mine + "a", mine + "b"])
        how = dict(n_clusters=9, n_sweeps=4, random_state=1)
        there = GSDMM(**how, backend="dask", callbacks=[wait]).fit(texts)
        here = GSDMM(**how, backend="sharded").fit(texts)
        same = np.array_equal(there.labels_, here.labels_)
        print(same, gathered(client, held) == [mine + "a", mine + "b"])
"""


def test_clients_of_one_scheduler_do_not_share_data(tmp_path: Path) -> None:
    """Two processes fit other texts at the same time; each gets what it gets alone."""
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    pipes: Any = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    workers: Any = dict(n_workers=1, threads_per_worker=2, processes=False, protocol="tcp://")
    with (
        distributed.LocalCluster(**workers, dashboard_address=":0") as cluster,
        ExitStack() as held,
    ):
        both = []
        for mine in ("1", "2"):
            command = [sys.executable, str(script), mine, cluster.scheduler_address]
            both.append(held.enter_context(subprocess.Popen(command, **pipes)))
            held.callback(both[-1].kill)
            assert both[-1].stdout.readline() == "ready\n"
        for process in both:
            assert process.communicate("go\n", timeout=120)[0].split() == ["True", "True"]


# ---------------------------------------------------------------- lost schedulers
@pytest.mark.parametrize(
    "error",
    [
        OSError("closed"),
        TimeoutError(),
        CancelledError(),
        RuntimeError("cannot schedule new futures after shutdown"),
    ],
    ids=repr,
)
def test_every_call_may_find_the_scheduler_gone(error: Exception) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    names = ("sync", "submit", "run_on_scheduler", "gather", "who_has", "nthreads")
    gone: Any = SimpleNamespace(scheduler=SimpleNamespace(identity=None))
    for name in names:
        setattr(gone, name, fails)
    from coterie.distributed.remote import Tasks

    tasks = Tasks(gone, 1)
    for call in (
        lambda: tasks.told(1),
        lambda: tasks.follow([]),
        lambda: calls.gathered(gone, []),
        lambda: calls.check_memory(gone, 1, 1, "shard", ""),
    ):
        with pytest.raises(ConnectionLost, match="connection to the Dask scheduler was lost"):
            call()
    gone.sync = lambda *_, **__: None  # it is there: something else went wrong
    with pytest.raises(type(error)):
        tasks.told(1)


@contextmanager
def own_scheduler(folder: Path) -> Iterator[tuple[Any, Any]]:
    """A scheduler that can be killed, with a worker, and its client."""
    where = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_"]
    started = []
    for what in (["scheduler", "--port", "0"], ["worker", "--nthreads", "1"]):
        full = [*command[:2], command[2] + what[0], *what[1:], *where]
        started.append(subprocess.Popen(full, stderr=subprocess.DEVNULL))
    try:
        with distributed.Client(scheduler_file=where[1], timeout=60) as client:
            client.wait_for_workers(1)
            yield client, started[0]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


@kills
@pytest.mark.parametrize("wait", [0.0, 1.5])
@pytest.mark.parametrize("way", ["frame", "backend", "words"])
def test_a_killed_scheduler_is_said_without_a_checkpoint(
    tmp_path: Path, way: str, wait: float
) -> None:
    with own_scheduler(tmp_path) as (_, scheduler):

        def kill(*_: Any) -> None:
            if scheduler.poll() is None:
                scheduler.kill()
                time.sleep(wait)

        def after_two(event: sampler.Event) -> None:
            if event.record.sweep == 2:
                kill()

        def stage(name: str) -> None:
            if name == "words":
                kill()

        def fit() -> Any:
            if way == "backend":
                return GSDMM(9, n_sweeps=9, backend="dask", callbacks=[after_two]).fit(TEXTS)
            given = frame(TEXTS[:200], TEXTS[200:])
            when: Any = {"on_stage": stage} if way == "words" else {"callbacks": [after_two]}
            return coterie.cluster_large(given, sweeps=9, **when, **FAST)

        with pytest.raises(ConnectionLost, match="scheduler was lost"):
            fit()


# ---------------------------------------------------------------- Ctrl-C
@kills
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a process group")
def test_ctrl_c_ends_a_local_cluster(tmp_path: Path) -> None:
    """A terminal interrupts all processes of a command; the workers end when the command does."""
    pl.DataFrame({"text": TEXTS * 5}).write_parquet(tmp_path / "a.parquet")
    command = [sys.executable, "-m", "coterie", "fit", "a.parquet", "--dask", "local", "-o", "out"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("reading"):
                break
        time.sleep(0.5)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 130, said
        assert time.monotonic() - began < 30  # nobody waits a minute for workers
        assert "Traceback" not in said
        assert "Interrupted" in said
    finally:
        process.kill()
        process.communicate()
    assert sorted(os.listdir(tmp_path)) == ["a.parquet"]


# ---------------------------------------------------------------- the sample
LONG = [text * (400 if i == 119 else 1) for i, text in enumerate(TEXTS)]  # one of the first 130


@pytest.mark.parametrize(
    ("texts", "n", "most"),
    [
        *[(TEXTS, n, 10**9) for n in (2, 150, N + 50)],
        *[(texts, 300, 8000) for texts in (TEXTS, LONG)],
    ],
    ids=["2", "150", "all", "short", "long"],
)
def test_the_sample_is_that_of_a_file(
    dask_client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    n: int,
    most: int,
) -> None:
    """So many rows, at most so many characters, whatever the partitions are."""
    monkeypatch.setattr("coterie.large.sample.MOST_CHARACTERS", most)
    pl.DataFrame({"text": texts}).write_csv(tmp_path / "a.csv")
    from coterie.large.clustering import defaults
    from coterie.large.on_dask import Partitions
    from coterie.large.sample import Sample
    from coterie.large.settings import Words, asked
    from coterie.text.batches import Batches

    batches = Batches(str(tmp_path / "a.csv"), "text", None)
    files = Sample(n, 7, batches.needed)
    for rows in batches.read():
        files.add(rows)
    files.frame()
    given = frame(texts[:10], [], texts[10:300], texts[300:])
    what = asked({**defaults(), "data": given, "text": "text"})
    parts = Partitions.of_frame(what)
    parts.vocabulary(Words(None, "en", None, 1, 1.0))
    rows, sampled = parts.sample(n, 7)
    firsts = np.cumsum([0, 10, 0, 290])
    numbers = [first + some.rows for first, some in zip(firsts, sampled, strict=True)]
    np.testing.assert_array_equal(np.concatenate(numbers), files.rows)
    assert list(rows.texts) == [texts[i] for i in files.rows]
    assert len(rows) == min(n, N) if most > 8000 else 100 <= len(rows) < 300


# ---------------------------------------------------------------- messages
def test_a_frame_without_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> None:
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", nobody)
    with pytest.raises(Unsupported, match="A Dask DataFrame needs a Dask client") as found:
        coterie.cluster(frame(TEXTS), **FAST)
    assert "backend" not in str(found.value)


def test_the_table_of_a_client_that_was_closed(dask_client: Any) -> None:
    """Nothing was lost, and no checkpoint helps."""
    with distributed.Client(dask_client.scheduler.address):
        groups = coterie.cluster(frame(TEXTS[:200], TEXTS[200:]), text="text", **FAST)
    with pytest.raises(ConnectionLost, match="client that clustered these rows is closed") as said:
        groups.table  # noqa: B018
    assert "checkpoint" not in str(said.value)
    assert groups.clusters.height > 1


def test_first_rows_without_texts(dask_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.large.on_dask.HEAD", 20)
    empty: list[Any] = [None, " "] * 20
    with pytest.raises(
        InvalidInput, match="No column holds texts in the 20 rows that were looked at"
    ):
        coterie.cluster(frame(empty, TEXTS), **FAST)
    groups = coterie.cluster(frame(empty, TEXTS), text="text", **FAST)
    assert (groups.table["cluster"].compute() == -1).sum() >= 40


GERMAN = ["Das Brot ist nicht im Ofen", "Der Ofen und das Brot sind aus", "Wir haben ein Auto"]
BLANK: list[Any] = [None, " "] * 20


def vocabulary_of(kind: str, folder: Path, parts: list[list[Any]]) -> Any:
    from coterie.large.clustering import defaults
    from coterie.large.on_dask import Partitions
    from coterie.large.settings import asked

    what = asked({**defaults(), "data": frame(*parts), "text": "text"})
    if kind == "frame":
        return Partitions.of_frame(what).vocabulary(what.words)
    for i, part in enumerate(parts):
        pl.DataFrame({"text": part}, {"text": pl.String}).write_parquet(folder / f"{i}.parquet")
    what = what._replace(data=str(folder / "*.parquet"))
    return Partitions.of_files(what, distributed.default_client()).vocabulary(what.words)


@pytest.mark.parametrize("kind", ["frame", "files"])
def test_blank_rows_do_not_decide_the_language(
    dask_client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """As from a file, whose first batch with texts decides; the head was taken, whatever it held."""
    monkeypatch.setattr("coterie.large.on_dask.HEAD", 20)
    monkeypatch.setattr("coterie.text.batches.ROWS", 20)
    english = ["the bread is not in the oven and we have a car"]
    parts = [BLANK, [*BLANK, *GERMAN * 10], english * 10]
    vectorizer, notes = vocabulary_of(kind, tmp_path, parts)
    assert "German" in " ".join(notes)
    assert "no letters" not in " ".join(notes)
    assert vectorizer.tokenizer.language == "de"
    assert "das" not in vectorizer.words


@pytest.mark.parametrize("kind", ["frame", "files"])
def test_only_blank_rows(dask_client: Any, tmp_path: Path, kind: str) -> None:
    with pytest.raises(InvalidInput, match="All 80 texts are missing or blank") as error:
        vocabulary_of(kind, tmp_path, [BLANK, BLANK])
    assert error.value.kind == "no_words"


@pytest.mark.parametrize("missing", [float("nan"), None])
def test_a_partition_of_missing_texts(dask_client: Any, missing: Any, tmp_path: Path) -> None:
    given = frame(TEXTS[:200], np.full(30, missing), TEXTS[200:])
    groups = coterie.cluster(given, text="text", **FAST)
    assert groups.table["cluster"].compute().tolist()[200:230] == [-1] * 30
    assert any("30 rows without text" in note for note in groups.notes)


def test_an_unknown_parameter_points_to_the_function_that_was_called() -> None:
    with pytest.raises(InvalidInput, match=r"help\(coterie.cluster_large\) lists all of them"):
        coterie.cluster_large("a.csv", zzzz=1)
