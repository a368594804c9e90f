"""Random changes to arrays, JSON and bytes: from a single bit to another type altogether."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator
NUMBERS = [0, 1, -1, 2, 3, 7, 16, 255, 2**31 - 1, -(2**31), 2**31, 2**40, 2**53, 2**62, -(2**62)]
FLOATS = [0.0, -1.0, 0.5, 1e-300, 1e300, np.nan, np.inf, -np.inf]
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("inf"),
    "", "x", "é" * 50, [], {}, [1], ["x"], {"a": 1}, [[[[[[]]]]]], [None], "GSDMM", "../x", -0.0,
]  # fmt: skip
KINDS = [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_]


def array(rng: Rng, given: Any) -> Any:
    """Another array in its place."""
    out = np.atleast_1d(given).copy()
    out = out.astype(np.uint8) if out.dtype == np.bool_ else out
    flat = out.reshape(-1)
    kind = int(rng.integers(12))
    if kind <= 4 and flat.size:
        at = rng.integers(flat.size, size=1 if kind < 3 else 1 + int(rng.integers(flat.size)))
        if out.dtype.kind == "f":
            flat[at] = FLOATS[rng.integers(len(FLOATS))] if kind else flat[at] + 1.0
        else:
            top = np.iinfo(out.dtype)
            values = flat[at].astype(np.int64) + rng.integers(-1, 2)
            if kind:
                values = np.full(at.size, NUMBERS[rng.integers(len(NUMBERS))])
            flat[at] = np.clip(values, top.min, top.max).astype(out.dtype)
        return out
    if kind == 5:
        return rng.permutation(flat).reshape(out.shape)
    if kind == 6:
        return np.roll(out, int(rng.integers(1, 4)))
    if kind == 7:
        return out[: int(rng.integers(len(out) + 1))]
    if kind == 8:
        return np.concatenate([out, out[: 1 + int(rng.integers(len(out) + 1))]])
    if kind == 9:
        with np.errstate(all="ignore"):
            return out.astype(KINDS[rng.integers(len(KINDS))])
    if kind == 10:
        return out[..., None] if rng.random() < 0.5 else np.zeros((), out.dtype)
    return out[::-1].copy()


def tree(rng: Rng, given: Any) -> Any:
    """JSON with one place changed, removed or added."""
    if isinstance(given, dict) and given and rng.random() < 0.85:
        key = list(given)[rng.integers(len(given))]
        out = dict(given)
        if rng.random() < 0.1:
            del out[key]
        elif rng.random() < 0.05:
            out[f"{key}x"] = out.pop(key)
        else:
            out[key] = tree(rng, given[key])
        return out
    if isinstance(given, list) and given and rng.random() < 0.7:
        out_list = list(given)
        at = int(rng.integers(len(given)))
        if rng.random() < 0.2:
            del out_list[at]
        elif rng.random() < 0.2:
            out_list.append(out_list[at])
        else:
            out_list[at] = tree(rng, given[at])
        return out_list
    if isinstance(given, int | float) and not isinstance(given, bool) and rng.random() < 0.4:
        return [given + 1, given - 1, -given, given * 2**31][rng.integers(4)]
    return VALUES[rng.integers(len(VALUES))]


def content(rng: Rng, given: bytes) -> bytes:
    """Bytes flipped, cut, repeated, put in or taken out."""
    out = bytearray(given)
    for _ in range(1 + int(rng.integers(3))):
        at = int(rng.integers(len(out) + 1))
        n = int(min(1 + rng.integers(1, 40), len(out) - at))
        kind = int(rng.integers(7))
        if kind == 0 and at < len(out):
            out[at] ^= 1 << int(rng.integers(8))
        elif kind == 1 and at < len(out):
            out[at] = int(rng.integers(256))
        elif kind == 2:
            out = out[:at]
        elif kind == 3:
            del out[at : at + n]
        elif kind == 4:
            out[at:at] = bytes(out[at : at + n]) * int(rng.integers(1, 4))
        elif kind == 5:
            out[at:at] = rng.bytes(int(rng.integers(1, 9)))
        else:
            marks = [
                b'"',
                b"\n",
                b"\r",
                b"\0",
                b",",
                b"\xff",
                b"{",
                b"]",
                b"\xef\xbb\xbf",
                b"9" * 30,
            ]
            out[at:at] = marks[rng.integers(len(marks))]
    return bytes(out)
