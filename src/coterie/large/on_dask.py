"""cluster_large() of a Dask DataFrame: the same steps as for files, as tasks on its partitions.

Texts, words, labels and the rows that are written stay on the workers. The client sees the vocabulary, a
sample of rows, and the counts of the clusters.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._disk import Claim, check_free
from coterie._sentence import counted
from coterie.clustering import Clustering, added_columns
from coterie.distributed.calls import (
    OnDone,
    check_memory,
    check_open,
    computed,
    free,
    gathered,
    guarded,
)
from coterie.distributed.clients import check_installed, current_client
from coterie.distributed.remote import RemoteDocuments, Tasks, lazy_frame
from coterie.errors import InvalidInput, NoRows
from coterie.large import per_partition
from coterie.large.per_partition import About, Form, Sampled
from coterie.large.result import Fit, of_all
from coterie.large.row_values import RowValues
from coterie.large.settings import Asked, Words
from coterie.large.whole import spread
from coterie.locating import INSTALLED
from coterie.text import readers
from coterie.text._columns import column_names
from coterie.text.batches import Batches, frame_of
from coterie.text.frequencies import Frequencies
from coterie.text.prune import check_any_text
from coterie.text.vectorize import Vectorizer

HEAD = 1000  # rows that language and text column are found in
ROWS = 500_000  # in a partition of a file, at most
CURE = "Give the workers more memory or fewer threads, or cluster smaller partitions."


@dataclass
class OnWorkers:
    """A clustering of partitions that are on the workers, with their labels."""

    groups: Clustering  # its rows are the sample, its model is that of all texts
    parts: Partitions
    documents: RemoteDocuments
    what: Asked

    @property
    def n_texts(self) -> int:
        """Number of rows."""
        return sum(self.parts.n_rows)

    @property
    def n_without_words(self) -> int:
        """Number of rows without words."""
        return self.n_texts - int(self.groups.model.frozen.size.sum())

    def write(self, folder: Path) -> None:
        """Write the rows, with the columns that `cluster` adds: a parquet file per partition."""
        folder.mkdir()
        on_done = partial(self.what.tell, "writing")
        self.parts.write(self.documents, self.groups, folder, on_done)

    def with_table(self) -> Clustering:
        """The clustering, whose table is a Dask DataFrame of all rows; nothing is computed yet."""
        parts, documents = self.parts, self.documents
        parts.parts = []  # the workers read the rows again when they are asked for
        for tasks in (parts.tasks, documents.tasks):
            free(parts.client, tasks.name)
        return replace(self.groups, table_of_all=TableOfAll(parts, documents))


@dataclass(frozen=True)
class TableOfAll:
    """Makes the table of all rows, which stay on the workers: all copies in this process share it."""

    parts: Partitions
    documents: RemoteDocuments

    def __call__(self, groups: Clustering) -> Any:
        """The Dask DataFrame of all rows."""
        return self.parts.table(self.documents, groups)

    def __deepcopy__(self, memo: Any) -> TableOfAll:
        """The same, since no copy can be made of what is on the workers."""
        return self

    def __reduce__(self) -> Any:
        """Refuse to be pickled."""
        raise InvalidInput(
            "A clustering of a Dask DataFrame cannot be pickled, since its rows stay on the workers."
            " Save it with groups.save(path), and open it with coterie.load(path)."
        )


def cluster_dask(what: Asked) -> Clustering:
    """See `cluster_large`."""
    if what.out is None:
        return fit_dask(what, Partitions.of_frame(what)).with_table()
    with Claim(Path(what.out), parents=True) as place:
        check_free(place.real, _no_folder)
        found = fit_dask(what, Partitions.of_frame(what))
        what.enter("writing")
        with place.staged() as fresh:
            found.write(fresh)
            place.put(fresh, _no_folder)
    return found.groups


def fit_dask(what: Asked, parts: Partitions) -> OnWorkers:
    """Cluster partitions, which stay on the workers."""
    began = time.perf_counter()
    what.enter("words")
    vectorizer, notes = parts.vocabulary(what.words, partial(what.tell, "words"))
    rows, sampled = parts.sample(what.sample, what.key)
    groups = what.cluster(rows, vectorizer)
    what.enter("encoding")
    documents = parts.documents(vectorizer, groups, partial(what.tell, "encoding"))
    fitted = spread(documents, groups.model, what.course)
    stop = None if fitted.run is None else fitted.run.stop
    found = Fit(fitted.model, parts.labels_of(documents, sampled), fitted.agreement, stop)
    seconds = time.perf_counter() - began
    groups = of_all(groups, found, notes, sum(parts.n_rows), seconds)
    return OnWorkers(groups, parts, documents, what)


def _no_folder(path: Path) -> str:
    """Why something must not be replaced by a folder of parquet files; "" if it may be.

    Only an empty folder may be: Dask and others give their files the names that we give ours.
    """
    if path.is_symlink() or not path.is_dir():
        return "it is not a folder"
    inside = sorted(entry.name for entry in path.iterdir())
    return f"the folder is not empty ({', '.join(inside[:3])}); choose a new one" if inside else ""


class Partitions:
    """The partitions of a Dask DataFrame, as futures."""

    def __init__(self, tasks: Tasks, parts: list[Any], head: readers.Rows) -> None:
        self.client, self.tasks, self.parts, self.head = tasks.client, tasks, parts, head
        self.text, self.id = head.column, None
        if head.id_column is not None:  # its name may be a number
            names = column_names(head.frame)
            self.id = next(name for name in names if str(name) == head.id_column)
        self.split: list[Any] = []
        self.about: list[About] = []
        self.n_rows: list[int] = []
        self.delayed: list[Any] = []  # of a Dask DataFrame, which may have joined partitions
        self.divisions: Any = None

    @classmethod
    def of_frame(cls, what: Asked) -> Partitions:
        """Those of a Dask DataFrame."""
        client, frame = current_client("A Dask DataFrame", ""), what.data
        with guarded(client):
            first = computed(client, frame.head(HEAD, npartitions=-1, compute=False))
            head = readers.read(first, text=what.text, id=what.id)
            delayed = frame.to_delayed()
            futures = client.compute(delayed)
        tasks = Tasks(client, len(delayed))
        made = cls(tasks, tasks.each("hold", per_partition.parcel, futures), head)
        made.delayed = delayed
        made.divisions = frame.divisions if len(frame.divisions) == len(delayed) + 1 else None
        return made

    @classmethod
    def of_files(cls, what: Asked, client: Any) -> Partitions:
        """Stretches of parquet files, read by the workers."""
        check_installed(client)
        batches = Batches(what.data, what.text, what.id)
        pieces = batches.pieces(ROWS)
        head = next(batches.read())
        head.notes = batches.notes
        tasks = Tasks(client, len(pieces))
        return cls(tasks, tasks.each("read", per_partition.read, pieces), head)

    @property
    def digests(self) -> list[bytes]:
        """Of the texts of each partition."""
        return [about.digest for about in self.about]

    def vocabulary(
        self, words: Words, on_done: OnDone | None = None
    ) -> tuple[Vectorizer, list[str]]:
        """Split all texts, and count in how many each word stands; returns notes for the user, too."""
        ready, notes = words.ready(self._first_texts())
        numbers = list(range(len(self.parts)))
        self.split = self.tasks.each(
            "split", per_partition.split, self.parts, self.text, self.tasks.told(ready), numbers
        )
        about: list[About] = gathered(
            self.client,
            self.tasks.each("rows", per_partition.about, self.split),
            on_done=on_done,
        )
        self.about = about
        self.n_rows, n_missing = [a.n_rows for a in about], sum(a.n_missing for a in about)
        if not sum(self.n_rows):
            raise NoRows("The table has no rows, so there is nothing to cluster.")
        check_any_text(sum(self.n_rows), n_missing)
        self._check_memory(0)
        seen: Frequencies = self.tasks.total(
            self.tasks.each("count", per_partition.counted, self.split), per_partition.merged
        )
        vocabulary, more = seen.vocabulary(words.min_df, words.max_df)
        notes = [*self.head.notes, *notes, *more]
        if n_missing:
            notes.append(f"{counted(n_missing, 'row')} without text: cluster -1.")
        return Vectorizer(vocabulary, ready), notes

    def _first_texts(self) -> Sequence[str]:
        """Some texts to find the language in: blank rows say nothing about it."""
        if any(self.head.texts):
            return self.head.texts
        found: list[str] = self.tasks.total(
            self.tasks.each("texts", per_partition.first_texts, self.parts, self.text, HEAD),
            per_partition.earlier,
        )
        return found

    def _check_memory(self, per_vector: int) -> None:
        """Refuse workers that are too small for a partition, before it is swept."""
        is_frame = bool(self.delayed)
        largest = max(about.n_bytes(is_frame, per_vector) for about in self.about)
        check_memory(self.client, largest, len(self.about), "partition", CURE)

    def sample(self, n_rows: int, key: int) -> tuple[readers.Rows, list[Sampled]]:
        """So many rows, or fewer if they are long: those that `Sample` takes from the same table."""
        ends = list(accumulate(self.n_rows))
        firsts: Any = [0, *ends[:-1]]
        tasks = self.tasks
        drawn = tasks.each("draw", per_partition.drawn, self.split, firsts, n_rows, key)
        taken: npt.NDArray[np.int64] = np.sort(tasks.total(drawn, per_partition.fewest).rows)
        cuts = np.split(taken, np.searchsorted(taken, ends[:-1]))
        rows_of: Any = [own - first for own, first in zip(cuts, firsts, strict=True)]
        what = tasks.told((self.text, self.id))
        found: list[Sampled] = gathered(
            self.client,
            tasks.each("sample", per_partition.sampled, self.parts, rows_of, self.digests, what),
        )
        columns: dict[str, list[str]] = {}
        for some in found:
            for name, values in some.columns.items():
                columns.setdefault(name, []).extend(values)
        text = tuple(map(str, self.text)) if isinstance(self.text, tuple) else str(self.text)
        id = None if self.id is None else str(self.id)
        rows = readers.from_piece(frame_of(columns), text, id)
        rows.notes.clear()
        rows.n_missing = 0  # said of all rows
        return rows, found

    def documents(
        self, vectorizer: Vectorizer, groups: Clustering, on_done: OnDone
    ) -> RemoteDocuments:
        """All documents, in the vocabulary, with vectors if the clusters have any."""
        embedding = groups.embedding if groups.model.n_dimensions else None
        if embedding is not None and (embedding.identity or {}).get("spec") in INSTALLED:
            embedding = replace(embedding, embedder=None)  # opened by each worker
        self._check_memory(groups.corpus.counts.vectors[:1].nbytes)
        told = self.tasks.told((vectorizer.words, self.text, embedding))
        docs = self.tasks.each(
            "encode", per_partition.encoded, self.split, self.parts, self.digests, told
        )
        self.split = []
        n_words, n_dimensions = len(vectorizer.words), groups.model.n_dimensions
        return RemoteDocuments(self.client, docs, n_words, n_dimensions, on_done)

    def labels_of(self, documents: RemoteDocuments, sampled: list[Sampled]) -> Any:
        """The clusters of the rows of the sample."""
        rows: Any = [some.rows for some in sampled]
        found = documents.tasks.each(
            "of_rows", per_partition.of_rows, documents.docs, documents.labels, rows
        )
        return np.concatenate(gathered(self.client, found)).astype(np.int64)

    def write(
        self, documents: RemoteDocuments, groups: Clustering, folder: Path, on_done: OnDone
    ) -> None:
        """Each partition becomes a parquet file, written by the worker that holds it."""
        told = self.tasks.told((RowValues.of_sample(groups), self.text, self.id))
        digits = len(str(len(self.parts)))
        paths: Any = [str(folder / f"part-{i:0{digits}d}.parquet") for i in range(len(self.parts))]
        tasks = documents.tasks
        forms: list[Form] = gathered(
            self.client, tasks.each("form", per_partition.form, self.parts)
        )
        lists = (self.parts, documents.docs, documents.labels, documents.probability)
        given = (*lists, self.digests, paths, told, reduce(Form.joined, forms))
        files = tasks.each("write", per_partition.written, *given)
        gathered(self.client, files, on_done=on_done)

    def table(self, documents: RemoteDocuments, groups: Clustering) -> Any:
        """The Dask DataFrame with the columns that `cluster` adds; the labels stay on the workers."""
        check_open(self.client)
        told = self.tasks.told((RowValues.of_sample(groups), self.text, self.id))
        some = self.head.frame
        added = added_columns(groups.names, *(np.zeros(len(some), t) for t in "qddd"))
        meta = self.head.with_columns(added)[:0]
        done = (documents.docs, documents.labels, documents.probability)
        lists = [self.delayed, *done, self.digests]
        return lazy_frame(per_partition.with_columns, lists, told, meta, self.divisions)
