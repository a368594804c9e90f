"""Whether a cell of a table that coterie wrote is the cell that the user gave.

A file of the same type has the same cells: the same texts in csv, the same spelling in JSON, the same
values and types in parquet, the same values and kinds of cells in Excel. A file of another type has the
same values: `1.10` of a csv file may be the text 1.10 in a sheet, but neither the number 1.1 nor blank.
Where a type cannot tell two values apart (an empty text and no text in csv and Excel), either may be there.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from benchmarks.trust._workbook import Shown
from benchmarks.trust.odd_cells import MISSING, Error, Number, Padded, parsed

_DIGITS = 15  # that Excel shows of a number
_NEARLY = timedelta(microseconds=5)


def same_in_csv(cell: Any, out: str) -> bool:
    return _nothing(cell) if out == "" and not isinstance(cell, bytes) else _spells(cell, out)


def same_in_json(cell: Any, out: Any) -> bool:
    """`out` was parsed with numbers as they are spelled."""
    if cell is None or cell is MISSING:
        return out is None or out is MISSING
    if out is None or out is MISSING:
        return cell == "" and not isinstance(cell, Number)
    if isinstance(cell, bool):
        return out is cell or out == str(cell).lower()
    if isinstance(out, Number):
        if isinstance(cell, float) and not math.isnan(cell):
            return _same_float(cell, float(out))
        if isinstance(cell, Decimal):
            return _decimal(out) == cell
        return isinstance(cell, str | int) and str(cell) == out
    if isinstance(cell, dict | list) and isinstance(out, dict | list):
        return _same_tree(cell, out)
    return isinstance(out, str) and _spells(cell, out)


def same_in_parquet(cell: Any, out: Any) -> bool:
    """Values from another type of file; `out` is a value of Python."""
    if cell is None or cell is MISSING:
        return out is None
    if out is None:
        return cell == "" and not isinstance(cell, Number)
    if isinstance(out, str):
        return _spells(cell, out)
    if isinstance(cell, bool) or isinstance(out, bool):
        return cell is out
    if isinstance(cell, Padded | Error):
        return False
    if isinstance(out, int | float | Decimal):
        return _same_number(cell, out)
    if isinstance(out, dict | list):
        return isinstance(cell, dict | list) and _same_tree(cell, out)
    return _same_time(cell, out)


def same_in_sheet(cell: Any, out: Shown | None) -> bool:
    """Values from another type of file."""
    if out is None or (out.kind == "text" and out.value == ""):
        return _nothing(cell) or cell == b""
    if out.kind == "text":
        return _spells(cell, out.value)
    if out.kind in ("formula", "error") or cell is None or cell is MISSING:
        return False
    if isinstance(cell, bool) or out.kind == "true":
        return out.kind == "true" and cell is out.value
    if out.kind == "number":
        hidden = out.form == "0" and out.value != round(out.value)
        precise = isinstance(cell, float) or len(_significant(str(cell))) <= _DIGITS
        return precise and not hidden and _same_number(cell, out.value)
    return _same_time_in_sheet(cell, out.value)


def same_sheet_cell(cell: Any, out: Shown | None) -> bool:
    """From a sheet to a sheet: the same value, and the same kind of cell."""
    if out is None:
        return cell is None or cell is MISSING
    if isinstance(cell, Padded):
        shown = out.form == "0" * cell.width and out.value == cell.value
        return (out.kind == "number" and shown) or (out.kind == "text" and out.value == cell.shown)
    if isinstance(cell, Error):
        return out.kind in ("error", "text") and out.value == cell
    if isinstance(cell, str):
        return out.kind == "text" and out.value == cell
    if isinstance(cell, bool):
        return out.kind == "true" and out.value is cell
    if isinstance(cell, float):
        return out.kind == "number" and out.value == cell
    kinds = {time: "time", timedelta: "duration", date: "date", datetime: "date"}
    return out.kind == kinds.get(type(cell)) and _same_time_in_sheet(cell, out.value)


def same_typed(cell: Any, out: Any) -> bool:
    """From parquet to parquet: the same value."""
    if cell is MISSING or cell is None or out is None:
        return (cell is None or cell is MISSING) and out is None
    if isinstance(cell, float) and isinstance(out, float):
        same = cell == out or (math.isnan(cell) and math.isnan(out))
        return same and math.copysign(1, cell) == math.copysign(1, out)
    if isinstance(cell, list | tuple) and isinstance(out, list | tuple):
        return len(cell) == len(out) and all(map(same_typed, cell, out))
    if isinstance(cell, dict) and isinstance(out, dict):
        return cell.keys() == out.keys() and all(same_typed(v, out[k]) for k, v in cell.items())
    if isinstance(cell, tuple) and isinstance(out, dict):  # an entry of a map
        return same_typed(list(cell), list(out.values()))
    alike = type(cell) is type(out) or (isinstance(cell, datetime) and isinstance(out, datetime))
    return alike and bool(cell == out)


# ---------------------------------------------------------------- texts
def _nothing(cell: Any) -> bool:
    return cell is None or cell is MISSING or (cell == "" and not isinstance(cell, Number))


def _spells(cell: Any, text: str) -> bool:
    """Whether a text says what a cell does."""
    if isinstance(cell, Padded):
        return text == cell.shown
    if isinstance(cell, str):
        return text == cell
    if isinstance(cell, bool):
        return text.lower() == str(cell).lower()
    if isinstance(cell, int):
        return text == str(cell)
    if isinstance(cell, float):
        return _spells_float(cell, text)
    if isinstance(cell, Decimal):
        return _decimal(text) == cell
    if isinstance(cell, bytes):
        spelled = {cell.decode("utf-8", "backslashreplace"), cell.hex()}
        if len(cell) == 16:  # a UUID, whose text has all of its digits
            spelled.add(str(UUID(bytes=cell)))
        return text in spelled | {base64.b64encode(cell).decode()}
    if isinstance(cell, list | tuple | dict):
        try:
            return _same_tree(cell, parsed(text))
        except ValueError:
            return False
    return _same_time(cell, _time_of(text, cell))


def _spells_float(cell: float, text: str) -> bool:
    if not math.isfinite(cell):
        return text.lower().replace("infinity", "inf") == str(cell)
    return _decimal(text) is not None and _same_float(cell, float(text))


def _same_float(cell: float, out: float) -> bool:
    """Also if few digits were written of a number that had few bits."""
    few = [
        struct.pack(bits, cell) == struct.pack(bits, out)
        and struct.unpack(bits, struct.pack(bits, cell))[0] == cell
        for bits in "ef"
        if max(abs(cell), abs(out)) < {"e": 65_000, "f": 3e38}[bits]
    ]
    return cell == out or any(few)


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _significant(digits: str) -> str:
    """The digits of a number without zeros at its ends."""
    return re.sub(r"\D", "", re.split("[eE]", digits)[0]).strip("0")


def _same_number(cell: Any, out: Any) -> bool:
    if isinstance(cell, Number):
        return _decimal(repr(out) if isinstance(out, float) else str(out)) == _decimal(cell)
    if isinstance(cell, str):  # a cell of csv: nothing of its notation may be lost
        if isinstance(out, float) and out == round(out) and abs(out) < 1e15 and "." not in cell:
            return str(int(out)) == cell
        return str(out) == cell
    if isinstance(cell, Decimal):
        return cell == Decimal(repr(out) if isinstance(out, float) else out)
    if isinstance(cell, float) and isinstance(out, float):
        return _same_float(cell, out) or (cell != cell and out != out)
    if isinstance(cell, int | float):
        return bool(cell == out)
    return False


# ---------------------------------------------------------------- times
def _same_time(cell: Any, out: Any) -> bool:
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(out, date) and not isinstance(out, datetime):
        out = datetime(out.year, out.month, out.day)
    if isinstance(cell, datetime) and isinstance(out, datetime):
        return (cell.tzinfo is None) == (out.tzinfo is None) and cell == out
    return type(cell) is type(out) and isinstance(cell, time | timedelta) and cell == out


def _same_time_in_sheet(cell: Any, out: Any) -> bool:
    """Excel counts days in a float, which holds microseconds, nearly."""
    if isinstance(cell, datetime) and isinstance(out, datetime) and not cell.tzinfo:
        return abs(cell - out) < _NEARLY
    if isinstance(cell, time) and isinstance(out, time):
        day = datetime(2000, 1, 1)
        return abs(datetime.combine(day, cell) - datetime.combine(day, out)) < _NEARLY
    if isinstance(cell, timedelta) and isinstance(out, timedelta):
        return abs(cell - out) < _NEARLY
    return _same_time(cell, out)


def _time_of(text: str, like: Any) -> Any:
    try:
        if isinstance(like, timedelta):
            return _duration(text)
        if isinstance(like, time):
            return time.fromisoformat(text)
        text = re.sub(r"(\.\d{6})\d+", r"\1", text)
        return datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None


def _duration(text: str) -> timedelta | None:
    clock = re.fullmatch(r"(?:(-?\d+) days?, )?(-?)(\d+):(\d\d):(\d\d)(\.\d+)?", text)
    if clock:
        days, minus, hours, minutes, seconds, part = clock.groups()
        size = timedelta(
            hours=int(hours), minutes=int(minutes), seconds=float(f"{seconds}{part or ''}")
        )
        return timedelta(int(days or 0)) + (-size if minus else size)
    iso = re.fullmatch(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", text)
    if not iso:
        return None
    minus, days, hours, minutes, seconds = iso.groups()
    size = timedelta(int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0))
    size += timedelta(microseconds=round(float(seconds or 0) * 1e6))
    return -size if minus else size


# ---------------------------------------------------------------- lists and objects
def _same_tree(cell: Any, out: Any) -> bool:
    """Lists and objects; a field that is null may be missing, and a map may be an object."""
    if isinstance(cell, list) and isinstance(out, dict) and all(isinstance(v, tuple) for v in cell):
        cell = dict(cell)
    if isinstance(cell, list | tuple) and isinstance(out, list | tuple):
        return len(cell) == len(out) and all(map(_same_tree, cell, out))
    if isinstance(cell, tuple) and isinstance(out, dict):  # an entry of a map
        return _same_tree(list(cell), list(out.values()))
    if isinstance(cell, dict) and isinstance(out, dict):
        keys = {k for k, v in cell.items() if v is not None} | {
            k for k, v in out.items() if v is not None
        }
        return all(k in cell and k in out and _same_tree(cell[k], out[k]) for k in keys)
    if isinstance(cell, Number) and not isinstance(out, str):
        return not isinstance(out, bool) and out is not None and _same_number(cell, out)
    if isinstance(cell, list | tuple | dict) or isinstance(out, list | dict):
        return False
    return same_in_json(cell, out) if isinstance(out, str | None) else same_in_parquet(cell, out)


def spelled(value: Any) -> str:
    """A cell for people who look into a case, not too long."""
    said = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return said if len(said) <= 80 else f"{said[:60]}... ({len(said)} characters)"
