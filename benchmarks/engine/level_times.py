"""What comparing runs costs: `cluster()` with and without it, and the tree of many clusters."""

from __future__ import annotations

import time
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from ..harness.claims import Claim, single
from ..harness.data import planted, texts_of
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import joined, markdown

TITLES, MILLION, TREE = "11000 titles", "1 M texts", "tree"
N_CLUSTERS = 5000
MOST = {TITLES: 4.0, MILLION: 2.0}  # times a single run
TREE_SECONDS = 10.0


def run(options: Options) -> Rows:
    results = Results("engine/level_times", options)
    tasks = {
        TITLES: partial(_titles, options),
        TREE: partial(_tree, 500 if options.quick else N_CLUSTERS),
        MILLION: partial(_million, 20_000 if options.quick else 1_000_000),
    }
    for name in options.choose(tuple(tasks), quick=2):
        results.once(name, tasks[name])
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _titles(options: Options) -> Row:
    return _in_turns([row["text"] for row in texts_of("googlenews_title")], options.times(3))


def _million(n: int) -> Row:
    words = planted(n, max(20, n // 2000), "tokens").documents
    return _in_turns([" ".join(row) for row in words], 1)


def _in_turns(texts: list[str], turns: int) -> Row:
    import coterie

    coterie.cluster(texts[:500])  # compiles
    found: dict[str, list[float]] = {"chosen": [], "single": []}
    for _ in range(turns):
        for name, each in found.items():
            began = time.perf_counter()
            coterie.cluster(texts, levels=name == "chosen")
            each.append(time.perf_counter() - began)
    return {"texts": len(texts), **found}


def _tree(n_clusters: int) -> Row:
    """Ready-made labels, 20 texts in each, words and vectors of 256 dimensions."""
    from coterie import merging, urns
    from coterie._arrays import STEP
    from coterie.counts import from_matrix
    from coterie.state import from_labels

    n = 20 * n_clusters
    matrix = planted(n, n_clusters, "csr").documents
    rng = np.random.default_rng(1)
    counts: Any = from_matrix(matrix, "benchmarks").counts
    labels = (np.arange(counts.n_docs) % n_clusters).astype(np.int32)
    centres = rng.normal(size=(n_clusters, 256))
    vectors = centres[labels] + rng.normal(size=(counts.n_docs, 256))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    counts = counts._replace(vectors=np.rint(vectors / STEP).astype(np.int16))
    words = urns.finite(n_clusters + 1, 0.1, urns.per_word(0.1, counts.n_words))
    urn = urns.located(words, 20.0)
    assignment = from_labels(counts, urn, labels).assignment
    began = time.perf_counter()
    found = merging.tree(counts, urn, assignment)
    took = time.perf_counter() - began
    assert found is not None
    return {
        "clusters": n_clusters,
        "texts": counts.n_docs,
        "words": counts.n_words,
        "seconds": took,
    }


def table(rows: Rows) -> str:
    lines = []
    for name in (TITLES, MILLION):
        if name in rows:
            chosen, one = median(rows[name]["chosen"]), median(rows[name]["single"])
            lines.append([name, f"{chosen:.1f}", f"{one:.1f}", f"{chosen / one:.2f}"])
    trees = [
        [f"{row['clusters']:,}", f"{row['texts']:,}", f"{row['words']:,}", f"{row['seconds']:.1f}"]
        for name, row in rows.items()
        if name == TREE
    ]
    return joined(
        markdown(["", "three runs compared, s", "single run, s", "ratio"], lines),
        markdown(["clusters", "texts", "words", "tree, s"], trees),
    )


def claims(rows: Rows) -> list[Claim]:
    said = []
    for name, most in MOST.items():
        if name in rows:
            ratio = median(rows[name]["chosen"]) / median(rows[name]["single"])
            claim = f"{name}: choosing a level takes at most {most:g} times as long as a single run"
            said.append(single(claim, f"{ratio:.2f}", ratio <= most))
    if TREE in rows:
        took = rows[TREE]["seconds"]
        claim = f"The tree of {N_CLUSTERS:,} clusters takes at most {TREE_SECONDS:g} s"
        said.append(single(claim, f"{took:.1f} s", took <= TREE_SECONDS))
    return said
