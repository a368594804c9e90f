"""GSDPMM V-D: 100 documents of unknown words mixed into 20 Newsgroups; who ends up alone?"""

from __future__ import annotations

from collections import Counter

from .data import LONG, OUTLIER, build
from .scores import summary
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, mean_sd
from .workers import Worker

TITLE = "Outliers"
NOTE = (
    "20ng_tokens and 100 documents of 138 words each that occur nowhere else, after or among "
    "the others; documents under 6 distinct words set aside before the fit; GSDPMM, alpha = .1 D,"
    " beta = .02, 5 sweeps from one cluster. Found: a document alone in its cluster. False "
    "alarm: such a document that was not injected."
)
INJECTED = 100
RECALL, FALSE_ALARMS = 0.98, 15


def run(options: Options) -> dict[str, Row]:
    results = Results("outliers", options)
    for place in ("after", "among"):
        _run(options, results, place)
    return results.rows


def _run(options: Options, results: Results, place: str) -> None:
    limit = 2000 if options.quick else None
    spec = {"name": LONG, "outliers": INJECTED, "place": place, "limit": limit}
    classes = build(spec).classes
    injected = {i for i, label in enumerate(classes) if label == OUTLIER}
    settings = dict(n_clusters=None, alpha=None, beta=0.02, n_sweeps=5)
    for system in options.choose(("coterie", "reference"), quick=2):
        recall, alarms, agree = [], [], True
        with Worker(system) as worker:
            worker.load(spec)
            worker.warm_up(seed=0, **settings)
            for seed in range(options.times(5)):
                reply = worker.fit(seed=seed, **settings)
                sizes = Counter(reply["labels"])
                alone = {i for i, k in enumerate(reply["labels"]) if sizes[k] == 1}
                agree &= set(reply.get("outliers", alone)) == alone
                recall.append(len(alone & injected) / len(injected))
                alarms.append(len(alone - injected))
                say(
                    f"{system}: seed {seed}: recall {recall[-1]:.3f}, {alarms[-1]} false alarms, "
                    f"{reply['n_clusters']} clusters, {reply['seconds']:.1f} s"
                )
        if not agree:
            say(f"{system}: outliers() and the labels do not name the same documents")
        row = {"n_docs": len(classes), "outliers_agrees_with_labels": agree}
        row |= {"recall": summary(recall), "false_alarms": summary(alarms)}
        results.add(f"{system}, outliers {place} the others", row)


def table(rows: dict[str, Row]) -> str:
    head = [
        "system",
        "documents",
        "seeds",
        "recall",
        "false alarms",
        "outliers() agrees with the labels",
    ]
    lines = [
        [
            system,
            f"{row['n_docs']:,}",
            row["recall"]["n"],
            mean_sd(row["recall"]),
            mean_sd(row["false_alarms"], 1),
            ("yes" if row["outliers_agrees_with_labels"] else "**no**")
            if system.startswith("coterie")
            else "",
        ]
        for system, row in rows.items()
    ]
    return markdown(head, lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    row = rows.get("coterie, outliers after the others")
    if row is None:
        return []
    recall, alarms = row["recall"]["mean"], row["false_alarms"]["mean"]
    what = f"outliers in {LONG}, mean of {row['recall']['n']} seeds"
    return [
        Verdict(f"{what}: recall", f"≥ {RECALL}", f"{recall:.3f}", recall >= RECALL),
        Verdict(
            f"{what}: false alarms", f"≤ {FALSE_ALARMS}", f"{alarms:.1f}", alarms <= FALSE_ALARMS
        ),
    ]
