"""A sample of rows that are read once, batch by batch; it does not depend on the batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie import _rng
from coterie.sample_start import START_SWEEP
from coterie.text.batches import joined_frames, some_rows
from coterie.text.readers import Rows

MOST_CHARACTERS = 50_000_000  # of all texts of a sample, which is in memory
FEWEST = 100  # rows, however long they are


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
        drawn = _rng.uniform(self.key, START_SWEEP, numbers, _rng.DRAW_SCAN)
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
        order = np.argsort(self._drawn, kind="stable")
        fit = int(np.searchsorted(np.cumsum(self._size[order]), MOST_CHARACTERS, side="right"))
        n_rows = min(self.n_rows, max(fit, FEWEST))
        if self._drawn.size > n_rows:
            self._below = float(self._drawn[order[n_rows]])  # a smaller number may still come in
            kept = np.sort(order[:n_rows])
            frame = some_rows(frame, self.columns, kept)
            self._drawn, self.rows = self._drawn[kept], self.rows[kept]
            self._size = self._size[kept]
        self._parts = [frame]
