"""The dial of the page: the finest clusters, how they are joined, and a name and words for every node.

A node is a finest cluster (a leaf) or what a join of two nodes makes. Only the nodes that some number of
clusters on the dial shows are described.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import levels, naming
from coterie.describing import SEPARATOR
from coterie.report.schema import Dial, Node, Word

N_WORDS = 8
MOST_LEAVES = 5000  # finest clusters; the tree of more is not made
MOST_NAMED = 12_000  # texts looked at for names
_AT_ONCE = 100  # nodes whose word counts are in memory
_DOCUMENTS = 100_000  # that are counted together

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Shown(NamedTuple):
    """The nodes to describe. In `order`, the leaves of each node stand side by side."""

    order: Ints  # (leaves,)
    node: list[int]  # leaves are 0 .. n - 1, the joins n, n + 1, ...
    start: Ints  # (nodes,) its leaves are order[start:stop]
    stop: Ints
    levels: list[list[int]]  # for each number of clusters: places in `node`

    def sums(self, per_leaf: Any, own: slice = slice(None)) -> Any:
        """The rows of an array or a sparse matrix, added up for each node."""
        start, stop = self.start[own], self.stop[own]
        ptr = np.append(0, np.cumsum(stop - start))
        place = np.arange(ptr[-1]) + np.repeat(start - ptr[:-1], stop - start)
        ones = np.ones(place.size, np.int64)
        each = (ones, self.order[place], ptr)
        return sparse.csr_matrix(each, (start.size, self.order.size)) @ per_leaf


def dial_of(groups: Any) -> tuple[Dial, Shown] | None:
    """(the dial, the nodes it shows); None where there is nothing to turn."""
    n = n_finest(groups)
    if not 2 < n <= MOST_LEAVES:
        return None
    into, gone = (groups.tree[name].to_numpy().astype(np.int64) for name in ("into", "cluster"))
    if not into.size:
        return None
    size = np.bincount(groups.finest[groups.finest >= 0], minlength=n)
    values = _values(groups, n, max(n - into.size, 2))
    shown = _shown(into, gone, n, values)
    nodes: list[Node | None] = [None] * (n + into.size)
    for i, node in zip(shown.node, _nodes(groups, shown, size), strict=True):
        nodes[i] = node
    dial: Dial = {
        "fitted": groups.n_clusters,
        "values": values,
        "stops": levels.stops(groups.level_rows),
        "agreement": {
            str(level.groups): level.agreement
            for level in groups.level_rows
            if math.isfinite(level.agreement)
        },
        "sizes": size.tolist(),
        "joins": np.stack([into, gone], 1).tolist(),
        "nodes": nodes,
    }
    return dial, shown


def n_finest(groups: Any) -> int:
    """The number of finest clusters; 0 if they are not known."""
    return 0 if groups.finest is None else int(groups.finest.max(initial=-1)) + 1


def _values(groups: Any, finest: int, fewest: int) -> list[int]:
    """The numbers of clusters that the dial offers."""
    tried = {level.groups for level in groups.level_rows} or set(levels.grid(finest))
    if len(tried) < 3:  # a number was asked for
        tried |= set(levels.grid(finest))
    tried |= {groups.n_clusters, finest}
    return sorted(n for n in tried if fewest <= n <= finest or n == groups.n_clusters)


def _shown(into: Ints, gone: Ints, n: int, values: list[int]) -> Shown:
    """The nodes of all these numbers of clusters."""
    order = _order(into, gone, n)
    place = np.argsort(order)
    node, wide, is_open = np.arange(n), np.ones(n, np.int64), np.ones(n, bool)
    found: dict[int, int] = {}  # node -> its place in the lists
    start, stop, shown = list[int](), list[int](), list[list[int]]()
    for i in range(into.size + 1):
        if n - i in values:
            for leaf in np.flatnonzero(is_open).tolist():
                if found.setdefault(int(node[leaf]), len(found)) == len(start):
                    start.append(int(place[leaf]))
                    stop.append(int(place[leaf] + wide[leaf]))
            shown.append([found[one] for one in node[is_open].tolist()])
        if i < into.size:
            kept, left = into[i], gone[i]
            node[kept], wide[kept], is_open[left] = n + i, wide[kept] + wide[left], False
    return Shown(order, list(found), np.array(start), np.array(stop), shown)


def _order(into: Ints, gone: Ints, n: int) -> Ints:
    """The finest clusters so that those joined early are neighbours."""
    chain = [[k] for k in range(n)]
    for kept, left in zip(into.tolist(), gone.tolist(), strict=True):
        chain[kept] += chain[left]
        chain[left] = []
    return np.array([leaf for part in chain for leaf in part], np.int64)


# ---------------------------------------------------------------- words and names
def _nodes(groups: Any, shown: Shown, size: Ints) -> list[Node]:
    """The name and the words of each node that is shown."""
    words = groups.vectorizer.words
    telling = list(_telling(groups, shown))
    names = _names(groups, shown, size, [[words[i] for i, _, _ in row] for row in telling])
    made: list[Node] = []
    for name, row in zip(names, telling, strict=True):
        top = max(row[0][1], 1e-12) if row else 1.0
        best: list[Word] = [
            {"word": words[i], "weight": max(value / top, 0.0), "count": round(tally)}
            for i, value, tally in row[:N_WORDS]
        ]
        made.append({"name": name, "words": best})
    return made


def _telling(groups: Any, shown: Shown) -> Iterator[list[tuple[int, float, float]]]:
    """For each node its most distinctive words: number, value and how often they occur."""
    held = _counted(groups, shown.order.size)
    urn, share = groups.model.urn.words, groups.model.word_share
    beta = np.broadcast_to(urn.beta, share.shape)
    for first in range(0, len(shown.node), _AT_ONCE):
        sums = shown.sums(held, slice(first, first + _AT_ONCE)).tocsr()
        total = np.asarray(sums.sum(axis=1)).ravel() * urn.unit + urn.beta_sum
        phi = (sums.data * urn.unit + beta[sums.indices]) / np.repeat(total, np.diff(sums.indptr))
        values = phi * np.log(phi / share[sums.indices])
        for a, b in zip(sums.indptr[:-1], sums.indptr[1:], strict=True):
            ids, value = sums.indices[a:b], values[a:b]
            if ids.size > 3 * N_WORDS:
                # ties with the last one are kept, so that they can be sorted
                least = np.partition(value, -3 * N_WORDS)[-3 * N_WORDS]
                near = np.flatnonzero(value >= least)
            else:
                near = np.arange(ids.size)
            best = near[np.lexsort((ids[near], -value[near]))][: 3 * N_WORDS]
            yield [(int(ids[i]), float(value[i]), float(sums.data[a + i])) for i in best]


def _counted(groups: Any, n: int) -> Any:
    """How often each word occurs in each of the finest clusters."""
    c = groups.corpus.counts
    leaf = groups.corpus.per_document(groups.finest)
    held = sparse.csr_matrix((n, c.n_words))
    for first in range(
        0, c.n_docs, _DOCUMENTS
    ):  # all at once, they take as much memory as the corpus
        some = slice(first, first + _DOCUMENTS)
        ptr = c.ptr[first : first + _DOCUMENTS + 1]
        own = slice(ptr[0], ptr[-1])
        words = (c.tally[own].astype(float), c.word[own], ptr - ptr[0])
        each = (c.weight[some].astype(float), (leaf[some], np.arange(ptr.size - 1)))
        seen = sparse.csr_matrix(words, (ptr.size - 1, c.n_words))
        held = held + sparse.csr_matrix(each, (n, ptr.size - 1)) @ seen
    return held


def _names(groups: Any, shown: Shown, size: Ints, telling: list[list[str]]) -> list[str]:
    """A name for each node; those that stand side by side have different ones."""
    rank = np.argsort(shown.order)
    held = np.flatnonzero(groups.finest >= 0)
    rows = held[np.argsort(rank[groups.finest[held]], kind="stable")]
    if rows.size > MOST_NAMED:
        rows = rows[np.linspace(0, rows.size - 1, MOST_NAMED).astype(np.int64)]
    edges = np.searchsorted(rank[groups.finest[rows]], np.arange(shown.order.size + 1))
    known = naming.table(groups, rows.tolist())
    stop_words = groups.vectorizer.name_stop_words
    names = []
    for i, (start, stop) in enumerate(zip(shown.start, shown.stop, strict=True)):
        found = naming.covering(known, int(edges[start]), int(edges[stop]))
        usual = [word for word in telling[i] if word.lower() not in stop_words] or telling[i]
        names.append(SEPARATOR.join(found or usual[:3]))
    total = shown.sums(size)
    for level in shown.levels:
        used: set[str] = set()
        for i in sorted(level, key=lambda i: (-total[i], i)):
            names[i] = _other(names[i], telling[i], used)
            used.add(names[i].lower())
    return names


def _other(name: str, words: list[str], used: set[str]) -> str:
    """The name, or, if another node has it, with one more word or a number."""
    if name.lower() not in used:
        return name
    tries = [f"{name}{SEPARATOR}{word}" for word in words if word.lower() not in name.lower()]
    tries += [f"{name} ({n})" for n in range(2, len(used) + 3)]
    return next(one for one in tries if one.lower() not in used)
