"""Finds related words from word vectors (GPU-DMM, Li et al. 2016, sections 3.2 and 4.2).

In: the vocabulary of a model and a source of vectors (a mapping, gensim's KeyedVectors, a file, a pair
or a function). Out: `read_vectors` returns the vectors of the words that have one, `related` the
related words M_w of each word as CSR arrays.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._allowed import check, number, whole
from coterie._arrays import plain
from coterie.embeddings._found import N_EXAMPLES, Found
from coterie.embeddings._sources import read_file
from coterie.errors import InvalidInput

_BLOCK_ROWS = 512  # rows of cosines at a time: BLAS is slow with fewer, and not faster with more
_BLOCK_BYTES = 256 << 20  # maximum size of a block
_PAIR_BYTES = 16 << 20  # products at a time, for pairs that single precision cannot decide
_KINDS = (
    "a mapping from words to vectors, gensim's KeyedVectors, the path of a word2vec, GloVe or .npz"
    " file, a pair (words, matrix), or a function from a word to its vector or None"
)


def _cosine(v: Any) -> str | None:
    """A number above -1 and below 1."""
    ok = number(-1.0, inclusive=False)(v) is None and float(v) < 1
    return None if ok else "a number above -1 and below 1"


ALLOWED: dict[str, Callable[[Any], str | None]] = {"threshold": _cosine, "max_related": whole(1)}


class Related(NamedTuple):
    """The related words of each word w: `word[ptr[w]:ptr[w + 1]]`, in increasing order, without w."""

    ptr: npt.NDArray[np.int64]  # (words + 1,)
    word: npt.NDArray[np.int32]
    n_vectors: int  # words that have a vector
    n_dropped: int  # words with more than max_related related words; their rows are empty


def related(
    words: Sequence[str],
    source: Any,
    threshold: float = 0.5,
    max_related: int = 20,
    *,
    owner: str = "word_vectors",
    block_rows: int | None = None,
) -> Related:
    """Find related words: M_w = {w' : cosine(w, w') > threshold}, empty if there are too many.

    Parameters
    ----------
    words : the vocabulary of the model; the result refers to words by position
    source : as for `read_vectors`; words without a vector have no related words
    threshold : words are related if their cosine is above this, in (-1, 1)
    max_related : a word with more related words than this, counting itself, gets none; it may still
        be a related word of others
    owner : the name of the source in error messages
    block_rows : words that are compared with all others at a time; the result does not depend on it

    Examples
    --------
    >>> vectors = {"cat": [1, 0, 0], "dog": [3, 1, 0], "car": [0, 0, 1]}
    >>> found = related(["car", "cat", "dog", "the"], vectors, threshold=0.5)
    >>> [found.word[a:b].tolist() for a, b in zip(found.ptr[:-1], found.ptr[1:])]
    [[], [2], [1], []]
    >>> found.n_vectors
    3
    """
    check("related", ALLOWED, dict(threshold=threshold, max_related=max_related))
    ids, vectors = read_vectors(source, words, owner)
    n_rows = block_rows or min(_BLOCK_ROWS, max(1, _BLOCK_BYTES // (4 * len(ids))))
    size, column, n_dropped = _neighbours(vectors, float(threshold), int(max_related), n_rows)
    ptr = np.zeros(len(words) + 1, np.int64)
    ptr[ids + 1] = size
    return Related(np.cumsum(ptr), ids[column].astype(np.int32), len(ids), n_dropped)


def read_vectors(
    source: Any, words: Sequence[str], owner: str = "word_vectors"
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Return the positions of the words that have a vector, in order, and their vectors.

    Parameters
    ----------
    source : one of
        a mapping from words to vectors; gensim's KeyedVectors, or a model that has them as `wv`;
        the path of a file: word2vec (binary or text) or GloVe, which may be gzipped, or an .npz file
        with `words` and `vectors` (or one array of strings and one matrix with any other names);
        a pair (words, matrix); a function that returns the vector of a word, or None (or raises
        KeyError) if there is none. Files are read once, and only the vectors needed are kept.
    words : the words to look for; they must match exactly. If the source has a word twice, the first
        vector is used
    owner : the name of the source in error messages

    Examples
    --------
    >>> ids, vectors = read_vectors({"dog": [3, 1], "cat": [1, 0]}, ["cat", "the", "dog"])
    >>> ids, vectors
    (array([0, 2]), array([[1., 0.],
           [3., 1.]], dtype=float32))
    """
    found = _collect(source, dict.fromkeys(words), owner)
    ids = [i for i, word in enumerate(words) if word in found.rows]
    if not ids:
        raise InvalidInput(_nothing_shared(words, found.examples, owner))
    rows = [_row(words[i], found.rows[words[i]], owner) for i in ids]
    for i, row in zip(ids, rows, strict=True):
        if row.size != rows[0].size:
            raise InvalidInput(
                f"{owner} has vectors of different lengths: {words[i]!r} has {row.size} numbers,"
                f" {words[ids[0]]!r} has {rows[0].size}. All vectors must have the same length."
            )
    vectors = np.stack(rows)
    _check_each(np.isfinite(vectors).all(axis=1), "contains NaN or infinity", words, ids, owner)
    _check_each(vectors.any(axis=1), "is zero, so it has no direction", words, ids, owner)
    return np.array(ids, np.int64), vectors


