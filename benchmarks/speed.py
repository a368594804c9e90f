"""Wall time of a second `fit(token_lists)` in one process, beside the peers."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import mean, median
from typing import Any

from .data import LONG, SHORT, build
from .scores import score
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, number, spread
from .workers import Worker, WorkerFailed

TITLE = "Speed"
NOTE = (
    "Wall time of `fit(token_lists)` in a process that has fitted the same corpus before, "
    "trace on, one thread, same tokens, cap, sweeps and priors (alpha = beta = .1). The "
    "systems take turns, a process each; seconds are medians, the ratio is of medians, in "
    "brackets the lowest and highest ratio of a turn. Peak memory is the highest resident "
    "size during a fit less the size before it. tomotopy (LDA) and bitermplus (BTM, its own "
    "priors) are other models, run with the true number of classes and as many sweeps as the "
    "others, which is fewer than they want."
)
FULL = 5
ASKED = dict(zip((*SHORT, LONG), ((12, 30), (12, 30), (25, 50), (25, 50), (10, 20)), strict=True))


def run(options: Options) -> dict[str, Row]:
    results = Results("speed", options)
    for name in options.choose((*SHORT, LONG)):
        peers = ["topica"]
        if options.all_peers:
            peers += ["tomotopy"] if name == LONG else ["tomotopy", "bitermplus"]
        results.add(name, _measure(name, ["coterie", *peers], options.times(FULL)))
    return results.rows


def _measure(name: str, systems: list[str], repeats: int) -> Row:
    spec = {"name": name}
    classes = build(spec).classes
    cap, sweeps = (50, 10) if name == LONG else (500, 30)
    settings = {
        system: dict(n_clusters=cap, n_sweeps=sweeps, alpha=0.1, beta=0.1)
        | ({} if system in ("coterie", "topica") else {"n_clusters": len(set(classes))})
        for system in systems
    }
    runs: dict[str, list[Row]] = {}
    peaks: dict[str, list[float]] = {}
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for system in systems:
            worker = stack.enter_context(Worker(system))
            try:
                worker.load(spec)
                worker.warm_up(seed=0, **settings[system])
                first = worker.fit(seed=0, **settings[system])
            except WorkerFailed as problem:
                say(f"{name}: left out: {problem}")
                continue
            say(f"{name}: {system}: first fit {first['seconds']:.2f} s")
            workers[system] = worker
            runs[system] = []
            peaks[system] = [first["peak_mb"]]
        for turn in range(1, repeats + 1):
            for system, worker in list(workers.items())[:: 1 if turn % 2 else -1]:
                reply = worker.fit(seed=turn, **settings[system])
                runs[system].append(
                    {"seconds": reply["seconds"], **score(classes, reply["labels"])}
                )
                peaks[system].append(reply["peak_mb"])
                say(f"{name}: {system}: turn {turn} of {repeats}: {reply['seconds']:.3f} s")
    row: Row = {"n_clusters": cap, "n_sweeps": sweeps}
    row["systems"] = {system: _summary(runs[system], peaks[system]) for system in runs}
    row["ratios"] = {
        system: _ratios(runs["coterie"], runs[system]) for system in runs if "coterie" in runs
    }
    return row


def _summary(runs: list[Row], peaks: list[float]) -> Row:
    seconds = [run["seconds"] for run in runs]
    summary: Row = {"seconds": seconds, "median_seconds": median(seconds)}
    summary["peak_mb"] = None if None in peaks else max(peaks)
    for measure in ("nmi", "nmi_geometric", "ari", "n_clusters"):
        summary[measure] = mean(run[measure] for run in runs)
    return summary


def _ratios(ours: list[Row], theirs: list[Row]) -> Row:
    """How many times longer the other takes."""
    turns = [b["seconds"] / a["seconds"] for a, b in zip(ours, theirs, strict=True)]
    medians = [median(run["seconds"] for run in runs) for runs in (ours, theirs)]
    return {"median": medians[1] / medians[0], "low": min(turns), "high": max(turns)}


def table(rows: dict[str, Row]) -> str:
    lines: list[list[Any]] = []
    for name in ASKED:
        for system, got in rows.get(name, {}).get("systems", {}).items():
            ratio = rows[name]["ratios"].get(system, {})
            shown = spread(ratio) if ratio and system != "coterie" else ""
            lines.append(
                [
                    f"{name}, K={rows[name]['n_clusters']}, {rows[name]['n_sweeps']} sweeps",
                    system,
                    f"{got['median_seconds']:.3f}",
                    shown,
                    number(got["peak_mb"], 0),
                    *(number(got[measure], 3) for measure in ("nmi", "nmi_geometric", "ari")),
                    number(got["n_clusters"], 0),
                ]
            )
    head = [
        "corpus",
        "system",
        "seconds",
        "times coterie's",
        "peak MB",
        "NMI",
        "NMI geometric",
        "ARI",
        "clusters",
    ]
    return markdown(head, lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for name, (bar, stretch) in ASKED.items():
        ratio = rows.get(name, {}).get("ratios", {}).get("topica")
        if ratio:
            what = f"speed against topica, {name}"
            asked = f"≥ {bar}x (stretch {stretch}x)"
            found.append(Verdict(what, asked, spread(ratio), ratio["median"] >= bar))
    return found
