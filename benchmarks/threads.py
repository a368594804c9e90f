"""Blocked draws: what a second thread brings beside what the machine can give, and their quality."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

from .data import LONG, SHORT, build
from .scores import paired, score
from .store import Options, Results, Row, say
from .tables import Verdict, markdown

TITLE = "Blocked draws on threads"
NOTE = (
    "Seconds a sweep of `sampler='blocked'` near convergence, on one thread, on two, and of two "
    "independent one-thread processes that run at once (what two cores of this machine can give); "
    "turns alternate, medians. The share is (one thread / two threads) over (2 x one thread / each of "
    "two at once). NMI: mean over the seeds of GSDMM (K=500, 30 sweeps) and GSDPMM "
    "(10 sweeps) by Gibbs and in blocks, and the difference with its 95% interval (paired seeds)."
)
TIMED = (("googlenews_title_snippet", 500), (LONG, 200))
SETTINGS: dict[str, dict[str, Any]] = {
    "GSDMM": dict(n_clusters=500, n_sweeps=30),
    "GSDPMM": dict(n_sweeps=10),
}
BAR, WITHIN = 0.85, 0.01


def run(options: Options) -> dict[str, Row]:
    results = Results("threads", options)
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
    ).fit(build({"name": name}).documents)
    return [float(s) for s in model.trace_["seconds"][n_warm:]]


def _times(name: str, k: int, turns: int) -> Row:
    found: dict[str, list[float]] = {"one": [], "two": [], "at once": []}
    for turn in range(turns):
        for how, n_jobs, n_processes in (("one", 1, 1), ("two", 2, 1), ("at once", 1, 2)):
            code = f"from benchmarks.threads import sweeps; print(sweeps({name!r}, {k}, {n_jobs}, 20, 20))"
            command = [sys.executable, "-c", code]
            running = [
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                for _ in range(n_processes)
            ]
            said = [process.communicate()[0] for process in running]
            found[how] += [statistics.median(_numbers(text)) for text in said]
        say(f"{name}: turn {turn + 1} of {turns}: " + _told(found))
    median = {how: statistics.median(values) for how, values in found.items()}
    return {
        "seconds": found,
        "median": median,
        "speedup": median["one"] / median["two"],
        "possible": 2 * median["one"] / median["at once"],
        "share": median["at once"] / (2 * median["two"]),
    }


def _numbers(text: str) -> list[float]:
    return [float(x) for x in text.strip().strip("[]").split(",")]


def _told(found: dict[str, list[float]]) -> str:
    return ", ".join(f"{how} {1e3 * values[-1]:.1f} ms" for how, values in found.items())


def _quality(model: str, name: str, settings: dict[str, Any], options: Options) -> Row:
    import coterie

    corpus = build({"name": name})
    n_seeds = options.times(10, 2)
    nmi: dict[str, list[float]] = {"gibbs": [], "blocked": []}
    start = time.perf_counter()
    for seed in range(n_seeds):
        for sampler, values in nmi.items():
            cls = getattr(coterie, model)
            labels = (
                cls(sampler=sampler, random_state=seed, **settings).fit(corpus.documents).labels_
            )
            values.append(score(corpus.classes, labels)["nmi"])
    apart = paired(nmi["blocked"], nmi["gibbs"])
    half = apart.high - apart.mean
    say(f"{model}, {name}: {apart.mean:+.4f} ± {half:.4f}, {time.perf_counter() - start:.0f} s")
    return {
        "gibbs": float(np.mean(nmi["gibbs"])),
        "blocked": float(np.mean(nmi["blocked"])),
        "difference": apart.mean,
        "half": half,
        "seeds": n_seeds,
    }


def table(rows: dict[str, Row]) -> str:
    timed = [
        [
            key.removeprefix("time, "),
            *(f"{1e3 * row['median'][how]:.1f}" for how in ("one", "two", "at once")),
            f"{row['speedup']:.2f}x",
            f"{row['possible']:.2f}x",
            f"{row['share']:.2f}",
        ]
        for key, row in rows.items()
        if key.startswith("time")
    ]
    scored = [
        [
            key.removeprefix("NMI, "),
            row["seeds"],
            f"{row['gibbs']:.3f}",
            f"{row['blocked']:.3f}",
            f"{row['difference']:+.4f} ± {row['half']:.4f}",
        ]
        for key, row in rows.items()
        if key.startswith("NMI")
    ]
    head = [
        "corpus",
        "1 thread, ms",
        "2 threads, ms",
        "two at once, ms each",
        "speed-up",
        "possible",
    ]
    return "\n\n".join(
        [
            markdown([*head, "share"], timed),
            markdown(
                ["model, corpus", "seeds", "NMI, gibbs", "NMI, blocked", "difference"], scored
            ),
        ]
    )


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for key, row in rows.items():
        if key.startswith("time"):
            found.append(
                Verdict(
                    f"Blocked on 2 threads, {key.removeprefix('time, ')}",
                    f"{BAR} of what two runs at once reach",
                    f"{row['share']:.2f}",
                    row["share"] >= BAR,
                )
            )
        else:
            found.append(
                Verdict(
                    f"Blocked NMI, {key.removeprefix('NMI, ')}",
                    f"within {WITHIN} of gibbs",
                    f"{row['difference']:+.4f} ± {row['half']:.4f}",
                    row["difference"] >= -WITHIN,
                )
            )
    return found
