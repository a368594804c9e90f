"""Adjusted mutual information and adjusted Rand index of two groupings, from their contingency table.

As scikit-learn computes them. To compare the runs of `cluster()` with its functions would import most of
scikit-learn and of scipy, which takes longer than the comparison and 70 MB of memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_EPS = float(np.finfo(np.float64).eps)


class Table(NamedTuple):
    """How many items are in a group of the one grouping and a group of the other."""

    n: int
    rows: Codes  # sizes of the groups of the one
    columns: Codes  # and of the other
    row: Codes  # of each cell that is not empty
    column: Codes
    held: Codes


def table(one: Codes, other: Codes) -> Table:
    """The contingency table of two groupings, whose groups are 0, 1, 2, ..."""
    rows, columns = np.bincount(one), np.bincount(other)
    cells, count = np.unique(one * columns.size + other, return_counts=True)
    return Table(one.size, rows, columns, *np.divmod(cells, columns.size), count)


def adjusted_rand(one: Codes, other: Codes) -> float:
    """The adjusted Rand index."""
    found = table(one, other)
    together = int((found.held**2).sum())  # pairs in both orders, and each item with itself
    of_one, of_other = int((found.rows**2).sum()), int((found.columns**2).sum())
    both, only_one, only_other = together - found.n, of_one - together, of_other - together
    neither = found.n**2 - only_one - only_other - together
    if only_one == only_other == 0:
        return 1.0
    apart = (both + only_other) * (only_other + neither) + (both + only_one) * (only_one + neither)
    return 2.0 * (both * neither - only_other * only_one) / apart


def adjusted_mutual_information(one: Codes, other: Codes, average: str) -> float:
    """The adjusted mutual information; `average` is how the two entropies are averaged."""
    found = table(one, other)
    if found.rows.size == 1 or found.columns.size == 1:
        return float(found.rows.size == found.columns.size)
    share, outer = found.held / found.n, found.rows[found.row] * found.columns[found.column]
    parts = share * (np.log(found.held) - np.log(found.n))
    parts += share * (-np.log(outer) + 2.0 * np.log(found.n))
    mutual = max(float(np.where(np.abs(parts) < _EPS, 0.0, parts).sum()), 0.0)
    expected = expected_mutual_information(found)
    entropies = [entropy(found.rows), entropy(found.columns)]
    usual = {
        "min": min(entropies),
        "geometric": float(np.sqrt(entropies[0] * entropies[1])),
        "arithmetic": float(np.mean(entropies)),
        "max": max(entropies),
    }[average]
    return _away_from_0(mutual - expected) / _away_from_0(usual - expected)


def expected_mutual_information(found: Table) -> float:
    """The mutual information of random groupings with groups of the same sizes (Vinh et al. 2010).

    Many groups have the same size, and each pair of sizes is computed once.
    """
    n, total = found.n, 0.0
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    sizes, often = np.unique(found.columns, return_counts=True)
    for a, times in zip(*np.unique(found.rows, return_counts=True), strict=True):
        first = np.maximum(a + sizes - n, 1)
        length = np.minimum(a, sizes) - first + 1
        b = np.repeat(sizes, length)
        start = np.cumsum(length) - length
        held = np.arange(b.size) - np.repeat(start - first, length)
        log_chance = (
            log_factorial[a]
            + log_factorial[b]
            + log_factorial[n - a]
            + log_factorial[n - b]
            - log_factorial[n]
            - log_factorial[held]
            - log_factorial[a - held]
            - log_factorial[b - held]
            - log_factorial[n - a - b + held]
        )
        worth = held / n * (np.log(n) + np.log(held) - np.log(a) - np.log(b))
        total += int(times) * float((np.repeat(often, length) * worth * np.exp(log_chance)).sum())
    return total


def entropy(sizes: Codes) -> float:
    """The entropy of a grouping, from the sizes of its groups."""
    share = sizes[sizes > 0] / sizes.sum()
    return float(-(share * np.log(share)).sum())


def _away_from_0(value: float) -> float:
    """Rounding must not make 0 / 0 of a perfect match."""
    return min(value, -_EPS) if value < 0 else max(value, _EPS)
