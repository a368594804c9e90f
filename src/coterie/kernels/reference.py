"""The same maths in plain NumPy, written to be read: what the compiled kernels are tested against.

Straight from the equations, with one log-gamma each, and slow: everything is counted again from
the labels for every document. In: `Counts`, an `Urn` and labels. Out: log weights, the log joint,
or new labels. Seeds are the labels 0, 1, ... of the urn and are there even without a document;
every other label that is in use is a found cluster; -1 is a document not in the state yet. On the
promoted urn `flag` says which words of which documents promote their relatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from coterie import _rng
from coterie._arrays import numbers

if TYPE_CHECKING:  # counts.py uses kernels, so kernels must not import it
    from coterie.counts import Counts
    from coterie.urns import Urn

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.integer]
Flags = npt.NDArray[np.uint8] | None
Lists = npt.NDArray[np.int16] | None

NEW = -1


class Tables(NamedTuple):
    """What is counted from labels, a row for each open cluster: the seeds, then those in use."""

    label: npt.NDArray[np.int64]
    size: Floats  # m_k, documents
    words: Floats  # n_kw, a seed's pseudo-counts and what was promoted included


def count(counts: Counts, urn: Urn, z: Labels, flag: Flags = None) -> Tables:
    """Count everything from the labels and flags."""
    n_seeds = urn.seeds.weight.size
    label = np.concatenate([np.arange(n_seeds), np.unique(z[z >= n_seeds])])
    size = np.zeros(label.size)
    words = np.zeros((label.size, counts.n_words))
    for k in range(n_seeds):
        seed = slice(urn.seeds.ptr[k], urn.seeds.ptr[k + 1])
        np.add.at(words[k], urn.seeds.word[seed], urn.seeds.tally[seed] * urn.words.unit)
    for d in np.flatnonzero(z >= 0):
        k = np.searchsorted(label, z[d])
        word, tally = _bag(counts, int(d))
        size[k] += counts.weight[d]
        words[k, word] += counts.weight[d] * tally
        for e in np.flatnonzero(_flags_of(counts, flag, int(d))):
            words[k, _related(urn, word[e])] += (
                counts.weight[d] * tally[e] * urn.relations.promotion * urn.words.unit
            )
    return Tables(label, size, words)


def log_weights(
    counts: Counts, urn: Urn, z: Labels, d: int, flag: Flags = None
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Labels that document d may take, and the log weight of each, d itself left out.

    The last label is NEW: all empty clusters taken together. GSDMM Eq. 4 (Eq. 3 when the urn's
    burstiness is 0), GSDPMM Eq. IV.29 and IV.44; g tied documents move together, as one.
    """
    others = np.array(z)
    others[d] = NEW
    label, size, words = count(counts, urn, others, flag)
    word, tally = _bag(counts, d)
    g = int(counts.weight[d])
    n_kw = np.vstack([words[:, word], np.zeros(word.size)])  # the last row is an empty cluster
    n_k = np.append(words.sum(axis=1), 0.0)

    held = n_kw + urn.words.beta[word]
    eq_4, eq_3 = log_rising(held, g * tally), g * tally * np.log(held)
    numerator = eq_4 if urn.words.burstiness else eq_3
    denominator = log_rising(n_k + urn.words.beta_sum, g * counts.length[d])

    n_empty = urn.sizes.cap - label.size
    weight = np.append(log_rising(size + _prior(urn, label), g), _log_open(urn, n_empty, g))
    weight = weight + numerator.sum(axis=1) - denominator
    if urn.location.kappa:
        weight = weight + location_gains(counts, urn, others, label, d)
    return np.append(label, NEW), weight


def location_gains(
    counts: Counts, urn: Urn, z: Labels, label: npt.NDArray[np.int64], d: int
) -> Floats:
    """What document d adds to the potential of each cluster, and of an empty one, in nats.

    kappa (sqrt(rho^2 + |S + g e|^2) - sqrt(rho^2 + |S|^2)) for g tied documents; d is not in z.
    """
    sums = np.vstack([vector_sums(counts, z, label), np.zeros(counts.vectors.shape[1])])
    with_d = sums + counts.weight[d] * numbers(counts.vectors[d])
    kappa, rho = urn.location
    before, after = (np.sqrt(rho**2 + (s**2).sum(axis=1)) for s in (sums, with_d))
    return np.asarray(kappa * (after - before))


def vector_sums(counts: Counts, z: Labels, label: npt.NDArray[np.int64]) -> Floats:
    """The sum of the vectors of each of these clusters."""
    weighted = counts.weight[:, None] * numbers(counts.vectors)
    return np.array([weighted[z == k].sum(axis=0) for k in label]).reshape(label.size, -1)


