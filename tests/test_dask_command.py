"""`coterie fit --dask`: what it writes, which addresses it takes, and what it says."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_dask import kills
from test_dask_large import TEXTS

from coterie.cli import main
from coterie.clustering import ADDED
from coterie.text.batches import read_piece

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")
pytest.importorskip("pyarrow", reason="Dask DataFrames need pyarrow")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Parquet files with a column that pandas would change, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    Path("big").mkdir()
    numbers = [None if i % 3 else i for i in range(600)]
    table = pl.DataFrame({"text": TEXTS[:600], "n": numbers})
    table[:250].write_parquet("big/a.parquet", row_group_size=100)
    table[250:].write_parquet("big/b.parquet")
    return "big/*.parquet"


def fit(*arguments: str) -> int:
    fast = ["--embedder", "none", "--no-levels", "--max-clusters", "20", "--sweeps", "8", "-q"]
    return main(["fit", "--text", "text", *fast, *arguments])


def test_the_command_line(dask_client: Any, files: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with everything, and again with --force; then the table alone."""
    monkeypatch.setattr("coterie.large.on_dask.ROWS", 200)
    address = dask_client.scheduler.address
    for more in ([], ["--force"]):
        assert fit(files, "--dask", address, "-o", "out", *more) == 0
    inside = {path.name for path in Path("out").iterdir()}
    assert inside == {"table.parquet", "clusters.csv", "report.html", "model", "run.json"}
    assert len(list(Path("out/table.parquet").iterdir())) == 3
    table = pl.read_parquet("out/table.parquet/*.parquet")
    assert table.columns == ["text", "n", "file", *ADDED]  # as in memory
    assert table["text"].to_list() == TEXTS[:600]
    assert table["n"].dtype == pl.Int64
    facts = json.loads(Path("out/run.json").read_text())
    assert (facts["n_texts"], facts["n_without_words"]) == (600, 1)
    for name in (
        "only.parquet",
        "again.parquet",
    ):  # the second time, all sweeps are in the checkpoint
        assert fit(files, "--dask", address, "-o", name, "--checkpoint", "run.ckpt") == 0
        again = pl.read_parquet(f"{name}/*.parquet")
        assert again.equals(table, null_equal=True)
    inside = ["again.parquet", "big", "only.parquet", "out", "run.ckpt"]
    assert sorted(os.listdir()) == inside


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["big/*.parquet", "--dask", "tcp://127.0.0.1:1"], "No Dask scheduler answers at 'tcp:"),
        (["big/*.parquet", "--dask", ""], "'' is not the address of a Dask scheduler"),
        (["big/*.parquet", "--dask", "LOCAL"], "that looks like tcp://host:8786. Use --dask local"),
        (["big/*.parquet", "--dask", "http://127.0.0.1:8787"], "that looks like tcp://host:8786"),
        (["x.csv", "--dask", "local"], "--dask reads parquet files"),
        (["big/*.parquet", "--dask", "local", "--by", "n"], "--by does not work"),
        (["big/*.parquet", "--dask", "local", "-o", "taken.parquet"], "not an empty folder"),
        (
            ["big/*.parquet", "--dask", "local", "-o", "taken.parquet", "-f"],
            "not an empty folder, so --force does not replace it",
        ),
        (["big/*.parquet", "--dask", "local", "-o", "big"], "contains the input file"),
        (["big/*.parquet", "--dask", "local", "-o", "big/a.parquet"], "is the input file"),
    ],
)
def test_a_cluster_that_cannot_be_used(
    files: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.setattr("coterie.distributed.connecting.PATIENCE", 0.5)
    Path("x.csv").write_text("text\nsome words")
    Path("taken.parquet").mkdir()
    Path("taken.parquet/part-0.parquet").write_text("mine")
    assert fit(*arguments, *([] if "-o" in arguments else ["-o", "out"]), "--force") != 0
    assert says in capsys.readouterr().err
    assert Path("taken.parquet/part-0.parquet").read_text() == "mine"
    assert sorted(os.listdir()) == ["big", "taken.parquet", "x.csv"]


def test_a_server_that_is_no_scheduler(
    dask_client: Any,
    files: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that accepts a connection and says nothing, as the dashboard does; and a worker."""
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        monkeypatch.context() as impatient,
    ):
        impatient.setattr("coterie.distributed.connecting.PATIENCE", 1.0)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert fit(files, "--dask", address, "-o", "out") != 0
    said = capsys.readouterr().err
    assert f"No Dask scheduler answers at '{address}'" in said
    assert "8787 is that of its dashboard" in said
    assert fit(files, "--dask", min(dask_client.nthreads()), "-o", "out") != 0
    assert "is the address of a Dask worker, not of its scheduler" in capsys.readouterr().err


LOUD = """
import sys
from coterie.cli import main
from coterie.distributed import connecting
from coterie.text import writing

def full(*_):
    raise OSError(28, "No space left on device")

connecting.PROCESSES = False
writing.table_bytes = full
sys.exit(main(sys.argv[1:]))
"""


def test_dask_does_not_speak_before_the_error(files: str) -> None:
    """Its loggers write a traceback for every task that fails."""
    given = ["fit", files, "--text", "text", "--embedder", "none", "--no-levels", "--sweeps", "2"]
    command = [sys.executable, "-c", LOUD, *given, "--dask", "local", "-o", "out", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: A Dask worker cannot write")
    assert done.stderr.endswith("No space left on device. Free some space there.\n")
    assert done.stderr.count("\n") == 1


def test_loggers_of_dask_are_as_before_after_a_command(files: str) -> None:
    before = {name: logging.getLogger(name).level for name in ("distributed", "distributed.worker")}
    assert fit(files, "--dask", "tcp://nobody", "-o", "out") != 0
    assert {name: logging.getLogger(name).level for name in before} == before


def test_workers_that_do_not_have_the_files(
    dask_client: Any,
    files: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def elsewhere(piece: Any) -> Any:
        return read_piece(piece._replace(path="/nowhere/x.parquet"))

    monkeypatch.setattr("coterie.large.per_partition.read_piece", elsewhere)
    assert fit(files, "--dask", dask_client.scheduler.address, "-o", "out") != 0
    said = capsys.readouterr().err
    assert "x.parquet cannot be read" in said
    assert "All workers need the files, at the same paths" in said


@kills
def test_a_process_per_core(files: str) -> None:
    assert fit(files, "--dask", "local", "-o", "out") == 0
    assert len(pl.read_parquet("out/table.parquet/*.parquet")) == 600
