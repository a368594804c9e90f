"""Writes polars DataFrames as the sheets of an Excel workbook.

In: tables by name. Out: the bytes of a workbook. What Excel would change becomes texts, with a note, and no
text becomes a formula, a number or a link.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from functools import partial
from typing import Any
from xml.sax.saxutils import escape

from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.text._as_polars import as_texts
from coterie.text._excel import DAY, DIGITS
from coterie.text._kinds import kind_in_words, listed

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_575, 16_384, 32_767  # without the header
_NO_CHARACTERS = "[\ufffe\uffff]"  # in XML
_LAST_DAY = 2_958_465  # 9999-12-31


def workbook(sheets: Mapping[str, Any]) -> bytes:
    """The bytes of a workbook; `sheets` maps names to polars DataFrames."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    for name, frame in _fitting_names(sheets).items():
        _check_fits(frame)
        _fill(book, book.add_worksheet(name), for_excel(frame)[0])
    book.close()
    return out.getvalue()


def for_excel(frame: Any) -> tuple[Any, list[str]]:
    """(a table that Excel can hold, notes on the values that are changed for it)."""
    import polars as pl

    ready, changed, n_cut, n_odd = [], {}, 0, 0
    for name in frame.columns:
        column = frame[name].alias("")  # methods of a Series misread names such as "*"
        why = _not_in_excel(column)
        if why:
            changed[name] = why
        column = _fitting(column, bool(why))
        if column.dtype == pl.String:
            long = _n_units(column) > MOST_CHARACTERS
            n_cut += int(long.sum())
            if long.any():
                cut = [text if text is None else _cut(text, MOST_CHARACTERS) for text in column]
                column = pl.Series(cut, dtype=pl.String)
            odd = column.str.contains(_NO_CHARACTERS)
            n_odd += int(odd.sum())
            column = column.str.replace_all(_NO_CHARACTERS, "\ufffd") if odd.any() else column
        ready.append(column)
    notes = []
    if changed:
        said = "Excel cannot hold these values as they are, so they are texts in the .xlsx file: "
        notes.append(said + listed(changed))
    if n_cut:
        notes.append(
            f"{counted(n_cut, 'text')} {'is' if n_cut == 1 else 'are'} longer than a cell of Excel can hold"
            f" ({MOST_CHARACTERS:,} characters), and cut in the .xlsx file."
        )
    if n_odd:
        notes.append(
            f"Excel does not allow the characters U+FFFE and U+FFFF: {counted(n_odd, 'text')} of the .xlsx"
            f" file {'has' if n_odd == 1 else 'have'} \ufffd instead."
        )
    return pl.DataFrame(dict(zip(frame.columns, ready, strict=True))), notes


class _Exact(float):
    """A number that xlsxwriter writes with all of its digits."""

    def __format__(self, how: str) -> str:
        return repr(float(self)).removesuffix(".0")


def _not_in_excel(column: Any) -> str:
    """Which values of a column Excel cannot hold, in words; empty if it holds all of them."""
    import polars as pl

    dtype, n = column.dtype, len(column) - column.null_count()
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return kind_in_words(dtype)
    if not n:
        return ""
    if dtype.is_float():
        return "" if column.is_finite().all() else "NaN and infinity"
    if dtype.is_integer():
        big = max(abs(int(column.max())), abs(int(column.min()))) >= DIGITS
        return "whole numbers of more than 15 digits" if big else ""
    if dtype.is_decimal():
        digits = column.cast(pl.String).str.replace_all(r"\D", "").str.strip_chars_start("0")
        return "numbers of more than 15 digits" if digits.str.len_chars().max() > 15 else ""
    if not dtype.is_temporal():
        return ""
    if getattr(dtype, "time_zone", None) is not None:
        return "times with a time zone"
    if dtype in (pl.Date, pl.Datetime) and not column.dt.year().is_between(1901, 9999).all():
        return "dates before 1901 or after 9999"
    if dtype != pl.Date and (column.to_physical() % _per_ms(dtype) != 0).any():
        return "times finer than a millisecond"
    days = _serial(column)
    return "" if days.is_between(0, _LAST_DAY).all() else kind_in_words(dtype)


def _fitting(column: Any, as_text: bool) -> Any:
    """A column as Excel can hold it; of numbers, only NaN and infinity become texts."""
    import polars as pl

    dtype = column.dtype
    if as_text and not dtype.is_float():
        if dtype in (pl.Date, pl.Datetime):
            zoned = getattr(dtype, "time_zone", None) is not None
            return column.dt.to_string("iso:strict" if zoned else "iso")
        if dtype == pl.Time:
            return column.dt.to_string("%H:%M:%S%.f")
        return column.cast(pl.String) if dtype.is_numeric() else as_texts(column)
    if dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean:
        return column
    return column.cast(pl.String)


