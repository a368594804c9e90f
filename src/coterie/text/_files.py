"""Reads a file, a folder or standard input into a polars DataFrame, with notes for the user.

The file type comes from the extension (with or without .gz), or from the first line of a stream.
Nothing is dropped silently: a file that cannot be read completely is refused. In addition to the
DataFrame, the original cells are kept, so that they can be written back unchanged.
"""

from __future__ import annotations

import csv
import glob
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from coterie._forks import check_threads
from coterie._own_folders import is_ours
from coterie._sentence import beginning, counted, example
from coterie.errors import Forked, InvalidInput, NoRows
from coterie.text import _again, _csv, _dialect, _excel, _json, _json_lines, _parquet
from coterie.text._bounded_read import file_content, gunzipped, most_bytes, stream_content
from coterie.text._encodings import decode
from coterie.text._names import rank

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
    **dict.fromkeys(_excel.ENDINGS, "excel"),
}


LARGE = 2**24  # bytes of JSON from which on they are not kept in memory


class Wanted(NamedTuple):
    """What the user specified about a file."""

    encoding: str | None = None
    header: bool | None = None  # whether the first line of a csv file is a header; None: detect
    columns: tuple[str, ...] = ()  # names given by the user
    sheet: str | None = None  # of an Excel file; None: the first one with rows


class Loaded(NamedTuple):
    """The contents of a file."""

    frame: Any  # polars
    notes: list[str]
    source: _csv.Cells | _json.Objects | _json.OnDisk | None  # the original cells
    dialect: _dialect.Dialect | None = None  # how a csv file was written
    added: str | None = None  # the column that says which of several files a row comes from


def load(data: Any, wanted: Wanted) -> Loaded:
    """Load a path, "-" (standard input) or an open file."""
    check_threads()
    if hasattr(data, "read") or data == "-":
        stream = sys.stdin.buffer if data == "-" else data
        name = "standard input" if data == "-" else str(getattr(stream, "name", "the stream"))
        return _from_stream(stream, name, wanted)
    path = Path(data)
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError:  # a name that is too long
        is_folder = exists = False
    if is_folder:
        return _folder(path, wanted)
    if not exists:
        raise InvalidInput(_no_file(str(data)))
    kind = kind_of(path)
    raw = gunzipped(file_content(path, most_bytes()), path.name)
    loaded = _parsed(raw, kind, path.name, wanted, [])
    if isinstance(loaded.source, _json.Objects):
        source = _let_go(loaded.source, path, raw, wanted.encoding)
        loaded = loaded._replace(source=source)
    return loaded


def _let_go(
    objects: _json.Objects, path: Path, raw: bytes, encoding: str | None
) -> _json.Objects | _json.OnDisk:
    """Keep the text of a large file only on disk; what it says is in the table."""
    if objects.data is None or len(objects.data) < LARGE:
        return objects
    before = _again.Before.of(path, raw)
    has_long = _json.has_long_numbers(objects.pieces())
    if raw.endswith(objects.data):  # UTF-8, perhaps after a byte order mark
        pieces = partial(before.lines, len(raw) - len(objects.data))
        return _json.OnDisk(objects.columns, pieces, has_long)
    return _json.OnDisk(objects.columns, partial(_decoded_again, before, encoding), has_long)


def _decoded_again(before: _again.Before, encoding: str | None) -> Iterator[bytes]:
    content = _decoded(b"".join(before.lines()), encoding, before.path.name)[0]
    yield from _json_lines.pieces(_lines_of(content))


