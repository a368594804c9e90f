"""Distinct strings of texts as numbers, in the order in which they first come up.

`Few` keeps them in a dictionary, for texts so few that compiled code is not worth loading; `_distinct`
does the same for many. `spread` goes from the numbers of strings back to texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Ptr = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Item = TypeVar("Item")
Result = TypeVar("Result")

TEXT_END = 0  # the number that ends a text
MANY = 1_000_000  # characters from which compiled code is worth loading


def are_many(texts: Sequence[str]) -> bool:
    """Whether texts are worth loading compiled code, and a second thread."""
    return sum(map(len, texts)) > MANY


class Few:
    """Numbers of strings; number 0 is that of `end`, which follows every text."""

    def __init__(self, end: str) -> None:
        self._id_of: defaultdict[str, int] = defaultdict(count(1).__next__)
        self._id_of[end] = TEXT_END

    def __len__(self) -> int:
        """Number of strings, with `end`."""
        return len(self._id_of)

    def numbers(self, strings: Iterable[str]) -> Numbers:
        """The number of each string."""
        return np.fromiter(map(self._id_of.__getitem__, strings), np.int32)

    def strings(self, first: int = 0) -> list[str]:
        """All strings from this number on."""
        return list(islice(self._id_of, first, None))


def spread(
    raw: Sequence[Numbers], lengths: npt.NDArray[np.int64], part: Numbers, n_texts: int
) -> tuple[Ptr, Numbers]:
    """Put the parts of strings in their place: (where each text begins, the parts of all texts).

    `part` holds the parts of all strings, string after string, and `lengths` how many each has.
    """
    first = np.cumsum(lengths) - lengths
    ptr = np.zeros(n_texts + 1, np.int64)
    ids = np.empty(sum(int(lengths[some].sum()) for some in raw), np.int32)
    done = end = 0
    for some in raw:
        size = lengths[some]
        upto = np.cumsum(size)
        total = int(upto[-1]) if upto.size else 0
        index = np.repeat(first[some] - (upto - size), size) + np.arange(total)
        np.take(part, index, out=ids[end : end + total])
        ends = upto[some == TEXT_END]
        ptr[done + 1 : done + 1 + ends.size] = ends + end
        done, end = done + ends.size, end + total
    return ptr, ids


def in_background(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Equivalent to: map(work, items); works on one item while the next one is made."""
    before: Future[Result] | None = None
    with ThreadPoolExecutor(1) as other:
        for item in items:
            if before is not None:
                yield before.result()
            before = other.submit(work, item)
        if before is not None:
            yield before.result()
