"""GPU-DMM (Li et al. 2016): related words by their vectors. Tables 3, 5 and 6, Figures 2 and 4.

`measure` runs it; `btm` is the biterm topic model as the paper uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from ...harness.claims import Check, Claim, Gains, wins
from ...harness.data import REFERENCE
from ...harness.drawing import Plot
from ...harness.pages import numbers
from ...harness.scores import paired
from ...harness.seeds import Figure, Seeds, Values, difference
from ...harness.store import Options, Rows
from ...harness.tables import counted, markdown, signed, spread
from . import measure
from .measure import CURVE, FITS, MODELS, PROMOTIONS, QUICK, SIZES, TIMES, TOP, promoted

TAKES = (*FITS, *TIMES, CURVE)
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


# ---------------------------------------------------------------- tables and plots
def tables(rows: Rows) -> dict[str, str]:
    of = Seeds(rows)
    there = [key for key in FITS if of.runs(key)]
    points = [p for p in PROMOTIONS if of.runs(promoted(p))]
    lines = [[p, of.cell(promoted(p), "sw"), PAPER_CURVE.get(str(p), "")] for p in points]
    coherence = [[_called(key), *(of.cell(key, m) for m in PMI)] for key in there]
    return {
        "runs": of.counted(there),
        "reference": ", ".join(REFERENCE),
        "accuracy": _accuracy(of, there),
        "differences": _differences(of, there),
        "coherence": markdown(["model", *PMI.values()], coherence),
        "relations": _relations(of, there),
        "seconds": _seconds(rows),
        "promotion": markdown(["promotion", "accuracy, SW", "paper"], lines),
        "promotion_runs": of.counted(map(promoted, points)),
        "promotion_sweeps": str(measure.PROMOTION_SWEEPS),
    }


def _accuracy(of: Seeds, keys: Sequence[str]) -> str:
    lines = []
    for key in keys:
        name, k = _parts(key)
        paper = {m: of[SIZES.index(k)] for m, of in PAPER_ACCURACY.get(name, {}).items()}
        nb, sw, linear = (of.cell(key, m) for m in ACCURACY)
        cells = [nb, paper.get("nb", ""), sw, paper.get("sw", ""), linear]
        lines.append([_called(key), len(of.runs(key)), *cells])
    return markdown(["model", "runs", "NB", "paper", "SW", "paper", "SW, LinearSVC"], lines)


def _differences(of: Seeds, keys: Sequence[str]) -> str:
    lines = []
    for key in [key for key in keys if not key.startswith("DMM")]:
        name, k = _parts(key)
        measures = ("sw", "sw_linear_svc", "nb", *PMI)
        cells = [signed(of.gain(key, f"DMM K={k}", m), 4) for m in measures]
        shown = ""
        if name in PAPER_ACCURACY:
            theirs, dmm = (PAPER_ACCURACY[n]["sw"][SIZES.index(k)] for n in (name, "DMM"))
            shown = f"{theirs - dmm:+.4f}"
        lines.append([_called(key), cells[0], shown, *cells[1:]])
    head = ["minus DMM", "SW", "paper", "SW, LinearSVC", "NB", *PMI.values()]
    return markdown(head, lines)


def _relations(of: Seeds, keys: Sequence[str]) -> str:
    lines = []
    for key in keys:
        for row in [row for row in of.runs(key).values() if "n_pairs" in row][-1:]:
            counts = [f"{row[name]:,}" for name in ("n_vectors", "n_dropped", "n_pairs")]
            lines.append([_called(key), *counts, f"{row['promoting']:.0%}"])
    head = ["vectors", "words with a vector", "with too many related words", "related pairs"]
    return markdown([*head, "words promoting"], lines)


def _seconds(rows: Rows) -> str:
    lines = []
    for at, (key, k) in enumerate(zip(TIMES, SIZES, strict=True)):
        found = {n: of["all"] for n, of in rows.get(key, {}).get("seconds", {}).items()}
        if btm := Seeds(rows).values(f"BTM K={k}", "seconds"):
            found["BTM"] = list(btm.values())
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
    of = Seeds(rows)

    def at(name: str, measure: str, k: float) -> Values:
        return of.values(f"{name} K={k:g}", measure)

    found = []
    for n in TOP:
        lines = {called: partial(at, name, f"pmi_{n}") for name, called in CALLED.items()}
        figure = Figure("number of topics (K)", SIZES, lines)
        found += figure.plot(f"gpudmm-figure-2-top-{n}", f"PMI, top {n}")
    curve = {"K = 40": lambda promotion: of.values(promoted(promotion), "sw")}
    return found + Figure("promotion", PROMOTIONS, curve).plot("gpudmm-figure-4", "accuracy")


# ---------------------------------------------------------------- claims
def claims(rows: Rows) -> list[Claim]:
    of = Seeds(rows)

    def less(theirs: str, measures: Sequence[str], ours: str = "word2vec") -> Gains:
        return {
            f"K={k}, {NAMED[m]}": of.gain(f"{ours} K={k}", f"{theirs} K={k}", m)
            for k in SIZES
            for m in measures
        }

    soft = {
        f"{called}, K={k}": difference(*(of.values(f"{name} K={k}", m) for m in ("sw", "nb")))
        for name, called in CALLED.items()
        for k in SIZES
    }
    above = {str(p): of.gain(promoted(p), promoted(0.0), "sw") for p in PROMOTIONS[1:]}
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
        wins("Any promotion above zero beats DMM (Figure 4)", above),
        _cost(rows),
    ]


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
