"""Content from outside, read only as far as there is memory for it."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from coterie._disk import NotReadable, read_regular
from coterie._memory import VARIABLE, allowed_memory, in_units
from coterie.errors import InvalidInput

TIMES = 5  # memory that a table takes while it is read, in sizes of its file (measured: 4 to 6)
_PIECE = 2**22


def most_bytes() -> int:
    """The largest content of a file for which there is memory."""
    return allowed_memory() // TIMES


def too_large(what: str, need: float) -> InvalidInput:
    """What to say about a file that does not fit."""
    return InvalidInput(
        f"{what}, which takes at least {in_units(need)} of memory to read, and coterie may use"
        f" {in_units(allowed_memory())}; give it a part of the data, or allow more with the environment"
        f" variable {VARIABLE} (such as {VARIABLE}=64GB)."
    )


def file_content(path: Path, most: int) -> bytes:
    """A file's bytes; pipes and devices are refused, since they may never end."""
    try:
        return read_regular(path, most)
    except NotReadable as error:
        try:
            size = path.stat().st_size
        except OSError:
            size = 0
        if size > most:
            raise too_large(f"{path} holds {in_units(size)}", TIMES * size) from None
        problem = str(error.strerror).removeprefix("it ")
        raise InvalidInput(
            f"{path} cannot be read: it {problem}; for a pipe, name - and write to standard input."
        ) from None
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from None


def stream_content(stream: Any, name: str) -> bytes:
    """All that an open file or standard input gives; texts as UTF-8."""
    pieces: list[bytes] = []
    size, most = 0, most_bytes()
    while True:
        try:
            piece = stream.read(_PIECE)
        except TypeError:  # a read() that takes no size
            piece = stream.read()
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{name} cannot be read: {error}.") from None
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "replace")
        if not isinstance(piece, bytes | bytearray | memoryview):
            raise InvalidInput(
                f"{name} gives {type(piece).__name__}, not texts or bytes; open a file to read from."
            )
        if not piece:
            return b"".join(pieces)
        pieces.append(bytes(piece))
        size += len(pieces[-1])
        if size > most:
            raise too_large(f"{name} gives more than {in_units(most)}", TIMES * size)


def gunzipped(raw: bytes, name: str) -> bytes:
    """The content of gzipped bytes, and others as they are."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    pieces: list[bytes] = []
    size, most = 0, most_bytes()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise too_large(f"{name} unpacks to more than {in_units(most)}", TIMES * size)
    except (OSError, EOFError, zlib.error):
        raise InvalidInput(
            f"{name} is damaged or cut short: its gzip compression cannot be undone; copy it again."
        ) from None
    return b"".join(pieces)
