"""Turns a clustering into the plain dict from which the report is made."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._sentence import counted, parameter
from coterie._version import __version__
from coterie.errors import InvalidInput
from coterie.levels import DOUBT
from coterie.report import layout
from coterie.report.charts import charts_of
from coterie.report.cuts import MOST_LEAVES, dial_of, n_finest
from coterie.report.schema import Cluster, Example, Outlier, Part, Report, Seed
from coterie.report.texts import chosen_columns, texts_of
from coterie.report.trends import trend_of

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
        "no_dial": "",
        "charts": [],
        "trend": None,
        "seeds": [],
    }


def whole(
    groups: Any,
    title: str | None = None,
    *,
    with_texts: bool = True,
    by: Sequence[str] | str | None = None,
    over: str | None = None,
    columns: Sequence[str] | str | None = None,
) -> Report:
    """As `page`, with all texts, levels and breakdowns; without texts, no text is in it at all."""
    beside = chosen_columns(groups.rows, columns)  # refuses wrong columns before the work starts
    if beside and not with_texts:
        raise InvalidInput(
            parameter("columns")
            + " chooses what stands beside each text, but this page is to have no texts. Leave one of"
            " the two out."
        )
    charts = charts_of(groups, by, over)
    made = page(groups, title)
    made["charts"] = charts
    made["seeds"] = _seeds(groups)
    dial = dial_of(groups)
    made["dial"] = None if dial is None else dial[0]
    made["no_dial"] = _no_dial(n_finest(groups))
    order = None if dial is None else dial[1].order
    made["texts"] = texts_of(groups, made["clusters"], order, with_texts, beside)
    if over is not None:
        made["trend"] = trend_of(groups, over, dial)
    if not with_texts:
        for cluster in made["clusters"]:
            cluster["examples"] = []
        for outlier in made["outliers"]:
            outlier["text"] = ""
    return made


def _no_dial(n_leaves: int) -> str:
    """Why there is no dial, in a sentence, if readers would expect one."""
    if n_leaves <= MOST_LEAVES:
        return ""
    return (
        f"There is no dial here: it takes at most {MOST_LEAVES:,} finest clusters, and these texts have"
        f" {n_leaves:,}. For another number of clusters, cluster the texts again with n_clusters."
    )


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
    held = groups.model.counted.tocsr()
    places = layout.positions(layout.hellinger(held), sizes)
    words = groups.vectorizer.words
    id_of = {word: i for i, word in enumerate(words)}
    total = max(int(sizes.sum()), 1)
    trust = groups.cluster_trust
    typical = [groups.representatives(k, N_EXAMPLES) for k in range(sizes.size)]
    words_of = _words_of(groups, [row for rows in typical for row in rows])
    made: list[Cluster] = []
    for k, distinctive in enumerate(groups.top_words(N_HIGHLIGHTED)):
        most = max((value for _, value in distinctive), default=1.0) or 1.0
        weight = {word: max(value, 0.0) / most for word, value in distinctive}
        npmi = groups.coherence[k]
        own = slice(held.indptr[k], held.indptr[k + 1])
        counts = dict(zip(held.indices[own].tolist(), held.data[own].tolist(), strict=True))
        made.append(
            {
                "id": k,
                "name": groups.names[k],
                "size": int(sizes[k]),
                "share": int(sizes[k]) / total,
                "coherence": npmi if math.isfinite(npmi) else None,
                "trust": float(trust[k]) if math.isfinite(trust[k]) else None,
                "words": [
                    {"word": w, "weight": weight[w], "count": round(counts.get(id_of[w], 0))}
                    for w, _ in distinctive[:N_WORDS]
                ],
                "examples": [_example(groups, row, weight, words_of) for row in typical[k]],
                "x": float(places[k, 0]),
                "y": float(places[k, 1]),
            }
        )
    return made


def _words_of(groups: Any, rows: list[int]) -> dict[str, list[str]]:
    """The words of each piece of these texts, all at once: one by one, it takes far longer."""
    pieces = list({piece: None for row in rows for piece in _cut(groups, row)})
    tokenizer = groups.vectorizer.tokenizer
    if tokenizer is None:
        return {piece: [piece.lower()] for piece in pieces}
    return dict(zip(pieces, tokenizer.tokens(pieces), strict=True))


def _cut(groups: Any, row: int) -> list[str]:
    return _pieces.findall(groups.rows.texts[row][:MOST_CHARS])


def _example(
    groups: Any, row: int, weight: dict[str, float], words_of: dict[str, list[str]]
) -> Example:
    """A text in pieces, each with a weight: how distinctive it is for the cluster."""
    parts: list[Part] = [
        {"text": piece, "weight": max((weight.get(w, 0.0) for w in words_of[piece]), default=0.0)}
        for piece in _cut(groups, row)
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
