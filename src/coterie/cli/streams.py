"""Standard output and standard error, which may be closed, full, or no longer read by anyone.

Progress on standard error is optional: if it cannot be shown, the work continues. Standard output
may carry a result: if it cannot be written, that is an error with its own exit code.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from coterie.cli.exits import PROBLEM, End
from coterie.errors import InvalidInput


class Stream:
    """A text stream that records whether it can be written to."""

    def __init__(self, stream: Any, needed: bool) -> None:
        self.absent = stream is None  # the command was started with it closed
        self.broken = False  # its reader is gone
        self._needed = needed
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
        self._stream = stream

    def write(self, text: str) -> int:
        """Write; errors are ignored for a stream that is not needed."""
        with self._noting():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush; errors are ignored for a stream that is not needed."""
        with self._noting():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def drop(self) -> None:
        """Redirect to the null device, so that Python does not fail when it flushes at exit."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: the stream was closed
            self.broken = self.broken or isinstance(error, BrokenPipeError)
            if self._needed:
                raise
            self.drop()


@contextmanager
def ready() -> Iterator[Stream]:
    """Make both streams writable, however the command was started; yield standard output."""
    _open_missing()
    before = sys.stdout, sys.stderr
    for stream in before:
        # replace characters that the terminal cannot show, instead of failing
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    output: Any = Stream(sys.stdout, needed=True)
    errors: Any = Stream(sys.stderr, needed=False)
    sys.stdout, sys.stderr = output, errors
    try:
        yield output
    finally:
        errors.flush()
        sys.stdout, sys.stderr = before
        for stream in (output, errors):
            if stream.absent:
                stream.close()


def check_output(what: str) -> None:
    """Raise InvalidInput if the result goes to standard output, but that is closed."""
    if getattr(sys.stdout, "absent", False):
        raise InvalidInput(f"Standard output is closed, so {what} cannot be printed.")


@contextmanager
def printing(written: list[str]) -> Iterator[None]:
    """Print a result or a summary; if that fails, say which files were written."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        said = f"Standard output cannot be written: {error.strerror or error}."
        if written:
            said = f"{said[:-1]}; the result was written to {', '.join(written)}."
        if isinstance(sys.stdout, Stream):
            sys.stdout.drop()
        raise End(PROBLEM, said) from None


def tell_from_a_signal(text: str) -> None:
    """Write to standard error from a signal handler, where buffers must not be used."""
    with contextlib.suppress(OSError):
        os.write(2, text.encode())


def _open_missing() -> None:
    """Open the null device in place of closed streams.

    Otherwise the next opened file would get the number of a closed stream, and output would go there.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
