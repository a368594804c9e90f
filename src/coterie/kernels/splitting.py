"""Splits and merges as Metropolis steps (Jain and Neal 2004), exact for every urn with a joint.

A proposal picks two documents. If they share a cluster it is divided between them, else their two
clusters become one. To divide, the other documents are drawn one after the other to one of the two
sides, and then drawn anew some times (`scans`), the last time with the probability of every draw noted.
For a merge, the probability is noted with which the last scan would draw the division that is there.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._rng import (
    DRAW_SPLIT,
    SPLIT_ACCEPT,
    SPLIT_FIRST,
    SPLIT_KIND,
    SPLIT_MEMBER,
    SPLIT_SCAN,
    SPLIT_SECOND,
)
from coterie.kernels._common import (
    address,
    called,
    fold,
    kernel,
    log_gamma,
    log_rising,
    uniform,
)
from coterie.kernels._location import unit_of
from coterie.kernels._prefetch import prefetch

LINE = 32  # numbers of a vector in a cache line

# sides, and what `_add_words` does there; as plain numbers, numba would compile a function for each of them
FIRST, SECOND = np.int64(0), np.int64(1)
PUT, TAKE = np.int64(1), np.int64(-1)


@kernel
def propose(counts, urn, key, sweep, number, scans, z, docs_in, n_open, work):
    """One proposal; returns the change in the number of clusters: 1, -1, or 0 if it was refused.

    `z` are slots, `docs_in` how many documents each has. `work` is scratch, see `coterie.splitting.Work`.
    """
    state = fold(address(key, sweep, number), DRAW_SPLIT)
    n_docs, n_seeds = z.size, urn.seeds.weight.size
    i = min(int(uniform(state, SPLIT_FIRST) * n_docs), n_docs - 1)
    home = z[i]
    splits = uniform(state, SPLIT_KIND) < 0.5
    choices = docs_in[home] - 1 if splits else n_docs - docs_in[home]
    if home < n_seeds or choices == 0 or (splits and _room(urn, n_open) == 0):
        return 0
    j = _pick(z, home, i, splits, min(int(uniform(state, SPLIT_SECOND) * choices), choices - 1))
    other = z[j]
    if other < n_seeds:
        return 0
    n = _gather(z, home, other, i, j, work.members)
    work.visits[0] += n * (scans + 1)
    _clear_sums(work)
    _begin(counts, i, FIRST, work)
    _begin(counts, j, SECOND, work)
    log_q = _divide(counts, urn, state, scans, z, home, splits, n, work)
    in_first = 1
    for m in range(n):
        in_first += 1 - work.side[m]
    change = _division_gain(counts, urn, n_open - (0 if splits else 1), i, j, n, work) - log_q
    # how the two documents were picked: j in the cluster of i, or outside the first part
    change += math.log(n + 1.0) - math.log(n_docs - in_first)
    accepted = math.log(max(uniform(state, SPLIT_ACCEPT), 1e-300)) < (change if splits else -change)
    _forget(counts, i, j, n, work)
    if not accepted:
        return 0
    if splits:
        fresh = _free_slot(docs_in, n_seeds)
        z[j] = fresh
        for m in range(n):
            if work.side[m] == 1:
                z[work.members[m]] = fresh
        docs_in[home] = in_first
        docs_in[fresh] = n + 2 - in_first
        return 1
    z[j] = home
    for m in range(n):
        z[work.members[m]] = home
    docs_in[home] += docs_in[other]
    docs_in[other] = 0
    return -1


@called
def _room(urn, n_open):
    """Clusters that may still open; a process has room for any number."""
    return urn.sizes.cap - n_open


@called
def _pick(z, home, i, inside, rank):
    """The document of this rank among those in the cluster of i, or among those outside."""
    for d in range(z.size):
        if d != i and (z[d] == home) == inside:
            if rank == 0:
                return d
            rank -= 1
    return i


@called
def _gather(z, home, other, i, j, members):
    """Write the documents of both clusters, but i and j; returns their number."""
    n = 0
    for d in range(z.size):
        if (z[d] == home or z[d] == other) and d != i and d != j:
            members[n] = d
            n += 1
    return n


@called
def _divide(counts, urn, state, scans, z, home, splits, n, work):
    """Draw the sides; returns ln of the probability of the last scan, which ends in the division.

    Where nothing splits, the last scan takes the division that is there.
    """
    log_q = 0.0
    for scan in range(scans + 1):
        draws = fold(state, SPLIT_SCAN + scan)
        last = scan == scans
        for m in range(n):
            d, was = work.members[m], work.side[m] if scan > 0 else -1
            if work.sums.shape[1] and m + 1 < n:
                _ask_for_vector(counts, work.members[m + 1])
            if scan > 0:
                _add_words(counts, d, was, TAKE, work)
            _weigh_vector(counts, d, was, work)
            odds = _odds(counts, urn, d, work)
            total = 1.0 + math.exp(min(odds, 700.0))
            side = FIRST if uniform(draws, SPLIT_MEMBER + m) * total < 1.0 else SECOND
            if last:
                if not splits:
                    side = FIRST if z[d] == home else SECOND
                mine = odds if side == 0 else -odds  # against the side taken
                log_q -= (
                    mine + math.log1p(math.exp(-mine)) if mine > 0.0 else math.log1p(math.exp(mine))
                )
            work.side[m] = side
            _add_words(counts, d, side, PUT, work)
            _move_vector(counts, d, was, side, work)
    return log_q


@called
def _odds(counts, urn, d, work):
    """ln of how much more a document weighs on the second side than on the first."""
    copies = counts.weight[d]
    first, second = _by_size(counts, urn, d, 0, work), _by_size(counts, urn, d, 1, work)
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        w = counts.word[e]
        p, q, count = work.words[w, 0], work.words[w, 1], copies * counts.tally[e]
        if count == 1 and max(p, q) < work.logs.size:
            first += work.logs[p]
            second += work.logs[q]
        else:
            first += log_rising(p + urn.words.beta[w], count)
            second += log_rising(q + urn.words.beta[w], count)
    if work.sums.shape[1]:
        first += _by_vector(urn, 0, work)
        second += _by_vector(urn, 1, work)
    return second - first


@called
def _by_size(counts, urn, d, side, work):
    """What documents and words on a side are worth for one more document."""
    copies = counts.weight[d]
    score = log_rising(work.mass[side] + urn.sizes.prior, copies)
    return score - log_rising(work.total[side] + urn.words.beta_sum, copies * counts.length[d])


@called
def _by_vector(urn, side, work):
    square = urn.location.rho * urn.location.rho
    after, before = math.sqrt(square + work.within[side]), math.sqrt(square + work.without[side])
    return urn.location.kappa * (after - before)


@kernel
def fill_logs(beta, logs):
    """ln(n + beta) of whole numbers n, as `_odds` takes it."""
    for n in range(logs.size):
        logs[n] = log_rising(n + beta, 1)


@called
def _weigh_vector(counts, d, was, work):
    """Write |S|^2 of both sides without and with document d, which is in the sum of side `was` (-1: none).

    Vectors are multiples of 2^-14 (or 2^-8), so their sums are exact, and so are products and squares of
    sums up to a length of 5,792: any way to them gives the same number.
    """
    if work.sums.shape[1] == 0:
        return
    copies = float(counts.weight[d])
    own = copies * copies * work.square_of[d]
    for side in range(2):
        product = (
            2.0
            * copies
            * unit_of(counts.vectors)
            * _product(counts.vectors[d], work.sums[side], work.parts)
        )
        work.within[side] = work.without[side] = work.square[side]
        if side == was:
            work.without[side] -= product - own
        else:
            work.within[side] += product + own


@called
def _ask_for_vector(counts, d):
    """Start loading the vector of the document that comes next: main memory is far."""
    vector = counts.vectors[d]
    for c in range(0, vector.size, LINE):
        prefetch(vector, c)


@called
def _product(vector, total, parts):
    """Equivalent to: total @ vector, in a fixed order that vectorises. `parts` is scratch.

    The vector is in steps, and so is the product.
    """
    n = vector.size // 4
    v0, v1, v2, v3 = vector[:n], vector[n : 2 * n], vector[2 * n : 3 * n], vector[3 * n : 4 * n]
    t0, t1, t2, t3 = total[:n], total[n : 2 * n], total[2 * n : 3 * n], total[3 * n : 4 * n]
    for c in range(n):
        parts[c] = (v0[c] * t0[c] + v1[c] * t1[c]) + (v2[c] * t2[c] + v3[c] * t3[c])
    while n >= 16 and n % 2 == 0:
        n //= 2
        upper = parts[n : 2 * n]
        for c in range(n):
            parts[c] += upper[c]
    value = 0.0
    for c in range(n):
        value += parts[c]
    for c in range(vector.size // 4 * 4, vector.size):
        value += vector[c] * total[c]
    return value


@called
def _move_vector(counts, d, was, side, work):
    """Move document d's vector from the sum of one side to that of another, after `_weigh_vector`."""
    if work.sums.shape[1] == 0:
        return
    work.square[side], work.square[1 - side] = work.within[side], work.without[1 - side]
    if side != was:
        _add_vector(counts, d, side, 1, work)
        if was >= 0:
            _add_vector(counts, d, was, -1, work)


