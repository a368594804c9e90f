"""Random tables through reading and writing, and damaged ones through reading.

`round_trips` writes tables of every shape, lets coterie read them and write them back with its
columns, and compares cell by cell what an independent reader finds. `mutated` damages a table, which is
then read, or refused in a sentence.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.trust import made
from benchmarks.trust.cases import is_sentence
from coterie.cli import tables
from coterie.cli.fit import default_type
from coterie.errors import InvalidInput
from coterie.text import readers

MEMORY = "1GB"  # for the reading of damaged tables
KEPT = 20  # failures that are returned
NAMES = ("cluster", "probability", "outlier_score")


def round_trips(n: int, seed: int = 0) -> dict[str, Any]:
    """Read and write n random tables, half of them csv and half JSON lines."""
    counts = Counter(tables=0, csv=0, jsonl=0, exact=0, changed=0, refused=0)
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(n):
            kind = ("csv", "jsonl")[i % 2]
            problem = (_csv_trip if kind == "csv" else _jsonl_trip)(
                made.drawing(seed, i), Path(folder)
            )
            counts.update(["tables", kind, "exact" if problem is None else problem[0]])
            if problem is not None and len(failures) < KEPT:
                failures.append(f"{kind} table {i} of seed {seed}: {problem[1]}")
    return {**counts, "failures": failures}


def mutated(number: int, seed: int) -> str:
    """One damaged table, for `cases.run`: read, or refused in a sentence."""
    os.environ["COTERIE_MAX_MEMORY"] = MEMORY
    name, content = made.damaged(seed, number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            readers.read(path)
        except InvalidInput as error:
            return "refused" if is_sentence(error) else f"not a sentence: {error}"
    return "fine"


# ---------------------------------------------------------------- csv there and back
def _csv_trip(draw: random.Random, folder: Path) -> tuple[str, str] | None:
    table, text = made.table(draw)
    separator = draw.choice(made.SEPARATORS)
    has_header = draw.random() < 0.8
    content = made.csv_bytes(draw, table if has_header else table[1:], separator)
    ending = "tsv" if separator == "\t" and draw.random() < 0.7 else "csv"
    path = folder / f"table.{ending}"
    path.write_bytes(content)
    expected = (
        table if has_header else [[f"column_{i + 1}" for i in range(len(table[0]))], *table[1:]]
    )
    try:
        rows = readers.read(
            path,
            text="text" if has_header else f"column_{text + 1}",
            header=None if has_header else False,
        )
    except InvalidInput as error:
        return "refused", f"{error} {content!r}"
    out = folder / f"out.{ending}"
    _write(rows, path, out)
    found = _csv_back(out, rows, ending)
    wanted = [row + more for row, more in zip(expected, _ours(len(rows)), strict=False)]
    found = [row[: len(table[0])] + _numbers(row[len(table[0]) :]) for row in found]
    if found != wanted or len(rows) != len(table) - 1:
        return "changed", f"{content!r} -> {out.read_bytes()!r}"
    return None


def _csv_back(out: Path, rows: readers.Rows, ending: str) -> list[list[str]]:
    """The cells of a file that was written as the one that was read."""
    how = rows.dialect
    text = out.read_bytes()[len(how.mark) :].decode(how.encoding)
    between = "\t" if ending == "tsv" else how.separator.replace("\t", ",")
    found = list(csv.reader(io.StringIO(text, newline=""), delimiter=between))
    if how.decimal_comma and between != ",":
        return [row[:-3] + [cell.replace(",", ".") for cell in row[-3:]] for row in found]
    return found


# ---------------------------------------------------------------- JSON there and back
def _jsonl_trip(draw: random.Random, folder: Path) -> tuple[str, str] | None:
    lines = made.objects(draw)
    end = draw.choice(["\n", "\r\n"])
    content = end.join(line + draw.choice(["", "", " ", end]) for line in lines)
    content += draw.choice(["", end])
    path = folder / "table.jsonl"
    path.write_bytes((b"\xef\xbb\xbf" if draw.random() < 0.3 else b"") + content.encode())
    try:
        rows = readers.read(path, text="text")
    except InvalidInput as error:
        return "refused", f"{error} {content!r}"
    out = folder / "out.jsonl"
    _write(rows, path, out)
    added = rows.names_for(NAMES)
    wanted = [
        [*_pairs(line), *zip(added, row, strict=True)]
        for line, row in zip(lines, _ours(len(rows))[1:], strict=True)
    ]
    try:
        found = [_pairs(line) for line in out.read_text(encoding="utf-8").split("\n")[:-1]]
    except ValueError as error:
        return "changed", f"{error} {content!r} -> {out.read_bytes()!r}"
    found = [[*row[:-3], *((key, *_numbers([value])) for key, value in row[-3:])] for row in found]
    return None if found == wanted else ("changed", f"{content!r} -> {out.read_bytes()!r}")


def _pairs(line: str) -> Any:
    """A line by an independent reader that keeps the spelling of numbers and the order of keys."""
    return json.loads(
        line,
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
        parse_constant=lambda digits: ("number", digits),
        object_pairs_hook=list,
    )


# ---------------------------------------------------------------- our columns
def _write(rows: readers.Rows, source: Path, out: Path) -> None:
    """Add columns and write them, as `coterie fit` does."""
    n = len(rows)
    values = (np.arange(n) - 1, np.linspace(0.0, 1.0, n), np.linspace(-1.0, 1.0, n))
    tables.write_table(rows, dict(zip(NAMES, values, strict=True)), out, default_type(str(source)))


def _ours(n: int) -> list[list[Any]]:
    columns = (np.arange(n) - 1, np.linspace(0.0, 1.0, n), np.linspace(-1.0, 1.0, n))
    return [list(NAMES), *([float(v) for v in row] for row in zip(*columns, strict=True))]


def _numbers(cells: list[Any]) -> list[Any]:
    """Our columns as numbers; whatever else is there as it is."""
    values = [cell[1] if isinstance(cell, tuple) else cell for cell in cells]
    return [float(v) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", str(v)) else v for v in values]
