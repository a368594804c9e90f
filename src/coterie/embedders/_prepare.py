"""Raw vectors -> the vectors that an urn can add up exactly.

The corpus mean is removed and rows are scaled to length 1: with plain means of token vectors this was
as good as or better than weights by idf or SIF on eight labelled sets. Rounded to multiples of 2**-14,
their float64 sums are exact for up to 2**38 rows, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._arrays import STEP, Steps, plain
from coterie._sentence import Sentence, parameter
from coterie.embedders._base import Vectors
from coterie.errors import InvalidInput

_BLOCK = 4096  # rows at a time
_BITS = 2.0**24  # per part of a number, in the exact sum: whole numbers add up exactly to 2**53
_SAME = 2.0**-20  # a row that is closer to the mean, relative to its length, is the mean


def prepare(
    raw: Any,
    mean: npt.NDArray[np.float64] | None = None,
    *,
    n_rows: int | None = None,
) -> tuple[Steps, npt.NDArray[np.float64]]:
    """Vectors of length 1 without the corpus mean, as whole numbers of 2**-14, and that mean.

    Parameters
    ----------
    raw : a matrix with a row per document; rows of zeros say nothing and stay zero, and so does a
        row that equals the mean
    mean : the mean of the corpus that a model was fitted on; None for that of these rows (without
        those that are zero), which does not depend on their order
    n_rows : how many documents there are, to be checked

    Examples
    --------
    >>> vectors, mean = prepare([[3.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    >>> vectors, mean
    (array([[ 16384,      0],
           [-16384,      0],
           [     0,      0]], dtype=int16), array([2., 1.]))
    """
    rows = check_vectors(raw, n_rows)
    mean = _mean(rows) if mean is None else _checked_mean(mean, rows.shape[1])
    vectors = np.empty(rows.shape, np.int16)
    for part in _parts(len(rows)):
        block = rows[part].astype(np.float64)
        length = _lengths(block)
        block -= mean
        centred = _lengths(block)
        means = (length > 0) & (centred > _SAME * length)
        factor = np.divide(1 / STEP, centred, out=np.zeros_like(centred), where=means)
        block *= factor[:, None]
        vectors[part] = np.rint(block, out=block)
    return vectors, mean


def check_vectors(raw: Any, n_rows: int | None = None, what: str | None = None) -> Vectors:
    """Vectors of documents as a float32 matrix, or a refusal; not a copy where they are one already.

    `what` begins the refusal; it is the parameter `embeddings` otherwise.
    """
    what = parameter("embeddings") if what is None else what
    if hasattr(raw, "toarray") or isinstance(raw, str | bytes):
        kind = "a text" if isinstance(raw, str | bytes) else "a sparse matrix"
        raise InvalidInput(what + f" must be a matrix of numbers, a row per document; got {kind}.")
    array = plain(raw, what)
    if array.dtype.kind not in "fiu":
        kind = "objects" if array.dtype.kind == "O" else str(array.dtype)
        raise InvalidInput(what + f" must hold real numbers; got {kind}.")
    if array.ndim != 2:
        raise InvalidInput(
            what + f" must have 2 dimensions, a row per document; got {array.ndim} dimension(s)."
        )
    if n_rows is not None and len(array) != n_rows:
        raise InvalidInput(
            what
            + f" must have a row for each of the {n_rows:,} documents; got {len(array):,} rows."
        )
    if array.shape[1] == 0:
        raise InvalidInput(what + " must have at least one number per row; got none.")
    with np.errstate(over="ignore"):  # found below
        rows: Vectors = np.ascontiguousarray(array, dtype=np.float32)
    for part in _parts(len(rows)):
        wrong = np.flatnonzero(~np.isfinite(rows[part]).all(axis=1))
        if wrong.size:
            at = part.start + int(wrong[0])
            raise InvalidInput(
                what + f" must be finite; row {at:,} holds {_which(array[at])} (rows count from 0)."
            )
    return rows


def _which(row: npt.NDArray[Any]) -> str:
    if np.isnan(row).any():
        return "NaN"
    return "infinity" if np.isinf(row).any() else "a number too large for float32"


def _checked_mean(mean: Any, n_dimensions: int) -> npt.NDArray[np.float64]:
    array = np.asarray(mean, np.float64)
    if array.shape != (n_dimensions,) or not np.isfinite(array).all():
        of = f"{array.shape[0]} numbers" if array.ndim == 1 else f"shape {array.shape}"
        raise InvalidInput(
            Sentence(
                parameter("embeddings"),
                f" has {n_dimensions} numbers per row, but the mean of the corpus has {of}; use the"
                " embedder that the model was fitted with.",
            )
        )
    return array


def _mean(rows: Vectors) -> npt.NDArray[np.float64]:
    """The mean of the rows that are not zero: a sum of whole numbers, so exact in any order.

    Each number is a part of 24 bits and the next 24 bits below them, both relative to the greatest
    number there is: what is lost is 2**-49 of that.
    """
    n_dimensions = rows.shape[1]
    high, low, n = np.zeros(n_dimensions), np.zeros(n_dimensions), 0
    top = max((float(np.abs(rows[part]).max()) for part in _parts(len(rows))), default=0.0)
    if top == 0:
        return high
    scale = 2.0 ** (int(np.frexp(top)[1]) - 24)  # numbers are below 2**24 of it
    for part in _parts(len(rows)):
        block = rows[part].astype(np.float64)
        n += int(np.count_nonzero(block.any(axis=1)))
        block *= 1 / scale
        whole = np.rint(block)
        high += whole.sum(axis=0)
        block -= whole
        block *= _BITS
        low += np.rint(block, out=block).sum(axis=0)
    mean: npt.NDArray[np.float64] = (high + low / _BITS) / n * scale
    return mean


def _lengths(block: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Lengths of rows, added up from left to right: the same number on every machine."""
    square = np.add.accumulate(block * block, axis=1)[:, -1]
    length: npt.NDArray[np.float64] = np.sqrt(square)
    return length


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
