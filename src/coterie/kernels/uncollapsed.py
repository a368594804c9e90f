"""Documents against word distributions that stay fixed for a sweep: Algorithm 3 of X-DMM, and EM.

Given theta and phi the documents do not depend on each other, so threads share the tables and each
takes documents of its own. `log_phi` is words x clusters: a document adds whole rows (SIMD). Between
`score` and what follows the caller takes exp() of the scores; NumPy's is vectorised. A weight of
e**FAINT of the largest, or less, is taken as none: not even 10^6 such would be drawn once in 10^19 draws.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._rng import DRAW_ONE
from coterie.kernels._common import address, inlined, kernel, uniform

FAINT = -60.0
NONE = math.exp(FAINT) * (1.0 + 1e-9)


@kernel
def score(counts, log_theta, log_phi, many, tied, first, last, out, best, top):
    """Score documents first..last-1, each relative to its best column.

    Equivalent to: value = g_d (log_theta + c_d @ log_phi), g_d = 1 unless `tied`; value[-1] += ln(many);
    best[d] = argmax(value); top[d] = value[best[d]]; out[d - first] = maximum(value - top[d], FAINT).
    """
    n = log_theta.size
    log_many = math.log(many)
    for d in range(first, last):
        value = out[d - first]
        copies = float(counts.weight[d]) if tied else 1.0
        for k in range(n):
            value[k] = copies * log_theta[k]
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            row = log_phi[counts.word[e]]
            times = copies * counts.tally[e]
            for k in range(n):
                value[k] += times * row[k]
        value[n - 1] += log_many
        k = highest(value)
        high = value[k]
        best[d], top[d] = k, high
        for k in range(n):
            value[k] = max(value[k] - high, FAINT)


@kernel
def pick(weight, many, key, number, first, drawn):
    """Draw documents from first on, one a row of weights (which are cumulated on the way), into `drawn`.

    Equivalent to: the inverse of np.cumsum(weights) at uniform(address(key, number, d), DRAW_ONE).
    The last column stands for `many` clusters, all alike: n - 1, n, n + 1, ...
    """
    n = weight.shape[1]
    for i in range(weight.shape[0]):
        mine = weight[i]
        total = 0.0
        for k in range(n):
            total += mine[k] if mine[k] > NONE else 0.0
            mine[k] = total
        x = uniform(address(key, number, first + i), DRAW_ONE) * total
        k = np.int64(0)
        while mine[k] <= x and mine[k] < total:
            k += 1
        if k == n - 1 and many > 1:  # which of them: the same number tells
            below = mine[n - 2] if n > 1 else 0.0
            k += min(np.int64((x - below) / (total - below) * many), many - 1)
        drawn[first + i] = k


@kernel
def normalise(weight, top, first, fit):
    """Turn weights into shares that sum to 1, a document a row; fit[d] = ln of all the document's weight.

    Equivalent to: fit[d] = top[d] + ln(weight[d - first].sum()); weight /= its sum.
    """
    n = weight.shape[1]
    for i in range(weight.shape[0]):
        mine = weight[i]
        total = 0.0
        for k in range(n):
            mine[k] = mine[k] if mine[k] > NONE else 0.0
            total += mine[k]
        for k in range(n):
            mine[k] /= total
        fit[first + i] = top[first + i] + math.log(total)


@kernel
def gather(counts, share, first, last, low, high, size, words):
    """The M-step's sums over documents first..last-1, for the clusters low..high-1 alone.

    Equivalent to: size += g_d share[d - first]; words[w] += g_d c_dw share[d - first]. A sum is taken
    in the order of the documents, whoever takes it.
    """
    for d in range(first, last):
        mine = share[d - first]
        copies = float(counts.weight[d])
        for k in range(low, high):
            size[k] += copies * mine[k]
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            row = words[counts.word[e]]
            amount = copies * counts.tally[e]
            for k in range(low, high):
                row[k] += amount * mine[k]


@inlined
def highest(value):
    """Equivalent to: value.argmax()."""
    best = np.int64(0)
    for k in range(1, value.size):
        if value[k] > value[best]:
            best = k
    return best
