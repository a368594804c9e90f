"""Blocked draws: the documents of a block are drawn against the same counts, each without itself.

Drawing only reads the state, so threads may share it: each takes a few documents at a time. Then the
words move, every thread those of its own words if there are many, and last the sizes. The outcome does
not depend on the number of threads. `coterie/_rng.py` says how a number becomes a cluster, and which
slot a new cluster gets.
"""

from __future__ import annotations

import numpy as np

from coterie._rng import DRAW_ONE
from coterie.kernels._common import address, called, kernel, uniform
from coterie.kernels._gate import DONE, SAID, TAKEN, take, wait_for_all
from coterie.kernels._location import TOGETHER, at_place, begin_piece, move_vector
from coterie.kernels._long import draw_long
from coterie.kernels._moves import move_posting
from coterie.kernels._ordered import draw_ordered
from coterie.kernels._prefetch import look_ahead
from coterie.kernels._promote import OPENED, clear_given, fill_given, promote
from coterie.kernels._slots import HIGH, OPEN, free_slot, take_slot
from coterie.kernels._work import MOVED
from coterie.kernels.gibbs import refresh_slot
from coterie.kernels.layout import order_slots

PIECE = TOGETHER  # documents a thread takes at a time: what it draws fills a cache line
STRIPE = 16  # neighbouring words that one thread moves together: their lengths share cache lines
MOVE_ALONE, MOVE_TOGETHER, WIDEN = 1, 2, 3  # what the first thread says to the others


