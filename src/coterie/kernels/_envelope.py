"""Gibbs draws for a document that shares words with few clusters: exact, at a cost that does not grow
with the number of clusters.

The clusters that share a word with the document are summed. The others are drawn by rejection from
an envelope or, where that refuses too often (outliers), from a tree of sums.
"""

from __future__ import annotations

import numpy as np

from coterie._rng import DRAW_TREE, DRAW_TRY
from coterie.kernels._common import inlined, uniform
from coterie.kernels._open import base_of_slot
from coterie.kernels._slots import OPEN, slot_prior
from coterie.kernels._tree import slot_at, update
from coterie.kernels._work import REFUSED

TRIES = 32  # refusals of the envelope before the tree is asked
TREE_TRIES = 32  # and of the tree before the full sum is taken once


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
    empties = urn.sizes.prior * urn.sizes.cap
    n_seeds = urn.seeds.weight.size
    seeds = fixed.seed_ends[n_seeds - 1] if n_seeds else 0.0
    for attempt in range(TRIES):
        u = uniform(random, DRAW_TRY + 2 * attempt)
        x = u * (total + others + empties + seeds + urn.sizes.open_weight)
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
            if (
                urn.sizes.prior * (urn.sizes.cap - state.counters[OPEN]) + urn.sizes.open_weight
                > 0.0
            ):
                return np.int64(-1)
        elif k >= 0 and k != own and product[k] == 1.0:
            size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
            share = base_of_slot(urn, state, derived, length, k)
            if uniform(random, DRAW_TRY + 2 * attempt + 1) * size < share:
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
        j = np.int64(x / urn.sizes.prior)
        k = np.int64(state.order[j]) if j < state.counters[OPEN] else np.int64(-1)
        return k if k < 0 or k >= urn.seeds.weight.size else np.int64(-3)  # seeds have their own
    x -= empties
    if x < seeds:
        low, high = np.int64(-1), urn.seeds.weight.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            if fixed.seed_ends[middle] <= x:
                low = middle
            else:
                high = middle
        return np.int64(high)
    return np.int64(-1)


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
    n_open = state.counters[OPEN] - alone
    fresh = urn.sizes.open_weight + urn.sizes.prior * (urn.sizes.cap - n_open)
    for attempt in range(TREE_TRIES):
        x = uniform(random, DRAW_TREE + attempt) * (total + fresh + every)
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
