"""Agreement with the true classes over many seeds: coterie, a plain reference, the papers."""

from __future__ import annotations

from typing import Any

from ..harness.claims import Check, Claim
from ..harness.data import LONG, SHORT, load
from ..harness.scores import difference_in_se, score, summaries
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown, mean_sd
from . import reference

SYSTEMS = ("coterie", "reference")
SETTINGS: dict[str, dict[str, Any]] = {
    "GSDMM": dict(n_clusters=500, alpha=0.1, beta=0.1, n_sweeps=30),
    "GSDPMM": dict(beta=0.02, n_sweeps=10),
}
GSDMM_BAR = dict(zip(SHORT, (0.87, 0.865, 0.885, 0.92), strict=True))
GSDPMM_PAPER = dict(zip((*SHORT, LONG), (0.875, 0.873, 0.891, 0.912, 0.667), strict=True))
PAPER_WITHIN = 0.02
MEASURES = {"nmi": "NMI", "nmi_geometric": "NMI geometric", "ari": "ARI"}


def run(options: Options) -> Rows:
    results = Results("engine/quality", options)
    for model, settings in SETTINGS.items():
        for name in options.choose(SHORT if model == "GSDMM" else (*SHORT, LONG)):
            n_seeds = options.times(5 if name == LONG else 20, 3)
            results.add(f"{model}, {name}", _measure(model, name, settings, n_seeds))
    return results.rows


def _measure(model: str, name: str, settings: dict[str, Any], n_seeds: int) -> Row:
    classes = load(name).classes
    row: Row = {}
    for system in SYSTEMS:
        runs = []
        for reply in reference.replies(system, model, settings, n_seeds, load, name):
            runs.append(score(classes, reply["labels"]))
            nmi = f"geometric NMI {runs[-1]['nmi_geometric']:.3f}"
            say(f"{model}, {name}: {system}: run {len(runs)} of {n_seeds}: {nmi}")
        row[system] = summaries(runs)
    ours, theirs = (row[system] for system in SYSTEMS)
    row["difference_in_se"] = {m: difference_in_se(ours[m], theirs[m]) for m in ours}
    return row


def table(rows: Rows) -> str:
    lines = []
    for key, row in rows.items():
        for system in SYSTEMS:
            got = row[system]
            cells = [mean_sd(got[m]) for m in MEASURES]
            lines.append([key, got["nmi"]["n"], system, *cells, mean_sd(got["n_clusters"], 1)])
        apart = [_in_se(value) for value in row["difference_in_se"].values()]
        lines.append([key, "", "difference in standard errors", *apart])
    head = ["model, corpus", "seeds", "system", *MEASURES.values(), "clusters"]
    return markdown(head, lines)


def claims(rows: Rows) -> list[Claim]:
    finite, process, same = [], [], []
    for key, row in rows.items():
        model, name = key.split(", ")
        nmi, other = (row[system]["nmi_geometric"] for system in SYSTEMS)
        shown = f"{nmi['mean']:.4f} (standard error {nmi['se']:.4f})"
        if model == "GSDMM":
            bar = GSDMM_BAR[name]
            finite.append(Check(f"{name} (at least {bar})", shown, nmi["mean"] >= bar))
        elif name != LONG:
            paper = GSDPMM_PAPER[name]
            near = abs(nmi["mean"] - paper) <= PAPER_WITHIN
            shown += f", reference {other['mean']:.4f}"
            process.append(Check(f"{name} (paper {paper})", shown, near))
        apart = [row["difference_in_se"][m] for m in ("nmi", "nmi_geometric")]
        met = None if None in apart else max(abs(value) for value in apart) <= 2
        same.append(Check(key, " and ".join(map(_in_se, apart)), met))
    why = "The reference is as far below: see “Where a GSDPMM chain ends”, below."
    return [
        Claim("GSDMM reaches the geometric NMI asked for", finite),
        Claim(f"GSDPMM's geometric NMI is within {PAPER_WITHIN} of the paper's", process, why=why),
        Claim("NMI and geometric NMI are within 2 standard errors of the reference's", same),
    ]


def _in_se(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"
