"""What checking a matrix costs, against the fit that follows."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from coterie import GSDMM
from coterie._sparse import as_csr
from coterie.kernels import tally

LENGTH, WORDS, TOPICS, SWEEPS, REPEATS = 10, 100_000, 500, 5, 7


def measure(n: int, seed: int = 0) -> dict[str, Any]:
    """Seconds of all checks of an n-document matrix, and their share of a short fit."""
    X = corpus(n, seed)
    GSDMM(10, n_sweeps=1).fit(X[:1000])  # compiled before anything is timed
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        as_csr(X, "X")  # once where the user comes in, once where the corpus is made
        as_csr(X, "X")
        tally.has_repeats(X.indptr.astype(np.int64), X.indices, np.full(X.shape[1], -1))
        seconds.append(time.perf_counter() - began)
    began = time.perf_counter()
    GSDMM(1000, n_sweeps=SWEEPS, random_state=0).fit(X)
    fit = time.perf_counter() - began
    return {
        "documents": n,
        "checks_s": round(median(seconds), 4),
        "slowest_s": round(max(seconds), 4),
        "fit_s": round(fit, 2),
        "sweeps": SWEEPS,
        "share": round(median(seconds) / fit, 5),
        "failures": [],
    }


def corpus(n: int, seed: int) -> Any:
    """Documents of ten words, most of them from the document's own topic."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(TOPICS, size=(n, 1))
    own = topic * (WORDS // TOPICS) + rng.zipf(1.5, (n, LENGTH)) % (WORDS // TOPICS)
    word = np.where(rng.random((n, LENGTH)) < 0.7, own, rng.zipf(1.3, (n, LENGTH)) % WORDS)
    ptr = np.arange(0, n * LENGTH + 1, LENGTH)
    X = sparse.csr_matrix((np.ones(word.size, int), word.ravel(), ptr), (n, WORDS))
    X.sum_duplicates()
    return X
