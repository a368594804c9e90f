"""cluster_large() of a Dask DataFrame: the same steps as for files, as tasks on its partitions.

Texts, words, labels and the rows that are written stay on the workers. The client sees the vocabulary, a
sample of rows, and the counts of the clusters.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _rng, counts
from coterie._disk import Claim, check_free
from coterie._sentence import counted
from coterie.clustering import Clustering
from coterie.counts import Corpus
from coterie.distributed.dask_backend import Parcel, current_client, gathered
from coterie.distributed.remote import RemoteDocuments, Tasks
from coterie.errors import InvalidInput
from coterie.grouping import cluster
from coterie.large.result import Fit, of_all
from coterie.large.row_values import RowValues
from coterie.large.sample import START_SWEEP
from coterie.large.settings import Words, check
from coterie.large.whole import Course, spread_remote
from coterie.locating import INSTALLED, Embedding
from coterie.sampler import Event
from coterie.text import frequencies, readers, writing
from coterie.text.batches import frame_of
from coterie.text.frequencies import Frequencies
from coterie.text.tokenize import Tokenizer
from coterie.text.vectorize import Vectorizer

HEAD = 1000  # rows that language and text column are found in


class Sampled(NamedTuple):
    """Some rows of a partition."""

    columns: dict[str, list[str]]  # texts and ids
    rows: npt.NDArray[np.int64]  # their numbers within the partition


def cluster_dask(
    data: Any,
    out: Any,
    text: Any,
    *,
    id: str | None,
    sample: int,
    sweeps: int,
    random_state: int,
    n_jobs: int | None,
    callbacks: Sequence[Callable[[Event], Any]],
    on_stage: Callable[[str], Any] | None,
    tokenizer: Tokenizer | None,
    language: str | None,
    stop_words: Any,
    min_df: int | float | str,
    max_df: int | float | str,
    encoding: Any,
    header: Any,
    **settings: Any,
) -> Clustering:
    """See `cluster_large`."""
    began = time.perf_counter()
    check(settings, tokenizer, sample, sweeps)
    enter = on_stage or (lambda stage: None)
    enter("words")
    with Claim(Path(out), parents=True) as place:
        check_free(place.real, _no_parts)
        parts = Partitions(data, text, id)
        words = Words(tokenizer, language, stop_words, min_df, max_df)
        ready, notes = words.ready(parts.head.texts)
        vocabulary, more = parts.vocabulary(ready).vocabulary(min_df, max_df)
        notes = [*parts.head.notes, *notes, *more]
        if parts.n_missing:
            notes.append(f"{counted(parts.n_missing, 'row')} without text: cluster -1.")
        vectorizer = Vectorizer(vocabulary, ready)
        key = _rng.key_from_seed(random_state)
        rows, sampled = parts.sample(sample, key)
        rows.notes.clear()
        rows.n_missing = 0
        enter("sample")
        groups = cluster(
            rows, tokenizer=vectorizer, random_state=random_state, n_jobs=n_jobs, **settings
        )
        enter("encoding")
        documents = parts.documents(vectorizer, groups)
        enter("sampling")
        is_free = not settings.get("levels", True) and settings.get("n_clusters") is None
        limits = settings.get("max_time"), callbacks
        model, agreement = spread_remote(
            documents, groups.model, Course(sweeps, key, is_free, 1, *limits)
        )
        found = Fit(model, parts.labels_of(documents, sampled), agreement)
        seconds = time.perf_counter() - began
        groups = of_all(groups, found, notes, sum(parts.n_rows), seconds)
        enter("writing")
        with place.staged() as fresh:
            fresh.mkdir()
            parts.write(documents, groups, fresh)
            place.put(fresh, _no_parts)
    return groups


def _no_parts(path: Path) -> str:
    """Why something must not be replaced by a folder of parquet files; "" if it may be."""
    if path.is_symlink() or not path.is_dir():
        return "it is not a folder"
    others = [p.name for p in path.iterdir() if not re.fullmatch(r"part-\d+\.parquet", p.name)]
    return f"it holds other files ({', '.join(sorted(others)[:3])})" if others else ""


class Partitions:
    """The partitions of a Dask DataFrame, as futures."""

    def __init__(self, frame: Any, text: Any, id: str | None) -> None:
        self.client = current_client()
        head = readers.read(frame.head(HEAD, npartitions=-1), text=text, id=id)
        self.text, self.id, self.head = head.column, head.id_column, head
        parts = self.client.compute(frame.to_delayed())
        self.tasks = Tasks(self.client, len(parts))
        self.parts = self.tasks.each("hold", _parcel, parts)
        self.split: list[Any] = []
        self.n_rows: list[int] = []
        self.n_missing = 0

    def vocabulary(self, tokenizer: Tokenizer) -> Frequencies:
        """Split all texts, and count in how many each word stands."""
        self.split = self.tasks.each(
            "split", _split, self.parts, self.text, self.tasks.told(tokenizer)
        )
        about = gathered(self.client, self.tasks.each("rows", _about, self.split))
        self.n_rows, self.n_missing = [n for n, _ in about], sum(n for _, n in about)
        if not sum(self.n_rows):
            raise InvalidInput("The table has no rows, so there is nothing to cluster.")
        found: Frequencies = self.tasks.total(
            self.tasks.each("count", _counted, self.split), _merged
        )
        return found

    def sample(self, n_rows: int, key: int) -> tuple[readers.Rows, list[Sampled]]:
        """About so many rows, each chosen by a number at its own address."""
        share = n_rows / sum(self.n_rows)
        firsts: Any = [0, *accumulate(self.n_rows[:-1])]
        how = (self.text, self.id, share, key)
        found: list[Sampled] = gathered(
            self.client,
            self.tasks.each("sample", _sample, self.parts, firsts, self.tasks.told(how)),
        )
        columns: dict[str, list[str]] = {}
        for some in found:
            for name, values in some.columns.items():
                columns.setdefault(name, []).extend(values)
        return readers.from_piece(frame_of(columns), self.text, self.id), found

    def documents(self, vectorizer: Vectorizer, groups: Clustering) -> RemoteDocuments:
        """All documents, in the vocabulary, with vectors if the clusters have any."""
        embedding = groups.embedding if groups.model.n_dimensions else None
        if embedding is not None and (embedding.identity or {}).get("spec") in INSTALLED:
            embedding = Embedding(embedding.mean, embedding.identity)  # opened by each worker
        told = self.tasks.told((vectorizer.words, self.text, embedding))
        docs = self.tasks.each("encode", _encoded, self.split, self.parts, told)
        self.split = []
        return RemoteDocuments(self.client, docs, len(vectorizer.words), groups.model.n_dimensions)

    def labels_of(self, documents: RemoteDocuments, sampled: list[Sampled]) -> Any:
        """The clusters of the rows of the sample."""
        rows: Any = [some.rows for some in sampled]
        found = documents.tasks.each("of-rows", _of_rows, documents.docs, documents.labels, rows)
        return np.concatenate(gathered(self.client, found)).astype(np.int64)

    def write(self, documents: RemoteDocuments, groups: Clustering, folder: Path) -> None:
        """Each partition becomes a parquet file, written by the worker that holds it."""
        told = self.tasks.told((RowValues.of_sample(groups), self.text, self.id))
        digits = len(str(len(self.parts)))
        paths: Any = [str(folder / f"part-{i:0{digits}d}.parquet") for i in range(len(self.parts))]
        lists = (self.parts, documents.docs, documents.labels, documents.probability, paths, told)
        gathered(self.client, documents.tasks.each("write", _written, *lists))


def is_dask(data: Any) -> bool:
    """Whether this is a Dask DataFrame."""
    return hasattr(data, "to_delayed") and hasattr(data, "npartitions")


# ---------------------------------------------------------------- tasks
def _parcel(frame: Any) -> Parcel:
    return Parcel(frame)


def _rows(frame: Any, text: Any, id: str | None = None) -> readers.Rows:
    if len(frame) == 0:
        return readers.Rows([], text, 0, [] if id else None, [], frame, id)
    return readers.from_piece(frame, text, id)


def _split(part: Parcel, text: Any, told: Parcel) -> Parcel:
    rows = _rows(part.content, text)
    return Parcel((frequencies.split(told.content, rows.texts), len(rows), rows.n_missing))


def _about(found: Parcel) -> Parcel:
    return Parcel(found.content[1:])


def _counted(found: Parcel) -> Parcel:
    seen, split = Frequencies(), found.content[0]
    seen.add(split.words, split.df, split.n_texts)
    return Parcel(seen)


def _merged(one: Parcel, other: Parcel) -> Parcel:
    return Parcel(one.content.merged(other.content))


def _sample(part: Parcel, first: int, told: Parcel) -> Parcel:
    text, id, share, key = told.content
    rows = _rows(part.content, text, id)
    numbers = first + np.arange(len(rows))
    drawn = _rng.uniform(key, START_SWEEP, numbers, _rng.DRAW_SCAN) if len(rows) else np.zeros(0)
    taken = np.flatnonzero(drawn < share)
    names = text if isinstance(text, tuple) else (text,)
    columns = {name: _rows(part.content, name).texts for name in names}
    if id is not None:
        columns[id] = list(map(str, rows.ids or []))
    return Parcel(Sampled({n: [v[i] for i in taken] for n, v in columns.items()}, taken))


def _encoded(found: Parcel, part: Parcel, told: Parcel) -> Parcel:
    """Returns (the corpus, the number of words of each row)."""
    split, (words, text, embedding) = found.content[0], told.content
    vectors = None
    if embedding is not None:
        rows = _rows(part.content, text)
        vectors = embedding.again(rows.texts, None, len(rows), "cluster_large")
    ids = frequencies.numbered(split, {word: i for i, word in enumerate(words)})
    made = counts.from_ids(split.ptr, ids, len(words), "cluster_large", tie=True, vectors=vectors)
    return Parcel((made, np.diff(split.ptr)))


def _of_rows(docs: Parcel, labels: Parcel, rows: npt.NDArray[np.int64]) -> Parcel:
    corpus: Corpus = docs.content[0]
    return Parcel(np.append(labels.content, -1)[corpus.doc_of_row[rows]])


def _written(
    part: Parcel, docs: Parcel, labels: Parcel, probability: Parcel, path: str, told: Parcel
) -> Parcel:
    of, text, id = told.content
    rows = _rows(part.content, text, id)
    corpus, n_words = docs.content
    added = of.columns(corpus, labels.content, probability.content, n_words)
    Path(path).write_bytes(writing.table_bytes(rows, added, "parquet"))
    return Parcel(len(rows))
