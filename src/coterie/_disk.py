"""Files: written so that a crash leaves the old one or the new one, read only if they are files."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from coterie.errors import ModelFileError


class NotReadable(OSError):
    """A file that must not be read: no regular file, or too large. `strerror` says which."""


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    A pipe would wait forever and a device never end, so neither is opened for longer than it takes
    to see what it is. Of a file that grows meanwhile, what was there at first is read.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        _check_regular(path, about)
        if about.st_size > most:
            raise NotReadable(0, f"it is larger than {most:,} bytes", str(path))
        return file.read(about.st_size)


def check_regular(path: Path) -> None:
    """Raise `NotReadable` for a pipe, a device, a folder."""
    _check_regular(path, os.stat(path))


def _check_regular(path: Path, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise NotReadable(0, "it is not a regular file", str(path))


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target, flush to disk, rename: the old or the new file, never a half."""
    with beside(path) as (name, file):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        os.replace(name, path)
        flush_folder(path.parent)


@contextmanager
def beside(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """A temporary file next to `path`, gone afterwards; what the system refuses is said in words."""
    try:
        name = str(path.parent / f".{path.name}.{secrets.token_hex(8)}")
        # not tempfile's 0600: others may read what is written, as any new file
        handle = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
        try:
            with os.fdopen(handle, "wb") as file:
                yield name, file
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}.") from None


def flush_folder(folder: Path) -> None:
    """Make a rename durable, where the system lets a folder be flushed."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
