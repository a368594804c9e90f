"""A chain run sweep by sweep, so that sampling alone is timed and the likelihood is known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

KEY, POINTS = 2018, 24


class Chain(NamedTuple):
    """What a chain did, sweep by sweep; seconds are of sampling alone."""

    index_seconds: float
    seconds: list[float]
    likelihood: list[float]  # ln p(words | z) per word
    drawn: list[str]  # the sampler of each sweep
    nmi: list[float]  # geometric


def chain(
    matrix: Any,
    n_clusters: int,
    sampler: str,
    n_sweeps: int,
    *,
    seed: int = 0,
    start: str = "random",
    max_seconds: float = inf,
    target: float = inf,
    classes: Sequence[str] | None = None,
    n_jobs: int = 1,
) -> Chain:
    """Sweep until `n_sweeps`, the time or the likelihood `target` is reached.

    The pass of an online start is the first sweep. Word distributions of the uncollapsed sampler are
    posterior means, the X-DMM paper's practice."""
    from coterie.backends.base import SamplerOptions, get_backend
    from coterie.start import first_assignment, first_labels
    from coterie.state import from_labels

    counts, urn = _given(matrix, n_clusters)
    backend, key = get_backend(), KEY + seed
    how = SamplerOptions(sampler=sampler, n_jobs=n_jobs, phi="mean")
    truth = None if classes is None else np.unique(classes, return_inverse=True)[1]
    n_words = int(counts.length.sum())
    found = Chain(0.0, [], [], [], [])

    def note(seconds: float, drawn: str) -> None:
        found.seconds.append(seconds)
        found.drawn.append(drawn)
        found.likelihood.append(handle.joint_terms()[1] / n_words)
        if truth is not None:
            z = handle.assignment().labels
            found.nmi.append(normalized_mutual_info_score(truth, z, average_method="geometric"))

    labels = None if start == "online" else first_labels(counts, urn, start, key)
    began = time.perf_counter()
    if labels is None:
        assignment = first_assignment(counts, urn, start, key, backend)
    else:
        assignment = from_labels(counts, urn, labels).assignment
    handle = backend.open(counts, urn, assignment, how)
    opened = time.perf_counter() - began
    if labels is None:
        note(opened, start)
    while (
        len(found.seconds) < n_sweeps
        and sum(found.seconds) < max_seconds
        and max(found.likelihood[-1:], default=-inf) < target
    ):
        began = time.perf_counter()
        stats = handle.sweep(key, len(found.seconds) + 1)
        seconds = time.perf_counter() - began
        assert stats is not None
        note(seconds, stats.sampler)
    return found._replace(index_seconds=opened)


def online_labels(matrix: Any, n_clusters: int) -> Any:
    """The labels after the pass of an online start, before any sweep."""
    from coterie.backends.base import get_backend
    from coterie.start import first_assignment

    return first_assignment(*_given(matrix, n_clusters), "online", KEY, get_backend()).labels


def _given(matrix: Any, n_clusters: int) -> tuple[Any, Any]:
    from coterie import counts, urns

    found = counts.from_matrix(matrix, "X-DMM's tables").counts
    return found, urns.finite(n_clusters, 0.1, urns.per_word(0.1, found.n_words))


def warm_chain(matrix: Any, n_clusters: int, sampler: str, n_sweeps: int, **how: Any) -> Chain:
    """A chain whose kernels are compiled before the clock starts."""
    chain(matrix[:300], n_clusters, sampler, 30, n_jobs=how.get("n_jobs", 1))
    return chain(matrix, n_clusters, sampler, n_sweeps, **how)


def end(run: Chain) -> float:
    return float(np.mean(run.likelihood[-3:]))


def reached(run: Chain, target: float) -> dict[str, float] | None:
    """Sweeps and seconds until the likelihood is at least this; None: never."""
    for i, value in enumerate(run.likelihood):
        if value >= target:
            return {"sweeps": i + 1, "seconds": sum(run.seconds[: i + 1])}
    return None


def series(run: Chain) -> dict[str, list[float]]:
    """Some sweeps, the seconds until their end, the likelihood then, and the NMI where known."""
    found: dict[str, list[float]] = {
        "sweep": list(range(1, len(run.seconds) + 1)),
        "seconds": [round(value, 4) for value in accumulate(run.seconds)],
        "likelihood": [round(value, 5) for value in run.likelihood],
        "nmi": [round(value, 4) for value in run.nmi],
    }
    return {name: thin(values) for name, values in found.items() if values}


def thin(values: Sequence[float]) -> list[float]:
    """At most so many points of a series, closer together at its beginning."""
    if len(values) <= POINTS:
        return list(values)
    marks = np.unique(np.geomspace(1, len(values), POINTS).round().astype(int)) - 1
    return [values[i] for i in marks]
