"""Writes a clustering to files for other programs: one table, a workbook, or a file per group.

In: a clustering. Out: bytes of csv, tsv, jsonl, parquet or xlsx files, chosen by the ending. A workbook
holds the table and the clusters, and on request a sheet per group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._disk import write_atomically
from coterie.errors import InvalidInput
from coterie.text import _workbook, writing

if TYPE_CHECKING:
    from coterie.clustering import Clustering

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}
MOST_SHEETS = 250  # of single groups; more slow Excel down
_bad = re.compile(r"[^\w .+&-]+")


def write(groups: Clustering, path: Path, per_group: bool = False) -> None:
    """Write the table to a file, by its ending; a workbook may have a sheet per group."""
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise InvalidInput(
            f"coterie cannot write a table as {path.suffix or 'a file without ending'} ({path.name}). Use"
            f" {', '.join(ENDINGS)}."
        )
    if per_group and kind != "xlsx":
        raise InvalidInput(
            f"One sheet per group needs an .xlsx file, but {path.name} is {kind}. Write an .xlsx file."
        )
    write_atomically(path, table_bytes(groups, kind, per_group), groups.read_from)
    groups.notes.extend(note for note in groups.rows.notes if note not in groups.notes)


def table_bytes(
    groups: Clustering, kind: str, per_group: bool = False, more: dict[str, Any] | None = None
) -> bytes:
    """The table as the bytes of a file; `more` are further sheets of a workbook, by name."""
    if kind == "xlsx":
        return _workbook.workbook({**_sheets(groups, per_group), **(more or {})})
    return writing.table_bytes(groups.rows, groups.added, kind)


def clusters(groups: Clustering) -> Any:
    """The clusters as a flat table: words in one cell, one column per example."""
    import polars as pl

    found = groups.clusters
    examples = found["examples"].to_list()
    columns = [pl.Series("words", [", ".join(words) for words in found["words"]], pl.String)]
    for i in range(max(map(len, examples), default=0)):
        texts = [row[i] if i < len(row) else None for row in examples]
        columns.append(pl.Series(f"example_{i + 1}", texts, pl.String))
    return found.drop("words", "examples").with_columns(columns)


def files(groups: Clustering, kind: str) -> Iterator[tuple[str, bytes]]:
    """A file per group: (its name, its content)."""
    width = len(str(max(groups.n_clusters - 1, 0)))
    every = writing.opened(groups.rows)
    for k, rows in _members(groups):
        name = _bad.sub(" ", groups.names[k])[:60].strip(" .") or "group"
        content = writing.table_bytes(every, groups.added, kind, pick=rows)
        yield f"{k:0{width}} {name}.{kind}", content


def _sheets(groups: Clustering, per_group: bool) -> dict[str, Any]:
    table = writing.sheet(groups.rows, groups.added)
    sheets = {"table": table, "clusters": clusters(groups)}
    if not per_group:
        return sheets
    if groups.n_clusters > MOST_SHEETS:
        raise InvalidInput(
            f"There are {groups.n_clusters:,} groups, but a workbook with more than {MOST_SHEETS} sheets is"
            " slow to open. Write one file per group into a folder instead, or ask for fewer groups."
        )
    for k, rows in _members(groups):
        sheets[f"{k} {groups.names[k]}"] = table[rows]
    return sheets


def _members(groups: Clustering) -> Iterator[tuple[int, list[int]]]:
    """The rows of each group that has any."""
    for k in range(groups.n_clusters):
        rows = np.flatnonzero(groups.labels == k).tolist()
        if rows:
            yield k, rows