def promotion_chances(
    counts: Counts, urn: Urn, start: Tables, z: Labels, d: int, flag: Flags, opened: bool
) -> Floats:
    """lambda of GPU-DMM's Eq. 5 for each word of document d, which is now in cluster z[d].

    p(z | w) and its maximum over the clusters are those of the sweep's `start`; but for a cluster
    that was `opened` since, p(z | w) is that of now, d in it without what it promotes.
    """
    word, _ = _bag(counts, d)
    mean = (start.words[:, word] + urn.words.beta[word]) / _totals(urn, start)[:, None]
    strength = (start.size + _prior(urn, start.label))[:, None] * mean
    best = strength.max(axis=0, initial=0.0)
    if urn.sizes.prior and urn.sizes.cap > start.label.size:
        best = np.maximum(best, urn.sizes.prior * urn.words.beta[word] / urn.words.beta_sum)
    if opened:
        quiet = np.array(flag)
        quiet[counts.ptr[d] : counts.ptr[d + 1]] = 0
        now = count(counts, urn, z, quiet)
        k = np.searchsorted(now.label, z[d])
        mean = (now.words[k, word] + urn.words.beta[word]) / _totals(urn, now)[k]
        mine = (now.size + _prior(urn, now.label))[k] * mean
    else:
        mine = strength[np.searchsorted(start.label, z[d])]
    with np.errstate(divide="ignore"):
        chance = np.minimum(1.0, mine / best)
    alone = np.array([_related(urn, w).size == 0 for w in word])
    return np.where(alone, 0.0, chance)


def log_joint(counts: Counts, urn: Urn, z: Labels) -> float:
    """ln p(words, z), words as sequences; z as labelled clusters (finite) or a partition (process).

    nan where the urn has no joint: alpha = 0. With Eq. 3 it is the joint only if no word repeats.
    """
    n_seeds = urn.seeds.weight.size
    mass = (
        urn.seeds.weight.sum() + urn.sizes.open_weight + urn.sizes.prior * (urn.sizes.cap - n_seeds)
    )
    if mass == 0.0:
        return float("nan")
    _, size, words = count(counts, urn, z)
    pseudo = np.zeros_like(words)
    pseudo[:n_seeds] = count(counts, urn, np.full_like(z, NEW)).words

    found = size[n_seeds:]
    if urn.sizes.open_weight:  # the first document opens the cluster, the others join 1, 2, ...
        sizes = (np.log(urn.sizes.open_weight) + gammaln(found)).sum()
    else:
        sizes = log_rising(urn.sizes.prior, found).sum()
    sizes += log_rising(urn.seeds.weight, size[:n_seeds]).sum() - log_rising(mass, size.sum())

    if urn.location.kappa:
        sums = vector_sums(counts, z, np.unique(z))
        rho = urn.location.rho
        sizes += (urn.location.kappa * (np.sqrt(rho**2 + (sums**2).sum(axis=1)) - rho)).sum()
    added = words - pseudo
    numerator = log_rising(urn.words.beta + pseudo, added).sum()
    denominator = log_rising(urn.words.beta_sum + pseudo.sum(axis=1), added.sum(axis=1)).sum()
    return float(sizes + numerator - denominator)


def gibbs_sweep(counts: Counts, urn: Urn, z: Labels, key: int, sweep: int) -> npt.NDArray[np.int64]:
    """Labels after drawing each document once, in order: inverse of the cumulated weights."""
    new = np.array(z, np.int64)
    for d in range(counts.n_docs):
        label, log_weight = log_weights(counts, urn, new, d)
        k = new[d]
        if log_weight.max() > -np.inf:  # else alpha = 0 and nobody else is there: stay
            cumulated = np.cumsum(np.exp(log_weight - log_weight.max()))
            x = _rng.uniform(key, sweep, d, 0)[0] * cumulated[-1]
            k = label[min(np.searchsorted(cumulated, x, side="right"), label.size - 1)]
        new[d] = k if k != NEW else _unused(urn, label)
    return new


def blocked_sweep(
    counts: Counts,
    urn: Urn,
    z: Labels,
    key: int,
    sweep: int,
    blocks: Sequence[npt.NDArray[np.int64]],
    flag: Flags = None,
    lists: Lists = None,
) -> npt.NDArray[np.int64]:
    """Slots after drawing each document once, block by block, as `coterie/_rng.py` says; `z` are slots.

    A document at -1 is in none yet. On the promoted urn `flag` is changed in place: those of a block are
    drawn when it has moved. `lists`: for each document its likely slots, as many as there is room for (-1:
    none); changed in place.
    """
    new = np.array(z, np.int64)
    start, opened = count(counts, urn, new, flag), set[int]()
    for block in blocks:
        drawn = [_inverse(counts, urn, new, int(d), key, sweep, flag, lists) for d in block]
        free = _free_slots(urn, new)
        openers = [i for i, k in enumerate(drawn) if k == NEW]
        taken = free[: len(openers)]
        for turn, i in enumerate(openers):
            sharing = turn - len(taken)  # the urn is full: the rest share in turn
            drawn[i] = taken[turn] if sharing < 0 else taken[sharing % len(taken)]
        new[block] = drawn
        opened |= set(taken)
        if flag is not None:
            for d in block:
                _promote(counts, urn, start, new, int(d), key, sweep, flag, opened)
    return new


