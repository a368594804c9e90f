"""What the joint gains when two clusters become one: the words' part.

Only words that both clusters hold matter, beside the totals. Counts come as postings: the clusters that
hold word w, and how often, are at ptr[w] to ptr[w] + length[w], in units of `urn.words.unit`. `table` has
the first terms of `summary.fill_table`.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import called, inlined, kernel, log_gamma

CACHED = 16  # counts whose worth is found once per word


@kernel
def all_pairs(ptr, cluster, held, first, word, beta, unit, table, place, worth, gain):
    """Add to gain[i, j], i < j, what the words that i and j share are worth in one cluster.

    The words of cluster i are word[first[i]:first[i + 1]]; the postings of a word are in order of
    clusters. `place` (a copy of ptr) and `worth` (CACHED) are scratch.
    """
    for i in range(gain.shape[0]):
        for v in range(first[i], first[i + 1]):
            w = word[v]
            n, begin, b = np.int64(held[place[w]]), place[w] + 1, beta[w]
            place[w] = begin
            mine = rising(n, b, unit, table)
            who, how_often = cluster[begin : ptr[w + 1]], held[begin : ptr[w + 1]]
            known = CACHED if who.size > CACHED else 0
            for m in range(1, known):
                both = rising(n + m, b, unit, table)
                worth[m] = both - (mine + rising(np.int64(m), b, unit, table))
            left = add_worth(who, how_often, worth, known, gain[i])
            for a in range(who.size if left else 0):
                m = np.int64(how_often[a])
                if m >= known:
                    both = rising(n + m, b, unit, table)
                    gain[i, who[a]] += both - (mine + rising(m, b, unit, table))


@kernel
def join_words(ptr, length, cluster, held, words, i, j, beta, unit, table, worth, row):
    """Add to row[g] what cluster i shares more with g once it has the `words` of cluster j, too.

    Moves the postings of j to i, and returns how many of the words i did not hold. What is added to
    row[i] and row[j] means nothing. `worth` (CACHED) is scratch.
    """
    n_new = np.int64(0)
    for v in range(words.size):
        w = words[v]
        b, end = beta[w], ptr[w] + length[w]
        who, how_often = cluster[ptr[w] : end], held[ptr[w] : end]
        at, gone = place_of(who, i), place_of(who, j)
        more = np.int64(how_often[gone])
        mine = np.int64(how_often[at]) if at >= 0 else np.int64(0)
        base = rising(mine, b, unit, table) - rising(mine + more, b, unit, table)
        known = CACHED if who.size > CACHED else 0
        for m in range(1, known):
            both = rising(mine + more + m, b, unit, table)
            worth[m] = both - rising(mine + m, b, unit, table) + base
        left = add_worth(who, how_often, worth, known, row)
        for a in range(who.size if left else 0):
            m = np.int64(how_often[a])
            if m >= known:
                both = rising(mine + more + m, b, unit, table)
                row[who[a]] += both - rising(mine + m, b, unit, table) + base
        if at < 0:
            who[gone] = i
            n_new += 1
        else:
            last = who.size - 1
            how_often[at] += how_often[gone]
            who[gone], how_often[gone] = who[last], how_often[last]
            length[w] -= 1
    return n_new


@inlined
def add_worth(who, how_often, worth, known, row):
    """Equivalent to: row[who] += worth[how_often], where how_often < known; returns how many are not."""
    left = np.int64(0)
    for a in range(who.size):
        m = np.uint32(how_often[a])  # unsigned: no index to wrap around, which is twice as fast
        if m < known:
            row[np.uint32(who[a])] += worth[m]
        else:
            left += 1
    return left


@inlined
def place_of(values, value):
    """The first place of a value, or -1."""
    for a in range(values.size):
        if values[a] == value:
            return np.int64(a)
    return np.int64(-1)


@kernel
def row_of(gain, i, others, row):
    """Equivalent to: row[:] = gain[np.minimum(i, others), np.maximum(i, others)]."""
    for o in range(others.size):
        k = others[o]
        row[o] = gain[min(i, k), max(i, k)]


@kernel
def replace_row(gain, i, j, others, row, best, most, moved):
    """Write row[o] to gain[min(i, k), max(i, k)], k = others[o], and -inf for cluster j, which is closed.

    `best` and `most` say of each row of `gain` where its largest value is, and which it is. Lists in
    `moved` those whose largest value is to be looked for again, and returns how many they are.
    """
    n = np.int64(0)
    for o in range(others.size):
        k = others[o]
        had = best[k] == i or best[k] == j
        if k < j:
            gain[k, j] = -np.inf
        if k > i:
            gain[i, k] = row[o]
        else:
            gain[k, i] = row[o]
            if row[o] > most[k]:
                best[k], most[k] = i, row[o]
                continue
        if had:
            moved[n] = k
            n += 1
    gain[i, j] = -np.inf
    moved[n] = i
    return n + 1


@called
def rising(n, beta, unit, table):
    """ln Gamma(n unit + beta) - ln Gamma(beta), from the table where there is one."""
    if n < table.size:
        return table[n]
    return log_gamma(n * unit + beta) - log_gamma(beta)
