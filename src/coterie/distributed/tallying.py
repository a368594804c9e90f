"""What documents add up to, cluster by cluster: documents and labels in, a `Tally` out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.counts import Counts, vector_sums


class Tally(NamedTuple):
    """What some documents add up to, cluster by cluster."""

    size: npt.NDArray[np.int64]  # (clusters,) documents, copies counted
    held: Any  # (clusters, words) sparse: occurrences
    sums: npt.NDArray[np.float64]  # (clusters, dimensions) of vectors

    def __add__(self, other: Any) -> Tally:
        return Tally(self.size + other.size, self.held + other.held, self.sums + other.sums)

    def __sub__(self, other: Any) -> Tally:
        return Tally(self.size - other.size, self.held - other.held, self.sums - other.sums)


def tally(counts: Counts, labels: npt.NDArray[np.integer], n: int) -> Tally:
    """Count documents with labels 0..n-1; negative ones are left out."""
    known = np.flatnonzero(labels >= 0)
    weight = counts.weight[known]
    at = (labels[known].astype(np.int64), known)
    member = sparse.csr_matrix((weight, at), (n, counts.n_docs))
    words = sparse.csr_matrix(
        (counts.tally.astype(np.int64), counts.word, counts.ptr), (counts.n_docs, counts.n_words)
    )
    size = np.bincount(labels[known], weight, n).astype(np.int64)
    return Tally(size, member @ words, vector_sums(counts, labels, n))


def grouped(tallied: Tally, number: npt.NDArray[np.integer], n: int) -> Tally:
    """The same counts for clusters under other numbers, 0..n-1; equal numbers are added, -1 dropped."""
    old = np.flatnonzero(number >= 0)
    ones = np.ones(old.size, np.int64)
    turn = sparse.csr_matrix((ones, (number[old], old)), (n, number.size))
    sums = np.zeros((n, tallied.sums.shape[1]))
    np.add.at(sums, number[old], tallied.sums[old])
    size = np.bincount(number[old], tallied.size[old], n).astype(np.int64)
    return Tally(size, turn @ tallied.held, sums)
