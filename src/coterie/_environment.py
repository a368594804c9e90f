"""Environment variables with which numba or polars cannot begin; both fail in words of their own."""

from __future__ import annotations

import os
import re

from coterie.errors import InvalidInput

# name -> values that are refused; polars ignores negative ones, with a warning
_NO_THREADS = {"NUMBA_NUM_THREADS": r"-\d+|[+-]?0+", "POLARS_MAX_THREADS": r"\+?0+"}


def check() -> None:
    """Raise InvalidInput if numba or polars are told to use no thread at all."""
    for name, refused in _NO_THREADS.items():
        value = os.environ.get(name, "")
        if re.fullmatch(refused, value.strip()):
            raise InvalidInput(
                f"The environment variable {name} is {value!r}. Set it to a number of threads, 1 or more,"
                " or remove it."
            )
