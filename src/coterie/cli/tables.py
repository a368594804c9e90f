"""Tables of a command: written to a file or to standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli.words import printable
from coterie.text import writing
from coterie.text._dialect import Dialect
from coterie.text.writing import table_bytes, without_formulas

if TYPE_CHECKING:
    from coterie.text.readers import Rows

__all__ = ["print_table", "table_bytes", "without_formulas", "write_table"]


def write_table(rows: Rows, added: Mapping[str, Any], path: Path, kind: str) -> None:
    """Write the user's rows and the added columns; the kind is one of `writing.KINDS`."""
    with path.open("wb") as file:
        writing.write_table(file, rows, added, kind)


def print_table(
    rows: Rows, added: Mapping[str, Any], kind: str | None = None, with_header: bool = True
) -> None:
    """Print the table as UTF-8; in a terminal, control characters are made visible."""
    plain = (rows.dialect or Dialect())._replace(encoding="utf-8", mark=b"", line_end="\n")
    out = io.BytesIO()
    writing.write_table(out, rows, added, kind or "csv", plain, with_header=with_header)
    content = out.getvalue()
    if kind not in ("parquet", "xlsx") and sys.stdout.isatty():
        lines = content.decode("utf-8", "replace").split("\n")[:-1]
        content = "".join(f"{printable(line)}\n" for line in lines).encode("utf-8", "replace")
    _print_bytes(content)


def _print_bytes(content: bytes) -> None:
    sys.stdout.flush()
    rest = memoryview(content)
    while rest:  # with PYTHONUNBUFFERED, a write may be partial
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
