"""Reads csv and tsv: every cell exactly as in the file, and a DataFrame with parsed numbers.

polars parses the file. If it fails, or might misread quotes, the standard library reads the file again
and reports the lines that are wrong. A blank line is a row of empty cells. A cell is in quotes if it
begins with one and ends with the next one that is not doubled; all other quotes are part of the texts.
So is one without an end in a file with tabs, which many programs write without quotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from coterie._sentence import counted, example
from coterie.errors import InvalidInput, NoRows
from coterie.text import _header

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 200_000  # bytes used to detect the separator and the header
_SAMPLE_ROWS = 200
_LINE_ENDS = bytes.maketrans(b"\r\n", b"\n\r")
# a number that a float holds exactly; an exponent without a sign is part of a code (12e5)
_FLOAT = r"^-?(0|[1-9]\d{0,14})?(\.\d{1,15})?([eE][-+]\d{1,3})?$"
_INSIDE = rb'[^"]*+(?:""[^"]*+)*+'  # of a cell in quotes
_INSIDE_LINE = rb'[^"\t\n]*+(?:""[^"\t\n]*+)*+'


@dataclass
class Cells:
    """The cells exactly as in the file: a column of numbers would turn 1.10 into 1.1."""

    header: list[str]  # as in the file: names may be blank or repeated
    frame: Any = field(repr=False)  # polars, all strings, with unique column names
    separator: str = ","

    def cells(self) -> tuple[list[str], Any]:
        """Return (the header, a DataFrame of strings)."""
        return self.header, self.frame

    def exact(self, typed: Any) -> Any:
        """A DataFrame with numbers only in columns that polars would write exactly as in the file."""
        import polars as pl

        kept = []
        for name in typed.columns:
            same = bool((typed[name].cast(pl.String) == self.frame[name]).all())
            kept.append(typed[name] if same else self.frame[name])
        return pl.DataFrame(kept)

    def to_dict(self, typed: Any) -> dict[str, Any]:
        """What `exact` does not say of the cells, as plain data for JSON."""
        numbers = [name for name, dtype in typed.schema.items() if dtype.is_float()]
        header = None if self.header == typed.columns else self.header
        return {"header": header, "numbers": numbers, "separator": self.separator}

    @staticmethod
    def reopened(exact: Any, about: dict[str, Any]) -> tuple[Any, Cells]:
        """The table with parsed numbers, and its cells, from `exact` and `to_dict`."""
        import polars as pl

        header = exact.columns if about["header"] is None else about["header"]
        "".join(header).encode()  # neither other values nor half a character
        if len(header) != exact.width:
            raise ValueError("its header does not match its columns")
        if any(dtype not in (pl.String, pl.Int64, pl.Float64) for dtype in exact.dtypes):
            raise ValueError("its cells are no texts")
        texts = [n for n in about["numbers"] if exact.schema.get(n) == pl.String]
        typed = exact.with_columns(with_types(exact[texts])) if texts else exact
        cells = pl.DataFrame([column.cast(pl.String) for column in exact])
        return typed, Cells(list(header), cells, str(about["separator"]))


def read(
    data: bytes,
    name: str,
    notes: list[str],
    *,
    separator: str | None = None,
    header: bool | None = None,
    asked: Sequence[str] = (),
    width: int | None = None,
) -> tuple[Any, Cells]:
    """Return (a DataFrame with parsed numbers, the original cells); `asked` are expected columns.

    `width`: how many columns there are, if this is a part of a file.
    """
    is_mac = _ends_lines_with_cr(data)
    data = data.translate(_LINE_ENDS) if is_mac else data
    if separator is None:
        separator = separator_of(data)
        if separator != ",":
            notes.append(f"The columns of {name} are separated by {SEPARATORS[separator]}.")
    inside = _inside(data, separator, width)
    has_odd = has_odd_quotes(data, separator, inside)
    if has_odd:
        data = _with_quotes_kept(data, separator, inside)
        has_odd = has_odd_quotes(data, separator)
    rows = _sample(data, separator)
    n_blank = next((i for i, row in enumerate(rows) if row), 0)
    first = rows[n_blank] if rows else []
    has_header = _has_header(first, rows[n_blank + 1 :], name, notes, header, asked)
    if has_header and n_blank:
        notes.append(f"Skipped {counted(n_blank, 'blank line')} at the start of {name}.")
    frame = None if has_odd else _parse(data, separator)
    if frame is None or (frame.width > 1 and _has_short_lines(frame, data, separator)):
        frame = _checked(data, name, separator)
    if has_header and not n_blank:
        first = [cell or "" for cell in frame.row(0)] if frame.height else first
    if is_mac:
        frame, first = _with_line_ends(frame), [_swapped(cell) for cell in first]
    typed, cells = _columns(frame, first, n_blank + 1 if has_header else 0, name)
    cells.separator = separator
    return typed, cells


def _columns(frame: Any, first: list[str], n_skipped: int, name: str) -> tuple[Any, Cells]:
    """The table without the lines above it, with column names and parsed numbers."""
    frame = frame.slice(n_skipped)
    if frame.width == 0:
        raise NoRows(f"{name} has a header but no rows, so there is nothing to cluster.")
    as_read = first if n_skipped else [f"column_{i + 1}" for i in range(frame.width)]
    frame.columns = unique_names(as_read)
    return with_types(frame), Cells(as_read, frame)


def unique_names(header: Sequence[str]) -> list[str]:
    """Unique column names: a second "a" becomes "a_2", a third column without a name "column_3"."""
    names: dict[str, None] = {}
    last: dict[str, int] = {}
    for i, cell in enumerate(header):
        base = name = cell.strip("\ufeff \t\r\n\v\f\xa0") or f"column_{i + 1}"
        n = last.get(base, 1)
        while name in names:
            n += 1
            name = f"{base}_{n}"
        last[base] = n
        names[name] = None
    return list(names)


# ---------------------------------------------------------------- detecting the format
def _ends_lines_with_cr(data: bytes) -> bool:
    """Whether lines end in a carriage return (old Macintosh files); those within quotes are ignored."""
    if b"\r" not in data[:_SAMPLE]:
        return False
    bare = re.sub(rb'"[^"]*"', b"", data[:_SAMPLE])
    return b"\r" in bare and b"\n" not in bare


def separator_of(data: bytes) -> str:
    """The separator that gives the first lines the same number of cells, more than one."""
    best, found = (0.9, 1), ","
    for separator in SEPARATORS:
        widths = [len(row) for row in _sample(data, separator) if row]
        if widths and widths[0] > 1:
            fits = sum(width == widths[0] for width in widths) / len(widths)
            if (fits, widths[0]) > best:
                best, found = (fits, widths[0]), separator
    if best[1] > 1:
        return found
    line = data[:_SAMPLE].decode("utf-8", "ignore").lstrip("\r\n").split("\n", 1)[0]
    bare = re.sub(r'"[^"]*"', "", line)
    return max(SEPARATORS, key=bare.count) if any(s in bare for s in SEPARATORS) else ","


def _sample(data: bytes, separator: str) -> list[list[str]]:
    """The first rows; the last one is dropped if it may be incomplete."""
    text = _with_quotes_kept(data[:_SAMPLE], separator).decode("utf-8", "ignore")
    rows: list[list[str]] = []
    with _any_cell_size():
        reader = csv.reader(_lines(_without_bare_cr(text)), delimiter=separator)
        try:
            for row in reader:
                rows.append(row)
                if len(rows) > _SAMPLE_ROWS:
                    return rows
        except csv.Error:
            pass
    return rows[:-1] if len(data) > _SAMPLE and len(rows) > 1 else rows


def _has_header(
    first: list[str],
    rows: list[list[str]],
    name: str,
    notes: list[str],
    header: bool | None,
    asked: Sequence[str],
) -> bool:
    found = (
        _header.find(first, rows, asked) if header is None else _header.Header(header, is_sure=True)
    )
    if not found.is_there:
        seems = "has" if header is False else "seems to have"
        note = f"{name} {seems} no header, so its columns are named column_1, column_2, ..."
        if header is None:
            note += ". If its first line is a header, use " + example("header", True) + "."
        notes.append(note)
    elif not found.is_sure:
        shown = ", ".join(
            repr(cell if len(cell) <= 40 else cell[:37] + "...") for cell in first[:3]
        )
        notes.append(
            f"The first line of {name} ({shown}{', ...' if len(first) > 3 else ''}) was read as the"
            " header. If it is data, use " + example("header", False) + "."
        )
    return found.is_there


# ---------------------------------------------------------------- parsing
def _parse(data: bytes, separator: str) -> Any:
    """All lines as a DataFrame of strings, or None if the standard library has to read the file."""
    import polars as pl

    if data.startswith(b"\xef\xbb\xbf"):
        return None
    try:
        return pl.read_csv(data, infer_schema=False, separator=separator, has_header=False)
    except (pl.exceptions.PolarsError, ValueError):
        return None


def in_quotes(separator: str, is_open: bool = True, inside: bytes = _INSIDE) -> bytes:
    """A pattern for a cell in quotes, which may hold line ends, or for one that is never closed."""
    return _quoted(separator, rb'(?:"(?= *', rb")|\Z)" if is_open else b"))", inside)


def only_begins(separator: str) -> bytes:
    """A pattern for the quote before any other cell; the group ends where that is known."""
    return _opening(separator) + rb"(?=(" + _INSIDE + rb'"))'


def _quoted(separator: str, before: bytes, after: bytes, inside: bytes = _INSIDE) -> bytes:
    end = rb"(?:" + re.escape(separator.encode()) + rb"|[\r\n]|\Z)"
    return _opening(separator) + inside + before + end + after


def _opening(separator: str) -> bytes:
    """A pattern for a quote at the start of a cell; it begins with the quote, which is found fast."""
    return rb'"(?<![^\r\n' + re.escape(separator.encode()) + rb']")'


def has_odd_quotes(data: bytes, separator: str, inside: bytes = _INSIDE) -> bool:
    """Whether there are quotes that are part of the texts: 5" disk, or "Great" she said."""
    quoted = _quoted(separator, b'"(?=', b")", inside)
    return re.match(rb'[^"]*+(?:' + quoted + rb'[^"]*+)*+"', data) is not None