def close_gaps(urn: Urn, z: Labels, sweep: int) -> npt.NDArray[np.int64]:
    """Slots as they are renamed before a sweep."""
    used = np.union1d(np.arange(urn.seeds.weight.size), z)
    due = 1 < sweep <= 4 or sweep % 8 == 0 or used.size < 0.8 * (used[-1] + 1)
    return np.searchsorted(used, z) if due else np.array(z, np.int64)


def _inverse(
    counts: Counts, urn: Urn, z: Labels, d: int, key: int, sweep: int, flag: Flags, lists: Lists
) -> int:
    """The slot that d's number draws, or NEW; its own where it is alone and draws a new one."""
    label, log_weight = log_weights(counts, urn, z, d, flag)
    own = int(z[d])
    if lists is not None and own >= 0 and own in lists[d] and own in label:
        among = np.isin(label, lists[d][lists[d] >= 0])
        label, log_weight, lists = label[among], log_weight[among], None
    if log_weight.max() == -np.inf:
        return own
    cumulated = np.cumsum(np.exp(log_weight - log_weight.max()))
    x = _rng.uniform(key, sweep, d, _rng.DRAW_ONE)[0] * cumulated[-1]
    k = int(label[min(np.searchsorted(cumulated, x, side="right"), label.size - 1)])
    k = own if k == NEW and own not in label else k
    if lists is not None:
        _list_likely(label[:-1], log_weight[:-1], k, lists[d])
    return k


def _list_likely(
    label: npt.NDArray[np.int64], log_weight: Floats, drawn: int, listed: Labels
) -> None:
    """Write the clusters that weigh most, in slot order, the one drawn among them."""
    likely = label[np.argsort(-log_weight, kind="stable")][: listed.size]
    if drawn != NEW and drawn not in likely:
        likely = np.append(likely[: listed.size - 1], drawn)
    listed[:] = -1
    listed[: likely.size] = np.sort(likely)


def _free_slots(urn: Urn, z: Labels) -> list[int]:
    """Slots that may be opened, the lowest first: as many as the urn allows."""
    used = np.union1d(np.arange(urn.seeds.weight.size), z[z >= 0])
    n_free = min(urn.sizes.cap - used.size, z.size)
    return [int(k) for k in np.setdiff1d(np.arange(used.size + n_free), used)[:n_free]]


def _promote(
    counts: Counts,
    urn: Urn,
    start: Tables,
    z: Labels,
    d: int,
    key: int,
    sweep: int,
    flag: npt.NDArray[np.uint8],
    opened: set[int],
) -> None:
    """Draw d's flags for the cluster it is in now."""
    alone = np.count_nonzero(z == z[d]) == 1 and z[d] >= urn.seeds.weight.size
    if alone:  # also if it was alone before: that cluster ended with the draw
        opened.add(int(z[d]))
    chance = promotion_chances(counts, urn, start, z, d, flag, int(z[d]) in opened)
    u = _rng.uniform(key, sweep, d, _rng.DRAW_FLAG + np.arange(chance.size))
    flag[counts.ptr[d] : counts.ptr[d + 1]] = u < chance


def log_rising(x: npt.ArrayLike, steps: npt.ArrayLike) -> Floats:
    """ln [ x (x+1) ... (x+steps-1) ]: 0 for no step, -inf when x is 0."""
    with np.errstate(invalid="ignore"):
        value = gammaln(np.add(x, steps)) - gammaln(x)
    return np.where(np.equal(steps, 0), 0.0, value)


def _related(urn: Urn, w: int) -> npt.NDArray[np.int32]:
    """The words that w promotes."""
    return urn.relations.word[urn.relations.ptr[w] : urn.relations.ptr[w + 1]]


def _flags_of(counts: Counts, flag: Flags, d: int) -> npt.NDArray[np.uint8]:
    return np.zeros(0, np.uint8) if flag is None else flag[counts.ptr[d] : counts.ptr[d + 1]]


def _totals(urn: Urn, tables: Tables) -> Floats:
    """n_k + Vb."""
    return np.asarray(tables.words.sum(axis=1) + urn.words.beta_sum)


def _bag(counts: Counts, d: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The distinct words of a document and how often each comes."""
    entries = slice(counts.ptr[d], counts.ptr[d + 1])
    return counts.word[entries], counts.tally[entries]


def _prior(urn: Urn, label: npt.NDArray[np.int64]) -> Floats:
    """What is added to each cluster's size: a seed's own weight, else alpha of the finite urn."""
    prior = np.full(label.size, urn.sizes.prior)
    prior[: urn.seeds.weight.size] = urn.seeds.weight
    return prior


def _log_open(urn: Urn, n_empty: int, g: int) -> float:
    """Log weight of a new cluster for g documents: alpha (g-1)!, or n_empty * rising(alpha, g)."""
    with np.errstate(divide="ignore"):
        process = np.log(urn.sizes.open_weight) + gammaln(g)
        finite = np.log(n_empty) + log_rising(urn.sizes.prior, g)
    return float(np.logaddexp(process, finite))


def _unused(urn: Urn, label: npt.NDArray[np.int64]) -> int:
    """The lowest label that no open cluster has."""
    free = np.setdiff1d(np.arange(urn.seeds.weight.size, label.size + 1), label)
    return int(free[0])
