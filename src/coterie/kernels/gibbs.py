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
that stays where it was writes nothing. Counts are whole numbers of `urn.words.unit`; a word is worth
`urn.words.one` of them, and on the promoted urn `scratch.given` says what a document's words gave
each other.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._rng import DRAW_ONE
from coterie.kernels._common import address, inlined, kernel, uniform
from coterie.kernels._envelope import draw_touched, draw_tree
from coterie.kernels._location import is_located, refresh_location
from coterie.kernels._long import draw_long
from coterie.kernels._moves import move
from coterie.kernels._open import (
    beyond_open,
    fresh_weight,
    pick_open,
    sum_open,
    weigh_document,
    weigh_vector,
)
from coterie.kernels._prefetch import look_ahead
from coterie.kernels._promote import clear_given, count_promoted, fill_given, promote
from coterie.kernels._slots import OPEN, slot_prior, take_slot
from coterie.kernels._stay import surely_stays
from coterie.kernels._tree import STALE, note_change
from coterie.kernels._work import FULL_SUMS, MOVED, TOUCHED_DRAWS, TREE_DRAWS


@kernel
def sweep(counts, urn, state, fixed, derived, scratch, key, number, first, last):
    """Draw documents first..last-1 of the scan; return the next place to do.

    That is `last` when all are done, or an earlier one when the slots are full: the caller then
    widens the state and calls again. A document whose label is -1 is not in the state yet (a
    one-pass start): it is drawn given the documents before it, and added. Writes state, derived and
    scratch.
    """
    promoted = urn.relations.promotion > 0
    for i in range(first, last):
        if state.counters[OPEN] == state.size.size and urn.sizes.cap > state.size.size:
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
                counts, urn, state, fixed, derived, scratch, d, uniform(random, DRAW_ONE), given
            )
        else:
            k = draw_short(counts, urn, state, fixed, derived, scratch, d, random, given)
        changed = k < 0 or k != old
        if changed:
            scratch.stats[MOVED] += counts.weight[d]
            if k < 0:
                k = take_slot(state)
            move(counts, urn, state, scratch, d, k)
        if promoted:
            clear_given(fixed, scratch, d)
            changed |= promote(counts, urn, state, derived, scratch, d, old, random)
        if changed:
            if old >= 0 and old != k:
                refresh_slot(urn, state, derived, old)
            refresh_slot(urn, state, derived, k)
    return last


@kernel
def fill_fixed(counts, urn, fixed):
    """Fill what follows from corpus and urn: inv_beta, cum_weight and seed_ends. Writes fixed only."""
    for w in range(urn.words.beta.size):
        fixed.inv_beta[w] = urn.words.unit / urn.words.beta[w]
    for d in range(counts.length.size):
        fixed.cum_weight[d + 1] = fixed.cum_weight[d] + counts.weight[d]
    seeds = 0.0
    for k in range(urn.seeds.weight.size):
        seeds += urn.seeds.weight[k]
        fixed.seed_ends[k] = seeds


@kernel
def derive(counts, urn, state, derived, scratch):
    """Fill what follows from the state, and make the scratch ready. Writes derived and scratch."""
    scratch.product[:] = 1.0
    for k in range(state.size.size):
        refresh_slot(urn, state, derived, k)
    scratch.seen[:] = STALE
    derived.n_changed[0] = 0
    if urn.relations.promotion > 0:
        count_promoted(counts, urn, state, derived.promoted_by)


@inlined
def draw_short(counts, urn, state, fixed, derived, scratch, d, random, given):
    """Draw a cluster for a short, untied document: a slot, or -1 for a new cluster.

    `given`: what the document added to its cluster beyond its own words.
    """
    n, sparse, own_weight, alone, width = weigh_document(
        counts, urn, state, fixed, derived, scratch, d, given
    )
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
    own, u = np.int64(state.z[d]), uniform(random, DRAW_ONE)
    if is_located(counts, urn):
        if surely_stays(
            counts, urn, state, fixed, derived, scratch, d, u, own_weight, alone, width, False
        ):
            scratch.product[:width] = 1.0
            return own
        own_weight *= weigh_vector(counts, urn, state, fixed, derived, scratch, d, width)
    total = sum_open(counts, urn, state, derived, scratch, d, width)
    x = u * (own_weight + total + fresh_weight(urn, state, alone))
    if x < own_weight:
        return own
    k = pick_open(scratch, width, x - own_weight)
    return k if k >= 0 else beyond_open(urn, state, scratch, width, own, alone)


@inlined
def refresh_slot(urn, state, derived, k):
    """Derive again what depends on slot k's sizes: a pure function of them, so resuming is exact."""
    is_open = state.size[k] > 0 or k < urn.seeds.weight.size
    weight = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k) if is_open else 0.0
    words = state.total[k] * urn.words.unit + urn.words.beta_sum
    ratio = weight
    longest = derived.base_row.size if derived.base.shape[0] else 0
    for length in range(1, longest):
        ratio *= (urn.words.beta_sum + (length - 1)) / (words + (length - 1))
        if derived.base_row[length] >= 0:
            derived.base[derived.base_row[length], k] = ratio
    if longest:
        note_change(derived, k)
    if derived.root.size:
        refresh_location(urn, state, derived, k)
    if derived.log_weight.size:
        derived.log_weight[k] = math.log(weight) if weight > 0.0 else -np.inf
        derived.log_total[k] = math.log(words)
