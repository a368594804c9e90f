"""Proposals for Metropolis-Hastings: a document's conditional of some moment, kept sparse.

A proposal must not depend on where the document itself is. Numbers of slots are no names for
clusters (one that empties loses its slot, another takes it), so an entry names a cluster by one of
its documents: "where document e is now". That follows the cluster through every renumbering, and
holds for any number of clusters. Other entries: a new cluster, a seed, and FULL, which is no cluster
but a draw from the full conditional, for what was not kept and what has changed since.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels._common import inlined, kernel
from coterie.kernels._long import weigh_long
from coterie.kernels._open import TOUCH_COST, base_of_slot
from coterie.kernels._promote import clear_given, fill_given
from coterie.kernels._slots import HIGH, OPEN, base_ratio, slot_prior
from coterie.kernels._words import growth, scan_touched

NEW, FULL, SEED = -1, -2, -3  # entries that are no document; seed k is SEED - k
KEPT = 8  # clusters kept of a conditional, at most
LEAST = 1e-3  # share of a conditional that is worth an entry
SURE = 1e-7  # a document is sure of its cluster when all others together have less
FULL_SURE, FULL_UNSURE = 1.0 / 32.0, 1.0 / 4.0  # share of full draws; what was not kept is added


class Proposals(NamedTuple):
    """One distribution a document, as a CSR with an alias table (Walker); FULL is its last entry."""

    ptr: npt.NDArray[np.int64]  # (documents + 1,)
    entry: npt.NDArray[np.int32]  # a document, NEW, FULL or SEED - k
    mass: npt.NDArray[np.float64]  # their probabilities
    size: npt.NDArray[np.int64]  # (documents,) of the first entry's cluster then, d left out; or 0
    cut: npt.NDArray[np.float64]  # the share of a column that is its own entry's
    other: npt.NDArray[np.int32]  # whose the rest is


@kernel
def fill_alias(proposals, small, large):
    """Fill cut and other from mass (Vose's way). `small`, `large`: scratch for the longest table."""
    for d in range(proposals.ptr.size - 1):
        begin = proposals.ptr[d]
        n = proposals.ptr[d + 1] - begin
        n_small, n_large = 0, 0
        for i in range(n):
            share = proposals.mass[begin + i] * n
            proposals.cut[begin + i] = share
            proposals.other[begin + i] = i
            if share < 1.0:
                small[n_small] = i
                n_small += 1
            else:
                large[n_large] = i
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            i, j = small[n_small], large[n_large - 1]
            proposals.other[begin + i] = j
            proposals.cut[begin + j] -= 1.0 - proposals.cut[begin + i]
            if proposals.cut[begin + j] < 1.0:
                n_large -= 1
                small[n_small] = j
                n_small += 1


@kernel
def note_rest(urn, state, rest):
    """Equivalent to: rest[L] = sum over the open clusters of (m_k + prior_k) * base_k(L)."""
    rest[:] = 0.0
    for k in range(state.counters[HIGH]):
        if state.size[k] > 0 or k < urn.seeds.weight.size:
            ratio = state.size[k] + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
            words = state.total[k] * urn.words.unit + urn.words.beta_sum
            for length in range(1, rest.size):
                ratio *= (urn.words.beta_sum + (length - 1)) / (words + (length - 1))
                rest[length] += ratio


@kernel
def record(counts, urn, state, fixed, derived, scratch, rest, first, last, slot, share):
    """Write the conditionals of documents first..last-1, the largest shares first.

    Row i of `slot` and `share` is document first + i: up to KEPT slots (or NEW) and their shares, 0
    where there are fewer, and in the last place FULL and its share. Writes these and scratch.
    """
    promoted = urn.relations.promotion > 0
    for d in range(first, last):
        given = (
            fill_given(counts, urn, state, fixed, derived, scratch, d) if promoted else np.int64(0)
        )
        left = 0.0
        if not fixed.is_long[d] and touches(counts, state, d) * TOUCH_COST < state.counters[HIGH]:
            n, total, fresh, left = weigh_touched(
                counts, urn, state, fixed, derived, scratch, d, given, rest
            )
        else:
            n, total, fresh = weigh_long(counts, urn, state, fixed, derived, scratch, d, given)
        if promoted:
            clear_given(fixed, scratch, d)
        keep(scratch, n, total, fresh, left, slot[d - first], share[d - first])


@inlined
def touches(counts, state, d):
    """Postings that d's words touch; a row touches all."""
    n = np.int64(0)
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        w = counts.word[e]
        n += state.counters[HIGH] if state.row_of[w] >= 0 else np.int64(state.post_len[w])
    return n


@inlined
def weigh_touched(counts, urn, state, fixed, derived, scratch, d, given, rest):
    """As `weigh_long` for the clusters that share a word with d; the last number is all the others'.

    These are worth their base terms, so their sum is what `rest` has left for them.
    """
    own = np.int64(state.z[d])
    length = counts.length[d]
    begin = counts.ptr[d]
    n = np.int64(0)
    own_gain = 1.0
    for e in range(begin, counts.ptr[d + 1]):
        w = counts.word[e]
        count = np.int64(counts.tally[e])
        rate, beta = fixed.inv_beta[w], urn.words.beta[w]
        lo = state.post_ptr[w]
        at, n = scan_touched(
            state.post, lo, lo + state.post_len[w], scratch.product, own, rate, beta, urn.words.burstiness,
            urn.words.unit, count, scratch.touched, n,
        )  # fmt: skip
        others = np.int64(state.post[at, 1]) - count * urn.words.one
        if urn.relations.promotion > 0:
            others -= scratch.given[e - begin]
        own_gain *= growth(others, rate, beta, urn.words.burstiness, urn.words.unit, count)
    companions = state.size[own] - 1
    alone = companions == 0 and own >= urn.seeds.weight.size
    total = 0.0
    left = rest[length]
    for i in range(n):
        k = np.int64(scratch.touched[i])
        base = base_of_slot(urn, state, derived, length, k)
        left -= base
        if k != own:
            total += scratch.product[k] * base
        elif not alone:
            words = (
                state.total[own] - length * urn.words.one - given
            ) * urn.words.unit + urn.words.beta_sum
            prior = slot_prior(urn.seeds.weight, urn.sizes.prior, own)
            total += (companions + prior) * own_gain * base_ratio(urn.words.beta_sum, words, length)
        scratch.product[k] = 1.0
        scratch.weight[i] = total
    fresh = urn.sizes.open_weight + urn.sizes.prior * (
        urn.sizes.cap - (state.counters[OPEN] - alone)
    )
    return n, total, fresh, max(left, 0.0)


@inlined
def keep(scratch, n, total, fresh, left, slot, share):
    """Keep the largest of n cumulated weights and `fresh`, sorted, as shares of all there is."""
    whole = total + fresh + left
    share[:] = 0.0
    n_kept = np.int64(0)
    before = 0.0
    for i in range(n + 1):
        weight = scratch.weight[i] - before if i < n else fresh
        before = scratch.weight[i]
        if weight <= LEAST * whole:
            continue
        at = n_kept
        if n_kept < KEPT:
            n_kept += 1
        elif weight <= share[KEPT - 1]:
            continue
        else:
            at = np.int64(KEPT - 1)
        while at > 0 and share[at - 1] < weight:
            share[at] = share[at - 1]
            slot[at] = slot[at - 1]
            at -= 1
        share[at] = weight
        slot[at] = scratch.touched[i] if i < n else NEW
    full = FULL_SURE if whole - share[0] < SURE * whole else FULL_UNSURE
    named = 0.0
    for at in range(n_kept):
        share[at] *= (1.0 - full) / whole
        named += share[at]
    slot[KEPT] = FULL
    share[KEPT] = 1.0 - named
