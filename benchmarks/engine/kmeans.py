"""coterie and scikit-learn's k-means on tf-idf, all with the true number of clusters."""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from statistics import median
from typing import Any

from ..harness.claims import Claim, single
from ..harness.data import SHORT, Corpus, cut, load
from ..harness.pool import spread
from ..harness.probe import Watch
from ..harness.scores import score, summaries
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.systems import gsdmm, kmeans, minibatch
from ..harness.tables import joined, markdown, mean_sd, number

RAW = ("reuters_r8", "bbc_news_raw", "banking77", "clinc150")
SETS = (*SHORT, "searchsnippets_sttm", "20ng_tokens", *RAW)
OURS, PLAIN, TEN, MINI = "coterie", "KMeans", "KMeans, best of 10", "MiniBatchKMeans"
SYSTEMS = (OURS, PLAIN, TEN, MINI)
TIMED = (OURS, PLAIN, MINI)
BAR = 8  # sets of ten
SETTINGS: dict[str, Any] = dict(alpha=0.1, beta=0.1, n_sweeps=30)
MOST_FITS, MOST_SECONDS = 3, 2.0  # of one timing: no further fit once so much is spent
SLOW_LAST = (*(name for name in SETS if name != "20ng_tokens"), "20ng_tokens")
Task = tuple[str, str, int]


def run(options: Options) -> Rows:
    results = Results("engine/kmeans", options)
    for name in sorted(options.choose(SETS, quick=2), key=SLOW_LAST.index):
        found: dict[str, list[dict[str, float]]] = {}
        tasks = [(name, system, seed) for seed in range(options.times(5, 2)) for system in SYSTEMS]
        for (_, system, seed), scores in spread(_quality, tasks):
            found.setdefault(system, []).append(scores)
            say(f"{name}: {system}: seed {seed}: ARI {scores['ari']:.3f}, NMI {scores['nmi']:.3f}")
        corpus = _corpus(name)
        row: Row = {
            "n_docs": corpus.n_docs,
            "n_classes": len(set(corpus.classes)),
            "systems": {system: summaries(found[system]) for system in SYSTEMS},
            "seconds": _seconds(name),
        }
        results.add(name, row)
        say(f"{name}: seconds {row['seconds']}")
    return results.rows


@lru_cache(maxsize=2)
def _corpus(name: str) -> Corpus:
    return cut(name) if name in RAW else load(name)


def _quality(task: Task) -> dict[str, float]:
    name, system, seed = task
    corpus = _corpus(name)
    return score(corpus.classes, _fit(corpus, system, seed)[0])


def _fit(corpus: Corpus, system: str, seed: int) -> tuple[list[int], float]:
    """From words to labels, and the seconds it took."""
    n_clusters = len(set(corpus.classes))
    fit, settings = {
        OURS: (gsdmm, SETTINGS),
        PLAIN: (kmeans, {"n_init": "auto"}),
        TEN: (kmeans, {"n_init": 10}),
        MINI: (minibatch, {}),
    }[system]
    watch = Watch()
    labels, _ = fit(corpus.documents, seed, watch, n_clusters=n_clusters, **settings)
    return list(labels.tolist()), watch.seconds


def _seconds(name: str) -> dict[str, dict[str, float]]:
    """Median seconds a fit, on one thread and on all; one process."""
    from threadpoolctl import threadpool_limits

    corpus = _corpus(name)
    few = Corpus(corpus.documents[:200], corpus.classes[:200])
    found: dict[str, dict[str, float]] = {}
    for system in TIMED:
        _fit(few, system, 0)  # compiles, imports
    for threads in ("one", "all"):
        with threadpool_limits(1) if threads == "one" else nullcontext():
            for system in TIMED if threads == "one" else TIMED[1:]:
                found.setdefault(system, {})[threads] = _median_fit(corpus, system)
    return found


def _median_fit(corpus: Corpus, system: str) -> float:
    took: list[float] = []
    while len(took) < MOST_FITS and sum(took) < MOST_SECONDS:
        took.append(_fit(corpus, system, len(took))[1])
    return median(took)


def table(rows: Rows) -> str:
    ordered = {name: rows[name] for name in SETS if name in rows}
    return joined(_measure(ordered, "ari"), _measure(ordered, "nmi"), _times(ordered))


def _measure(rows: Rows, measure: str) -> str:
    lines = []
    for name, row in rows.items():
        of = row["systems"]
        cells = [mean_sd(of[system][measure]) for system in SYSTEMS]
        best = max(range(len(SYSTEMS)), key=lambda i: of[SYSTEMS[i]][measure]["mean"])
        cells[best] = f"**{cells[best]}**"
        n_seeds, clusters = of[OURS][measure]["n"], mean_sd(of[OURS]["n_clusters"], 1)
        lines.append([name, row["n_docs"], row["n_classes"], n_seeds, *cells, clusters])
    head = [measure.upper(), "texts", "classes", "seeds", *SYSTEMS, "clusters of coterie"]
    return markdown(head, lines)


def _times(rows: Rows) -> str:
    lines = []
    for name, row in rows.items():
        of = row["seconds"]
        theirs = [f"{of[s]['one']:.2f} ({of[s]['all']:.2f})" for s in TIMED[1:]]
        ratios = [f"{of[s]['one'] / of[OURS]['one']:.2f}x" for s in TIMED[1:]]
        lines.append([name, number(of[OURS]["one"], 2), *theirs, *ratios])
    over = [_over(rows, system) for system in TIMED[1:]]
    lines.append(["median (lowest to highest)", *("" for _ in TIMED), *over])
    return markdown(["seconds", *TIMED, *(f"{system} / coterie" for system in TIMED[1:])], lines)


def _over(rows: Rows, system: str) -> str:
    """The seconds of a system divided by coterie's, over the sets."""
    of = [row["seconds"][system]["one"] / row["seconds"][OURS]["one"] for row in rows.values()]
    return f"{median(of):.2f}x ({min(of):.2f} to {max(of):.2f})" if of else "-"


def claims(rows: Rows) -> list[Claim]:
    found = []
    for system in SYSTEMS[1:]:
        gains = {
            name: row["systems"][OURS]["ari"]["mean"] - row["systems"][system]["ari"]["mean"]
            for name, row in rows.items()
        }
        behind = [f"{name} {gain:+.3f}" for name, gain in gains.items() if gain <= 0]
        ahead = len(gains) - len(behind)
        shown = f"{ahead} of {len(gains)}" + (f"; behind on {', '.join(behind)}" if behind else "")
        says = f"With the true K, GSDMM has a higher ARI than {system} on at least {BAR} of 10 sets"
        found.append(single(says, shown, ahead >= BAR if len(gains) == len(SETS) else None))
    return found
