"""cluster_large(): a file in, the same file with clusters out, whatever its size.

    file --batches--> words on disk, vocabulary, a sample
    sample --cluster()--> clusters, names, levels
    words --counted, tied, vectors--> shards on disk --placed, swept, settled--> labels, model
    file --batches--> the same rows with clusters

In memory are the sample, one shard, the clusters, and 12 to 16 bytes per text: its label, before and
after, and a probability.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _system, counts
from coterie._disk import Claim, check_free, no_file
from coterie._habits import pointing
from coterie._records import recorded
from coterie._sentence import counted
from coterie.backends import threads
from coterie.clustering import Clustering
from coterie.counts import Corpus, Counts
from coterie.distributed.documents import LocalDocuments
from coterie.distributed.layout import cut, shard_bounds
from coterie.errors import InvalidInput
from coterie.grouping import ALPHA, BETA, SWEEPS
from coterie.large.on_dask import cluster_dask
from coterie.large.result import Fit, of_all
from coterie.large.row_values import RowValues
from coterie.large.sample import Sample
from coterie.large.settings import Asked, asked
from coterie.large.store import Store
from coterie.large.whole import spread
from coterie.sampler import Event
from coterie.text import frequencies, readers
from coterie.text._again import digest_of
from coterie.text._which_files import files_of, files_read
from coterie.text.batch_files import WRITTEN, TableFile
from coterie.text.batches import Batches
from coterie.text.frequencies import Frequencies
from coterie.text.prune import check_any_text
from coterie.text.tokenize import Tokenizer
from coterie.text.vectorize import Vectorizer

SAMPLE = 100_000  # rows that the clusters are found in
SWEEPS_OVER_ALL = 3  # after that
TRIM = 16  # batches after which memory that is not used is given back


class Texts(NamedTuple):
    """All texts as words on disk, and a sample of them as they are."""

    store: Store
    vectorizer: Vectorizer
    sample: readers.Rows
    sampled: npt.NDArray[np.int64]  # the number of each row of the sample
    n_rows: int
    notes: list[str]


@dataclass
class Large:
    """A clustering of files, while their words lie on disk."""

    groups: Clustering  # its rows are the sample, its model is that of all texts
    batches: Batches
    texts: Texts
    documents: LocalDocuments
    what: Asked

    @property
    def n_texts(self) -> int:
        """Number of rows."""
        return self.texts.n_rows

    @property
    def n_without_words(self) -> int:
        """Number of rows without words."""
        return self.n_texts - int(self.groups.model.frozen.size.sum())

    def write(self, path: Path) -> None:
        """Write the rows of the files, with the columns that `cluster` adds."""
        of = RowValues.of_sample(self.groups)
        stretches = iter(self.texts.store.stretches)
        with TableFile(path, self.batches.kind) as table:
            for rows in _again(self.batches, self.texts.store.digests):
                stretch = next(stretches)
                doc_of_row, n_words = self.texts.store.rows(stretch)
                part = cut(self.documents.counts, stretch.first_doc, stretch.end_doc)
                docs = slice(stretch.first_doc, stretch.end_doc)
                known = self.documents.labels[docs], self.documents.probability[docs]
                own = np.where(doc_of_row < 0, -1, doc_of_row - stretch.first_doc)
                table.add(rows, of.columns(Corpus(part, own), *known, n_words))
                self.what.tell("writing", stretch.end_row, self.n_texts)
                del rows, part
                _system.release_memory()  # a batch may be a gigabyte of small pieces


@pointing
@recorded
def cluster_large(
    data: Any,
    out: str | os.PathLike[str] | None = None,
    text: str | Sequence[str] | None = None,
    *,
    id: str | None = None,
    seeds: Any = None,
    seed_weight: float | dict[str, float] | Sequence[float] = 1.0,
    n_clusters: int | None = None,
    max_clusters: int | None = None,
    levels: bool = True,
    outliers: str | float = "flag",
    alpha: float = ALPHA,
    beta: float | str = BETA,
    n_sweeps: int = SWEEPS,
    embedder: Any = "auto",
    kappa: float | str = "auto",
    tokenizer: Tokenizer | None = None,
    language: str | None = "auto",
    stop_words: Any = "auto",
    min_df: int | float | str = "auto",
    max_df: int | float | str = "auto",
    encoding: str | None = None,
    header: bool | None = None,
    sample: int = SAMPLE,
    sweeps: int = SWEEPS_OVER_ALL,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_time: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callbacks: Sequence[Callable[[Event], Any]] = (),
    on_stage: Callable[[str], Any] | None = None,
    on_progress: Callable[[str, int, int], Any] | None = None,
) -> Clustering:
    """Cluster files that may be larger than memory, and write their rows with clusters to `out`.

    The clusters are found in a sample. Then all texts are placed, swept and counted, a shard at a time,
    from files beside `out` that are removed at the end.

    Parameters
    ----------
    data : path, pattern, list of paths, or Dask DataFrame
        csv, tsv, jsonl or txt files (may be gzipped), or parquet files. Several files must have the same
        columns; a column `file` is added to them. The partitions of a Dask DataFrame stay on the
        workers of the current client.
    out : path
        The table to write: the rows of `data`, with the columns that `cluster` adds. It has the file type
        of `data`; texts from .txt files are written as csv. For a Dask DataFrame, it is a new folder in
        which the workers write a parquet file per partition; without it, nothing is written, and
        `groups.table` is a Dask DataFrame.
    text, id, language, stop_words, min_df, max_df, encoding, header, random_state, n_jobs
        As in `cluster`.
    seeds, seed_weight, n_clusters, max_clusters, levels, outliers, alpha, beta, n_sweeps, embedder, kappa
        As in `cluster`, for the sample. `outliers` cannot be "own".
    tokenizer : Tokenizer
        How texts are split into words.
    sample : int
        Number of rows to find the clusters in.
    sweeps : int
        Number of passes that draw the clusters of all texts, after those over the sample.
    max_time : float
        Stop the passes over the sample, and those over all texts, after so many seconds each.
    checkpoint : path
        A file to save the passes over all texts to. If it is already there, they continue from it, after
        the texts were read and the sample was clustered again. For a Dask DataFrame, it holds the labels
        of all partitions, which are brought here for it; any number of workers can go on from it.
    callbacks : list of callables
        Called after every sweep over all texts.
    on_stage : callable
        Called with the name of each stage when it begins.
    on_progress : callable
        Called with "words", the bytes of the files read so far and those of all files; with "encoding"
        (vectors of the texts) and "writing", the rows so far and all rows; with "sample", the sweeps over
        the sample so far and the most there may be; and with "levels", "placing" and "settling", how much
        of them is done and how much there is. For a Dask DataFrame, "words", "encoding" and "writing" are
        told the partitions so far and all partitions.

    Returns
    -------
    Clustering
        Its rows are the sample; its clusters, their sizes and words are those of all texts. For a Dask
        DataFrame, `groups.table` has all rows, with their clusters, and is computed by the workers when
        you ask for it.
    """
    what = asked(dict(locals()))
    if readers.is_dask(data):
        return cluster_dask(what._replace(data=_as_table(data)))
    if out is None:
        raise InvalidInput(
            "cluster_large writes the rows of a file with their clusters to another file: name it with"
            " out='...'."
        )
    with Claim(Path(out), parents=True, read=_read(what)) as place:
        check_free(place.real, no_file)
        with place.staged() as folder, place.staged() as fresh:
            folder.mkdir()
            large = fit_large(what, folder)
            what.enter("writing")
            large.write(fresh)
            place.put(fresh, no_file)
    return large.groups


def _as_table(data: Any) -> Any:
    """A Dask DataFrame, also of a Series."""
    return data.to_frame(name=data.name or "text") if data.ndim == 1 else data


def defaults() -> dict[str, Any]:
    """The settings of `cluster_large` and their defaults."""
    given = inspect.signature(cluster_large).parameters.values()
    return {p.name: p.default for p in given if p.default is not p.empty}


def fit_large(what: Asked, folder: Path) -> Large:
    """Cluster files; what does not fit into memory is kept in `folder`. See `cluster_large`."""
    began = time.perf_counter()
    read_from = _read(what)
    what.enter("reading")
    batches = Batches(what.data, what.text, what.id, what.encoding, what.header)
    if what.out is not None:
        _check_ending(Path(what.out), batches.kind)
    what.enter("words")
    sample = Sample(what.sample, what.key, batches.needed)
    texts = _texts(batches, what, Store(folder), sample)
    groups = what.cluster(texts.sample, texts.vectorizer)
    what.enter("encoding")
    corpus = _encoded(texts, groups, batches, what)
    documents = LocalDocuments(corpus, shard_bounds(corpus, None), threads(what.n_jobs))
    fitted = spread(documents, groups.model, what.course)
    labels = np.append(documents.labels, -1)[texts.store.document_of(texts.sampled)]
    stop = None if fitted.run is None else fitted.run.stop
    found = Fit(fitted.model, labels.astype(np.int64), fitted.agreement, stop)
    seconds = time.perf_counter() - began
    groups = of_all(groups, found, texts.notes, texts.n_rows, seconds)
    groups.read_from = read_from
    return Large(groups, batches, texts, documents, what)


def _read(what: Asked) -> tuple[Path | int, ...]:
    """What nothing may replace."""
    own = what.settings
    return files_read(files_of(what.data), own["seeds"], what.words.stop_words, own["embedder"])


def _check_ending(out: Path, kind: str) -> None:
    ending = out.suffix.lower().removeprefix(".")
    alike = {"ndjson": "jsonl", "tab": "tsv", "pq": "parquet"}
    if ending and alike.get(ending, ending) != WRITTEN[kind] and len(ending) < 8:
        raise InvalidInput(
            f"{out.name} should end in .{WRITTEN[kind]}: files that are read in parts are written as the"
            " same type."
        )


def _texts(batches: Batches, what: Asked, store: Store, sample: Sample) -> Texts:
    """Read all texts once: words to disk, their frequencies counted, a sample of rows kept."""
    seen, ready, notes, n_missing = Frequencies(), None, list(batches.notes), 0
    words = what.words
    for rows in batches.read(slim=True):
        if ready is None or n_missing == sample.seen:  # blank rows say nothing about the language
            ready, about = words.ready(rows.texts)
        found = frequencies.split(ready, rows.texts)
        seen.add(found.words, found.df, found.n_texts)
        store.keep_split(found)
        sample.add(rows)
        n_missing += rows.n_missing
        what.tell("words", batches.n_read, batches.n_bytes)
        del rows, found  # before more is read
        if len(store.digests) % TRIM == 0:
            _system.release_memory()
    assert ready is not None  # there is a first batch
    check_any_text(sample.seen, n_missing)
    notes += about
    vocabulary, more = seen.vocabulary(words.min_df, words.max_df)
    if n_missing:
        notes.append(f"{counted(n_missing, 'row')} without text: cluster -1.")
    taken = readers.from_piece(sample.frame(), batches.text, batches.id)
    taken.notes.clear()
    taken.n_missing = 0  # said of all rows
    vectorizer = Vectorizer(vocabulary, ready)
    return Texts(store, vectorizer, taken, sample.rows, sample.seen, notes + more)


def _encoded(texts: Texts, groups: Clustering, batches: Batches, what: Asked) -> Counts:
    """All documents, in the vocabulary, with vectors if the clusters have any."""
    vocabulary = texts.vectorizer.words
    id_of = {word: i for i, word in enumerate(vocabulary)}
    located = groups.embedding is not None and groups.model.n_dimensions > 0
    again = _again(batches, texts.store.digests, slim=True) if located else None
    for found in texts.store.splits():
        vectors = None
        if again is not None:
            rows = next(again)
            vectors = groups.embedding.again(rows.texts, None, len(rows), "cluster_large")  # type: ignore[union-attr]
            del rows
        ids = frequencies.numbered(found, id_of)
        corpus = counts.from_ids(
            found.ptr, ids, len(vocabulary), "cluster_large", tie=True, vectors=vectors
        )
        texts.store.append(corpus, np.diff(found.ptr))
        what.tell("encoding", texts.store.stretches[-1].end_row, texts.n_rows)
        del found, vectors, ids, corpus
    return texts.store.counts(len(vocabulary), groups.model.n_dimensions)


def _again(
    batches: Batches, digests: Sequence[bytes], slim: bool = False
) -> Iterator[readers.Rows]:
    """Read all batches once more; an error if their texts are not those that became words."""
    read = batches.read(slim)
    for digest in [*digests, None]:
        rows = next(read, None)
        if (None if rows is None else digest_of(rows.texts)) != digest:
            raise InvalidInput("The file was changed while it was read. Cluster it again.")
        if rows is not None:
            yield rows
        del rows  # before more is read
