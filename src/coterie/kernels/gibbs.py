"""Exact collapsed Gibbs: one sweep over the documents, each drawn from its full conditional.

The conditional (GSDMM Eq. 4, GSDPMM Eq. IV.29 and IV.44) is taken relative to an empty cluster, so
that a word which a cluster does not hold contributes a factor of one:

    weight_k = (m_k + prior_k) * prod_w prod_{j<c_w} (1 + n_kw / (b_w + j)) * base_k(N_d)
    base_k(L) = prod_{i<L} (Vb + i) / (n_k + Vb + i)

These are products of whole-number counts, not sums of logs: no `log`, no `exp`, and a count that
did not change needs no work at all. Three ways to a draw, chosen per document from the state alone:

* touched   postings only: clusters sharing a word are summed, the rest is drawn by rejection from
            an envelope or, where that refuses (outliers), from a tree of sums (exact; the cost
            does not grow with the number of clusters);
* open      every open cluster, words that most clusters hold as dense rows (SIMD);
* long      (`_long.py`) as `open`, in scaled products and logs, where a plain product might
            overflow; also documents tied together, whose weight is not linear in m_k.

The document is not taken out before scoring: its own cluster is corrected afterwards, so a document
that stays where it was writes nothing. Counts are whole numbers of `urn.unit`; a word is worth
`urn.one` of them, and on the promoted urn `scratch.given` says what a document's words gave each other.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import address, inlined, kernel, uniform
from coterie.kernels._long import draw_long
from coterie.kernels._moves import move
from coterie.kernels._prefetch import look_ahead
from coterie.kernels._promote import (
    clear_given,
    count_promoted,
    fill_given,
    promote,
)
from coterie.kernels._slots import BLOCK, base_ratio, slot_prior, take_slot
from coterie.kernels._tree import STALE, note_change, slot_at, update
from coterie.kernels._words import growth, list_rows, multiply_rows, scan, scan_touched

TRIES = 32  # refusals of the envelope before the tree is asked
TREE_TRIES = 32  # and of the tree before the full sum is taken once
TOUCH_COST = 3.0  # a touched posting costs about as much as this many slots of the open sum
SAFE_NATS = 600.0  # plain products may span this much either way: e**600 is 2**866
LAST_DRAW = 64  # the address of the one number a full sum needs; the envelope's come before
TREE_DRAW = 2**32  # the address of the first number for the tree

MOVED, REFUSED, FULL_SUMS, TOUCHED_DRAWS, TREE_DRAWS = range(5)  # places in Scratch.stats


@kernel
def sweep(counts, urn, state, fixed, derived, scratch, key, number, first, last):
    """Draw documents first..last-1 of the scan; return the next place to do.

    That is `last` when all are done, or an earlier one when the slots are full: the caller then
    widens the state and calls again. A document whose label is -1 is not in the state yet (a
    one-pass start): it is drawn given the documents before it, and added. Writes state, derived and
    scratch.
    """
    promoted = urn.promotion > 0
    for i in range(first, last):
        if state.head[0] == state.size.size and urn.cap > state.size.size:
            return i
        look_ahead(counts, state, derived, i, last)
        d = derived.scan[i] if derived.scan.size else i
        old = np.int64(state.z[d])
        random = address(key, number, d)
        given = (
            fill_given(counts, urn, state, fixed, derived, scratch, d) if promoted else np.int64(0)
        )
        if fixed.is_long[d]:
            k = draw_long(
                counts, urn, state, fixed, derived, scratch, d, uniform(random, LAST_DRAW), given
            )
        else:
            k = draw_short(counts, urn, state, fixed, derived, scratch, d, random, given)
        changed = k < 0 or k != old
        if changed:
            scratch.stats[MOVED] += counts.weight[d]
            if k < 0:
                k = take_slot(state.order, state.head)
            move(counts, urn, state, scratch, d, k)
        if promoted:
            clear_given(fixed, scratch, d)
            changed |= promote(counts, urn, state, derived, scratch, d, old, random)
        if changed:
            if old >= 0 and old != k:
                refresh_slot(urn, state, derived, scratch, old)
            refresh_slot(urn, state, derived, scratch, k)
    return last


@kernel
def fill_fixed(counts, urn, fixed):
    """Fill what follows from corpus and urn: inv_beta, cum_weight and seed_ends. Writes fixed only."""
    for w in range(urn.beta.size):
        fixed.inv_beta[w] = urn.unit / urn.beta[w]
    for d in range(counts.length.size):
        fixed.cum_weight[d + 1] = fixed.cum_weight[d] + counts.weight[d]
    seeds = 0.0
    for k in range(urn.seed_weight.size):
        seeds += urn.seed_weight[k]
        fixed.seed_ends[k] = seeds


@kernel
def derive(counts, urn, state, derived, scratch):
    """Fill what follows from the state, and make the scratch ready. Writes derived and scratch."""
    scratch.product[:] = 1.0
    for k in range(state.size.size):
        refresh_slot(urn, state, derived, scratch, k)
    scratch.seen[:] = STALE
    derived.n_changed[0] = 0
    if urn.promotion > 0:
        count_promoted(counts, urn, state, derived.promoted_by)


@inlined
def refresh_slot(urn, state, derived, scratch, k):
    """Derive anew what depends on slot k's sizes: a pure function of them, so resuming is exact."""
    is_open = state.size[k] > 0 or k < urn.seed_weight.size
    weight = state.size[k] + slot_prior(urn.seed_weight, urn.size_prior, k) if is_open else 0.0
    words = state.total[k] * urn.unit + urn.beta_sum
    ratio = weight
    longest = derived.base_row.size if derived.base.shape[0] else 0
    for length in range(1, longest):
        ratio *= (urn.beta_sum + (length - 1)) / (words + (length - 1))
        if derived.base_row[length] >= 0:
            derived.base[derived.base_row[length], k] = ratio
    if longest:
        note_change(derived, scratch, k)
    if derived.log_weight.size:
        derived.log_weight[k] = math.log(weight) if weight > 0.0 else -np.inf
        derived.log_total[k] = math.log(words)


