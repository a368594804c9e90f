"""Why GSDPMM stays below the paper on the snippets: the start of the chain decides its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness.claims import Claim
from ..harness.data import SHORT, load
from ..harness.scores import score, summaries
from ..harness.store import Options, Results, Rows, say
from ..harness.tables import markdown, mean_sd

NAME = SHORT[2]
CASES: dict[str, dict[str, Any]] = {
    "the paper's setting": {},
    "100 sweeps": {"n_sweeps": 100},
    "start: the true classes": {"init": "classes"},
    "start: 150 random clusters": {"init": 150},
    "start: 500 random clusters": {"init": 500},
    "start: one pass online": {"init": "online"},
    "alpha = D": {"alpha": 1.0},
    "alpha = 10 D": {"alpha": 10.0},
    "beta = .01": {"beta": 0.01},
}


def run(options: Options) -> Rows:
    import coterie

    results = Results("engine/mixing", options)
    corpus = load(NAME)
    classes = np.unique(corpus.classes, return_inverse=True)[1]
    for case in options.choose(tuple(CASES), quick=2):
        settings = dict(CASES[case])
        if settings.get("init") == "classes":
            settings["init"] = classes
        if "alpha" in settings:
            settings["alpha"] *= corpus.n_docs
        runs = []
        for seed in range(options.times(5)):
            model = coterie.GSDPMM(random_state=seed, **settings).fit(corpus.documents)
            last = model.trace_[-1]
            found = score(corpus.classes, model.labels_.tolist())
            runs.append(
                found | {"log_joint": last.log_joint, "above_3": float(last.clusters_above_3)}
            )
        results.add(case, dict(summaries(runs)))
        say(f"{case}: geometric NMI {results.rows[case]['nmi_geometric']['mean']:.3f}")
    return results.rows


def table(rows: Rows) -> str:
    lines = []
    for case, row in rows.items():
        clusters = [mean_sd(row[measure], 1) for measure in ("n_clusters", "above_3")]
        cells = [mean_sd(row["nmi_geometric"]), *clusters, f"{row['log_joint']['mean']:,.0f}"]
        lines.append([case, row["nmi"]["n"], *cells])
    head = ["case", "seeds", "NMI geometric", "clusters", "of more than 3 documents", "log joint"]
    return markdown(head, lines)


def claims(rows: Rows) -> list[Claim]:
    return []