@contextmanager
def errors_as_sentences(
    name: str, advice: str = "it is damaged, or its file extension is wrong"
) -> Iterator[None]:
    """Turn any unexpected error from a table into one sentence."""
    try:
        yield
    except (InvalidInput, Forked, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except MemoryError:
        raise InvalidInput(
            f"There is not enough memory to read {name}. Use a part of it."
        ) from None
    except BaseException as error:  # a panic in polars is not an Exception
        what = beginning(f"{type(error).__name__}: {error}")
        raise InvalidInput(f"{name} cannot be read as a table: {advice} ({what}).") from error


def _no_file(source: str) -> str:
    shown = source if len(source) <= 80 else source[:77] + "..."
    if "\n" in source or len(source) > 200 or source.count(" ") > 8:
        return f"{shown!r} is a text, not a file. Pass a list of texts ([text] for a single one)."
    return f"There is no file {shown!r}. Check the path, or pass a list of texts if this is a text."


def kind_of(path: Path) -> str:
    """The file type, by the ending of the name."""
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] in (".gz", ".gzip"):
        endings.pop()
    kind = KINDS.get(endings[-1]) if endings else None
    if kind is None:
        what = f"{endings[-1]} files" if endings else "files without an extension"
        raise InvalidInput(
            f"coterie cannot read {what} ({path.name}). Supported: {', '.join(KINDS)} (each may be"
            " gzipped), and folders of .txt files."
        )
    return kind


def _from_stream(stream: Any, name: str, wanted: Wanted) -> Loaded:
    raw = gunzipped(stream_content(stream, name), name)
    if raw[:4] == b"PAR1":
        return _parsed(raw, "parquet", name, wanted, [])
    if raw[:4] == b"PK\3\4":
        return _parsed(raw, "excel", name, wanted, [])
    data, notes = _decoded(raw, wanted.encoding, name)
    kind = _sniff(data, wanted.columns)
    if kind == "txt" and wanted.header is not None:
        kind = "csv"
    elif kind != "txt":
        notes.append(f"The first line of {name} looks like {kind}, so it was read as {kind}.")
    return _parsed(data, kind, name, wanted._replace(encoding="utf-8"), notes)


def _sniff(data: bytes, columns: tuple[str, ...]) -> str:
    """The file type of a stream, from its first line; one text per line unless it is obvious."""
    first = data.lstrip()[:1_000_000].split(b"\n", 1)[0].decode("utf-8", "ignore").strip()
    if first.startswith("{"):
        try:
            return "jsonl" if isinstance(json.loads(first), dict) else "txt"
        except (ValueError, RecursionError):
            return "txt"
    for separator, kind in (("\t", "tsv"), (",", "csv"), (";", "csv")):
        try:
            cells = next(csv.reader([first], delimiter=separator), [])
        except csv.Error:
            continue
        names = all(0 < len(cell) <= 40 and " " not in cell for cell in cells)
        if len(cells) > 1 and names and any(c in columns or rank(c) < 2 for c in cells):
            return kind
    return "txt"


def _decoded(raw: bytes, encoding: str | None, name: str) -> tuple[bytes, list[str]]:
    """Return (the content as UTF-8, notes)."""
    data, note = decode(raw, encoding, name)
    if not data or data.isspace():
        raise NoRows(f"{name} is empty, so there is nothing to cluster.")
    return data, [note] if note else []


# ---------------------------------------------------------------- file types
def _parsed(raw: bytes, kind: str, name: str, wanted: Wanted, notes: list[str]) -> Loaded:
    check_header(wanted.header, kind, name)
    notes += about_encoding(wanted.encoding, kind)
    if wanted.sheet is not None and kind != "excel":
        raise InvalidInput(
            example("sheet", wanted.sheet)
            + f" only applies to Excel files, but {name} is {kind}. Leave it out."
        )
    if kind == "parquet":
        return _not_empty(Loaded(_parquet.read(raw, name, notes=notes), notes, None), name)
    if kind == "excel":
        frame = _excel.read(raw, name, notes, wanted.header, wanted.sheet)
        return Loaded(frame, notes, None, _dialect.EXCEL)
    data, more = _decoded(raw, wanted.encoding, name)
    notes += more
    if kind in ("csv", "tsv"):
        frame, cells = _csv.read(
            data,
            name,
            notes,
            separator="\t" if kind == "tsv" else None,
            header=wanted.header,
            asked=wanted.columns,
        )
        how = _dialect.find(raw, wanted.encoding, cells.separator, cells.frame)
        return _not_empty(Loaded(frame, notes, cells, how), name)
    data = _lines_of(data)
    if kind == "txt":
        return Loaded(lines(data), notes, None)
    frame, objects = (_json.lines if kind == "jsonl" else _json.array)(data, name)
    return _not_empty(Loaded(frame, notes, objects), name)


