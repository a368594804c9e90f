"""Turns a clustering into the plain dict from which the report is made."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._sentence import counted
from coterie._version import __version__
from coterie.levels import DOUBT
from coterie.report import layout
from coterie.report.charts import charts_of
from coterie.report.cuts import dial_of
from coterie.report.schema import Cluster, Example, Outlier, Part, Report, Seed
from coterie.report.texts import texts_of

MOST_CHARS = 400  # of a text shown
N_WORDS, N_HIGHLIGHTED, N_EXAMPLES, N_OUTLIERS = 10, 60, 3, 200
HOW_MANY = "The number of clusters"  # the beginning of the note on how it was chosen
_pieces = re.compile(r"\w+|\W+")


def page(groups: Any, title: str | None = None) -> Report:
    """Everything that the report of a `Clustering` shows."""
    sizes = groups.model.frozen.size
    scores = groups.outlier_score
    used = groups.n_clusters - groups.n_missing
    return {
        "title": title or f"{counted(used, 'cluster')} in {counted(groups.n_texts, 'text')}",
        "version": __version__,
        "notes": [note for note in groups.notes if not note.startswith(HOW_MANY)],
        "overview": {
            "documents": groups.n_texts,
            "without_words": int((groups.labels < 0).sum()),
            "clusters": used,
            "words": int((groups.corpus.counts.length * groups.corpus.counts.weight).sum()),
            "vocabulary": groups.corpus.counts.n_words,
            "outliers": int(groups.outliers.sum()),
            "settled": bool(groups.converged),
            "reason": groups.reason[:1].upper() + groups.reason[1:] + ".",
            "seconds": float(groups.seconds),
            "agreement": float(groups.agreement),
            "chosen": _chosen(groups),
            "doubt_below": DOUBT,
        },
        "settings": [setting._asdict() for setting in groups.settings],
        "clusters": _clusters(groups, sizes),
        "trace": [
            {
                "sweep": line.sweep,
                "clusters": line.clusters,
                "moved": line.moved,
                "log_likelihood": line.log_likelihood,
                "seconds": line.seconds,
            }
            for line in groups.trace
        ],
        "outliers": _outliers(groups, scores),
        "texts": None,
        "dial": None,
        "charts": [],
        "seeds": [],
    }


def whole(
    groups: Any,
    title: str | None = None,
    *,
    with_texts: bool = True,
    by: Sequence[str] | str | None = None,
    over: str | None = None,
) -> Report:
    """As `page`, with all texts, levels and breakdowns; without texts, no text is in it at all."""
    charts = charts_of(groups, by, over)  # refuses wrong columns before the work starts
    made = page(groups, title)
    made["charts"] = charts
    made["seeds"] = _seeds(groups)
    dial = dial_of(groups)
    made["dial"] = None if dial is None else dial[0]
    order = None if dial is None else dial[1]
    made["texts"] = texts_of(groups, made["clusters"], order, with_texts)
    if not with_texts:
        for cluster in made["clusters"]:
            cluster["examples"] = []
        for outlier in made["outliers"]:
            outlier["text"] = ""
    return made


def _seeds(groups: Any) -> list[Seed]:
    """What became of each seed."""
    if groups.model.seeds is None:
        return []
    return [
        {
            "name": row.name,
            "cluster": int(row.cluster),
            "texts": int(row.documents),
            "gained": [str(word) for word in row.gained[:N_WORDS]],
            "lost": [str(word) for word in row.lost[:N_WORDS]],
            "unknown": [str(word) for word in row.unknown[:N_WORDS]],
        }
        for row in groups.seed_report()
        if row.name is not None
    ]


def _chosen(groups: Any) -> str:
    """How the number of clusters came about."""
    said = next((str(note) for note in groups.notes if note.startswith(HOW_MANY)), "")
    if said:
        return said
    asked = any(s.name == "clusters" and s.why == "as asked" for s in groups.settings)
    return "The number of clusters is the one that was asked for." if asked else ""


def _clusters(groups: Any, sizes: Any) -> list[Cluster]:
    held = groups.model.counted
    places = layout.positions(layout.hellinger(held), sizes)
    words = groups.vectorizer.words
    id_of = {word: i for i, word in enumerate(words)}
    total = max(int(sizes.sum()), 1)
    trust = groups.cluster_trust
    made: list[Cluster] = []
    for k, distinctive in enumerate(groups.top_words(N_HIGHLIGHTED)):
        most = max((value for _, value in distinctive), default=1.0) or 1.0
        weight = {word: max(value, 0.0) / most for word, value in distinctive}
        npmi = groups.coherence[k]
        made.append(
            {
                "id": k,
                "name": groups.names[k],
                "size": int(sizes[k]),
                "share": int(sizes[k]) / total,
                "coherence": npmi if math.isfinite(npmi) else None,
                "trust": float(trust[k]) if math.isfinite(trust[k]) else None,
                "words": [
                    {"word": w, "weight": weight[w], "count": round(float(held[k, id_of[w]]))}
                    for w, _ in distinctive[:N_WORDS]
                ],
                "examples": [
                    _example(groups, row, weight) for row in groups.representatives(k, N_EXAMPLES)
                ],
                "x": float(places[k, 0]),
                "y": float(places[k, 1]),
            }
        )
    return made


def _example(groups: Any, row: int, weight: dict[str, float]) -> Example:
    """A text in pieces, each with a weight: how distinctive it is for the cluster."""
    pieces = _pieces.findall(groups.rows.texts[row][:MOST_CHARS])
    tokenizer = groups.vectorizer.tokenizer
    if tokenizer is None:
        words = [[piece.lower()] for piece in pieces]
    else:
        words = tokenizer.tokens(pieces)
    parts: list[Part] = [
        {"text": piece, "weight": max((weight.get(w, 0.0) for w in found), default=0.0)}
        for piece, found in zip(pieces, words, strict=True)
    ]
    return {
        "row": _name(groups, row),
        "probability": float(groups.probability[row]),
        "parts": parts,
    }


def _outliers(groups: Any, scores: Any) -> list[Outlier]:
    known = np.flatnonzero(np.isfinite(scores))
    strangest = known[np.argsort(-scores[known], kind="stable")][:N_OUTLIERS]
    return [
        {
            "row": _name(groups, int(row)),
            "text": groups.rows.texts[row][:MOST_CHARS],
            "score": float(scores[row]),
            "cluster": int(groups.labels[row]),
        }
        for row in strangest
    ]


def _name(groups: Any, row: int) -> str:
    return str(row if groups.rows.ids is None else groups.rows.ids[row])
