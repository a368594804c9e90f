"""What a fit took (seconds, memory), what the machine is, and which commit is measured."""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGES = (
    *("coterie", "numpy", "scipy", "scikit-learn", "numba"),
    *("topica", "tomotopy", "bitermplus"),
)


class Watch:
    """Seconds and peak memory of the block inside `with watch():`.

    `look`, if there is one, is shown the labels after each sweep."""

    seconds: float = 0.0
    peak_mb: float | None = None  # None where the high-water mark cannot be reset

    def __init__(self, look: Callable[[int, Sequence[int]], None] | None = None) -> None:
        self.look = look

    @contextmanager
    def __call__(self) -> Iterator[None]:
        gc.collect()
        _return_free_memory()
        before = resident_mb("VmRSS") if _reset_high_water() else None
        start = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - start
        if before is not None:
            self.peak_mb = max(0.0, resident_mb("VmHWM") - before)


class Ran(NamedTuple):
    """What a command took, and what it printed."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    printed: bytes


class CannotLimit(Exception):
    """The system does not let this process limit the memory of another."""


_IN_A_SMALL_PROCESS = """
import json, os, resource, subprocess, sys, time
if sys.argv[1]:
    with open(sys.argv[1], "w") as members:
        members.write(str(os.getpid()))
began = time.perf_counter()
done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
took, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
told = [took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
sys.stdout.buffer.write(json.dumps(told).encode() + b"\\n" + done.stdout)
"""
_GROUPS = Path("/sys/fs/cgroup")


def ran(
    arguments: Sequence[str],
    folder: Path,
    memory: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> Ran:
    """Run Python with these arguments, from a small process; `memory`: all that the system gives it.

    Linux counts the memory of the process that starts another as the peak of that one, too.
    """
    with nullcontext("") if memory is None else _limited(memory) as members:
        small = [sys.executable, "-c", _IN_A_SMALL_PROCESS, str(members)]
        done = subprocess.run(
            [*small, sys.executable, *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            check=True,
            env={**os.environ, **(variables or {})},
        )
    told, _, printed = done.stdout.partition(b"\n")
    took, cpu, peak_mb = json.loads(told)
    return Ran(took, cpu, peak_mb, printed)


@contextmanager
def _limited(n_bytes: int) -> Iterator[Path]:
    """A control group of Linux (version 1 or 2) with so much memory: the file to add a process to."""
    versions = (_GROUPS / "memory", "memory.limit_in_bytes"), (_GROUPS, "memory.max")
    for parent, limit in versions:
        group = parent / f"benchmark-{os.getpid()}"
        with suppress(OSError):
            group.mkdir()
        try:
            (group / limit).write_text(str(n_bytes))
        except OSError:
            with suppress(OSError):
                group.rmdir()
            continue
        try:
            yield group / "cgroup.procs"
        finally:
            with suppress(OSError):
                group.rmdir()
        return
    raise CannotLimit("limiting memory takes control groups of Linux, and the right to make one")


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def machine() -> dict[str, str]:
    """Processor, memory and versions; nothing that names the host."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions(PACKAGES),
    }


@cache
def commit() -> str:
    """The commit of this checkout as `git describe` names it, or "unknown" outside of git."""
    command = ["git", "describe", "--always", "--dirty"]
    with suppress(OSError, subprocess.CalledProcessError):
        folder = Path(__file__).parent
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()
    return "unknown"


def same_machine(one: dict[str, str], other: dict[str, str]) -> dict[str, str] | None:
    """One description of two machines that are the same, else None.

    The packages of both are in it: another peer installed later does not outdate the rest."""
    first, second = (
        dict(re.findall(r"([^\s,]+) ([^\s,]+)", m.get("packages", ""))) for m in (one, other)
    )
    both = {**first, **second}
    packages = ", ".join(f"{name} {both[name]}" for name in PACKAGES if name in both)
    same = {**one, "packages": packages}
    alike = same == {**other, "packages": packages} and {**second, **first} == both
    return same if alike else None


def _return_free_memory() -> None:
    """Freed memory that the C library keeps would hide what the next fit takes."""
    with suppress(OSError, AttributeError, TypeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def _reset_high_water() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def resident_mb(field: str) -> float:
    status = Path("/proc/self/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def versions(packages: Sequence[str]) -> str:
    """The versions of those that are installed."""
    return ", ".join(f"{name} {found}" for name in packages if (found := _version(name)))


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pass
    try:
        return str(importlib.import_module(package).__version__)  # found by path, not installed
    except (ImportError, AttributeError):
        return None


def _processor() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or "unknown"


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.0f} GiB"
