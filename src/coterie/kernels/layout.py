"""Filling and re-laying the state: from labels to postings, rows to postings and back.

A word's counts live either in its postings, an unsorted list of (slot, count) with room for every
document that holds the word, or in a dense row over the slots. Nothing here draws.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import called, kernel
from coterie.kernels._location import move_vector
from coterie.kernels._moves import add
from coterie.kernels._slots import HIGH, NEXT_ID, OPEN


@kernel
def document_frequency(counts, frequency):
    """Equivalent to: frequency[w] += number of documents that hold w."""
    for e in range(counts.word.size):
        frequency[counts.word[e]] += 1


@kernel
def word_totals(counts, total):
    """Equivalent to: total[w] += occurrences of w in all documents, copies counted."""
    for d in range(counts.length.size):
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            total[counts.word[e]] += float(counts.tally[e]) * counts.weight[d]


@kernel
def document_sums(counts, value, out):
    """Equivalent to: out[d] = sum of value[w] over the words of one copy of d, repeats counted."""
    for d in range(counts.length.size):
        out[d] = 0.0
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            out[d] += counts.tally[e] * value[counts.word[e]]


@kernel
def fill(counts, urn, state, where, seen):
    """Count everything again from state.z into sizes, totals and postings (no rows).

    `where` and `seen` are scratch, one entry a slot; `state.post_len` must be zero.
    """
    state.size[:] = 0
    state.total[:] = 0
    post = state.post
    n_seeds = urn.seeds.weight.size
    for k in range(n_seeds):
        for e in range(urn.seeds.ptr[k], urn.seeds.ptr[k + 1]):
            w = urn.seeds.word[e]
            i = state.post_ptr[w] + state.post_len[w]
            post[i, 0] = k
            post[i, 1] = urn.seeds.tally[e]
            state.post_len[w] += 1
            state.total[k] += urn.seeds.tally[e]
    for d in range(counts.length.size):
        k = np.int64(state.z[d])
        if k < 0:  # not in the state yet: a one-pass start
            continue
        copies = counts.weight[d]
        if state.sums.shape[1]:
            move_vector(counts, state, d, np.int64(-1), k)
        state.size[k] += copies
        state.total[k] += copies * counts.length[d] * urn.words.one
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            i = state.post_ptr[w] + state.post_len[w]
            post[i, 0] = k
            post[i, 1] = counts.tally[e] * copies * urn.words.one
            state.post_len[w] += 1
    seen[:] = -1
    for w in range(state.post_len.size):
        start = state.post_ptr[w]
        end = start
        for i in range(start, start + state.post_len[w]):
            k = post[i, 0]
            if seen[k] == w:
                post[where[k], 1] += post[i, 1]
            else:
                seen[k] = w
                where[k] = end
                post[end, 0] = k
                post[end, 1] = post[i, 1]
                end += 1
        state.post_len[w] = end - start
    if urn.relations.promotion > 0:
        fill_promotions(counts, urn, state)
    order_slots(urn, state)
    for i in range(state.counters[OPEN]):
        state.id[state.order[i]] = state.counters[NEXT_ID]
        state.counters[NEXT_ID] += 1


@called
def fill_promotions(counts, urn, state):
    """Add what the flagged words of every document promote."""
    for d in range(counts.length.size):
        k = np.int64(state.z[d])
        if k < 0:
            continue
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            if state.flag[e]:
                w = counts.word[e]
                amount = urn.relations.promotion * counts.tally[e] * counts.weight[d]
                for i in range(urn.relations.ptr[w], urn.relations.ptr[w + 1]):
                    add(state, urn.relations.word[i], k, amount)
                    state.total[k] += amount


@kernel
def order_slots(urn, state):
    """List the open slots first, each group in ascending order."""
    n_open = 0
    high = 0
    for k in range(state.size.size):
        if state.size[k] > 0 or k < urn.seeds.weight.size:
            state.order[n_open] = k
            state.place[k] = n_open
            n_open += 1
            high = k + 1
    at = n_open
    for k in range(state.size.size):
        if not (state.size[k] > 0 or k < urn.seeds.weight.size):
            state.order[at] = k
            state.place[k] = at
            at += 1
    state.counters[OPEN] = n_open
    state.counters[HIGH] = high


@kernel
def rows_to_postings(state):
    """Write every row back as postings, slots ascending; the rows themselves are left to be dropped."""
    for w in range(state.row_of.size):
        r = state.row_of[w]
        if r >= 0:
            i = state.post_ptr[w]
            for k in range(state.counters[HIGH]):
                if state.rows[r, k] > 0:
                    state.post[i, 0] = k
                    state.post[i, 1] = state.rows[r, k]
                    i += 1
            state.post_len[w] = i - state.post_ptr[w]
            state.row_of[w] = -1


@kernel
def renumber(state, new_slot):
    """Rename slots in labels and postings."""
    for d in range(state.z.size):
        if state.z[d] >= 0:
            state.z[d] = new_slot[state.z[d]]
    for w in range(state.post_len.size):
        for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
            state.post[i, 0] = new_slot[state.post[i, 0]]


@kernel
def postings_to_rows(state):
    """Scatter the postings of each word with a row into that row (all zero before)."""
    for w in range(state.row_of.size):
        r = state.row_of[w]
        if r >= 0:
            for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
                state.rows[r, state.post[i, 0]] = state.post[i, 1]
            state.post_len[w] = 0


@kernel
def word_lengths(state, ptr):
    """Equivalent to: ptr[w + 1] = number of slots that hold one of the words 0 to w, ptr[0] = 0."""
    n = np.int64(0)
    ptr[0] = 0
    for w in range(state.row_of.size):
        n += state.post_len[w]
        r = state.row_of[w]
        if r >= 0:
            for k in range(state.rows.shape[1]):
                n += state.rows[r, k] > 0
        ptr[w + 1] = n


@kernel
def word_counts(state, rename, ptr, slot, held):
    """Write the counts of each word w from ptr[w] on, under the new names of their slots, ascending."""
    for w in range(state.row_of.size):
        end = ptr[w]
        for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
            slot[end] = rename[state.post[i, 0]]
            held[end] = state.post[i, 1]
            end += 1
        r = state.row_of[w]
        if r >= 0:
            for k in range(state.rows.shape[1]):
                if state.rows[r, k] > 0:
                    slot[end] = rename[k]
                    held[end] = state.rows[r, k]
                    end += 1
        sort_pairs(slot, held, ptr[w], end)


@called
def sort_pairs(key, value, start, end):
    """Sort these places of two arrays by the first (Shell's method, which needs no room)."""
    gap = np.int64(1)
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            a, b = key[i], value[i]
            j = i
            while j >= start + gap and key[j - gap] > a:
                key[j], value[j] = key[j - gap], value[j - gap]
                j -= gap
            key[j], value[j] = a, b
        gap //= 3
