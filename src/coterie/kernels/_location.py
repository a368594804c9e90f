"""Document vectors: how well a document's vector fits the sum of each cluster's vectors.

A document e (g tied copies of it) that joins a cluster with the sum S raises the potential by

    gain = sqrt(rho^2 + |S + g e|^2) - sqrt(rho^2 + |S|^2)

and the cluster's weight by exp(kappa gain), taken relative to an empty cluster like all weights.
Vectors are whole numbers of steps (2^-14, or 2^-8 in 8 bits), so the sums in `State.sums` are exact and
can be taken back exactly.
What draws read is in single precision, a column for each slot, so that it is a pure function of the
sums: the same after a recount, in any order and on any number of threads.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._arrays import COARSE, STEP
from coterie.kernels._common import LN2, called, inlined

_INV_LN2 = 1.0 / LN2
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_EXPONENT = 2.0**52 + 1023.0
TOGETHER = 16  # documents whose vectors are multiplied together
SPAN = 1024  # columns that are multiplied before the next: eight rows of them stay in the cache
PLACE, LAST, MADE, END, WIDE, ASKED = range(6)  # places in Scratch.piece, see `products_of`


@inlined
def is_located(counts, urn):
    """Whether vectors count."""
    return urn.location.kappa > 0.0 and counts.vectors.shape[1] > 0


@inlined
def unit_of(vectors):
    """What 1 stands for in vectors of 8 or 16 bits; known when a kernel is compiled."""
    return COARSE if vectors.itemsize == 1 else STEP


@inlined
def move_vector(counts, state, d, old, new):
    """Move d's vector between the sums of two slots; -1 is none."""
    copies = counts.weight[d] * unit_of(counts.vectors)
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
        if derived.sums.shape[0]:
            derived.sums[k, j] = np.float32(value)
    derived.norm[k] = total
    derived.root[k] = math.sqrt(urn.location.rho * urn.location.rho + total)


@inlined
def weigh_location(counts, urn, state, fixed, derived, scratch, d, width):
    """Fill scratch.nats with kappa (gain - gain of an empty cluster), for d as if it were in none.

    Returns the same for d's own cluster, d taken out of it.
    """
    row = products_of(
        counts.vectors, derived.scan, derived.centre, d, width, scratch.piece, scratch.vector, scratch.dot,
    )  # fmt: skip
    copies = float(counts.weight[d])
    norm = copies * copies * fixed.norm[d]
    return fill_nats(
        urn.location.kappa, urn.location.rho, copies, norm, derived.norm, derived.root, scratch.dot[row],
        np.int64(state.z[d]), width, scratch.nats,
    )  # fmt: skip


@inlined
def begin_piece(scratch, n):
    """Say that the next n documents of the scan will be drawn against the same clusters.

    If few of those before had to be multiplied, these are multiplied one by one.
    """
    scratch.piece[WIDE] = 3 * scratch.piece[ASKED] >= n
    scratch.piece[ASKED] = scratch.piece[MADE] = scratch.piece[END] = 0


@inlined
def at_place(scratch, i, last):
    """Say that the document at place i of the scan is next, and that the piece ends before `last`."""
    scratch.piece[PLACE], scratch.piece[LAST] = i, last


@called
def products_of(vectors, scan, columns, d, width, piece, rows, dots):
    """The row of `dots` that holds <e, S_k> of d; `piece`, `rows` and `dots` are scratch.

    Within a piece, the documents after it are multiplied along with it: the columns are read once.
    """
    i, last = piece[PLACE], piece[LAST]
    if last == 0:  # clusters change from document to document
        read_vector(vectors, d, rows[0])
        multiply_columns(rows, columns, dots, 1, width)
        return np.int64(0)
    piece[ASKED] += 1
    if not piece[MADE] <= i < piece[END]:
        piece[MADE], piece[END] = i, min(last, i + TOGETHER) if piece[WIDE] else i + 1
        n = piece[END] - i
        for r in range(n):
            read_vector(vectors, scan[i + r] if scan.size else i + r, rows[r])
        multiply_columns(rows, columns, dots, n, width)
    return i - piece[MADE]


@inlined
def read_vector(vectors, d, into):
    """Write the vector of d as numbers."""
    unit = np.float32(unit_of(vectors))
    for j in range(into.size):
        into[j] = vectors[d, j] * unit


@called
def fill_nats(kappa, rho, copies, own_norm, norm, root, dot, own, width, nats):
    """As `weigh_location`, from the products <e, S_k> in `dot`."""
    empty = own_norm / (math.sqrt(rho * rho + own_norm) + rho)
    for k in range(width):
        grown = 2.0 * copies * dot[k] + own_norm
        nats[k] = kappa * (gain_of(rho, norm[k], root[k], grown) - empty)
    if own < 0:
        return 0.0
    shrunk = 2.0 * copies * dot[own] - own_norm
    return kappa * (loss_of(rho, norm[own], root[own], shrunk) - empty)


@inlined
def gain_of(rho, norm, root, grown):
    """By how much the potential of a cluster rises when |S|^2 grows by so much."""
    after = math.sqrt(max(rho * rho + norm + grown, 0.0))
    return grown / (after + root)


@inlined
def loss_of(rho, norm, root, shrunk):
    """By how much it falls when |S|^2 shrinks by so much: what a document gains in its own cluster."""
    before = math.sqrt(rho * rho + max(norm - shrunk, 0.0))
    return shrunk / (before + root)


@called
def multiply_columns(vectors, columns, dot, n, width):
    """Equivalent to: dot[:n, :width] = vectors[:n] @ columns[:, :width].

    Every number is summed in the same order, whatever comes with it.
    """
    whole = vectors.shape[1] // 8 * 8
    for first in range(0, width, SPAN):
        last = min(first + SPAN, width)
        for r in range(n):
            dot[r, first:last] = 0.0
        for j in range(0, whole, 8):
            for r in range(n):
                add_eight(vectors[r], columns, j, first, last, dot[r, first:last])
        for j in range(whole, vectors.shape[1]):
            for r in range(n):
                for k in range(first, last):
                    dot[r, k] += vectors[r, j] * columns[j, k]


@called
def add_eight(v, columns, j, first, last, dot):
    """Add the products of v[j : j + 8] with these rows of `columns`, from `first` to `last`."""
    c0, c1 = columns[j, first:last], columns[j + 1, first:last]
    c2, c3 = columns[j + 2, first:last], columns[j + 3, first:last]
    c4, c5 = columns[j + 4, first:last], columns[j + 5, first:last]
    c6, c7 = columns[j + 6, first:last], columns[j + 7, first:last]
    v0, v1, v2, v3 = v[j], v[j + 1], v[j + 2], v[j + 3]
    v4, v5, v6, v7 = v[j + 4], v[j + 5], v[j + 6], v[j + 7]
    for k in range(dot.size):
        dot[k] += ((v0 * c0[k] + v1 * c1[k]) + (v2 * c2[k] + v3 * c3[k])) + (
            (v4 * c4[k] + v5 * c5[k]) + (v6 * c6[k] + v7 * c7[k])
        )


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