def check_header(header: bool | None, kind: str, name: str) -> None:
    """Refuse `header` for a file that has none."""
    if header is not None and kind not in ("csv", "tsv", "excel"):
        raise InvalidInput(
            example("header", header)
            + f" only applies to csv and tsv files and Excel sheets, but {name} is {kind}. Leave it out."
        )


def about_encoding(encoding: str | None, kind: str) -> list[str]:
    """A note if the encoding of a file was given that has its own."""
    if encoding is None or kind not in ("parquet", "excel"):
        return []
    kind = "Excel" if kind == "excel" else kind
    return [example("encoding", encoding) + f" has no effect on {kind} files."]


def _lines_of(data: bytes) -> bytes:
    """The same with line feeds; old Macintosh files have other line ends."""
    return data.replace(b"\r", b"\n") if b"\n" not in data and b"\r" in data else data


def lines(data: bytes) -> Any:
    """A table with one text per line."""
    import polars as pl

    lines = data.decode().split("\n")  # splitlines() would also split at form feeds and others
    if lines[-1] == "":
        lines.pop()
    return pl.DataFrame({"text": [line.removesuffix("\r") for line in lines]})


def _folder(folder: Path, wanted: Wanted) -> Loaded:
    import polars as pl

    if wanted.sheet is not None:
        raise InvalidInput(
            example("sheet", wanted.sheet)
            + f" only applies to Excel files, but {folder} is a folder. Leave it out."
        )
    paths, skipped = texts_in(folder)
    if not paths:
        hint = about_parquet_in(folder) or "Use a folder of .txt files, or a single file."
        own = " beside what coterie wrote" if skipped else ""
        raise InvalidInput(f"The folder {folder} contains no .txt files{own}. {hint}")
    texts, encodings, left = [], set(), most_bytes()
    for path in paths:
        raw = gunzipped(file_content(path, left), path.name)
        left = max(0, left - len(raw))
        data, note = decode(raw, wanted.encoding, path.name)
        encodings.update([note] if note else [])
        texts.append(data.decode())
    notes = []
    if skipped:
        others = f" and {counted(len(skipped) - 3, 'more folder')}" if len(skipped) > 3 else ""
        shown = ", ".join(_json.whole(p.relative_to(folder).as_posix()) for p in skipped[:3])
        notes.append(f"Not read, since coterie wrote it: {shown}{others}.")
    notes += sorted(encodings)[:3]
    if len(encodings) > 3:
        notes.append(f"{counted(len(encodings) - 3, 'more file')} not in UTF-8.")
    names = [_json.whole(p.relative_to(folder).as_posix()) for p in paths]
    return Loaded(pl.DataFrame({"file": names, "text": texts}), notes, None)


def texts_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The .txt files in a folder and in folders in it, and those of these folders that coterie wrote.

    What coterie wrote is skipped: a result has the words of the texts in a .txt file.
    """
    found, skipped = [], []
    for at, folders, files in os.walk(folder):
        here = Path(at)
        if is_ours(here):
            skipped.append(here)
            folders.clear()
        else:
            found += [here / name for name in files if _is_txt(here / name)]
    return sorted(path for path in found if path.is_file()), sorted(skipped)


def about_parquet_in(folder: Path) -> str:
    """How to read the parquet files in a folder, such as those that Dask writes; "" if there are none."""
    if not any(folder.glob("*.parquet")):
        return ""
    pattern = os.path.join(glob.escape(str(folder)), "*.parquet")
    return f"To read the parquet files in this folder, use '{pattern}'."


def _is_txt(path: Path) -> bool:
    return path.name.lower().endswith((".txt", ".txt.gz")) and not path.name.startswith(".")


def _not_empty(loaded: Loaded, name: str) -> Loaded:
    if loaded.frame.height == 0 or loaded.frame.width == 0:
        said = f"{name} has a header but no rows, so there is nothing to cluster."
        raise NoRows(said, loaded if loaded.frame.width else None)
    return loaded
