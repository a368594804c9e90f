"""Wall time of a second `fit(token_lists)` in one process, side by side with other packages."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import mean, median
from typing import Any

from ..harness.claims import Check, Claim
from ..harness.data import LONG, SHORT, load
from ..harness.scores import ratio, score
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.systems import Fit, gsdmm, topica
from ..harness.tables import markdown, number, spread
from ..harness.workers import Worker, WorkerFailed

FULL = 5
BARS = dict(zip((*SHORT, LONG), (12, 12, 25, 25, 10), strict=True))
SYSTEMS: dict[str, Fit] = {"coterie": gsdmm, "topica": topica}
MEASURES = {"nmi": "NMI", "nmi_geometric": "NMI geometric", "ari": "ARI"}


def run(options: Options) -> Rows:
    results = Results("engine/speed", options)
    for name in options.choose((*SHORT, LONG)):
        results.add(name, _measure(name, options.times(FULL)))
    return results.rows


def _measure(name: str, repeats: int) -> Row:
    classes = load(name).classes
    cap, sweeps = (50, 10) if name == LONG else (500, 30)
    settings: dict[str, Any] = dict(n_clusters=cap, n_sweeps=sweeps, alpha=0.1, beta=0.1)
    runs: dict[str, list[Row]] = {}
    peaks: dict[str, list[float]] = {}
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for system, fit in SYSTEMS.items():
            worker = stack.enter_context(Worker(fit))
            try:
                worker.load(load, name)
                worker.warm_up(seed=0, **settings)
                first = worker.fit(seed=0, **settings)
            except WorkerFailed as problem:
                say(f"{name}: left out: {problem}")
                continue
            workers[system], runs[system], peaks[system] = worker, [], [first["peak_mb"]]
        for turn in range(1, repeats + 1):
            for system, worker in list(workers.items())[:: 1 if turn % 2 else -1]:
                reply = worker.fit(seed=turn, **settings)
                scores = score(classes, reply["labels"])
                runs[system].append({"seconds": reply["seconds"], **scores})
                peaks[system].append(reply["peak_mb"])
                say(f"{name}: {system}: turn {turn} of {repeats}: {reply['seconds']:.3f} s")
    seconds = {system: [run["seconds"] for run in of] for system, of in runs.items()}
    row: Row = {"n_clusters": cap, "n_sweeps": sweeps}
    row["systems"] = {system: _summary(runs[system], peaks[system]) for system in runs}
    row["ratios"] = {s: ratio(seconds["coterie"], of) for s, of in seconds.items()}
    return row


def _summary(runs: list[Row], peaks: list[float]) -> Row:
    seconds = [run["seconds"] for run in runs]
    means = {m: mean(run[m] for run in runs) for m in (*MEASURES, "n_clusters")}
    peak = None if None in peaks else max(peaks)
    return {"seconds": seconds, "median_seconds": median(seconds), "peak_mb": peak, **means}


def table(rows: Rows) -> str:
    lines: list[list[Any]] = []
    for name in [name for name in BARS if name in rows]:
        for system, got in rows[name]["systems"].items():
            of = f"{name}, K={rows[name]['n_clusters']}, {rows[name]['n_sweeps']} sweeps"
            times = spread(rows[name]["ratios"][system]) if system != "coterie" else ""
            scores = [number(got[measure], 3) for measure in MEASURES]
            cells = [f"{got['median_seconds']:.3f}", times, number(got["peak_mb"], 0), *scores]
            lines.append([of, system, *cells, number(got["n_clusters"], 0)])
    head = ["corpus", "system", "seconds", "times coterie's", "peak MB", *MEASURES.values()]
    return markdown([*head, "clusters"], lines)


def claims(rows: Rows) -> list[Claim]:
    checks = []
    for name, bar in BARS.items():
        times = rows.get(name, {}).get("ratios", {}).get("topica")
        shown, met = (spread(times), times["median"] >= bar) if times else ("-", None)
        checks.append(Check(f"{name} (at least {bar}x)", shown, met))
    return [Claim("GSDMM is many times faster than topica", checks)]
