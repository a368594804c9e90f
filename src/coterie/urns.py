"""Urns: what the model believes, as data. A kernel reads these arrays and never calls back.

found cluster weighs  size + size_prior      seed k weighs  size + seed_weight[k]
a new cluster weighs  open_weight + size_prior * (cap - open clusters)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.counts import from_matrix
from coterie.errors import InvalidInput

NO_CAP = 2**62


class Urn(NamedTuple):
    """An urn scheme. Counts in a state are whole numbers of `unit`; beta is in plain counts."""

    beta: npt.NDArray[np.float64]  # (words,) b_w
    beta_sum: float  # V b
    burst: float  # 1: Eq. 4, a repeated word counts n, n+1, ...; 0: Eq. 3, (n + b)^c
    size_prior: float  # alpha of the finite urn, 0 for the process
    open_weight: float  # alpha of the process, 0 for the finite urn
    cap: int  # clusters at most
    unit: float  # what a stored count of 1 is worth
    seed_weight: npt.NDArray[np.float64]  # (seeds,) the first slots; never closed
    seed_ptr: npt.NDArray[np.int64]  # (seeds + 1,) their pseudo-counts as a CSR
    seed_word: npt.NDArray[np.int32]
    seed_count: npt.NDArray[np.int32]


def finite(n_clusters: int, alpha: float, beta: npt.NDArray[np.float64], burst: bool = True) -> Urn:
    """GSDMM's urn: at most `n_clusters`, each weighing its size + alpha."""
    return _urn(beta, burst, size_prior=alpha, open_weight=0.0, cap=n_clusters)


def process(alpha: float, beta: npt.NDArray[np.float64], burst: bool = True) -> Urn:
    """GSDPMM's urn: found clusters weigh their size, a new one alpha."""
    return _urn(beta, burst, size_prior=0.0, open_weight=alpha, cap=NO_CAP)


def per_word(beta: float | npt.ArrayLike, n_words: int) -> npt.NDArray[np.float64]:
    """One beta a word, from a number or an array."""
    return np.broadcast_to(np.asarray(beta, np.float64), (n_words,)).copy()


def _urn(
    beta: npt.NDArray[np.float64], burst: bool, size_prior: float, open_weight: float, cap: int
) -> Urn:
    return Urn(
        beta=beta,
        beta_sum=float(beta.sum()),
        burst=1.0 if burst else 0.0,
        size_prior=float(size_prior),
        open_weight=float(open_weight),
        cap=int(cap),
        unit=1.0,
        seed_weight=np.zeros(0),
        seed_ptr=np.zeros(1, np.int64),
        seed_word=np.zeros(0, np.int32),
        seed_count=np.zeros(0, np.int32),
    )


def word_beta(X: Any, mean: float = 0.1, by: str = "idf") -> npt.NDArray[np.float64]:
    """One beta a word, larger for words that tell less, from a matrix of word counts.

    by="idf": in proportion to 1 / (1 + ln((1 + D) / (1 + df_w))), so that a word of every document
    counts least (GSDMM 3.1). by="frequency": in proportion to the word's share of words (X-DMM).
    The values average `mean`, and none is below a thousandth of it.

    >>> import numpy as np
    >>> word_beta(np.array([[1, 1], [1, 0], [1, 0]]), mean=0.1).round(3)
    array([0.126, 0.074])
    """
    if by not in ("idf", "frequency"):
        raise InvalidInput(f"by of word_beta must be 'idf' or 'frequency'; got {by!r}.")
    if isinstance(mean, bool | str) or not 0 < mean < np.inf:
        raise InvalidInput(f"mean of word_beta must be a number above 0; got {mean!r}.")
    corpus = from_matrix(X, "word_beta")
    counted, n_rows = corpus.counts, corpus.doc_of_row.size
    if counted.n_docs == 0:
        raise InvalidInput("X of word_beta has no words, so there is nothing to weigh.")
    if by == "idf":
        frequency = np.bincount(counted.word, minlength=counted.n_words)
        value = 1.0 / (1.0 + np.log((1.0 + n_rows) / (1.0 + frequency)))
    else:
        value = np.bincount(counted.word, counted.tally, counted.n_words)
    value = np.maximum(value / value.mean(), 1e-3)
    return np.asarray(mean * value / value.mean())
