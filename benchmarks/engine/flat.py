"""Does a document cost more with more clusters? And how far is a sweep from the lower bound?"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numba
import numpy as np

from ..harness.claims import Check, Claim
from ..harness.data import load
from ..harness.store import Options, Results, Row, Rows, say, values
from ..harness.tables import joined, markdown

CASES = (("finite", 0.0), ("process", 0.0), ("seeded", 0.0), ("process", 0.05))
FLOOR = ("googlenews_title", "googlenews_title_snippet")
BAR, FLOOR_BAR = 3.0, 4.0


def run(options: Options) -> Rows:
    results = Results("engine/flat", options)
    n_docs = 100_000 if options.quick else 1_000_000
    for urn, outliers in CASES:
        many = n_docs // 10
        row: Row = {str(k): _cost(n_docs, k, urn, outliers) for k in (many // 100, many)}
        few, lots = row.values()
        row["ratio"] = lots["ns"] / few["ns"]
        say(f"{urn}, outliers {outliers}: {few['ns']:.0f} -> {lots['ns']:.0f} ns")
        results.add(f"{urn}, {'outliers' if outliers else 'none'}", row)
    for name in options.choose(FLOOR):
        results.add(f"floor, {name}", _floor(name, options.times(7, 3)))
    return results.rows


def planted(n_docs: int, n_clusters: int, outliers: float) -> tuple[Any, np.ndarray]:
    """Counts and planted labels, with the same postings per document for any number of clusters."""
    from coterie.counts import from_ids

    rng = np.random.default_rng(0)
    z = rng.permutation(np.arange(n_docs) % n_clusters)
    own = z[:, None] * 5 + rng.integers(0, 5, (n_docs, 4))
    n_shared = n_clusters * 8 // 10
    name = rng.permutation(n_shared)
    shared = name[(z[:, None] * 8 + rng.integers(0, 8, (n_docs, 4))) % n_shared]
    ids = np.concatenate([own, 5 * n_clusters + shared], axis=1)
    n_words = 5 * n_clusters + n_shared
    alone = np.flatnonzero(rng.random(n_docs) < outliers)
    ids[alone] = n_words + np.arange(alone.size * 8).reshape(-1, 8)
    n_words += alone.size * 8
    z[alone] = n_clusters + np.arange(alone.size)
    ptr = np.arange(n_docs + 1) * 8
    return from_ids(ptr, ids.ravel().astype(np.int32), n_words, "flat").counts, z


def _cost(n_docs: int, n_clusters: int, urn_name: str, outliers: float) -> Row:
    from coterie import state, urns
    from coterie.backends.cpu import BACKEND

    counts, z = planted(n_docs, n_clusters, outliers)
    beta = urns.per_word(0.01, counts.n_words)
    urn = urns.process(1.0, beta)
    if urn_name == "finite":
        urn = urns.finite(2 * n_clusters, 0.1, beta)
    if urn_name == "seeded":  # every planted cluster, known by one of its words
        known = np.arange(n_clusters)
        ones = np.ones(n_clusters)
        urn = urns.seeded(urn, ones, np.arange(n_clusters + 1), (known * 5).astype(np.int32), ones)
    labels = np.unique(z, return_inverse=True)[1].astype(np.int32)
    handle = BACKEND.open(counts, urn, state.from_labels(counts, urn, labels).assignment)
    seconds = []
    for sweep in range(1, 6):
        start = time.perf_counter()
        stats = handle.sweep(1, sweep)
        seconds.append(time.perf_counter() - start)
    assert stats is not None
    laid = handle.state
    return {
        "ns": 1e9 * min(seconds[2:]) / n_docs,
        "open": laid.n_open,
        "postings": float(laid.post_len[counts.word].sum() / n_docs),
        "moved": stats.moved,
        "tree_draws": stats.tree_draws,
        "full_sums": stats.full_sums,
    }


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _scatter(ptr: Any, word: Any, post_ptr: Any, post_len: Any, post: Any, score: Any) -> None:
    for d in range(ptr.size - 1):
        for e in range(ptr[d], ptr[d + 1]):
            w = word[e]
            for i in range(post_ptr[w], post_ptr[w] + post_len[w]):
                score[post[i, 0]] += post[i, 1]


def _floor(name: str, turns: int) -> Row:
    from coterie import GSDMM
    from coterie import state as rooms
    from coterie.backends._gibbs import GibbsChain

    model = GSDMM(500, n_sweeps=30, random_state=1).fit(load(name).documents)
    assert model._training is not None
    counts, urn = model._training.counts, model.model_.urn
    laid = rooms.from_labels(counts, urn, model.labels_.astype(np.int32))
    handle = GibbsChain(counts, urn, laid)
    plain = rooms.relayout(urn, laid._replace(row_of=laid.row_of.copy()), row_bytes=0)[0]
    handle.state = rooms.from_labels(counts, urn, model.labels_.astype(np.int32))
    handle.derived, handle.scratch = handle._derive()
    score = np.zeros(plain.size.size)
    ours, floor = [], []
    for turn in range(turns + 1):
        start = time.perf_counter()
        handle.sweep(1, 9 + turn if (9 + turn) % 8 else 9)
        middle = time.perf_counter()
        for _ in range(5):
            _scatter(counts.ptr, counts.word, plain.post_ptr, plain.post_len, plain.post, score)
        end = time.perf_counter()
        ours.append(middle - start)
        floor.append((end - middle) / 5)
    best, least = statistics.median(ours[1:]), statistics.median(floor[1:])
    say(f"floor, {name}: {1e3 * best:.2f} ms against {1e3 * least:.2f} ms, {best / least:.2f}x")
    return {"sweep_ms": 1e3 * best, "floor_ms": 1e3 * least, "ratio": best / least}


def table(rows: Rows) -> str:
    cases, floors = [], []
    for key, row in rows.items():
        if key.startswith("floor"):
            figures = [f"{row[name]:.2f}" for name in ("sweep_ms", "floor_ms", "ratio")]
            floors.append([key.removeprefix("floor, "), *figures])
            continue
        for k, got in values(row).items():
            if k != "ratio":
                cells = [f"{got['ns']:.0f}", got["open"], f"{got['postings']:.1f}", got["moved"]]
                cases.append([key, k, *cells, got["tree_draws"], got["full_sums"]])
        cases.append([key, "ratio", f"{row['ratio']:.2f}x"])
    head = ["urn, outliers", "clusters planted", "ns per document", "clusters in use", "postings"]
    return joined(
        markdown([*head, "moved", "by tree", "full sums"], cases),
        markdown(["corpus", "one sweep, ms", "lower bound, ms", "ratio"], floors),
    )


def claims(rows: Rows) -> list[Claim]:
    checks: dict[bool, list[Check]] = {False: [], True: []}
    for key, row in rows.items():
        floor = key.startswith("floor")
        met = row["ratio"] <= (FLOOR_BAR if floor else BAR)
        checks[floor].append(Check(key.removeprefix("floor, "), f"{row['ratio']:.2f}x", met))
    few = f"With 100,000 clusters a document costs at most {BAR:g} times as much as with 1,000"
    near = f"A Gibbs sweep takes at most {FLOOR_BAR:g} times the lower bound"
    return [Claim(few, checks[False]), Claim(near, checks[True])]
