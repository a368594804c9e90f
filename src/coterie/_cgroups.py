"""What the control groups of Linux (versions 1 and 2) let this process use: memory, and processors.

A container is such a group. The limits of the groups around a group hold for it, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("/proc/self/cgroup")
_FOLDER = Path("/sys/fs/cgroup")


def memory() -> Iterator[tuple[int, int]]:
    """The limits of memory in bytes, each with what is in use there and cannot be freed."""
    for folder, is_second in _folders("memory"):
        names = ("memory.max", "memory.high") if is_second else ("memory.limit_in_bytes",)
        found = [number for name in names for number in _numbers(folder / name)[:1]]
        if found:
            used = ("anon ", "shmem ") if is_second else ("total_rss ", "total_shmem ")
            lines = [line for line in _lines(folder / "memory.stat") if line.startswith(used)]
            yield min(found), sum(int(line.split()[1]) for line in lines)


def processors() -> Iterator[float]:
    """The quotas of processor time, as numbers of processors."""
    for folder, is_second in _folders("cpu"):
        if is_second:
            found = _numbers(folder / "cpu.max")
        else:
            names = "cpu.cfs_quota_us", "cpu.cfs_period_us"
            found = [number for name in names for number in _numbers(folder / name)]
        if len(found) == 2:
            yield found[0] / found[1]


def _folders(controller: str) -> Iterator[tuple[Path, bool]]:
    """The group of this process and those around it, and whether they are of version 2."""
    for line in _lines(_GROUPS):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and controller not in controllers.split(","):
            continue
        top = _FOLDER / controller if controllers else _FOLDER
        inner = Path(path.lstrip("/"))
        for folder in (inner, *inner.parents):  # the last is ".", the group of the container
            yield top / folder, not controllers


def _numbers(path: Path) -> list[int]:
    """The numbers above 0 in a file; none says that there is no limit."""
    words = " ".join(_lines(path)).split()
    return [int(word) for word in words if word.isdecimal() and int(word)]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, ValueError):
        return []
