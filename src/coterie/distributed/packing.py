"""Counts of clusters for the network, without loss: tally in, few bytes out, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.distributed.tallying import Tally

STEP = 2**16


class Packed(NamedTuple):
    """A tally in the smallest numbers that hold it; usually three bytes per entry of `held`.

    The table is read row after row, as one line. An entry says how far it is from the one before:
    `step` + 2**16 `leap`, where only the leaps that are not 0 are kept.
    """

    n_words: int
    size: npt.NDArray[np.integer]
    value: npt.NDArray[np.integer]
    step: npt.NDArray[np.uint16]
    far: npt.NDArray[np.integer]  # the entries with a leap
    leap: npt.NDArray[np.integer]
    row: npt.NDArray[np.integer]  # the clusters whose sums of vectors are not 0
    sums: npt.NDArray[Any]  # these rows
    n_dimensions: int


def packed(tally: Tally) -> Packed:
    """A tally for the network."""
    held = sparse.csr_matrix(tally.held)
    held.eliminate_zeros()
    held.sort_indices()
    n_words = held.shape[1]
    rows = np.repeat(np.arange(held.shape[0], dtype=np.int64), np.diff(held.indptr))
    leap, step = np.divmod(np.diff(rows * n_words + held.indices, prepend=0), STEP)
    far = np.flatnonzero(leap)
    row = np.flatnonzero(tally.sums.any(axis=1))
    return Packed(
        n_words,
        _small(tally.size),
        _small(held.data),
        step.astype(np.uint16),
        _small(far),
        _small(leap[far]),
        _small(row),
        _short(tally.sums[row]),
        tally.sums.shape[1],
    )


def unpacked(small: Packed) -> Tally:
    """The tally that was packed."""
    n, step = small.size.size, small.step.astype(np.int64)
    step[small.far] += STEP * small.leap.astype(np.int64)
    row, word = np.divmod(np.cumsum(step), small.n_words)
    ends = np.cumsum(np.bincount(row, minlength=n))
    at = np.concatenate([[0], ends]).astype(np.int32), word.astype(np.int32)
    held = sparse.csr_matrix((small.value.astype(np.int64), at[1], at[0]), (n, small.n_words))
    sums = np.zeros((n, small.n_dimensions))
    sums[small.row] = small.sums
    return Tally(small.size.astype(np.int64), held, sums)


def _small(values: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    least, most = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.min_scalar_type(min(least, -1 - most)))


def _short(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Vectors are whole numbers of 8 or 16 bits times a power of two, so their sums often fit."""
    for kind in (np.float16, np.float32):
        with np.errstate(over="ignore"):
            short = values.astype(kind)
        if np.array_equal(short, values):
            return short
    return values
