"""Errors of a command: one sentence on standard error, an exit code, and JSON if that was asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from coterie import _environment
from coterie._sentence import readable
from coterie.cli.exits import BROKEN_PIPE, EMPTY, INTERRUPTED, PROBLEM, End
from coterie.cli.words import in_terms_of_options, printable
from coterie.errors import CoterieError, NoRows


@contextmanager
def errors_in_words(debug: bool, as_json: bool = False) -> Iterator[None]:
    """Turn exceptions into one sentence on stderr and an exit code; --debug adds the traceback.

    With `as_json`, standard output gets a JSON object with the error, unless it has a result already.
    """
    try:
        _environment.check()
        yield
    except typer.Exit:
        raise
    except BrokenPipeError:  # `coterie ... | head`: the reader closed the pipe
        raise typer.Exit(BROKEN_PIPE) from None
    except KeyboardInterrupt:
        _fail("Interrupted. Nothing was written.", INTERRUPTED, as_json, "interrupted")
    except End as end:
        _fail(str(end), end.code, as_json and not end.has_result, "interrupted")
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        kind = error.kind if isinstance(error, CoterieError) else type(error).__name__
        code = EMPTY if isinstance(error, NoRows) else PROBLEM
        _fail(_sentence(error), code, as_json, kind, getattr(error, "parameter", None))


def _sentence(error: Exception) -> str:
    if isinstance(error, CoterieError):
        return in_terms_of_options(error.sentence)
    if isinstance(error, OSError) and error.strerror:
        return readable(f"{error.filename or 'The output'}: {error.strerror}.")
    if isinstance(error, MemoryError):
        return "There is not enough memory. Try a part of the file, or a larger --min-df."
    return (
        f"This is a bug in coterie ({type(error).__name__}: {error}). Please run the command again with"
        " --debug and report the output."
    )


def _fail(
    sentence: str, code: int, as_json: bool, kind: str, parameter: str | None = None
) -> NoReturn:
    sys.stderr.write(f"Error: {printable(sentence)}\n")
    if as_json:
        error = {"message": sentence, "kind": kind, "parameter": parameter, "exit_code": code}
        sys.stdout.write(json.dumps({"error": error}) + "\n")
    raise typer.Exit(code)
