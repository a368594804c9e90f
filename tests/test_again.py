"""A large file of JSON lines is read again when its table is written, in pieces, and may have changed."""

import gzip
import io
import json
import os
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import coterie
from coterie import _disk, keeping
from coterie.errors import InvalidInput, ModelFileError
from coterie.text import _again, _files, _json, _lazy, writing
from coterie.text.readers import Rows, read

LINES = [f'{{"text":"größe {i}", "n": {i}.50}}' for i in range(40)]
TEXT = "".join(f"{line}\n" for line in LINES)


def added(n: int) -> dict[str, Any]:
    return {
        "cluster": np.arange(n),
        "name": [f"{{{i}\n" for i in range(n)],
        "mixed": [i if i % 9 else i / 2 for i in range(n)],
        "p": np.where(np.arange(n) % 5, np.arange(n) / 3, np.nan),
    }


@pytest.fixture(autouse=True)
def only_on_disk(monkeypatch) -> None:
    monkeypatch.setattr(_files, "LARGE", 1)
    monkeypatch.setattr(_again, "PIECE", 100)


def large(path: Path, content: bytes = TEXT.encode()) -> Rows:
    path.write_bytes(content)
    rows = read(path, text="text")
    assert isinstance(rows.source, _json.OnDisk)
    return rows


def kept(path: Path, monkeypatch) -> Rows:
    """The same file, in memory."""
    with monkeypatch.context() as patch:
        patch.setattr(_files, "LARGE", 2**24)
        rows = read(path, text="text")
    assert isinstance(rows.source, _json.Objects)
    return rows


