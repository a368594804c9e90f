"""The first assignment of documents to clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import _rng
from coterie.backends.base import Backend
from coterie.counts import Counts
from coterie.state import State, from_labels
from coterie.urns import NO_CAP, Urn

START_SWEEP = 0  # the address of everything drawn here

Init = str | int | npt.NDArray[np.int64]


def first_state(counts: Counts, urn: Urn, init: Init, key: int, backend: Backend) -> State:
    """State after the start named by `init`.

    "random": uniformly over the cap. "seeds": uniformly over the seeds (TSDPMM's Algorithm 1).
    "anchored": documents that share words with seeds in the best of these, the others as "random"
    (for the process: all in one cluster).
    "one": all in one cluster. A number: that many random clusters. "online": one pass, each document
    drawn given those before it. An array: these labels. The last three but "online", and "random",
    put no document in a seed.
    """
    if isinstance(init, str) and init == "online":
        absent = np.full(counts.n_docs, -1, np.int32)
        handle = backend.open(counts, urn, from_labels(counts, urn, absent))
        backend.sweep(handle, key, START_SWEEP)
        return backend.fetch(handle)
    return from_labels(counts, urn, first_labels(counts, urn, init, key))


def first_labels(counts: Counts, urn: Urn, init: Init, key: int) -> npt.NDArray[np.int32]:
    """Slots of a start that looks at no words: the seeds are the first, found clusters follow."""
    n_seeds = urn.seed_weight.size
    if isinstance(init, np.ndarray):
        return n_seeds + dense(init)
    if init == "one":
        return np.full(counts.n_docs, n_seeds, np.int32)
    u = _rng.uniform(key, START_SWEEP, np.arange(counts.n_docs), 0)
    if init == "seeds":
        return (u * n_seeds).astype(np.int32)
    n_clusters = urn.cap - n_seeds if urn.cap < NO_CAP else 1
    n_clusters = int(init) if isinstance(init, int) else n_clusters
    if init != "anchored":
        return n_seeds + dense((u * n_clusters).astype(np.int64))
    best = nearest_seed(counts, urn)
    free = best < 0
    if n_clusters == 0:
        return np.where(free, (u * n_seeds).astype(np.int32), best)
    best[free] = n_seeds + dense((u[free] * n_clusters).astype(np.int64))
    return best


def nearest_seed(counts: Counts, urn: Urn) -> npt.NDArray[np.int32]:
    """The seed whose words explain a document best, each as if alone; -1 where none shares a word."""
    n_seeds, n_words = urn.seed_weight.size, counts.n_words
    gain = np.log1p(urn.seed_count * urn.unit / urn.beta[urn.seed_word])
    shape = (n_seeds, n_words)
    seeds = sparse.csr_matrix((gain, urn.seed_word, urn.seed_ptr), shape)
    texts = sparse.csr_matrix((counts.tally, counts.word, counts.ptr), (counts.n_docs, n_words))
    shared = (texts @ seeds.T).tocoo()  # only pairs that share a word
    words = np.add.reduceat(urn.seed_count, urn.seed_ptr[:-1]) * urn.unit
    loss = np.log1p(words / urn.beta_sum)
    value = shared.data - counts.length[shared.row] * loss[shared.col]
    best = np.full(counts.n_docs, -1, np.int32)
    by_value = np.lexsort((-shared.col, value, shared.row))  # of equals the first seed comes last
    best[shared.row[by_value]] = shared.col[by_value]  # the last one written stays
    return best


def dense(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Labels renamed to 0, 1, ... in ascending order."""
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int32)
