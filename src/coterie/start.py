"""The first assignment of documents to clusters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie.backends.base import Backend
from coterie.counts import Counts
from coterie.state import State, from_labels
from coterie.urns import Urn

START_SWEEP = 0  # the address of everything drawn here

Init = str | int | npt.NDArray[np.int64]


def first_state(counts: Counts, urn: Urn, init: Init, key: int, backend: Backend) -> State:
    """State after the start named by `init`.

    "random": uniformly over the cap. "seeds": uniformly over the seeds (TSDPMM's Algorithm 1).
    "one": all in one cluster. A number: that many random clusters. "online": one pass, each document
    drawn given those before it. An array: these labels. Except for "seeds" and "online", no document
    starts in a seed.
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
    n_clusters = urn.cap - n_seeds if init == "random" else int(init)
    return n_seeds + dense((u * n_clusters).astype(np.int64))


def dense(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Labels renamed to 0, 1, ... in ascending order."""
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int32)
