"""GPU-DMM: related words by their vectors. Tables 3, 5 and 6, Figures 2 and 4 and what they claim."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean, median
from typing import Any

from .. import gpudmm
from ..data import REFERENCE
from ..gpudmm import CURVE, FITS, PAPER, PAPER_SECONDS, QUICK, SIZES, TIMES, TOP, gain, less_none
from ..scores import paired, summaries
from ..store import Options, Row
from ..tables import markdown, mean_sd, signed
from .kit import Claim, Part, Plot, Quoted, wins

TITLE = "GPU-DMM"
CITATION = (
    "Chenliang Li, Haoran Wang, Zhiqian Zhang, Aixin Sun, Zongyang Ma: Topic Modeling for Short "
    "Texts with Auxiliary Word Embeddings. SIGIR 2016."
)
FILES = ("gpudmm",)
CALLED = {"BTM": "BTM", "DMM": "DMM", "word2vec": "GPU-DMM"}
QUOTED_ACCURACY = {"SATM": (0.8284, 0.8231, 0.8235), "LF-DMM": (0.7414, 0.7409, 0.7462)}
QUOTED_SECONDS = {"SATM": (0.392, 0.451, 0.478), "LF-DMM": (5.209, 7.234, 9.702)}
PAPER_CURVE = {"0.0": 0.8298, "0.3": 0.8602}  # Table 5's DMM, and the one point that is named
NAMED = {"sw": "SW", **{f"pmi_{n}": f"{n} words" for n in TOP}}
CHEAP = 3.0  # "less than 3 times of DMM"
SETTINGS = (
    "Paper: Snippet (12,265 texts, 5,581 words, 10.72 each), alpha = 50/K, beta = .01, 1,000 sweeps, "
    "mean of 5 runs, promotion .3, threshold .5, at most 20 related words, word2vec of Google News. "
    "Ours: the same on 12,335 texts, 7,382 words, 10.99 each (the paper's recipe on the file at hand); "
    "vectors of the same source, pruned to 26,423 words."
)
AS_BEFORE = "Settings as in Table 3"
QUOTED = (
    Quoted(
        "BaiduQA: Tables 5 and 6, Figures 3 and 4",
        "accuracy of GPU-DMM .5439, .5637, .5708; of DMM .5228, .5476, .5532",
        "the corpus and the vectors trained for it are not here",
    ),
    Quoted("SATM: Tables 5 and 6", ".8284, .8231, .8235", "no maintained package offers it"),
    Quoted("LF-DMM: Tables 5 and 6", ".7414, .7409, .7462", "no maintained package offers it"),
    Quoted(
        "Figure 2: its values", "bars without numbers", "drawn, not printed; the order is stated"
    ),
)
FOUND = (
    "The gain over DMM is there at each K, half of the paper's or more; the level of accuracy is .02 to "
    ".05 below the paper's for both models, on a vocabulary a third larger. Coherence is "
    f"counted in {', '.join(REFERENCE)} together, where the paper has 3 million articles of Wikipedia: "
    "the order compares, the values do not."
)


def run(options: Options) -> dict[str, Row]:
    """The paper's models only: the other vectors are a matter of the general report."""
    names = tuple(key for key in FITS if key.rsplit(" K=", 1)[0] in CALLED)
    ours = QUICK if options.quick else (*names, *TIMES, CURVE)
    return gpudmm.run(options if options.only else replace(options, only=ours))


def parts(rows: dict[str, Row]) -> list[Part]:
    found = []
    if any(key in rows for key in FITS):
        svm = 'Accuracy of `SVC(kernel="linear")`, defaults, 5 stratified folds.'
        title = "Table 3. Accuracy by representation: naive Bayes and sum over words"
        found.append(Part(title, f"{SETTINGS} {svm}", _by_method(rows)))
        title = "Table 5. Accuracy by model"
        found.append(Part(title, f"{AS_BEFORE}, with SW.", _by_model(rows)))
        found.append(_figure_2(rows))
    if any(key in rows for key in TIMES):
        body = _seconds(rows)
        title = "Table 6. Seconds a sweep"
        how = (
            "Paper: Java, its machine. Ours: one thread. DMM and GPU-DMM take turns: the median over "
            "sweeps, of it the median over turns. BTM is Cython, timed apart: all sweeps of a run over "
            "their number, of it the median over runs."
        )
        found.append(Part(title, how, body))
    if CURVE in rows:
        found.append(_figure_4(rows[CURVE]))
    return found


def _by_method(rows: dict[str, Row]) -> str:
    lines = []
    for name, called in CALLED.items():
        for method in ("nb", "sw"):
            cells = [_beside(rows, name, k, method) for k in SIZES]
            lines.append([called, method.upper(), *cells])
    return markdown(["model", "method", *(f"K={k} (paper)" for k in SIZES)], lines)


def _by_model(rows: dict[str, Row]) -> str:
    lines = [
        [called, *(_beside(rows, name, k, "sw") for k in SIZES)] for name, called in CALLED.items()
    ]
    lines += [[name, *(f"- ({v:.4f})" for v in of)] for name, of in QUOTED_ACCURACY.items()]
    return markdown(["model", *(f"K={k} (paper)" for k in SIZES)], lines)


