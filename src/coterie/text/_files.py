"""A file, a folder or standard input -> a polars DataFrame, and what the user should know about it.

The kind comes from the ending (with or without .gz), for a stream from its first line. Parsing is
polars'; where polars gives up, the standard library reads again and names the lines at fault.
Nothing is dropped silently: a file that cannot be read whole is refused.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

from coterie.errors import InvalidInput
from coterie.text import _json
from coterie.text._encodings import decode

KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "txt",
    ".text": "txt",
}
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def load(source: Any, encoding: str | None, is_text_name: Any) -> tuple[Any, list[str]]:
    """(DataFrame, notes) of a path, "-" or an open file; `is_text_name` knows headers of texts."""
    notes: list[str] = []
    if hasattr(source, "read") or source == "-":
        stream = sys.stdin.buffer if source == "-" else source
        name = "standard input" if source == "-" else str(getattr(stream, "name", "the stream"))
        content = stream.read()
        raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
        raw = _gunzip(raw, name)
        if raw[:4] == b"PAR1":
            return _parquet(raw, name), notes
        data = _decoded(raw, encoding, name, notes)
        kind = _sniff(data, is_text_name)
        if kind != "txt":
            notes.append(f"The first line of {name} looks like {kind}, so it was read as {kind}.")
        return _PARSERS[kind](data, name, notes), notes
    path = Path(source)
    if path.is_dir():
        return _folder(path, encoding, notes), notes
    if not path.exists():
        raise InvalidInput(_no_file(str(source)))
    kind = _kind(path)
    raw = _gunzip(_bytes(path), path.name)
    if kind == "parquet":
        return _parquet(raw, path.name), notes
    return _PARSERS[kind](_decoded(raw, encoding, path.name, notes), path.name, notes), notes


def _no_file(source: str) -> str:
    shown = source if len(source) <= 80 else source[:77] + "..."
    if "\n" in source or len(source) > 200 or source.count(" ") > 8:
        return f"{shown!r} is one text, not a file; pass a list of texts, [text] for one document."
    return f"There is no file {shown!r}; check the path, or pass a list of texts if this is a text."


def _kind(path: Path) -> str:
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] in (".gz", ".gzip"):
        endings.pop()
    kind = KINDS.get(endings[-1]) if endings else None
    if kind is None:
        raise InvalidInput(
            f"{path.name} has an ending that coterie does not know; it reads {', '.join(KINDS)} (each"
            " also with .gz) and folders of .txt files."
        )
    return kind


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from None


def _gunzip(raw: bytes, name: str) -> bytes:
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        raise InvalidInput(
            f"{name} is damaged or cut short: its gzip compression cannot be undone; copy it again."
        ) from None


def _decoded(raw: bytes, encoding: str | None, name: str, notes: list[str]) -> bytes:
    """The content as UTF-8, with line feeds."""
    if not raw.strip():
        raise InvalidInput(f"{name} is empty: there is nothing to cluster.")
    data, note = decode(raw, encoding, name)
    notes += [note] if note else []
    if b"\n" not in data and b"\r" in data:  # line ends of old Macintosh files
        data = data.replace(b"\r", b"\n")
    return data


def _sniff(data: bytes, is_text_name: Any) -> str:
    """What a stream holds, by its first line; lines of text unless it is obvious."""
    first = data.lstrip().split(b"\n", 1)[0].decode().strip()
    if first.startswith("{"):
        try:
            return "jsonl" if isinstance(json.loads(first), dict) else "txt"
        except ValueError:
            return "txt"
    for separator, kind in (("\t", "tsv"), (",", "csv"), (";", "csv")):
        cells = next(csv.reader([first], delimiter=separator), [])
        names = all(0 < len(cell) <= 40 and " " not in cell for cell in cells)
        if len(cells) > 1 and names and any(map(is_text_name, cells)):
            return kind
    return "txt"


# ---------------------------------------------------------------- the kinds
def _parquet(raw: bytes, name: str) -> Any:
    import polars as pl

    try:
        return _not_empty(pl.read_parquet(io.BytesIO(raw)), name)
    except (pl.exceptions.PolarsError, OSError):
        raise InvalidInput(
            f"{name} is not a parquet file that can be read: damaged, cut short or of another kind."
        ) from None


def _lines(data: bytes, name: str, notes: list[str]) -> Any:
    import polars as pl

    lines = data.decode().split("\n")  # splitlines() would also cut at form feeds and the like
    if lines[-1] == "":
        lines.pop()
    return pl.DataFrame({"text": [line.removesuffix("\r") for line in lines]})


def _folder(folder: Path, encoding: str | None, notes: list[str]) -> Any:
    import polars as pl

    paths = sorted(p for p in folder.rglob("*") if p.is_file() and _is_txt(p))
    if not paths:
        raise InvalidInput(
            f"The folder {folder} holds no .txt file; give a folder of texts, or one file."
        )
    texts, encodings = [], set()
    for path in paths:
        raw = _gunzip(_bytes(path), path.name)
        data, note = decode(raw, encoding, path.name)
        encodings.update([note] if note else [])
        texts.append(data.decode())
    notes += sorted(encodings)[:3]
    if len(encodings) > 3:
        notes.append(f"{len(encodings) - 3} more files were not UTF-8 either.")
    return pl.DataFrame({"file": [p.relative_to(folder).as_posix() for p in paths], "text": texts})


def _is_txt(path: Path) -> bool:
    return path.name.lower().endswith((".txt", ".txt.gz")) and not path.name.startswith(".")


def _csv(data: bytes, name: str, notes: list[str], separator: str | None = None) -> Any:
    import polars as pl

    data = data.rstrip(b"\r\n")
    start = io.StringIO(data[:1_000_000].decode("utf-8", "ignore"), newline="")
    if separator is None:
        separator = _separator(start.readline())
        start.seek(0)
        if separator != ",":
            notes.append(f"The cells of {name} are separated by {_SEPARATORS[separator]}.")
    with _any_cell_size():
        header = next(csv.reader(start, delimiter=separator), [])
    has_header = not any(map(_is_data, header))
    if not has_header:
        notes.append(
            f"{name} seems to have no header line, so its columns are called column_1, ..."
        )
    try:
        frame = pl.read_csv(data, infer_schema=False, separator=separator, has_header=has_header)
        if has_header:
            frame = frame.rename(dict(zip(frame.columns, _names(header), strict=True)))
        else:
            frame = frame.rename({c: f"column_{i + 1}" for i, c in enumerate(frame.columns)})
    except (pl.exceptions.PolarsError, ValueError):
        frame = None
    # polars fills lines that are too short without a word
    if frame is None or (frame.width > 1 and frame[:, -1].null_count()):
        frame = _checked_csv(data, name, separator, has_header)
    return _with_types(_not_empty(frame, name))


def _tsv(data: bytes, name: str, notes: list[str]) -> Any:
    return _csv(data, name, notes, "\t")


def _separator(line: str) -> str:
    bare = re.sub(r'"[^"]*"', "", line)
    return max(_SEPARATORS, key=bare.count) if any(s in bare for s in _SEPARATORS) else ","


def _is_data(cell: str) -> bool:
    """Whether a cell of the first line cannot be a column's name."""
    return len(cell) > 60 or cell.count(" ") > 5 or bool(re.fullmatch(r"-?\d+([.,]\d+)?", cell))


