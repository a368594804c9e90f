"""Describing clusters to people: a name for each, and its most typical documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from coterie.model import SeedClusters

SEPARATOR = " · "  # between the words of a cluster's name

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def cluster_names(
    seeds: SeedClusters | None,
    words: Sequence[Sequence[str]],
    stop_words: Collection[str],
    given: Sequence[str] | None = None,
) -> list[str]:
    """A name for each cluster: its seed's, one given, or its first telling words; each only once.

    `words` are those of each cluster, best first; words in `stop_words` are left out if there are others.
    """
    of_seed = (
        dict(zip(seeds.cluster.tolist(), seeds.names, strict=True)) if seeds is not None else {}
    )
    taken = set(of_seed.values())
    found = []
    for k, of_cluster in enumerate(words):
        telling = [w for w in of_cluster if w.lower() not in stop_words] or list(of_cluster)
        many = 3
        while SEPARATOR.join(telling[:many]) in taken and many < len(telling):
            many += 1
        base = SEPARATOR.join(telling[:many]) if given is None else given[k]
        name, again = base, 2
        while name in taken and k not in of_seed:
            name, again = f"{base} ({again})", again + 1
        found.append(of_seed.get(k, name))
        taken.add(found[-1])
    return found


def most_typical(
    labels: Ints, typicality: Floats, length: Ints, n_clusters: int
) -> list[npt.NDArray[np.int64]]:
    """For each cluster its members, the most typical first, those below its median length last.

    A single typical word does not represent much.
    """
    ranked = []
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels, np.arange(n_clusters + 1), sorter=order)
    for cluster in range(n_clusters):
        rows = order[edges[cluster] : edges[cluster + 1]]
        short = length[rows] < np.median(length[rows]) if rows.size else rows
        ranked.append(rows[np.lexsort((rows, -typicality[rows], short))])
    return ranked
