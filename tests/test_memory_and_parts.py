"""Read in memory or in parts, the same files give the same table: every cell that is not ours.

Where one of the two ways cannot read a file, a sentence says so.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie
from coterie.errors import InvalidInput
from coterie.text import _pieces
from coterie.text.writing import table_bytes

HOW: dict[str, Any] = {"embedder": None, "levels": False, "n_sweeps": 1}
OURS = 5  # columns
WORDS = ["oven bread", "fast car", "bread dough", "car race"] * 10


@pytest.fixture(params=[120, 10**6])
def piece(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pieces, "PIECE", request.param)


def lines(*rows: str, end: str = "\n") -> bytes:
    return ("\n".join(rows) + end).encode()


def numbered(make: Callable[[int, str], str], words: list[str] = WORDS) -> list[str]:
    return [make(i, text) for i, text in enumerate(words)]


LONG = "oven bread " * 60  # longer than a piece
ROWS = numbered(lambda i, text: f"{i:03d},{text},{i}.50")
OBJECTS = numbered(lambda i, text: f'{{"text":"{text}","n":{i}.50,"id":{10**18 + i}}}')
SEVERAL_TYPES = ['{"text":"oven","n":"x","o":{"a":1}}', '{"text":"car","o":[1,"a",1.10]}'] * 20

CASES: dict[str, dict[str, bytes]] = {
    "csv": {"a.csv": lines("id,text,n", *ROWS)},
    "csv, the first row is long": {"a.csv": lines("id,text,n", f"7,{LONG},1.10", *ROWS)},
    "csv, the first row is long and in quotes": {
        "a.csv": lines("id,text,n", f'7,"{LONG}, ""so""\n",1.10', *ROWS)
    },
    "csv, a name of two lines, the first row is long": {
        "a.csv": lines('"id\nof",text,n', f"7,{LONG},1.10", *ROWS)
    },
    "tsv, a quote that is never closed": {
        "a.tsv": lines(
            "id\ttext", '7\t"Great said she', *numbered(lambda i, t: f"{i}\t{t}", WORDS * 6)
        )
    },
    "jsonl with marks, a key file in first lines": {
        f"{name}.jsonl": b"\xef\xbb\xbf"
        + lines(f'{{"text":"oven {name}","file":"mine"}}', *OBJECTS[:20])
        for name in "ab"
    },
    "csv, one row": {"a.csv": lines("text,n", "oven bread,1.10")},
    "csv, one row, no line end": {"a.csv": lines("text,n", "oven bread,1.10", end="")},
    "csv, one long row, no line end": {"a.csv": lines("text,n", f"{LONG},1.10", end="")},
    "csv, blank lines, one row": {"a.csv": lines("", "", "text,n", "", "oven bread,1.10", end="")},
    "tsv, one row, no line end": {"a.tsv": lines("text\tn", "oven bread\t1.10", end="")},
    "txt, one row, no line end": {"a.txt": lines("oven bread", end="")},
    "jsonl, one row, no line end": {"a.jsonl": lines(OBJECTS[0], end="")},
    "txt, the first row is long": {"a.txt": lines(LONG, *WORDS)},
    "jsonl, the first row is long": {"a.jsonl": lines(json.dumps({"text": LONG}), *OBJECTS)},
    "csv, the same name twice": {"a.csv": lines("text,n,n,", *(f"{t},1.10,2,3" for t in WORDS))},
    "csv, the same name twice, twice": {
        name: lines("text,n,n,", *(f"{t},1.10,2,3" for t in WORDS)) for name in ("a.csv", "b.csv")
    },
    "csv, numbers and then texts": {
        "a.csv": lines("id,text", *["1,2"] * 90, *["x,oven bread"] * 90)
    },
    "csv, numbers, blanks and then texts": {
        "a.csv": lines("id,text", *["1,2"] * 60, *["2,"] * 60, *["x,oven bread"] * 90)
    },
    "csv, texts and then numbers": {"a.csv": lines("id,text", *["1,bread"] * 90, *["3,2"] * 90)},
    "csv, several": {"a.csv": lines("id,text,n", *ROWS), "b.csv": lines("id,text,n", *ROWS[:9])},
    "csv, several, with a column file": {
        name: lines("file,text", *(f"mine,{text}" for text in WORDS)) for name in ("a.csv", "b.csv")
    },
    "csv, several, one row each": {
        name: lines("text,n", f"{LONG},1.10", end="") for name in ("a.csv", "b.csv")
    },
    "txt, several": {"a.txt": lines(*WORDS), "b.txt": lines(*WORDS)},
    "jsonl, several": {"a.jsonl": lines(*OBJECTS), "b.jsonl": lines(*OBJECTS[:9])},
    "jsonl, several types": {"a.jsonl": lines(*OBJECTS), "b.jsonl": lines(*SEVERAL_TYPES)},
    "jsonl, several, without line ends": {
        "a.jsonl": lines(*OBJECTS, end=""),
        "b.jsonl": lines("", *SEVERAL_TYPES, end=""),
    },
    "jsonl, several, with a key file at the end": {
        "a.jsonl": lines(*OBJECTS),
        "b.jsonl": lines(*OBJECTS, '{"text":"car","file":"mine"}'),
    },
    "jsonl, several, with a key file that is not theirs": {
        "a.jsonl": lines(*OBJECTS, '{"text":"a \\"file\\": car","o":{"file":1}}'),
        "b.jsonl": lines(*OBJECTS),
    },
    "tsv, quotes": {
        "a.tsv": lines("id\ttext", *numbered(lambda i, text: f'{i}\t"{text}" she said'))
    },
}


def both(files: list[Path], text: str | None) -> list[Any]:
    """What `cluster` and `cluster_large` write; the sentence where one refuses."""
    kind = files[0].suffix[1:]
    kind = "csv" if kind == "txt" else kind
    found: list[Any] = []
    for name in ("memory", "parts"):
        out = files[0].with_name(f"{name}.{kind}")
        try:
            if name == "memory":
                coterie.cluster(files, text=text, **HOW).write(out)
            else:
                coterie.cluster_large(files, out, text=text, sweeps=0, **HOW)
        except InvalidInput as error:
            found.append(str(error))
        else:
            found.append(without_ours(out))
    return found


def without_ours(path: Path) -> Any:
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        return frame[:, : frame.width - OURS]
    if path.suffix == ".jsonl":
        return [line.partition(',"cluster":')[0] for line in path.read_text().splitlines()]
    separator = "\t" if path.suffix == ".tsv" else ","
    frame = pl.read_csv(path, infer_schema=False, has_header=False, separator=separator)
    return frame[:, : frame.width - OURS].rows()


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("text", ["text", None])
@pytest.mark.parametrize("name", CASES)
def test_the_same_cells(tmp_path: Path, name: str, text: str | None) -> None:
    for file, content in CASES[name].items():
        (tmp_path / file).write_bytes(content)
    memory, parts = both([tmp_path / file for file in CASES[name]], text)
    assert not isinstance(memory, str), memory
    assert parts == memory


@pytest.mark.parametrize("text", ["text", None])
def test_a_column_of_numbers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    """Also where it is blank in some parts."""
    monkeypatch.setattr(_pieces, "PIECE", 120)
    (tmp_path / "a.csv").write_bytes(lines("id,text", *["1,2"] * 60, *["2,"] * 60, *["3,4"] * 60))
    memory, parts = both([tmp_path / "a.csv"], text)
    assert isinstance(memory, str)
    assert parts == memory


NOON = dt.datetime(2024, 1, 1, 12)
SOME = UUID("12345678-1234-5678-1234-567812345678")


def of_uuids() -> Any:
    return pa.ExtensionArray.from_storage(pa.uuid(), pa.array([SOME.bytes, None], pa.binary(16)))


def of_bool8() -> Any:
    return pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))


# a column of parquet, and the texts of its cells; None: whatever they are
ARROW: dict[str, tuple[Callable[[], Any], list[str | None] | None]] = {
    "json": (lambda: pa.array(['{"a":1.10}', None], pa.json_()), ['{"a":1.10}', None]),
    "bool8": (of_bool8, ["true", "false"]),
    "uuid": (of_uuids, [str(SOME), None]),
    "decimal": (
        lambda: pa.array([Decimal("1.10"), None], pa.decimal128(38, 2)),
        ["1.10", None],
    ),
    "wide decimal": (
        lambda: pa.array([Decimal("1.10"), None], pa.decimal256(38, 2)),
        ["1.10", None],
    ),
    "half floats": (lambda: pa.array([0.5, 2], pa.float32()).cast(pa.float16()), ["0.5", "2.0"]),
    "times of day": (lambda: pa.array([NOON.time(), None], pa.time64("us")), None),
    "durations": (lambda: pa.array([5, None], pa.duration("s")), None),
    "bytes": (lambda: pa.array([b"abc", None], pa.binary(3)), ["abc", None]),
    "categories": (lambda: pa.array(["a", None]).dictionary_encode(), ["a", None]),
    "nothing": (lambda: pa.nulls(2), [None, None]),
    "maps": (lambda: pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), None),
    "UTC": (
        lambda: pa.array([NOON, None], pa.timestamp("us", "UTC")),
        ["2024-01-01T12:00:00.000000+0000", None],
    ),
    "no offset": (
        lambda: pa.array([NOON, None], pa.timestamp("us", "+00:00")),
        ["2024-01-01T12:00:00.000000+0000", None],
    ),
    "a zone": (
        lambda: pa.array([NOON, None], pa.timestamp("us", "Asia/Kolkata")),
        ["2024-01-01T17:30:00.000000+0530", None],
    ),
}


def put_arrow(folder: Path, name: str, column: Any) -> Path:
    pq.write_table(
        pa.table({"text": ["oven bread", "fast car"], name: column}), folder / "a.parquet"
    )
    return folder / "a.parquet"


@pytest.mark.parametrize("name", ARROW)
def test_types_of_parquet(tmp_path: Path, name: str) -> None:
    make, cells = ARROW[name]
    path = put_arrow(tmp_path, "+05:30", make())
    memory, parts = both([path], "text")
    assert parts.equals(memory)
    rows = coterie.cluster(path, text="text", **HOW).rows
    assert rows.frame.columns == ["text", "+05:30"]
    if name in ("json", "bool8", "uuid"):  # the type is not kept, and both ways say so
        large = coterie.cluster_large(path, tmp_path / "b.parquet", text="text", sweeps=0, **HOW)
        for notes in (rows.notes, large.notes):
            assert f"lose their type, but no value: '+05:30' ('arrow.{name}')" in " ".join(notes)
    for kind in ("csv", "jsonl", "parquet", "xlsx"):
        (tmp_path / f"out.{kind}").write_bytes(table_bytes(rows, {}, kind))
    found = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["+05:30"].to_list()
    assert cells is None or found == cells


@pytest.mark.parametrize("zone", ["+05:30", "-03:00", "+14:00"])
def test_offsets_as_time_zones(tmp_path: Path, capfd: Any, zone: str) -> None:
    """Polars does not know them: the moments are kept, or a sentence says why not."""
    path = put_arrow(tmp_path, "at", pa.array([NOON, None], pa.timestamp("us", zone)))
    groups = coterie.cluster(path, text="text", **HOW)
    assert groups.rows.frame["at"].to_list() == [NOON.replace(tzinfo=dt.UTC), None]
    assert any(zone in note and "UTC" in note and "'at'" in note for note in groups.notes)
    memory, parts = both([path], "text")
    assert memory["at"].equals(groups.rows.frame["at"])
    assert f"times in the time zone {zone}, which cannot be read in parts" in parts
    assert "panicked" not in capfd.readouterr().err


def test_decimal_numbers_of_too_many_digits(tmp_path: Path) -> None:
    path = put_arrow(tmp_path, "n", pa.array([Decimal("1" * 50), None], pa.decimal256(60, 2)))
    for said in both([path], "text"):
        assert said.startswith(
            "The column 'n' of a.parquet holds decimal numbers of up to 60 digits"
        )


def test_several_parquet_files(tmp_path: Path) -> None:
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in files:
        pl.DataFrame({"text": WORDS, "n": range(len(WORDS))}).write_parquet(path)
    memory, parts = both(files, "text")
    assert parts.equals(memory)
    assert memory["file"].to_list() == ["a.parquet"] * len(WORDS) + ["b.parquet"] * len(WORDS)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_the_name_of_a_file_is_no_text(tmp_path: Path, kind: str) -> None:
    """Also where it has more words than the texts."""
    files = [
        tmp_path / f"all that our customers say in {month}.{kind}" for month in ("May", "June")
    ]
    for path in files:
        frame = pl.DataFrame({"number": range(40), "what": WORDS})
        if kind == "csv":
            frame.write_csv(path)
        elif kind == "tsv":
            frame.write_csv(path, separator="\t")
        else:
            (frame.write_parquet if kind == "parquet" else frame.write_ndjson)(path)
    memory = coterie.cluster(files, **HOW)
    parts = coterie.cluster_large(files, tmp_path / f"out.{kind}", id="file", sweeps=0, **HOW)
    assert memory.rows.column == parts.rows.column == "what"
    assert set(memory.table["file"]) == set(parts.rows.ids or []) == {path.name for path in files}