@kernel
def sweep(
    counts, urn, state, fixed, derived, shared_state, shared_derived, scratch, key, number, blocks,
    begin, end, is_drawn, drawn, listed, few, part, parts, gate,
):  # fmt: skip
    """Draw blocks begin..end-1 as one of several threads that were called alike; part 0 leads.

    gate[DONE] is the next block to do: `end`, or an earlier one whose openers (-1 in `drawn`) need more
    slots; the caller then widens the state and calls again with `is_drawn`. A document whose label is -1
    is not in the state yet: it is drawn as the others, and added. `listed` has a list of likely clusters
    for every document (see _listed.py), or lists of no length. Up to `few` words are moved by part 0
    alone. Draws see `shared_state` and `shared_derived`: the same arrays, read-only. Each
    thread has its own scratch. Writes state, derived, scratch, drawn, listed and gate.
    """
    for b in range(begin, end):
        first, last = blocks[b], blocks[b + 1]
        while not (is_drawn and b == begin):
            i = (first // PIECE + take(gate)) * PIECE
            if i >= last:
                break
            some = max(i, first), min(i + PIECE, last)
            propose(
                counts, urn, state, fixed, derived, scratch, key, number, some[0], some[1], drawn,
                listed,
            )  # fmt: skip
        if not wait_for_all(gate, parts):
            return
        if part == 0:
            gate[TAKEN] = 0
            gate[SAID] = open_slots(counts, urn, state, derived, first, last, drawn, few)
            gate[DONE] = b if gate[SAID] == WIDEN else b + 1
            if gate[SAID] == MOVE_ALONE:
                move(counts, urn, state, derived, first, last, drawn, 0, 1)
                finish(counts, urn, state, derived, scratch, key, number, first, last, drawn)
        if not wait_for_all(gate, parts):
            return
        if gate[SAID] == WIDEN:
            return
        if gate[SAID] == MOVE_TOGETHER:
            move(counts, urn, state, derived, first, last, drawn, part, parts)
            if not wait_for_all(gate, parts):
                return
            if part == 0:
                finish(counts, urn, state, derived, scratch, key, number, first, last, drawn)
            if not wait_for_all(gate, parts):
                return


@called
def propose(counts, urn, state, fixed, derived, scratch, key, number, first, last, drawn, listed):
    """Draw places first..last-1 of the scan into `drawn` (-1: a new cluster).

    Writes drawn, listed and scratch.
    """
    promoted = urn.relations.promotion > 0
    begin_piece(scratch, last - first)
    for i in range(first, last):
        look_ahead(counts, state, derived, i, last)
        at_place(scratch, i, last)
        d = derived.scan[i] if derived.scan.size else i
        u = uniform(address(key, number, d), DRAW_ONE)
        given = (
            fill_given(counts, urn, state, fixed, derived, scratch, d) if promoted else np.int64(0)
        )
        if fixed.is_long[d]:
            k = draw_long(counts, urn, state, fixed, derived, scratch, d, u, given)
        else:
            k = draw_ordered(counts, urn, state, fixed, derived, scratch, d, u, given, listed[d])
        if promoted:
            clear_given(fixed, scratch, d)
        drawn[i] = k


@called
def open_slots(counts, urn, state, derived, first, last, drawn, few):
    """Give every opener a slot; say who moves the words, or that there are too few slots."""
    openers, words = 0, np.int64(0)
    for i in range(first, last):
        d = derived.scan[i] if derived.scan.size else i
        openers += drawn[i] < 0
        if drawn[i] != state.z[d]:
            words += counts.ptr[d + 1] - counts.ptr[d]
    if openers > state.size.size - state.counters[OPEN] and urn.sizes.cap > state.size.size:
        return WIDEN
    if openers:
        before, turn = state.counters[OPEN], np.int64(0)
        for i in range(first, last):
            if drawn[i] >= 0:
                continue
            if state.counters[OPEN] < min(state.size.size, urn.sizes.cap):
                drawn[i] = take_slot(state)
                if urn.relations.promotion > 0:
                    derived.start.rate[drawn[i]] = OPENED
            else:  # the urn is full: the rest share what the block opened
                drawn[i] = state.order[before + turn % (state.counters[OPEN] - before)]
                turn += 1
    return MOVE_ALONE if words < few else MOVE_TOGETHER


@called
def move(counts, urn, state, derived, first, last, drawn, part, parts):
    """Move the counts of the words of this part (of so many) for every document that was drawn away."""
    for i in range(first, last):
        d = derived.scan[i] if derived.scan.size else i
        old, new = np.int64(state.z[d]), np.int64(drawn[i])
        if old == new:
            continue
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            if (w // STRIPE) % parts != part:
                continue
            amount = counts.tally[e] * counts.weight[d] * urn.words.one
            r = state.row_of[w]
            if r >= 0:
                if old >= 0:
                    state.rows[r, old] -= amount
                state.rows[r, new] += amount
            else:
                at = np.int64(-1)
                if old >= 0:
                    at = state.post_ptr[w]
                    while state.post[at, 0] != old:
                        at += 1
                move_posting(state, w, at, new, amount)


@called
def finish(counts, urn, state, derived, scratch, key, number, first, last, drawn):
    """Move labels and sizes, draw what is promoted, close what is empty, derive the slots again.

    Leaves in `drawn` where the documents came from.
    """
    n_moved = 0
    changed = False
    for i in range(first, last):
        d = derived.scan[i] if derived.scan.size else i
        old, new = np.int64(state.z[d]), np.int64(drawn[i])
        if old != new:
            n_moved += 1
            drawn[i] = old
            copies = counts.weight[d]
            words = counts.length[d] * copies * urn.words.one
            scratch.stats[MOVED] += copies
            state.z[d] = new
            state.size[new] += copies
            state.total[new] += words
            if old >= 0:
                state.size[old] -= copies
                state.total[old] -= words
            if state.sums.shape[1]:
                move_vector(counts, state, d, old, new)
    if urn.relations.promotion > 0:
        for i in range(first, last):
            d = derived.scan[i] if derived.scan.size else i
            old, random = np.int64(drawn[i]), address(key, number, d)
            changed |= promote(counts, urn, state, derived, scratch, d, old, random)
    if not (changed or n_moved):
        return
    for i in range(state.counters[OPEN] - 1, -1, -1):
        k = state.order[i]
        if state.size[k] == 0 and k >= urn.seeds.weight.size:
            free_slot(state, k)
    high = state.counters[HIGH]
    order_slots(urn, state)  # so that the next one opened is the lowest free
    if changed or 2 * n_moved > high:
        for k in range(high):
            refresh_slot(urn, state, derived, k)
        return
    for i in range(first, last):
        d = derived.scan[i] if derived.scan.size else i
        if drawn[i] != state.z[d]:
            if drawn[i] >= 0:
                refresh_slot(urn, state, derived, np.int64(drawn[i]))
            refresh_slot(urn, state, derived, np.int64(state.z[d]))