def _inside(data: bytes, separator: str, width: int | None) -> bytes:
    """A pattern for what is within quotes: no tab and no line end, if a tsv file is one of plain lines.

    Such files have as many tabs in all lines, and a quote in one row is not closed by one in another row.
    """
    if separator != "\t" or b'"' not in data:
        return _INSIDE
    n = tabs_per_line(data)
    if width is not None:
        is_plain = n == width - 1
    else:
        rest = re.sub(_quoted(separator, b'"(?=', b")"), b"", data) if n else b""
        is_plain = tabs_per_line(rest) in (n, 0)
    return _INSIDE_LINE if n and is_plain else _INSIDE


def tabs_per_line(data: bytes) -> int:
    """How many tabs each line has that is not blank; 0 if some have more than others."""
    first = re.search(rb"^[^\r\n].*", data, re.MULTILINE)
    n = first[0].count(b"\t") if first else 0
    line = rb"(?:\r?|[^\t\n]*+(?:\t[^\t\n]*+){%d})" % n
    return n if re.fullmatch(rb"(?:%s\n)*+%s" % (line, line), data) else 0


def _with_quotes_kept(data: bytes, separator: str, inside: bytes = _INSIDE) -> bytes:
    """Put cells in quotes that only begin with one: "Great" she said becomes \"""Great"" she said"."""
    rest = rb"[^\r\n" + re.escape(separator.encode()) + rb"]*"
    odd = rb"|(" + _opening(separator) + rest + rb")"

    def kept(cell: re.Match[bytes]) -> bytes:
        return cell[0] if cell[1] is None else b'"' + cell[1].replace(b'"', b'""') + b'"'

    return re.sub(in_quotes(separator, separator != "\t", inside) + odd, kept, data)