@inlined
def draw_short(counts, urn, state, fixed, derived, scratch, d, random, given):
    """Draw a cluster for a short, untied document: a slot, or -1 for a new cluster.

    `given`: what the document added to its cluster beyond its own words.
    """
    own = np.int64(state.z[d])
    promoted = urn.promotion > 0
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
        first, beta = fixed.inv_beta[w * fixed.beta_stride], urn.beta[w * fixed.beta_stride]
        n_rows = list_rows(
            scratch.row, scratch.rate, n_rows, r, first, beta, urn.burst, urn.unit, count
        )
        if own >= 0:
            others = np.int64(state.rows[r, own]) - count * urn.one
            if promoted:
                others -= scratch.given[e - begin]
            own_gain *= growth(others, first, beta, urn.burst, urn.unit, count)
    width = (state.head[1] + BLOCK - 1) // BLOCK * BLOCK
    sparse = n_rows == 0 and touches * TOUCH_COST < width
    if n_rows:
        multiply_rows(state.rows, scratch.row, scratch.rate, n_rows, scratch.product, width)
    n = np.int64(0)
    for e in range(begin, end):
        w = counts.word[e]
        if state.row_of[w] >= 0:
            continue
        count = np.int64(counts.tally[e])
        first, beta = fixed.inv_beta[w * fixed.beta_stride], urn.beta[w * fixed.beta_stride]
        lo = state.post_ptr[w]
        hi = lo + state.post_len[w]
        if sparse:
            at, n = scan_touched(
                state.post, lo, hi, scratch.product, own, first, beta, urn.burst, urn.unit, count,
                scratch.touched, n,
            )  # fmt: skip
        else:
            at = scan(
                state.post, lo, hi, scratch.product, own, first, beta, urn.burst, urn.unit, count
            )
        scratch.place[e - begin] = at
        if own >= 0:
            others = np.int64(state.post[at, 1]) - count * urn.one
            if promoted:
                others -= scratch.given[e - begin]
            own_gain *= growth(others, first, beta, urn.burst, urn.unit, count)
    own_weight = 0.0
    companions = state.size[own] - 1
    alone = companions == 0 and own >= urn.seed_weight.size
    if own >= 0 and not alone:
        length = counts.length[d]
        words = (state.total[own] - length * urn.one - given) * urn.unit + urn.beta_sum
        prior = slot_prior(urn.seed_weight, urn.size_prior, own)
        own_weight = (companions + prior) * own_gain * base_ratio(urn.beta_sum, words, length)
    if sparse:
        scratch.stats[TOUCHED_DRAWS] += 1
        k = draw_touched(
            counts, urn, state, fixed, derived, scratch, d, random, n, own_weight, alone
        )
        if k == -2 and derived.base_row[counts.length[d]] >= 0:
            scratch.stats[TREE_DRAWS] += 1
            k = draw_tree(counts, urn, state, derived, scratch, d, random, n, own_weight, alone)
        if k != -2:
            for i in range(n):
                scratch.product[scratch.touched[i]] = 1.0
            return k
        scratch.stats[FULL_SUMS] += 1
    return draw_open(counts, urn, state, derived, scratch, d, random, width, own_weight, alone)