def _beside(rows: dict[str, Row], name: str, k: int, measure: str) -> str:
    paper = f"({PAPER[name][measure][SIZES.index(k)]:.4f})"
    row = rows.get(f"{name} K={k}")
    return f"{mean_sd(summaries(row['runs'])[measure])} {paper}" if row else f"- {paper}"


def _figure_2(rows: dict[str, Row]) -> Part:
    lines, plots = [], []
    for n in TOP:
        drawn: dict[str, list[tuple[float, float]]] = {}
        for name, called in CALLED.items():
            runs = {k: rows[f"{name} K={k}"]["runs"] for k in SIZES if f"{name} K={k}" in rows}
            points = [(float(k), mean(run[f"pmi_{n}"] for run in of)) for k, of in runs.items()]
            cells = {k: mean_sd(summaries(of)[f"pmi_{n}"]) for k, of in runs.items()}
            lines.append([n, called, *(cells.get(k, "-") for k in SIZES)])
            if points:
                drawn[called] = points
        plots.append(
            Plot(f"gpudmm-figure-2-top-{n}", "number of topics (K)", f"PMI, top {n}", drawn)
        )
    settings = (
        f"{AS_BEFORE}. PMI of the first 5, 10, 20 words, averaged over topics (Eq. 9), counted by document "
        f"in a reference. Paper: 3 million articles of Wikipedia. Ours: {', '.join(REFERENCE)} together; "
        "a pair never seen together counts 0. The paper's bars: GPU-DMM first everywhere, BTM mostly "
        "second."
    )
    table = markdown(["words", "model", *(f"K={k}" for k in SIZES)], lines)
    return Part("Figure 2. Topic coherence", settings, table, tuple(plots))


def _figure_4(row: Row) -> Part:
    points = [(float(promotion), of["mean"]) for promotion, of in row.items()]
    plot = Plot("gpudmm-figure-4", "promotion", "accuracy", {"K = 40": points})
    head = ["promotion", "accuracy", "paper"]
    lines = [[p, mean_sd(of), PAPER_CURVE.get(p, "")] for p, of in row.items()]
    settings = (
        f"{AS_BEFORE}, with SW, K = 40. Ours: {gpudmm.PROMOTION_RUNS} runs of "
        f"{gpudmm.PROMOTION_SWEEPS} sweeps."
    )
    title = "Figure 4. Accuracy over the promotion"
    return Part(title, settings, markdown(head, lines), (plot,))


def _seconds(rows: dict[str, Row]) -> str:
    lines = []
    for name, called in CALLED.items():
        cells = [
            f"{_sweep(rows, name, k)} ({PAPER_SECONDS[name][i]:g})" for i, k in enumerate(SIZES)
        ]
        lines.append([called, *cells])
    lines += [[name, *(f"- ({v:g})" for v in of)] for name, of in QUOTED_SECONDS.items()]
    return markdown(["model", *(f"K={k} (paper)" for k in SIZES)], lines)


def _sweep(rows: dict[str, Row], name: str, k: int) -> str:
    if name == "BTM":
        runs = rows.get(f"BTM K={k}", {}).get("runs", [])
        return f"{median(run['seconds'] for run in runs):.3f}" if runs else "-"
    found = rows.get(f"sweep time K={k}", {}).get("seconds", {}).get(name)
    return f"{median(found['all']):.4f}" if found else "-"


def claims(rows: dict[str, Row]) -> list[Claim]:
    def less(theirs: str, measures: tuple[str, ...]) -> dict[str, Any]:
        return {
            f"K={k}, {NAMED[measure]}": gain(
                rows, (f"word2vec K={k}", measure), (f"{theirs} K={k}", measure)
            )
            for k in SIZES
            for measure in measures
        }

    pmi = tuple(f"pmi_{n}" for n in TOP)
    soft = {
        f"{called}, K={k}": gain(rows, (f"{name} K={k}", "sw"), (f"{name} K={k}", "nb"))
        for name, called in CALLED.items()
        for k in SIZES
    }
    return [
        wins("GPU-DMM beats DMM in coherence (Figure 2)", less("DMM", pmi)),
        wins("GPU-DMM beats BTM in coherence (Figure 2)", less("BTM", pmi)),
        wins("GPU-DMM beats DMM in accuracy (Table 5)", less("DMM", ("sw",))),
        wins("GPU-DMM beats BTM in accuracy (Table 5)", less("BTM", ("sw",))),
        wins("SW beats NB in accuracy (Table 3)", soft),
        wins("Any promotion above zero beats DMM (Figure 4)", less_none(rows.get(CURVE, {}))),
        _cost(rows),
    ]


def _cost(rows: dict[str, Row]) -> Claim:
    says = f"A sweep of GPU-DMM takes less than {CHEAP:g} times DMM's (Table 6)"
    spare = {}
    for key in TIMES:
        seconds = rows.get(key, {}).get("seconds", {})
        if "word2vec" in seconds:
            ratios = [
                b / a
                for a, b in zip(*(seconds[n]["all"] for n in ("DMM", "word2vec")), strict=True)
            ]
            spare[key.removeprefix("sweep time ")] = paired([CHEAP] * len(ratios), ratios)
    if not spare:
        return Claim(says, "not measured yet", None)
    shown = "; ".join(
        f"{k} {CHEAP - found.mean:.2f}x, spare {signed(found, 2)}" for k, found in spare.items()
    )
    return Claim(says, shown, all(found.above_zero for found in spare.values()))
