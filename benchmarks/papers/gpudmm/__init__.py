"""GPU-DMM (Li et al. 2016): related words by their vectors. Tables 3, 5 and 6, Figures 2 and 4.

`measure` runs it; `btm` is the biterm topic model as the paper uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median
from typing import Any

from ...harness.claims import Check, Claim, Gains, wins
from ...harness.data import REFERENCE
from ...harness.drawing import Plot
from ...harness.pages import Paper, numbers
from ...harness.scores import Interval, interval, paired, summaries
from ...harness.store import Options, Rows, values
from ...harness.tables import counted, markdown, mean_sd, signed, spread
from . import measure
from .measure import CURVE, FITS, MODELS, PROMOTIONS, QUICK, SIZES, TIMES, TOP, runs_at

CALLED = {"BTM": "BTM", "DMM": "DMM", "word2vec": "GPU-DMM"}  # the paper's models
ACCURACY = {"nb": "NB", "sw": "SW", "sw_linear_svc": "SW, LinearSVC"}
PMI = {f"pmi_{n}": f"PMI, {n} words" for n in TOP}
NAMED = {**ACCURACY, **{f"pmi_{n}": f"{n} words" for n in TOP}}
_paper = numbers(__file__)
PAPER_ACCURACY, PAPER_SECONDS = _paper["accuracy"], _paper["seconds"]
PAPER_CURVE = _paper["promotion"]
CHEAP = 3.0  # "less than 3 times of DMM"


def run(options: Options) -> None:
    """The paper's models; `--only` may name those with other vectors."""
    ours = tuple(key for key in FITS if _parts(key)[0] in CALLED)
    ours = QUICK if options.quick else (*ours, *TIMES, CURVE)
    measure.run(options if options.only else replace(options, only=ours))


def _parts(key: str) -> tuple[str, int]:
    name, _, k = key.rpartition(" K=")
    return name, int(k)


def _called(key: str) -> str:
    """How the tables name a row: `word2vec K=40` is GPU-DMM with these vectors."""
    name, k = _parts(key)
    return f"{f'GPU-DMM ({name})' if MODELS[name].vectors else name}, K={k}"


def gain(rows: Rows, ours: tuple[str, str], theirs: tuple[str, str]) -> Interval | None:
    """The mean difference of two (row, measure) over their runs; None if a row is missing."""
    if ours[0] not in rows or theirs[0] not in rows:
        return None
    pairs = zip(rows[ours[0]]["runs"], rows[theirs[0]]["runs"], strict=False)
    return interval([a[ours[1]] - b[theirs[1]] for a, b in pairs])


# ---------------------------------------------------------------- tables and plots
def tables(rows: Rows) -> dict[str, str]:
    curve = values(rows.get(CURVE, {}))
    lines = [[p, mean_sd(of), PAPER_CURVE.get(p, "")] for p, of in curve.items()]
    return {
        "runs": counted(len(rows[key]["runs"]) for key in FITS if key in rows),
        "reference": ", ".join(REFERENCE),
        "accuracy": _accuracy(rows),
        "differences": _differences(rows),
        "coherence": _coherence(rows),
        "relations": _relations(rows),
        "seconds": _seconds(rows),
        "promotion": markdown(["promotion", "accuracy, SW", "paper"], lines),
        "promotion_runs": counted(int(of["n"]) for of in curve.values()),
        "promotion_sweeps": str(measure.PROMOTION_SWEEPS),
    }


def _accuracy(rows: Rows) -> str:
    lines = []
    for key in [key for key in FITS if key in rows]:
        (name, k), got = _parts(key), summaries(rows[key]["runs"])
        paper = {m: of[SIZES.index(k)] for m, of in PAPER_ACCURACY.get(name, {}).items()}
        cells = [mean_sd(got["nb"]), paper.get("nb", ""), mean_sd(got["sw"]), paper.get("sw", "")]
        lines.append([_called(key), got["sw"]["n"], *cells, mean_sd(got["sw_linear_svc"])])
    return markdown(["model", "runs", "NB", "paper", "SW", "paper", "SW, LinearSVC"], lines)


def _differences(rows: Rows) -> str:
    measures = ("sw", "sw_linear_svc", "nb", *PMI)
    lines = []
    for key in [key for key in FITS if key in rows and not key.startswith("DMM")]:
        name, k = _parts(key)
        dmm = f"DMM K={k}"
        cells = [signed(gain(rows, (key, m), (dmm, m)), 4) for m in measures]
        at = SIZES.index(k)
        paper = (
            PAPER_ACCURACY[name]["sw"][at] - PAPER_ACCURACY["DMM"]["sw"][at]
            if name in PAPER_ACCURACY
            else None
        )
        shown = "" if paper is None else f"{paper:+.4f}"
        lines.append([_called(key), cells[0], shown, *cells[1:]])
    head = ["minus DMM", "SW", "paper", "SW, LinearSVC", "NB", *PMI.values()]
    return markdown(head, lines)


def _coherence(rows: Rows) -> str:
    lines = []
    for key in [key for key in FITS if key in rows]:
        got = summaries(rows[key]["runs"])
        lines.append([_called(key), *(mean_sd(got[measure]) for measure in PMI)])
    return markdown(["model", *PMI.values()], lines)


def _relations(rows: Rows) -> str:
    lines = []
    for key in [key for key in FITS if "n_pairs" in rows.get(key, {})]:
        counts = [f"{rows[key][name]:,}" for name in ("n_vectors", "n_dropped", "n_pairs")]
        lines.append([_called(key), *counts, f"{rows[key]['promoting']:.0%}"])
    head = ["vectors", "words with a vector", "with too many related words", "related pairs"]
    return markdown([*head, "words promoting"], lines)


