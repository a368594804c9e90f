"""Tables as files: the user's cells exactly as they were read, followed by our columns.

A csv file goes back with the delimiter, decimal mark, line ends, encoding and byte order mark of the
file that was read.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from coterie._forks import check_threads
from coterie._sentence import beginning
from coterie.errors import InvalidInput
from coterie.text import _parquet, _workbook
from coterie.text._again import Changed
from coterie.text._as_polars import as_texts, polars_table
from coterie.text._dialect import Dialect
from coterie.text._json import Objects, OnDisk
from coterie.text._kinds import kind_in_words
from coterie.text._lazy import Frame

if TYPE_CHECKING:
    from coterie.text._csv import Cells
    from coterie.text.readers import Rows

# characters that start a formula in spreadsheets, also in full width
_FORMULA = "^[=+\\-@\t\r\n＝＋－＠]"


KINDS = ("csv", "tsv", "jsonl", "parquet", "xlsx")
CHANGED = (
    "The file was changed after its texts were read, so the table holds its values as they were read,"
    " but not always in their original notation."
)


def table_bytes(
    rows: Rows,
    added: Mapping[str, Any],
    kind: str,
    dialect: Dialect | None = None,
    pick: list[int] | None = None,
) -> bytes:
    """A table as the bytes of a file: see `write_table`."""
    out = io.BytesIO()
    write_table(out, rows, added, kind, dialect, pick)
    return out.getvalue()


def write_table(
    out: BinaryIO,
    rows: Rows,
    added: Mapping[str, Any],
    kind: str,
    dialect: Dialect | None = None,
    pick: list[int] | None = None,
    with_header: bool = True,
    row_group: int | None = None,
) -> None:
    """Write a table to an open file; `pick` are the numbers of the rows to write.

    Without a header, a csv or tsv file is the continuation of another one. `row_group`: the most rows in
    a row group of a parquet file.
    """
    import polars as pl

    check_threads()
    if kind == "xlsx":
        frame = sheet(rows, added)
        out.write(_workbook.workbook({"table": frame if pick is None else frame[pick]}))
        return
    if kind == "jsonl":
        _write_jsonl(out, rows, rows.named(added), pick)
        return
    ours = pl.DataFrame(rows.named(added)).cast({pl.Null: pl.String})  # names, if there are no rows
    if kind in ("csv", "tsv"):
        source = _source(rows)
        header, cells = source.cells() if source else _cells(polars_table(rows.frame))
        frame = pl.concat([cells, without_formulas(ours)], how="horizontal")
        frame = frame if pick is None else frame[pick]
        names = [*header, *ours.columns] if with_header else []
        write_csv(out, names, frame, kind, dialect or rows.dialect)
    else:
        frame = pl.concat([_theirs(rows), ours], how="horizontal")
        _write_parquet(out, frame if pick is None else frame[pick], row_group)


def _write_jsonl(
    out: BinaryIO, rows: Rows, columns: dict[str, Any], pick: list[int] | None
) -> None:
    import polars as pl

    if isinstance(rows.source, OnDisk) and pick is None:
        try:
            rows.source.write(Frame(columns, len(rows)), out)
            return
        except Changed:
            _note_change(rows)
            rows = replace(rows, source=None)
    source = _source(rows)
    if isinstance(source, Objects) and pick is None:
        source.write(Frame(columns, len(rows)), out)
        return
    ours = pl.DataFrame(columns)
    if isinstance(source, Objects) and pick is not None:
        lines = source.lines(ours.write_ndjson().split("\n")[:-1])
        out.write("".join(f"{lines[i]}\n" for i in pick).encode())
    else:
        theirs = _theirs(rows)
        _note_infinite(rows, theirs)
        frame = pl.concat([_for_json(theirs), ours], how="horizontal")
        (frame if pick is None else frame[pick]).write_ndjson(out)


def opened(rows: Rows) -> Rows:
    """The same rows, whose cells are not read from the disk again each time that they are written."""
    return replace(rows, source=_source(rows)) if isinstance(rows.source, OnDisk) else rows


def _source(rows: Rows) -> Cells | Objects | None:
    """The cells as in the file; None if there was no file, or if it has changed since."""
    if not isinstance(rows.source, OnDisk):
        return rows.source
    try:
        return rows.source.opened()
    except Changed:
        _note_change(rows)
        return None


def _note_change(rows: Rows) -> None:
    if CHANGED not in rows.notes:
        rows.notes.append(CHANGED)


def _note_infinite(rows: Rows, frame: Any) -> None:
    """Say which columns have values that JSON does not."""
    odd = [
        repr(column.name)
        for column in frame
        if column.dtype.is_float() and not column.alias("").is_finite().all()
    ]
    note = (
        f"JSON has no NaN and no infinity, so they are null in the .jsonl file: {', '.join(odd)}."
    )
    if odd and note not in rows.notes:
        rows.notes.append(note)


def _theirs(rows: Rows) -> Any:
    """The user's table, with columns as exact as they can be."""
    if rows.source:
        try:
            return rows.source.exact(rows.frame)
        except Changed:
            _note_change(rows)
    return polars_table(rows.frame)


