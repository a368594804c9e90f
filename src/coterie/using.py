"""What people do with a clustering on the second day: breakdowns, drift, files, edits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import _records, breakdown, drift, editing, exporting
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
        """Compare new texts with those of the fit: without known words, and outliers."""
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

    def rename(self: Any, cluster: int, name: str) -> None:
        """Give a cluster another name, in tables, predictions, report and saved model."""
        editing.rename(self, cluster, name)

    def merge(self: Any, clusters: Sequence[int], name: str | None = None) -> int:
        """Make one cluster of several; return its number. It keeps the name of the largest one.

        After an edit, clusters are numbered by size again.
        """
        return editing.merge(self, clusters, name)

    def split(self: Any, cluster: int, into: int = 2) -> list[int]:
        """Make several clusters of one; return their numbers, the largest part first."""
        return editing.split(self, cluster, into)

    def drop_words(self: Any, words: Sequence[str]) -> None:
        """Leave words out of the model, and sample a little more from where it is."""
        editing.drop_words(self, words)

    def undo(self: Any) -> str:
        """Take the last edit back; return what it was. A loaded model starts without edits to undo."""
        return editing.undo(self)

    def name_with(
        self: Any,
        make: Callable[[list[str], list[str]], str],
        n_texts: int = 10,
        on_progress: Callable[[int, int], Any] | None = None,
    ) -> list[int]:
        """Name every cluster with a function of its words and its typical texts.

        Where the function fails or returns nothing, the cluster keeps its name; the numbers of these
        clusters are returned. `on_progress` is called with the number of clusters done, and of all.
        """
        return editing.name_with(self, make, n_texts, on_progress)
