"""Decides whether the first line of a csv file is a header, by comparing it with the other rows.

Each column votes: a number above numbers suggests data, a word above numbers suggests a header, and
so on. If the votes are not clear, the first line is taken as the header, as in most files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from coterie.text._names import is_typical, rank

_LONGEST = 200  # maximum length of a name, a number or an address
_CELLS = 20_000  # cells to compare
SURE = 3  # with this many votes, no note is needed

_number = re.compile(r"[-+]?[$€£¥]? ?\d[\d.,' ]{0,30}([eE][-+]?\d{1,4})?\s?[%$€£¥]?")
_date = re.compile(
    r"(?:\d|[-/.,:+ TZ]|[AaPp]\.?[Mm]\b|UTC|GMT|[A-Z]{2,4}T\b"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6})+"
)
_address = re.compile(r"\S+@\S+\.\S+|https?://\S+|www\.\S+", re.IGNORECASE)
_runs = re.compile(r"[^\W\d_]+|\d+")
_identifier = re.compile(r"[^\W\d][\w.:/#()-]*")
_compound = re.compile(r"[^\W\d]\w*_\w+|[a-z]+[A-Z]\w*")


class Header(NamedTuple):
    """Whether the first line is a header, and whether that is obvious."""

    is_there: bool
    is_sure: bool


def find(first: Sequence[str], rows: Sequence[Sequence[str]], asked: Sequence[str]) -> Header:
    """Compare the first line with the rows below it; `asked` are columns named by the user."""
    if any(name in first or name in map(str.strip, first) for name in asked):
        return Header(True, True)
    cells = [cell.strip() for cell in first]
    rows = rows[: max(3, _CELLS // max(len(cells), 1))]
    if not any(any(map(str.strip, row)) for row in rows):
        names = any(is_typical(cell) or _identifier.fullmatch(cell[:_LONGEST]) for cell in cells)
        return Header(names and all(_kind(cell) in ("text", "") for cell in cells), True)
    columns = [
        [row[i].strip() for row in rows if i < len(row) and row[i].strip()]
        for i in range(len(cells))
    ]
    kinds = [usual_kind(column) for column in columns]
    if _is_numbered(cells) and "text" in kinds:
        return Header(True, True)
    if len(cells) > 1 and all(is_typical(cell) and " " not in cell for cell in cells):
        return Header(True, True)
    counted: set[str] = set()
    for counting in (
        _years,
        _sequence,
    ):  # these are names only if the rows below do not contain them
        if not any(counting(row) for row in rows):
            counted |= counting(cells)
    votes = sum(
        2 if cell in counted else _vote(cell, column, kind)
        for cell, column, kind in zip(cells, columns, kinds, strict=True)
    )
    return Header(votes >= 0, votes >= SURE)


def _vote(cell: str, column: list[str], kind: str) -> int:
    """The vote of one column: positive for a header, negative if its first cell is like the others."""
    if not column:
        return SURE if is_typical(cell) else 0
    if not cell:
        return 2 if kind == "number" else -1
    own = _kind(cell)
    if kind != "text":
        if own == kind:
            return -3
        return 3 if own == "text" else 0
    if own != "text":
        return 0 if own not in ("number", "date") else -1
    return _vote_of_text(cell, column)


def _vote_of_text(cell: str, column: list[str]) -> int:
    n = len(column)
    wordy = " " in cell and sum(" " in value for value in column) > 0.5 * n
    votes = (-3 if cell in column else 0) - wordy
    if len(cell) > _LONGEST:
        return votes - 1
    if is_typical(cell) and not (" " in cell and cell[0].islower()):
        weight = 3 if " " not in cell else 2 if rank(cell) < 2 else 1
        votes += weight if sum(map(is_typical, column)) < 0.2 * n else 0
    elif _compound.fullmatch(cell):
        votes += (
            2
            if sum(bool(_compound.fullmatch(value[:_LONGEST])) for value in column) < 0.2 * n
            else 0
        )
    elif _identifier.fullmatch(cell):
        votes += 2 if sum(" " in value for value in column) > 0.5 * n else 0
    elif cell.endswith(("?", ":")):
        votes += 2 if sum(value.endswith(cell[-1]) for value in column) < 0.2 * n else 0
    elif cell.endswith((".", "!", "…", "。", "！")):
        votes -= 2
    lengths = sorted(map(len, column))
    low, high = lengths[n // 10], lengths[-1 - n // 10]
    if len(cell) < 0.5 * low or len(cell) > 3 * high:
        return votes + 1
    return votes - 1 if low <= len(cell) <= high and n >= 3 else votes


def usual_kind(column: list[str]) -> str:
    """The kind of at least 80% of the cells, or "text"."""
    if not column:
        return "text"
    kind, n = Counter(map(_kind, column)).most_common(1)[0]
    return kind if n >= 0.8 * len(column) else "text"


def _kind(cell: str) -> str:
    """ "number", "date", "address", the form of a code such as "a-9", or "text"."""
    if not cell or len(cell) > _LONGEST:
        return "text" if cell else ""
    if _number.fullmatch(cell):
        return "number"
    if len(cell) <= 40 and any(map(str.isdigit, cell)):
        if _date.fullmatch(cell) and any(mark in cell for mark in ":/-. "):
            return "date"
        if " " not in cell and not _address.fullmatch(cell):
            return _runs.sub(lambda m: "9" if m[0].isdigit() else "a", cell)
    return "address" if _address.fullmatch(cell) else "text"


def _is_numbered(cells: list[str]) -> bool:
    """Whether the names are 0, 1, 2, ..., as pandas numbers columns, perhaps after an index."""
    numbers = cells[1:] if cells[0] == "" else cells
    return bool(numbers) and numbers == [str(i) for i in range(len(numbers))]


def _years(cells: Sequence[str]) -> set[str]:
    """The years among cells, if there are two or more."""
    years = {cell for cell in cells if re.fullmatch(r"(19|20)\d\d", cell)}
    return years if len(years) > 1 else set()


def _sequence(cells: Sequence[str]) -> set[str]:
    """Consecutive numbers, at least three: 1, 2, 3."""
    found: set[str] = set()
    numbers = [int(cell) if re.fullmatch(r"\d{1,9}", cell) else None for cell in cells]
    for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
        if a is not None and b == a + 1 and c == a + 2:
            found |= {str(a), str(b), str(c)}
    return found
