"""Blocked draws: the documents of a block are drawn against the same counts, each without itself.

Drawing only reads the state, so threads may share it. Then the words move, every thread those of its
own words, and last the sizes; the outcome does not depend on the number of threads. Openers of a
block get a cluster each, numbered in the order of the scan.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import address, kernel, uniform
from coterie.kernels._long import draw_long
from coterie.kernels._moves import move_posting
from coterie.kernels._prefetch import look_ahead
from coterie.kernels._promote import give, promote, take_back
from coterie.kernels._slots import free_slot, take_slot
from coterie.kernels.gibbs import LAST_DRAW, MOVED, draw_short, refresh_slot

STRIPE = 16  # neighbouring words that one thread moves together: their lengths share cache lines


@kernel
def propose(counts, urn, state, work, key, number, first, last, drawn):
    """Draw places first..last-1 of the scan into `drawn` (-1: a new cluster). Writes drawn, scratch."""
    promoted = urn.promotion > 0
    for i in range(first, last):
        look_ahead(counts, state, work, i, last)
        d = work.scan[i] if work.scan.size else i
        random = address(key, number, d)
        given = give(counts, urn, state, work, d) if promoted else np.int64(0)
        if work.is_long[d]:
            k = draw_long(counts, urn, state, work, d, uniform(random, LAST_DRAW), given)
        else:
            k = draw_short(counts, urn, state, work, d, random, given)
        if promoted:
            take_back(counts, urn, state, work, d)
        drawn[i] = k


@kernel
def open_slots(urn, state, work, first, last, drawn):
    """Give every opener a slot; when the urn is full, the rest stay where they are."""
    for i in range(first, last):
        if drawn[i] < 0:
            d = work.scan[i] if work.scan.size else i
            full = state.head[0] == min(state.size.size, urn.cap)
            drawn[i] = state.z[d] if full else take_slot(state.order, state.head)


@kernel
def move_words(counts, urn, state, work, first, last, drawn, part, parts):
    """Move the counts of the words of this part (of so many) for every document that was drawn away."""
    for i in range(first, last):
        d = work.scan[i] if work.scan.size else i
        old, new = np.int64(state.z[d]), np.int64(drawn[i])
        if old == new:
            continue
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            if (w // STRIPE) % parts != part:
                continue
            amount = counts.tally[e] * counts.weight[d] * urn.one
            r = state.row_of[w]
            if r >= 0:
                state.rows[r, old] -= amount
                state.rows[r, new] += amount
            else:
                at = state.post_ptr[w]
                while state.post[at, 0] != old:
                    at += 1
                move_posting(state, w, at, new, amount)


@kernel
def finish(counts, urn, state, work, key, number, first, last, drawn):
    """Move labels and sizes, draw what is promoted, close what is empty, derive the slots anew."""
    promoted = urn.promotion > 0
    changed = False
    for i in range(first, last):
        d = work.scan[i] if work.scan.size else i
        old, new = np.int64(state.z[d]), np.int64(drawn[i])
        if old != new:
            changed = True
            copies = counts.weight[d]
            words = counts.length[d] * copies * urn.one
            work.stats[MOVED] += copies
            state.z[d] = new
            state.size[old] -= copies
            state.size[new] += copies
            state.total[old] -= words
            state.total[new] += words
        if promoted:
            changed |= promote(counts, urn, state, work, d, old, address(key, number, d))
    if not changed:
        return
    for i in range(state.head[0] - 1, -1, -1):
        k = state.order[i]
        if state.size[k] == 0 and k >= urn.seed_weight.size:
            free_slot(state.order, state.place, state.head, k)
    for k in range(state.head[1]):
        refresh_slot(urn, state, work, k)
