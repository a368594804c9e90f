"""How unusual a text is, calibrated against the texts of the fit.

Two things are measured, the text itself left out. *Novelty*: how many of its words stand in no other
text, and how improbable so many are, given how common such words are here. *Surprise*: how improbable
its words are in its own cluster, per word. A score says which share of the texts is less unusual: 0.99
means that only one text in a hundred is as unusual. Scores from LINE on are reached only by texts that
are also far from the others in absolute terms, so that there need not be any.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainc

from coterie.counts import Counts
from coterie.distributed.layout import cut, shard_bounds
from coterie.model import Model

LINE = 0.98
BELOW = 0.979  # the score of a text that is among the most unusual ones, but not far from others
IMPROBABLE = 2.0  # -log10 of the probability of so many new words
EXTREME = 4.0  # the same, from which on any number of texts may be outliers
FAR = 1.75  # surprise above the median, in units of the usual distance above it
AT_ONCE = 1_000_000  # words of documents that are measured together
ALONE = 20  # texts from which on one that is alone in its cluster is an outlier

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Measured(NamedTuple):
    """What is unusual about each document."""

    novelty: Floats  # -log10 of the probability of so many new words
    surprise: Floats  # nats per word


@dataclass(frozen=True)
class Scale:
    """The texts of the fit, to compare others with; what follows from them is computed once."""

    share_new: float  # of all their words: those that stand in one text only
    novelty: Floats  # sorted
    surprise: Floats  # sorted

    @cached_property
    def far(self) -> float:
        """The surprise from which on a text is far from the others."""
        middle = float(np.median(self.surprise))
        above = self.surprise[self.surprise > middle]
        return middle + FAR * 1.4826 * float(np.median(above) - middle if above.size else 0.0)

    @cached_property
    def extreme(self) -> float:
        """The novelty from which on any number of texts may be outliers."""
        return max(EXTREME, 2.0 * float(np.quantile(self.novelty, 0.97)))

    def scores(self, found: Measured) -> Floats:
        """The share of texts that are less unusual, in [0, 1)."""
        tails = [_tail(self.novelty, found.novelty), _tail(self.surprise, found.surprise)]
        score = 1.0 - np.minimum(1.0, 2.0 * np.minimum(*tails))
        rare = [2.0 * tail <= 1.0 - LINE for tail in tails]
        clear = (found.novelty > IMPROBABLE) & rare[0] | (found.surprise > self.far) & rare[1]
        clear |= found.novelty > self.extreme
        return np.where(clear, np.maximum(score, LINE), np.minimum(score, BELOW))


def of_fit(model: Model, counts: Counts, labels: Ints) -> tuple[Scale, Floats]:
    """The scale, and the scores of the documents that the model was fitted on."""
    in_texts = np.bincount(counts.word, minlength=counts.n_words)
    # tied texts are several, so their words stand in other texts
    once = np.repeat(counts.weight == 1, np.diff(counts.ptr))
    is_new = (in_texts == 1)[counts.word] & once
    share = float(counts.tally[is_new].sum() / max(int(counts.tally.sum()), 1))
    found = measured(model, counts, labels, is_new, share, leave_out=True)
    scale = Scale(share, np.sort(found.novelty), np.sort(found.surprise))
    scores = scale.scores(found)
    alone = model.frozen.size[labels] == counts.weight
    if counts.n_docs >= ALONE:
        scores = np.where(alone & (counts.weight == 1), np.maximum(scores, LINE), scores)
    return scale, scores


def measured(
    model: Model,
    counts: Counts,
    labels: Ints,
    is_new: npt.NDArray[np.bool_],
    share_new: float,
    leave_out: bool = False,
    unknown: Ints | None = None,
) -> Measured:
    """Novelty and surprise of documents in these clusters; `unknown` words are new, too.

    Some documents at a time: this takes ten arrays with a number for every word of theirs.
    """
    parts = []
    for first, end in shard_bounds(counts, -(-int(counts.ptr[-1]) // AT_ONCE)):
        entries = slice(counts.ptr[first], counts.ptr[end])
        more = None if unknown is None else unknown[first:end]
        part, own = cut(counts, first, end), labels[first:end]
        parts.append(_measured(model, part, own, is_new[entries], share_new, leave_out, more))
    return Measured(*map(np.concatenate, zip(*parts, strict=True)))


def _measured(
    model: Model,
    counts: Counts,
    labels: Ints,
    is_new: npt.NDArray[np.bool_],
    share_new: float,
    leave_out: bool,
    unknown: Ints | None,
) -> Measured:
    urn, n = model.urn, counts.n_docs
    if n == 0:
        return Measured(np.zeros(0), np.zeros(0))
    document = np.repeat(np.arange(n), np.diff(counts.ptr))
    cluster = labels[document]
    held = np.asarray(model.word_cluster[counts.word, cluster]).ravel() * urn.words.unit
    total = model.frozen.total[labels] * urn.words.unit
    if leave_out:
        held = held - counts.tally * counts.weight[document]
        total = total - counts.length * counts.weight
    beta = urn.words.beta[counts.word]
    phi = (np.maximum(held, 0.0) + beta) / (np.maximum(total, 0.0)[document] + urn.words.beta_sum)
    surprise = -np.bincount(document, counts.tally * np.log(phi), n) / counts.length
    new = np.bincount(document, counts.tally * is_new, n)
    length = counts.length.astype(np.float64)
    if unknown is not None:
        new, length = new + unknown, length + unknown
    chance = min(max(share_new, 1e-4), 0.95)
    return Measured(_novelty(np.asarray(new, np.float64), length, chance), np.asarray(surprise))


def _novelty(new: Floats, length: Floats, chance: float) -> Floats:
    """-log10 of the probability of at least so many new words among so many; few pairs are different."""
    width = float(length.max()) + 1.0
    pairs, place = np.unique(new * width + length, return_inverse=True)
    some, of = np.divmod(pairs, width)
    tail = np.where(some > 0, betainc(np.maximum(some, 1.0), of - some + 1.0, chance), 1.0)
    return np.asarray(-np.log10(np.maximum(tail, 1e-300))[place])


def _tail(known: Floats, values: Floats) -> Floats:
    """The share of known values that are at least as large; never 0."""
    order = np.argsort(values)  # to look them up in this order takes a fifth of the time
    above = np.empty(values.size, np.int64)
    above[order] = known.size - np.searchsorted(known, values[order], side="left")
    return np.asarray((above + 1.0) / (known.size + 1.0))
