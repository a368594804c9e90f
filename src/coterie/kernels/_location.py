"""Document vectors: how well a document's vector fits the sum of each cluster's vectors.

A document e (g tied copies of it) that joins a cluster with the sum S raises the potential by

    gain = sqrt(rho^2 + |S + g e|^2) - sqrt(rho^2 + |S|^2)

and the cluster's weight by exp(kappa gain), taken relative to an empty cluster like all weights.
Vectors are multiples of 2^-14, so the sums in `State.sums` are exact and can be taken back exactly.
What draws read is in single precision, a column for each slot, so that it is a pure function of the
sums: the same after a recount, in any order and on any number of threads.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import LN2, called, inlined

_INV_LN2 = 1.0 / LN2
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_EXPONENT = 2.0**52 + 1023.0


@inlined
def is_located(counts, urn):
    """Whether vectors count."""
    return urn.location.kappa > 0.0 and counts.vectors.shape[1] > 0


@inlined
def move_vector(counts, state, d, old, new):
    """Move d's vector between the sums of two slots; -1 is none."""
    copies = float(counts.weight[d])
    for j in range(counts.vectors.shape[1]):
        amount = copies * counts.vectors[d, j]
        if old >= 0:
            state.sums[old, j] -= amount
        state.sums[new, j] += amount


@inlined
def refresh_location(urn, state, derived, k):
    """Derive again what depends on the vector sum of slot k."""
    total = 0.0
    for j in range(derived.centre.shape[0]):
        value = state.sums[k, j]
        total += value * value
        derived.centre[j, k] = np.float32(value)
    derived.norm[k] = total
    derived.root[k] = math.sqrt(urn.location.rho * urn.location.rho + total)


@inlined
def weigh_location(counts, urn, state, fixed, derived, scratch, d, width):
    """Fill scratch.nats with kappa (gain - gain of an empty cluster), for d as if it were in none.

    Returns the same for d's own cluster, d taken out of it.
    """
    copies = float(counts.weight[d])
    norm = copies * copies * fixed.norm[d]
    multiply_columns(counts.vectors[d], derived.centre, scratch.dot, width)
    return fill_nats(
        urn.location.kappa, urn.location.rho, copies, norm, derived.norm, derived.root, scratch.dot,
        np.int64(state.z[d]), width, scratch.nats,
    )  # fmt: skip


@called
def fill_nats(kappa, rho, copies, own_norm, norm, root, dot, own, width, nats):
    """As `weigh_location`, from the products <e, S_k> in `dot`."""
    empty = own_norm / (math.sqrt(rho * rho + own_norm) + rho)
    for k in range(width):
        grown = 2.0 * copies * dot[k] + own_norm
        after = math.sqrt(max(rho * rho + norm[k] + grown, 0.0))
        nats[k] = kappa * (grown / (after + root[k]) - empty)
    if own < 0:
        return 0.0
    shrunk = 2.0 * copies * dot[own] - own_norm
    before = math.sqrt(rho * rho + max(norm[own] - shrunk, 0.0))
    return kappa * (shrunk / (before + root[own]) - empty)


@called
def multiply_columns(vector, columns, dot, width):
    """Equivalent to: dot[:width] = vector @ columns[:, :width], summed in a fixed order."""
    dot[:width] = 0.0
    n = vector.size
    j = 0
    while j + 8 <= n:
        c0, c1, c2, c3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        c4, c5, c6, c7 = columns[j + 4], columns[j + 5], columns[j + 6], columns[j + 7]
        v0, v1, v2, v3 = vector[j], vector[j + 1], vector[j + 2], vector[j + 3]
        v4, v5, v6, v7 = vector[j + 4], vector[j + 5], vector[j + 6], vector[j + 7]
        for k in range(width):
            dot[k] += ((v0 * c0[k] + v1 * c1[k]) + (v2 * c2[k] + v3 * c3[k])) + (
                (v4 * c4[k] + v5 * c5[k]) + (v6 * c6[k] + v7 * c7[k])
            )
        j += 8
    while j < n:
        c0, v0 = columns[j], vector[j]
        for k in range(width):
            dot[k] += v0 * c0[k]
        j += 1


@called
def multiply_by_exp(product, nats, width):
    """Equivalent to: product[:width] *= exp(nats[:width]), for |nats| below 700.

    A polynomial instead of a call, so that the loop vectorises: off by at most 2e-15.
    """
    for k in range(width):
        x = nats[k]
        n = np.floor(x * _INV_LN2 + 0.5)
        r = (x - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        bits = np.float64(n + _EXPONENT).view(np.int64)  # n + 1023 in the lowest bits
        product[k] *= p * np.int64(bits << np.int64(52)).view(np.float64)
