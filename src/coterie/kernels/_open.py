"""Weighing the clusters for one short document: its words, then every open cluster in slot order."""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import inlined
from coterie.kernels._location import is_located, multiply_by_exp, weigh_location
from coterie.kernels._slots import BLOCK, HIGH, OPEN, base_ratio, slot_prior
from coterie.kernels._words import growth, list_rows, multiply_rows, scan, scan_touched

TOUCH_COST = 3.0  # a touched posting costs about as much as this many slots of the open sum
SAFE_NATS = 600.0  # plain products may span this much either way: e**600 is 2**866


@inlined
def weigh_document(counts, urn, state, fixed, derived, scratch, d, given):
    """Multiply the words of a short, untied document into `scratch.product`, cluster by cluster.

    Where vectors count, every open cluster is weighed, and `weigh_vector` multiplies in what it says.

    Returns how many clusters are listed in `scratch.touched`, whether they are all that share a word
    with the document (else none is listed), the weight of the document's own cluster without it,
    whether it is alone there, and the slots to sum over. `given`: what the document added to its cluster
    beyond its own words.
    """
    own = np.int64(state.z[d])
    promoted = urn.relations.promotion > 0
    begin, end = counts.ptr[d], counts.ptr[d + 1]
    n_rows = np.int64(0)
    touches = np.int64(0)
    own_gain = 1.0
    for e in range(begin, end):
        w = counts.word[e]
        r = state.row_of[w]
        if r < 0:
            touches += state.post_len[w]
            continue
        count = np.int64(counts.tally[e])
        first, beta = fixed.inv_beta[w * fixed.beta_stride], urn.words.beta[w * fixed.beta_stride]
        n_rows = list_rows(
            scratch.row,
            scratch.rate,
            n_rows,
            r,
            first,
            beta,
            urn.words.burstiness,
            urn.words.unit,
            count,
        )
        if own >= 0:
            others = np.int64(state.rows[r, own]) - count * urn.words.one
            if promoted:
                others -= scratch.given[e - begin]
            own_gain *= growth(others, first, beta, urn.words.burstiness, urn.words.unit, count)
    width = (state.counters[HIGH] + BLOCK - 1) // BLOCK * BLOCK
    sparse = n_rows == 0 and touches * TOUCH_COST < width and not is_located(counts, urn)
    if n_rows:
        multiply_rows(state.rows, scratch.row, scratch.rate, n_rows, scratch.product, width)
    n = np.int64(0)
    for e in range(begin, end):
        w = counts.word[e]
        if state.row_of[w] >= 0:
            continue
        count = np.int64(counts.tally[e])
        first, beta = fixed.inv_beta[w * fixed.beta_stride], urn.words.beta[w * fixed.beta_stride]
        lo = state.post_ptr[w]
        hi = lo + state.post_len[w]
        if sparse:
            at, n = scan_touched(
                state.post, lo, hi, scratch.product, own, first, beta, urn.words.burstiness,
                urn.words.unit, count, scratch.touched, n,
            )  # fmt: skip
        else:
            at = scan(
                state.post,
                lo,
                hi,
                scratch.product,
                own,
                first,
                beta,
                urn.words.burstiness,
                urn.words.unit,
                count,
            )
        scratch.place[e - begin] = at
        if own >= 0:
            others = np.int64(state.post[at, 1]) - count * urn.words.one
            if promoted:
                others -= scratch.given[e - begin]
            own_gain *= growth(others, first, beta, urn.words.burstiness, urn.words.unit, count)
    own_weight = 0.0
    companions = state.size[own] - 1
    alone = companions == 0 and own >= urn.seeds.weight.size
    if own >= 0 and not alone:
        length = counts.length[d]
        words = (
            state.total[own] - length * urn.words.one - given
        ) * urn.words.unit + urn.words.beta_sum
        prior = slot_prior(urn.seeds.weight, urn.sizes.prior, own)
        own_weight = (companions + prior) * own_gain * base_ratio(urn.words.beta_sum, words, length)
    return n, sparse, own_weight, alone, width


