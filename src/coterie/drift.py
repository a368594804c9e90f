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


def measure(groups: Clustering, labels: Any, scores: Any) -> Drift:
    """Compare new texts with those of the fit, given their clusters and outlier scores."""
    own = groups.outlier_score[groups.labels >= 0]
    new = np.asarray(scores)[np.asarray(labels) >= 0]
    unknown, missing = int((np.asarray(labels) < 0).sum()), int((groups.labels < 0).sum())
    odd, odd_own = int((new >= LINE).sum()), int((own >= LINE).sum())
    drifted = _rises(unknown, len(labels), missing, groups.labels.size)
    drifted = drifted or _rises(odd, new.size, odd_own, own.size)
    return Drift(
        n_texts=len(labels),
        without_known_words=unknown / max(len(labels), 1),
        without_words_in_fit=missing / max(groups.labels.size, 1),
        outliers=odd / max(new.size, 1),
        outliers_in_fit=odd_own / max(own.size, 1),
        has_drifted=drifted,
    )


def _rises(a: int, n: int, c: int, m: int) -> bool:
    """Whether a share is clearly higher: by five points, and not by chance (99%)."""
    if not n or not m or a / n < c / m + CLEAR:
        return False
    _, low, _ = relative(a, n, c, m)
    return bool(low > 1)
