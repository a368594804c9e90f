"""Slots: a cluster in use has one. The open slots come first in `order`; `head` counts them."""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import inlined

BLOCK = 16  # slots summed together; the state's width is a multiple of it


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
def take_slot(order, head):
    """Open the next free slot and return it."""
    k = np.int64(order[head[0]])
    head[0] += 1
    head[1] = max(head[1], k + 1)
    return k


@inlined
def free_slot(order, place, head, k):
    """Close slot k: swap it behind the open ones."""
    head[0] -= 1
    last = head[0]
    other = order[last]
    at = place[k]
    order[at] = other
    place[other] = at
    order[last] = k
    place[k] = last
