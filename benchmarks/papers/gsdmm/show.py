"""The tables and figures of the GSDMM paper, measured here."""

from __future__ import annotations

from functools import partial

from ...harness.copies import how_timed, seconds_line, took
from ...harness.data import SHORT
from ...harness.drawing import Plot
from ...harness.scores import NMI
from ...harness.seeds import Series, Values, cell, figure_table, gain, plot, runs, values
from ...harness.store import Rows
from ...harness.tables import joined, markdown, number, signed
from . import plan

SHOWN = (1, 2, 3, 5, 10, 20, 30)
PAPER_CLUSTERS = {1: 300, 2: 160}  # on TweetSet, by sweep
BY_SWEEP = (("3", "n_clusters", "clusters", 1), ("4", NMI, "NMI", 3))
# two figures over each parameter: the clusters found on all sets, three measures on one set
OVER = {
    "n_clusters": ("5", "6", "K", SHORT[3], plan.KS),
    "alpha": ("7", "8", "alpha", "tweet", plan.ALPHAS),
    "beta": ("9", "10", "beta", "tweet", plan.BETAS),
}


def tables(rows: Rows) -> dict[str, str]:
    found = {
        "comparison": _comparison(rows),
        "gains": _gains(rows),
        "sweeps": _sweeps(rows),
        "seconds": _seconds(rows),
        "subset": _subset(rows),
        "how_timed": how_timed([row for key, row in rows.items() if key.startswith("table 3")]),
        "subset_runs": runs(
            rows, [plan.subset_key(name, s) for name in SHORT for s in plan.SHARES]
        ),
    }
    for parameter, (*_, called, measured, xs) in OVER.items():
        counts, alone, three = _over(rows, parameter, measured)
        more = alone if parameter == "alpha" else []
        found[parameter] = joined(
            figure_table(xs, counts + more, f"clusters by {called}", 1),
            figure_table(xs, three, plan.SETS[measured], 3),
        )
        points = [plan.point_key(name, **{parameter: x}) for name in SHORT for x in xs]
        found[f"{parameter}_runs"] = runs(rows, points)
    return found


def plots(rows: Rows) -> list[Plot]:
    found = []
    for figure, measure, called, _ in BY_SWEEP:
        found += plot(
            f"gsdmm-figure-{figure}", "sweep", called, plan.SWEEPS, _by_sweep(rows, measure)
        )
    for parameter, (first, second, called, measured, xs) in OVER.items():
        counts, _, three = _over(rows, parameter, measured)
        found += plot(f"gsdmm-figure-{first}", called, "clusters found", xs, counts)
        found += plot(f"gsdmm-figure-{second}", called, plan.SETS[measured], xs, three)
    lines = [
        Series(system, partial(took, rows, partial(plan.time_key, system))) for system in plan.TIMED
    ]
    return found + plot(
        "gsdmm-table-3", "copies of TitleSet", "seconds", plan.COPIES, lines, log_x=True
    )


def _comparison(rows: Rows) -> str:
    lines = []
    for name, called in plan.SETS.items():
        for system in plan.SYSTEMS:
            key = plan.main_key(name, system)
            found = [cell(rows, key, m) for m in plan.MEASURES]
            n_runs = len(values(rows, key, "ari"))
            lines.append([called, system, n_runs, *found, cell(rows, key, "n_clusters", 1)])
    return markdown(["set", "system", "runs", *plan.MEASURES.values(), "clusters"], lines)


def _gains(rows: Rows) -> str:
    lines = []
    for name, called in plan.SETS.items():
        for system in plan.SYSTEMS[1:]:
            ours, theirs = plan.main_key(name, plan.OURS), plan.main_key(name, system)
            gains = [signed(gain(rows, ours, theirs, m)) for m in plan.MEASURES]
            lines.append([called, system, *gains])
    return markdown(["set", "GSDMM minus", *plan.MEASURES.values()], lines)


def _by_sweep(rows: Rows, measure: str) -> list[Series]:
    keys = {called: plan.main_key(name, plan.OURS) for name, called in plan.SETS.items()}
    return [Series(s, partial(values, rows, key, measure)) for s, key in keys.items()]


def _sweeps(rows: Rows) -> str:
    found = [
        figure_table(SHOWN, _by_sweep(rows, measure), f"{called} after sweep", digits)
        for _, measure, called, digits in BY_SWEEP
    ]
    paper = [f"about {PAPER_CLUSTERS[x]}" if x in PAPER_CLUSTERS else "" for x in SHOWN]
    found[0] += f"\n| paper, TweetSet | 20 | {' | '.join(paper)} |"
    return joined(*found)


def _over(rows: Rows, parameter: str, measured: str) -> tuple[list[Series], ...]:
    """Over one parameter: clusters found, singletons among them, and three measures on one set."""

    def at(name: str, measure: str, x: float) -> Values:
        return values(rows, plan.point_key(name, **{parameter: x}), measure)

    def alone(name: str, x: float) -> Values:
        found, above = at(name, "n_clusters", x), at(name, "above_1", x)
        return {seed: found[seed] - above[seed] for seed in found}

    return (
        [Series(plan.SETS[name], partial(at, name, "n_clusters")) for name in SHORT],
        [Series(f"{plan.SETS[name]}, singletons", partial(alone, name)) for name in SHORT],
        [Series(called, partial(at, measured, m)) for m, called in plan.THREE.items()],
    )


def _seconds(rows: Rows) -> str:
    lines = []
    for n in plan.COPIES:
        line = seconds_line(rows, [plan.time_key(system, n) for system in plan.TIMED])
        ours = rows.get(plan.time_key(plan.OURS, n), {})
        each = ours["seconds"] / ours["n_docs"] / 10 * 1e6 if "seconds" in ours else None
        lines.append([f"T{n}", *line, number(each, 2)])
    head = ["copies", "documents", *plan.TIMED, "GSDMM, µs per document and sweep"]
    return markdown(head, lines)


def _subset(rows: Rows) -> str:
    lines = []
    for name, called in plan.SETS.items():
        cells = []
        for share in plan.SHARES:
            found = gain(rows, plan.subset_key(name, share), plan.main_key(name, plan.OURS))
            mean = cell(rows, plan.subset_key(name, share), NMI)
            cells.append(mean if found is None else f"{mean} [{signed(found)}]")
        lines.append([called, *cells, cell(rows, plan.main_key(name, plan.OURS), NMI)])
    head = ["NMI", *(f"{share:.0%} clustered" for share in plan.SHARES), "all clustered"]
    return markdown(head, lines)
