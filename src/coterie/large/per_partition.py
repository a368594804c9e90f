"""What Dask workers do with a partition of texts: pure functions of parcels."""

from __future__ import annotations

import errno
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import counts
from coterie.counts import Corpus
from coterie.distributed.calls import Parcel
from coterie.errors import InvalidInput
from coterie.large.sample import Drawn, draw
from coterie.text import frequencies, readers, writing
from coterie.text._again import digest_of
from coterie.text._as_polars import polars_table
from coterie.text._common_type import Types, as_type, types_of
from coterie.text.batches import Piece, read_piece
from coterie.text.frequencies import Frequencies


class Sampled(NamedTuple):
    """Some rows of a partition."""

    columns: dict[str, list[str]]  # texts and ids
    rows: npt.NDArray[np.int64]  # their numbers within the partition


class Form(NamedTuple):
    """What the files of all partitions have in common."""

    has_index: bool
    types: dict[str, Types]  # of the columns, and of those that the index becomes

    def joined(self, other: Form) -> Form:
        """That of two neighbours."""
        types = {**self.types, **other.types}
        both = {name: own.joined(types[name]) for name, own in self.types.items()}
        return Form(self.has_index or other.has_index, {**types, **both})


class About(NamedTuple):
    """What the client knows of the texts of a partition."""

    n_rows: int
    n_missing: int
    n_entries: int  # distinct words of each text, added up
    n_characters: int
    digest: bytes  # of the texts, which may be computed once more

    def n_bytes(self, is_frame: bool, per_vector: int = 0) -> float:
        """Memory that work on the partition takes: texts, word counts and vectors.

        The factors are fitted to what `benchmarks/engine/worker_memory.py` measured. A table of pandas
        holds every text as an object of its own.
        """
        texts = 4.5 * self.n_characters + 230 * self.n_rows if is_frame else 2 * self.n_characters
        counts = 8 * self.n_entries + 24 * self.n_rows  # see `Counts`
        return texts + 1.5 * counts + per_vector * self.n_rows


def parcel(frame: Any) -> Parcel:
    """A partition of a Dask DataFrame."""
    return Parcel(frame)


def read(piece: Piece) -> Parcel:
    """A stretch of a file."""
    try:
        return Parcel(read_piece(piece))
    except InvalidInput as error:
        raise InvalidInput(
            f"A Dask worker says: {error} All workers need the files, at the same paths."
        ) from None


def first_texts(part: Parcel, text: Any, most: int) -> Parcel:
    """The first texts that are not blank."""
    return Parcel(list(islice(filter(None, _rows(part.content, text).texts), most)))


def earlier(one: Parcel, other: Parcel) -> Parcel:
    """Those of two neighbours that come first."""
    return one if one.content else other


def split(part: Parcel, text: Any, told: Parcel, number: int) -> Parcel:
    """Returns (the words of the texts, the characters of each, the number of texts that are missing)."""
    try:
        rows = _rows(part.content, text)
    except InvalidInput as error:
        raise InvalidInput(f"In partition {number} (the first is 0): {error}") from None
    size = np.fromiter(map(len, rows.texts), np.int64, len(rows))
    return Parcel((frequencies.split(told.content, rows.texts), size, rows.n_missing))


def about(found: Parcel) -> Parcel:
    """What the client knows of the texts."""
    split, size, n_missing = found.content
    n_entries, n_characters = int(split.df.sum()), int(size.sum())
    return Parcel(About(size.size, n_missing, n_entries, n_characters, split.digest))


def counted(found: Parcel) -> Parcel:
    """How many texts hold each word."""
    seen, split = Frequencies(), found.content[0]
    seen.add(split.words, split.df, split.n_texts)
    return Parcel(seen)


def merged(one: Parcel, other: Parcel) -> Parcel:
    """The counts of two parts of the texts."""
    return Parcel(one.content.merged(other.content))


def drawn(found: Parcel, first: int, n_rows: int, key: int) -> Parcel:
    """The rows that may become the sample."""
    size = found.content[1]
    rows = first + np.arange(size.size)
    return Parcel(Drawn(draw(key, rows), size, rows, n_rows).thinned())


def fewest(one: Parcel, other: Parcel) -> Parcel:
    """Those of two parts of the texts."""
    return Parcel(one.content.joined(other.content))


def sampled(part: Parcel, taken: npt.NDArray[np.int64], digest: bytes, told: Parcel) -> Parcel:
    """Some rows."""
    text, id = told.content
    rows = _same_rows(part.content, digest, text, id)
    names = text if isinstance(text, tuple) else (text,)
    columns = {str(name): _rows(part.content, name).texts for name in names}
    if id is not None:
        columns[str(id)] = list(map(str, rows.ids or []))
    return Parcel(Sampled({n: [v[i] for i in taken.tolist()] for n, v in columns.items()}, taken))


