"""A finished mixture as arrays: what the scoring kernels read, on any backend."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.counts import Corpus, Counts


class Frozen(NamedTuple):
    """Sizes and word counts in the form the scoring kernel reads: a CSR over words."""

    size: npt.NDArray[np.int64]  # (clusters,) m_k
    prior: npt.NDArray[
        np.float64
    ]  # (clusters,) what is added to it: alpha of the finite urn, a seed's own weight
    total: npt.NDArray[np.int64]  # (clusters,) n_k
    ptr: npt.NDArray[np.int64]  # (words + 1,)
    cluster: npt.NDArray[np.int32]
    held: npt.NDArray[np.int32]  # n_kw > 0
    gain: npt.NDArray[np.float64]  # ln(1 + n_kw / b_w)
    sums: npt.NDArray[
        np.float64
    ]  # (clusters, dimensions) sums of vectors; none where they do not count
    centre: npt.NDArray[np.float32]  # (dimensions, clusters) the same, to read from
    norm: npt.NDArray[np.float64]  # (clusters,) |S_k|^2


class LeaveOut(NamedTuple):
    """Documents that are in the frozen counts: each is left out when it is weighed."""

    cluster: npt.NDArray[np.int64]  # (documents,) the cluster it is counted in, or -1
    flag: npt.NDArray[np.uint8] | None = None  # (entries,) which of its words promote


def promoting_words(corpus: Corpus, flag: npt.NDArray[np.uint8]) -> Any:
    """Training rows x words, sparse: which words promote their relatives."""
    c = corpus.counts
    by_document = sparse.csr_matrix((flag, c.word, c.ptr), (c.n_docs, c.n_words), copy=True)
    by_document.eliminate_zeros()
    empty = sparse.csr_matrix(
        (1, c.n_words), dtype=np.uint8
    )  # the last one, for rows without words
    return sparse.vstack([by_document, empty], format="csr")[corpus.doc_of_row]


def flags_of(promoting: Any, counts: Counts, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """For each entry of documents that are these training rows, whether it promotes."""
    theirs = promoting[rows]
    width = theirs.shape[1]
    document = np.repeat(np.arange(rows.size), np.diff(counts.ptr))
    of = np.repeat(np.arange(rows.size), np.diff(theirs.indptr))
    return np.isin(document * width + counts.word, of * width + theirs.indices).astype(np.uint8)
