"""Records for programs that run unattended: what was done goes to the logger "coterie"."""

from __future__ import annotations

import functools
import hashlib
import logging
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar

log = logging.getLogger("coterie")
_size = struct.Struct("<Q")
_AT_ONCE = 65_536  # texts

Function = TypeVar("Function", bound=Callable[..., Any])


def recorded(function: Function) -> Function:
    """Log the result of `cluster()`: one line at level INFO, its notes at DEBUG."""

    @functools.wraps(function)
    def wrapper(*args: Any, **given: Any) -> Any:
        groups = function(*args, **given)
        said = groups.summary().partition("\n")[0] if log.isEnabledFor(logging.INFO) else ""
        log.info("%s %.1f s; %s", said, groups.seconds, groups.reason)
        if not groups.converged and groups.stop is not None and groups.stop.kind == "interrupted":
            log.warning("Stopped early: %s.", groups.stop.words)
        for note in groups.notes:
            log.debug("%s", note)
        return groups

    return wrapper  # type: ignore[return-value]


def now() -> str:
    """The time as it is saved with a model: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fingerprint(texts: Sequence[str]) -> str:
    """16 hexadecimal digits that change if a text or the order of the texts changes."""
    digest = hashlib.sha256()
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        try:
            data = list(map(str.encode, some))
        except UnicodeEncodeError:  # half a surrogate pair
            data = [text.encode("utf-8", "surrogatepass") for text in some]
        sizes = map(_size.pack, map(len, data))
        digest.update(b"".join(chain.from_iterable(zip(sizes, data, strict=True))))
    return digest.hexdigest()[:16]
