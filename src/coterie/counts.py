"""Counts: the bags of words that everything else uses, checked once here.

In: a scipy sparse matrix or array of word counts, or token ids. Out: a `Corpus`: the `Counts` of the
documents that have words (identical documents may be tied together), and the document of every input
row. Ids and counts are int32, pointers and totals int64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie._arrays import Steps, numbers, plain, plain_matrix
from coterie._sentence import counted, parameter
from coterie._sparse import as_csr
from coterie._tables import as_matrix, is_table
from coterie.errors import InvalidInput
from coterie.kernels import tally

INT32_MAX = 2**31 - 1
AT_ONCE = 8_192  # rows of vectors that are added up together, or as many as there are clusters
_MOVED = 4096  # and that are moved together
NO_VECTORS: Steps = np.zeros((0, 0), np.int16)


class Counts(NamedTuple):
    """Documents with at least one word each, as rows of a CSR matrix."""

    ptr: npt.NDArray[np.int64]  # (documents + 1,)
    word: npt.NDArray[np.int32]  # (entries,) distinct within a document
    tally: npt.NDArray[np.int32]  # (entries,) c_w, at least 1
    length: npt.NDArray[np.int64]  # (documents,) N_d, words of one copy
    weight: npt.NDArray[np.int64]  # (documents,) copies tied together
    n_words: int  # V
    vectors: Steps = NO_VECTORS  # (documents, dimensions), in steps, or none

    @property
    def n_docs(self) -> int:
        """Number of documents; tied documents count once."""
        return self.length.size


class Corpus(NamedTuple):
    """Counts, and the document of each input row."""

    counts: Counts
    doc_of_row: npt.NDArray[np.int64]  # -1: no words, or weight 0

    def per_row(self, per_doc: npt.NDArray[Any], missing: float) -> npt.NDArray[Any]:
        """Expand values per document to values per input row."""
        out = np.full(self.doc_of_row.shape, missing, per_doc.dtype)
        has = self.doc_of_row >= 0
        out[has] = per_doc[self.doc_of_row[has]]
        return out

    def per_document(self, per_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The value of the first row of each document."""
        rows = np.flatnonzero(self.doc_of_row >= 0)[::-1]
        out = np.empty(self.counts.n_docs, per_row.dtype)
        out[self.doc_of_row[rows]] = per_row[rows]
        return out

    def row_weights(self) -> npt.NDArray[np.int64]:
        """The weight of each row; the first of tied rows gets the whole weight, so that they add up."""
        out = np.zeros(self.doc_of_row.size, np.int64)
        out[self.per_document(np.arange(out.size))] = self.counts.weight
        return out


def from_matrix(
    X: Any,
    owner: str,
    sample_weight: npt.ArrayLike | None = None,
    tie: bool = False,
    vectors: Steps | None = None,
) -> Corpus:
    """Make a corpus from a sparse matrix, 2-D array or table of word counts, and check it.

    `vectors` are overwritten with those of the documents.
    """
    X = plain_matrix(as_matrix(X, f"X of {owner}") if is_table(X) else X, owner)
    matrix = as_csr(X, f"X of {owner}") if sparse.issparse(X) else _dense_to_csr(X, owner)
    if matrix.shape[1] > INT32_MAX:
        raise InvalidInput(f"X of {owner} has {matrix.shape[1]} columns. The maximum is 2^31 - 1.")
    ptr = matrix.indptr.astype(np.int64)
    amount = _whole_numbers(matrix, owner)
    word = np.array(matrix.indices[: ptr[-1]], np.int32)  # a copy: the matrix may change later
    seen = np.full(max(matrix.shape[1], 1), -1, np.int64)
    if not (amount > 0).all() or tally.has_repeats(ptr, word, seen):
        clean = sparse.csr_matrix((amount.astype(np.int64), word, ptr), matrix.shape, copy=True)
        clean.sum_duplicates()
        clean.eliminate_zeros()
        ptr, word = clean.indptr.astype(np.int64), clean.indices.astype(np.int32)
        amount = _fits_int32(clean.data, owner)
    csr = ptr, word, amount.astype(np.int32), matrix.shape[1]
    return _corpus(*csr, owner, sample_weight, tie, vectors)


def from_ids(
    ptr: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int32],
    n_words: int,
    owner: str,
    sample_weight: npt.ArrayLike | None = None,
    tie: bool = False,
    vectors: Steps | None = None,
) -> Corpus:
    """Make a corpus from token ids, document after document; negative ids are unknown words.

    `ids` is overwritten with the distinct words, and `vectors` with those of the documents.
    """
    amount = np.empty(ids.size, np.int32)
    new_ptr = np.empty(ptr.size, np.int64)
    seen = np.full(max(n_words, 1), -1, np.int64)
    n = tally.tally(ptr, ids, ids, amount, new_ptr, seen, np.empty(max(n_words, 1), np.int64))
    word, amount = _front(ids, n), _front(amount, n)
    return _corpus(new_ptr, word, amount, n_words, owner, sample_weight, tie, vectors)