def encoded(found: Parcel, part: Parcel, digest: bytes, told: Parcel) -> Parcel:
    """Returns (the corpus, the number of words of each row)."""
    split, (words, text, embedding) = found.content[0], told.content
    _check_same(split.digest, digest)
    vectors = None
    if embedding is not None:
        rows = _same_rows(part.content, digest, text)
        vectors = embedding.again(rows.texts, None, len(rows), "cluster_large")
    ids = frequencies.numbered(split, {word: i for i, word in enumerate(words)})
    made = counts.from_ids(split.ptr, ids, len(words), "cluster_large", tie=True, vectors=vectors)
    return Parcel((made, np.diff(split.ptr)))


def of_rows(docs: Parcel, labels: Parcel, rows: npt.NDArray[np.int64]) -> Parcel:
    """The clusters of some rows."""
    corpus: Corpus = docs.content[0]
    return Parcel(np.append(labels.content, -1)[corpus.doc_of_row[rows]])


def form(part: Parcel) -> Parcel:
    """Whether the rows have an index that says more than their order, and the types of their columns.

    As for `DataFrame.to_parquet`, an index without a name that counts by one is none.
    """
    frame = part.content
    index: Any = getattr(frame, "index", None)  # a polars DataFrame has none
    counts_rows = type(index).__name__ == "RangeIndex" and index.step == 1
    named = index is not None and any(name is not None for name in index.names)
    has_index = named or not (index is None or counts_rows)
    table = polars_table(frame if index is None else _index_as_columns(frame))
    return Parcel(Form(has_index, {column.name: types_of(column) for column in table}))


def written(
    part: Parcel,
    docs: Parcel,
    labels: Parcel,
    probability: Parcel,
    digest: bytes,
    path: str,
    told: Parcel,
    form: Form,
) -> Parcel:
    """Write the rows with the columns that `cluster` adds to a parquet file; returns how many."""
    rows, added = _added(part.content, docs, labels, probability, digest, told)
    rows = replace(rows, frame=_in_form(rows.frame, form))
    try:
        Path(path).write_bytes(writing.table_bytes(rows, added, "parquet"))
    except OSError as error:
        cure = (
            "Free some space there."
            if error.errno in (errno.ENOSPC, errno.EDQUOT)
            else "The output has to be on a disk that all workers reach and may write to."
        )
        raise InvalidInput(f"A Dask worker cannot write {path}: {error.strerror}. {cure}") from None
    return Parcel(len(rows))


def _in_form(frame: Any, form: Form) -> Any:
    """A table for a file beside those of other partitions, whose columns have the same types."""
    table = polars_table(_index_as_columns(frame) if form.has_index else frame)
    found = [(column, form.types.get(column.name)) for column in table]
    return table.with_columns(as_type(column, types.chosen) for column, types in found if types)


def _index_as_columns(frame: Any) -> Any:
    """A table of pandas whose index is its first columns; where such a column exists, it is x_index."""
    index, taken = frame.index, {str(name) for name in frame.columns}
    names: list[str] = []
    for level, name in enumerate(index.names):
        unnamed = "index" if index.nlevels == 1 else f"level_{level}"
        wanted = unnamed if name is None else str(name)
        while wanted in taken:
            wanted += "_index"
        taken.add(wanted)
        names.append(wanted)
    return frame.set_axis(index.set_names(names), axis=0).reset_index()


def with_columns(
    frame: Any, docs: Parcel, labels: Parcel, probability: Parcel, digest: bytes, told: Parcel
) -> Any:
    """The rows with the columns that `cluster` adds."""
    rows, added = _added(frame, docs, labels, probability, digest, told)
    return rows.with_columns(added)


def _added(
    frame: Any, docs: Parcel, labels: Parcel, probability: Parcel, digest: bytes, told: Parcel
) -> tuple[readers.Rows, dict[str, Any]]:
    of, text, id = told.content
    rows = _same_rows(frame, digest, text, id)
    corpus, n_words = docs.content
    return rows, of.columns(corpus, labels.content, probability.content, n_words)


def _rows(frame: Any, text: Any, id: str | None = None) -> readers.Rows:
    if len(frame) == 0:
        return readers.Rows([], text, 0, [] if id else None, [], frame, id)
    return readers.from_piece(frame, text, id)


def _same_rows(frame: Any, digest: bytes, text: Any, id: str | None = None) -> readers.Rows:
    """The rows of a partition that was read before; an error if its texts are not the same."""
    rows = _rows(frame, text, id)
    _check_same(digest_of(rows.texts), digest)
    return rows


def _check_same(now: bytes, before: bytes) -> None:
    if now != before:
        raise InvalidInput(
            "A partition has changed since it was clustered, or its rows are in another order each time"
            " that they are computed. Cluster it again; if the order changes, after `frame.persist()`."
        )
