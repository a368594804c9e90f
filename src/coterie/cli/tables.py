"""Tables as files: the user's cells exactly as they were read, followed by our columns."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli.words import printable
from coterie.errors import InvalidInput
from coterie.text._json import Objects

if TYPE_CHECKING:
    from coterie.text.readers import Rows

# characters that start a formula in spreadsheets, also in full width
_FORMULA = "^[=+\\-@\t\r\n＝＋－＠]"


def write_table(rows: Rows, added: Mapping[str, Any], path: Path, kind: str) -> None:
    """Write the user's rows and the added columns; the kind is csv, tsv, jsonl or parquet."""
    path.write_bytes(table_bytes(rows, added, kind))


def print_table(rows: Rows, added: Mapping[str, Any], kind: str | None = None) -> None:
    """Print the table; in a terminal, control characters are made visible."""
    content = table_bytes(rows, added, kind or "csv")
    if kind != "parquet" and sys.stdout.isatty():
        lines = content.decode("utf-8", "replace").split("\n")[:-1]
        content = "".join(f"{printable(line)}\n" for line in lines).encode("utf-8", "replace")
    _print_bytes(content)


def table_bytes(rows: Rows, added: Mapping[str, Any], kind: str) -> bytes:
    """A table as the bytes of a file."""
    import polars as pl

    ours = pl.DataFrame(rows.named(added))
    if kind in ("csv", "tsv"):
        header, cells = rows.source.cells() if rows.source else _cells(rows.frame)
        frame = pl.concat([cells, without_formulas(ours)], how="horizontal")
        return _csv([*header, *ours.columns], frame, "\t" if kind == "tsv" else ",")
    theirs = rows.source.exact(rows.frame) if rows.source else rows.frame
    if kind == "parquet":
        return _parquet(pl.concat([theirs, ours], how="horizontal"))
    if isinstance(rows.source, Objects):
        members = ours.write_ndjson().split("\n")[:-1]
        return "".join(f"{line}\n" for line in rows.source.lines(members)).encode()
    out = io.BytesIO()
    pl.concat([_for_json(theirs), ours], how="horizontal").write_ndjson(out)
    return out.getvalue()


def without_formulas(frame: Any) -> Any:
    """Put an apostrophe before texts that a spreadsheet would read as formulas."""
    import polars as pl

    text = pl.col(pl.String)
    return frame.with_columns(
        pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text).name.keep()
    )


def _csv(header: list[str], frame: Any, separator: str) -> bytes:
    import polars as pl

    first = pl.DataFrame({str(i): [name or None] for i, name in enumerate(header)}, strict=False)
    out = io.BytesIO()
    for part in (first, frame):
        part.write_csv(out, separator=separator, include_header=False)
    return out.getvalue()


def _parquet(frame: Any) -> bytes:
    import polars as pl

    out = io.BytesIO()
    try:
        frame.write_parquet(out)
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())
        raise InvalidInput(f"The table cannot be written as parquet ({reason}).") from None
    return out.getvalue()


def _cells(frame: Any) -> tuple[list[str], Any]:
    """(names, a frame that csv can hold): lists and structs become JSON in one cell."""
    import polars as pl

    def needs_text(dtype: Any) -> bool:
        return bool(dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object))

    return frame.columns, _as_texts(frame, needs_text)


def _for_json(frame: Any) -> Any:
    """A frame that JSON can hold: lists and structs stay, bytes become text."""
    import polars as pl

    def needs_text(dtype: Any) -> bool:
        if dtype in (pl.Binary, pl.Object):
            return True
        if isinstance(dtype, pl.Struct):
            return any(needs_text(field.dtype) for field in dtype.fields)
        return needs_text(dtype.inner) if isinstance(dtype, pl.List | pl.Array) else False

    return _as_texts(frame, needs_text)


def _as_texts(frame: Any, needs_text: Any) -> Any:
    import polars as pl

    return frame.with_columns(
        pl.Series(name, [_as_text(value) for value in frame[name].to_list()], pl.String)
        for name, dtype in frame.schema.items()
        if needs_text(dtype)
    )


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_as_text)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _print_bytes(content: bytes) -> None:
    sys.stdout.flush()
    rest = memoryview(content)
    while rest:  # with PYTHONUNBUFFERED, a write may be partial
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()
