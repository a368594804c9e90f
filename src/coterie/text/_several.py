"""Several files read as one table: a list of paths, or a pattern such as "tickets-*.csv".

The tables are put one below the other; a column that a file does not have is empty there. A column
`file` says where each row comes from, unless the files have one.
"""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.text import _files
from coterie.text._csv import Cells, with_types
from coterie.text._files import Loaded, Wanted

FILE = "file"  # the added column


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
    loaded = [_files.load(path, wanted) for path in files]
    if len(loaded) == 1:
        return loaded[0]
    notes = list(dict.fromkeys(note for one in loaded for note in one.notes))
    notes.insert(0, f"Read {counted(len(files), 'file')} as one table.")
    labels = _labels(files)
    if all(isinstance(one.source, Cells) for one in loaded):
        frame = _stacked([one.source.frame for one in loaded], labels)  # type: ignore[union-attr]
        typed = with_types(frame)
        return Loaded(typed, notes, Cells(frame.columns, frame), loaded[0].dialect)
    return Loaded(_stacked([one.frame for one in loaded], labels), notes, None, loaded[0].dialect)


def _stacked(frames: list[Any], labels: list[str]) -> Any:
    import polars as pl

    if all(FILE not in frame.columns for frame in frames):
        frames = [
            frame.with_columns(pl.lit(label, pl.String).alias(FILE))
            for frame, label in zip(frames, labels, strict=True)
        ]
    dtypes: dict[str, set[Any]] = {}
    for frame in frames:
        for name, dtype in frame.schema.items():
            dtypes.setdefault(name, set()).add(dtype)
    mixed = {name for name, found in dtypes.items() if len(found - {pl.Null}) > 1}
    numbers = {n for n in mixed if all(dtype.is_numeric() for dtype in dtypes[n])}
    texts = [
        frame.with_columns(frame[n].cast(pl.String) for n in frame.columns if n in mixed - numbers)
        for frame in frames
    ]
    return pl.concat(texts, how="diagonal_relaxed")


def _labels(files: list[Path]) -> list[str]:
    """The names of the files, or their paths where names repeat."""
    names = [path.name for path in files]
    return names if len(set(names)) == len(names) else [path.as_posix() for path in files]
