"""Sums over all word counts of a state, for the trace: the joint and the likelihood given z."""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import called, kernel, log_gamma
from coterie.kernels._moves import held
from coterie.kernels._slots import HIGH

TABLE = 4096  # counts below this are looked up
CHUNK = 512  # words summed on their own, so that the sum is the same on any number of threads


@called
def count_terms(n, beta):
    """(ln G(n + b) - ln G(b), n ln(n + b)) for one count."""
    return log_gamma(n + beta) - log_gamma(beta), n * math.log(n + beta)


@kernel
def fill_table(beta, unit, table):
    """Equivalent to: table[i] = count_terms(i * unit, beta)."""
    for i in range(table.shape[0]):
        table[i, 0], table[i, 1] = count_terms(i * unit, beta)


@kernel
def word_terms(urn, state, table, part, parts, out):
    """Equivalent to: out[c] = sum of count_terms(n_kw, b_w) over all n_kw > 0 of the c-th CHUNK words.

    Only of every `parts`-th chunk, from `part` on. `table` holds the terms of small counts when beta
    is the same for every word; else it is empty.
    """
    for chunk in range(part, out.shape[0], parts):
        joint = 0.0
        likelihood = 0.0
        for w in range(chunk * CHUNK, min((chunk + 1) * CHUNK, state.row_of.size)):
            r = state.row_of[w]
            first = state.post_ptr[w] if r < 0 else np.int64(0)
            size = np.int64(state.post_len[w]) if r < 0 else state.counters[HIGH]
            for i in range(first, first + size):
                n = np.int64(state.post[i, 1]) if r < 0 else np.int64(state.rows[r, i])
                if n == 0:
                    continue
                if n < table.shape[0]:
                    a, b = table[n, 0], table[n, 1]
                else:
                    a, b = count_terms(n * urn.words.unit, urn.words.beta[w])
                joint += a
                likelihood += b
        out[chunk, 0] = joint
        out[chunk, 1] = likelihood


@kernel
def words_given_labels(counts, urn, state):
    """Equivalent to: sum over the words of all documents of ln((n_kw + b_w) / (n_k + Vb)).

    For urns whose counts hold more than the documents' words: seeds, promotions.
    """
    value = 0.0
    for d in range(counts.length.size):
        k = state.z[d]
        nats = -counts.length[d] * math.log(state.total[k] * urn.words.unit + urn.words.beta_sum)
        product = 1.0  # a log a document, not a word
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            n = held(state, w, k) * urn.words.unit + urn.words.beta[w]
            if counts.tally[e] > 1:
                nats += counts.tally[e] * math.log(n)
                continue
            product *= n
            if not 1e-150 < product < 1e150:
                nats += math.log(product)
                product = 1.0
        value += counts.weight[d] * (nats + math.log(product))
    return value
