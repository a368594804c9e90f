"""Topics that the user expects: what `cluster()` or its model was given, as seeds of the corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._sentence import Name, Sentence, parameter
from coterie.errors import InvalidInput, concerning
from coterie.seeds import EncodedSeeds, Seeds, read
from coterie.text.vectorize import Vectorizer

SEEDS = parameter("seeds", "cluster")


def topics_of(estimator: Any, seeds: Any, seed_weight: Any) -> Seeds | None:
    """The topics that were given, to `cluster()` or to the model."""
    if getattr(estimator, "seeds", None) is not None:
        owner = f"seeds of {type(estimator).__name__}"
        with concerning("seeds"):
            return read(
                estimator.seeds,
                repeat=estimator.seed_repeat,
                weight=estimator.seed_weight,
                owner=owner,
            )
    if seeds is not None:
        with concerning("seeds"):
            return read(seeds, weight=seed_weight, owner=SEEDS)
    if not (isinstance(seed_weight, int | float) and seed_weight == 1.0):
        raise InvalidInput(
            parameter("seed_weight", "cluster")
            + " weighs seeds, but there are none; pass "
            + Sentence(Name("seeds", "seeds=", ""))
            + " too."
        )
    return None


def repeated(seeds: Any, seed_weight: Any, beta: npt.NDArray[np.float64]) -> Seeds:
    """The topics given to `cluster()`, their words repeated as suits the beta of the corpus."""
    repeat = _default_repeat(float(beta.sum()))
    return read(seeds, repeat=repeat, weight=seed_weight, owner=SEEDS)


def encoded(topics: Seeds, vectorizer: Vectorizer) -> EncodedSeeds:
    """The topics in the words of the corpus."""
    with concerning("seeds"):
        return topics.encode(vectorizer.words, vectorizer.cut, cut_all=vectorizer.cut_all)


def _default_repeat(pseudo_words: float) -> int:
    """How often the words of a seed's list count: ten times, as in the TSDPMM paper, or fewer.

    A seed of five words should hold a tenth of the pseudo-words that every cluster has: a larger one
    would keep out texts that share some of its words, but not all.
    """
    return max(1, min(10, round(0.1 * pseudo_words / 5)))
