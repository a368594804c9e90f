"""Agreement with the true classes over many seeds: coterie, the reference, the papers."""

from __future__ import annotations

from typing import Any

from .data import LONG, SHORT, build
from .scores import difference_in_se, score, summaries
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, mean_sd
from .workers import Worker

TITLE = "Quality"
NOTE = (
    "GSDMM: K=500, alpha = beta = .1, 30 sweeps from a random start. GSDPMM: alpha = .1 D, "
    "beta = .02, 10 sweeps from one cluster. The reference is `reference_gsdmm.py`, a dense "
    "table written from the papers' equations with its own random numbers, over as many seeds. "
    "Mean ± standard deviation over the seeds; the difference is of the means, in standard "
    "errors of that difference (two samplers of one law are more than 2 apart in one comparison "
    "of twenty; with few seeds more often)."
)
SYSTEMS = ("coterie", "reference")
SETTINGS: dict[str, dict[str, Any]] = {
    "GSDMM": dict(n_clusters=500, alpha=0.1, beta=0.1, n_sweeps=30),
    "GSDPMM": dict(n_clusters=None, alpha=None, beta=0.02, n_sweeps=10),
}
GSDMM_BAR = dict(zip(SHORT, (0.87, 0.865, 0.885, 0.92), strict=True))
GSDPMM_PAPER = dict(zip((*SHORT, LONG), (0.875, 0.873, 0.891, 0.912, 0.667), strict=True))
PAPER_WITHIN = 0.02


def run(options: Options) -> dict[str, Row]:
    results = Results("quality", options)
    for model, settings in SETTINGS.items():
        names = SHORT if model == "GSDMM" else (*SHORT, LONG)
        for name in options.choose(names):
            n_seeds = options.times(5 if name == LONG else 20, 3)
            results.add(f"{model}, {name}", _measure(model, name, settings, n_seeds))
    return results.rows


def _measure(model: str, name: str, settings: dict[str, Any], n_seeds: int) -> Row:
    spec = {"name": name}
    classes = build(spec).classes
    runs: dict[str, list[dict[str, float]]] = {system: [] for system in SYSTEMS}
    for system in SYSTEMS:
        with Worker(system) as worker:
            worker.load(spec)
            worker.warm_up(seed=0, **settings)
            for seed in range(n_seeds):
                reply = worker.fit(seed=seed, **settings)
                found = score(classes, reply["labels"])
                runs[system].append(found)
                say(
                    f"{model}, {name}: {system}: seed {seed + 1} of {n_seeds}: geometric NMI "
                    f"{found['nmi_geometric']:.3f}, {found['n_clusters']:.0f} clusters, "
                    f"{reply['seconds']:.2f} s"
                )
    row: Row = {system: summaries(found) for system, found in runs.items()}
    ours, theirs = (row[system] for system in SYSTEMS)
    row["difference_in_se"] = {m: difference_in_se(ours[m], theirs[m]) for m in ours}
    return row


def table(rows: dict[str, Row]) -> str:
    head = ["model, corpus", "seeds", "system", "NMI", "NMI geometric", "ARI", "clusters"]
    lines = []
    for key, row in rows.items():
        for system in SYSTEMS:
            got = row[system]
            cells = [mean_sd(got[m]) for m in ("nmi", "nmi_geometric", "ari")]
            lines.append([key, got["nmi"]["n"], system, *cells, mean_sd(got["n_clusters"], 1)])
        apart = [_in_se(value) for value in row["difference_in_se"].values()]
        lines.append([key, "", "difference in standard errors", *apart])
    return markdown(head, lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for key, row in rows.items():
        model, name = key.split(", ")
        nmi = row["coterie"]["nmi_geometric"]
        shown = f"{nmi['mean']:.4f} (standard error {nmi['se']:.4f})"
        reference = f"reference {row['reference']['nmi_geometric']['mean']:.4f}"
        if model == "GSDMM":
            bar = GSDMM_BAR[name]
            found.append(Verdict(f"{key}: geometric NMI", f"≥ {bar}", shown, nmi["mean"] >= bar))
        else:
            paper = GSDPMM_PAPER[name]
            asked = f"paper {paper}" + ("" if name == LONG else f", within {PAPER_WITHIN}")
            near = None if name == LONG else abs(nmi["mean"] - paper) <= PAPER_WITHIN
            found.append(Verdict(f"{key}: geometric NMI", asked, f"{shown}; {reference}", near))
        apart = [row["difference_in_se"][m] for m in ("nmi", "nmi_geometric")]
        equal = None if None in apart else max(abs(value) for value in apart) <= 2
        asked = "within 2 standard errors" if model == "GSDMM" else "(not asked) within 2"
        measured = " and ".join(_in_se(value) for value in apart)
        found.append(
            Verdict(f"{key}: NMI, geometric NMI less the reference's", asked, measured, equal)
        )
    return found


def _in_se(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"
