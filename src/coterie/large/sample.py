"""A sample of rows that are read once, batch by batch; it does not depend on the batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie.sample_start import START_SWEEP
from coterie.text.batches import joined_frames, some_rows
from coterie.text.readers import Rows

MOST_CHARACTERS = 50_000_000  # of all texts of a sample, which is in memory
FEWEST = 100  # rows, however long they are


def draw(key: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The number of each row, given by its place in the whole table."""
    return _rng.uniform(key, START_SWEEP, rows, _rng.DRAW_SCAN) if rows.size else np.zeros(0)


def first_rows(
    drawn: npt.NDArray[np.float64], size: npt.NDArray[np.int64], n_rows: int
) -> tuple[npt.NDArray[np.int64], float | None]:
    """Those with the smallest numbers, at most so many rows and characters, in order.

    Returns the smallest number of the others, too (None: there are no others). What is not taken from
    some rows is not taken from more of them either, so a sample may be thinned at any time.
    """
    order = np.argsort(drawn, kind="stable")
    fit = int(np.searchsorted(np.cumsum(size[order]), MOST_CHARACTERS, side="right"))
    most = min(n_rows, max(fit, FEWEST))
    below = float(drawn[order[most]]) if drawn.size > most else None
    return np.sort(order[:most]), below


class Drawn(NamedTuple):
    """Rows that may become the sample; see `first_rows`.

    What was cut stays cut: rows with larger numbers than one that did not fit are not taken from more
    rows either, not even in the room that a long text leaves when smaller numbers displace it.
    """

    drawn: npt.NDArray[np.float64]
    size: npt.NDArray[np.int64]  # characters
    rows: npt.NDArray[np.int64]  # their numbers within all partitions
    n_rows: int  # of the sample
    below: float = 1.0  # the sample has no row whose number is not below this

    def thinned(self) -> Drawn:
        """Those that the sample takes if there are no others."""
        fit = self._at(np.flatnonzero(self.drawn < self.below))
        kept, below = first_rows(fit.drawn, fit.size, fit.n_rows)
        return fit if below is None else fit._at(kept)._replace(below=below)

    def joined(self, other: Drawn) -> Drawn:
        """Those that the sample takes of both."""
        drawn = np.concatenate([self.drawn, other.drawn])
        size = np.concatenate([self.size, other.size])
        rows = np.concatenate([self.rows, other.rows])
        return Drawn(drawn, size, rows, self.n_rows, min(self.below, other.below)).thinned()

    def _at(self, places: npt.NDArray[np.int64]) -> Drawn:
        return self._replace(
            drawn=self.drawn[places], size=self.size[places], rows=self.rows[places]
        )


class Sample:
    """The rows with the smallest numbers, each drawn at the address of its row."""

    def __init__(self, n_rows: int, key: int, columns: list[str]) -> None:
        self.n_rows, self.key, self.columns = n_rows, key, columns
        self.seen = 0
        self.rows = np.zeros(0, np.int64)  # their numbers
        self._parts: list[Any] = []
        self._drawn = np.zeros(0)
        self._size = np.zeros(0, np.int64)  # characters
        self._below = 1.0

    def add(self, rows: Rows) -> None:
        """Look at the next rows."""
        numbers = np.arange(self.seen, self.seen + len(rows))
        self.seen += len(rows)
        drawn = draw(self.key, numbers)
        taken = np.flatnonzero(drawn < self._below)
        if taken.size:
            self._parts.append(some_rows(rows.frame, self.columns, taken))
            self._drawn = np.concatenate([self._drawn, drawn[taken]])
            self.rows = np.concatenate([self.rows, numbers[taken]])
            size = [len(rows.texts[i]) for i in taken.tolist()]
            self._size = np.concatenate([self._size, np.array(size, np.int64)])
        if self._drawn.size > 2 * self.n_rows or self._size.sum() > 2 * MOST_CHARACTERS:
            self._thin()

    def frame(self) -> Any:
        """The rows of the sample, in order."""
        self._thin()
        return self._parts[0]

    def _thin(self) -> None:
        frame = joined_frames(self._parts)
        kept, below = first_rows(self._drawn, self._size, self.n_rows)
        if below is not None:
            self._below = below  # a smaller number may still come in
            frame = some_rows(frame, self.columns, kept)
            self._drawn, self.rows = self._drawn[kept], self.rows[kept]
            self._size = self._size[kept]
        self._parts = [frame]
