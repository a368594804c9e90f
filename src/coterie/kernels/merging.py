"""What the joint gains when two clusters become one: the words' part, for all pairs.

Only words that both clusters hold matter, beside the totals. Counts come as a CSR over words: pointers,
clusters and counts in units of `urn.words.unit`. `table` has the first terms of `summary.fill_table`.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import called, kernel, log_gamma


@kernel
def all_pairs(ptr, cluster, held, beta, unit, table, gain):
    """Add to gain[i, j], i < j, what the words that i and j share are worth in one cluster."""
    for w in range(ptr.size - 1):
        for a in range(ptr[w], ptr[w + 1]):
            i, n = cluster[a], held[a]
            mine = rising(n, beta[w], unit, table)
            for b in range(ptr[w], a):
                j, m = cluster[b], held[b]
                worth = rising(n + m, beta[w], unit, table)
                worth -= mine + rising(m, beta[w], unit, table)
                gain[min(i, j), max(i, j)] += worth


@kernel
def one_row(ptr, cluster, held, words, group, i, j, beta, unit, table, tally, seen, gain):
    """Add to gain[g] what group i shares more with g once it has the `words` of group j, too.

    `group` is the group of each cluster. `tally` (all 0) and `seen` are scratch: one entry per cluster.
    """
    for v in range(words.size):
        w = words[v]
        mine, more = np.int64(0), np.int64(0)
        n_seen = 0
        for a in range(ptr[w], ptr[w + 1]):
            g = group[cluster[a]]
            if g == i:
                mine += held[a]
            elif g == j:
                more += held[a]
            else:
                if tally[g] == 0:
                    seen[n_seen] = g
                    n_seen += 1
                tally[g] += held[a]
        base = rising(mine, beta[w], unit, table) - rising(mine + more, beta[w], unit, table)
        for s in range(n_seen):
            g = seen[s]
            worth = rising(mine + more + tally[g], beta[w], unit, table)
            gain[g] += worth - rising(mine + tally[g], beta[w], unit, table) + base
            tally[g] = 0


@called
def rising(n, beta, unit, table):
    """ln Gamma(n unit + beta) - ln Gamma(beta), from the table where there is one."""
    if n < table.size:
        return table[n]
    return log_gamma(n * unit + beta) - log_gamma(beta)
