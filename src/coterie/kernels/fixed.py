"""Scoring documents against counts that do not change: predict, probabilities, likelihood."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coterie._arrays import aligned
from coterie.kernels._common import called, kernel, log_rising
from coterie.kernels._location import TOGETHER, multiply_columns, read_vector
from coterie.kernels._words import log_growth


@kernel
def score(counts, urn, frozen, order, own, flag, given, at_mean, out, base, dots, rows):
    """Fill out[i, k]: the log weight of cluster k for document order[i], relative to an empty one.

    Equivalent to: ln(m_k + prior_k) + sum_w ln growth(n_kw, c_w) - ln base_k(N_d), with one copy of
    the document taken out of cluster own[i] (-1: none), what its words with a `flag` promoted
    included (`given` is scratch, all zero: one entry a word, or none if nothing promotes).
    When `at_mean` is set, the clusters' word distributions are fixed at their posterior means
    instead: sum_w c_w ln phi_kw.
    Where vectors count, what the document's vector adds is included, but not with `at_mean`.
    `order` sorts by length, so that `base` is rarely recomputed. `base`, `dots` and `rows` are scratch: one
    entry per cluster, and those of `room_for_products`.
    """
    n_clusters = frozen.size.size
    last_length = np.int64(-1)
    for i in range(order.size):
        d = order[i]
        length = counts.length[d]
        if length != last_length:
            fill_base(urn, frozen, length, at_mean, base)
            last_length = length
        for k in range(n_clusters):
            out[i, k] = base[k]
        mine = np.int64(own[i])
        if mine >= 0:
            size = frozen.size[mine] - 1 + frozen.prior[mine]
            taken = length * urn.words.one
            if given.size:
                taken += spread(counts, urn, flag, given, d, urn.relations.promotion)
            words = max(frozen.total[mine] - taken, 0) * urn.words.unit
            weight = math.log(size) if size > 0.0 else -np.inf
            out[i, mine] = weight - base_nats(urn, words, length, at_mean)
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            count = np.int64(counts.tally[e])
            for p in range(frozen.ptr[w], frozen.ptr[w + 1]):
                k = frozen.cluster[p]
                n = np.int64(frozen.held[p])
                if k == mine:
                    n -= count * urn.words.one
                    if given.size:
                        n -= given[w]
                if n > 0:
                    if count == 1 and k != mine:
                        out[i, k] += frozen.gain[p]
                    elif at_mean:
                        out[i, k] += count * math.log1p(n * urn.words.unit / urn.words.beta[w])
                    else:
                        out[i, k] += log_growth(
                            n, urn.words.beta[w], urn.words.burstiness, urn.words.unit, count
                        )
        if mine >= 0 and given.size:
            spread(counts, urn, flag, given, d, -urn.relations.promotion)
    if frozen.centre.shape[0] and counts.vectors.shape[1] and not at_mean:
        kappa, rho = urn.location.kappa, urn.location.rho
        add_locations(
            counts.vectors, kappa, rho, frozen.centre, frozen.norm, order, own, out, dots, rows
        )


@kernel
def location(vectors, kappa, rho, centre, norm, order, own, out, dots, rows):
    """As `score` for vectors alone: add their nats for document order[i], left out of own[i]."""
    add_locations(vectors, kappa, rho, centre, norm, order, own, out, dots, rows)


def room_for_products(n_clusters: int, n_dimensions: int) -> Any:
    """Scratch of `score` and `location`: products with the clusters, and some vectors."""
    return (
        aligned((TOGETHER, n_clusters), np.float32),
        aligned((TOGETHER, n_dimensions), np.float32),
    )


@kernel
def kappa_slope(gain, own, log_size, log_less, kappa, nats):
    """Sum over documents: the gain of its own cluster less the mean gain under this kappa.

    Equivalent to: gain[i, own[i]] - softmax(log_size + kappa gain[i]) @ gain[i], with `log_less` instead
    of `log_size` for the own cluster. `nats` is scratch, one entry per cluster.
    """
    slope = 0.0
    for i in range(own.size):
        best = -np.inf
        for k in range(nats.size):
            nats[k] = log_size[k] + kappa * gain[i, k]
        nats[own[i]] = log_less[own[i]] + kappa * gain[i, own[i]]
        for k in range(nats.size):
            best = max(best, nats[k])
        total, expected = 0.0, 0.0
        for k in range(nats.size):
            weight = math.exp(nats[k] - best)
            total += weight
            expected += weight * gain[i, k]
        slope += gain[i, own[i]] - expected / total
    return slope


@called
def add_locations(vectors, kappa, rho, centre, norm, order, own, out, dots, rows):
    """Add what vectors say of document order[i] to out[i]; some documents are multiplied together."""
    for first in range(0, order.size, TOGETHER):
        n = min(TOGETHER, order.size - first)
        for r in range(n):
            read_vector(vectors, order[first + r], rows[r])
        multiply_columns(rows, centre, dots, n, dots.shape[1])
        for r in range(n):
            i = first + r
            add_location(rows[r], kappa, rho, norm, np.int64(own[i]), dots[r], out[i])


@called
def add_location(vector, kappa, rho, norm, mine, dot, nats):
    """Add kappa (gain - gain of an empty cluster) to each cluster's nats, `vector` not in `mine`."""
    own_norm, rho2 = 0.0, rho * rho
    for j in range(vector.size):
        own_norm += float(vector[j]) * vector[j]
    empty = own_norm / (math.sqrt(rho2 + own_norm) + rho)
    for k in range(nats.size):
        before = norm[k]
        grown = 2.0 * dot[k] + own_norm
        if k == mine:
            grown = 2.0 * dot[k] - own_norm
            before = max(before - grown, 0.0)
        after = math.sqrt(max(rho2 + before + grown, 0.0))
        nats[k] += kappa * (grown / (after + math.sqrt(rho2 + before)) - empty)


@called
def spread(counts, urn, flag, given, d, amount):
    """Add to `given` what the flagged words of one copy of d promote at this amount; their sum."""
    total = np.int64(0)
    for e in range(counts.ptr[d], counts.ptr[d + 1]):
        if flag[e]:
            w = counts.word[e]
            for i in range(urn.relations.ptr[w], urn.relations.ptr[w + 1]):
                given[urn.relations.word[i]] += amount * counts.tally[e]
                total += amount * counts.tally[e]
    return total


@called
def base_nats(urn, words, length, at_mean):
    """ln of what `length` words cost in a cluster of `words` words, above an empty cluster."""
    if at_mean:
        return length * math.log1p(words / urn.words.beta_sum)
    return log_rising(urn.words.beta_sum + words, length) - log_rising(urn.words.beta_sum, length)


@called
def fill_base(urn, frozen, length, at_mean, base):
    """base[k] = ln(m_k + prior_k) - base_nats(n_k, length)."""
    for k in range(base.size):
        size = frozen.size[k] + frozen.prior[k]
        weight = math.log(size) if size > 0.0 else -np.inf
        base[k] = weight - base_nats(urn, frozen.total[k] * urn.words.unit, length, at_mean)