def _per_ms(dtype: Any) -> int:
    return {"ms": 1, "us": 1_000, "ns": 1_000_000}[getattr(dtype, "time_unit", "ns")]


def _serial(column: Any) -> Any:
    """Dates, times and durations as the numbers of days that stand for them in Excel."""
    import polars as pl

    if column.dtype == pl.Date:
        return column.to_physical() + 25_569  # days from 1899-12-30 to 1970
    days = column.to_physical() / (_per_ms(column.dtype) * DAY)
    return days + 25_569 if isinstance(column.dtype, pl.Datetime) else days


def _n_units(text: Any) -> Any:
    """The lengths of texts as Excel counts them: an emoji is two."""
    n = text.str.len_chars()
    if n.max() is None or n.max() <= MOST_CHARACTERS // 2:
        return n
    return n + text.str.count_matches(r"[\x{10000}-\x{10FFFF}]")


def _cut(text: str, most: int) -> str:
    """The beginning of a text, at most so many units of UTF-16."""
    return text.encode("utf-16-le", "replace")[: 2 * most].decode("utf-16-le", "ignore")


def _fill(book: Any, sheet: Any, frame: Any) -> None:
    """Write a table into an empty sheet: no table of Excel, which must not have names such as a and A."""
    bold = book.add_format({"bold": True})
    failed = [
        sheet.write_string(0, j, _plain(_cut(name, MOST_CHARACTERS)), bold)
        for j, name in enumerate(frame.columns)
    ]
    for j, name in enumerate(frame.columns):
        column = frame[name].alias("")
        code = _format(column)
        style = book.add_format({"num_format": code}) if code else None
        if column.dtype.is_temporal():
            sheet.set_column(j, j, len(code) + 2)
            column = _serial(column)
        put = partial(_put, sheet, style)
        failed += [put(i, j, v) for i, v in enumerate(column.to_list(), 1) if v is not None]
    if any(failed):
        raise InvalidInput(
            "A cell does not fit into a sheet of Excel. Write a .csv or .parquet file instead."
        )
    sheet.autofilter(0, 0, frame.height, max(frame.width - 1, 0))
    sheet.freeze_panes(1, 0)


def _put(sheet: Any, style: Any, i: int, j: int, value: Any) -> int:
    """Write a cell; the result is not 0 if that fails."""
    if isinstance(value, str):
        return int(sheet.write_string(i, j, _plain(value), style))
    if isinstance(value, bool):
        return int(sheet.write_boolean(i, j, value, style))
    if not math.isfinite(value):
        return int(sheet.write_string(i, j, str(value).replace("nan", "NaN"), style))
    return int(sheet.write_number(i, j, _Exact(value), style))


def _plain(text: str) -> str:
    """A text that xlsxwriter does not take for its own markup."""
    if text.startswith("<r>") and text.endswith("</r>"):
        return f'<r><t xml:space="preserve">{escape(text)}</t></r>'
    return text


def _format(column: Any) -> str:
    """The format of numbers in Excel, or "" for its own choice."""
    dtype = column.dtype
    if dtype.is_integer():
        return "0"
    if dtype.is_decimal():
        return "0." + "0" * dtype.scale if 0 < dtype.scale <= 15 else ""
    code = {"Date": "yyyy-mm-dd", "Datetime": "yyyy-mm-dd hh:mm:ss", "Time": "hh:mm:ss"}.get(
        type(dtype).__name__, "[h]:mm:ss" if dtype.is_temporal() else ""
    )
    is_fine = ":" in code and (column.to_physical() % (1000 * _per_ms(dtype)) != 0).any()
    return code + ".000" if is_fine else code


def _check_fits(frame: Any) -> None:
    if frame.height > MOST_ROWS or frame.width > MOST_COLUMNS:
        raise InvalidInput(
            f"A sheet of Excel has room for {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns, but the table"
            f" has {frame.height:,} and {frame.width:,}. Write a .csv or .parquet file instead."
        )


def _fitting_names(sheets: Mapping[str, Any]) -> dict[str, Any]:
    """Names of sheets as Excel allows them: up to 31 units, without []:*?/\\, each only once."""
    fitting: dict[str, Any] = {}
    seen: set[str] = set()
    for name, frame in sheets.items():
        base = "".join(" " if c in "[]:*?/\\" or c < " " else c for c in name).strip(" '")
        base = _cut(base, 31).strip(" '") or "sheet"
        short, n = base, 1
        while short.lower() in seen or short.lower() == "history":
            n += 1
            short = f"{_cut(base, 28 - len(str(n)))} ({n})"
        seen.add(short.lower())
        fitting[short] = frame
    return fitting
