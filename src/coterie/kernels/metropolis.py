"""Metropolis-Hastings: a saved proposal instead of a full sum, accepted by the true conditional (X-DMM).

A step for document d, given all others: draw an entry of d's proposal q. It names a cluster k'; if d
is there already, done: near convergence nearly every document is, at the price of two random numbers
and one look-up. Else d goes there with probability min(1, p(k') q(k) / (p(k) q(k'))), p the full
conditional of `gibbs.py`: two counts a distinct word, whatever the number of clusters. The entry FULL
is a draw from p itself, over all clusters; it is also taken when the cluster that d was surest of has
changed. Neither q nor the choice between the two ways depends on where d is, only on the others, so
every step leaves the posterior as it is; and FULL reaches everything.

A choice is a slot, or NEW. A document alone in its cluster has chosen NEW: without it there is none.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._rng import DRAW_ONE, DRAW_STEP, STEP_ACCEPT, STEP_ENTRY
from coterie.kernels._common import (
    address,
    called,
    fold,
    inlined,
    kernel,
    log_gamma,
    log_rising,
    uniform,
)
from coterie.kernels._long import BIG, CHUNK_NATS, LOG_BIG, MANY, draw_long
from coterie.kernels._moves import move
from coterie.kernels._promote import clear_given, fill_given, promote
from coterie.kernels._proposals import FULL, NEW, SEED
from coterie.kernels._slots import OPEN, slot_prior, take_slot
from coterie.kernels._words import growth, log_growth
from coterie.kernels._work import MOVED
from coterie.kernels.gibbs import draw_short, refresh_slot

CHANGED = 16  # a cluster has changed when its size did by more than one part in so many
FULL_DRAWS, PROPOSED, ACCEPTED = range(3)  # places in `tally`


@kernel
def sweep(
    counts, urn, state, fixed, derived, scratch, proposals, steps, key, number, first, last, tally
):
    """As `gibbs.sweep`, with `steps` proposals a document. Writes state, derived,
    scratch and tally.
    """
    promoted = urn.relations.promotion > 0
    for i in range(first, last):
        if state.counters[OPEN] == state.size.size and urn.sizes.cap > state.size.size:
            return i
        d = derived.scan[i] if derived.scan.size else i
        old = np.int64(state.z[d])
        random = address(key, number, d)
        k = walk(counts, urn, state, fixed, derived, scratch, proposals, steps, d, random, tally)
        changed = k != old
        if changed:
            scratch.stats[MOVED] += counts.weight[d]
            if k == NEW:
                k = take_slot(state)
            note_places(counts, state, scratch, d)
            move(counts, urn, state, scratch, d, k)
        if promoted:
            changed |= promote(counts, urn, state, derived, scratch, d, old, random)
        if changed:
            if old != k:
                refresh_slot(urn, state, derived, old)
            refresh_slot(urn, state, derived, k)
    return last


@inlined
def walk(counts, urn, state, fixed, derived, scratch, proposals, steps, d, random, tally):
    """The slot of d after so many steps, or NEW."""
    own = np.int64(state.z[d])
    alone = state.size[own] == counts.weight[d] and own >= urn.seeds.weight.size
    now = np.int64(NEW) if alone else own
    changed = has_changed(counts, state, proposals, d)
    for step in range(1 if changed else steps):
        stream = fold(random, DRAW_STEP + step)
        k = np.int64(FULL)
        if not changed:
            k = propose(state, proposals, d, uniform(stream, STEP_ENTRY))
        if k == now:
            continue
        promoted = urn.relations.promotion > 0
        given = (
            fill_given(counts, urn, state, fixed, derived, scratch, d) if promoted else np.int64(0)
        )
        if k == FULL:
            tally[FULL_DRAWS] += 1
            if fixed.is_long[d]:
                now = draw_long(
                    counts,
                    urn,
                    state,
                    fixed,
                    derived,
                    scratch,
                    d,
                    uniform(stream, DRAW_ONE),
                    given,
                )
            else:
                now = draw_short(counts, urn, state, fixed, derived, scratch, d, stream, given)
            now = np.int64(NEW) if alone and now == own else now
        else:
            tally[PROPOSED] += 1
            odds = mass(state, proposals, d, now) / mass(state, proposals, d, k)
            if odds > 0.0:
                nats = log_ratio(counts, urn, state, fixed, scratch, d, alone, given, k, now)
                odds = math.exp(min(nats + math.log(odds), 0.0))
            if uniform(stream, STEP_ACCEPT) < odds:
                tally[ACCEPTED] += 1
                now = k
        if promoted:
            clear_given(fixed, scratch, d)
    return own if alone and now == NEW else now


@inlined
def has_changed(counts, state, proposals, d):
    """Whether the cluster that d was surest of has grown or shrunk much since: q knows too little.

    Judged without d, so it does not depend on where d is.
    """
    before = proposals.size[d]
    if before == 0:
        return False
    k = choice(state, proposals.entry[proposals.ptr[d]])
    size = state.size[k] - (counts.weight[d] if k == state.z[d] else 0)
    return abs(size - before) * CHANGED > before


@inlined
def propose(state, proposals, d, u):
    """A choice from d's proposal, or FULL."""
    begin = proposals.ptr[d]
    x = u * (proposals.ptr[d + 1] - begin)
    column = np.int64(x)
    if x - column >= proposals.cut[begin + column]:
        column = np.int64(proposals.other[begin + column])
    return choice(state, proposals.entry[begin + column])