@called
def _add_vector(counts, d, side, sign, work):
    copies, vector = sign * counts.weight[d] * unit_of(counts.vectors), counts.vectors[d]
    total = work.sums[side]
    for c in range(total.size):
        total[c] += copies * vector[c]


@called
def _begin(counts, d, side, work):
    """Put the first document on a side."""
    _add_words(counts, d, side, PUT, work)
    if work.sums.shape[1]:
        copies = float(counts.weight[d])
        work.square[side] = copies * copies * work.square_of[d]
        _add_vector(counts, d, side, 1, work)


@called
def _add_words(counts, d, side, sign, work):
    """Put the words of a document on a side (sign 1), or take them away (-1)."""
    copies = sign * counts.weight[d]
    work.mass[side] += copies
    work.total[side] += copies * counts.length[d]
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        work.words[counts.word[e], side] += copies * counts.tally[e]


@called
def _division_gain(counts, urn, n_whole, i, j, n, work):
    """ln p(divided) - ln p(whole), partitions counted once; `n_whole` clusters are open if whole."""
    a, b = work.mass[0], work.mass[1]
    if urn.sizes.prior > 0.0:
        prior = urn.sizes.prior
        gain = log_rising(prior, a) + log_rising(prior, b) - log_rising(prior, a + b)
        gain += math.log(urn.sizes.cap - n_whole)
    else:
        gain = math.log(urn.sizes.open_weight) + log_gamma(a * 1.0) + log_gamma(b * 1.0)
        gain -= log_gamma((a + b) * 1.0)
    v, p, q = urn.words.beta_sum, work.total[0], work.total[1]
    gain -= log_rising(v, p) + log_rising(v, q) - log_rising(v, p + q)
    gain += _shared(counts, urn, i, work) + _shared(counts, urn, j, work)
    for m in range(n):
        gain += _shared(counts, urn, work.members[m], work)
    if work.sums.shape[1]:
        rho, one, two, both = urn.location.rho, 0.0, 0.0, 0.0
        for c in range(work.sums.shape[1]):
            s, t = work.sums[0, c], work.sums[1, c]
            one += s * s
            two += t * t
            both += (s + t) * (s + t)
        roots = math.sqrt(rho * rho + one) + math.sqrt(rho * rho + two)
        gain += urn.location.kappa * (roots - math.sqrt(rho * rho + both) - rho)
    return gain


@called
def _shared(counts, urn, d, work):
    """What the words of a document that both sides hold lose by the division; each word once."""
    lost = 0.0
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        w = counts.word[e]
        if work.seen[w] >= 0:
            continue
        work.seen[w] = 1
        p, q, beta = work.words[w, 0], work.words[w, 1], urn.words.beta[w]
        if p > 0 and q > 0:
            lost += log_rising(beta, p) + log_rising(beta, q) - log_rising(beta, p + q)
    return lost


@called
def _forget(counts, i, j, n, work):
    """Leave the scratch as it was found."""
    for m in range(n + 2):
        d = i if m == n else (j if m == n + 1 else work.members[m])
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            work.words[w, 0] = 0
            work.words[w, 1] = 0
            work.seen[w] = -1


@called
def _clear_sums(work):
    for side in range(2):
        work.mass[side] = 0
        work.total[side] = 0
        for c in range(work.sums.shape[1]):
            work.sums[side, c] = 0.0


@called
def _free_slot(docs_in, n_seeds):
    """The lowest slot without documents that is no seed's."""
    for k in range(n_seeds, docs_in.size):
        if docs_in[k] == 0:
            return k
    return docs_in.size
