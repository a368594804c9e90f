"""The memory limit for reading files."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from coterie.errors import InvalidInput

VARIABLE = "COTERIE_MAX_MEMORY"
SHARE = 0.75  # of the memory of the machine or the container
_UNKNOWN = 8 * 10**9  # assumed if the system does not tell
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_GROUPS = Path("/proc/self/cgroup")
_GROUP_FOLDER = Path("/sys/fs/cgroup")


def allowed_memory() -> int:
    """Maximum memory for reading a file, in bytes.

    Three quarters of the physical memory, or of the cgroup limit if that is smaller. The
    environment variable COTERIE_MAX_MEMORY (such as "8GB" or "512MiB") takes precedence.
    """
    asked = os.environ.get(VARIABLE, "").strip()
    if asked:
        return _size(asked)
    return int(SHARE * min([_physical(), *_group_limits()]))


def in_units(size: float) -> str:
    """Bytes in a readable form.

    >>> in_units(830), in_units(41_300_000), in_units(8e9)
    ('830 bytes', '41.3 MB', '8.0 GB')
    """
    if size < 1000:
        return f"{size:.0f} bytes"
    power = min(4, int(math.log10(size)) // 3)
    return f"{size / 1000**power:,.1f} {('', 'k', 'M', 'G', 'T')[power]}B"


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", text.lower())
    size = int(float(found[1]) * _UNITS[found[2]]) if found and found[2] in _UNITS else 0
    if size <= 0:
        raise InvalidInput(
            f"The environment variable {VARIABLE} is {text!r}. Set it to a size such as 8GB or 512MB, or"
            " remove it."
        )
    return size


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _group_limits() -> list[int]:
    """The memory limits of the cgroup of this process and of its parents (versions 1 and 2)."""
    limits = []
    try:
        groups = [line.split(":", 2) for line in _GROUPS.read_text().splitlines()]
    except (OSError, ValueError):
        return []
    for group in groups:
        if len(group) != 3 or not (group[1] == "" or "memory" in group[1].split(",")):
            continue
        top, name = (
            (_GROUP_FOLDER, "memory.max")
            if group[1] == ""
            else (_GROUP_FOLDER / "memory", "memory.limit_in_bytes")
        )
        inner = Path(group[2].lstrip("/"))
        for folder in (
            inner,
            *inner.parents,
        ):  # the last is ".", which is the group of the container
            try:
                limits.append(int((top / folder / name).read_text()))
            except (OSError, ValueError):  # missing, or "max"
                continue
    return [limit for limit in limits if limit > 0]
