"""Reads Excel workbooks and OpenDocument sheets, as polars DataFrames; `_workbook` writes them.

In: the bytes of a workbook. Out: the sheet that was named, or the first one with rows. In Excel, each
cell has a type of its own: a column whose cells are of one kind keeps it, and any other is read as texts,
with a note.
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

from coterie._sentence import Name, Sentence, example
from coterie.errors import InvalidInput, NoRows
from coterie.text._bounded_read import TIMES, most_bytes, too_large
from coterie.text._csv import unique_names
from coterie.text._kinds import listed

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
DIGITS = 10**15  # Excel keeps 15 digits
DAY = 86_400_000  # milliseconds
_A_DECADE = 3650 * DAY  # in a column with durations, what is longer is a date


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
        notes.append(said + listed(mixed))
    if not has_all and any(column.null_count() for column in columns):
        what = "An error such as #DIV/0!, and in .ods files a duration of a day or more,"
        notes.append(f"{what} is read from {name} as an empty cell.")
    return pl.DataFrame(columns)


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
        is_short = span.is_between(0, DAY, closed="left")
    is_short = is_short.fill_null(False)
    when = _when(text.set(~is_timed, None))
    is_odd = is_timed & ~is_short & (when.is_null() | (span < 0).fill_null(False))
    number = (span / DAY).zip_with(is_odd, number)
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
    return (number == number.round()) & (number.abs() <= DIGITS)


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
_LONGEST_FORMAT = 255  # characters, in Excel


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
        n_zeros = len(code[0]) if code else 0
        digits[_attribute(tag, b"numFmtId")] = n_zeros if n_zeros <= _LONGEST_FORMAT else 0
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
        if style not in zeros:
            return cell[0]
        start = re.sub(rb"""\st=["']n["']""", b"", start)
        return start + b' t="str"' + between + number.zfill(zeros[style])

    cell = rb"""(<(?:\w+:)?c(?=[^<>]*\ss=["'](\d+)["'])(?![^<>]*\st=["'][^n])[^<>]*)"""
    between = rb"(>(?:<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>))?<(?:\w+:)?v>)"
    return re.sub(cell + between + rb"(\d+)(?=</)", shown, sheet)


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
