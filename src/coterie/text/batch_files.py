"""Writes a table batch by batch: the user's cells as they came, followed by our columns.

The table has the file type of what was read; texts from .txt files become csv.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.text import writing
from coterie.text.readers import Rows

WRITTEN = {"csv": "csv", "tsv": "tsv", "jsonl": "jsonl", "txt": "csv", "parquet": "parquet"}


class TableFile:
    """A table that grows; parquet is written in parts, which become one file at the end."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, WRITTEN[kind]
        self.n_rows = 0
        self._parts: list[Path] = []

    def __enter__(self) -> TableFile:
        if self.kind != "parquet":
            self.path.write_bytes(b"")
        return self

    def add(self, rows: Rows, added: Mapping[str, Any]) -> None:
        """Write some rows."""
        if self.kind == "parquet":
            part = self.path.with_name(f"{self.path.name}.part-{len(self._parts):06d}")
            self._parts.append(part)
            part.write_bytes(writing.table_bytes(rows, added, "parquet"))
        else:
            dialect = rows.dialect
            if dialect is not None and self.n_rows:
                dialect = dialect._replace(mark=b"")
            content = writing.table_bytes(
                rows, added, self.kind, dialect, with_header=self.n_rows == 0
            )
            with open(self.path, "ab") as file:
                file.write(content)
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

        try:
            pl.scan_parquet(self._parts, glob=False).sink_parquet(self.path)
        except pl.exceptions.PolarsError as error:
            reason = " ".join(str(error).split())[:200]
            raise InvalidInput(
                f"{counted(self.n_rows, 'row')} cannot be written as one parquet file ({reason})."
            ) from None
