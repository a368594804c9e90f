"""The generalized Pólya urn (GPU-DMM 3.3): a word that joins a cluster brings its relatives along.

Each word of a document has a flag in `state.flag` that says whether it promoted: then each related
word of the document's cluster holds `urn.relations.promotion` more for every occurrence of the word.
Flags are drawn again in each sweep with probability lambda = p(z | w) / max_z' p(z' | w) (Eq. 4 to
6), by the counts the sweep began with; a cluster opened since is judged by its counts of the moment,
the document's own words in it and nothing they promote. Algorithm 2 takes
back what was added, by the remembered flag.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._rng import DRAW_FLAG
from coterie.kernels._common import inlined, kernel, uniform
from coterie.kernels._moves import add, held
from coterie.kernels._slots import OPEN, slot_prior

OPENED = -1.0  # in Start.rate: not there when the sweep began
ADD = 2  # on top of a flag, within a draw: to be added to the new cluster


class Start(NamedTuple):
    """The counts of related words when the sweep began, laid out like the state's."""

    rate: npt.NDArray[np.float64]  # per slot, (m_k + prior_k) / (n_k + Vb), or OPENED
    best: npt.NDArray[np.float64]  # per word, max_k rate_k (n_kw + b_w)
    row_of: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    post_len: npt.NDArray[np.int32]
    post: npt.NDArray[np.int32]


class RelatedPairs(NamedTuple):
    """Which words of a document promote others of it: pairs of places, as a CSR over documents."""

    ptr: npt.NDArray[np.int64]
    giver: npt.NDArray[np.int32]
    taker: npt.NDArray[np.int32]


@kernel
def note_start(urn, state, start):
    """Fill `start` from the state: the counts that decide this sweep's flags. Writes start only."""
    highest = 0.0
    if urn.sizes.prior > 0.0 and urn.sizes.cap > state.counters[OPEN]:
        highest = urn.sizes.prior / urn.words.beta_sum  # an empty cluster of the finite urn
    for k in range(state.size.size):
        start.rate[k] = OPENED
        if state.size[k] > 0 or k < urn.seeds.weight.size:
            size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
            start.rate[k] = size / (state.total[k] * urn.words.unit + urn.words.beta_sum)
            highest = max(highest, start.rate[k])
    for w in range(urn.words.beta.size):
        if urn.relations.ptr[w] == urn.relations.ptr[w + 1]:
            continue
        beta = urn.words.beta[w]
        best = highest * beta
        r = state.row_of[w]
        start.row_of[w] = r
        start.post_len[w] = state.post_len[w]
        if r >= 0:
            for k in range(state.size.size):
                n = state.rows[r, k]
                start.rows[r, k] = n
                if n > 0:
                    best = max(best, start.rate[k] * (n * urn.words.unit + beta))
        for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
            k = state.post[i, 0]
            n = state.post[i, 1]
            start.post[i, 0] = k
            start.post[i, 1] = n
            best = max(best, start.rate[k] * (n * urn.words.unit + beta))
        start.best[w] = best


@kernel
def find_pairs(counts, urn, seen, pairs):
    """Fill pairs.ptr, and the pairs too if there is room for them. `seen` (all -1): one entry per word."""
    n = np.int64(0)
    for d in range(counts.length.size):
        pairs.ptr[d] = n
        begin, end = counts.ptr[d], counts.ptr[d + 1]
        for e in range(begin, end):
            seen[counts.word[e]] = e
        for e in range(begin, end):
            w = counts.word[e]
            for i in range(urn.relations.ptr[w], urn.relations.ptr[w + 1]):
                at = seen[urn.relations.word[i]]
                if at >= begin:
                    if pairs.giver.size:
                        pairs.giver[n] = e - begin
                        pairs.taker[n] = at - begin
                    n += 1
    pairs.ptr[counts.length.size] = n


@kernel
def count_promoted(counts, urn, state, promoted):
    """Equivalent to: promoted[d] = all that d's words promote in its cluster, in units."""
    for d in range(counts.length.size):
        promoted[d] = 0
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            if state.flag[e]:
                n_related = (
                    urn.relations.ptr[counts.word[e] + 1] - urn.relations.ptr[counts.word[e]]
                )
                promoted[d] += (
                    urn.relations.promotion * counts.tally[e] * counts.weight[d] * n_related
                )


