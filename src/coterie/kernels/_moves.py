"""Writing the state: a document's words from one cluster to another, or an amount into one count."""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import inlined
from coterie.kernels._location import move_vector
from coterie.kernels._slots import free_slot


@inlined
def move(counts, urn, state, scratch, d, new):
    """Move document d from its cluster to slot `new`; scratch.place says where its postings are."""
    old = np.int64(state.z[d])
    copies = counts.weight[d]
    begin = counts.ptr[d]
    for e in range(begin, counts.ptr[d + 1]):
        w = counts.word[e]
        count = counts.tally[e] * copies * urn.words.one
        r = state.row_of[w]
        if r >= 0:
            if old >= 0:
                state.rows[r, old] -= count
            state.rows[r, new] += count
        else:
            move_posting(state, w, scratch.place[e - begin], new, count)
    if state.sums.shape[1]:
        move_vector(counts, state, d, old, new)
    length = counts.length[d] * copies * urn.words.one
    state.z[d] = new
    state.size[new] += copies
    state.total[new] += length
    if old >= 0:
        state.size[old] -= copies
        state.total[old] -= length
        if state.size[old] == 0 and old >= urn.seeds.weight.size:
            free_slot(state, old)


@inlined
def move_posting(state, w, at, new, count):
    """Take `count` from the posting at `at` (-1: from nowhere) and give it to slot `new`'s."""
    post = state.post
    start = state.post_ptr[w]
    end = start + state.post_len[w]
    found = start
    while found < end and post[found, 0] != new:
        found += 1
    emptied = False
    if at >= 0:
        post[at, 1] -= count
        emptied = post[at, 1] == 0
    if found < end:
        post[found, 1] += count
        if emptied:
            post[at, 0] = post[end - 1, 0]
            post[at, 1] = post[end - 1, 1]
            state.post_len[w] -= 1
        return
    if not emptied:
        at = end
        state.post_len[w] += 1
    post[at, 0] = new
    post[at, 1] = count


@inlined
def held(state, w, k):
    """n_kw as it is stored, in units."""
    r = state.row_of[w]
    if r >= 0:
        return np.int64(state.rows[r, k])
    for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
        if state.post[i, 0] == k:
            return np.int64(state.post[i, 1])
    return np.int64(0)


@inlined
def add(state, w, k, amount):
    """Equivalent to: n_kw += amount (which may be negative); a posting that falls to 0 goes."""
    r = state.row_of[w]
    if r >= 0:
        state.rows[r, k] += amount
        return
    post = state.post
    start = state.post_ptr[w]
    end = start + state.post_len[w]
    i = start
    while i < end and post[i, 0] != k:
        i += 1
    if i == end:
        post[i, 0] = k
        post[i, 1] = amount
        state.post_len[w] += 1
        return
    post[i, 1] += amount
    if post[i, 1] == 0:
        post[i, 0] = post[end - 1, 0]
        post[i, 1] = post[end - 1, 1]
        state.post_len[w] -= 1
