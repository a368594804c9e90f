"""In how many documents of a reference corpus words occur, alone and together; for `metrics.coherence`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._sparse import as_csr
from coterie.errors import InvalidInput

if TYPE_CHECKING:  # importing `metrics` must not load numba
    from coterie.counts import Counts

Word = str | int

_BITS = 63  # words of a cluster that are counted together, a bit each


class ReferenceCounts(NamedTuple):
    """Numbers of documents of a reference corpus in which words occur, alone and together.

    Made by `reference_counts`, or by you from counts over a larger corpus.

    n_docs : documents with at least one word
    doc_freq : word (or word id) -> documents that contain it
    pair_freq : (word, word), in either order -> documents that contain both; missing pairs count 0
    """

    n_docs: int
    doc_freq: Mapping[Word, int]
    pair_freq: Mapping[tuple[Word, Word], int]


def in_documents(counts: Counts, lists: Sequence[Sequence[int]]) -> ReferenceCounts:
    """Count the words of some lists in the documents of a corpus, and pairs of words of the same list.

    All documents count. For a million of them, a matrix of all words would take hundreds of megabytes.
    """
    from coterie.kernels import tally

    used = np.array(sorted({word for words in lists for word in words}), np.int64)
    place = np.full(counts.n_words, -1, np.int64)
    place[used] = np.arange(used.size)
    ptr = np.zeros(used.size + 1, np.int64)
    tally.holders(counts.ptr, counts.word, place, ptr[1:], np.zeros(0, np.int32))
    ptr = np.cumsum(ptr)
    held = np.empty(int(ptr[-1]), np.int32)
    tally.holders(counts.ptr, counts.word, place, ptr[:-1].copy(), held)
    freq = np.diff(ptr)
    mark = np.zeros(counts.n_docs, np.uint64)
    pair_freq: dict[tuple[Word, Word], int] = {}
    for words in lists:
        rows = [held[ptr[k] : ptr[k + 1]] for k in place[np.array(words, np.int64)]]
        for (i, j), n in _pairs(rows, mark).items():
            pair_freq[words[i], words[j]] = n
    doc_freq = dict(zip(used.tolist(), freq.tolist(), strict=True))
    return ReferenceCounts(counts.n_docs, doc_freq, pair_freq)


def counter(
    reference: Any, vocabulary: Sequence[str] | None, what: str
) -> Callable[[Sequence[Word]], ReferenceCounts]:
    """Check the reference, and return a function that counts words in it."""
    if isinstance(reference, ReferenceCounts):
        if reference.n_docs < 1:
            raise InvalidInput(f"{what} must count at least one document, got {reference.n_docs}.")
        return lambda words: reference
    if not (sp.issparse(reference) or (isinstance(reference, np.ndarray) and reference.ndim == 2)):
        raise InvalidInput(
            f"{what} must be a matrix of documents x words, got {type(reference).__name__}."
        )
    if sp.issparse(reference):
        reference = as_csr(reference, what).copy()  # the comparison sorts the indices in place
    n_columns = reference.shape[1]
    if vocabulary is not None and len(vocabulary) != n_columns:
        raise InvalidInput(
            f"{what} has {n_columns} columns, but vocabulary has {len(vocabulary)} words."
        )
    place = None if vocabulary is None else {word: i for i, word in enumerate(vocabulary)}
    present = sp.csc_array(reference != 0, dtype=np.int32)
    has_words = np.zeros(present.shape[0], bool)  # documents without words do not count
    has_words[present.indices] = True
    n_docs = int(has_words.sum())
    if n_docs == 0:
        raise InvalidInput(f"{what} contains no words.")

    ptr, held, mark = present.indptr, present.indices, np.zeros(present.shape[0], np.uint64)

    def count(words: Sequence[Word]) -> ReferenceCounts:
        columns = {word: _column(word, place, n_columns, what) for word in words}
        places = {word: column for word, column in columns.items() if column is not None}
        known = list(places)
        if len(known) <= _BITS:
            rows = [held[ptr[column] : ptr[column + 1]] for column in places.values()]
            pair_freq = _pairs(rows, mark)
            return ReferenceCounts(
                n_docs=n_docs,
                doc_freq={word: rows[i].size for i, word in enumerate(known)},
                pair_freq={(known[i], known[j]): n for (i, j), n in pair_freq.items()},
            )
        chosen = present[:, list(places.values())]
        pairs = sp.coo_array(sp.triu(chosen.T @ chosen, k=1))
        return ReferenceCounts(
            n_docs=n_docs,
            doc_freq=dict(zip(known, chosen.sum(axis=0).tolist(), strict=True)),
            pair_freq={
                (known[i], known[j]): int(n)
                for i, j, n in zip(*pairs.coords, pairs.data, strict=True)
            },
        )

    return count


def _pairs(
    rows: Sequence[npt.NDArray[Any]], mark: npt.NDArray[np.uint64]
) -> dict[tuple[int, int], int]:
    """In how many documents two words occur together; `mark` is scratch, 0 before and after."""
    found = {}
    for j, own in enumerate(rows):
        seen = mark[own]
        for i in range(j):
            n = int(np.count_nonzero(seen & np.uint64(1 << i)))
            if n:
                found[i, j] = n
        mark[own] |= np.uint64(1 << j)
    for own in rows:
        mark[own] = 0
    return found


def _column(word: Word, place: Mapping[str, int] | None, n_columns: int, what: str) -> int | None:
    """The column of a word (or id) in the reference; None if it is not in it."""
    if isinstance(word, str):
        if place is None:
            raise InvalidInput(
                f"{what} is a matrix without column names, so the word {word!r} cannot be found. Also "
                "pass vocabulary= (the words in column order)."
            )
        return place.get(word)
    if not 0 <= word < n_columns:
        raise InvalidInput(f"{what} has {n_columns} columns, so there is no word number {word}.")
    return int(word)
