"""How the words of a document multiply into the clusters' weights, relative to an empty cluster.

`n` is a stored count (in units of `urn.words.unit`), `rate` is unit / b_w. A word seen `count` times is
worth prod_{j<count} (1 + n / (b_w + j)) (GSDMM Eq. 4), or (1 + n / b_w)^count when burstiness is 0 (Eq. 3).
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import called, inlined, log_rising


@inlined
def growth(n, rate, beta, burstiness, unit, count):
    """What `count` occurrences of a word held n times are worth: a factor of at least one."""
    value = 1.0 + n * rate
    for j in range(1, count):
        value *= 1.0 + n * (unit / (beta + j * burstiness))
    return value


@called
def log_growth(n, beta, burstiness, unit, count):
    """Equivalent to: log(growth(n, unit / beta, beta, burstiness, unit, count)), for any count."""
    held = n * unit
    if burstiness == 0.0:
        return count * math.log1p(held / beta)
    return log_rising(beta + held, count) - log_rising(beta, count)


@called
def multiply_rows(rows, row, rate, n_rows, product, width):
    """Equivalent to: product[:width] *= prod_{i<n_rows} (1 + rows[row[i], :width] * rate[i])."""
    i = 0
    while i + 4 <= n_rows:
        r0, r1, r2, r3 = rows[row[i]], rows[row[i + 1]], rows[row[i + 2]], rows[row[i + 3]]
        a0, a1, a2, a3 = rate[i], rate[i + 1], rate[i + 2], rate[i + 3]
        for k in range(width):
            product[k] *= ((1.0 + r0[k] * a0) * (1.0 + r1[k] * a1)) * (
                (1.0 + r2[k] * a2) * (1.0 + r3[k] * a3)
            )
        i += 4
    while i < n_rows:
        r0 = rows[row[i]]
        a0 = rate[i]
        for k in range(width):
            product[k] *= 1.0 + r0[k] * a0
        i += 1


@inlined
def list_rows(row, rate, n_rows, r, first_rate, beta, burstiness, unit, count):
    """Note that row r is to be multiplied in `count` times, with growing denominators."""
    row[n_rows] = r
    rate[n_rows] = first_rate
    for j in range(1, count):
        row[n_rows + j] = r
        rate[n_rows + j] = unit / (beta + j * burstiness)
    return n_rows + count


@inlined
def scan(post, start, end, product, own, rate, beta, burstiness, unit, count):
    """Multiply postings start..end into the products; return where `own`'s is, or -1."""
    at = np.int64(-1)
    for i in range(start, end):
        k = post[i, 0]
        gain = 1.0 + post[i, 1] * rate
        if count > 1:
            gain = growth(post[i, 1], rate, beta, burstiness, unit, count)
        product[np.uint32(k)] *= gain
        at = i if k == own else at
    return at


@inlined
def scan_touched(post, start, end, product, own, rate, beta, burstiness, unit, count, touched, n):
    """As `scan`, and list each cluster at its first touch. Return (place of own, n listed)."""
    at = np.int64(-1)
    for i in range(start, end):
        k = post[i, 0]
        before = product[np.uint32(k)]
        touched[n] = k
        n += before == 1.0
        gain = 1.0 + post[i, 1] * rate
        if count > 1:
            gain = growth(post[i, 1], rate, beta, burstiness, unit, count)
        product[np.uint32(k)] = before * gain
        at = i if k == own else at
    return at, n
