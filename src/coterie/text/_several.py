"""Several files read as one table: a list of paths, or a pattern such as "tickets-*.csv".

The tables are put one below the other; a column that a file does not have is empty there. A column
`file` says where each row comes from, unless the files have one. With a JSON file among them, all rows
become objects, as if they came from one file of JSON lines.
"""

from __future__ import annotations

import glob
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from coterie._sentence import counted
from coterie.errors import InvalidInput, NoRows
from coterie.text import _files, _json, _json_lines, writing
from coterie.text._again import Changed
from coterie.text._common_type import alike
from coterie.text._csv import Cells, with_types
from coterie.text._files import Loaded, Wanted

FILE = "file"  # the added column
_ROWS = 2_000  # objects that are taken together


def paths(data: Any) -> list[Path]:
    """The files that are meant, in order, if these are several; empty for anything else."""
    if isinstance(data, str | os.PathLike):
        pattern = os.fspath(data)
        if not isinstance(pattern, str) or "\n" in pattern or not glob.has_magic(pattern):
            return []
        try:
            if os.path.lexists(pattern):
                return []
            found = sorted(glob.glob(pattern, recursive=True))
        except (OSError, ValueError):
            return []
        if not found and len(pattern) <= 200 and pattern.count(" ") <= 8:
            raise InvalidInput(f"There is no file that matches {pattern!r}.")
        return [path for path in map(Path, found) if path.is_file()]
    if isinstance(data, list | tuple) and data and all(isinstance(d, os.PathLike) for d in data):
        return [Path(d) for d in data]
    return []


def load(files: list[Path], wanted: Wanted) -> Loaded:
    """Load several files as one table."""
    if len(files) == 1:
        return _files.load(files[0], wanted)
    loaded: list[Loaded] = []
    labels: list[str | None] = []
    empty: list[NoRows] = []
    for path, label in zip(files, labels_of(files), strict=True):
        try:
            loaded.append(_files.load(path, wanted))
            labels.append(label)
        except NoRows as error:
            empty.append(error)
    if not loaded:
        raise empty[0]
    notes = list(dict.fromkeys(note for one in loaded for note in one.notes))
    of = f" ({counted(len(empty), 'other', 'others')} had no rows)" if empty else ""
    notes.insert(0, f"Read {counted(len(loaded), 'file')} as one table{of}.")
    dialect = loaded[0].dialect
    added = None if any(FILE in one.frame.columns for one in loaded) else FILE
    labels = labels if added else [None] * len(loaded)
    if any(isinstance(one.source, _json.Objects | _json.OnDisk) for one in loaded):
        frame, objects = _objects(loaded, labels)
        return Loaded(frame, notes, objects, dialect, added)
    cells = [one.source for one in loaded if isinstance(one.source, Cells)]
    if len(cells) == len(loaded):
        frame = _stacked([one.frame for one in cells], labels)
        as_read: dict[str, str] = {}  # the names in the headers
        for one in cells:
            as_read = dict(zip(one.frame.columns, one.header, strict=True)) | as_read
        header = [as_read.get(name, name) for name in frame.columns]
        return Loaded(with_types(frame), notes, Cells(header, frame), dialect, added)
    frame = _stacked([_exact(one) for one in loaded], labels)
    return Loaded(frame, notes, None, dialect, added)


def labels_of(files: list[Path]) -> list[str]:
    """The names of the files, or their paths where names repeat."""
    names = [path.name for path in files]
    names = names if len(set(names)) == len(names) else [path.as_posix() for path in files]
    return [_json.whole(name) for name in names]


def labelled(frame: Any, label: str) -> Any:
    """A DataFrame with the column that says where its rows come from."""
    import polars as pl

    return frame.with_columns(pl.lit(label, pl.String).alias(FILE))


def lines_of(load: Callable[[], Iterable[str]], label: str | None) -> Iterator[bytes]:
    """Objects as lines of JSON, with the member that says where they come from."""
    more = "" if label is None else json.dumps({FILE: label}, ensure_ascii=False)
    objects = iter(load())
    while some := list(islice(objects, _ROWS)):
        lines = (_json_lines.with_members(piece, more) for piece in some)
        yield "".join(f"{line}\n" for line in lines).encode()


def _exact(one: Loaded) -> Any:
    """The table of a file, with no number in another notation."""
    return one.source.exact(one.frame) if isinstance(one.source, Cells) else one.frame


def _stacked(frames: list[Any], labels: list[str | None]) -> Any:
    import polars as pl

    frames = [
        frame if label is None else labelled(frame, label)
        for frame, label in zip(frames, labels, strict=True)
    ]
    for name in dict.fromkeys(chain.from_iterable(frame.columns for frame in frames)):
        having = [i for i, frame in enumerate(frames) if name in frame.columns]
        for i, part in zip(having, alike([frames[i][name] for i in having]), strict=True):
            frames[i] = frames[i].with_columns(part)
    return pl.concat(frames, how="diagonal_relaxed")


# ---------------------------------------------------------------- with JSON files among them
def _objects(
    loaded: list[Loaded], labels: list[str | None]
) -> tuple[Any, _json.Objects | _json.OnDisk]:
    """The rows of all files as objects; those of large JSON files stay on the disk."""
    parts = [partial(_objects_of, _with_objects(one)) for one in loaded]
    pieces = partial(_all_lines, list(zip(parts, labels, strict=True)))
    whole = io.BytesIO()
    whole.writelines(pieces())
    frame, objects = _json.lines(whole.getvalue(), "The files")
    if any(isinstance(one.source, _json.OnDisk) for one in loaded):
        return frame, _json.OnDisk(frame.columns, pieces)
    return frame, objects


def _all_lines(parts: list[tuple[Callable[[], Iterable[str]], str | None]]) -> Iterator[bytes]:
    return chain.from_iterable(lines_of(*part) for part in parts)


def _objects_of(source: Any) -> Iterator[str]:
    """The JSON of each object of a file, or of each row of another table, given as lines."""
    if isinstance(source, _json.Objects):
        yield from source.load()
        return
    try:
        for piece in source.pieces() if isinstance(source, _json.OnDisk) else [source]:
            yield from _json_lines.objects_in(piece)
    except UnicodeDecodeError:
        raise Changed from None


def _with_objects(one: Loaded) -> Any:
    """The objects of a JSON file, or the rows of another table as lines of JSON."""
    if isinstance(one.source, _json.Objects | _json.OnDisk):
        return one.source
    return writing.frame_bytes(_exact(one), "jsonl")
