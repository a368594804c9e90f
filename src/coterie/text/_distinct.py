"""Distinct strings of many texts, numbered by compiled code; see `_numbering`.

In: the bytes of texts, part after part. Out: numbers, and for each number its string. Only distinct
strings are ever objects, so cutting a million texts costs no more than reading them.
"""

from __future__ import annotations

import secrets
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.kernels import cutting
from coterie.text._numbering import Numbers

_SEED = np.uint64(secrets.randbits(64))
_ROOM, _BYTES = 1 << 10, 1 << 14  # strings, and their bytes, at first
_AT_ONCE = 1 << 16  # numbers that a kernel writes before it is asked again


class Distinct:
    """Numbers of strings; number 0 is `end`, which stands for the end of a text."""

    def __init__(self, end: bytes) -> None:
        self._strings = cutting.Strings(
            _SEED,
            np.zeros(2 * _ROOM, np.uint64),
            np.zeros(_ROOM, np.int64),
            np.empty(_BYTES, np.uint8),
            np.ones(1, np.int64),
        )
        self._strings.held[: len(end)] = np.frombuffer(end, np.uint8)
        self._strings.start[1] = len(end)
        cutting.refill(self._strings)

    def __len__(self) -> int:
        """Number of strings."""
        return int(self._strings.used[0])

    @property
    def n_bytes(self) -> int:
        """Bytes of all strings."""
        return int(self._strings.start[len(self)])

    def words(self, text: bytes, kind: npt.NDArray[np.uint8]) -> list[Numbers]:
        """The words of a text, by what `kind` says of each character; see `cutting.words`."""
        return self._all(cutting.words, text, kind)

    def pieces(self, text: bytes) -> list[Numbers]:
        """The pieces of texts between spaces; see `cutting.pieces`."""
        return self._all(cutting.pieces, text)

    def strings(self, first: int = 0) -> list[str]:
        """All strings from this number on."""
        start = self._strings.start[first : len(self) + 1]
        held = self._strings.held[start[0] : start[-1]].tobytes()
        ends = (start - start[0]).tolist()
        return [held[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]

    def _all(self, scan: Any, text: bytes, *how: Any) -> list[Numbers]:
        """What the kernel `scan` finds in all of a text."""
        data = np.frombuffer(text, np.uint8)
        out = np.empty(min(data.size, _AT_ONCE), np.int32)
        found, at = [], 0
        while at < data.size:
            at, n = scan(data, at, *how, self._strings, out)
            found.append(out[:n].copy())
            if at < data.size and n < out.size:
                self._grow(data.size - at)
        return found

    def _grow(self, n_bytes: int) -> None:
        """Make room for another string, of at most so many bytes."""
        old, n = self._strings, len(self)
        if n + 1 >= old.start.size:
            start = np.zeros(2 * old.start.size, np.int64)
            start[: n + 1] = old.start[: n + 1]
            self._strings = old._replace(start=start, slot=np.zeros(2 * start.size, np.uint64))
            cutting.refill(self._strings)
        if self.n_bytes + n_bytes > old.held.size:
            held = np.empty(max(2 * old.held.size, self.n_bytes + n_bytes), np.uint8)
            held[: self.n_bytes] = old.held[: self.n_bytes]
            self._strings = self._strings._replace(held=held)
