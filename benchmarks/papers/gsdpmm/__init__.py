"""GSDPMM (Yin & Wang 2016): Tables III and IV, Figures 2 to 10.

`plan` says what is measured, `judge` what the paper claims, `topics` is Table IV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...harness import copies
from ...harness.copies import how_timed, seconds_line, took
from ...harness.data import LONG, SHORT
from ...harness.drawing import Plot
from ...harness.scored import measure
from ...harness.scores import NMI
from ...harness.seeds import Figure, Seeds, Values
from ...harness.store import Options, Results, Rows
from ...harness.tables import joined, markdown, signed
from . import plan, topics
from .judge import claims as claims
from .plan import ALPHAS, CLASSES, COPIES, DRAWN, KS, OTHERS, OURS, PLACES, SETS, SWEEPS, TIMED

TAKES = plan.NAMES
COUNTS = {"n_clusters": "all", "above_1": "of 2 or more", "above_3": "of 4 or more"}
THREE = {"homogeneity": "homogeneity", "completeness": "completeness", NMI: "NMI"}
PAPER_COLUMN = {"K-means": 1, "LDA": 2, "GSDMM": 3}
FOUND_OF = {"recall": ("share found of the 100", 3), "false_alarms": ("others alone", 1)}
TIMED_ON = {LONG: "LongSet", SHORT[1]: "ShortSet"}
# over an axis: clusters by size in the first figure, three measures in the second
OVER: dict[str, tuple[str, str, str, Sequence[float]]] = {
    "alpha_per_doc": ("5", "6", "alpha / D", ALPHAS),
    "sweep": ("7", "8", "sweep", SWEEPS),
    "beta": ("9", "10", "beta", plan.BETAS),
}


def run(options: Options) -> None:
    """Table III without k-means and LDA, Table IV, outliers, figures, then the slow rest."""
    results = Results("papers/gsdpmm", options)
    names = options.choose(plan.NAMES)
    results.fill(measure, plan.table_3(names, options, (OURS, "GSDMM")))
    if not options.only:
        results.once(topics.KEY, lambda: topics.words(plan.limit_of(options.quick)))
        results.fill(plan.outliers, plan.outlier_tasks(options))
    results.fill(measure, plan.figures(names, options))
    results.fill(measure, plan.convergence(names, options))
    if not options.only:
        copies.run(results, plan.times(options.quick))
    results.fill(measure, plan.table_3(names, options, plan.LDA))
    results.fill(measure, plan.table_3(names, options, ("K-means",)))


def tables(rows: Rows) -> dict[str, str]:
    of, shown = Seeds(rows), (1, 2, 3, 5, 10, 20, 50, 100)
    found = {
        "table_3": _table_3(of),
        "convergence": joined(*(_converging(of, n, shown).table(SETS[n], 3) for n in DRAWN)),
        "steps_runs": of.counted(map(plan.steps_key, DRAWN)),
        "seconds": _seconds(rows),
        "how_timed": how_timed([row for key, row in rows.items() if key.startswith("figure 3")]),
        "outliers": _outliers(of),
        "topics": topics.table(rows),
    }
    for place in PLACES:
        found[f"{place}_runs"] = of.counted(plan.outlier_key(alpha, place) for alpha in ALPHAS)
    for axis, (*_, called, xs) in OVER.items():
        parts = []
        for measures, digits, y in ((COUNTS, 1, "clusters"), (THREE, 3, "score")):
            lines = {
                f"{SETS[name]}, {label}": at
                for name in DRAWN
                for label, at in _over(of, axis, name, measures).items()
            }
            parts.append(Figure(called, xs, lines).table(f"{y} by {called}", digits))
        found[axis] = joined(*parts)
        if axis != "sweep":
            points = [plan.point_key(name, **{axis: x}) for name in DRAWN for x in xs]
            found[f"{axis}_runs"] = of.counted(points)
    return found


def plots(rows: Rows) -> list[Plot]:
    of, found = Seeds(rows), []
    for name, label in [(name, SETS[name]) for name in DRAWN]:
        curves = _converging(of, name, sorted({*SWEEPS, *plan.STEPS}))
        found += curves.plot(f"gsdpmm-figure-2-{label}", f"NMI, {label}", log_x=True)
    for name, label in TIMED_ON.items():
        lines = {s: partial(took, rows, partial(plan.time_key, name, s)) for s in TIMED}
        times = Figure("copies", COPIES, lines)
        found += times.plot(f"gsdpmm-figure-3-{label}", f"seconds, {label}")
    for m, (label, _) in FOUND_OF.items():
        alone = Figure("alpha / D", ALPHAS, {at: partial(_alone, of, at, m) for at in PLACES})
        found += alone.plot(f"gsdpmm-figure-4-{m}", label, log_x=True)
    for axis, (first, second, called, xs) in OVER.items():
        for figure, measures, y in ((first, COUNTS, "clusters"), (second, THREE, "score")):
            for name, label in [(name, SETS[name]) for name in DRAWN]:
                panel = Figure(called, xs, _over(of, axis, name, measures))
                file, log_x = f"gsdpmm-figure-{figure}-{label}", axis == "alpha_per_doc"
                found += panel.plot(file, f"{y}, {label}", log_x)
    return found


def _table_3(of: Seeds) -> str:
    lines, apart = [], []
    for name in (LONG, *SHORT):
        ours = plan.main_key(name)
        for i, k in enumerate(KS[name]):
            cells, gains = [f"{of.cell(ours)} [{plan.PAPER[name][0]:.3f}]"], []
            for system in OTHERS:
                key = plan.main_key(name, system, k)
                paper = plan.PAPER[name][PAPER_COLUMN[system]][i] if system in PAPER_COLUMN else 0
                cells.append(of.cell(key) + (f" [{paper:.3f}]" if paper else ""))
                gains.append(signed(of.gain(ours, key)))
            lines.append([SETS[name], k, *cells])
            apart.append([SETS[name], k, *gains])
    points = {OURS: [plan.main_key(name) for name in SETS]}
    points |= {s: [plan.main_key(name, s, k) for name in SETS for k in KS[name]] for s in OTHERS}
    counted = ", ".join(f"{system} {of.counted(keys)}" for system, keys in points.items())
    return joined(
        markdown(["NMI [paper]", "K", OURS, *OTHERS], lines),
        f"Runs: {counted}.",
        markdown(["GSDPMM minus", "K", *OTHERS], apart),
    )


def _converging(of: Seeds, name: str, xs: Sequence[float]) -> Figure:
    gsdmm, lda = (plan.main_key(name, system, CLASSES[name]) for system in ("GSDMM", "LDA"))
    keys = {OURS: plan.main_key(name), "GSDMM": gsdmm, "K-means": plan.steps_key(name), "LDA": lda}

    def at(key: str, sweep: float) -> Values:
        return of.values((key, sweep))

    return Figure("iteration", xs, {system: partial(at, key) for system, key in keys.items()})


def _seconds(rows: Rows) -> str:
    lines = [
        [called, n, *seconds_line(rows, [plan.time_key(name, s, n) for s in TIMED])]
        for name, called in TIMED_ON.items()
        for n in COPIES
    ]
    return markdown(["set", "copies", "documents", *(f"{system}, s" for system in TIMED)], lines)


def _alone(of: Seeds, place: str, measure: str, alpha: float) -> Values:
    return of.values(plan.outlier_key(alpha, place), measure)


def _outliers(of: Seeds) -> str:
    lines = [
        [called, place, *(of.cell(plan.outlier_key(a, place), name, digits) for a in ALPHAS)]
        for name, (called, digits) in FOUND_OF.items()
        for place in PLACES
    ]
    return markdown(["alpha / D", "place", *(f"{alpha:g}" for alpha in ALPHAS)], lines)


def _over(
    of: Seeds, axis: str, name: str, measures: Mapping[str, str]
) -> dict[str, Callable[[float], Values]]:
    """Lines over alpha, beta, or the sweeps of the runs of Table III."""

    def at(measure: str, x: float) -> Values:
        if axis == "sweep":
            return of.values((plan.main_key(name), x), measure)
        return of.values(plan.point_key(name, **{axis: x}), measure)

    return {label: partial(at, measure) for measure, label in measures.items()}