def _has_short_lines(frame: Any, data: bytes, separator: str) -> bool:
    """Whether a line has too few cells, which polars would fill silently."""
    if frame[:, -1].null_count() == 0:
        return False
    bare = re.sub(rb'"[^"]*"', b"q", data) if b'"' in data else data
    n_blank = len(re.findall(rb"^\r?\n", bare, re.MULTILINE))
    return bare.count(separator.encode()) != int((frame.width - 1) * (frame.height - n_blank))


def _checked(data: bytes, name: str, separator: str) -> Any:
    """Read with the standard library, which knows line numbers, and report lines that are wrong."""
    import polars as pl

    text = data.decode()
    stand_in = _stand_in(text)
    lines = list(_lines(_without_bare_cr(text, stand_in)))
    rows, starts = _records(lines, separator, name)
    if _never_closed("".join(lines[starts[-1] - 1 :]), separator):
        raise InvalidInput(
            f'Line {starts[-1]} of {name} has an opening quote (") without a closing one. Close it, or'
            ' write each quote within a text as "".'
        )
    width = next((len(row) for row in rows if row), 1)
    ragged = [line for line, row in zip(starts, rows, strict=True) if row and len(row) != width]
    if ragged:
        shown = ", ".join(map(str, ragged[:5])) + (", ..." if len(ragged) > 5 else "")
        raise InvalidInput(
            f"The first line of {name} has {counted(width, 'cell')}, but"
            f" {counted(len(ragged), 'other line')} {'has' if len(ragged) == 1 else 'have'} more or fewer"
            f" (line {shown}). Put texts that contain {SEPARATORS[separator]} in quotes, or save them as"
            " a .txt file with one text per line."
        )
    names = [f"column_{i}" for i in range(width)]
    columns = ([row[i] or None if row else None for row in rows] for i in range(width))
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)), dict.fromkeys(names, pl.String))
    if stand_in in text or "\r" not in text:
        return frame
    return frame.with_columns(pl.all().str.replace_all(stand_in, "\r", literal=True))


