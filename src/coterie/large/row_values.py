"""The columns that are added to each row, batch by batch, from a model of all texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import unusual
from coterie.clustering import Clustering, added_columns
from coterie.counts import Corpus, Counts
from coterie.model import Model

Ints = npt.NDArray[np.int64]


class RowValues(NamedTuple):
    """What rows are compared with."""

    model: Model
    names: list[str]
    trust: npt.NDArray[np.float64]  # (clusters,)
    scale: unusual.Scale

    @classmethod
    def of_sample(cls, groups: Clustering) -> RowValues:
        """Compare with the rows of a sample, whose model is that of all texts.

        Words that are too rare for the vocabulary are new; words in it stand in other texts.
        """
        model, corpus = groups.model, groups.corpus
        n_words = corpus.per_document(groups.vectorizer.n_words(groups.rows.texts))
        labels = corpus.per_document(groups.labels)
        new = int(((n_words - corpus.counts.length) * corpus.counts.weight).sum())
        share = new / max(new + int((corpus.counts.length * corpus.counts.weight).sum()), 1)
        found = _measured(model, corpus.counts, labels, n_words, share)
        scale = unusual.Scale(share, np.sort(found.novelty), np.sort(found.surprise))
        return cls(model, list(groups.names), groups.cluster_trust, scale)

    def columns(
        self,
        corpus: Corpus,
        labels: npt.NDArray[np.int32],
        probability: npt.NDArray[np.float32],
        n_words: Ints,
    ) -> dict[str, Any]:
        """The added columns of some rows; `n_words` are all words of each row."""
        own, counts = labels.astype(np.int64), corpus.counts
        share = self.scale.share_new
        if counts.n_docs:
            words = corpus.per_document(n_words)
            score = self.scale.scores(_measured(self.model, counts, own, words, share))
        else:
            score = np.zeros(0)
        per_row = corpus.per_row(own, -1)
        return added_columns(
            self.names,
            per_row,
            corpus.per_row(probability.astype(np.float64), 0.0),
            corpus.per_row(score, np.nan),
            np.append(self.trust, np.nan)[per_row],
        )


def _measured(
    model: Model, counts: Counts, labels: Ints, n_words: Ints, share: float
) -> unusual.Measured:
    none = np.zeros(counts.word.size, bool)
    unknown = np.maximum(n_words - counts.length, 0)
    return unusual.measured(model, counts, labels, none, share, leave_out=True, unknown=unknown)
