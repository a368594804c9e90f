"""Reads and writes Excel workbooks (and reads OpenDocument sheets), as polars DataFrames.

In: the bytes of a workbook. Out: the sheet that was named, or the first one with rows. Excel has one
type for numbers: columns of whole numbers become integers, and columns of dates without times become
dates. When writing, what Excel would change stays as it is: whole numbers of more than 15 digits and
times with a zone become texts, and no text becomes a formula, a number or a link.
"""

from __future__ import annotations

import difflib
import io
import logging
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from coterie._sentence import Name, Sentence, example
from coterie.errors import InvalidInput
from coterie.text._bounded_read import TIMES, most_bytes, too_large
from coterie.text._csv import unique_names

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_575, 16_384, 32_767  # without the header
_DIGITS = 10**15  # Excel keeps 15 digits
_LIKE_TEXT = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": True,
    "in_memory": True,
}


def read(
    raw: bytes, name: str, notes: list[str], header: bool | None, wanted: str | None = None
) -> Any:
    """Return the sheet `wanted`, or the first that has rows; `header=False`: its first row is data."""
    import fastexcel

    _check_size(raw, name)
    with _quiet():
        book = fastexcel.read_excel(raw)
        names = list(book.sheet_names)
        for sheet in names if wanted is None else [_named(wanted, names, name)]:
            frame = _sheet(book, sheet, header)
            if frame.height and frame.width:
                break
        else:
            which = name if wanted is None else f"The sheet {sheet!r} of {name}"
            raise InvalidInput(f"{which} has no rows, so there is nothing to cluster.")
    if len(names) > 1 and wanted is None:
        others = ", ".join(repr(other) for other in names if other != sheet)
        said = f"Read the sheet {sheet!r} of {name}; not read: {others}. Choose another with "
        notes.append(said + example("sheet") + ".")
    return frame.with_columns(_typed(frame[c].alias("")).alias(c) for c in frame.columns)


def workbook(sheets: Mapping[str, Any]) -> bytes:
    """The bytes of a workbook; `sheets` maps names to polars DataFrames."""
    import polars as pl
    import xlsxwriter

    formats: dict[Any, str] = {pl.Int64: "0", pl.Float64: "General", pl.Float32: "General"}
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, _LIKE_TEXT)
    for name, frame in _fitting_names(sheets).items():
        _check_fits(frame)
        ready = frame.with_columns(_for_excel(frame[c].alias("")).alias(c) for c in frame.columns)
        ready.write_excel(book, worksheet=name, dtype_formats=formats, autofilter=True)
        book.get_worksheet_by_name(name).freeze_panes(1, 0)
    book.close()
    return out.getvalue()


def n_cut(frame: Any) -> int:
    """How many texts are too long for a cell of Excel, which are cut."""
    import polars as pl

    long = [
        int((frame[c].alias("").str.len_chars() > MOST_CHARACTERS).sum())
        for c in frame.select(pl.col(pl.String)).columns
    ]
    return sum(long)


def _named(wanted: str, names: list[str], file: str) -> str:
    """The sheet of this name; case and blanks at the ends do not matter if no other is meant."""
    if wanted in names:
        return wanted
    alike = [name for name in names if name.strip().casefold() == wanted.strip().casefold()]
    if len(alike) == 1:
        return alike[0]
    close = difflib.get_close_matches(wanted[:80], names, 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(map(repr, names[:30])) + (", ..." if len(names) > 30 else "")
    raise InvalidInput(
        f"{file} has no sheet {wanted!r} ("
        + Sentence(Name("sheet", "sheet=..."))
        + f"). Its sheets are {shown}.{hint}",
        kind="no_such_sheet",
    )


def _sheet(book: Any, name: str, header: bool | None) -> Any:
    sheet = book.load_sheet(
        name, header_row=None if header is False else 0, schema_sample_rows=None
    )
    frame = sheet.to_polars()
    found = {c.name: c.name if c.column_name_from == "looked_up" else "" for c in _columns(sheet)}
    frame.columns = unique_names([found.get(column, column) for column in frame.columns])
    return frame


def _columns(sheet: Any) -> list[Any]:
    return list(sheet.available_columns())


def _typed(column: Any) -> Any:
    """Whole numbers as integers, and days as dates."""
    import polars as pl

    if column.dtype.is_float() and column.null_count() < len(column):
        whole = column.is_finite().all() and (column.abs() <= _DIGITS).all()
        if whole and (column.round() == column).all():
            return column.cast(pl.Int64)
    if not isinstance(column.dtype, pl.Datetime) or column.null_count() == len(column):
        return column
    is_days = bool((column.dt.truncate("1d") == column).all())
    return column.cast(pl.Date) if is_days else column


def _for_excel(column: Any) -> Any:
    """A column that Excel shows as it is."""
    import polars as pl

    dtype = column.dtype
    if dtype.is_integer() and len(column) > column.null_count():
        big = max(abs(int(column.max())), abs(int(column.min()))) >= _DIGITS
        return column.cast(pl.String) if big else column.cast(pl.Int64)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return column.dt.to_string("iso:strict")
    if dtype == pl.String:
        return column.str.slice(0, MOST_CHARACTERS)
    if dtype in (pl.Date, pl.Datetime) and len(column) > column.null_count():
        early = column.min().year < 1900
        return column.dt.to_string("iso") if early else column
    return column


def _check_fits(frame: Any) -> None:
    if frame.height > MOST_ROWS or frame.width > MOST_COLUMNS:
        raise InvalidInput(
            f"A sheet of Excel has room for {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns, but the table"
            f" has {frame.height:,} and {frame.width:,}. Write a .csv or .parquet file instead."
        )


def _fitting_names(sheets: Mapping[str, Any]) -> dict[str, Any]:
    """Names of sheets as Excel allows them: up to 31 characters, without []:*?/\\, each only once."""
    fitting: dict[str, Any] = {}
    seen: set[str] = set()
    for name, frame in sheets.items():
        base = "".join(" " if c in "[]:*?/\\" or c < " " else c for c in name).strip(" '")[:31]
        base = base.strip(" '") or "sheet"
        short, n = base, 1
        while short.lower() in seen or short.lower() == "history":
            n += 1
            short = f"{base[: 28 - len(str(n))]} ({n})"
        seen.add(short.lower())
        fitting[short] = frame
    return fitting


def _check_size(raw: bytes, name: str) -> None:
    """Refuse a workbook that unpacks to more than fits into memory."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            size = sum(member.file_size for member in packed.infolist())
    except zipfile.BadZipFile:
        return  # an old .xls file, or none at all: the reader says so
    if size > most_bytes():
        raise too_large(f"{name} unpacks to {size:,} bytes", TIMES * size)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep fastexcel from logging a warning about every empty column."""
    log = logging.getLogger("fastexcel")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