@inlined
def weigh_vector(counts, urn, state, fixed, derived, scratch, d, width):
    """Multiply what d's vector says into `scratch.product`; return the factor of its own cluster."""
    own_nats = weigh_location(counts, urn, state, fixed, derived, scratch, d, width)
    multiply_by_exp(scratch.product, scratch.nats, width)
    return math.exp(own_nats)


@inlined
def sum_open(counts, urn, state, derived, scratch, d, width):
    """As `sum_weights`. Leaves the products at one."""
    total = sum_weights(counts, urn, state, derived, scratch, d, width)
    scratch.product[:width] = 1.0
    return total


@inlined
def sum_weights(counts, urn, state, derived, scratch, d, width):
    """Weigh every open cluster in `scratch.weight`, and every block of slots in `scratch.partial`.

    The document's own cluster weighs nothing here: its product becomes 0. Returns the sum.
    """
    own = np.int64(state.z[d])
    product, weight = scratch.product, scratch.weight
    row = derived.base_row[counts.length[d]]
    if row < 0:
        fill_base(urn, state, scratch, counts.length[d], width)
    base = derived.base[row] if row >= 0 else scratch.extra
    if own >= 0:
        product[own] = 0.0
    total = 0.0
    for block in range(width // BLOCK):
        at = block * BLOCK
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # a fixed order of summing: the same on every CPU
        for k in range(at, at + BLOCK, 4):
            w0, w1 = product[k] * base[k], product[k + 1] * base[k + 1]
            w2, w3 = product[k + 2] * base[k + 2], product[k + 3] * base[k + 3]
            weight[k], weight[k + 1], weight[k + 2], weight[k + 3] = w0, w1, w2, w3
            s0, s1, s2, s3 = s0 + w0, s1 + w1, s2 + w2, s3 + w3
        scratch.partial[block] = (s0 + s1) + (s2 + s3)
        total += scratch.partial[block]
    return total


@inlined
def pick_open(scratch, width, x):
    """The slot in whose stretch of the cumulated `scratch.weight` x falls; -1 if x is beyond all."""
    weight = scratch.weight
    last = np.int64(-1)
    for block in range(width // BLOCK):
        if x < scratch.partial[block]:
            for k in range(block * BLOCK, block * BLOCK + BLOCK):
                if weight[k] > 0.0:
                    last = k
                    if x < weight[k]:
                        return last
                    x -= weight[k]
            return last  # rounding ran past the block's end
        x -= scratch.partial[block]
    return np.int64(-1)


@inlined
def beyond_open(urn, state, scratch, width, own, alone):
    """What a number beyond all open clusters draws: a new one (-1), or the last if there is none."""
    if alone:
        return own  # any empty cluster is as good as the own one
    if urn.sizes.open_weight + urn.sizes.prior * (urn.sizes.cap - state.counters[OPEN]) > 0.0:
        return np.int64(-1)
    for k in range(width - 1, -1, -1):  # rounding ran past the end
        if scratch.weight[k] > 0.0:
            return np.int64(k)
    return own


@inlined
def fresh_weight(urn, state, alone):
    """The weight of a new cluster: all empty ones together, the document's own if it is alone there."""
    n_open = state.counters[OPEN] - alone
    return urn.sizes.open_weight + urn.sizes.prior * (urn.sizes.cap - n_open)


@inlined
def fill_base(urn, state, scratch, length, width):
    """Write (m_k + prior_k) * base_k(length) of every slot into `extra`: a length not kept."""
    for k in range(width):
        is_open = state.size[k] > 0 or k < urn.seeds.weight.size
        size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
        words = state.total[k] * urn.words.unit + urn.words.beta_sum
        scratch.extra[k] = size * base_ratio(urn.words.beta_sum, words, length) if is_open else 0.0


@inlined
def base_of_slot(urn, state, derived, length, k):
    """(m_k + prior_k) * base_k(length) of one slot; 0 if it is closed."""
    row = derived.base_row[length]
    if row >= 0:
        return derived.base[row, k]
    if state.size[k] == 0 and k >= urn.seeds.weight.size:
        return 0.0
    size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
    words = state.total[k] * urn.words.unit + urn.words.beta_sum
    return size * base_ratio(urn.words.beta_sum, words, length)
