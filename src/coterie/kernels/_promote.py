"""The generalized Pólya urn (GPU-DMM 3.3): a word that joins a cluster brings its relatives along.

A flag a word of a document, `state.flag`, remembers whether it promoted: then each related word of
the document's cluster holds `urn.promotion` more a time the word occurs. Flags are drawn anew each
sweep with probability lambda = p(z | w) / max_z' p(z' | w) (Eq. 4 to 6), by the counts the sweep
began with; a cluster opened since is judged by its counts of the moment, the document's own words
in it and nothing they promote. Algorithm 2 takes back what was added, by the remembered flag.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels._common import inlined, kernel, uniform
from coterie.kernels._moves import add, held
from coterie.kernels._slots import slot_prior

FLAG_DRAW = 65  # the address of the first word's flag; the numbers before it draw the cluster
OPENED = -1.0  # in Start.rate: not there when the sweep began


class Start(NamedTuple):
    """The counts of related words when the sweep began, laid out like the state's."""

    rate: npt.NDArray[np.float64]  # per slot, (m_k + prior_k) / (n_k + Vb), or OPENED
    best: npt.NDArray[np.float64]  # per word, max_k rate_k (n_kw + b_w)
    row_of: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    post_len: npt.NDArray[np.int32]
    post: npt.NDArray[np.int32]


@kernel
def note_start(urn, state, start):
    """Fill `start` from the state: the counts that decide this sweep's flags. Writes start only."""
    highest = 0.0
    if urn.size_prior > 0.0 and urn.cap > state.head[0]:
        highest = urn.size_prior / urn.beta_sum  # an empty cluster of the finite urn
    for k in range(state.size.size):
        start.rate[k] = OPENED
        if state.size[k] > 0 or k < urn.seed_weight.size:
            size = state.size[k] + slot_prior(urn.seed_weight, urn.size_prior, k)
            start.rate[k] = size / (state.total[k] * urn.unit + urn.beta_sum)
            highest = max(highest, start.rate[k])
    for w in range(urn.beta.size):
        if urn.relate_ptr[w] == urn.relate_ptr[w + 1]:
            continue
        beta = urn.beta[w]
        best = highest * beta
        r = state.row_of[w]
        start.row_of[w] = r
        start.post_len[w] = state.post_len[w]
        if r >= 0:
            for k in range(state.size.size):
                n = state.rows[r, k]
                start.rows[r, k] = n
                if n > 0:
                    best = max(best, start.rate[k] * (n * urn.unit + beta))
        for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
            k = state.post[i, 0]
            n = state.post[i, 1]
            start.post[i, 0] = k
            start.post[i, 1] = n
            best = max(best, start.rate[k] * (n * urn.unit + beta))
        start.best[w] = best


@inlined
def give(counts, urn, state, work, d):
    """Fill work.given with what d's words gave to each word of its cluster; return the sum."""
    total = np.int64(0)
    if state.z[d] < 0:
        return total
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        if state.flag[e]:
            w = counts.word[e]
            amount = urn.promotion * counts.tally[e] * counts.weight[d]
            for i in range(urn.relate_ptr[w], urn.relate_ptr[w + 1]):
                work.given[urn.relate_word[i]] += amount
                total += amount
    return total


@inlined
def take_back(counts, urn, state, work, d):
    """Make work.given zero again."""
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        if state.flag[e]:
            w = counts.word[e]
            for i in range(urn.relate_ptr[w], urn.relate_ptr[w + 1]):
                work.given[urn.relate_word[i]] = 0


@inlined
def promote(counts, urn, state, work, d, old, random):
    """Draw d's flags for the cluster it is in now, and move what they promote there from `old`.

    Returns whether any count changed.
    """
    new = np.int64(state.z[d])
    begin, end = counts.ptr[d], counts.ptr[d + 1]
    copies = counts.weight[d]
    alone = state.size[new] == copies and new >= urn.seed_weight.size
    if alone:
        work.start.rate[new] = (
            OPENED  # also if it was alone before: that cluster ended with the draw
        )
    for e in range(begin, end):
        w = counts.word[e]
        if urn.relate_ptr[w] < urn.relate_ptr[w + 1]:
            u = uniform(random, FLAG_DRAW + e - begin)
            if u * work.start.best[w] < strength(counts, urn, state, work.start, d, e, new, alone):
                state.flag[e] |= 2
    changed = False
    for e in range(begin, end):  # take all back first: a word's room for postings counts on it
        before, after = state.flag[e] & 1, state.flag[e] >> 1
        if before and (old != new or not after):
            changed = True
            w = counts.word[e]
            amount = urn.promotion * counts.tally[e] * copies
            for i in range(urn.relate_ptr[w], urn.relate_ptr[w + 1]):
                add(state, urn.relate_word[i], old, -amount)
                state.total[old] -= amount
    for e in range(begin, end):
        before, after = state.flag[e] & 1, state.flag[e] >> 1
        state.flag[e] = after
        if after and (old != new or not before):
            changed = True
            w = counts.word[e]
            amount = urn.promotion * counts.tally[e] * copies
            for i in range(urn.relate_ptr[w], urn.relate_ptr[w + 1]):
                add(state, urn.relate_word[i], new, amount)
                state.total[new] += amount
    return changed


@inlined
def strength(counts, urn, state, start, d, e, k, alone):
    """p(z = k) p(w | z = k) of d's entry e, up to a constant of the sweep."""
    w = counts.word[e]
    rate = start.rate[k]
    if rate != OPENED:
        return rate * (held_at_start(state.post_ptr, start, w, k) * urn.unit + urn.beta[w])
    size = state.size[k] + slot_prior(urn.seed_weight, urn.size_prior, k)
    n, total = np.int64(0), state.total[k]
    if alone:
        n = counts.tally[e] * counts.weight[d] * urn.one
        total = counts.length[d] * counts.weight[d] * urn.one
    else:
        n = held(state, w, k)
    return size / (total * urn.unit + urn.beta_sum) * (n * urn.unit + urn.beta[w])


@inlined
def held_at_start(post_ptr, start, w, k):
    """n_kw when the sweep began, in units."""
    r = start.row_of[w]
    if r >= 0:
        return np.int64(start.rows[r, k])
    for i in range(post_ptr[w], post_ptr[w] + start.post_len[w]):
        if start.post[i, 0] == k:
            return np.int64(start.post[i, 1])
    return np.int64(0)
