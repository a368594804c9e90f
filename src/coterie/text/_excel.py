"""Reads and writes Excel workbooks (and reads OpenDocument sheets), as polars DataFrames.

In: the bytes of a workbook. Out: the sheet that was named, or the first one with rows. In Excel, each
cell has a type of its own: a column whose cells are of one kind keeps it, and any other is read as texts,
with a note. When writing, what Excel would change becomes texts, with a note, and no text becomes a
formula, a number or a link.
"""

from __future__ import annotations

import difflib
import io
import logging
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from xml.sax.saxutils import escape

from coterie._sentence import Name, Sentence, counted, example
from coterie.errors import InvalidInput, NoRows
from coterie.text._as_polars import as_texts
from coterie.text._bounded_read import TIMES, most_bytes, too_large
from coterie.text._csv import unique_names
from coterie.text._kinds import kind_in_words

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_575, 16_384, 32_767  # without the header
_NO_CHARACTERS = "[\ufffe\uffff]"  # in XML
_DIGITS = 10**15  # Excel keeps 15 digits
_DAY = 86_400_000  # milliseconds
_LAST_DAY = 2_958_465  # 9999-12-31
_A_DECADE = 3650 * _DAY  # in a column with durations, what is longer is a date


def read(
    raw: bytes, name: str, notes: list[str], header: bool | None, wanted: str | None = None
) -> Any:
    """Return the sheet `wanted`, or the first that has rows; `header=False`: its first row is data."""
    import fastexcel
    import polars as pl

    _check_size(raw, name)
    raw, has_all = _with_shown_texts(raw)
    with _quiet():
        book = fastexcel.read_excel(raw)
        names = list(book.sheet_names)
        for sheet in names if wanted is None else [_named(wanted, names, name)]:
            cells = _cells(book, sheet, header)
            if cells:
                break
        else:
            which = name if wanted is None else f"The sheet {sheet!r} of {name}"
            raise NoRows(f"{which} has no rows, so there is nothing to cluster.")
    if len(names) > 1 and wanted is None:
        others = ", ".join(repr(other) for other in names if other != sheet)
        said = f"Read the sheet {sheet!r} of {name}; not read: {others}. Choose another with "
        notes.append(said + example("sheet") + ".")
    columns, mixed = [], {}
    for column, of_types in cells.items():
        values, kinds = _values(*of_types)
        columns.append(values.alias(column))
        if len(kinds) > 1:
            mixed[column] = ", ".join(kinds)
    if mixed:
        said = f"Columns of {name} that hold values of several kinds are read as texts: "
        notes.append(said + _listed(mixed))
    if not has_all and any(column.null_count() for column in columns):
        what = "An error such as #DIV/0!, and in .ods files a duration of a day or more,"
        notes.append(f"{what} is read from {name} as an empty cell.")
    return pl.DataFrame(columns)


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
        ready.append(column.alias(name))
    notes = []
    if changed:
        said = "Excel cannot hold these values as they are, so they are texts in the .xlsx file: "
        notes.append(said + _listed(changed))
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
    return pl.DataFrame(ready), notes


def _listed(columns: Mapping[str, str]) -> str:
    """Columns and what they hold, as the end of a sentence."""
    shown = [f"{name!r} ({what})" for name, what in list(columns.items())[:10]]
    more = [f"and {len(columns) - 10:,} more"] if len(columns) > 10 else []
    return ", ".join(shown + more) + "."


# ---------------------------------------------------------------- reading
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


