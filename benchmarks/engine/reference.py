"""GSDMM and GSDPMM written from the papers, with a dense table of counts, to compare coterie with.

It shares no code and no random numbers with coterie, and is slow and plain on purpose: every cluster
is scored for every document by Equation 4 of Yin & Wang (2014) (IV.29 and IV.44 of Yin & Wang (2016)
for the process), factor by factor:

    weight_z * prod_w prod_{j < N_d^w} (n_z^w + beta + j) / prod_{i < N_d} (n_z + V beta + i)

`python -m benchmarks check` compares it with the exact posterior of a tiny corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..harness.probe import Watch
from ..harness.systems import SYSTEMS, Fitted
from ..harness.workers import Worker


class Documents(NamedTuple):
    """Tokens of all documents in a row; `nth` counts earlier occurrences in the same document."""

    start: np.ndarray
    word: np.ndarray
    nth: np.ndarray
    n_vocab: int


def replies(
    system: str, model: str, settings: dict[str, Any], n_seeds: int, *corpus: Any
) -> Iterator[dict[str, Any]]:
    """What fits by coterie or by the reference found, seed by seed; `corpus` as `Worker.load` has it."""
    with Worker(fit if system == "reference" else SYSTEMS[model.lower()]) as worker:
        worker.load(*corpus)
        worker.warm_up(seed=0, **settings)
        for seed in range(n_seeds):
            yield worker.fit(seed=seed, **settings)


def fit(documents: list[list[str]], seed: int, watch: Watch, **settings: Any) -> Fitted:
    """At most `n_clusters` from a random start; without it the Dirichlet process from one cluster,
    with alpha = 0.1 per document if it is not given. No document may be empty."""
    settings = {"n_clusters": None, "alpha": 0.1 * len(documents), **settings}
    with watch():
        *_, labels = sweeps(number(documents), seed=seed, **settings)
    return labels, None


def sweeps(
    docs: Documents,
    *,
    n_clusters: int | None,
    alpha: float,
    beta: float,
    n_sweeps: int,
    seed: int,
) -> Iterator[np.ndarray]:
    """The labels after each sweep (one array, changed in place)."""
    rng = np.random.default_rng(seed)
    n_docs = len(docs.start) - 1
    process = n_clusters is None
    z = np.zeros(n_docs, np.int64)
    if n_clusters is not None:
        z = rng.integers(n_clusters, size=n_docs)
    counts = np.zeros((docs.n_vocab, n_clusters or 64), np.int32)  # n_z^w
    np.add.at(counts, (docs.word, np.repeat(z, np.diff(docs.start))), 1)

    numbers = np.arange(len(docs.word) + 1)
    log_word = np.log(numbers + beta)  # log (n + beta)
    v_beta = docs.n_vocab * beta  # log of the denominator: a difference of two of these sums
    log_total = np.concatenate([[0.0], np.cumsum(np.log(numbers + v_beta))])
    sizes = np.arange(n_docs + 1, dtype=float)
    if process:
        sizes[0] = alpha  # m_z for a cluster that exists, alpha for the new one
    else:
        sizes += alpha  # m_z + alpha for all
    log_size = np.log(sizes)

    for _ in range(n_sweeps):
        uniforms = rng.random(n_docs)
        done = 0
        while done < n_docs:
            done = _sweep(
                done, z, counts, *docs[:3], log_size, log_word, log_total, uniforms, process
            )
            if done < n_docs:  # the process has no empty column left
                more = np.zeros((docs.n_vocab, counts.shape[1] // 2), np.int32)
                counts = np.hstack([counts, more])
        yield z


@njit(cache=True)
def _sweep(  # type: ignore[no-untyped-def]  # numba infers the types from the call
    first, z, counts, start, word, nth, log_size, log_word, log_total, uniforms, process
):
    """Draw z of the documents from `first` on; return how far it came."""
    n_columns = counts.shape[1]
    m = np.zeros(n_columns, np.int64)  # documents of a cluster
    n = np.zeros(n_columns, np.int64)  # words of a cluster
    for d in range(len(z)):
        m[z[d]] += 1
        n[z[d]] += start[d + 1] - start[d]
    score = np.empty(n_columns)
    for d in range(first, len(z)):
        if process and m.min() > 0:
            return d
        length = start[d + 1] - start[d]
        m[z[d]] -= 1
        n[z[d]] -= length
        for i in range(start[d], start[d + 1]):
            counts[word[i], z[d]] -= 1

        new_cluster_seen = False
        for k in range(n_columns):
            score[k] = log_size[m[k]] - (log_total[n[k] + length] - log_total[n[k]])
            if process and m[k] == 0:
                if new_cluster_seen:  # the process opens one cluster, whichever column it takes
                    score[k] = -np.inf
                new_cluster_seen = True
        for i in range(start[d], start[d + 1]):
            row = counts[word[i]]
            for k in range(n_columns):
                score[k] += log_word[row[k] + nth[i]]

        weight = np.exp(score - score.max())
        target = uniforms[d] * weight.sum()
        new = 0
        below = weight[0]
        while below <= target and new < n_columns - 1:
            new += 1
            below += weight[new]

        z[d] = new
        m[new] += 1
        n[new] += length
        for i in range(start[d], start[d + 1]):
            counts[word[i], new] += 1
    return len(z)


def number(tokens: list[list[str]]) -> Documents:
    """Token lists as arrays."""
    ids: dict[str, int] = {}
    word: list[int] = []
    nth: list[int] = []
    for doc in tokens:
        seen: dict[str, int] = {}
        for token in doc:
            word.append(ids.setdefault(token, len(ids)))
            nth.append(seen.get(token, 0))
            seen[token] = nth[-1] + 1
    start = np.concatenate([[0], np.cumsum([len(doc) for doc in tokens])]).astype(np.int64)
    return Documents(start, np.array(word, np.int64), np.array(nth, np.int64), len(ids))
