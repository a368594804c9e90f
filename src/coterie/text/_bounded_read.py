"""Reads files and streams, but never more than fits into memory."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from coterie._disk import NotReadable, read_regular
from coterie._memory import VARIABLE, allowed_memory, in_units
from coterie.errors import InvalidInput

TIMES = 5  # memory needed to read a table, as a multiple of its file size (measured: 4 to 6)
_PIECE = 2**22


def most_bytes() -> int:
    """The largest file that fits into memory."""
    return allowed_memory() // TIMES


def too_large(what: str, need: float) -> InvalidInput:
    """The error for a file that does not fit into memory."""
    return InvalidInput(
        f"{what}. Reading it takes at least {in_units(need)} of memory, but coterie may only use"
        f" {in_units(allowed_memory())}. Use a part of the data, or raise the limit with the environment"
        f" variable {VARIABLE} (such as {VARIABLE}=64GB)."
    )


def file_content(path: Path, most: int) -> bytes:
    """Read a file; pipes and devices are refused, since they may never end."""
    try:
        return read_regular(path, most)
    except NotReadable as error:
        try:
            size = path.stat().st_size
        except OSError:
            size = 0
        if size > most:
            raise too_large(f"{path} holds {in_units(size)}", TIMES * size) from None
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}. To read a pipe, use - and standard input."
        ) from None
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from None


def stream_content(stream: Any, name: str) -> bytes:
    """Read an open file or standard input to its end; text is encoded as UTF-8."""
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
                f"{name} returns {type(piece).__name__} instead of text or bytes. Open a file for reading."
            )
        if not piece:
            return b"".join(pieces)
        pieces.append(bytes(piece))
        size += len(pieces[-1])
        if size > most:
            raise too_large(f"{name} is larger than {in_units(most)}", TIMES * size)


def not_unpacked(name: str) -> InvalidInput:
    """The error for a gzipped file that ends too early, or is no such file."""
    return InvalidInput(
        f"{name} is damaged or incomplete: gzip cannot unpack it. Copy or download it again."
    )


def gunzipped(raw: bytes, name: str) -> bytes:
    """Decompress gzipped bytes; return other bytes unchanged."""
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
        raise not_unpacked(name) from None
    return b"".join(pieces)
