"""The biterm topic model (the package bitermplus) as the GPU-DMM paper uses it: its settings, and
its two ways to represent a document, from p(z) and p(w | z)."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """Documents by topic in two ways, the topics' first words, and what it took."""

    nb: np.ndarray
    sw: np.ndarray
    top: list[list[str]]
    n_clusters: int
    seconds: float  # per sweep


def fit(documents: list[list[str]], k: int, n_sweeps: int, seed: int, n_top: int) -> Fitted:
    """alpha = 50 / K, beta = .01; every pair of words of a document is a biterm, however far apart
    (the package's own window is 15 words). The seconds are those of all sweeps, over their number."""
    import bitermplus

    texts = [" ".join(doc) for doc in documents]
    counts, words, _ = bitermplus.get_words_freqs(texts, token_pattern=r"\S+")
    numbered = bitermplus.get_vectorized_docs(texts, words, analyzer=str.split)
    biterms = bitermplus.get_biterms(numbered, win=max(map(len, documents)))
    model = bitermplus.BTM(counts, words, T=k, seed=seed, alpha=50 / k, beta=0.01)
    start = time.perf_counter()
    model.fit(biterms, iterations=n_sweeps, verbose=False)
    seconds = (time.perf_counter() - start) / n_sweeps
    phi, theta = np.asarray(model.matrix_topics_words_), np.asarray(model.theta_)
    first = np.argsort(-phi, axis=1)[:, :n_top]
    top = [[str(words[w]) for w in row] for row in first]
    return Fitted(by_product(counts, phi, theta), by_sum(counts, phi, theta), top, k, seconds)


def by_product(counts: Any, phi: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """NB: p(z | d) in proportion to p(z) times the product of p(w | z)."""
    weight = counts @ np.log(phi).T + np.log(theta)
    odds = np.exp(weight - weight.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def by_sum(counts: Any, phi: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """SW: p(z | d) is the mean of p(z | w) over the document's words."""
    joint = phi * theta[:, None]
    found = counts @ (joint / joint.sum(axis=0)).T
    return np.asarray(found / found.sum(axis=1, keepdims=True))