CONTENTS = {
    "plain": TEXT.encode(),
    "no last line end": TEXT.encode()[:-1],
    "mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "two bytes per line end": TEXT.replace("\n", "\r\n").encode(),
    "old line ends": TEXT.replace("\n", "\r").encode(),
    "blank lines": TEXT.replace("\n", "\n \n\n").encode(),
    "utf-16": TEXT.encode("utf-16"),
    "packed": gzip.compress(TEXT.encode()),
    "packed with a mark": gzip.compress(b"\xef\xbb\xbf" + TEXT.encode()),
    "a long line": (TEXT + json.dumps({"text": "long " * 1000, "n": 1}) + "\n" + TEXT).encode(),
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("piece", [1, 2, 100, 2**20])
def test_what_is_read_in_pieces_is_what_was_read(tmp_path, monkeypatch, content, piece):
    monkeypatch.setattr(_again, "PIECE", piece)
    path = tmp_path / ("x.jsonl.gz" if content.startswith("packed") else "x.jsonl")
    rows = large(path, CONTENTS[content])
    memory = kept(path, monkeypatch)
    for kind in ("jsonl", "csv"):
        expected = writing.table_bytes(memory, added(len(rows)), kind)
        assert writing.table_bytes(rows, added(len(rows)), kind) == expected
    assert b"0.50" in expected
    assert writing.CHANGED not in rows.notes


def test_lines_that_were_added_since_are_not_part_of_it(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    rows = large(path)
    expected = writing.table_bytes(kept(path, monkeypatch), added(40), "jsonl")
    with path.open("ab") as file:
        file.write(b"\xff not even a line")
    assert writing.table_bytes(rows, added(40), "jsonl") == expected
    assert writing.CHANGED not in rows.notes


def _changed(path: Path, how: str) -> None:
    before = path.read_bytes()
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how == "a pipe":
        os.mkfifo(path)
    elif how != "gone":
        path.write_bytes(
            {
                "empty": b"",
                "other": TEXT.replace("größe", "small ").encode(),
                "last byte": before[:-1] + b" ",
                "shorter": before[: len(before) // 2],
                "fewer lines": before.replace(b"}\n{", b"}, {", 3),
                "more lines": before.replace(b", ", b",\n"),
                "not utf-8": before.replace("ö".encode(), b"\xff\xff").replace(b"\n", b" \n"),
                "damaged gzip": gzip.compress(before)[:-30],
                "no gzip": b"\x1f\x8b" + before[2:],
            }[how]
        )


WAYS = (
    *("gone", "a folder", "a pipe", "empty", "other", "last byte", "shorter", "fewer lines"),
    *("more lines", "not utf-8", "damaged gzip", "no gzip"),
)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("in_file", [True, False])
def test_a_file_that_changed_is_written_from_the_table(tmp_path, how, in_file):
    if how == "a pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    rows = large(tmp_path / "x.jsonl")
    _changed(tmp_path / "x.jsonl", how)
    with (tmp_path / "out").open("w+b") if in_file else io.BytesIO() as out:
        out.write(b"what was there before\n")
        writing.write_table(out, rows, added(40), "jsonl")
        out.seek(0)
        first, *lines = out.read().decode().splitlines()
    assert first == "what was there before"
    found = [json.loads(line) for line in lines]
    assert [row["text"] for row in found] == [f"größe {i}" for i in range(40)]
    assert [row["n"] for row in found] == [i + 0.5 for i in range(40)]
    assert [row["cluster"] for row in found] == list(range(40))
    assert rows.notes.count(writing.CHANGED) == 1


def test_a_file_may_become_shorter_while_it_is_written(tmp_path):
    rows = large(tmp_path / "x.jsonl", TEXT.encode() * 2000)  # more than the system reads ahead
    n = len(rows)

    class Out(io.BytesIO):
        def write(self, data: Any) -> int:
            if self.tell() == 0:
                os.truncate(tmp_path / "x.jsonl", 200)
            return super().write(data)

    out = Out()
    writing.write_table(out, rows, {"cluster": np.arange(n)}, "jsonl")
    found = pl.read_ndjson(out.getvalue())
    assert found["cluster"].to_list() == list(range(n))
    assert found["text"].equals(rows.frame["text"])
    assert rows.notes.count(writing.CHANGED) == 1


def test_a_full_disk_is_no_changed_file(tmp_path):
    rows = large(tmp_path / "x.jsonl")

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        writing.write_table(Full(), rows, added(40), "jsonl")
    assert writing.CHANGED not in rows.notes


@pytest.mark.parametrize(
    ("said", "kind"),
    [("No space left on device (os error 28)", OSError), ("no such type", InvalidInput)],
)
def test_an_error_of_the_disk_is_not_one_of_the_table(tmp_path, monkeypatch, said, kind):
    def fails(*_: Any, **__: Any) -> None:
        raise pl.exceptions.ComputeError(said)

    rows = large(tmp_path / "x.jsonl")
    monkeypatch.setattr(pl.DataFrame, "write_parquet", fails)
    with pytest.raises(kind, match=re.escape(said)):
        writing.write_table(io.BytesIO(), rows, added(40), "parquet")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_that_is_full_is_named_as_the_reason(tmp_path):
    rows = large(tmp_path / "x.jsonl")
    with (
        pytest.raises(ModelFileError, match=r"out\.parquet cannot be written: No space left"),
        _disk.Claim(tmp_path / "out.parquet") as place,
        place.staged(),
        open("/dev/full", "wb", buffering=0) as full,
    ):
        writing.write_table(full, rows, added(40), "parquet")


@pytest.mark.parametrize("error", [pl.exceptions.ComputeError, OSError])
def test_a_full_disk_is_no_column_that_parquet_cannot_hold(monkeypatch, error):
    """The rows that a model keeps: the other tests of a full disk write the table with our columns."""
    tries = []

    def full(*_: Any, **__: Any) -> None:
        tries.append(1)
        raise error("No space left on device (os error 28)")

    rows = read(pl.DataFrame({"text": ["red car", "bike"], "n": [1, 2]}))
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(OSError, match="No space left on device"):
        rows.write_parquet(io.BytesIO(b"what was there before"))
    assert tries == [1]


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_what_needs_no_notation_needs_no_file(tmp_path, kind):
    rows = large(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").unlink()
    data = {"cluster": np.arange(40)}
    written = io.BytesIO(writing.table_bytes(rows, data, kind))
    found = pl.read_parquet(written) if kind == "parquet" else pl.read_excel(written)
    assert found["n"].to_list() == [i + 0.5 for i in range(40)]
    assert writing.CHANGED not in rows.notes


# ---------------------------------------------------------------- memory
def _peak(rows: Rows, path: Path, kind: str) -> int:
    """Bytes that Python holds at most while a table is written."""
    data = {"cluster": np.arange(len(rows)), "name": ["a"] * len(rows)}
    with path.open("wb") as file:
        tracemalloc.start()
        try:
            writing.write_table(file, rows, data, kind)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(("kind", "most"), [("jsonl", 12e6), ("parquet", 1e6), ("csv", 50e6)])
def test_a_large_file_is_not_held_to_write_its_table(tmp_path, monkeypatch, kind, most):
    monkeypatch.setattr(_again, "PIECE", 2**20)
    rng = np.random.default_rng(0)
    texts = rng.integers(97, 123, (30_000, 1000), np.uint8)
    lines = [b'{"text":"' + row.tobytes() + b'"}\n' for row in texts]
    rows = large(tmp_path / "x.jsonl", b"".join(lines))  # 30 MB
    assert _peak(rows, tmp_path / "out", kind) < most
    if kind != "parquet":
        assert (tmp_path / "out").stat().st_size > 30e6


def test_a_model_does_not_hold_its_table_as_bytes(tmp_path):
    texts = np.random.default_rng(0).integers(97, 123, (5_000, 1000), np.uint8)
    rows = read([row.tobytes().decode() for row in texts])
    groups = coterie.cluster(["red car", "blue bike"] * 3, embedder=None, levels=False)
    groups.rows = rows  # as large a table as need be
    documents = keeping.saved(groups).write_documents
    assert documents is not None
    with (tmp_path / "documents.parquet").open("wb") as file:
        tracemalloc.start()
        documents(file)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert pl.read_parquet(tmp_path / "documents.parquet").equals(rows.frame)
    assert peak < 1e6


class HalfWritten(pl.DataFrame):
    def write_parquet(self, file: Any, **how: Any) -> None:
        file.write(b"half of a table")
        raise ValueError("a column that parquet cannot hold")


def test_what_parquet_cannot_hold_is_left_out(tmp_path):
    rows = read(pl.DataFrame({"text": ["red car", "bike"], "n": [1, 2]}))
    rows.frame = HalfWritten({"text": ["red car", "bike"], "n": [1, 2]})
    with (tmp_path / "x.parquet").open("wb") as file:
        rows.write_parquet(file)
    assert (tmp_path / "x.parquet").read_bytes().startswith(b"PAR1")
    assert pl.read_parquet(tmp_path / "x.parquet").to_dicts()[1] == {"text": "bike", "n": 2}


# ---------------------------------------------------------------- columns
def test_slices_of_columns_have_the_types_of_all_rows():
    columns = {**added(40), "words": np.array(["a", None] * 20, object), "few": [None] * 39 + [1]}
    whole = pl.DataFrame(columns)
    for values in (_lazy.Frame(columns, 40)[:7], _lazy.Frame(columns, 40)[7:40]):
        assert values.schema == whole.schema
    assert _lazy.Frame(columns, 40)[3:9].equals(whole[3:9])


def test_lists_of_texts_and_arrays_are_not_copied():
    columns = added(40)
    held = _lazy.Frame(columns, 40)._columns
    assert all(held[name] is columns[name] for name in ("cluster", "name", "p"))
