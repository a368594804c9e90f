"""Reads the user's texts into `Rows`: the texts, and the table they came from.

In: a list, a Series, a DataFrame (pandas, polars, pyarrow: anything narwhals supports), a path, "-"
for standard input, or an open file. Out: one text per row ("" if it is missing) and the user's own
table, to which `with_columns` adds columns. The text column is guessed if it is obvious.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from coterie._forks import check_threads
from coterie._sentence import counted, example
from coterie.errors import InvalidInput, NoRows
from coterie.text import _doubts, _files, _json, _parquet, _several
from coterie.text._again import Changed
from coterie.text._as_polars import as_texts, polars_series
from coterie.text._columns import (
    chosen,
    column,
    column_names,
    joined,
    names_as_texts,
    need,
    texts_of,
)
from coterie.text._csv import Cells
from coterie.text._dialect import Dialect
from coterie.text._guessing import guess
from coterie.text._lazy import Column
from coterie.text._names import IDS
from coterie.text.writing import CHANGED

OF_EARLIER = (
    "The model was saved by an earlier version of coterie, so its table holds the values as they were"
    " read, but not always in their original notation."
)
ROW_GROUP = 2**15  # rows of a saved table that are packed together, in memory

Source = Cells | _json.Objects | _json.OnDisk | None


@dataclass
class Rows:
    """The user's rows: the texts to cluster, and the table they came from."""

    texts: Sequence[str]  # "" where the text is missing or blank
    column: Any  # the column of `frame` with the texts, or several as a tuple
    n_missing: int
    ids: Sequence[Any] | None
    notes: list[str]  # sentences for the user
    frame: Any = field(repr=False)  # the user's own table, or a polars DataFrame
    id_column: str | None = None  # the column of `frame` with the ids
    source: Source = field(default=None, repr=False)  # the cells as in the file
    dialect: Dialect | None = None  # how the csv file was written
    lost: Sequence[str] = ()  # notes about what a saved model did not keep

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.texts)

    @property
    def saved_column(self) -> str | list[str] | None:
        """The column with the texts, or several, as plain data for JSON."""
        if isinstance(self.column, tuple):
            return [_json.whole(str(name)) for name in self.column]
        return None if self.column is None else _json.whole(str(self.column))

    def with_columns(self, new: Mapping[str, Any]) -> Any:
        """Return the user's table with columns added, as the same type of table.

        If one of the new names is taken, all new columns are called coterie_..., so that they can be
        recognised together, and a note says so.
        """
        columns = self.named(new)
        if hasattr(self.frame, "assign"):  # pandas and similar: keeps the index
            return self.frame.assign(**columns)
        import narwhals as nw
        import polars as pl

        if isinstance(self.frame, pl.DataFrame):
            # without threads, so that it works in a fork as well
            return self.frame.hstack([pl.Series(name, held) for name, held in columns.items()])
        frame = nw.from_native(self.frame, eager_only=True)
        backend = nw.get_native_namespace(frame)
        added = [nw.new_series(name, values, backend=backend) for name, values in columns.items()]
        return frame.with_columns(*added).to_native()

    def named(self, new: Mapping[str, Any]) -> dict[str, Any]:
        """Rename new columns if the user's table already has columns of these names, and add a note."""
        names = self.names_for(new)
        if names != list(new):
            note = f"Your table already has a column of that name, so the new ones are {', '.join(names)}."
            if note not in self.notes:
                self.notes.append(note)
        return dict(zip(names, new.values(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """What `write_parquet` and `write_objects` do not say, as plain data for JSON."""
        cells = self.source.to_dict(self.frame) if isinstance(self.source, Cells) else None
        return {
            "lost": list(self.lost),
            "n_columns": len(column_names(self.frame)),
            "dialect": None if self.dialect is None else self.dialect.to_dict(),
            "cells": cells,
            "has_objects": self.has_objects,
        }

    @property
    def has_objects(self) -> bool:
        """Whether the rows were JSON objects."""
        return isinstance(self.source, _json.Objects | _json.OnDisk)

    def write_objects(self, out: BinaryIO) -> bool:
        """Write the JSON objects as they were read; False if their file has changed since."""
        if not isinstance(self.source, _json.Objects | _json.OnDisk):
            return False
        try:
            out.writelines(self.source.pieces())
        except Changed:
            return False
        return True

    def write_parquet(self, out: BinaryIO) -> None:
        """Write the user's table as a parquet file, with the cells of a csv file as they were read.

        Columns that parquet cannot hold are written as texts, or left out if they have none.
        """
        import polars as pl

        check_threads()
        if isinstance(self.frame, pl.DataFrame):
            start = out.tell()
            try:
                frame = (
                    self.source.exact(self.frame) if isinstance(self.source, Cells) else self.frame
                )
                _parquet.write(out, frame, ROW_GROUP)
                return
            except OSError:
                raise
            except Exception:  # a column that parquet cannot hold: one by one
                out.seek(start)
                out.truncate()
        columns = []
        for name in column_names(self.frame):
            try:
                native = polars_series(column(self.frame, name), _json.whole(str(name)))
            except Exception:  # tables may hold arbitrary objects
                continue
            if native.dtype != pl.Object:
                columns.append(native if _parquet.fits(native) else as_texts(native))
        _parquet.write(out, pl.DataFrame(columns), ROW_GROUP)

    def names_for(self, new: Iterable[str]) -> list[str]:
        """The names that `with_columns` gives to new columns."""
        wanted = list(new)
        taken = {str(column) for column in column_names(self.frame)}
        names, n = wanted, 1
        while not taken.isdisjoint(names):
            names = [f"coterie_{name}" + (f"_{n}" if n > 1 else "") for name in wanted]
            n += 1
        return names


def from_parquet(
    content: bytes,
    column: Any,
    id: Any,
    n_rows: int,
    about: Any = None,
    objects: Callable[[], Iterator[bytes]] | None = None,
) -> Rows:
    """Read the output of `write_parquet`, `to_dict` and `write_objects`; ValueError for anything else.

    Earlier versions wrote the first one alone.
    """
    named = column if isinstance(column, list) and column else [column]
    if not (all(isinstance(name, str) for name in named) and (id is None or isinstance(id, str))):
        raise ValueError("its columns are not named")
    frame = _parquet.read(content, "It", n_rows)
    if about is None:
        rows = _from_frame(frame, column, id, [OF_EARLIER])
        rows.lost = [OF_EARLIER]
        return rows
    lost = [str(note) for note in about["lost"]]
    source: Source = None
    n_lost = int(about["n_columns"]) - frame.width
    if n_lost > 0:
        lost.append(
            f"The saved model is without {counted(n_lost, 'column')} of your table, whose values no file"
            " can hold."
        )
    if about["cells"] is not None:
        frame, source = Cells.reopened(frame, about["cells"])
    elif objects is not None:
        source = _json.reopened(objects, frame.columns, n_rows)
    elif about["has_objects"]:
        lost.append(CHANGED)
    rows = _from_frame(frame, column, id, list(lost), source)
    rows.lost = lost
    rows.dialect = None if about["dialect"] is None else Dialect.from_dict(about["dialect"])
    return rows


def read(
    data: Any,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> Rows:
    """Read texts from a list, a table, a file or a stream.

    `text` and `id` are column names; several for `text` are read as one. `encoding` is that of the file,
    and `header` says whether the first line of a csv file holds the column names (None: detect it).
    `sheet` is the sheet of an Excel file (None: the first one with rows).
    """
    if isinstance(data, Rows):
        return data
    paths = _several.paths(data)
    if paths or isinstance(data, str | os.PathLike) or hasattr(data, "read"):
        name = str(getattr(data, "name", data))[:80]
        with _files.errors_as_sentences("standard input" if data == "-" else name):
            of_text = text.split(",") if isinstance(text, str) else list(text or ())
            asked = tuple(n for n in (text, id, *of_text) if isinstance(n, str))
            wanted = _files.Wanted(encoding, header, asked, sheet)
            loaded = _several.load(paths, wanted) if paths else _files.load(data, wanted)
            rows = _from_frame(loaded.frame, text, id, loaded.notes, loaded.source, loaded.added)
            rows.dialect = loaded.dialect
            return rows
    for name, given, files in (
        ("header", header, "csv and tsv"),
        ("sheet", sheet, "Excel"),
    ):
        if given is not None:
            raise InvalidInput(
                example(name, given)
                + f" only applies to {files} files, but the data is a {type(data).__name__}."
                " Leave it out."
            )
    if isinstance(data, bytes | dict | set | frozenset):
        raise InvalidInput(
            f"The data is a {type(data).__name__}. Pass a list of texts, a table (pandas, polars) or the"
            " path of a file."
        )
    with _files.errors_as_sentences(
        "The data", "change or remove the column that causes the error"
    ):
        frame, is_series = _as_frame(data)
        if frame is not None:
            if is_series and text is None:
                text = column_names(frame)[0]
            return _from_frame(frame, text, id, [])
    if text is not None or id is not None:
        raise InvalidInput(
            example("text", text)
            + " and "
            + example("id", id)
            + f" are column names, but the data is a {type(data).__name__}, which has no columns. Leave"
            " them out, or pass a table."
        )
    return _from_list(data)


# ---------------------------------------------------------------- lists and frames
def _from_list(data: Any) -> Rows:
    import polars as pl

    try:
        values = data.tolist() if hasattr(data, "tolist") else list(data)
    except TypeError:
        raise InvalidInput(
            f"The data is a {type(data).__name__}. Pass a list of texts, a table or a path."
        ) from None
    if not isinstance(values, list) or not values:
        raise NoRows("The data is empty: there are no texts to cluster.")
    texts, n_missing, others = texts_of(values)
    if others:
        row, kind = others[0], type(values[others[0]]).__name__
        raise InvalidInput(
            f"Item {row} of the data is a {kind}, not a text. Pass strings, and None or '' for missing"
            " texts."
        )
    frame = pl.DataFrame(
        {"text": [_json.whole(v) if isinstance(v, str) else None for v in values]},
        schema={"text": pl.String},
    )
    return Rows(texts, "text", n_missing, None, [], frame)


def is_dask(data: Any) -> bool:
    """Whether this is a Dask DataFrame or Series; an error for other collections of Dask."""
    kind = type(data)  # a Delayed has any attribute
    if all(hasattr(kind, name) for name in ("to_delayed", "npartitions", "head")):
        return True
    if kind.__module__.startswith(("dask.", "dask_expr.", "distributed.")):
        raise InvalidInput(
            f"The data is of Dask's type {kind.__name__.removesuffix('Leaf')}. Pass a Dask DataFrame"
            " instead: dask.dataframe.from_delayed(), to_dataframe() of a Bag and"
            " dask.dataframe.from_dask_array() make one."
        )
    return False


def from_piece(frame: Any, text: Any, id: str | None, source: Any = None) -> Rows:
    """The rows of a piece of a larger table; the text column is guessed if it is not given."""
    return _from_frame(frame, text, id, [], source)


def _as_frame(data: Any) -> tuple[Any, bool]:
    """Return (an eager native DataFrame or None, whether the data was a Series)."""
    if isinstance(data, list | tuple | str) or type(data).__module__.partition(".")[0] == "numpy":
        return None, False
    import narwhals as nw

    # pandas and pyarrow allow two columns with the same name, pandas also 0 and "0"
    if getattr(data, "ndim", 1) == 2 or hasattr(data, "column_names"):
        names_as_texts(column_names(data))
    wrapped = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(wrapped, nw.Series):
        named = wrapped if wrapped.name not in (None, "") else wrapped.alias("text")
        return named.to_frame().to_native(), True
    if isinstance(wrapped, nw.LazyFrame):
        return wrapped.collect().to_native(), False
    if isinstance(wrapped, nw.DataFrame):
        return data, False
    return None, False


def _from_frame(
    frame: Any,
    text: Any,
    id: str | None,
    notes: list[str],
    source: Source = None,
    added: str | None = None,
) -> Rows:
    import narwhals as nw

    names = column_names(frame)
    wrapped = nw.from_native(frame, eager_only=True)
    if len(wrapped) == 0:
        raise NoRows("The table has no rows, so there is nothing to cluster.")
    if text is None:
        text, note = guess(frame, len(wrapped), added)
        notes.append(note)
    else:
        text = chosen(text, names)
    texts, n_missing = joined(frame, text)
    notes += _doubts.about(texts, text)
    if id is None:
        id = next((n for n in names if str(n).lower() in IDS and n != text), None)
        id = "file" if id is None and names == ["file", "text"] else id
    else:
        need(id, names, "id")
    ids = None if id is None else _ids(column(frame, id), id, source)
    if ids is not None:
        n_twice = len(ids) - _n_different(ids)
        if n_twice:
            notes.append(f"The ids in the column {id!r} are not unique ({n_twice:,} repeated).")
    id_column = None if id is None else str(id)
    if isinstance(text, tuple):
        notes.append(f"The texts of the columns {', '.join(map(repr, text))} are read as one.")
    return Rows(texts, text, n_missing, ids, notes, frame, id_column, source)


def _ids(series: Any, name: str, source: Source) -> Sequence[Any]:
    """Ids exactly as in a csv file, where 1.10 and 1.1 may be different ids."""
    import narwhals as nw
    import polars as pl

    if isinstance(source, Cells) and series.dtype.is_float():
        series = column(source.frame, name)
    native = series.to_native()
    if isinstance(native, pl.Series) and (native.dtype == pl.String or native.dtype.is_integer()):
        return Column(native)
    try:
        found: list[Any] = series.to_list()
    except (OverflowError, ValueError):  # dates outside of Python's range
        found = series.cast(nw.String).to_list()
    return found


def _n_different(ids: Sequence[Any]) -> int:
    if isinstance(ids, Column) and not ids.series.null_count():
        return int(ids.series.n_unique())
    return len(set(map(str, ids)))
