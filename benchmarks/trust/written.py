"""What coterie wrote, read by others and compared with what was given, cell by cell.

In: a `Given` and a file. Out: what is wrong with it. The readers are the csv and json modules, pyarrow, and
the XML of workbooks; `kept` says whether a cell is what it was.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.trust import kept
from benchmarks.trust._workbook import Shown, sheets
from benchmarks.trust.odd_cells import MARKS, MISSING, Number, parsed
from benchmarks.trust.odd_tables import DELIMITED, JSON, Column, Given

OURS = re.compile(r"(coterie_)?(cluster|name|probability|outlier_score|trust)(_\d+)?")


class Wrong(NamedTuple):
    """What is wrong with a case; `said` if a note says so."""

    what: str  # a class of faults
    column: str
    detail: str
    said: bool = False
    written: str = ""  # the name in the file, as notes say it: a second "a" is a_1 there


def compared(given: Given, kind: str, path: Path) -> Iterator[Wrong]:
    """Everything that is not as it was."""
    if given.kind in JSON and kind == "jsonl":
        yield from _same_objects(given, path)
        return
    candidates = list(_READERS[kind](given, kind, path))
    found = [list(_differences(given, kind, one)) for one in candidates]
    yield from min(found, key=lambda wrong: (any(not one.column for one in wrong), len(wrong)))
    if kind == "xlsx":
        odd = sheets(path)[0].odd
        if odd:
            yield Wrong("Excel would repair the sheet", "", odd)


def rows_of_groups(given: Given, kind: str, result: Path) -> int:
    """How many rows there are in the sheets or files of single groups."""
    if kind == "xlsx":
        pages = sheets(result / "table.xlsx")
        return sum(
            max(0, len(one.rows) - 1) for one in pages if one.name not in ("table", "clusters")
        )
    files = sorted((result / "groups").glob("*"))
    return sum(len(next(_READERS[kind](given, kind, path)).columns[0]) for path in files)


class Table(NamedTuple):
    """What a reader found: names and columns of cells."""

    names: list[str]
    columns: list[list[Any]]
    types: list[Any]


def _differences(given: Given, kind: str, out: Table) -> Iterator[Wrong]:
    theirs = given.columns
    if given.kind in JSON:  # whose keys have no order
        out = _in_order(out, [c.name for c in theirs])
    n = {len(column) for column in out.columns}
    if n != {given.n_rows}:
        yield Wrong("rows", "", f"{given.n_rows} rows became {n}")
        return
    more = out.names[len(theirs) :]
    if len(given.paths) > 1 and more[:1] and not OURS.fullmatch(more[0]):
        more = more[1:]  # the name of the file
    if len(more) != 5 or not all(map(OURS.fullmatch, more)):
        yield Wrong("columns", "", f"{[c.name for c in theirs]} became {out.names}")
        return
    for column, name, cells, dtype in zip(theirs, out.names, out.columns, out.types, strict=False):
        if not _same_name(given, kind, column.name, name):
            detail = f"{kept.spelled(column.name)} -> {kept.spelled(name)}"
            yield Wrong("a name of a column", column.name, detail)
        for wrong in _wrong_cells(given, kind, column, cells, dtype):
            yield wrong._replace(written=name)


def _in_order(out: Table, names: list[str]) -> Table:
    first = [out.names.index(name) for name in names if name in out.names]
    if len(first) < len(names):
        return out
    order = first + [i for i in range(len(out.names)) if i not in first]
    return Table(*([values[i] for i in order] for values in out))


def _same_name(given: Given, kind: str, name: str, out: str) -> bool:
    if name == out:
        return True
    if kind in DELIMITED and given.kind in DELIMITED and len(given.paths) == 1:
        return False
    bare = as_named(name)
    twice = sum(as_named(c.name) == bare for c in given.columns) > 1
    # fastexcel numbers names that still have their blanks
    numbered = twice and re.fullmatch(re.escape(bare) + r"\s*_\d+", out)
    unnamed = not bare and re.fullmatch(r"(column_|Column)\d+(_\d+)?", out)
    return bool(out == bare or numbered or unnamed)


def as_named(name: str) -> str:
    """The name of a column without blanks around it, as tables in memory have it."""
    return name.strip("\ufeff \t\r\n\v\f\xa0")


def _wrong_cells(
    given: Given, kind: str, column: Column, cells: list[Any], dtype: Any
) -> Iterator[Wrong]:
    same = _rule(given.kind, kind, column)
    typed = given.kind == kind == "parquet" and column.arrow is not None
    if typed and (given_type := _type(column.arrow)) != _type(dtype):
        yield Wrong(f"{column.label}: type", column.name, f"{given_type} -> {_type(dtype)}")
        return
    bad = [i for i, (a, b) in enumerate(zip(column.cells, cells, strict=True)) if not same(a, b)]
    if bad:
        i = bad[0]
        shown = f"row {i}: {kept.spelled(column.cells[i])} -> {kept.spelled(cells[i])} ({len(bad)} cells)"
        yield Wrong(f"{column.label}: {_how(column.cells[i], cells[i])}", column.name, shown)


def _rule(kind_in: str, kind: str, column: Column) -> Callable[[Any, Any], bool]:
    if kind_in == kind == "xlsx":
        return kept.same_sheet_cell
    if kind_in == kind == "parquet" and column.arrow is not None:
        return kept.same_typed
    rules = {
        "jsonl": kept.same_in_json,
        "parquet": kept.same_in_parquet,
        "xlsx": kept.same_in_sheet,
    }
    return rules.get(kind, kept.same_in_csv)


def _how(cell: Any, out: Any) -> str:
    """The kind of a change, to count cases of one class together."""
    into = f"{out.kind}" if isinstance(out, Shown) else type(out).__name__
    if out in (None, "", MISSING):
        return f"{type(cell).__name__} is gone"
    return f"{type(cell).__name__} became {into}"


def _type(arrow: Any) -> str:
    """A type of arrow; how it is laid out does not matter."""
    said = re.sub(
        r"large_|_view|fixed_size_(?=binary)|(?<=binary)\[\d+\]| \('[^']*'\)| not null",
        "",
        str(arrow),
    )
    said = re.sub(r"dictionary<values=(\w+),.*?>$", r"dictionary<\1>", said)
    said = re.sub(r"list<(item|element|child): ", "list<item: ", said)
    return re.sub(r"time(32|64)\[\w+\]", "time", said)


# ---------------------------------------------------------------- readers
def _delimited(given: Given, kind: str, path: Path) -> Iterator[Table]:
    """The table as the csv module reads it; if quotes mean nothing in the input, also as plain lines."""
    raw = path.read_bytes()
    own = given.separator.replace("\t", ",")
    for text in _decoded(raw, given.encoding):
        for separator in ["\t"] if kind == "tsv" else dict.fromkeys([own, ","]):
            before = csv.field_size_limit(2**31 - 1)
            try:
                lines = io.StringIO(text, newline="")
                yield _as_table(list(csv.reader(lines, delimiter=separator)))
            finally:
                csv.field_size_limit(before)
        if given.is_plain and kind == "tsv":
            yield _as_table([line.split("\t") for line in re.split("\r?\n", text)[:-1]])


def _decoded(raw: bytes, encoding: str) -> list[str]:
    """The text; without a mark, perhaps in the encoding of the input and perhaps in UTF-8."""
    for codec, mark in MARKS.items():
        if raw.startswith(mark):
            return [raw[len(mark) :].decode(codec.removesuffix("-sig"))]
    found = []
    for codec in dict.fromkeys([encoding.removesuffix("-sig"), "utf-8"]):
        try:
            found.append(raw.decode(codec))
        except UnicodeDecodeError:
            continue
    return found


def _as_table(rows: list[list[str]]) -> Table:
    names, *rest = rows
    rest = [row or [""] for row in rest]
    wide = {len(row) for row in rest}
    if wide != {len(names)}:
        return Table(names, [[]], [])
    columns = [list(column) for column in zip(*rest, strict=True)]
    return Table(names, columns, [None] * len(columns))


def _objects(given: Given, kind: str, path: Path) -> Iterator[Table]:
    rows = [parsed(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = [[row.get(name, MISSING) for row in rows] for name in names]
    yield Table(names, columns, [None] * len(columns))


def _parquet(given: Given, kind: str, path: Path) -> Iterator[Table]:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read()
    columns = [[getattr(v, "bytes", v) for v in column.to_pylist()] for column in table.columns]
    yield Table(table.column_names, columns, table.schema.types)


def _sheet(given: Given, kind: str, path: Path) -> Iterator[Table]:
    rows = sheets(path)[0].rows
    width = max(map(len, rows), default=0)
    if not width:
        yield Table([], [[]], [])
        return
    rows = [row + [None] * (width - len(row)) for row in rows]
    rows += [[None] * width for _ in range(given.n_rows + 1 - len(rows))]
    names = ["" if cell is None else str(cell.value) for cell in rows[0]]
    columns = [list(column) for column in zip(*rows[1:], strict=True)]
    yield Table(names, columns, [None] * width)


_READERS = {
    "csv": _delimited,
    "tsv": _delimited,
    "jsonl": _objects,
    "parquet": _parquet,
    "xlsx": _sheet,
}


def _same_objects(given: Given, path: Path) -> Iterator[Wrong]:
    """Each object as it was, with our keys at its end."""
    pairs = [_pairs(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    wanted = [pair for file in given.paths for pair in _pairs_in(file, given)]
    wanted = [wanted[i] for i in given.order] if given.order else wanted
    if len(pairs) != len(wanted):
        yield Wrong("rows", "", f"{len(wanted)} objects became {len(pairs)}")
        return
    found: dict[tuple[str, str], Wrong] = {}
    labels = {c.name: c.label for c in given.columns}
    for number, (was, now) in enumerate(zip(wanted, pairs, strict=True)):
        for what, key, detail in _object_changes(was, now, set(labels), len(given.paths) > 1):
            label = "" if what.startswith("keys") else f"{labels[key]}: "
            found.setdefault((what, key), Wrong(f"{label}{what}", key, f"row {number}: {detail}"))
    yield from found.values()


def _object_changes(
    was: Any, now: Any, names_of_all: set[str], several: bool
) -> Iterator[tuple[str, str, str]]:
    """What changed in one object, key by key."""
    before, after = dict(was), dict(now)
    ours = [key for key in after if key not in before]
    nulls = [key for key in ours if after[key] is None and key in names_of_all]
    if nulls:
        yield "keys that were not there are null", "", f"{nulls} in {list(after)}"
        ours = [key for key in ours if key not in nulls]
    names = ours[1:] if several and ours and not OURS.fullmatch(ours[0]) else ours
    if len(names) != 5 or not all(map(OURS.fullmatch, names)):
        yield "keys are not as expected", "", f"{list(before)} -> {list(after)}"
    if [key for key in after if key in before] != list(before):
        yield "keys in another order", "", f"{list(before)} -> {list(after)}"
    for key, value in before.items():
        out = after.get(key, MISSING)
        if value != out or type(value) is not type(out):
            are_numbers = isinstance(value, Number) and isinstance(out, Number)
            what = "in another notation" if are_numbers else _how(value, out)
            yield what, key, f"{key!r}: {kept.spelled(value)} -> {kept.spelled(out)}"


def _pairs_in(path: Path, given: Given) -> list[Any]:
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    text = _decoded(raw, given.encoding)[0]
    pieces = [text] if given.kind == "json" else [line for line in text.split("\n") if line.strip()]
    found = [_pairs(piece) for piece in pieces]
    return list(found[0]) if given.kind == "json" else found


def _pairs(text: str) -> Any:
    """JSON with the order of its keys and the spelling of its numbers."""
    how: Any = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), Number)
    return json.loads(text, object_pairs_hook=list, **how)