def _cells(book: Any, name: str, header: bool | None) -> dict[str, tuple[Any, ...]]:
    """By column: its cells as each type that fastexcel can give, and the type that it finds for dates."""
    first = None if header is False else 0
    load = partial(book.load_sheet, name, header_row=first, schema_sample_rows=None)
    sheet = load(dtypes="string")
    texts = sheet.to_polars()
    if not texts.height or not texts.width:
        return {}
    found = {c.name: c.name for c in sheet.available_columns() if c.column_name_from == "looked_up"}
    names = [found.get(column, "") for column in texts.columns]
    if first == 0 and len(found) < len(names):  # fastexcel leaves out dates in the header
        top = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string")
        cells = [(cell or "").removesuffix(" 00:00:00") for cell in top.to_polars().row(0)]
        names = [name or cell for name, cell in zip(names, cells, strict=True)]
    types = ("float", "boolean", "duration")
    frames = [texts, *(load(dtypes=of_type).to_polars() for of_type in types)]
    columns = [[column.alias("") for column in frame] for frame in frames]
    timed = [
        i
        for i, (text, _, flag, span) in enumerate(zip(*columns, strict=True))
        if span.count() or (not flag.count() and text.count() and text.str.contains(_ISO).all())
    ]
    guessed = _guessed(load, texts.width, timed)
    columns.append([guessed.get(i) for i in range(texts.width)])
    return dict(zip(unique_names(names), zip(*columns, strict=True), strict=True))


def _guessed(load: Any, width: int, columns: list[int]) -> dict[int, Any]:
    """The types that fastexcel finds for columns; Object if it finds none: durations beside other cells."""
    import fastexcel
    import polars as pl

    if not columns:
        return {}
    try:
        found = load(dtypes={i: "string" for i in range(width) if i not in columns}).to_polars()
    except fastexcel.FastExcelError:
        if len(columns) == 1:
            return {columns[0]: pl.Object}
        return {i: dtype for k in columns for i, dtype in _guessed(load, width, [k]).items()}
    return {i: found.dtypes[i] for i in columns}


def _values(text: Any, number: Any, flag: Any, span: Any, guessed: Any) -> tuple[Any, list[str]]:
    """(the values of a column, the kinds of its cells); values of several kinds become texts.

    A number is also a flag for fastexcel, and a date is a span of time since the first day.
    """
    import polars as pl

    span = span.cast(pl.Int64)
    is_number = flag.is_not_null()
    is_flag = is_number & text.is_in(["true", "false"])
    is_iso = guessed in (pl.Date, pl.Datetime) and not span.count()
    is_timed = text.is_not_null() if is_iso else span.is_not_null()
    is_text = text.is_not_null() & (text != "") & ~is_number & ~is_timed
    has_durations = guessed == pl.Object or (guessed == pl.Duration and text.count() > 0)
    if has_durations:
        is_short = span < (_A_DECADE if guessed == pl.Object else math.inf)
    else:
        is_short = span.is_between(0, _DAY, closed="left")
    is_short = is_short.fill_null(False)
    when = _when(text.set(~is_timed, None))
    is_odd = is_timed & ~is_short & (when.is_null() | (span < 0).fill_null(False))
    number = (span / _DAY).zip_with(is_odd, number)
    masks = {
        "texts": is_text,
        "numbers": (is_number & ~is_flag) | is_odd,
        "true and false": is_flag,
        "dates": is_timed & ~is_short & ~is_odd,
        "durations" if has_durations else "times of day": is_short,
    }
    kinds = [kind for kind, mask in masks.items() if mask.any()]
    if kinds == ["numbers"]:
        return _whole(number), kinds
    if kinds == ["true and false"]:
        return flag, kinds
    if kinds == ["dates"]:
        return _days(when), kinds
    if kinds == ["times of day"]:
        return (span * 1_000_000).cast(pl.Time), kinds
    if kinds == ["durations"]:
        return span.cast(pl.Duration("ms")), kinds
    shown = text.str.strip_suffix(" 00:00:00").zip_with(masks["dates"], text)
    shown = _spelled(number).zip_with(masks["numbers"], shown)
    if is_short.any():
        clock = pl.Series([None if ms is None else _clock(ms) for ms in span], dtype=pl.String)
        shown = clock.zip_with(is_short, shown)
    return shown, kinds


def _when(text: Any) -> Any:
    """Dates and times from their texts; null for what is none, such as the year 10000."""
    import polars as pl

    if not text.count():
        return pl.Series([None], dtype=pl.Datetime("ms")).new_from_index(0, len(text))
    days = text.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("ms"))
    clock = text.str.replace("T", " ")
    return clock.str.to_datetime(_TIME, time_unit="ms", strict=False).fill_null(days)


def _is_whole(number: Any) -> Any:
    return (number == number.round()) & (number.abs() <= _DIGITS)