def _seconds(rows: Rows) -> str:
    lines = []
    for at, (key, k) in enumerate(zip(TIMES, SIZES, strict=True)):
        found = {n: of["all"] for n, of in rows.get(key, {}).get("seconds", {}).items()}
        if f"BTM K={k}" in rows:
            found["BTM"] = [run["seconds"] for run in rows[f"BTM K={k}"]["runs"]]
        for name, took in found.items():
            ratio = rows.get(key, {}).get("ratios", {}).get(name)
            shown = [spread(ratio[part], 2) if ratio else "" for part in ("all", "last")]
            paper = ""
            if name in PAPER_SECONDS:
                paper = f"{1000 * PAPER_SECONDS[name][at]:.0f} ms"
                if name != "DMM":
                    paper += f", {PAPER_SECONDS[name][at] / PAPER_SECONDS['DMM'][at]:.2f}x"
            lines.append([_called(f"{name} K={k}"), f"{1000 * median(took):.1f}", *shown, paper])
    last = f"last {measure.LAST} of {measure.TIMED_SWEEPS} sweeps"
    return markdown(["model", "ms per sweep", "times DMM's", last, "paper"], lines)


def plots(rows: Rows) -> list[Plot]:
    found = []
    for n in TOP:
        lines: dict[str, list[tuple[float, float]]] = {}
        for name, called in CALLED.items():
            of = {k: rows[f"{name} K={k}"]["runs"] for k in SIZES if f"{name} K={k}" in rows}
            points = [(float(k), mean(run[f"pmi_{n}"] for run in runs)) for k, runs in of.items()]
            if points:
                lines[called] = points
        if lines:
            name = f"gpudmm-figure-2-top-{n}"
            found.append(Plot(name, "number of topics (K)", f"PMI, top {n}", lines))
    curve = values(rows.get(CURVE, {}))
    if curve:
        points = [(float(promotion), of["mean"]) for promotion, of in curve.items()]
        found.append(Plot("gpudmm-figure-4", "promotion", "accuracy", {"K = 40": points}))
    return found


# ---------------------------------------------------------------- claims
def claims(rows: Rows) -> list[Claim]:
    def less(theirs: str, measures: Sequence[str], ours: str = "word2vec") -> Gains:
        return {
            f"K={k}, {NAMED[m]}": gain(rows, (f"{ours} K={k}", m), (f"{theirs} K={k}", m))
            for k in SIZES
            for m in measures
        }

    soft = {
        f"{called}, K={k}": gain(rows, (f"{name} K={k}", "sw"), (f"{name} K={k}", "nb"))
        for name, called in CALLED.items()
        for k in SIZES
    }
    few = "BTM has three runs here, so that the interval is wide."
    return [
        wins("GPU-DMM beats DMM in coherence (Figure 2)", less("DMM", tuple(PMI))),
        wins("GPU-DMM beats BTM in coherence (Figure 2)", less("BTM", tuple(PMI))),
        wins("BTM beats DMM in coherence (Figure 2)", less("DMM", tuple(PMI), ours="BTM"), few),
        wins("GPU-DMM beats DMM in accuracy (Table 5)", less("DMM", ("sw",))),
        wins("GPU-DMM beats BTM in accuracy (Table 5)", less("BTM", ("sw",))),
        wins("DMM beats BTM in accuracy (Table 5)", less("BTM", ("sw",), ours="DMM")),
        wins("GPU-DMM beats DMM with NB too (Table 3)", less("DMM", ("nb",))),
        wins("SW beats NB in accuracy (Table 3)", soft),
        wins("Any promotion above zero beats DMM (Figure 4)", _over_none(rows.get(CURVE, {}))),
        _cost(rows),
    ]


def _over_none(curve: dict[str, Any]) -> Gains:
    """What each promotion above zero gains over none (which is DMM), over the runs."""
    found: dict[str, Interval | None] = {}
    for at in PROMOTIONS[1:]:
        pairs = list(zip(runs_at(curve, at), runs_at(curve, 0.0), strict=False))
        found[str(at)] = interval([a - b for a, b in pairs]) if pairs else None
    return found


def _cost(rows: Rows) -> Claim:
    checks, turns = [], []
    for key, k in zip(TIMES, SIZES, strict=True):
        seconds = rows.get(key, {}).get("seconds", {})
        if "word2vec" not in seconds:
            checks.append(Check(f"K={k}", "-", None))
            continue
        both = zip(*(seconds[name]["all"] for name in ("DMM", "word2vec")), strict=True)
        ratios = [b / a for a, b in both]
        spare = paired([CHEAP] * len(ratios), ratios)
        turns.append(spare.n)
        shown = f"{CHEAP - spare.mean:.2f}x ({CHEAP - spare.high:.2f} to {CHEAP - spare.low:.2f})"
        checks.append(Check(f"K={k}", shown, spare.above_zero, spare.low))
    says = f"A sweep of GPU-DMM takes less than {CHEAP:g} times DMM's (Table 6, Snippet)"
    return Claim(says, checks, counted(turns, "turn") if turns else "")


PAPER = Paper(
    title="GPU-DMM",
    citation="Chenliang Li, Haoran Wang, Zhiqian Zhang, Aixin Sun, Zongyang Ma. Topic Modeling for "
    "Short Texts with Auxiliary Word Embeddings. SIGIR 2016.",
    picture="gpudmm-figure-4",
    files=("papers/gpudmm",),
    takes=(*FITS, *TIMES, CURVE),
    run=run,
    tables=tables,
    plots=plots,
    claims=claims,
)
