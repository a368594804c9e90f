"""Gibbs draws for documents whose plain product might overflow, and for tied documents.

Products are scaled: when one passes BIG it is divided out and counted. Logs are exact only for the
clusters within REACH of the best; the others are told apart by the bits of the float.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import (
    LN2,
    called,
    inlined,
    log_gamma,
    log_rising,
    rising_tail,
)
from coterie.kernels._location import is_located, weigh_location
from coterie.kernels._slots import BLOCK, HIGH, OPEN, slot_prior
from coterie.kernels._words import growth, list_rows, log_growth, multiply_rows, scan

BIG = 2.0**500
LOG_BIG = 500.0 * LN2
CHUNK_NATS = 340.0  # growth allowed between two rescalings: BIG * e**340 < 2**1023
MANY = 16  # counts above this (or worth more than CHUNK_NATS) use log-gamma, not a product
REACH = 38.0  # nats below the best at which a weight is lost in a float64's sum
SLACK = 0.2  # what an estimated log may be off by, generously
SERIES = 0.02  # the centred series of log_rising holds for length < SERIES * words


@called
def draw_long(counts, urn, state, fixed, derived, scratch, d, u, given):
    """Draw a cluster for document d over every open cluster: a slot, or -1 for a new one."""
    n_near, total, fresh = weigh_long(counts, urn, state, fixed, derived, scratch, d, given)
    if total + fresh == 0.0:
        return np.int64(state.z[d])
    x = u * (total + fresh)
    for i in range(n_near):
        if x < scratch.weight[i]:
            return np.int64(scratch.touched[i])
    if fresh > 0.0:
        own = np.int64(state.z[d])
        alone = state.size[own] == counts.weight[d] and own >= urn.seeds.weight.size
        return own if alone else np.int64(-1)
    return np.int64(scratch.touched[n_near - 1])


@inlined
def weigh_long(counts, urn, state, fixed, derived, scratch, d, given):
    """List the clusters near the best in scratch.touched, their weights cumulated in scratch.weight.

    Returns how many they are, their sum, and the weight of a new cluster, d itself left out.
    """
    width = (state.counters[HIGH] + BLOCK - 1) // BLOCK * BLOCK
    own_nats = 0.0
    scratch.extra[:width] = 0.0
    if is_located(counts, urn):
        own_nats = weigh_location(counts, urn, state, fixed, derived, scratch, d, width)
        for k in range(width):
            scratch.extra[k] = scratch.nats[k]
    own_nats += multiply_words(counts, urn, state, fixed, scratch, d, width)
    weighed = weigh_logs(counts, urn, state, derived, scratch, d, width, own_nats, given)
    scratch.product[:width] = 1.0
    return weighed


@inlined
def multiply_words(counts, urn, state, fixed, scratch, d, width):
    """Multiply d's words into the scaled products, or add their nats to `extra`.

    Returns the nats of d's own cluster without d.
    """
    own = np.int64(state.z[d])
    copies = counts.weight[d]
    begin = counts.ptr[d]
    product, scale, extra = scratch.product, scratch.scale, scratch.extra
    scale[:width] = 0.0
    n_rows = np.int64(0)
    grown = 0.0
    own_gain = 1.0
    own_nats = 0.0
    for e in range(begin, counts.ptr[d + 1]):
        w = counts.word[e]
        count = counts.tally[e] * copies
        first, beta = fixed.inv_beta[w * fixed.beta_stride], urn.words.beta[w * fixed.beta_stride]
        r = np.int64(state.row_of[w])
        lo = state.post_ptr[w]
        hi = lo + state.post_len[w]
        nats = count * fixed.word_nats[w]
        mine = count * urn.words.one
        if urn.relations.promotion > 0:
            mine += scratch.given[e - begin]
        many = count > MANY or nats > CHUNK_NATS
        if many:
            at = add_many(
                state,
                extra,
                r,
                lo,
                hi,
                own,
                beta,
                urn.words.burstiness,
                urn.words.unit,
                count,
                width,
            )
        else:
            if grown + nats > CHUNK_NATS or n_rows + count > scratch.row.size:
                multiply_rows(state.rows, scratch.row, scratch.rate, n_rows, product, width)
                rescale(product, scale, width)
                n_rows = np.int64(0)
                grown = 0.0
            grown += nats
            if r >= 0:
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
                at = np.int64(-1)
            else:
                at = scan(
                    state.post,
                    lo,
                    hi,
                    product,
                    own,
                    first,
                    beta,
                    urn.words.burstiness,
                    urn.words.unit,
                    count,
                )
        scratch.place[e - begin] = at
        if own < 0:
            continue
        held = np.int64(state.rows[r, own]) if r >= 0 else np.int64(state.post[at, 1])
        if many:
            own_nats += log_growth(held - mine, beta, urn.words.burstiness, urn.words.unit, count)
        else:
            own_gain *= growth(
                held - mine, first, beta, urn.words.burstiness, urn.words.unit, count
            )
            if own_gain > BIG:
                own_gain *= 1.0 / BIG
                own_nats += LOG_BIG
    multiply_rows(state.rows, scratch.row, scratch.rate, n_rows, product, width)
    rescale(product, scale, width)
    return own_nats + math.log(own_gain)


@inlined
def rescale(product, scale, width):
    """Divide out BIG where a product passed it. Branch-free, so that it vectorises."""
    for k in range(width):
        over = product[k] > BIG
        product[k] *= 1.0 / BIG if over else 1.0
        scale[k] += 1.0 if over else 0.0


@inlined
def add_many(state, extra, r, lo, hi, own, beta, burstiness, unit, count, width):
    """Add a large count's nats to `extra` by log-gamma; return where own's posting is, or -1."""
    at = np.int64(-1)
    if r >= 0:
        for k in range(width):
            n = np.int64(state.rows[r, k])
            if n > 0:
                extra[k] += log_growth(n, beta, burstiness, unit, count)
        return at
    for i in range(lo, hi):
        k = state.post[i, 0]
        extra[k] += log_growth(np.int64(state.post[i, 1]), beta, burstiness, unit, count)
        at = i if k == own else at
    return at


@inlined
def estimate(urn, state, derived, scratch, width, length, empty):
    """Fill scratch.weight with every slot's log weight to within SLACK / 2; -inf where closed.

    ln(product) is read off the float's bits (at most 0.06 off). The base term is the centred series
    where the cluster is much larger than the document, which is nearly everywhere.
    """
    half = 0.5 * (length - 1)
    for k in range(width):
        words = state.total[k] * urn.words.unit + urn.words.beta_sum
        y = half / words
        log1p = y * (1.0 - y * (0.5 - y * (1.0 / 3.0 - y * (0.25 - y * 0.2))))
        bits = np.float64(np.float64(scratch.product[k]).view(np.int64))
        scratch.weight[k] = (
            (bits * 2.0**-52 - 1023.0) * LN2
            + (scratch.scale[k] * LOG_BIG + scratch.extra[k])
            + derived.log_weight[k]
            + (empty - length * (derived.log_total[k] + log1p) + rising_tail(words + half, length))
        )
    for k in range(width):
        words = state.total[k] * urn.words.unit + urn.words.beta_sum
        if length >= SERIES * words and derived.log_weight[k] > -np.inf:
            scratch.weight[k] = (
                math.log(scratch.product[k])
                + (scratch.scale[k] * LOG_BIG + scratch.extra[k])
                + derived.log_weight[k]
                + (empty - log_rising(words, length))
            )


@inlined
def weigh_logs(counts, urn, state, derived, scratch, d, width, own_nats, given):
    """Weigh scaled products: exact logs and `exp` only for what is within reach of the best."""
    own = np.int64(state.z[d])
    copies = counts.weight[d]
    length = counts.length[d] * copies
    weight, touched = scratch.weight, scratch.touched
    empty = log_rising(urn.words.beta_sum, length)
    estimate(urn, state, derived, scratch, width, length, empty)
    if copies > 1:
        for k in range(width):
            if derived.log_weight[k] > -np.inf:
                size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
                weight[k] += log_rising(size, copies) - derived.log_weight[k]
    companions = state.size[own] - copies
    alone = companions == 0 and own >= urn.seeds.weight.size
    own_score = -np.inf
    if own >= 0:
        own_size = companions + slot_prior(urn.seeds.weight, urn.sizes.prior, own)
        if not alone and own_size > 0.0:
            mine = length * urn.words.one + given
            words = (state.total[own] - mine) * urn.words.unit + urn.words.beta_sum
            own_score = (
                own_nats + log_rising(own_size, copies) + (empty - log_rising(words, length))
            )
        weight[own] = own_score
    n_empty = urn.sizes.cap - (state.counters[OPEN] - alone)
    fresh = -np.inf
    if urn.sizes.open_weight > 0.0:
        fresh = math.log(urn.sizes.open_weight) + log_gamma(float(copies))
    elif urn.sizes.prior > 0.0 and n_empty > 0:
        fresh = math.log(float(n_empty)) + log_rising(urn.sizes.prior, copies)
    best = fresh
    for k in range(width):
        best = max(best, weight[k])
    n_near = np.int64(0)
    total = 0.0
    if best == -np.inf:
        return n_near, total, 0.0
    for k in range(width):
        if weight[k] > best - REACH - SLACK:
            score = own_score
            if k != own:
                words = state.total[k] * urn.words.unit + urn.words.beta_sum
                size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
                score = (
                    math.log(scratch.product[k])
                    + (scratch.scale[k] * LOG_BIG + scratch.extra[k])
                    + log_rising(size, copies)
                    + (empty - log_rising(words, length))
                )
            total += math.exp(score - best)
            touched[n_near] = k
            weight[n_near] = total
            n_near += 1
    return n_near, total, math.exp(fresh - best)