def _corpus(
    ptr: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    amount: npt.NDArray[np.int32],
    n_words: int,
    owner: str,
    sample_weight: npt.ArrayLike | None,
    tie: bool,
    vectors: Steps | None,
) -> Corpus:
    n_rows = ptr.size - 1
    weight = _weights(sample_weight, n_rows, owner)
    used = (np.diff(ptr) > 0) & (weight > 0)
    rows = np.flatnonzero(used)
    doc_of_row = np.full(n_rows, -1, np.int64)
    if tie:
        first, doc_of_row[rows] = _groups(ptr, word, amount, rows, vectors)
        weight = np.bincount(doc_of_row[rows], weight[rows], first.size).astype(np.int64)
        rows = rows[first]
    else:
        doc_of_row[rows] = np.arange(rows.size)
        weight = weight[rows]
    if rows.size < n_rows:
        n = tally.move_forward(rows, ptr, word, amount)
        ptr, word, amount = ptr[: rows.size + 1], _front(word, n), _front(amount, n)
    length = _sums(ptr, amount)
    counts = Counts(ptr, word, amount, length, weight, n_words)
    if vectors is not None:
        counts = counts._replace(vectors=_kept(vectors, rows))
    check_totals(counts, owner)
    return Corpus(counts, doc_of_row)


def _front(array: npt.NDArray[np.int32], n: int) -> npt.NDArray[np.int32]:
    """The first entries of an array of ours; copied if that frees memory worth the copy."""
    return array[:n] if 4 * n > 3 * array.size else array[:n].copy()


def _kept(vectors: Steps, rows: npt.NDArray[np.int64]) -> Steps:
    """These rows (ascending), moved to the front where they are: a copy might not fit into memory."""
    if rows.size < len(vectors):
        for first in range(0, rows.size, _MOVED):
            some = rows[first : first + _MOVED]
            vectors[first : first + some.size] = vectors[some]
    return vectors[: rows.size]


def check_totals(counts: Counts, owner: str) -> None:
    """Raise an error if counts would overflow: the state stores word counts per cluster as int32."""
    if counts.word.size == 0:
        return
    totals = np.zeros(counts.n_words)
    tally.totals(counts.ptr, counts.word, counts.tally, counts.weight, totals)
    if totals.max() > INT32_MAX:
        w = int(totals.argmax())
        raise InvalidInput(
            f"Word {w} of {owner} occurs {totals[w]:.0f} times in total. The maximum for a word is"
            " 2^31 - 1: use smaller counts or weights."
        )