# ---------------------------------------------------------------- sources of vectors
def _collect(source: Any, wanted: Collection[str], owner: str) -> Found:
    if isinstance(source, str | os.PathLike):
        return read_file(source, wanted, owner)
    source = getattr(source, "wv", source)  # gensim's Word2Vec and FastText
    if isinstance(source, Mapping):
        return Found(_answers(source.get, wanted, source), _first(source))
    if hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        index, vectors = source.key_to_index, source.vectors
        rows = {word: vectors[index[word]] for word in wanted if word in index}
        return Found(rows, _first(index))
    if isinstance(source, tuple | list) and len(source) == 2:
        return _of_pair(source[0], source[1], wanted, owner)
    if hasattr(source, "get_vector") and hasattr(source, "__contains__"):
        return Found(_answers(source.get_vector, wanted, source), [])
    if callable(source):
        return Found(_answers(source, wanted), [])
    raise InvalidInput(f"{owner} must be {_KINDS}; got {type(source).__name__}.")


def _answers(ask: Callable[[str], Any], wanted: Iterable[str], known: Any = None) -> dict[str, Any]:
    """Ask a function for the vector of each known word; None and KeyError mean that there is none."""
    rows = {}
    for word in wanted:
        if known is not None and word not in known:
            continue
        try:
            row = ask(word)
        except KeyError:
            continue
        if row is not None:
            rows[word] = row
    return rows


def _of_pair(words: Any, matrix: Any, wanted: Collection[str], owner: str) -> Found:
    try:
        names = list(words)
        table = (
            plain(matrix, f"The matrix of {owner}") if hasattr(matrix, "shape") else list(matrix)
        )
    except (TypeError, ValueError, RuntimeError):  # not sequences, or a tensor on a device
        if np.ma.isMaskedArray(matrix):
            raise
        names, table = [], []
    is_text = isinstance(words, str) or isinstance(matrix, str)
    if is_text or not names or not all(isinstance(name, str) for name in names):
        raise InvalidInput(
            f"{owner} as a pair must be (words, matrix): a list of strings, and one row per word."
        )
    if isinstance(table, np.ndarray) and table.ndim != 2:
        raise InvalidInput(
            f"The matrix of the pair {owner} must have 2 dimensions, with one row per word; it"
            f" has {table.ndim}."
        )
    if len(names) != len(table):
        raise InvalidInput(
            f"The pair {owner} has {len(names)} words and {len(table)} vectors. Pass one vector per word."
        )
    rows: dict[str, Any] = {}
    for name, row in zip(names, table, strict=True):
        if name in wanted:
            rows.setdefault(name, row)
    return Found(rows, names[:N_EXAMPLES])


def _first(words: Iterable[Any]) -> list[str]:
    return [str(word) for word in islice(words, N_EXAMPLES)]


# ---------------------------------------------------------------- checking vectors
def _row(word: str, value: Any, owner: str) -> npt.NDArray[np.float32]:
    try:
        row = plain(value, f"The vector of {word!r} in {owner}")
    except InvalidInput:
        if np.ma.isMaskedArray(value):
            raise
        row = np.asarray(None)
    if row.ndim != 1 or row.size == 0 or row.dtype.kind not in "fiu":
        raise InvalidInput(
            f"The vector of {word!r} in {owner} must be a row of numbers; got {type(value).__name__}"
            f"{f' of shape {row.shape}' if row.ndim else ''}."
        )
    with np.errstate(over="ignore"):  # infinity is reported later, with its word
        return row.astype(np.float32, copy=False)


