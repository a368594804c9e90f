"""`--by` and `--over`: breakdowns as files, sheets, JSON and lines in the terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli.words import in_terms_of_options
from coterie.text import writing

if TYPE_CHECKING:
    from coterie.breakdown import Breakdown
    from coterie.clustering import Clustering

ABOUT_FILES = (
    "text",
    "id",
    "encoding",
    "header",
    "sheet",
)  # what `cluster` passes on to the reader
FILES = re.compile(r"(by|over|changes)_[^/]*\.csv")
_bad = re.compile(r"[^\w.+-]+")


def read(file: Any, given: dict[str, Any], by: list[str], over: str | None, show: list[str]) -> Any:
    """Read the rows, and refuse columns that are not there or hold no times, before the work starts."""
    from coterie import breakdown
    from coterie.report.texts import chosen_columns
    from coterie.text import readers

    about = {name: given.pop(name, None) for name in ABOUT_FILES}
    rows = readers.read(file, **about)
    breakdown.check(rows, by, over)
    chosen_columns(rows, show)
    return rows


def of(groups: Clustering, by: list[str], over: str | None) -> list[Breakdown]:
    """The breakdowns that were asked for."""
    found = [groups.by(column) for column in dict.fromkeys(by)]
    return [*found, groups.over(over)] if over is not None else found


def columns(found: list[Breakdown]) -> dict[str, Any]:
    """The columns, as arguments of `groups.report`."""
    times = [one.column for one in found if one.every]
    return {
        "by": [one.column for one in found if not one.every],
        "over": times[0] if times else None,
    }


def frames(found: list[Breakdown]) -> dict[str, Any]:
    """Tables of the breakdowns, by the names of their files or sheets."""
    named: dict[str, Any] = {}
    for one in found:
        name = _bad.sub("_", one.column)[:80]
        named[f"{'over' if one.every else 'by'}_{name}"] = one.table
        if one.changes is not None:
            named[f"changes_{name}"] = one.changes
    return named


def write(found: list[Breakdown], folder: Path, dialect: Any) -> dict[str, str]:
    """Write csv files into a folder; return their names."""
    names = {}
    for name, frame in frames(found).items():
        names[name] = f"{name}.csv"
        (folder / names[name]).write_bytes(writing.frame_bytes(frame, "csv", dialect))
    return names


def facts(found: list[Breakdown]) -> list[dict[str, Any]]:
    """The breakdowns as plain data for JSON."""
    return [
        {
            "column": one.column,
            **({"every": one.every} if one.every else {}),
            "rows": one.table.to_dicts(),
            **({} if one.changes is None else {"changes": one.changes.to_dicts()}),
            "notes": [in_terms_of_options(note) for note in one.notes],
        }
        for one in found
    ]


def said(found: list[Breakdown]) -> list[tuple[str, list[str]]]:
    """What stands out, for the terminal: headings and lines."""
    parts = []
    for one in found:
        per = f", per {one.every}" if one.every else ""
        heading = f"{'Over' if one.every else 'By'} {one.column}{per}"
        parts.append((heading, [*one.lines(), *map(in_terms_of_options, one.notes)]))
    return parts