def _whole(number: Any) -> Any:
    """Numbers as integers if all are whole."""
    import polars as pl

    return number.cast(pl.Int64) if _is_whole(number).all() else number


def _spelled(number: Any) -> Any:
    """Numbers as texts."""
    import polars as pl

    whole = number.cast(pl.Int64, strict=False).cast(pl.String)
    return whole.zip_with(_is_whole(number).fill_null(False), number.cast(pl.String))


def _days(when: Any) -> Any:
    """Dates without a time if none has any."""
    import polars as pl

    return when.cast(pl.Date) if (when.dt.truncate("1d") == when).all() else when


def _clock(ms: int) -> str:
    """A time of day or a duration as a text such as 12:00:00."""
    seconds, ms = divmod(ms, 1000)
    after = f".{ms:03}" if ms else ""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{after}"


_ERROR = re.compile(rb"""(<(?:\w+:)?c\s[^<>]*?\st=["'])e(?=["'])""")
_TIME = "%Y-%m-%d %H:%M:%S%.f"
_ISO = r"^\d{4}-\d\d-\d\d(T[\d:.]+)?$"  # dates of OpenDocument sheets
_ZEROS = re.compile(rb"0{2,}(?=;|$)")


def _with_shown_texts(raw: bytes) -> tuple[bytes, bool]:
    """(the workbook, with errors and numbers such as 01067 as texts; False if it is not made of XML).

    fastexcel reads errors as empty, and numbers without their format, here 00000.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as book:
            names = [n for n in book.namelist() if "worksheets/" in n and n.endswith(".xml")]
            styles = [book.read(n) for n in book.namelist() if n.endswith("styles.xml")]
            zeros = _styles_with_zeros(styles[0]) if names and styles else {}
            changed = {}
            for name in names:
                old = book.read(name)
                new = _ERROR.sub(rb"\1str", old) if b"#" in old else old
                new = _with_zeros(new, zeros) if zeros else new
                if new != old:
                    changed[name] = new
            if not changed:
                return raw, bool(names)
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as again:
                for name in book.namelist():
                    again.writestr(name, changed.get(name) or book.read(name))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error):
        return raw, False  # an old .xls file, or a damaged one: the reader says so
    return out.getvalue(), True


def _styles_with_zeros(styles: bytes) -> dict[bytes, int]:
    """The styles of cells that show numbers with leading zeros, and the digits that they show."""
    digits = {}
    for tag in re.findall(rb"<(?:\w+:)?numFmt\s[^<>]*>", styles):
        code = _ZEROS.match(_attribute(tag, b"formatCode"))
        digits[_attribute(tag, b"numFmtId")] = len(code[0]) if code else 0
    of_cells = b"".join(styles.split(b"cellXfs")[1:2])
    found = re.findall(rb"<(?:\w+:)?xf\s[^<>]*>", of_cells)
    of_styles = [digits.get(_attribute(tag, b"numFmtId"), 0) for tag in found]
    return {str(i).encode(): n for i, n in enumerate(of_styles) if n}


def _attribute(tag: bytes, name: bytes) -> bytes:
    found = re.search(rb"\s" + name + rb"""=["']([^"']*)""", tag)
    return found[1] if found else b""


def _with_zeros(sheet: bytes, zeros: Mapping[bytes, int]) -> bytes:
    """The same sheet, whose whole numbers of these styles are texts, as they are shown."""

    def shown(cell: re.Match[bytes]) -> bytes:
        start, style, between, number = cell.groups()
        start = re.sub(rb"""\st=["']n["']""", b"", start)
        return start + b' t="str"' + between + number.zfill(zeros[style])

    cell = rb"""(<(?:\w+:)?c(?=[^<>]*\ss=["'](%s)["'])(?![^<>]*\st=["'][^n])[^<>]*)"""
    between = rb"(>(?:<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>))?<(?:\w+:)?v>)"
    return re.sub(cell % b"|".join(zeros) + between + rb"(\d+)(?=</)", shown, sheet)


# ---------------------------------------------------------------- writing
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
        big = max(abs(int(column.max())), abs(int(column.min()))) >= _DIGITS
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
    days = column.to_physical() / (_per_ms(column.dtype) * _DAY)
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
