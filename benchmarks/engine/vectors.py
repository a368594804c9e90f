"""Words and document vectors together: quality with and without, the learned kappa, and the cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import fmean, median

import numpy as np

from ..harness.claims import Check, Claim, single
from ..harness.data import glove, texts_of
from ..harness.scores import score, summaries
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import joined, markdown, mean_sd

# set -> the number of clusters that is given, if any; then the NMI and the ARI asked for
BARS: dict[str, tuple[int | None, float, float | None]] = {
    "tweet": (300, 0.93, None),
    "googlenews_title": (300, 0.905, None),
    "googlenews_title_snippet": (300, 0.93, None),
    "banking77": (None, 0.75, 0.42),
    "clinc150": (None, 0.78, 0.36),
    "searchsnippets_sttm": (8, 0.66, 0.64),
    "bbc_news_raw": (5, 0.87, 0.90),
}
CAP = 300  # a maximum; other numbers are the number of clusters
LONG = ("20ng_raw", "arxiv_abstracts", "reuters_r8", "10kgnad_test_de")  # where vectors add little
TEN = (
    *("tweet", "googlenews_title", "banking77", "clinc150", "searchsnippets_sttm"),
    *("bbc_news_raw", "reuters_r8", "crisislex_t26_tweets", "pascal_flickr", "arxiv_abstracts"),
)
KAPPAS = (8.0, 16.0, 24.0, 36.0, 50.0)
MOST = 2000  # texts of a set for the grid of kappas
SWEEP, EMBED = "a sweep at 300 clusters", "embedding 100,000 titles"
HOW = {"words": None, "both": "auto"}


def run(options: Options) -> Rows:
    results = Results("engine/vectors", options)
    for name in options.choose(("cost", *BARS, *LONG, "kappa"), quick=2):
        tasks: dict[str, Callable[[], Row]] = {f"quality, {name}": partial(_quality, name, options)}
        if name == "cost":
            tasks = {SWEEP: partial(_sweep, options), EMBED: _embedding}
        elif name == "kappa":
            pairs = [(of, kind) for kind in ("wordllama", "GloVe") for of in TEN]
            tasks = {
                f"kappa, {of}, {kind}": partial(_kappa, of, kind, options) for of, kind in pairs
            }
        for key, task in tasks.items():
            results.add(key, task())
            say(f"{key}: {results.rows[key]}")
    return results.rows


def _texts(name: str, most: int | None = None) -> tuple[list[str], list[str]]:
    rows = texts_of(name)
    if most is not None and len(rows) > most:
        chosen = np.random.default_rng(0).choice(len(rows), most, replace=False)
        rows = [rows[i] for i in np.sort(chosen)]
    return [row["text"] for row in rows], [str(row["label"]) for row in rows]


def _quality(name: str, options: Options) -> Row:
    import coterie

    texts, classes = _texts(name)
    row: Row = {"given": BARS.get(name, (None,))[0]}
    for how, embedder in HOW.items():
        runs = []
        for seed in range(options.times(5 if name in BARS else 3, 1)):
            began = time.perf_counter()
            size = "max_clusters" if row["given"] == CAP else "n_clusters"
            groups = coterie.cluster(
                texts, embedder=embedder, random_state=seed, **{size: row["given"]}
            )
            found = score(classes, groups.labels.tolist())
            kappa = groups.model.urn.location.kappa
            runs.append({**found, "kappa": kappa, "seconds": time.perf_counter() - began})
        row[how] = summaries(runs)
    return row


def _kappa(name: str, kind: str, options: Options) -> Row:
    """NMI with kappas of a grid, and with the one that is learned."""
    import coterie

    texts, classes = _texts(name, MOST)
    embedder = "auto" if kind == "wordllama" else glove()
    found: dict[str, float] = {}
    for kappa in ("auto", *KAPPAS):
        runs, learned = [], []
        for seed in range(options.times(2, 1)):
            groups = coterie.cluster(texts, embedder=embedder, kappa=kappa, random_state=seed)
            runs.append(score(classes, groups.labels.tolist())["nmi"])
            learned.append(groups.model.urn.location.kappa)
        found[str(kappa)] = fmean(runs)
        if kappa == "auto":
            found["learned"] = fmean(learned)
    return found


def _sweep(options: Options) -> Row:
    """Microseconds per document of a sweep over all open clusters, without and with vectors."""
    import coterie
    from coterie import state, urns
    from coterie.backends.cpu import BACKEND
    from coterie.start import first_assignment

    groups = coterie.cluster(
        _texts("googlenews_title")[0], n_sweeps=1, max_clusters=300, levels=False
    )
    counts = groups.corpus.counts
    plain = urns.finite(300, 0.1, urns.per_word(0.07, counts.n_words))
    kinds = {"plain": plain, "with vectors": urns.located(plain, 27.0)}
    cost, row = state.ROW_COST, {}
    state.ROW_COST = 1e9  # a row for every word, so that every open cluster is weighed
    chains = {
        how: BACKEND.open(counts, urn, first_assignment(counts, urn, "random", 1, BACKEND))
        for how, urn in kinds.items()
    }
    seconds: dict[str, list[float]] = {how: [] for how in chains}
    for sweep in range(1, 4 + options.times(20, 3)):
        for how, chain in chains.items():  # in turns: what else the machine does slows down both
            began = time.perf_counter()
            chain.sweep(1, sweep)
            seconds[how].append(time.perf_counter() - began)
    state.ROW_COST = cost
    for how, chain in chains.items():
        row[how] = 1e6 * median(seconds[how][3:]) / counts.n_docs
        row[f"{how}, clusters"] = chain.state.n_open
    return {**row, "ratio": row["with vectors"] / row["plain"]}


def _embedding() -> Row:
    from coterie.embedders import prepare, resolve

    texts = [row["text"] for row in texts_of("reddit_titles")[:100_000]]
    began = time.perf_counter()
    embedder = resolve("auto")
    assert embedder is not None
    read = time.perf_counter() - began
    raw = embedder.embed(texts)
    embedded = time.perf_counter() - began - read
    prepare(raw)
    total = time.perf_counter() - began
    return {"texts": len(texts), "read": read, "embed": embedded, "seconds": total}


def table(rows: Rows) -> str:
    if not rows:
        return ""
    quality, kappas = [], []
    for key, row in rows.items():
        kind, _, name = key.partition(", ")
        if kind == "quality":
            for how in HOW:
                got = row[how]
                cells = [mean_sd(got[m]) for m in ("nmi", "ari")]
                counted = [mean_sd(got["n_clusters"], 0), f"{got['kappa']['mean']:.0f}"]
                quality.append([name, row["given"] or "-", how, *cells, *counted])
        elif kind == "kappa":
            best = max(row[str(kappa)] for kappa in KAPPAS)
            grid = [f"{row[str(kappa)]:.3f}" for kappa in KAPPAS]
            last = [f"{row['auto']:.3f}", f"{row['learned']:.0f}", f"{row['auto'] - best:+.3f}"]
            kappas.append([name, *grid, *last])
    cost = []
    if SWEEP in rows:
        row = rows[SWEEP]
        cost.append(["microseconds per document, plain sweep", f"{row['plain']:.1f}"])
        cost.append(
            ["the same with vectors", f"{row['with vectors']:.1f} ({row['ratio']:.1f} times)"]
        )
    if EMBED in rows:
        row = rows[EMBED]
        cost.append(
            [f"{row['texts']:,} titles: read the table, embed, prepare", f"{row['seconds']:.1f} s"]
        )
    grid = [f"{kappa:g}" for kappa in KAPPAS]
    return joined(
        markdown(["set", "maximum", "", "NMI", "ARI", "clusters", "kappa"], quality),
        markdown(["set, vectors", *grid, "learned", "kappa", "against the best"], kappas),
        markdown(["", "measured"], cost),
    )


def claims(rows: Rows) -> list[Claim]:
    reached, lost = [], []
    for name, (_, nmi, ari) in BARS.items():
        if f"quality, {name}" in rows:
            got = rows[f"quality, {name}"]["both"]
            met = got["nmi"]["mean"] >= nmi and (ari is None or got["ari"]["mean"] >= ari)
            asked = f"at least {nmi}" + (f" / {ari}" if ari is not None else "")
            shown = f"{got['nmi']['mean']:.3f} / {got['ari']['mean']:.3f}"
            reached.append(Check(f"{name} ({asked})", shown, met))
    for name in (*BARS, *LONG):
        if f"quality, {name}" in rows:
            both, words = (rows[f"quality, {name}"][how]["nmi"] for how in ("both", "words"))
            gain = both["mean"] - words["mean"]
            noise = 2 * np.hypot(both["sd"], words["sd"])
            lost.append(Check(name, f"NMI {gain:+.3f}", bool(gain >= -max(noise, 0.02))))
    losses = [
        max(row[str(kappa)] for kappa in KAPPAS) - row["auto"]
        for key, row in rows.items()
        if key.startswith("kappa, ")
    ]
    mean = fmean(losses) if losses else None
    sweep = rows.get(SWEEP, {}).get("ratio")
    seconds = rows.get(EMBED, {}).get("seconds")
    return [
        Claim("Words and vectors together reach the NMI / ARI asked for", reached),
        Claim("Vectors never lose to words alone by more than noise", lost),
        single(
            "The learned kappa loses at most .015 NMI to the best of a grid, on average",
            "" if mean is None else f"{mean:.4f}",
            None if mean is None else mean <= 0.015,
        ),
        single(
            "A sweep with vectors takes at most 4 times as long, 300 clusters",
            "" if sweep is None else f"{sweep:.1f} times",
            None if sweep is None else sweep <= 4,
        ),
        single(
            "100,000 titles are embedded in at most 5 s on one core",
            "" if seconds is None else f"{seconds:.1f} s",
            None if seconds is None else seconds <= 5,
        ),
    ]
