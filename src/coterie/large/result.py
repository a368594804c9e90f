"""The result of `cluster_large`: the clustering of a sample, with the model of all texts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import counts, naming
from coterie._sentence import Name, Sentence
from coterie.choosing import AT
from coterie.clustering import Clustering
from coterie.counts import Corpus
from coterie.keeping import Setting
from coterie.model import Model
from coterie.sampler import Stop

NAMED_BY = (10, 300)  # texts of each cluster that its name is found in, at least and at most
WORDS_FOR_NAMES = 400_000  # in all of them, about


class Fit(NamedTuple):
    """What was found in all texts."""

    model: Model
    labels: npt.NDArray[np.int64]  # of the rows of the sample
    agreement: float
    stop: Stop | None = None  # of the sweeps over all texts


def of_all(
    groups: Clustering, fit: Fit, notes: list[str], n_rows: int, seconds: float
) -> Clustering:
    """The clustering of the sample, with the model of all texts."""
    note = (
        f"The texts were clustered in parts. The clusters were found in {len(groups.rows):,} of"
        f" {n_rows:,} rows, and then counted over all of them. Levels, trust, outliers, examples and"
        " the report come from these rows."
    )
    made = replace(
        groups,
        model=replace(fit.model, mean=groups.model.mean),
        labels=fit.labels,
        corpus=_untied(groups.corpus),
        of_sample=True,
        notes=[*notes, *map(_without_at, groups.notes), note],
        agreement=fit.agreement,
        seconds=seconds,
        stop=fit.stop or groups.stop,
        reason=_reason(groups, fit.stop),
        settings=[
            *groups.settings,
            Setting("sample", f"{len(groups.rows)}", "rows that the clusters were found in"),
        ],
    )
    names = naming.names_of(replace(made, labels=_few_of_each(made.labels, made.corpus)))
    return replace(made, given_names=list(names))


def _reason(groups: Clustering, stop: Stop | None) -> str:
    """Why the sweeps ended: those over the sample, unless those over all texts ended early."""
    if stop is None or stop.kind == "sweeps":
        return groups.reason
    return f"{stop.words} over all texts; over the sample before that: {groups.reason}"


def _without_at(note: str) -> str:
    """The same note, where another number of clusters can only be had by clustering again."""
    if not isinstance(note, Sentence):
        return note
    pieces = [
        piece._replace(python="n_clusters=n")
        if isinstance(piece, Name) and piece.python == AT
        else piece
        for piece in note.pieces
    ]
    return Sentence(*pieces)


def _few_of_each(labels: npt.NDArray[np.int64], corpus: Corpus) -> npt.NDArray[np.int64]:
    """Labels of some rows of each cluster, -1 for the others: names need not see all texts.

    The phrases of a text take much more memory than the text.
    """
    n, mean = int(labels.max(initial=0)) + 1, max(1.0, float(corpus.counts.length.mean()))
    least, most = NAMED_BY
    room = int(min(most, max(least, WORDS_FOR_NAMES / (n * mean))))
    order = np.argsort(labels, kind="stable")
    rank = np.arange(labels.size) - np.searchsorted(labels[order], labels[order])
    few = np.full(labels.size, -1, np.int64)
    few[order[rank < room]] = labels[order[rank < room]]
    return few


def _untied(corpus: Corpus) -> Corpus:
    """Every row as a document: equal rows of the sample may be in different clusters of the whole."""
    rows = np.flatnonzero(corpus.doc_of_row >= 0)
    some = counts.subset(corpus.counts, corpus.doc_of_row[rows])
    own = np.full(corpus.doc_of_row.size, -1, np.int64)
    own[rows] = np.arange(rows.size)
    return Corpus(some._replace(weight=np.ones(rows.size, np.int64)), own)
