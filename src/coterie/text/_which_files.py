"""The files that are meant: all that a call reads, and those that are read in batches, if they can be.

In: what the user passed. Out: paths, or an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coterie._memory import free_memory
from coterie.errors import InvalidInput
from coterie.text import _csv, _files, _json, _parquet, _pieces, _several
from coterie.text._bounded_read import most_bytes
from coterie.text._files import errors_as_sentences

_AT_ONCE = 2**20  # bytes that are cut at their quotes
OF_MODELS = "sentence-transformers:"  # before the name or folder of an embedder
ONE_PART = 50_000  # rows that are read at once in any case
STREAMED = ("csv", "tsv", "jsonl", "txt", "parquet")


class Need(NamedTuple):
    """Memory of a whole command, in bytes: reading, counts, vectors, results, and the program itself."""

    fixed: float
    per_row: float
    per_byte: float  # of the files, unpacked


# At least 0.93 of the peaks that were measured with 20,000 to a million texts of 30 to 1,100 bytes, in csv,
# JSON lines and parquet files. The smaller one holds: in many texts, clusters are found in a sample.
FIT = Need(340e6, 1100, 8), Need(550e6, 450, 4.5)
PREDICT = (Need(320e6, 100, 4),)


def files_read(data: Any, *others: Any) -> tuple[Path | int, ...]:
    """All files that a call reads, which its outputs must not replace; 0 is standard input.

    `others` are arguments that may name a file or a folder, such as seeds, of which all files are read.
    """
    if isinstance(data, str) and data == "-":
        found: list[Path | int] = [0]
    elif several := _several.paths(data):
        found = [*several]
    else:
        given = data if isinstance(data, str | os.PathLike) else getattr(data, "name", None)
        found = [*_inside(given, lambda folder: _files.texts_in(folder)[0])]
    for other in others:
        found += _inside(other, lambda folder: [at for at in folder.rglob("*") if at.is_file()])
    return tuple(at if isinstance(at, int) else at.absolute() for at in found)


def _inside(given: Any, files_in: Callable[[Path], list[Path]]) -> list[Path]:
    """The file that is named, or those in the folder; none if it is something else."""
    if not isinstance(given, str | os.PathLike):
        return []
    path = os.fsdecode(given).removeprefix(OF_MODELS)
    if os.path.isdir(path):
        return files_in(Path(path))
    return [Path(path)] if os.path.isfile(path) else []


def too_large_for_memory(data: Any, needs: Sequence[Need] = FIT, more: int = 0) -> bool:
    """Whether these are files that can be read in batches, and that take more memory than there is.

    `more` bytes are needed for something else.
    """
    try:
        n_rows, n_bytes = size_of(data)
    except (InvalidInput, OSError):
        return False  # reading it will say what is wrong
    rows = [need.per_row * n_rows + need.per_byte * n_bytes for need in needs]
    whole = min(need.fixed + size for need, size in zip(needs, rows, strict=True)) + more
    # what is one part in any case would take no less memory in parts
    is_one_part = n_rows <= ONE_PART and n_bytes <= _pieces.PIECE
    return n_bytes > most_bytes() or (min(rows) if is_one_part else whole) > free_memory()


def size_of(data: Any) -> tuple[int, int]:
    """Rows and bytes of files that can be read in batches, unpacked; with the headers of csv files."""
    n_rows = n_bytes = 0
    files = files_of(data)
    kind = kind_of_all(files)
    for path in files:
        if kind == "parquet":
            groups = _parquet.row_groups(path)
            rows, size = sum(n for n, _ in groups), sum(n for _, n in groups)
        else:
            rows, size = _lines_of(path, kind in ("csv", "tsv"))
        n_rows, n_bytes = n_rows + rows, n_bytes + size
    return n_rows, n_bytes


def _lines_of(path: Path, has_quotes: bool) -> tuple[int, int]:
    """Lines and bytes; with quotes, without the line ends within them."""
    n_rows = n_bytes = within = 0
    separator, piece = "", b"\n"
    for piece in _pieces.lines(path):
        n_bytes += len(piece)
        separator = separator or _csv.separator_of(piece)
        if not has_quotes or _csv.has_odd_quotes(piece, separator):
            n_rows, within = n_rows + piece.count(b"\n"), 0
            continue
        for start in range(0, len(piece), _AT_ONCE):
            cells = piece[start : start + _AT_ONCE].split(b'"')
            n_rows += sum(cell.count(b"\n") for cell in cells[within::2])
            within = (within + len(cells) - 1) % 2
    return n_rows + (not piece.endswith(b"\n")), n_bytes


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
    if not os.path.exists(data):
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
