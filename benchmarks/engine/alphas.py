"""GSDPMM V-D over two decades of alpha: of 100 documents of unknown words, which end up alone?"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from ..harness.claims import Check, Claim
from ..harness.data import LONG, OUTLIER, with_outliers
from ..harness.scores import summary
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown, mean_sd
from . import reference

INJECTED = 100
ALPHAS = {"0.01 D": 0.01, "0.1 D": 0.1, "D": 1.0}
FOUND = 0.95
PLAIN, APART = "precision", "precision, odd ones apart"


def run(options: Options) -> Rows:
    results = Results("engine/alphas", options)
    for name in options.choose(tuple(ALPHAS), quick=1):
        results.once(name, partial(_row, options, ALPHAS[name]))
        say(f"alpha = {name}: {results.rows[name]}")
    return results.rows


def _row(options: Options, alpha: float) -> Row:
    corpus = (LONG, INJECTED, "after", 2000 if options.quick else None)
    documents, classes = with_outliers(*corpus)
    injected = {i for i, label in enumerate(classes) if label == OUTLIER}
    odd = _odd(documents) - injected
    settings: dict[str, Any] = dict(alpha_per_doc=alpha, beta=0.02, n_sweeps=5)
    found: dict[str, list[float]] = {"recall": [], PLAIN: [], APART: []}
    given = ("coterie", "GSDPMM", settings, options.times(5), with_outliers, *corpus)
    for reply in reference.replies(*given):
        sizes = Counter(reply["labels"])
        alone = {i for i, k in enumerate(reply["labels"]) if sizes[k] == 1}
        hit = len(alone & injected)
        found["recall"].append(hit / len(injected))
        found[PLAIN].append(hit / max(len(alone), 1))
        found[APART].append(hit / max(len(alone - odd), 1))
    return {"n_docs": len(classes), **{name: summary(each) for name, each in found.items()}}


def _odd(documents: list[list[str]]) -> set[int]:
    """The documents of whose distinct words more than half stand in no other."""
    words = [set(document) for document in documents]
    known = Counter(word for each in words for word in each)
    own = [sum(known[word] == 1 for word in each) for each in words]
    return {i for i, each in enumerate(words) if 2 * own[i] > len(each)}


def table(rows: Rows) -> str:
    names = ("recall", PLAIN, APART)
    lines = [
        [key, row["recall"]["n"], *(mean_sd(row[n]) for n in names)] for key, row in rows.items()
    ]
    return markdown(["alpha", "seeds", *names], lines)


def claims(rows: Rows) -> list[Claim]:
    said = []
    for name in (PLAIN, APART):
        checks = [
            Check(
                key,
                f"{row['recall']['mean']:.3f}, {row[name]['mean']:.3f}",
                row["recall"]["mean"] >= FOUND and row[name]["mean"] >= FOUND,
            )
            for key, row in rows.items()
        ]
        claim = f"GSDPMM, alpha over two decades: recall and {name} of at least {FOUND}"
        said.append(Claim(claim, checks))
    return said