def _check_each(
    fine: npt.ArrayLike, what: str, words: Sequence[str], ids: list[int], owner: str
) -> None:
    wrong = np.flatnonzero(np.logical_not(fine))
    if wrong.size:
        others = f" (and {wrong.size - 1} more)" if wrong.size > 1 else ""
        raise InvalidInput(
            f"The vector of {words[ids[wrong[0]]]!r}{others} in {owner} {what}. Remove the word or"
            " correct its vector."
        )


def _nothing_shared(words: Sequence[str], examples: list[str], owner: str) -> str:
    sides = [("words:", list(words[:N_EXAMPLES])), ("vectors:", examples)]
    shown = "; ".join(
        f"{side} {', '.join(repr(word[:40]) for word in some)}" for side, some in sides if some
    )
    return (
        f"None of the {len(words)} words has a vector in {owner}{f' ({shown})' if shown else ''}."
        " Words must match exactly, including upper and lower case."
    )


# ---------------------------------------------------------------- finding related words
def _neighbours(
    vectors: npt.NDArray[np.float32], threshold: float, max_related: int, n_rows: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """Return (number of related words per row, these words row after row, number of dropped rows).

    The rule is `_cosines(...) > threshold`, in double precision. Single precision finds the candidate
    pairs: its rounding error, for any order in which BLAS sums, is below `margin`, and pairs closer to
    the threshold than that are decided in double precision.
    """
    n, dim = vectors.shape
    square = np.concatenate([_dots(vectors, part, part) for part in _parts(np.arange(n), dim)])
    unit = np.empty_like(vectors)
    for part in _parts(np.arange(n), dim):
        unit[part] = vectors[part] / np.sqrt(square[part, None])
    margin = (dim + 8) * 2.0**-23  # twice the bound (dim + 2) 2^-24 for unit vectors
    size, n_dropped = np.zeros(n, np.int64), 0
    columns: list[npt.NDArray[np.int64]] = []
    # shared by all blocks: allocating new memory costs as much as the product
    buffer = np.empty((min(n_rows, n), n), np.float32)
    for start in range(0, n, n_rows):
        some = unit[start : start + n_rows]
        block = np.matmul(some, unit.T, out=buffer[: len(some)])
        own = np.arange(len(some))
        block[own, start + own] = -math.inf
        may = block > threshold - margin
        # drop rows before listing their pairs, which could be all pairs with a low threshold
        dropped = np.count_nonzero(may, axis=1) >= max_related
        sure = block[dropped] > threshold + margin
        dropped[dropped] = np.count_nonzero(sure, axis=1) >= max_related
        may[dropped] = False
        row, column = np.divmod(np.flatnonzero(may), n)
        close = np.flatnonzero(block[row, column] <= threshold + margin)
        meets = np.ones(len(row), bool)
        meets[close] = _cosines(vectors, square, start + row[close], column[close]) > threshold
        row, column = row[meets], column[meets]
        kept = np.bincount(row, minlength=len(some))
        dropped |= kept >= max_related
        kept[dropped] = 0
        columns.append(column[~dropped[row]])
        size[start : start + len(some)] = kept
        n_dropped += int(dropped.sum())
    return size, np.concatenate(columns), n_dropped


def _cosines(
    vectors: npt.NDArray[np.float32],
    square: npt.NDArray[np.float64],
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Cosines of pairs of rows; the result for a pair does not depend on the other pairs."""
    cosine = np.empty(len(left))
    for part in _parts(np.arange(len(left)), vectors.shape[1]):
        i, j = left[part], right[part]
        # a single square root is exact if the lengths are, as for (1, 1, 0) and (1, 0, 1)
        cosine[part] = _dots(vectors, i, j) / np.sqrt(square[i] * square[j])
    return cosine


def _dots(
    vectors: npt.NDArray[np.float32], left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Dot products: products of float32 are exact in float64, and accumulate sums from left to right."""
    products = vectors[left].astype(np.float64) * vectors[right]
    return np.asarray(np.add.accumulate(products, axis=1, out=products)[:, -1].copy())


def _parts(rows: npt.NDArray[np.int64], dim: int) -> Iterable[npt.NDArray[np.int64]]:
    step = max(1, _PAIR_BYTES // (8 * dim))
    return (rows[start : start + step] for start in range(0, len(rows), step))
