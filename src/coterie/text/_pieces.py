"""A file that need not fit into memory, piece by piece; no piece ends within a row.

In: a path. Out: bytes that end at the end of a line, or for parquet the row groups to read together.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from coterie._disk import check_regular
from coterie._memory import allowed_memory, in_units
from coterie.errors import InvalidInput
from coterie.text._bounded_read import not_unpacked
from coterie.text._csv import in_quotes, only_begins, tabs_per_line
from coterie.text._encodings import HEAD, Wide, not_valid, wide

PIECE = 16 * 2**20  # bytes that are read at once
LONGEST = 16  # pieces that a single row may take
Separator = Callable[[bytes], str]  # of a csv file that begins like this


def lines(
    path: Path,
    separator: Separator | None = None,
    encoding: Wide | None = None,
    at: Callable[[int], Any] = lambda position: None,
) -> Iterator[bytes]:
    """Pieces of a text file that end with a line; with `separator`, not within a cell in quotes.

    The first piece of a csv file has more than its header. A file in a wide encoding becomes UTF-8. `at`
    is told the position in the file, packed as it is.
    """
    rest, has_begun = b"", separator is None
    with closing(_opened(path)) as file:
        recoded = _Recoded(encoding, path.name) if encoding else None
        while True:
            read = _read(file, path)
            at(getattr(file, "fileobj", file).tell())
            if recoded is not None:
                is_last = not read
                read = recoded(read)
                if not read and not is_last:
                    continue
            data = rest + read
            if not read:
                break
            end = _last_end(data, separator)
            has_begun = has_begun or _has_two_rows(data[:end], separator)
            end = end if has_begun else 0
            if end == 0 and len(data) > LONGEST * PIECE:
                end = _end_of_plain(data, separator)
            if end == 0 and len(data) > LONGEST * PIECE:
                raise InvalidInput(
                    f"{path.name} has a row of more than {in_units(LONGEST * PIECE)}. A quote may not be"
                    " closed, or the lines may not end in a line feed."
                )
            if end:
                yield data[:end]
            rest = data[end:]
    if data:
        yield data


class _Recoded:
    """Bytes of a wide encoding as UTF-8; a piece may end within a character."""

    def __init__(self, encoding: Wide, name: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding.encoding)(encoding.errors)
        self._not_valid = not_valid(name, encoding.encoding, encoding.is_asked)

    def __call__(self, raw: bytes) -> bytes:
        try:
            return self._decoder.decode(raw, final=not raw).encode("utf-8", "replace")
        except ValueError:
            raise self._not_valid from None


def wide_encoding(path: Path, asked: str | None) -> Wide | None:
    """The encoding of a text file whose line ends are not the byte 0x0A alone; None for all others."""
    with closing(_opened(path)) as file:
        return wide(_read(file, path, HEAD), asked, path.name)


def _last_end(data: bytes, separator: Separator | None) -> int:
    """The position after the last row that is complete; 0 if none is."""
    if separator is None or b'"' not in data:
        return data.rfind(b"\n") + 1
    which, end, known = separator(data), 0, 0
    for found in re.finditer(in_quotes(which) + rb"|\n|" + only_begins(which), data):
        if data[found.start()] == 34:
            known = max(known, found.end(1))
            if found.end() == len(data):
                break  # a cell that may go on
        elif found.start() >= known:
            end = found.end()
    return end


def _end_of_plain(data: bytes, separator: Separator | None) -> int:
    """The position after the last line, in a tsv file of plain lines, whose quotes close nothing; or 0."""
    end = data.rfind(b"\n") + 1
    is_plain = end and separator and separator(data) == "\t" and tabs_per_line(data[:end])
    return end if is_plain else 0


def _has_two_rows(data: bytes, separator: Separator | None) -> bool:
    """Whether there are two that are not blank; the first one may go on behind a line end."""
    data = data.strip()
    return _last_end(data, separator) > 0


def _opened(path: Path) -> Any:
    try:
        check_regular(path)
        file = open(path, "rb")  # noqa: SIM115  closed by the caller
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from None
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file
    file.close()
    return gzip.open(path, "rb")


def _read(file: Any, path: Path, size: int | None = None) -> bytes:
    try:
        return bytes(file.read(PIECE if size is None else size))
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(file, gzip.GzipFile):
            raise not_unpacked(path.name) from None
        raise InvalidInput(f"{path.name} cannot be read to its end: {error}.") from None


def groups_together(
    groups: list[tuple[int, int]], rows: int, name: str
) -> Iterator[tuple[int, int]]:
    """Row groups of a parquet file, each (rows, bytes), as (first row, rows) to read at once."""
    first = held = size = 0
    for n_rows, n_bytes in groups:
        if 3 * n_bytes > allowed_memory():
            raise InvalidInput(
                f"{name} has a row group of {n_rows:,} rows, which takes about {in_units(3 * n_bytes)} of"
                f" memory; coterie may only use {in_units(allowed_memory())}. Write the file again with"
                " smaller row groups."
            )
        if held and (held + n_rows > rows or size + n_bytes > 4 * PIECE):
            yield first, held
            first, held, size = first + held, 0, 0
        held, size = held + n_rows, size + n_bytes
    if held:
        yield first, held