def _names(header: list[str]) -> list[str]:
    """Column names, each once: a second "a" becomes "a_2", a nameless third column "column_3"."""
    names: list[str] = []
    for i, cell in enumerate(header):
        base = name = cell.strip() or f"column_{i + 1}"
        n = 1
        while name in names:
            n += 1
            name = f"{base}_{n}"
        names.append(name)
    return names


def _checked_csv(data: bytes, name: str, separator: str, has_header: bool) -> Any:
    """Read with the standard library, which knows line numbers, and refuse lines that do not fit."""
    import polars as pl

    lines = io.StringIO(data.decode(), newline="")
    reader = csv.reader(lines, delimiter=separator, strict=False)
    rows: list[list[str]] = []
    starts: list[int] = []
    with _any_cell_size():
        while True:
            start = reader.line_num + 1
            row = next(reader, None)
            if row is None:
                break
            rows.append(row)
            starts.append(start)
        last = "\n".join(data.decode().split("\n")[starts[-1] - 1 :])
        if _never_closed(last, separator):
            raise InvalidInput(
                f'Line {starts[-1]} of {name} opens a quote (") that is never closed; close it, or'
                ' write each quote within a text as "".'
            )
    width = len(rows[0])
    ragged = [line for line, row in zip(starts, rows, strict=True) if row and len(row) != width]
    if ragged:
        shown = ", ".join(map(str, ragged[:5])) + (", ..." if len(ragged) > 5 else "")
        raise InvalidInput(
            f"{len(ragged)} line(s) of {name} do not have the {width} cells of the first line (line"
            f" {shown}); put texts that hold {_SEPARATORS[separator]} between quotes, or save one"
            " text a line as .txt."
        )
    names = _names(rows[0]) if has_header else [f"column_{i + 1}" for i in range(width)]
    body = rows[1:] if has_header else rows
    columns = ([row[i] or None if row else None for row in body] for i in range(width))
    return pl.DataFrame(dict(zip(names, columns, strict=True)), dict.fromkeys(names, pl.String))


def _never_closed(record: str, separator: str) -> bool:
    try:
        for _ in csv.reader(io.StringIO(record, newline=""), delimiter=separator, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


class _any_cell_size:
    """The csv module refuses cells over 128 KB, by a setting of the whole process: borrow it."""

    def __enter__(self) -> None:
        self._before = csv.field_size_limit(2**31 - 1)

    def __exit__(self, *_: object) -> None:
        csv.field_size_limit(self._before)


def _with_types(frame: Any) -> Any:
    """Columns of numbers become numbers, where no digit is lost: "007" stays a text."""
    import polars as pl

    changed = []
    for column in frame.columns:
        series = frame[column]
        for dtype in (pl.Int64, pl.Float64):
            if _loses(series.head(1_000), dtype) or _loses(series, dtype):
                continue
            changed.append(series.cast(dtype))
            break
    return frame.with_columns(changed)


def _loses(series: Any, dtype: Any) -> bool:
    import polars as pl

    cast = series.cast(dtype, strict=False)
    if cast.null_count() != series.null_count() or cast.null_count() == len(cast):
        return True
    if dtype == pl.Int64:
        return not bool((cast.cast(pl.String) == series).all())
    # inf and nan are words, 00.5 a code, and more digits than a float holds would be cut
    return not bool(series.str.contains(r"^-?(0|[1-9]\d{0,14})?(\.\d{1,15})?([eE]-?\d+)?$").all())


def _jsonl(data: bytes, name: str, notes: list[str]) -> Any:
    return _not_empty(_json.lines(data, name), name)


def _json_array(data: bytes, name: str, notes: list[str]) -> Any:
    return _not_empty(_json.array(data, name), name)


def _not_empty(frame: Any, name: str) -> Any:
    if frame.height == 0 or frame.width == 0:
        raise InvalidInput(f"{name} has a header but no rows: there is nothing to cluster.")
    return frame


_PARSERS = {"csv": _csv, "tsv": _tsv, "jsonl": _jsonl, "json": _json_array, "txt": _lines}
