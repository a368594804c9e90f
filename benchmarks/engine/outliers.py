"""GSDPMM V-D: 100 documents of unknown words mixed into 20 Newsgroups; which end up alone?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..harness.claims import Claim, single
from ..harness.data import LONG, OUTLIER, with_outliers
from ..harness.scores import summary
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown, mean_sd
from . import reference

INJECTED = 100
RECALL, FALSE_ALARMS = 0.98, 15


def run(options: Options) -> Rows:
    results = Results("engine/outliers", options)
    for place in ("after", "among"):
        _run(options, results, place)
    return results.rows


def _run(options: Options, results: Results, place: str) -> None:
    corpus = (LONG, INJECTED, place, 2000 if options.quick else None)
    classes = with_outliers(*corpus).classes
    injected = {i for i, label in enumerate(classes) if label == OUTLIER}
    settings: dict[str, Any] = dict(beta=0.02, n_sweeps=5)
    for system in options.choose(("coterie", "reference"), quick=2):
        recall, alarms, agree = [], [], True
        given = (system, "GSDPMM", settings, options.times(5), with_outliers, *corpus)
        for reply in reference.replies(*given):
            sizes = Counter(reply["labels"])
            alone = {i for i, k in enumerate(reply["labels"]) if sizes[k] == 1}
            agree &= set(reply.get("outliers", alone)) == alone
            recall.append(len(alone & injected) / len(injected))
            alarms.append(len(alone - injected))
            say(f"{system}: recall {recall[-1]:.3f}, {alarms[-1]} false alarms")
        row: Row = {"n_docs": len(classes), "outliers_agrees_with_labels": agree}
        row |= {"recall": summary(recall), "false_alarms": summary(alarms)}
        results.add(f"{system}, outliers {place} the others", row)


def table(rows: Rows) -> str:
    lines = []
    for system, row in rows.items():
        agree = "yes" if row["outliers_agrees_with_labels"] else "**no**"
        figures = [mean_sd(row["recall"]), mean_sd(row["false_alarms"], 1)]
        figures.append(agree if system.startswith("coterie") else "")
        lines.append([system, f"{row['n_docs']:,}", row["recall"]["n"], *figures])
    head = ["system", "documents", "seeds", "recall", "false alarms"]
    return markdown([*head, "outliers() agrees with the labels"], lines)


def claims(rows: Rows) -> list[Claim]:
    row = rows.get("coterie, outliers after the others")
    if row is None:
        return []
    recall, alarms = row["recall"]["mean"], row["false_alarms"]["mean"]
    found = f"GSDPMM finds at least {RECALL:.0%} of {INJECTED} injected outliers in {LONG}"
    few = f"GSDPMM has at most {FALSE_ALARMS} false alarms in {LONG}"
    return [
        single(found, f"{recall:.3f}", recall >= RECALL),
        single(few, f"{alarms:.1f}", alarms <= FALSE_ALARMS),
    ]