@inlined
def fill_given(counts, urn, state, fixed, derived, scratch, d):
    """Fill scratch.given with what each word of d has from d's others; return all that d promotes."""
    pairs = fixed.pairs
    begin = counts.ptr[d]
    for i in range(pairs.ptr[d], pairs.ptr[d + 1]):
        e = begin + pairs.giver[i]
        if state.flag[e]:
            scratch.given[pairs.taker[i]] += (
                urn.relations.promotion * counts.tally[e] * counts.weight[d]
            )
    return derived.promoted_by[d]


@inlined
def clear_given(fixed, scratch, d):
    """Make scratch.given zero again."""
    for i in range(fixed.pairs.ptr[d], fixed.pairs.ptr[d + 1]):
        scratch.given[fixed.pairs.taker[i]] = 0


@inlined
def promote(counts, urn, state, derived, scratch, d, old, random):
    """Draw d's flags for the cluster it is in now, and move what they promote there from `old`.

    All is taken back before anything is added: a word's room for postings counts on it. That
    changes no chance: only clusters without d before are judged by their counts of the moment.
    Returns whether any count changed.
    """
    new = np.int64(state.z[d])
    begin, end = counts.ptr[d], counts.ptr[d + 1]
    copies = counts.weight[d]
    alone = state.size[new] == copies and new >= urn.seeds.weight.size
    if alone:  # also if it was alone before: that cluster ended with the draw
        derived.start.rate[new] = OPENED
    changed = False
    for e in range(begin, end):
        w = counts.word[e]
        first, last = urn.relations.ptr[w], urn.relations.ptr[w + 1]
        if first == last:
            continue
        u = uniform(random, DRAW_FLAG + e - begin)
        chance = strength(counts, urn, state, derived, scratch, d, e, new, alone)
        after = u * derived.start.best[w] < chance
        before = state.flag[e] == 1
        stays = before and after and old == new
        state.flag[e] = after + ADD * (after and not stays)
        if before and not stays:
            changed = True
            amount = urn.relations.promotion * counts.tally[e] * copies
            for i in range(first, last):
                add(state, urn.relations.word[i], old, -amount)
            state.total[old] -= amount * (last - first)
            derived.promoted_by[d] -= amount * (last - first)
    for e in range(begin, end):
        if state.flag[e] > 1:
            state.flag[e] = 1
            changed = True
            w = counts.word[e]
            amount = urn.relations.promotion * counts.tally[e] * copies
            first, last = urn.relations.ptr[w], urn.relations.ptr[w + 1]
            for i in range(first, last):
                add(state, urn.relations.word[i], new, amount)
            state.total[new] += amount * (last - first)
            derived.promoted_by[d] += amount * (last - first)
    return changed


@inlined
def strength(counts, urn, state, derived, scratch, d, e, k, alone):
    """p(z = k) p(w | z = k) of d's entry e, up to a constant of the sweep."""
    w = counts.word[e]
    rate = derived.start.rate[k]
    if rate != OPENED:
        hint = scratch.place[e - counts.ptr[d]]
        n = held_at_start(state.post_ptr[w], derived.start, w, k, hint)
        return rate * (n * urn.words.unit + urn.words.beta[w])
    size = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
    n, total = np.int64(0), state.total[k]
    if alone:
        n = counts.tally[e] * counts.weight[d] * urn.words.one
        total = counts.length[d] * counts.weight[d] * urn.words.one
    else:
        n = held(state, w, k)
    return (
        size
        / (total * urn.words.unit + urn.words.beta_sum)
        * (n * urn.words.unit + urn.words.beta[w])
    )


@inlined
def held_at_start(first, start, w, k, hint):
    """n_kw when the sweep began, in units; w's postings lie at `first`, k's perhaps at `hint`."""
    r = start.row_of[w]
    if r >= 0:
        return np.int64(start.rows[r, k])
    end = first + start.post_len[w]
    if first <= hint < end and start.post[hint, 0] == k:
        return np.int64(start.post[hint, 1])
    for i in range(first, end):
        if start.post[i, 0] == k:
            return np.int64(start.post[i, 1])
    return np.int64(0)
