"""Vectors that are made when they are read: those of an array, and the means of token vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from coterie.embedders._base import Vectors, slices
from coterie.kernels import averaging

Ids = npt.NDArray[np.int32]
Ptr = npt.NDArray[np.int64]
Table = npt.NDArray[np.float32] | npt.NDArray[np.float64]

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

    `tokens` are, for some texts after the other, where each text begins and the ids of all tokens. They
    are overwritten. `table` gives the vectors of some ids. Means are computed in double precision, token
    after token.
    """

    def __init__(
        self, tokens: Sequence[tuple[Ptr, Ids]], n_ids: int, table: Callable[[Ptr], Table]
    ) -> None:
        used = np.zeros(n_ids, bool)
        for _, ids in tokens:
            used[ids] = True
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        self._tokens = tokens
        for _, ids in tokens:
            ids[:] = number[ids]
        self._table = np.ascontiguousarray(table(np.flatnonzero(used)))
        self._parts: list[tuple[int, slice]] = []
        self.blocks: list[slice] = []
        start = 0
        for part, (ptr, _) in enumerate(tokens):
            self._parts += [(part, some) for some in slices(0, ptr.size - 1)]
            self.blocks += slices(start, start + ptr.size - 1)
            start += ptr.size - 1
        self.shape = (start, self._table.shape[1])

    def read(self, i: int) -> Vectors:
        """The means of a block of texts."""
        part, some = self._parts[i]
        ptr, ids = self._tokens[part]
        ptr = ptr[some.start : some.stop + 1]
        vectors = np.empty((ptr.size - 1, self.shape[1]), np.float32)
        averaging.means(ptr, ids, self._table, np.empty(self.shape[1]), vectors)
        return vectors


def to_array(rows: TokenRows, out: Vectors) -> None:
    """Write all rows into an array."""
    for i, some in enumerate(rows.blocks):
        out[some] = rows.read(i)


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