def _dense_to_csr(X: Any, owner: str) -> Any:
    array = plain(X, f"X of {owner}")
    if array.ndim != 2:
        raise InvalidInput(
            f"X of {owner} has {counted(array.ndim, 'dimension')}. Pass a 2-D matrix of word counts"
            " (documents x words), a list of texts or a list of token lists."
        )
    if array.dtype.kind not in "biuf":
        raise InvalidInput(
            f"X of {owner} holds {array.dtype}, not numbers. Pass word counts, texts or token lists."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        _say_first(array, ~np.isfinite(array), "NaN or infinite values", owner)
    return sparse.csr_matrix(array)


def _whole_numbers(matrix: Any, owner: str) -> npt.NDArray[Any]:
    """The data of the matrix, checked: finite, not negative, whole numbers, small enough."""
    data: npt.NDArray[Any] = matrix.data[: matrix.indptr[-1]]
    if data.dtype.kind not in "biuf":
        raise InvalidInput(f"X of {owner} holds {data.dtype}. Pass word counts as whole numbers.")
    if data.dtype.kind == "f":
        _refuse(matrix, ~np.isfinite(data), "NaN or infinite values", owner)
    if data.dtype.kind in "if":
        _refuse(matrix, data < 0, "negative values", owner)
    if data.dtype.kind == "f":
        _refuse(matrix, data != np.floor(data), "fractions", owner)
    return _fits_int32(data, owner)


def _fits_int32(data: npt.NDArray[Any], owner: str) -> npt.NDArray[Any]:
    if data.size and int(data.max()) > INT32_MAX:
        raise InvalidInput(f"X of {owner} holds a count of {data.max()}. The maximum is 2^31 - 1.")
    return data


def _refuse(matrix: Any, bad: npt.NDArray[np.bool_], what: str, owner: str) -> None:
    if bad.any():
        row = int(np.searchsorted(matrix.indptr, int(np.argmax(bad)), side="right")) - 1
        raise InvalidInput(_not_counts(what, row, owner))


def _say_first(array: npt.NDArray[Any], bad: npt.NDArray[np.bool_], what: str, owner: str) -> None:
    raise InvalidInput(_not_counts(what, int(np.argmax(bad.any(axis=1))), owner))


def _not_counts(what: str, row: int, owner: str) -> str:
    found = f"X of {owner} holds {what}"
    if what == "negative values":
        found = f"Negative values in data passed as X of {owner}"  # as in scikit-learn
    return (
        f"{found} (first in row {row}). Pass word counts, not tf-idf or embeddings:"
        " use CountVectorizer, or pass the texts themselves."
    )


def _weights(sample_weight: npt.ArrayLike | None, n_rows: int, owner: str) -> npt.NDArray[np.int64]:
    if sample_weight is None:
        return np.ones(n_rows, np.int64)
    of = parameter("sample_weight", owner)
    weight = plain(sample_weight, of)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.shape != (n_rows,):
        raise InvalidInput(
            of
            + f" has shape {weight.shape}. Pass one whole number for each of the {n_rows} documents."
        )
    ok = weight.dtype.kind in "biu" or (
        weight.dtype.kind == "f"
        and np.isfinite(weight).all()
        and (weight == np.floor(weight)).all()
    )
    if not ok or (weight < 0).any() or (weight > INT32_MAX).any():
        raise InvalidInput(
            of + " must be whole numbers from 0 to 2^31 - 1: a document of weight"
            " 3 counts as three identical documents."
        )
    return weight.astype(np.int64)


def _groups(
    ptr: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    amount: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    vectors: Steps | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Identical documents among rows: (first of each group, in order; group of each row).

    With vectors, documents are identical if their words are and their vectors are.
    """
    prints = np.empty((2, ptr.size - 1), np.uint64)
    tally.fingerprints(ptr, word, amount, prints[0], prints[1])
    first, group = _same_prints(prints, rows)
    if vectors is None or first.size == rows.size:
        return first, group
    several = rows[np.bincount(group)[group] > 1]  # others are unlike any document in their words
    factors = np.random.Philox(key=20160516).random_raw(2 * vectors.shape[1]) | np.uint64(1)
    bits = vectors.view(f"u{vectors.itemsize}")
    tally.vector_prints(several, bits, factors.reshape(2, -1), prints[0], prints[1])
    return _same_prints(prints, rows)


def _same_prints(
    prints: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows with the same pair of numbers: (first of each group, in order; group of each row)."""
    first, group = np.empty((2, rows.size), np.int64)
    slot = np.full(1 << (2 * rows.size + 1).bit_length(), -1, np.int32)
    n = tally.group(rows, prints[0], prints[1], slot, first, group)
    return first[:n].copy(), group


def vector_sums(counts: Counts, labels: npt.NDArray[np.integer], n: int) -> npt.NDArray[np.float64]:
    """The sum of the vectors with each of the labels 0..n-1; negative labels are left out."""
    sums = np.zeros((n, counts.vectors.shape[1]))
    at_once = max(AT_ONCE, n)
    for first in range(0, counts.n_docs if sums.size else 0, at_once):  # exact, in any order
        some = slice(first, first + at_once)
        own = labels[some].astype(np.int64)
        held = np.where(own < 0, 0.0, counts.weight[some])
        at = held, np.maximum(own, 0), np.arange(held.size + 1)
        sums += sparse.csc_matrix(at, (n, held.size)) @ numbers(counts.vectors[some])
    return sums


def subset(counts: Counts, rows: npt.NDArray[np.int64]) -> Counts:
    """The counts of some documents; words keep their numbers."""
    ptr, word, amount = _take(counts.ptr, counts.word, counts.tally, rows)
    kept = counts.length[rows], counts.weight[rows], counts.n_words
    if not counts.vectors.shape[1]:
        return Counts(ptr, word, amount, *kept)
    return Counts(ptr, word, amount, *kept, counts.vectors[rows])


def _take(
    ptr: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    amount: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Select rows of a CSR matrix."""
    part = sparse.csr_matrix((amount, word, ptr), (ptr.size - 1, int(word.max(initial=0)) + 1))[
        rows
    ]
    return part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data.astype(np.int32)


def _sums(ptr: npt.NDArray[np.int64], amount: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The sum of each row; rows are not empty."""
    if ptr.size == 1:
        return np.zeros(0, np.int64)
    return np.add.reduceat(amount, ptr[:-1], dtype=np.int64)
