"""What is said of files that are read in parts, and of folders and Dask collections."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import coterie
from coterie.errors import InvalidInput
from coterie.text.batches import Batches

TABLE = pl.DataFrame({"id": ["a", "b"], "text": ["oven bread", "fast car"]})


def put(path: Path) -> Path:
    kind = path.suffix[1:].replace("jsonl", "ndjson").replace("txt", "csv")
    getattr(TABLE, f"write_{kind}")(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt", "parquet"])
def test_a_file_that_was_removed(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "x.csv").rename(tmp_path / f"x.{kind}")
    if kind in ("jsonl", "parquet"):
        put(path)
    read = Batches(path)
    path.unlink()
    with pytest.raises(InvalidInput) as error:
        list(read.read())
    assert str(error.value) == f"{path} cannot be read: No such file or directory."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_in_place_of_a_file(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv")
    read = Batches(path)
    path.unlink()
    os.mkfifo(path)
    for reads in (lambda: list(read.read()), lambda: coterie.cluster(path)):
        with pytest.raises(InvalidInput, match=r"x\.csv cannot be read: it is not a regular file"):
            reads()


@pytest.mark.parametrize("name", ["table.parquet", "a [1]"])
def test_a_folder_of_parquet_files(tmp_path: Path, name: str) -> None:
    """Dask writes one; the message says what reads it."""
    folder = tmp_path / name
    folder.mkdir()
    put(folder / "part.0.parquet")
    ways: tuple[Callable[[Path], Any], ...] = (Batches, coterie.cluster)
    for reads in ways:
        with pytest.raises(InvalidInput, match="parquet files in this folder, use '") as error:
            reads(folder)
        pattern = str(error.value).partition("use '")[2].removesuffix("'.")
        assert sum(map(len, Batches(pattern).read())) == TABLE.height


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_parquet_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    path = put(tmp_path / "x.parquet").rename(tmp_path / os.fsdecode(b"x\xff.parquet"))
    with pytest.raises(InvalidInput, match=r"its name is not valid UTF-8\. Rename it"):
        Batches(path)
    assert len(coterie.cluster(path, embedder=None, levels=False).rows) == TABLE.height


def test_other_collections_of_dask() -> None:
    """A Delayed has every attribute that it is asked for, and no truth."""
    dask = pytest.importorskip("dask")
    bag, array = pytest.importorskip("dask.bag"), pytest.importorskip("dask.array")
    others: list[Any] = [
        (dask.delayed(TABLE), "Delayed"),
        (dask.delayed(len)([1]), "Delayed"),
        (bag.from_sequence(["some words"]), "Bag"),
        (array.ones(3), "Array"),
    ]
    for data, name in others:
        for reads in (coterie.cluster, coterie.cluster_large):
            with pytest.raises(
                InvalidInput, match=rf"^The data is of Dask's type {name}\..*from_delayed"
            ):
                reads(data)
