"""Slots: a cluster in use has one. The open slots come first in `order`; `counters` counts them.

A cluster also has an id, which it gets when it opens and which no other cluster ever gets.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import inlined

BLOCK = 16  # slots summed together; the state's width is a multiple of it
OPEN, HIGH, NEXT_ID = range(3)  # in State.counters: open slots, highest slot used + 1, next new id


@inlined
def slot_prior(seed_weight, size_prior, k):
    """What is added to a cluster's size: a seed's own weight, or alpha of the finite urn."""
    return seed_weight[k] if k < seed_weight.size else size_prior


@inlined
def base_ratio(beta_sum, words, length):
    """prod_{i<length} (Vb + i) / (words + i) with words = n_k + Vb; at most one."""
    ratio = 1.0
    for i in range(length):
        ratio *= (beta_sum + i) / (words + i)
    return ratio


@inlined
def take_slot(state):
    """Open the next free slot, for a cluster with a new id, and return it."""
    counters = state.counters
    k = np.int64(state.order[counters[OPEN]])
    state.id[k] = counters[NEXT_ID]
    counters[OPEN] += 1
    counters[HIGH] = max(counters[HIGH], k + 1)
    counters[NEXT_ID] += 1
    return k


@inlined
def free_slot(state, k):
    """Close slot k: swap it behind the open ones."""
    order, place = state.order, state.place
    state.counters[OPEN] -= 1
    last = state.counters[OPEN]
    other = order[last]
    at = place[k]
    order[at] = other
    place[other] = at
    order[last] = k
    place[k] = last
    state.id[k] = -1
