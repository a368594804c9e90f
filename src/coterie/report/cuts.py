"""The dial of the page: the finest clusters, how they are joined, and a name and words for every join."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import levels
from coterie.describing import SEPARATOR
from coterie.report.schema import Dial, Node, Word

N_WORDS = 8
MOST_LEAVES = 1500  # finest clusters; a tree of more takes half a minute

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def dial_of(groups: Any) -> tuple[Dial, Ints] | None:
    """(the dial, the order of the finest clusters in the tree); None where there is nothing to turn."""
    if groups.finest is None or not 2 < int(groups.finest.max(initial=0)) + 1 <= MOST_LEAVES:
        return None
    into, gone = (groups.tree[name].to_numpy().astype(np.int64) for name in ("into", "cluster"))
    if not into.size:
        return None
    n = int(groups.finest.max()) + 1
    size = np.bincount(groups.finest[groups.finest >= 0], minlength=n)
    dial: Dial = {
        "fitted": groups.n_clusters,
        "values": _values(groups, n, max(n - into.size, 2)),
        "stops": levels.stops(groups.level_rows),
        "agreement": {
            str(level.groups): level.agreement
            for level in groups.level_rows
            if math.isfinite(level.agreement)
        },
        "sizes": size.tolist(),
        "joins": np.stack([into, gone], 1).tolist(),
        "nodes": _nodes(groups, into, gone, n),
    }
    return dial, _order(into, gone, n)


def _values(groups: Any, finest: int, fewest: int) -> list[int]:
    """The numbers of clusters that the dial offers."""
    tried = {level.groups for level in groups.level_rows} or set(levels.grid(finest))
    if len(tried) < 3:  # a number was asked for
        tried |= set(levels.grid(finest))
    tried |= {groups.n_clusters, finest}
    return sorted(n for n in tried if fewest <= n <= finest or n == groups.n_clusters)


def _nodes(groups: Any, into: Ints, gone: Ints, n: int) -> list[Node]:
    """The finest clusters, then what each join makes."""
    held = _counted(groups, n)
    urn, share = groups.model.urn.words, groups.model.word_share
    stop_words, words = groups.vectorizer.name_stop_words, groups.vectorizer.words
    beta, unit = np.broadcast_to(urn.beta, share.shape), urn.unit
    parts = (slice(a, b) for a, b in zip(held.indptr[:-1], held.indptr[1:], strict=True))
    sums = [(held.indices[part], held.data[part]) for part in parts]

    def node(ids: Ints, tally: Floats) -> Node:
        phi = (tally * unit + beta[ids]) / (tally.sum() * unit + urn.beta_sum)
        value = phi * np.log(phi / share[ids])
        best = np.lexsort((ids, -value))[: 3 * N_WORDS]
        telling = [words[ids[i]] for i in best]
        named = [word for word in telling if word.lower() not in stop_words] or telling
        top = max(float(value[best[0]]), 1e-12) if best.size else 1.0
        shown: list[Word] = [
            {
                "word": words[ids[i]],
                "weight": max(float(value[i]) / top, 0.0),
                "count": round(float(tally[i])),
            }
            for i in best[:N_WORDS]
        ]
        return {"name": SEPARATOR.join(named[:3]), "words": shown}

    made = [node(*one) for one in sums]
    for kept, left in zip(into.tolist(), gone.tolist(), strict=True):
        sums[kept] = _sum(sums[kept], sums[left])
        made.append(node(*sums[kept]))
    return made


def _sum(one: tuple[Ints, Floats], other: tuple[Ints, Floats]) -> tuple[Ints, Floats]:
    """Two sparse vectors added."""
    ids, where = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    total = np.bincount(where, np.concatenate([one[1], other[1]]), ids.size)
    return ids, total.astype(np.float64)


def _counted(groups: Any, n: int) -> Any:
    """How often each word occurs in each of the finest clusters."""
    c = groups.corpus.counts
    leaf = groups.corpus.per_document(groups.finest)
    seen = sparse.csr_matrix((c.tally.astype(float), c.word, c.ptr), (c.n_docs, c.n_words))
    each = (c.weight.astype(float), (leaf, np.arange(c.n_docs)))
    return (sparse.csr_matrix(each, (n, c.n_docs)) @ seen).tocsr()


def _order(into: Ints, gone: Ints, n: int) -> Ints:
    """The finest clusters so that those joined early are neighbours."""
    chain = [[k] for k in range(n)]
    for kept, left in zip(into.tolist(), gone.tolist(), strict=True):
        chain[kept] += chain[left]
        chain[left] = []
    return np.array([leaf for part in chain for leaf in part], np.int64)
