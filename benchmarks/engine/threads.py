"""Blocked draws: the gain from a second thread, next to what the machine allows, and the quality."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np

from ..harness.claims import Check, Claim
from ..harness.data import LONG, SHORT, load
from ..harness.scores import paired, score
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import joined, markdown

TIMED = (("googlenews_title_snippet", 500), (LONG, 200))
SETTINGS: dict[str, dict[str, Any]] = {
    "GSDMM": dict(n_clusters=500, n_sweeps=30),
    "GSDPMM": dict(n_sweeps=10),
}
BAR, WITHIN = 0.85, 0.01


def run(options: Options) -> Rows:
    results = Results("engine/threads", options)
    for name, k in TIMED[: 1 if options.quick else 2]:
        results.add(f"time, {name}", _times(name, k, options.times(7, 3)))
    for model, settings in SETTINGS.items():
        for name in options.choose(SHORT):
            results.add(f"NMI, {model}, {name}", _quality(model, name, settings, options))
    return results.rows


def sweeps(name: str, k: int, n_jobs: int, n_warm: int, n_timed: int) -> list[float]:
    """Seconds of the timed sweeps of one run."""
    from coterie import GSDMM

    model = GSDMM(
        k, sampler="blocked", n_jobs=n_jobs, n_sweeps=n_warm + n_timed, random_state=1
    ).fit(load(name).documents)
    return [float(s) for s in model.trace_["seconds"][n_warm:]]


def _times(name: str, k: int, turns: int) -> Row:
    found: dict[str, list[float]] = {"one": [], "two": [], "at once": []}
    for turn in range(turns):
        for how, n_jobs, n_processes in (("one", 1, 1), ("two", 2, 1), ("at once", 1, 2)):
            code = f"from {__name__} import sweeps; print(sweeps({name!r}, {k}, {n_jobs}, 20, 20))"
            start = partial(
                subprocess.Popen, [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
            )
            running = [start() for _ in range(n_processes)]
            said = [process.communicate()[0] for process in running]
            found[how] += [statistics.median(json.loads(text)) for text in said]
        told = ", ".join(f"{how} {1e3 * values[-1]:.1f} ms" for how, values in found.items())
        say(f"{name}: turn {turn + 1} of {turns}: {told}")
    median = {how: statistics.median(values) for how, values in found.items()}
    return {
        "seconds": found,
        "median": median,
        "speedup": median["one"] / median["two"],
        "possible": 2 * median["one"] / median["at once"],
        "share": median["at once"] / (2 * median["two"]),
    }


def _quality(model: str, name: str, settings: dict[str, Any], options: Options) -> Row:
    import coterie

    corpus = load(name)
    n_seeds = options.times(10, 2)
    nmi: dict[str, list[float]] = {"gibbs": [], "blocked": []}
    for seed in range(n_seeds):
        for sampler, values in nmi.items():
            estimator = getattr(coterie, model)(sampler=sampler, random_state=seed, **settings)
            values.append(score(corpus.classes, estimator.fit(corpus.documents).labels_)["nmi"])
    apart = paired(nmi["blocked"], nmi["gibbs"])
    half = apart.high - apart.mean
    say(f"{model}, {name}: {apart.mean:+.4f} ± {half:.4f}")
    means = {sampler: float(np.mean(values)) for sampler, values in nmi.items()}
    return {**means, "difference": apart.mean, "half": half, "seeds": n_seeds}


def table(rows: Rows) -> str:
    timed, scored = [], []
    for key, row in rows.items():
        kind, _, name = key.partition(", ")
        if kind == "time":
            ms = [f"{1e3 * row['median'][how]:.1f}" for how in ("one", "two", "at once")]
            gains = [f"{row[what]:.2f}x" for what in ("speedup", "possible")]
            timed.append([name, *ms, *gains, f"{row['share']:.2f}"])
        else:
            both = [f"{row[sampler]:.3f}" for sampler in ("gibbs", "blocked")]
            scored.append([name, row["seeds"], *both, _difference(row)])
    head = ["corpus", "1 thread, ms", "2 threads, ms", "two at once, ms each", "speed-up"]
    quality = ["model, corpus", "seeds", "NMI, gibbs", "NMI, blocked", "difference"]
    return joined(markdown([*head, "possible", "share"], timed), markdown(quality, scored))


def _difference(row: Row) -> str:
    return f"{row['difference']:+.4f} ± {row['half']:.4f}"


def claims(rows: Rows) -> list[Claim]:
    faster, same = [], []
    for key, row in rows.items():
        kind, _, name = key.partition(", ")
        if kind == "time":
            faster.append(Check(name, f"{row['share']:.2f}", row["share"] >= BAR))
        else:
            same.append(Check(name, _difference(row), row["difference"] >= -WITHIN))
    says = f"Blocked draws on 2 threads reach {BAR} of the speed of two runs at the same time"
    return [Claim(says, faster), Claim(f"Their NMI is within {WITHIN} of Gibbs", same)]
