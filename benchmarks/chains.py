"""A chain by hand, sweep by sweep, so that sampling alone is timed and its likelihood known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np

from .scores import score

KEY, POINTS = 2018, 24


class Chain(NamedTuple):
    """What a chain did, sweep by sweep; seconds are of sampling alone."""

    index_seconds: float
    seconds: list[float]
    likelihood: list[float]  # ln p(words | z) per word
    drawn: list[str]  # the sampler of each sweep
    nmi: list[float]


def chain(
    matrix: Any,
    n_clusters: int,
    sampler: str,
    n_sweeps: int,
    max_seconds: float = inf,
    target: float = inf,
    classes: Sequence[str] | None = None,
    n_jobs: int = 1,
) -> Chain:
    """Sweep until `n_sweeps`, the time or the likelihood `target` is reached."""
    from coterie import counts as counts_room
    from coterie import urns
    from coterie.backends.base import How, get_backend
    from coterie.start import first_labels
    from coterie.state import from_labels

    counts = counts_room.from_matrix(matrix, "X-DMM's tables").counts
    urn = urns.finite(n_clusters, 0.1, urns.per_word(0.1, counts.n_words))
    labels = first_labels(counts, urn, "random", KEY)
    backend = get_backend()
    start = time.perf_counter()
    state = from_labels(counts, urn, labels)
    handle = backend.open(counts, urn, state, How(sampler=sampler, n_jobs=n_jobs))
    found = Chain(time.perf_counter() - start, [], [], [], [])
    n_words = int(counts.length.sum())
    total = 0.0
    while len(found.seconds) < n_sweeps and total < max_seconds:
        start = time.perf_counter()
        stats = backend.sweep(handle, KEY, len(found.seconds) + 1)
        found.seconds.append(time.perf_counter() - start)
        total += found.seconds[-1]
        assert stats is not None
        found.drawn.append(stats.sampler)
        found.likelihood.append(backend.joint_terms(handle)[1] / n_words)
        if classes is not None:
            labels = backend.fetch(handle).z
            found.nmi.append(score(classes, labels.tolist())["nmi_geometric"])
        if found.likelihood[-1] >= target:
            break
    return found


def warm_chain(matrix: Any, n_clusters: int, sampler: str, n_sweeps: int, **limits: Any) -> Chain:
    """A chain whose kernels are compiled before the clock starts."""
    chain(matrix[:300], n_clusters, sampler, 30)
    return chain(matrix, n_clusters, sampler, n_sweeps, **limits)


def end(run: Chain) -> float:
    return float(np.mean(run.likelihood[-3:]))


def reached(run: Chain, target: float) -> dict[str, float] | None:
    """Sweeps and seconds until the likelihood is at least this; None: never."""
    for i, value in enumerate(run.likelihood):
        if value >= target:
            return {"sweeps": i + 1, "seconds": sum(run.seconds[: i + 1])}
    return None


def series(run: Chain) -> dict[str, list[float]]:
    return {
        "seconds": thin([round(value, 4) for value in accumulate(run.seconds)]),
        "likelihood": thin([round(value, 5) for value in run.likelihood]),
    }


def thin(values: Sequence[float]) -> list[float]:
    """At most so many points of a series, closer together at its beginning."""
    if len(values) <= POINTS:
        return list(values)
    marks = np.unique(np.geomspace(1, len(values), POINTS).round().astype(int)) - 1
    return [values[i] for i in marks]
