"""The first assignment of documents to clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import _rng
from coterie.backends.base import Backend
from coterie.counts import Counts
from coterie.errors import InvalidInput
from coterie.state import Assignment, assigned, dense, from_labels
from coterie.urns import NO_CAP, Urn, changed

START_SWEEP = 0  # the address of everything drawn here
PAIRS = 2_000_000  # of documents and seeds compared at a time

Named = str | int | npt.NDArray[np.int64]
Init = Named | Assignment


def first_assignment(
    counts: Counts, urn: Urn, init: Init, key: int, backend: Backend
) -> Assignment:
    """The assignment that `init` names.

    "random": uniformly over the cap. "one": all in one cluster. A number: that many random clusters.
    An array: these labels. None of these puts a document in a seed. "seeds": uniformly over the seeds
    (TSDPMM's Algorithm 1). "anchored": documents that share words with seeds in the best of these,
    the others as "random" (process: in one cluster). "online": one pass, each document drawn given
    those before it. An assignment: itself. No word promotes others before the first sweep (GPU-DMM's
    Algorithm 1).
    """
    if isinstance(init, Assignment):
        return init
    if isinstance(init, str) and init == "online":
        quiet = changed(urn, promotion=0)
        absent = np.full(counts.n_docs, -1, np.int32)
        chain = backend.open(counts, quiet, from_labels(counts, quiet, absent).assignment)
        chain.sweep(key, START_SWEEP)
        return assigned(counts, urn, chain.assignment().labels)
    return assigned(counts, urn, first_labels(counts, urn, init, key))


def first_labels(counts: Counts, urn: Urn, init: Named, key: int) -> npt.NDArray[np.int32]:
    """Slots of a start that draws nothing: the seeds are the first, found clusters follow."""
    n_seeds = urn.seeds.weight.size
    u = _rng.uniform(key, START_SWEEP, np.arange(counts.n_docs), _rng.DRAW_TRY)
    if isinstance(init, np.ndarray):
        return _after_seeds(urn, dense(init))
    if init == "one":
        return _after_seeds(urn, np.zeros(counts.n_docs, np.int32))
    if init == "seeds":
        return (u * n_seeds).astype(np.int32)
    room = urn.sizes.cap - n_seeds if urn.sizes.cap < NO_CAP else 1
    if init != "anchored":
        n_clusters = room if init == "random" else int(init)
        return _after_seeds(urn, dense((u * n_clusters).astype(np.int64)))
    best = nearest_seed(counts, urn)
    free = best < 0
    if room == 0:
        return np.where(free, (u * n_seeds).astype(np.int32), best)
    best[free] = _after_seeds(urn, dense((u[free] * room).astype(np.int64)))
    return best


def _after_seeds(urn: Urn, found: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    n_seeds, most = urn.seeds.weight.size, int(found.max(initial=-1)) + 1
    if most > urn.sizes.cap - n_seeds:
        raise InvalidInput(
            f"A start with {most} clusters is not possible: at most {urn.sizes.cap} are allowed,"
            f" and {n_seeds} of them are seeds. Start with fewer, or use init='seeds'."
        )
    return n_seeds + found


def nearest_seed(counts: Counts, urn: Urn) -> npt.NDArray[np.int32]:
    """The seed whose words explain a document best, each as if alone; -1 where none shares a word."""
    n_seeds, n_words = urn.seeds.weight.size, counts.n_words
    gain = np.log1p(urn.seeds.tally * urn.words.unit / urn.words.beta[urn.seeds.word])
    seeds = sparse.csr_matrix((gain, urn.seeds.word, urn.seeds.ptr), (n_seeds, n_words)).T.tocsr()
    texts = sparse.csr_matrix((counts.tally, counts.word, counts.ptr), (counts.n_docs, n_words))
    words = np.add.reduceat(urn.seeds.tally, urn.seeds.ptr[:-1], dtype=np.int64) * urn.words.unit
    loss = np.log1p(words / urn.words.beta_sum)
    best = np.full(counts.n_docs, -1, np.int32)
    step = max(1, PAIRS // n_seeds)
    for first in range(0, counts.n_docs, step):
        shared = (texts[first : first + step] @ seeds).tocoo()  # only pairs that share a word
        row = first + shared.row
        value = shared.data - counts.length[row] * loss[shared.col]
        by_value = np.lexsort((-shared.col, value, row))  # of equals the first seed comes last
        best[row[by_value]] = shared.col[by_value]  # the last one written stays
    return best
