"""The files that are read in batches: which are meant, and whether they can be.

In: what the user passed. Out: paths to files of one type, or an error.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from coterie._memory import allowed_memory
from coterie.errors import InvalidInput
from coterie.text import _files, _json, _parquet, _several
from coterie.text._bounded_read import most_bytes
from coterie.text._files import errors_as_sentences

STREAMED = ("csv", "tsv", "jsonl", "txt", "parquet")


def too_large_for_memory(data: Any) -> bool:
    """Whether these are files that can be read in batches, and cannot be read at once."""
    try:
        files = files_of(data)
        kind = kind_of_all(files)
        need = sum(path.stat().st_size for path in files) / most_bytes()
        if kind == "parquet":
            groups = [group for path in files for group in _parquet.row_groups(path)]
            need = max(need, sum(2 * size + 80 * rows for rows, size in groups) / allowed_memory())
    except (InvalidInput, OSError):
        return False  # reading it will say what is wrong
    return need > 1.0


def files_of(data: Any) -> list[Path]:
    """The files that are meant, in order; an error if these are no files."""
    several = _several.paths(data)
    if several:
        return several
    if isinstance(data, list | tuple) and data and all(map(_is_file, data)):
        return [Path(path) for path in data]
    if not isinstance(data, str | os.PathLike) or data == "-":
        raise InvalidInput(
            "Only files can be read in batches: pass a path, a pattern or a list of paths, not"
            f" {_described(data)}"
        )
    if not Path(data).exists():
        raise InvalidInput(f"There is no file {os.fspath(data)!r}.")
    return [Path(data)]


def _is_file(path: Any) -> bool:
    return isinstance(path, str | os.PathLike) and os.path.isfile(path)


def _described(data: Any) -> str:
    """What was passed instead of files, and what takes it."""
    if isinstance(data, str):
        return "standard input."
    if isinstance(data, list | tuple) and any(map(_is_file, data)):
        return "paths and other things."
    return (
        f"a {type(data).__name__}. Texts and tables that are in memory are clustered by"
        " coterie.cluster()."
    )


def kind_of_all(files: list[Path]) -> str:
    """The type of the files, which must be the same and one that can be read in batches."""
    kinds = {_files.kind_of(path) if path.is_file() else "folder" for path in files}
    if len(kinds) > 1:
        raise InvalidInput("Files that are read in batches must all be of the same type.")
    (kind,) = kinds
    if kind not in STREAMED:
        hint = _files.about_parquet_in(files[0]) if kind == "folder" else ""
        raise InvalidInput(
            f"{files[0].name} cannot be read in batches. "
            + (hint or "Use a .csv, .tsv, .jsonl, .txt or .parquet file.")
        )
    odd = [path.name for path in files if kind == "parquet" and _json.whole(path.name) != path.name]
    if odd:  # polars cannot open these
        raise InvalidInput(
            f"{_json.whole(odd[0])} cannot be read in batches: its name is not valid UTF-8. Rename it."
        )
    return kind


def check_alike(files: list[Path]) -> None:
    """Refuse parquet files whose columns differ: their rows could not be written to one file."""
    first, *others = ((path, _schema(path)) for path in files)
    for path, schema in others:
        if schema != first[1]:
            raise InvalidInput(
                f"{path.name} has other columns than {first[0].name}, or columns of other types. Files that"
                " are read together need the same columns."
            )


def _schema(path: Path) -> Any:
    with errors_as_sentences(path.name):  # a damaged file is one sentence, which names it
        return _parquet.scan(path)[0].collect_schema()
