"""Tells whether this process is a fork without the threads of polars, which would wait for them for ever.

`import coterie` imports this, so that a fork is noticed whenever it happens.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from coterie.errors import Forked

_THREADS = "/proc/self/task"  # only Linux tells, where alone forks are common
# had polars threads at the last fork, and are they lost in this process?
_seen = {"threads": False, "lost": False}


def check_threads() -> None:
    """Raise an error in a fork without the threads of polars; what needs them asks here first.

    Without threads, polars can still make a column of values, or values of a column.
    """
    if _seen["lost"]:
        raise Forked(
            "This process was forked from one in which polars had threads, and a fork has none of them, so"
            " tables cannot be read, changed or written here. Start processes with the method spawn, as in"
            " multiprocessing.get_context('spawn'), or before the first table is read."
        )


def _before() -> None:
    """Look for the threads of polars, which have their names a moment after its first work."""
    name = re.escape(os.environ.get("POLARS_THREAD_NAME", "polars")[:13])
    _seen["threads"] = any(re.fullmatch(rf"{name}-\d+", thread) for thread in _names_of_threads())


def _names_of_threads() -> list[str]:
    names = []
    for number in os.listdir(_THREADS) if os.path.isdir(_THREADS) else ():
        with suppress(OSError), open(f"{_THREADS}/{number}/comm") as file:  # it may have ended
            names.append(file.read().strip())
    return names


def _in_child() -> None:
    _seen["lost"] = _seen["lost"] or _seen["threads"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
