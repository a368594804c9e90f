"""Writes a table batch by batch: the user's cells as they came, followed by our columns.

The table has the file type of what was read; texts from .txt files become csv.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from coterie import _system
from coterie._sentence import beginning, counted
from coterie.errors import InvalidInput
from coterie.text import writing
from coterie.text.readers import Rows

WRITTEN = {"csv": "csv", "tsv": "tsv", "jsonl": "jsonl", "txt": "csv", "parquet": "parquet"}
# The most rows and bytes in a row group of a parquet file: when parts are joined, some twenty of them are
# in memory at a time.
GROUP, GROUP_BYTES = 50_000, 8_000_000


class TableFile:
    """A table that grows; parquet is written in parts, which become one file at the end."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, WRITTEN[kind]
        self.n_rows = 0
        self._parts: list[Path] = []
        self._group = GROUP  # rows

    def __enter__(self) -> TableFile:
        if self.kind != "parquet":
            self.path.write_bytes(b"")
        return self

    def add(self, rows: Rows, added: Mapping[str, Any]) -> None:
        """Write some rows."""
        if self.kind == "parquet":
            part = self.path.with_name(f"{self.path.name}.part-{len(self._parts):06d}")
            self._parts.append(part)
            size = max(1, rows.frame.estimated_size())
            self._group = max(1, min(self._group, GROUP, len(rows) * GROUP_BYTES // size))
            with part.open("wb") as file:
                writing.write_table(file, rows, added, "parquet", row_group=self._group)
        else:
            dialect = rows.dialect
            if dialect is not None and self.n_rows:
                dialect = dialect._replace(mark=b"")
            first = self.n_rows == 0
            with self.path.open("ab") as file:
                writing.write_table(file, rows, added, self.kind, dialect, with_header=first)
        self.n_rows += len(rows)

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._parts:
                self._join()
        finally:
            for part in self._parts:
                part.unlink(missing_ok=True)

    def _join(self) -> None:
        import polars as pl

        _system.release_memory()
        try:
            parts = pl.scan_parquet(self._parts, glob=False)
            parts.sink_parquet(self.path, row_group_size=self._group)
        except pl.exceptions.PolarsError as error:
            reason = beginning(str(error))
            raise InvalidInput(
                f"{counted(self.n_rows, 'row')} cannot be written as one parquet file ({reason})."
            ) from None
