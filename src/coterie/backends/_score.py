"""Weighing documents against frozen clusters, on threads: what `predict` and all scores come from."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from coterie import _cgroups
from coterie.counts import Counts
from coterie.frozen import Frozen, LeaveOut
from coterie.kernels import fixed
from coterie.urns import Urn

CHUNK_BYTES = 16 * 2**20  # log weights held at once by each thread
CHUNK_DOCS = 2**15  # documents weighed at once: with few clusters, threads share them evenly, too


def score(
    counts: Counts,
    urn: Urn,
    frozen: Frozen,
    take: Callable[[npt.NDArray[np.int64], npt.NDArray[np.float64]], None],
    leave_out: LeaveOut | None = None,
    at_mean: bool = False,
    n_jobs: int | None = None,
) -> None:
    """See `coterie.backends.base.Backend.score`. Documents of similar length are weighed together."""
    n_clusters = frozen.size.size
    order = np.argsort(counts.length, kind="stable")
    leave_out = leave_out or LeaveOut(np.full(counts.n_docs, -1, np.int64))
    flag = np.zeros(0, np.uint8) if leave_out.flag is None else leave_out.flag
    size = min(CHUNK_DOCS, max(1, CHUNK_BYTES // (8 * max(n_clusters, 1))))

    def work(start: int) -> None:
        rows = order[start : start + size]
        scores = np.empty((rows.size, n_clusters))
        base = np.empty(n_clusters)
        given = np.zeros(urn.words.beta.size if flag.size else 0, np.int64)
        own = leave_out.cluster[rows]
        dots, vectors = fixed.room_for_products(n_clusters, frozen.centre.shape[0])
        fixed.score(
            counts, urn, frozen, rows, own, flag, given, at_mean, scores, base, dots, vectors
        )
        take(rows, scores)

    n_threads = threads(n_jobs)
    starts = range(0, counts.n_docs, size)
    if n_threads == 1 or len(starts) == 1:
        for start in starts:
            work(start)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, starts))


def threads(n_jobs: int | None) -> int:
    """scikit-learn's meaning: None is 1, -1 is every core this process may use, also in a container."""
    if n_jobs is None:
        return 1
    may_use = getattr(os, "sched_getaffinity", None)  # not everywhere
    cores = len(may_use(0)) if may_use else os.cpu_count() or 1
    cores = min([cores, *map(math.ceil, _cgroups.processors())])
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
