"""How much memory coterie may use."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from pathlib import Path

from coterie import _cgroups
from coterie.errors import InvalidInput

VARIABLE = "COTERIE_MAX_MEMORY"
SHARE = 0.75  # of the memory of the machine or the container
_UNKNOWN = 8 * 10**9  # assumed if the system does not tell
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_MACHINE = Path("/proc/meminfo")


def allowed_memory() -> int:
    """Maximum memory for reading a file, in bytes.

    Three quarters of the physical memory, or of the cgroup limit if that is smaller. The
    environment variable COTERIE_MAX_MEMORY (such as "8GB" or "512MiB") takes precedence.
    """
    return _asked() or int(SHARE * min(limit for limit, _ in _limits()))


def free_memory() -> int:
    """What this process may still take now, in bytes.

    It is less than `allowed_memory` only if this and other processes use more than a quarter of the memory,
    so that decisions which are made by it seldom depend on what else runs.
    """
    if _asked():
        return _asked()
    return max(0, min(allowed_memory(), *(limit - used for limit, used in _limits())))


def in_units(size: float) -> str:
    """Bytes in a readable form.

    >>> in_units(830), in_units(41_300_000), in_units(8e9)
    ('830 bytes', '41.3 MB', '8.0 GB')
    """
    if size < 1000:
        return f"{size:.0f} bytes"
    power = min(4, int(math.log10(size)) // 3)
    return f"{size / 1000**power:,.1f} {('', 'k', 'M', 'G', 'T')[power]}B"


def _asked() -> int:
    """What the environment variable says; 0 if it is not set."""
    asked = os.environ.get(VARIABLE, "").strip()
    return _size(asked) if asked else 0


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", text.lower())
    size = int(float(found[1]) * _UNITS[found[2]]) if found and found[2] in _UNITS else 0
    if size <= 0:
        raise InvalidInput(
            f"The environment variable {VARIABLE} is {text!r}. Set it to a size such as 8GB or 512MB, or"
            " remove it."
        )
    return size


def _limits() -> list[tuple[int, int]]:
    """The memory of the machine, and of each control group, with what is in use of it."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        total = _UNKNOWN
    free = total
    with suppress(OSError):  # only Linux tells
        found = re.search(r"^MemAvailable: +(\d+) kB$", _MACHINE.read_text(), re.MULTILINE)
        free = total if found is None else 1024 * int(found[1])
    return [(total, total - free), *_cgroups.memory()]