@inlined
def draw_open(counts, urn, state, derived, scratch, d, random, width, own_weight, alone):
    """Draw by the sum over every open cluster; leaves the products at one."""
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
    product[:width] = 1.0
    n_open = state.head[0] - alone
    fresh = urn.open_weight + urn.size_prior * (urn.cap - n_open)
    x = uniform(random, LAST_DRAW) * (own_weight + total + fresh)
    if x < own_weight:
        return own
    x -= own_weight
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
    if alone:
        return own  # any empty cluster is as good as the own one
    if fresh > 0.0:
        return np.int64(-1)
    for k in range(width - 1, -1, -1):  # rounding ran past the end
        if weight[k] > 0.0:
            return np.int64(k)
    return own


@inlined
def fill_base(urn, state, scratch, length, width):
    """Write (m_k + prior_k) * base_k(length) of every slot into `extra`: a length not kept."""
    for k in range(width):
        is_open = state.size[k] > 0 or k < urn.seed_weight.size
        size = state.size[k] + slot_prior(urn.seed_weight, urn.size_prior, k)
        words = state.total[k] * urn.unit + urn.beta_sum
        scratch.extra[k] = size * base_ratio(urn.beta_sum, words, length) if is_open else 0.0


@inlined
def base_of_slot(urn, state, derived, length, k):
    """(m_k + prior_k) * base_k(length) of one open slot."""
    row = derived.base_row[length]
    if row >= 0:
        return derived.base[row, k]
    size = state.size[k] + slot_prior(urn.seed_weight, urn.size_prior, k)
    words = state.total[k] * urn.unit + urn.beta_sum
    return size * base_ratio(urn.beta_sum, words, length)


