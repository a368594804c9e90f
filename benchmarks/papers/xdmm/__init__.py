"""X-DMM (Li et al. 2019): an index, Metropolis-Hastings and parallel sampling.

`measure` runs it with `chains`, `tables` shows the rows, `claims` holds the paper against them."""

from __future__ import annotations

from math import exp

from ...harness.drawing import Plot, Points
from ...harness.pages import Paper
from ...harness.store import Rows
from ...harness.tables import counted, joined
from . import claims, measure
from . import tables as of
from .tables import BLOCKED, CALLED, FREQUENCY, GIBBS, LEVELS, MEAN, MH, SPAN, by_cell, of_section


def _tables(rows: Rows) -> dict[str, str]:
    cells = by_cell(rows)
    threads = of_section(rows, "threads").values()
    priors = [cell for cell in cells.values() if FREQUENCY in cell]
    return {
        "margin": str(claims.MARGIN),
        "index": of.index_table(rows),
        "clusters": of.clusters_table(rows),
        "nmi": joined(of.nmi_table(rows), _parallel(rows), of.online_table(rows)),
        "nmi_runs": counted(len(runs) for cell in cells.values() for runs in cell.values()),
        "levels": of.levels_table(rows),
        "level_names": ", ".join(f"{level:g}" for level in LEVELS),
        "threads": of.threads_table(rows),
        "turns": counted((len(row["seconds"]["1"]) for row in threads), "turn"),
        "prior": of.prior_table(rows),
        "prior_runs": counted(len(cell[GIBBS].keys() & cell[FREQUENCY]) for cell in priors),
        "settled": of.settled_table(rows),
        "course": of.course_table(rows),
    }


def _parallel(rows: Rows) -> str:
    """What Table 5 has of the parallel samplers on 20ng, in a sentence."""
    cell = by_cell(rows).get(("20ng", 2), {})
    found = of.means({name: runs for name, runs in cell.items() if name in (GIBBS, MEAN, BLOCKED)})
    shown = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
    says = f"Algorithm 3 from a random start, 20ng at twice the number of classes: {shown}."
    return says if MEAN in found else ""


def _plots(rows: Rows) -> list[Plot]:
    found = []
    if row := rows.get(f"perplexity, {SPAN}, 0"):
        lines: dict[str, Points] = {}
        for label in (GIBBS, MH):
            series = row["chains"][label]["series"]
            lines[CALLED[label]] = list(zip(series["seconds"], series["nmi"], strict=True))
        found.append(Plot("xdmm-figure-2", "seconds", "geometric NMI", lines, log_x=True))
    rates: dict[str, Points] = {
        key.removeprefix("threads, "): [
            (float(n), len(seconds) / sum(seconds)) for n, seconds in row["seconds"].items()
        ]
        for key, row in of_section(rows, "threads").items()
    }
    if rates:
        found.append(Plot("xdmm-figure-3", "threads", "sweeps per second", rates))
    if row := rows.get(f"index, {SPAN}"):
        series = row["series"]
        curves = {
            "perplexity": [exp(-value) for value in series["likelihood"]],
            "NMI": series["nmi"],
        }
        for y, values in curves.items():
            line = {GIBBS: list(zip(series["sweep"], values, strict=True))}
            found.append(Plot(f"xdmm-figure-6-{y.lower()}", "sweep", y, line))
    return found


PAPER = Paper(
    title="X-DMM",
    citation="Linwei Li, Liangchen Guo, Zhenying He, Yinan Jing, X. Sean Wang. X-DMM: Fast and "
    "Scalable Model Based Text Clustering. AAAI 2019.",
    picture="xdmm-figure-2",
    files=("papers/xdmm",),
    takes=measure.SECTIONS,
    run=measure.run,
    tables=_tables,
    plots=_plots,
    claims=claims.claims,
)
