"""What every kernel shares: the decorators, addressed uniforms, log-gamma.

Helpers are inlined into the kernels that call them, so the compiled code of a kernel depends on
more files than its own. The name it has in numba's cache on disk therefore holds a digest of all
of them (`sources_digest`).
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import numba
import numpy as np

from coterie import _rng

LN2 = math.log(2.0)
_GOLDEN = np.uint64(_rng.GOLDEN)
_MIX_1 = np.uint64(_rng.MIX_1)
_MIX_2 = np.uint64(_rng.MIX_2)
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)

# Modules outside this package whose constants are compiled into kernels.
_OTHER_SOURCES = ("_rng.py", "_arrays.py")


def supported(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags among these that this numba knows. They only make kernels faster.

    numba does not document them, so any release may drop one. Asking its parser of options takes
    microseconds; a numba without that parser is taken to know none of them.
    """
    return {name: value for name, value in flags.items() if _is_supported(name, value)}


def _is_supported(name: str, value: Any) -> bool:
    try:
        from numba.core.compiler import Flags
        from numba.core.registry import cpu_target

        cpu_target.options.parse_as_flags(Flags(), {name: value})
    except (ImportError, AttributeError, KeyError, TypeError, ValueError):
        return False
    return True


# No kernel allocates, so reference counting is off (_nrt): with it on, every array that passes a
# function boundary costs two atomic operations, which made a sweep four times slower.
_OPTIONS = {"nogil": True, "error_model": "numpy", **supported({"_nrt": False})}
_ENTRY = {**_OPTIONS, **supported({"no_cfunc_wrapper": True})}
# What only kernels call needs no way in from Python, which for tuples of arrays is long to compile.
_INNER = {**_ENTRY, **supported({"no_cpython_wrapper": True})}
_FORCE_INLINE = supported({"forceinline": True})


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first call, without the GIL; keep the code on disk if any place is writable."""
    try:
        compiled = _cached(function)
    except (RuntimeError, OSError):  # no writable place for a cache: compile in every process
        return numba.njit(**_ENTRY)(function)
    cache = getattr(compiled, "_cache", None)  # none where the same source runs as Python
    if cache is not None:
        cache.save_overload = _or_not(cache.save_overload)
    return compiled


def _cached(function: Callable[..., Any]) -> Any:
    """Compile with a cache that edited sources do not share.

    numba compares the file that defines a kernel, but not the files of the helpers in it. It names
    the files of its cache after the function, wherever it keeps them, so while it chooses that
    name the function has the digest in its own.
    """
    name = function.__qualname__
    function.__qualname__ = f"{name}-{sources_digest()}"
    try:
        compiled = numba.njit(cache=True, **_ENTRY)(function)
    finally:
        function.__qualname__ = name
    compiled.__qualname__ = name
    return compiled


@cache
def sources_digest() -> str:
    """Sixteen hexadecimal digits that change when any file changes that kernels are compiled from.

    A program frozen into one file has no sources; there numba compares the program itself.
    """
    package = resources.files("coterie")
    kernels = package / "kernels"
    sources = [package / name for name in _OTHER_SOURCES]
    sources += kernels.iterdir() if kernels.is_dir() else []
    sources = [item for item in sources if item.name.endswith(".py") and item.is_file()]
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda item: item.name):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def _or_not(save: Callable[..., None]) -> Callable[..., None]:
    """A disk that is full, or read-only since, costs the next process a compilation, not this run."""

    def save_if_possible(*args: Any) -> None:
        with contextlib.suppress(OSError):
            save(*args)

    return save_if_possible


def inlined(function: Callable[..., Any]) -> Any:
    """Compile into the caller: passing a tuple of forty arrays by value costs more than most bodies."""
    return numba.njit(**_FORCE_INLINE, **_INNER)(function)


def called(function: Callable[..., Any]) -> Any:
    """Compile as a function of its own: for cold code, or code shared by several callers."""
    return numba.njit(**_INNER)(function)


def unordered(function: Callable[..., Any]) -> Any:
    """As `called`, with sums in any order, which differs between CPUs: for bounds, never for weights."""
    return numba.njit(fastmath={"reassoc"}, **_INNER)(function)


@inlined
def mix(x):
    """Equivalent to `_rng.mix` on one number."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@inlined
def fold(state, part):
    """Fold one non-negative part of an address into the state."""
    return mix(state + (np.uint64(part) + np.uint64(1)) * _GOLDEN)


@inlined
def uniform(document_state, draw):
    """The draw-th uniform of a document whose address is folded up to `document_state`."""
    return (fold(document_state, draw) >> np.uint64(11)) * 2.0**-53


@inlined
def address(key, sweep, document):
    """Fold key, sweep and document; `uniform(address(...), draw)` equals `_rng.uniform(...)`."""
    return fold(fold(mix(np.uint64(key) + _GOLDEN), sweep), document)


@called
def log_gamma(x):
    """ln Gamma(x) for x > 0: shift to x >= 9, then Stirling's series (relative error below 1e-14).

    nan for other x, which would take as many steps to shift as they are large.
    """
    if not x > 0.0:
        return np.nan
    shift = 1.0
    while x < 9.0:
        shift *= x
        x += 1.0
    inv = 1.0 / x
    inv2 = inv * inv
    series = inv * (
        1.0 / 12.0
        - inv2 * (1.0 / 360.0 - inv2 * (1.0 / 1260.0 - inv2 * (1.0 / 1680.0 - inv2 / 1188.0)))
    )
    return (x - 0.5) * math.log(x) - x + _HALF_LOG_2PI + series - math.log(shift)


@called
def log_rising(x, steps):
    """ln [ x (x+1) ... (x+steps-1) ] = ln Gamma(x + steps) - ln Gamma(x), for x > 0."""
    if steps <= 4 and x < 1e75:  # four larger factors overflow
        product = 1.0
        for i in range(steps):
            product *= x + i
        return math.log(product)
    if steps < 0.02 * x:  # centred series: no cancellation between two large log-gammas
        centre = x + 0.5 * (steps - 1)
        return steps * math.log(centre) - rising_tail(centre, steps)
    return log_gamma(x + steps) - log_gamma(x)


@inlined
def rising_tail(centre, steps):
    """What steps * ln(centre) exceeds the log rising product by, for steps much below centre."""
    s2 = steps * (float(steps) * steps - 1.0) / 12.0
    s4 = s2 * (3.0 * float(steps) * steps - 7.0) / 20.0
    inv2 = 1.0 / (centre * centre)
    return inv2 * (0.5 * s2 + 0.25 * s4 * inv2)
