"""Reads a table that need not fit into memory: the same files, in batches of rows, as often as needed.

In: one or several csv, tsv, jsonl, txt (each may be gzipped) or parquet files. Out: `Rows`, batch after
batch. What the first rows decide (encoding, header, separator, text column) holds for all of them. The
batches follow from the files alone, never from the memory of the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coterie._forks import check_threads
from coterie.errors import InvalidInput, NoRows
from coterie.text import _csv, _dialect, _files, _json, _json_types, _parquet, _pieces, readers
from coterie.text._columns import are_there, chosen, column_names, need
from coterie.text._common_type import alike
from coterie.text._encodings import Detected, decode, decode_more, detected
from coterie.text._files import errors_as_sentences
from coterie.text._guessing import Seen
from coterie.text._several import FILE, labelled, labels_of, lines_of
from coterie.text._which_files import check_alike, files_of, kind_of_all
from coterie.text.readers import Rows

ROWS = 50_000  # in a batch, at most


Position = Callable[[int], None]  # is told how many bytes of a file were read


class Piece(NamedTuple):
    """A stretch of a parquet file."""

    path: str
    first: int
    n_rows: int
    label: str | None = None  # where its rows come from, if that is a column


def read_piece(piece: Piece) -> Any:
    """A stretch of a parquet file as a DataFrame."""
    path = Path(piece.path)
    with errors_as_sentences(path.name):  # a missing or damaged file is one sentence
        lazy, footer = _parquet.scan(path)
        frame = _parquet.plain(lazy.slice(piece.first, piece.n_rows).collect(), footer)
        return frame if piece.label is None else labelled(frame, piece.label)


class Batches:
    """Files that are read batch by batch."""

    def __init__(
        self,
        data: Any,
        text: str | Sequence[str] | None = None,
        id: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> None:
        check_threads()
        self.files = files_of(data)
        self.kind = kind_of_all(self.files)
        self.asked_encoding, self.header = encoding, header
        self.encoding: str | None = None  # of the first file
        self.separator: str | None = None
        self.columns: list[str] | None = None  # of the first batch; None: not read yet
        self.names: list[str] = []  # as in the header of a csv file
        self.dialect: _dialect.Dialect | None = None
        self.types: dict[str, Any] = {}  # of the columns with texts in JSON lines
        self.notes: list[str] = []
        self.sizes = [path.stat().st_size for path in self.files]
        self.n_read = 0  # bytes of the files, since the first row was read
        self.text, self.id = text, id
        self.labels: list[str] = []  # of several files, which become a column
        self._is_looking = True  # for the columns with texts
        _files.check_header(header, self.kind, self.files[0].name)
        self.notes += _files.about_encoding(encoding, self.kind)
        first = self._first_with_texts()
        self._is_looking = False
        self.notes += first.notes
        self.text, self.id = first.column, first.id_column

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(self.sizes)

    @property
    def needed(self) -> list[str]:
        """The columns with texts and ids."""
        return list(_asked(self.text, self.id))

    def read(self, slim: bool = False) -> Iterator[Rows]:
        """Read all rows, from the first; `slim`: texts and ids only, where that is faster."""
        for one, cells, path in self._all_parts(slim):
            with errors_as_sentences(path.name):
                rows = readers.from_piece(
                    self._fitting(one, cells, path), self.text, self.id, cells
                )
            rows.dialect = self.dialect
            yield rows
            del rows, one, cells  # before more is read: a batch may be large

    def _first_with_texts(self) -> Rows:
        """Rows that show which columns hold the texts and the ids: those of the first batch if they can.

        Batches without texts are passed over, and so are those with nothing but codes while texts may be
        in a column that is blank there.
        """
        seen, kinds, first = Seen(), _json_types.Kinds(), None
        for one, cells, path in self._all_parts():
            self.columns = self.columns or [str(name) for name in column_names(one)]
            first = (one, cells, path) if not seen.samples else first
            with errors_as_sentences(path.name):
                seen.look(one, one.height, FILE if self.labels else None)
            kinds.look(one)
            if self._has_seen_enough(seen, kinds):
                first = one, cells, path
                break
        if first is None:
            raise NoRows("The files hold no rows, so there is nothing to cluster.")
        text, note = seen.choice() if self.text is None else (self.text, None)
        text = chosen(text, list(seen.dtypes))
        if self.id is not None:
            need(self.id, list(seen.dtypes), "id")
        one, cells, path = first
        self.types = kinds.types(_asked(text, None))
        if isinstance(cells, _csv.Cells) and kinds.are_texts(_asked(text, None)):
            one = cells.frame  # where they may be numbers alone
        with errors_as_sentences(path.name):
            frame = self._with_types(_with_columns(one, _asked(text, self.id)), cells)
            rows = readers.from_piece(frame, text, self.id, cells)
        rows.notes = [note, *rows.notes] if note else rows.notes
        return rows

    def _has_seen_enough(self, seen: Seen, kinds: _json_types.Kinds) -> bool:
        """Whether later rows cannot change which columns are read."""
        known = list(seen.dtypes)
        grows = self.kind == "jsonl"  # a missing value may be a missing key
        typed = self.kind in ("txt", "parquet")  # numbers may be texts in later rows of others
        if self.text is None:
            enough = seen.has_words or (typed and not seen.has_blank)
        elif are_there(self.text, known):
            enough = typed or kinds.are_texts(_asked(chosen(self.text, known), None))
        else:
            enough = not grows
        return enough and (self.id is None or not grows or self.id in known)

    def _all_parts(self, slim: bool = False) -> Iterator[tuple[Any, Any, Path]]:
        for number, path in enumerate(self.files):
            before = sum(self.sizes[:number])

            def at(position: int, before: int = before) -> None:
                self.n_read = before + position

            with errors_as_sentences(path.name):
                for frame, source in self._frames(path, slim, at):
                    if self.columns is None and len(self.files) > 1:
                        self.labels = [] if self._have_labels(frame) else labels_of(self.files)
                    if self.labels and (not slim or FILE in self.needed):
                        frame, source = _labelled(frame, source, self.labels[number])
                    for one, cells in self._parts(frame, source):
                        yield one, cells, path
                        del one, cells
                    del frame, source

    def _have_labels(self, frame: Any) -> bool:
        """Whether the files say where rows come from; objects may first do so in later rows."""
        if self.kind != "jsonl":
            return FILE in frame.columns
        return any(
            _json.has_key(piece, FILE)
            for path in self.files
            for piece in _pieces.lines(path, None, _pieces.wide_encoding(path, self.asked_encoding))
        )

    def pieces(self, n_rows: int) -> list[Piece]:
        """Stretches of parquet files, of about so many rows, that `read_piece` reads anywhere."""
        if self.kind != "parquet":
            raise InvalidInput(
                f"{self.files[0].name} cannot be cut into pieces: only parquet files can."
            )
        return [
            Piece(os.path.abspath(path), *some, self.labels[number] if self.labels else None)
            for number, path in enumerate(self.files)
            for some in _pieces.groups_together(_parquet.row_groups(path), n_rows, path.name)
        ]

    def _frames(self, path: Path, slim: bool, at: Position) -> Iterator[tuple[Any, Any]]:
        if self.kind == "parquet":
            yield from self._parquet(path, slim, at)
            return
        n_rows, found = 0, None
        wide = _pieces.wide_encoding(path, self.asked_encoding)
        asked = "utf-8" if wide else self.asked_encoding
        cut_at = self._cut_at if self.kind in ("csv", "tsv") else None
        for piece in _pieces.lines(path, cut_at, wide, at):
            name = f"{path.name} after row {n_rows:,}" if n_rows else path.name
            data, note = _decoded(piece, asked, found, name)
            found = detected(piece, found) if asked is None else Detected(asked, False)
            if self.columns is None and self.encoding is None:
                note = wide.note if wide else note
                self.notes += [note] if note else []
                self.encoding = wide.encoding if wide else found.encoding
            if n_rows == 0 and cut_at is not None and data.isspace():  # blank lines, then the table
                continue
            frame, source = self._parsed(piece, data, name, is_first=n_rows == 0)
            if not frame.width:
                frame = self._empty(piece)
            n_rows += frame.height
            if frame.height:  # not only blank lines
                yield frame, source

    def _empty(self, piece: bytes) -> Any:
        """The rows of objects without fields, for which polars has no table."""
        import polars as pl

        n_rows = sum(bool(line.strip()) for line in piece.split(b"\n"))
        return pl.DataFrame({(self.columns or ["text"])[0]: [None] * n_rows})

    def _cut_at(self, piece: bytes) -> str:
        """The separator of a csv file; until its first rows are read, that of a piece."""
        return "\t" if self.kind == "tsv" else self.separator or _csv.separator_of(piece)

    def _parsed(self, piece: bytes, data: bytes, name: str, is_first: bool) -> tuple[Any, Any]:
        if self.kind == "txt":
            return _files.lines(data), None
        if self.kind == "jsonl":
            return _json.lines(data, name)
        return self._csv(piece, data, name, is_first)

    def _csv(self, piece: bytes, data: bytes, name: str, is_first: bool) -> tuple[Any, Any]:
        begins = self.columns is None and is_first
        frame, cells = _csv.read(
            data,
            name,
            self.notes if begins and not self.names else [],
            separator="\t" if self.kind == "tsv" else self.separator,
            header=self.header if is_first else False,
            asked=_asked(self.text, self.id),
            width=len(self.names) or None,
        )
        if not self.names:
            self.names, self.separator = cells.header, cells.separator
            named = [f"column_{i + 1}" for i in range(len(self.names))]
            self.header = self.names != named if self.header is None else self.header
            found = _dialect.find(piece, self.encoding, cells.separator, cells.frame)
            self.dialect = _one_encoding(found)
            if self.dialect != found:
                said = f"The table is written in parts, so it is UTF-8 instead of {found.encoding}."
                self.notes.append(said)
            return frame, cells
        if is_first and self.header and cells.header != self.names:
            raise InvalidInput(
                f"{name} has other columns than {self.files[0].name}. Files that are read together need"
                " the same columns."
            )
        if not is_first:
            cells.frame = _as_wide(cells.frame, len(self.names))
            if cells.frame.width != len(self.names):
                raise InvalidInput(
                    f"{name} has {frame.width} columns, but the first rows have {len(self.names)}."
                )
            cells.frame.columns = _csv.unique_names(self.names)
            cells.header = self.names
        if self._is_looking:  # for texts, which numbers are not
            return _csv.with_types(cells.frame), cells
        return cells.frame, cells  # as written: a column of numbers may be texts elsewhere

    def _parquet(self, path: Path, slim: bool, at: Position) -> Iterator[tuple[Any, None]]:
        import polars as pl

        lazy, footer = _parquet.scan(path)
        if path == self.files[0] and self.columns is None:
            check_alike(self.files)
            self.notes += _parquet.about_types(lazy.clear().collect(), footer, path.name)
        if slim and self.columns is not None:
            lazy = lazy.select(pl.selectors.by_name(self.needed, require_all=False))
        size, all_rows = path.stat().st_size, sum(n_rows for n_rows, _ in footer.groups)
        for first, n_rows in _pieces.groups_together(footer.groups, ROWS, path.name):
            at(size * (first + n_rows) // all_rows)
            yield _parquet.plain(lazy.slice(first, n_rows).collect(), footer), None

    def _parts(self, frame: Any, source: Any) -> Iterator[tuple[Any, Any]]:
        """Stretches of at most ROWS rows, and of little text unless it is a single row."""
        if isinstance(source, _json.Objects):  # its lines cannot be cut; a piece is small
            yield frame, source
            return
        texts = _texts(frame, self.text)
        first, step = 0, ROWS
        while first < frame.height:
            part = frame.slice(first, step)
            size = sum(int(part[name].alias("").str.len_bytes().sum() or 0) for name in texts)
            if size > 4 * _pieces.PIECE and part.height > 1:
                step = max(1, part.height // 2)
                continue
            cut = source
            if source is not None:
                cut = _csv.Cells(source.header, source.frame.slice(first, step), source.separator)
            yield part, cut
            first, step = first + part.height, ROWS

    def _fitting(self, frame: Any, source: Any, path: Path) -> Any:
        """The frame with the columns that are needed; an error if they are not there."""
        missing = [name for name in self.needed if name not in frame.columns]
        if missing and self.kind != "jsonl":
            raise InvalidInput(
                f"{path.name} has no column {missing[0]!r}, unlike {self.files[0].name}. Files that are"
                " read together need the same columns.",
                kind="no_such_column",
            )
        return self._with_types(_with_columns(frame, missing), source)

    def _with_types(self, frame: Any, source: Any) -> Any:
        """Columns of JSON lines with the types of the whole file; ids may be of any type there."""
        import polars as pl

        if self.kind != "jsonl":
            return frame
        ids = {} if self.id is None else {self.id: pl.String()}
        return _json_types.retyped(frame, source, ids | self.types)


def _decoded(
    piece: bytes, asked: str | None, found: Detected | None, name: str
) -> tuple[bytes, str | None]:
    """A piece as `decode` reads it; the first one of a file decides about all of it."""
    if asked is not None or found is None:
        return decode(piece, asked, name)
    return decode_more(piece, found, name), None


def _labelled(frame: Any, source: Any, label: str) -> tuple[Any, Any]:
    """The same rows with the column that says where they come from."""
    frame = labelled(frame, label)
    if isinstance(source, _csv.Cells):
        cells = labelled(source.frame, label)
        return frame, _csv.Cells([*source.header, FILE], cells, source.separator)
    if isinstance(source, _json.Objects):
        data = b"".join(lines_of(source.load, label))
        return frame, _json.objects_of(data, frame.columns)
    return frame, source


def _with_columns(frame: Any, names: Iterable[str]) -> Any:
    """The frame with columns of missing values where it does not have these."""
    import polars as pl

    missing = [name for name in names if name not in frame.columns]
    return frame.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)


def _as_wide(cells: Any, width: int) -> Any:
    """Cells of blank lines only, which have no separators, as rows of so many empty cells."""
    import polars as pl

    if cells.width != 1 or cells[:, 0].null_count() < cells.height:
        return cells
    return pl.DataFrame([cells[:, 0].alias(str(i)) for i in range(width)])


def frame_of(columns: dict[str, list[str]]) -> Any:
    """A DataFrame of texts."""
    import polars as pl

    return pl.DataFrame(columns, dict.fromkeys(columns, pl.String))


def some_rows(frame: Any, columns: list[str], rows: Any) -> Any:
    """Some rows of a DataFrame, copied: polars would keep the texts of all rows for them."""
    import polars as pl

    taken = [frame[name][rows] for name in columns]
    return pl.DataFrame([pl.Series(some.name, some.to_list(), some.dtype) for some in taken])


def joined_frames(frames: list[Any]) -> Any:
    """Batches as one DataFrame; a column that has no common type becomes one of texts."""
    import polars as pl

    same = [alike([frame[name] for frame in frames]) for name in frames[0].columns]
    return pl.concat(map(pl.DataFrame, zip(*same, strict=True)))


def _asked(text: Any, id: str | None) -> tuple[str, ...]:
    """The columns that are needed, as far as they are known."""
    names = list(text) if isinstance(text, list | tuple) else [text]
    return tuple(dict.fromkeys(name for name in (*names, id) if isinstance(name, str)))


def _texts(frame: Any, text: Any) -> list[str]:
    """The columns with texts, as far as they are known and hold strings."""
    import polars as pl

    names = _asked(text, None) or tuple(frame.columns)
    return [name for name in names if frame.schema.get(name) == pl.String]


def _one_encoding(dialect: _dialect.Dialect) -> _dialect.Dialect:
    """The same dialect in UTF-8, which can hold every name: a file must not change its encoding."""
    if dialect.encoding == "utf-8":
        return dialect
    return dialect._replace(encoding="utf-8", mark=_dialect.EXCEL.mark)