def sheet(rows: Rows, added: Mapping[str, Any]) -> Any:
    """The table as a DataFrame for a sheet of Excel; notes say what Excel cannot hold."""
    import polars as pl

    check_threads()
    ours = pl.DataFrame(rows.named(added))
    frame, notes = _workbook.for_excel(pl.concat([_theirs(rows), ours], how="horizontal"))
    rows.notes.extend(note for note in notes if note not in rows.notes)
    return frame


def frame_bytes(frame: Any, kind: str, dialect: Dialect | None = None) -> bytes:
    """A polars DataFrame of ours as the bytes of a file; lists become texts where need be."""
    check_threads()
    if kind == "xlsx":
        return _workbook.workbook({"table": frame})
    if kind == "parquet":
        out = io.BytesIO()
        _write_parquet(out, frame)
        return out.getvalue()
    if kind == "jsonl":
        return str(_for_json(frame).write_ndjson()).encode()
    header, cells = _cells(frame)
    return csv_bytes(header, without_formulas(cells), kind, dialect)


def without_formulas(frame: Any) -> Any:
    """Put an apostrophe before texts that a spreadsheet would read as formulas."""
    import polars as pl

    text = pl.col(pl.String)
    return frame.with_columns(
        pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text).name.keep()
    )


def csv_bytes(header: list[str], frame: Any, kind: str, dialect: Dialect | None) -> bytes:
    """A DataFrame as csv or tsv: see `write_csv`."""
    out = io.BytesIO()
    write_csv(out, header, frame, kind, dialect)
    return out.getvalue()


def write_csv(
    out: BinaryIO, header: list[str], frame: Any, kind: str, dialect: Dialect | None
) -> None:
    """Write a DataFrame as csv or tsv, as the user's file was written; no names: no header."""
    import polars as pl

    how = dialect or Dialect()
    if kind == "tsv" or how.separator == "\t":
        how = how._replace(separator="\t" if kind == "tsv" else ",")
    first = pl.DataFrame({str(i): [name or None] for i, name in enumerate(header)}, strict=False)
    text = out if how.encoding == "utf-8" else io.BytesIO()
    text.write(how.mark if text is out else b"")
    for part in (first, frame) if header else (frame,):
        part.write_csv(
            text,
            separator=how.separator,
            include_header=False,
            line_terminator=how.line_end,
            decimal_comma=how.decimal_comma and how.separator != ",",
        )
    if isinstance(text, io.BytesIO) and text is not out:
        out.write(how.encode(text.getvalue()))


def _write_parquet(out: BinaryIO, frame: Any, row_group: int | None = None) -> None:
    import polars as pl

    try:
        _parquet.write(out, frame, row_group)
    except pl.exceptions.PolarsError as error:
        odd = [column for column in frame if not _parquet.fits(column)]
        if len(odd) in (0, frame.width):  # then it is not a matter of columns
            said = f"The table cannot be written as parquet ({beginning(str(error))})."
            raise InvalidInput(said) from None
        raise InvalidInput(
            f"The table cannot be written as parquet: the column {odd[0].name!r} holds"
            f" {kind_in_words(odd[0].dtype)}. Turn it into texts first, or write a .csv or .jsonl file."
        ) from None


def _cells(frame: Any) -> tuple[list[str], Any]:
    """(names, a frame that csv can hold): lists and structs become JSON in one cell."""
    import polars as pl

    def needs_text(dtype: Any) -> bool:
        return bool(dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object))

    shown = frame.with_columns(pl.col(pl.Time).dt.to_string("%H:%M:%S%.f"))  # no 12:00:00.000000000
    return frame.columns, _as_texts(shown, needs_text)


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
    return frame.with_columns(
        as_texts(frame[name]) for name, dtype in frame.schema.items() if needs_text(dtype)
    )
