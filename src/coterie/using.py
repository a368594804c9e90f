"""What people do with a clustering on the second day: breakdowns, drift, files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import _records, breakdown, drift, exporting
from coterie.breakdown import Breakdown
from coterie.drift import Drift


class Uses:
    """Methods of `Clustering` that need nothing but its parts."""

    if TYPE_CHECKING:
        rows: Any

    def by(self: Any, column: str) -> Breakdown:
        """Count the groups in each value of a column of your table, and say what stands out."""
        return breakdown.by(self, column)

    def over(self: Any, column: str, every: str | None = None) -> Breakdown:
        """Count the groups per hour, day, week, month or year of a column with times.

        `every` is found from the times if it is not given. `changes` says what is new, growing or gone.
        """
        return breakdown.over(self, column, every)

    def drift(self: Any, texts: Sequence[str]) -> Drift:
        """Compare new texts with those of the fit: without known words, and stranger than usual."""
        added = self.added_to(texts)
        return drift.measure(self, added["cluster"], added["outlier_score"])

    @cached_property
    def fingerprint(self) -> str:
        """16 digits that change if a text or the order of the texts changes."""
        return _records.fingerprint(self.rows.texts)

    def write(self: Any, path: str | os.PathLike[str], per_group: bool = False) -> Path:
        """Write the table to a .csv, .tsv, .jsonl, .parquet or .xlsx file, by its ending.

        An .xlsx file has a second sheet with the clusters, and with `per_group` a sheet per group.
        """
        exporting.write(self, Path(path), per_group)
        return Path(path)
