"""Reads a file once more that was read before, in pieces, and tells whether it is still the same.

In: a path, and the size and digest of what was read there. Out: whole lines, about a megabyte at a time.
Only at the end is it known that nothing has changed, so a reader must be able to undo what it did. For
tables that are read in batches, `digest_of` tells whether a batch has the same texts.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from coterie._disk import open_regular

PIECE = 2**20  # bytes that are read at once
TEXTS = 10_000  # that are copied at once


def digest_of(texts: Sequence[str]) -> bytes:
    """What other texts, or the same in another order, do not have; the same on every machine."""
    found = hashlib.blake2b(digest_size=16)
    for start in range(0, len(texts), TEXTS):
        some = texts[start : start + TEXTS]
        found.update(" ".join(map(str, map(len, some))).encode())
        found.update("".join(some).encode("utf-8", "surrogatepass"))
    return found.digest()


class Changed(Exception):
    """The file is not the same any more."""


class Before(NamedTuple):
    """A file as it was read: lines that were added at its end since are not part of it."""

    path: Path
    size: int  # bytes, unpacked
    digest: bytes

    @classmethod
    def of(cls, path: Path, content: bytes) -> Before:
        """The content of a file, which may be packed with gzip."""
        # absolute: the working directory may be another later
        return cls(path.absolute(), len(content), hashlib.sha256(content).digest())

    def lines(self, skip: int = 0) -> Iterator[bytes]:
        """Pieces that end with a line, without some bytes at the start; raises `Changed`."""
        held: list[bytes] = []  # the start of a line
        for piece in self._pieces(skip):
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join((*held, piece[:end]))
                held = []
            held.append(piece[end:])
        if rest := b"".join(held):
            yield rest

    def _pieces(self, skip: int) -> Iterator[bytes]:
        found, left = hashlib.sha256(), self.size
        try:
            with open_regular(self.path) as raw:
                file = _unpacked(raw)
                while left and (piece := file.read(min(PIECE, left))):
                    found.update(piece)
                    left -= len(piece)
                    yield piece[skip:]
                    skip = max(0, skip - len(piece))
        except (OSError, EOFError, ValueError, zlib.error):
            raise Changed from None
        if found.digest() != self.digest:
            raise Changed


def _unpacked(file: BinaryIO) -> BinaryIO | gzip.GzipFile:
    is_packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if is_packed else file
