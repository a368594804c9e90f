"""Drift: whether new texts still look like those that the groups were made from.

In: the groups, and the clusters and outlier scores of new texts. Out: two shares of the new texts
beside those of the fit: without a known word, and outliers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie._sentence import counted
from coterie.breakdown import relative
from coterie.unusual import LINE

if TYPE_CHECKING:
    from coterie.clustering import Clustering

CLEAR = 0.05  # a rise of a share by less is no drift


class Drift(NamedTuple):
    """Shares of new texts, beside those of the fit."""

    n_texts: int
    without_known_words: float
    without_words_in_fit: float
    outliers: float  # of the texts with known words
    outliers_in_fit: float
    has_drifted: bool

    def __str__(self) -> str:
        """The drift in a sentence."""
        said = (
            f"{'Drift' if self.has_drifted else 'No drift'}: of {counted(self.n_texts, 'text')},"
            f" {self.without_known_words:.1%} have no known word (in the fit:"
            f" {self.without_words_in_fit:.1%})"
            f" and {self.outliers:.1%} are outliers ({self.outliers_in_fit:.1%})"
        )
        return said + (". Fit again with newer texts." if self.has_drifted else ".")


class Seen(NamedTuple):
    """What is counted of texts; those of several parts can be added up."""

    n_texts: int = 0
    n_unknown: int = 0  # without a known word
    n_odd: int = 0  # outliers

    @classmethod
    def of(cls, labels: Any, scores: Any) -> Seen:
        """Count texts with these clusters and outlier scores."""
        known = np.asarray(labels) >= 0
        odd = np.asarray(scores)[known] >= LINE
        return cls(known.size, int((~known).sum()), int(odd.sum()))

    def plus(self, other: Seen) -> Seen:
        """Those of both."""
        return Seen(*map(sum, zip(self, other, strict=True)))


def measure(groups: Clustering, labels: Any, scores: Any) -> Drift:
    """Compare new texts with those of the fit, given their clusters and outlier scores."""
    return compared(groups, Seen.of(labels, scores))


def compared(groups: Clustering, new: Seen) -> Drift:
    """Compare new texts with those of the fit."""
    own = Seen.of(groups.labels, groups.outlier_score)
    known, known_own = new.n_texts - new.n_unknown, own.n_texts - own.n_unknown
    drifted = _rises(new.n_unknown, new.n_texts, own.n_unknown, own.n_texts)
    drifted = drifted or _rises(new.n_odd, known, own.n_odd, known_own)
    return Drift(
        n_texts=new.n_texts,
        without_known_words=new.n_unknown / max(new.n_texts, 1),
        without_words_in_fit=own.n_unknown / max(own.n_texts, 1),
        outliers=new.n_odd / max(known, 1),
        outliers_in_fit=own.n_odd / max(known_own, 1),
        has_drifted=drifted,
    )


def _rises(a: int, n: int, c: int, m: int) -> bool:
    """Whether a share is clearly higher: by five points, and not by chance (99%)."""
    if not n or not m or a / n < c / m + CLEAR:
        return False
    _, low, _ = relative(a, n, c, m)
    return bool(low > 1)
