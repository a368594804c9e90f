"""Vectors that are made when they are read: those of an array, and the means of token vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.embedders._base import Vectors, slices
from coterie.kernels import averaging

Ids = npt.NDArray[np.int32]
Ptr = npt.NDArray[np.int64]
Table = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Tokens = tuple[Ptr, Ids]

_WORTH = 4  # blocks that are worth a thread


class ArrayRows:
    """The rows of an array."""

    def __init__(self, array: Vectors) -> None:
        self.shape = (len(array), array.shape[1])
        self.blocks = slices(0, len(array))
        self._array = array

    def read(self, i: int) -> Vectors:
        """A view of the array."""
        return self._array[self.blocks[i]]


class TokenRows:
    """The mean vector of each text's tokens; zeros for a text without any.

    `parts` are consecutive texts: where each of them begins and the ids of all their tokens, which are
    overwritten, or vectors that are means already. `table` gives the vectors of some ids. Means are
    computed in double precision, token after token.
    """

    def __init__(self, parts: Sequence[Tokens | Vectors], n_ids: int, table: Any) -> None:
        all_ids = [part[1] for part in parts if isinstance(part, tuple)]
        used = np.zeros(n_ids, bool)
        for ids in all_ids:
            used[ids] = True
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        for ids in all_ids:
            ids[:] = number[ids]
        self._table: Table = np.ascontiguousarray(table(np.flatnonzero(used)))
        self._of_block: list[tuple[Tokens | Vectors, slice]] = []
        self.blocks: list[slice] = []
        start = 0
        for part in parts:
            n = part[0].size - 1 if isinstance(part, tuple) else len(part)
            self._of_block += [(part, some) for some in slices(0, n)]
            self.blocks += slices(start, start + n)
            start += n
        self.shape = (start, self._table.shape[1])

    def read(self, i: int) -> Vectors:
        """The means of a block of texts."""
        part, some = self._of_block[i]
        if not isinstance(part, tuple):
            return part[some]
        ptr = part[0][some.start : some.stop + 1]
        vectors = np.empty((ptr.size - 1, self.shape[1]), np.float32)
        averaging.means(ptr, part[1], self._table, np.empty(self.shape[1]), vectors)
        return vectors

    def write(self, out: Vectors) -> None:
        """Write all rows into an array."""
        for i, some in enumerate(self.blocks):
            out[some] = self.read(i)


def in_threads(work: Callable[[int, int], None], n: int, n_threads: int) -> None:
    """Call work(i, thread) for every i below n; this thread is number 0 and does its part, too."""
    n_threads = max(1, min(n_threads, n // _WORTH))
    left, stopped = iter(range(n)), threading.Event()

    def serve(thread: int) -> None:
        try:
            while not stopped.is_set() and (i := next(left, None)) is not None:
                work(i, thread)
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(n_threads) as pool:  # starts no thread that it is not asked for
        try:
            others = [pool.submit(serve, thread) for thread in range(1, n_threads)]
            serve(0)
            for other in others:
                other.result()
        finally:
            stopped.set()
