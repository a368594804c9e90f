"""A sample of rows that are read once, batch by batch; it does not depend on the batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie import _rng
from coterie.text.batches import joined_frames, some_rows
from coterie.text.readers import Rows

START_SWEEP = 0  # the address of what is drawn here


class Sample:
    """The rows with the smallest numbers, each drawn at the address of its row."""

    def __init__(self, n_rows: int, key: int, columns: list[str]) -> None:
        self.n_rows, self.key, self.columns = n_rows, key, columns
        self.seen = 0
        self.rows = np.zeros(0, np.int64)  # their numbers
        self._parts: list[Any] = []
        self._drawn = np.zeros(0)
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
        if self._drawn.size > 2 * self.n_rows:
            self._thin()

    def frame(self) -> Any:
        """The rows of the sample, in order."""
        self._thin()
        return self._parts[0]

    def _thin(self) -> None:
        frame = joined_frames(self._parts)
        if self._drawn.size > self.n_rows:
            kept = np.sort(np.argpartition(self._drawn, self.n_rows - 1)[: self.n_rows])
            frame = some_rows(frame, self.columns, kept)
            self._drawn, self.rows = self._drawn[kept], self.rows[kept]
            self._below = float(self._drawn.max())
        self._parts = [frame]
