"""What a fit took (seconds, memory), and what the machine is."""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.metadata
import os
import platform
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PACKAGES = (
    "coterie",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "topica",
    "tomotopy",
    "bitermplus",
)


class Watch:
    """Seconds and peak memory of the block inside `with watch():`."""

    seconds: float = 0.0
    peak_mb: float | None = None  # None where the system has no resettable high-water mark

    @contextmanager
    def __call__(self) -> Iterator[None]:
        gc.collect()
        _return_free_memory()
        before = _resident_mb("VmRSS") if _reset_high_water() else None
        start = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - start
        if before is not None:
            self.peak_mb = max(0.0, _resident_mb("VmHWM") - before)


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


def together(one: dict[str, str], other: dict[str, str]) -> dict[str, str] | None:
    """Two machines as one, with the packages of both; None if they differ in what both have.

    A peer installed later is no reason to measure everything else anew."""
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


def _resident_mb(field: str) -> float:
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
