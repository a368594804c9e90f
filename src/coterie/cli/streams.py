"""Standard output and standard error, which may be closed, full, or no longer read by anybody.

Progress on standard error is a courtesy: if it cannot be shown, the work goes on. What was asked for
on standard output is a result: if it cannot be written, that is told, and the exit code shows it.
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
    """A text stream that notes whether it could be written to."""

    def __init__(self, stream: Any, needed: bool) -> None:
        self.absent = stream is None  # the command was started with it closed
        self.broken = False  # nobody reads it any more
        self._needed = needed
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  as long as we live
        self._stream = stream

    def write(self, text: str) -> int:
        """Write; a stream that is not needed swallows what cannot be written."""
        with self._noting():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        with self._noting():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def drop(self) -> None:
        """Let the rest go nowhere, so that Python has nothing left to complain about at its end."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: closed since
            self.broken = self.broken or isinstance(error, BrokenPipeError)
            if self._needed:
                raise
            self.drop()


@contextmanager
def ready() -> Iterator[Stream]:
    """Both streams fit to be written to, whatever the command was started with; yields the output."""
    _open_missing()
    before = sys.stdout, sys.stderr
    for stream in before:
        # a terminal that cannot show a letter shows a question mark, rather than a traceback
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
    """Refuse to begin if the result is wanted on a standard output that is closed."""
    if getattr(sys.stdout, "absent", False):
        raise InvalidInput(f"Standard output is closed, so {what} cannot be printed.")


@contextmanager
def printing(written: list[str]) -> Iterator[None]:
    """Print a result or a summary; if that fails, say what stands on the disk all the same."""
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
    """Say something on standard error from a signal handler, where buffers must not be touched."""
    with contextlib.suppress(OSError):
        os.write(2, text.encode())


def _open_missing() -> None:
    """Fill the places of closed streams.

    A file opened next would get the number of a closed stream, and what is printed would end in it.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
