"""The tables and figures of the GSDPMM paper, measured here, next to its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...harness.copies import how_timed, seconds_line, took
from ...harness.data import LONG, SHORT
from ...harness.drawing import Plot
from ...harness.scores import NMI
from ...harness.seeds import Series, Values, cell, figure_table, gain, plot, runs, values
from ...harness.store import Rows
from ...harness.tables import joined, markdown, signed
from . import plan
from .topics import topics

COUNTS = {"n_clusters": "all", "above_1": "of 2 or more", "above_3": "of 4 or more"}
THREE = {"homogeneity": "homogeneity", "completeness": "completeness", NMI: "NMI"}
PAPER_COLUMN = {"K-means": 1, "LDA": 2, "GSDMM": 3}
FOUND_OF = {"recall": ("share found of the 100", 3), "false_alarms": ("others alone", 1)}
TIMED_ON = {LONG: "LongSet", SHORT[1]: "ShortSet"}
# over an axis: clusters by size in the first figure, three measures in the second
OVER: dict[str, tuple[str, str, str, Sequence[float]]] = {
    "alpha_per_doc": ("5", "6", "alpha / D", plan.ALPHAS),
    "sweep": ("7", "8", "sweep", plan.SWEEPS),
    "beta": ("9", "10", "beta", plan.BETAS),
}


def tables(rows: Rows) -> dict[str, str]:
    timed = [row for key, row in rows.items() if key.startswith("figure 3")]
    found = {
        "table_3": _table_3(rows),
        "convergence": joined(
            *(
                figure_table(
                    (1, 2, 3, 5, 10, 20, 50, 100), _converging(rows, name), plan.SETS[name], 3
                )
                for name in plan.DRAWN
            )
        ),
        "steps_runs": runs(rows, [plan.steps_key(name) for name in plan.DRAWN]),
        "seconds": _seconds(rows),
        "how_timed": how_timed(timed),
        "outliers": _outliers(rows),
        "topics": topics(rows),
    }
    for place in plan.PLACES:
        keys = [plan.outlier_key(alpha, place) for alpha in plan.ALPHAS]
        found[f"{place}_runs"] = runs(rows, keys, "recall")
    for axis, (*_, called, xs) in OVER.items():
        parts = []
        for measures, digits, y in ((COUNTS, 1, "clusters"), (THREE, 3, "score")):
            lines = [
                line._replace(name=f"{plan.SETS[name]}, {line.name}")
                for name in plan.DRAWN
                for line in _over(rows, axis, name, measures)
            ]
            parts.append(figure_table(xs, lines, f"{y} by {called}", digits))
        found[axis] = joined(*parts)
        if axis != "sweep":
            points = [plan.point_key(name, **{axis: x}) for name in plan.DRAWN for x in xs]
            found[f"{axis}_runs"] = runs(rows, points)
    return found


def plots(rows: Rows) -> list[Plot]:
    found = []
    for name in plan.DRAWN:
        steps, file = sorted({*plan.SWEEPS, *plan.STEPS}), f"gsdpmm-figure-2-{plan.SETS[name]}"
        found += plot(
            file, "iteration", f"NMI, {plan.SETS[name]}", steps, _converging(rows, name), True
        )
    for name, called in TIMED_ON.items():
        lines = [
            Series(s, partial(took, rows, partial(plan.time_key, name, s))) for s in plan.TIMED
        ]
        file = f"gsdpmm-figure-3-{called}"
        found += plot(file, "copies", f"seconds, {called}", plan.COPIES, lines)
    for measure, (called, _) in FOUND_OF.items():
        lines = [Series(place, partial(_alone, rows, place, measure)) for place in plan.PLACES]
        found += plot(f"gsdpmm-figure-4-{measure}", "alpha / D", called, plan.ALPHAS, lines, True)
    for axis, (first, second, called, xs) in OVER.items():
        for figure, measures, y in ((first, COUNTS, "clusters"), (second, THREE, "score")):
            for name in plan.DRAWN:
                lines = _over(rows, axis, name, measures)
                file, y_name = (
                    f"gsdpmm-figure-{figure}-{plan.SETS[name]}",
                    f"{y}, {plan.SETS[name]}",
                )
                found += plot(file, called, y_name, xs, lines, axis == "alpha_per_doc")
    return found


def _table_3(rows: Rows) -> str:
    lines, apart = [], []
    for name in (LONG, *SHORT):
        ours = plan.main_key(name, plan.OURS)
        for i, k in enumerate(plan.KS[name]):
            cells = [cell(rows, ours, NMI) + f" [{plan.PAPER[name][0]:.3f}]"]
            for system in plan.OTHERS:
                text = cell(rows, plan.main_key(name, system, k), NMI)
                if system in PAPER_COLUMN:
                    text += f" [{plan.PAPER[name][PAPER_COLUMN[system]][i]:.3f}]"
                cells.append(text)
            gains = [
                signed(gain(rows, ours, plan.main_key(name, system, k))) for system in plan.OTHERS
            ]
            lines.append([plan.SETS[name], k, *cells])
            apart.append([plan.SETS[name], k, *gains])
    points = {plan.OURS: [plan.main_key(name, plan.OURS) for name in plan.SETS]}
    points |= {
        s: [plan.main_key(name, s, k) for name in plan.SETS for k in plan.KS[name]]
        for s in plan.OTHERS
    }
    counted = ", ".join(f"{system} {runs(rows, of)}" for system, of in points.items())
    return joined(
        markdown(["NMI [paper]", "K", plan.OURS, *plan.OTHERS], lines),
        f"Runs: {counted}.",
        markdown(["GSDPMM minus", "K", *plan.OTHERS], apart),
    )


def _converging(rows: Rows, name: str) -> list[Series]:
    keys = {
        plan.OURS: plan.main_key(name, plan.OURS),
        "GSDMM": plan.main_key(name, "GSDMM", plan.CLASSES[name]),
    }
    keys |= {"K-means": plan.steps_key(name), "LDA": plan.main_key(name, "LDA", plan.CLASSES[name])}
    return [Series(s, partial(values, rows, key, NMI)) for s, key in keys.items()]


def _seconds(rows: Rows) -> str:
    lines = [
        [called, n, *seconds_line(rows, [plan.time_key(name, s, n) for s in plan.TIMED])]
        for name, called in TIMED_ON.items()
        for n in plan.COPIES
    ]
    head = ["set", "copies", "documents", *(f"{system}, s" for system in plan.TIMED)]
    return markdown(head, lines)


def _alone(rows: Rows, place: str, measure: str, alpha: float) -> Values:
    return values(rows, plan.outlier_key(alpha, place), measure)


def _outliers(rows: Rows) -> str:
    lines = [
        [
            called,
            place,
            *(cell(rows, plan.outlier_key(alpha, place), name, digits) for alpha in plan.ALPHAS),
        ]
        for name, (called, digits) in FOUND_OF.items()
        for place in plan.PLACES
    ]
    return markdown(["alpha / D", "place", *(f"{alpha:g}" for alpha in plan.ALPHAS)], lines)


def _over(rows: Rows, axis: str, name: str, measures: dict[str, str]) -> list[Series]:
    """Lines over alpha, beta, or the sweeps of the runs of Table III."""

    def at(measure: str, x: float) -> Values:
        if axis == "sweep":
            return values(rows, plan.main_key(name, plan.OURS), measure, x)
        return values(rows, plan.point_key(name, **{axis: x}), measure)

    return [Series(called, partial(at, measure)) for measure, called in measures.items()]
