"""Is the reference right? Its long-run frequencies against the exact posterior of a tiny corpus."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import product

import numpy as np

from . import reference

DOCUMENTS = ["a a b", "a b", "b c", "c d d", "a d"]
ALPHA, BETA, N_CLUSTERS = 0.7, 0.5, 3


def run(n_sweeps: int = 200_000) -> str:
    """One line per urn: the largest difference between a partition's frequency and its probability.

    It is also given in standard errors of independent draws. The draws of a chain depend on each
    other, so that up to about 6 is as expected."""
    lines = []
    for n_clusters in (N_CLUSTERS, None):
        truth = _posterior(n_clusters)
        chain = reference.sweeps(
            reference.number([text.split() for text in DOCUMENTS]),
            n_clusters=n_clusters,
            alpha=ALPHA,
            beta=BETA,
            n_sweeps=n_sweeps,
            seed=1,
        )
        seen = Counter(_partition(z) for z in chain)
        errors = {p: seen[p] / n_sweeps - truth[p] for p in truth}
        worst = max(errors, key=lambda p: abs(errors[p]))
        in_se = max(abs(errors[p]) / math.sqrt(truth[p] * (1 - truth[p]) / n_sweeps) for p in truth)
        urn = "process" if n_clusters is None else "finite"
        strays = sum(seen.values()) - sum(seen[p] for p in truth)
        lines.append(
            f"{urn}: {len(truth)} partitions, largest difference {abs(errors[worst]):.5f}, "
            f"{in_se:.1f} standard errors, {strays} draws outside the support"
        )
    return "\n".join(lines)


def _posterior(n_clusters: int | None) -> dict[tuple[int, ...], float]:
    """Every partition's probability from the joint p(z) p(words | z)."""
    docs = [text.split() for text in DOCUMENTS]
    log_p: dict[tuple[int, ...], float] = {}
    labellings: Iterable[tuple[int, ...]] = product(
        range(n_clusters or len(docs)), repeat=len(docs)
    )
    for z in labellings:
        partition = _partition(z)
        if n_clusters is None and z != partition:
            continue  # the process counts a partition once, the finite urn once per labelling
        value = _log_prior(z, n_clusters)
        for k in set(z):
            value += _log_words([w for d, doc in enumerate(docs) if z[d] == k for w in doc])
        log_p[partition] = np.logaddexp(log_p.get(partition, -np.inf), value)
    total = np.logaddexp.reduce(list(log_p.values()))
    return {partition: math.exp(value - total) for partition, value in log_p.items()}


def _log_prior(z: tuple[int, ...], n_clusters: int | None) -> float:
    sizes = Counter(z).values()
    if n_clusters is None:  # Chinese restaurant
        return sum(math.log(ALPHA) + math.lgamma(m) for m in sizes)
    return sum(math.lgamma(m + ALPHA) - math.lgamma(ALPHA) for m in sizes)


def _log_words(words: list[str]) -> float:
    v_beta = len({w for text in DOCUMENTS for w in text.split()}) * BETA
    value = math.lgamma(v_beta) - math.lgamma(v_beta + len(words))
    return value + sum(math.lgamma(BETA + c) - math.lgamma(BETA) for c in Counter(words).values())


def _partition(z: Iterable[int]) -> tuple[int, ...]:
    """Clusters renumbered by first appearance."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(k), len(names)) for k in z)
