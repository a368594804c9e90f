"""Seeds that can be moved, and bounds that a right sampler all but never misses.

With COTERIE_TEST_SEED=n every seed of the tests that draw is another one, and hypothesis tries other
examples. What is right passes under every n: each bound below fails by chance less than once in 10^9
times.
"""

import math
import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

OFFSET = int(os.environ.get("COTERIE_TEST_SEED") or 0)
LUCK = 1e-9  # a right sampler fails a test less often than this
SIGMAS = 6.5  # a normal number is further off with probability 8e-11
EXPECTED = 8.0  # outcomes expected fewer times than this are counted together


def moved(seed: int) -> int:
    """This seed, or another one in its place if COTERIE_TEST_SEED says so."""
    return seed + 1_000_003 * OFFSET


def fit(seen: Counter[Any], exact: Mapping[Any, float]) -> float:
    """How probable it is at most that draws from `exact` look like this, or less like it."""
    n = seen.total()
    p = np.array(list(exact.values()))
    observed = np.array([seen[outcome] for outcome in exact], float)
    if observed.sum() < n:
        return 0.0  # something impossible was drawn
    rare = p * n < EXPECTED
    return surprise(
        np.append(observed[~rare], observed[rare].sum()), np.append(p[~rare], p[rare].sum())
    )


def surprise(observed: npt.ArrayLike, p: npt.ArrayLike) -> float:
    """At most so probable are counts this far from the probabilities `p`, for any number of draws.

    With n draws of k outcomes and t = n KL(observed / n || p), P(t or more) is at most
    e^-t (e t / (k - 1))^(k - 1): Agrawal, Finite-sample concentration of the multinomial in relative
    entropy (2020), Theorem 1.2. The chi-square distribution would be a limit, and in its tail a poor one.
    """
    counts, share = np.asarray(observed, float), np.asarray(p, float)
    share = share / share.sum()
    if (counts[share == 0.0] > 0).any():
        return 0.0
    possible = share > 0.0
    counts, share = counts[possible], share[possible]
    return tail(divergence(counts, share), counts.size - 1)


def divergence(counts: npt.NDArray[np.float64], p: npt.NDArray[np.float64]) -> float:
    """n KL(counts / n || p), in nats."""
    seen = counts > 0
    return float((counts[seen] * np.log(counts[seen] / (counts.sum() * p[seen]))).sum())


def tail(t: float, free: int) -> float:
    """Agrawal's bound for `free` = k - 1."""
    if free == 0 or t <= free:
        return 1.0
    return math.exp(free * (1.0 + math.log(t / free)) - t)


def uniform(u: npt.NDArray[np.float64]) -> float:
    """At most so probable is a sample of [0, 1) with an empirical distribution this far from uniform.

    The Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant; it holds for any sample size.
    """
    rank = np.arange(1, u.size + 1) / u.size
    ordered = np.sort(u)
    gap = max((rank - ordered).max(), (ordered - rank + 1.0 / u.size).max())
    return min(1.0, 2.0 * math.exp(-2.0 * u.size * gap**2))
