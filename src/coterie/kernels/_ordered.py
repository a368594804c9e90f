"""The draw of `blocked`: one number per document, the inverse of the weights cumulated in slot order.

`coterie/_rng.py` has the rule. A document that shares words with few clusters does not look at the
others: the tree has the sums of their base terms, to which the clusters that share a word add a
surplus. So the cost hardly grows with the number of clusters.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import inlined
from coterie.kernels._listed import draw_listed, is_listed, list_likely
from coterie.kernels._location import is_located
from coterie.kernels._open import (
    beyond_open,
    fresh_weight,
    pick_open,
    sum_open,
    weigh_document,
    weigh_vector,
)
from coterie.kernels._slots import BLOCK
from coterie.kernels._stay import surely_stays
from coterie.kernels._tree import FEW, slot_in_order, update
from coterie.kernels._work import FULL_SUMS, TREE_DRAWS


@inlined
def draw_ordered(counts, urn, state, fixed, derived, scratch, d, u, given, listed):
    """Draw a cluster for a short, untied document: a slot, or -1 for a new cluster.

    `u`: the document's number. `given`: what it added to its cluster beyond its own words. `listed`: its
    likely clusters; empty where no lists are kept.
    """
    n, sparse, own_weight, alone, width = weigh_document(
        counts, urn, state, fixed, derived, scratch, d, given
    )
    if sparse and derived.base_row[counts.length[d]] >= 0:
        scratch.stats[TREE_DRAWS] += 1
        k = draw_touched_in_order(counts, urn, state, derived, scratch, d, u, n, own_weight, alone)
        if k != -2:
            for i in range(n):
                scratch.product[scratch.touched[i]] = 1.0
            return k
    scratch.stats[FULL_SUMS] += 1
    own = np.int64(state.z[d])
    if is_located(counts, urn):
        if listed.size and not alone and is_listed(listed, own):
            k = draw_listed(counts, urn, state, fixed, derived, scratch, d, u, own_weight, listed)
            scratch.product[:width] = 1.0
            return k
        if listed.size == 0 and surely_stays(
            counts, urn, state, fixed, derived, scratch, d, u, own_weight, alone, width, True
        ):
            scratch.product[:width] = 1.0
            return own
        own_weight *= weigh_vector(counts, urn, state, fixed, derived, scratch, d, width)
    sum_open(counts, urn, state, derived, scratch, d, width)
    total = put_own(scratch, own, own_weight, width)
    k = pick_open(scratch, width, u * (total + fresh_weight(urn, state, alone)))
    k = k if k >= 0 else beyond_open(urn, state, scratch, width, own, alone)
    if listed.size:
        list_likely(scratch, width, k, listed)
    return k


@inlined
def put_own(scratch, own, own_weight, width):
    """Give the own cluster, if there is one, its weight among those that `sum_open` left.

    Returns the sum of all.
    """
    weight, first = scratch.weight, own // BLOCK * BLOCK
    if own >= 0:
        weight[own] = own_weight
        partial = 0.0
        for k in range(first, first + BLOCK):
            partial += weight[k]
        scratch.partial[own // BLOCK] = partial
    total = 0.0
    for block in range(width // BLOCK):
        total += scratch.partial[block]
    return total


@inlined
def draw_touched_in_order(counts, urn, state, derived, scratch, d, u, n, own_weight, alone):
    """Draw by the tree of base terms and the surplus of the clusters in `scratch.touched`.

    Returns a slot, -1 for a new cluster, or -2 where rounding leaves no slot.
    """
    own = np.int64(state.z[d])
    row = derived.base_row[counts.length[d]]
    total = update(derived, scratch, row)
    base, product = derived.base[row], scratch.product
    shift = 4 if base.size <= FEW else 8  # FAN or SPAN slots
    for i in range((base.size >> shift) + 1):
        scratch.surplus[i] = 0.0
    for i in range(n):
        k = np.int64(scratch.touched[i])
        amount = own_weight - base[k] if k == own else base[k] * (product[k] - 1.0)
        total += amount
        scratch.weight[i] = amount
        scratch.surplus[k >> shift] += amount
    fresh = fresh_weight(urn, state, alone)
    x = u * (total + fresh)
    if x < total:
        return slot_in_order(derived, scratch, row, n, own, own_weight, x)
    if fresh > 0.0:
        return own if alone else np.int64(-1)
    return np.int64(-2)