@inlined
def choice(state, entry):
    """What an entry stands for now: the slot of its document or seed, NEW or FULL."""
    if entry >= 0:
        return np.int64(state.z[entry])
    return np.int64(entry) if entry > SEED else np.int64(SEED - entry)


@inlined
def mass(state, proposals, d, k):
    """q(k): all entries that stand for this choice now."""
    total = 0.0
    for i in range(proposals.ptr[d], proposals.ptr[d + 1]):
        if choice(state, proposals.entry[i]) == k:
            total += proposals.mass[i]
    return total


@inlined
def log_ratio(counts, urn, state, fixed, scratch, d, alone, given, new, now):
    """ln p(new) - ln p(now) of two choices for d, d itself left out; -inf if new is impossible."""
    own = np.int64(state.z[d])
    copies = counts.weight[d]
    begin = counts.ptr[d]
    nats = slot_nats(counts, urn, state, d, alone, new, given)
    less = slot_nats(counts, urn, state, d, alone, now, given)
    gain_new, gain_now = 1.0, 1.0
    for e in range(begin, counts.ptr[d + 1]):
        w = counts.word[e]
        count = counts.tally[e] * copies
        rate, beta = fixed.inv_beta[w], urn.words.beta[w]
        n_new, n_now = held_by(state, w, new, now)
        mine = count * urn.words.one
        if urn.relations.promotion > 0:
            mine += scratch.given[e - begin]
        n_new -= mine if new == own else np.int64(0)
        n_now -= mine if now == own else np.int64(0)
        if count > MANY or count * fixed.word_nats[w] > CHUNK_NATS:
            nats += log_growth(n_new, beta, urn.words.burstiness, urn.words.unit, count)
            nats -= log_growth(n_now, beta, urn.words.burstiness, urn.words.unit, count)
            continue
        gain_new *= growth(n_new, rate, beta, urn.words.burstiness, urn.words.unit, count)
        gain_now *= growth(n_now, rate, beta, urn.words.burstiness, urn.words.unit, count)
        if gain_new > BIG:
            gain_new *= 1.0 / BIG
            nats += LOG_BIG
        if gain_now > BIG:
            gain_now *= 1.0 / BIG
            nats -= LOG_BIG
    if nats == -np.inf:
        return nats
    return nats - less + math.log(gain_new / gain_now)


@inlined
def held_by(state, w, a, b):
    """n_kw of two choices, in units; NEW holds nothing."""
    n_a, n_b = np.int64(0), np.int64(0)
    r = state.row_of[w]
    if r >= 0:
        if a >= 0:
            n_a = np.int64(state.rows[r, a])
        if b >= 0:
            n_b = np.int64(state.rows[r, b])
        return n_a, n_b
    for i in range(state.post_ptr[w], state.post_ptr[w] + state.post_len[w]):
        k = state.post[i, 0]
        n_a += state.post[i, 1] if k == a else 0
        n_b += state.post[i, 1] if k == b else 0
    return n_a, n_b


@called
def slot_nats(counts, urn, state, d, alone, k, given):
    """The log weight of a choice but for the words, relative to an empty cluster's."""
    copies = counts.weight[d]
    if k == NEW:
        n_empty = urn.sizes.cap - (state.counters[OPEN] - alone)
        if urn.sizes.open_weight > 0.0:
            return math.log(urn.sizes.open_weight) + log_gamma(float(copies))
        if urn.sizes.prior > 0.0 and n_empty > 0:
            return math.log(float(n_empty)) + log_rising(urn.sizes.prior, copies)
        return -np.inf
    length = counts.length[d] * copies
    others = state.size[k]
    words = state.total[k]
    if k == state.z[d]:
        others -= copies
        words -= length * urn.words.one + given
    size = others + slot_prior(urn.seeds.weight, urn.sizes.prior, k)
    if size <= 0.0:
        return -np.inf
    base = log_rising(urn.words.beta_sum, length) - log_rising(
        words * urn.words.unit + urn.words.beta_sum, length
    )
    return log_rising(size, copies) + base


@inlined
def note_places(counts, state, scratch, d):
    """Note in scratch.place where the postings of d's words are in its own cluster."""
    begin = counts.ptr[d]
    for e in range(begin, counts.ptr[d + 1]):
        w = counts.word[e]
        if state.row_of[w] < 0:
            at = state.post_ptr[w]
            while state.post[at, 0] != state.z[d]:
                at += 1
            scratch.place[e - begin] = at