def _records(lines: list[str], separator: str, name: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows, and the line number at which each starts."""
    reader = csv.reader(lines, delimiter=separator)
    rows: list[list[str]] = []
    starts: list[int] = []
    with _any_cell_size():
        while True:
            start = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise InvalidInput(f"Line {start} of {name} is not valid csv ({error}).") from None
            if row is None:
                return rows, starts
            rows.append(row)
            starts.append(start)


def _never_closed(record: str, separator: str) -> bool:
    try:
        with _any_cell_size():
            for _ in csv.reader(_lines(record), delimiter=separator, strict=True):
                pass
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def _lines(text: str) -> Iterator[str]:
    """Lines with their endings, split only at line feeds."""
    return iter(io.StringIO(text, newline="\n"))


def _without_bare_cr(text: str, stand_in: str = "\ue000") -> str:
    """Replace carriage returns within cells, which the csv module would treat as line endings."""
    return re.sub("\r(?!\n)", stand_in, text) if "\r" in text else text


def _stand_in(text: str) -> str:
    """A private-use character that does not occur in the text."""
    return next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)


def _with_line_ends(frame: Any) -> Any:
    import polars as pl

    return frame.with_columns(pl.all().str.replace_many(["\r", "\n"], ["\n", "\r"]))


def _swapped(cell: str) -> str:
    return cell.translate({10: 13, 13: 10})


@contextmanager
def _any_cell_size() -> Iterator[None]:
    """Lift the csv module's limit of 128 KB per cell, a global setting, for a moment."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


# ---------------------------------------------------------------- numbers
def with_types(frame: Any) -> Any:
    """Parse columns of numbers if no digit is lost: "007" and "12e5" stay texts."""
    import polars as pl

    changed = []
    for column in frame.columns:
        series = frame[column].alias("")  # polars takes names such as ^a.*$ for patterns
        for dtype in (pl.Int64, pl.Float64):
            if _loses(series.head(1_000), dtype) or _loses(series, dtype):
                continue
            changed.append(series.cast(dtype).alias(column))
            break
    return frame.with_columns(changed)


def _loses(series: Any, dtype: Any) -> bool:
    import polars as pl

    cast = series.cast(dtype, strict=False)
    if cast.null_count() != series.null_count() or cast.null_count() == len(cast):
        return True
    if dtype == pl.Int64:
        return not bool((cast.cast(pl.String) == series).all())
    return not (cast.is_finite().all() and bool(series.str.contains(_FLOAT).all()))