@inlined
def draw_touched(
    counts, urn, state, fixed, derived, scratch, d, random, n_touched, own_weight, alone
):
    """Draw from touched clusters + envelope; -1 new, -2 when the envelope refused TRIES times.

    The envelope gives every cluster its urn weight; an untouched cluster k deserves base_k(L) <= 1
    of it, so it is accepted with that probability. A touched one is refused: its weight is summed.
    """
    own = np.int64(state.z[d])
    length = counts.length[d]
    product, weight = scratch.product, scratch.weight
    total = own_weight
    for i in range(n_touched):
        k = np.int64(scratch.touched[i])
        if k != own:
            total += product[k] * base_of_slot(urn, state, derived, length, k)
        weight[i] = total
    before = fixed.cum_weight[d]
    others = float(fixed.cum_weight[counts.length.size] - counts.weight[d] if own >= 0 else before)
    empties = urn.size_prior * urn.cap
    n_seeds = urn.seed_weight.size
    seeds = fixed.seed_ends[n_seeds - 1] if n_seeds else 0.0
    for attempt in range(TRIES):
        u = uniform(random, 2 * attempt)
        x = u * (total + others + empties + seeds + urn.open_weight)
        if x < own_weight:
            return own
        if x < total:
            for i in range(n_touched):
                if x < weight[i]:
                    return np.int64(scratch.touched[i])
        k = from_envelope(counts, urn, state, fixed, d, x - total, others, empties, seeds)
        if k == -1 or (k == own and alone):
            if alone:
                return own
            if urn.size_prior * (urn.cap - state.head[0]) + urn.open_weight > 0.0:
                return np.int64(-1)
        elif k >= 0 and k != own and product[k] == 1.0:
            size = state.size[k] + slot_prior(urn.seed_weight, urn.size_prior, k)
            share = base_of_slot(urn, state, derived, length, k)
            if uniform(random, 2 * attempt + 1) * size < share:
                return k
        scratch.stats[REFUSED] += 1
    return np.int64(-2)


@inlined
def from_envelope(counts, urn, state, fixed, d, x, others, empties, seeds):
    """The cluster at x of: the other documents' clusters, the equal priors, the seeds', a new one.

    -1 is a new cluster, -3 nobody: refused.
    """
    if x < others:
        return np.int64(state.z[pick_document(counts, fixed.cum_weight, d, x)])
    x -= others
    if x < empties:
        j = np.int64(x / urn.size_prior)
        k = np.int64(state.order[j]) if j < state.head[0] else np.int64(-1)
        return k if k < 0 or k >= urn.seed_weight.size else np.int64(-3)  # seeds have their own
    x -= empties
    if x < seeds:
        low, high = np.int64(-1), urn.seed_weight.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            if fixed.seed_ends[middle] <= x:
                low = middle
            else:
                high = middle
        return np.int64(high)
    return np.int64(-1)


@inlined
def draw_tree(counts, urn, state, derived, scratch, d, random, n_touched, own_weight, alone):
    """As `draw_touched`, from the sums of all base terms; -2 when it refused TREE_TRIES times.

    Only touched clusters are refused: their weight is in the sum before it.
    """
    own = np.int64(state.z[d])
    row = derived.base_row[counts.length[d]]
    product, weight = scratch.product, scratch.weight
    total = weight[n_touched - 1] if n_touched else own_weight  # as draw_touched cumulated it
    every = update(derived, scratch, row)
    n_open = state.head[0] - alone
    fresh = urn.open_weight + urn.size_prior * (urn.cap - n_open)
    for attempt in range(TREE_TRIES):
        x = uniform(random, TREE_DRAW + attempt) * (total + fresh + every)
        if x < own_weight:
            return own
        if x < total:
            for i in range(n_touched):
                if x < weight[i]:
                    return np.int64(scratch.touched[i])
        if x < total + fresh:
            return own if alone else np.int64(-1)
        k = slot_at(derived, scratch, row, x - total - fresh)
        if k >= 0 and k != own and product[k] == 1.0:
            return k
    return np.int64(-2)


@inlined
def pick_document(counts, cum_weight, d, x):
    """The document in whose stretch of cumulated weight x falls, d itself left out."""
    n_docs = counts.length.size
    if cum_weight[n_docs] == n_docs:
        j = np.int64(x)
        return min(j + (j >= d), n_docs - 1)
    if x >= cum_weight[d]:
        x += counts.weight[d]
    low, high = np.int64(0), np.int64(n_docs)
    while high - low > 1:
        middle = (low + high) // 2
        if cum_weight[middle] <= x:
            low = middle
        else:
            high = middle
    return low
