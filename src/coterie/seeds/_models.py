"""Finds the fitted model in an object or a folder, and names its clusters.

Clusters that came from seeds keep the names of the seeds, so that a topic keeps its name from day to
day (TSDPMM-L).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coterie import io
from coterie.describing import cluster_names
from coterie.errors import InvalidInput
from coterie.model import Model
from coterie.text.vectorize import Vectorizer

N_WORDS = 10  # used to name a cluster


def from_object(source: Any, owner: str) -> tuple[Model, list[str]] | None:
    """The model in an object, and a name for each cluster; None if there is no model."""
    for held in (source, getattr(source, "model_", None), getattr(source, "model", None)):
        if isinstance(held, Model):
            given = None if held is source else getattr(source, "names", None)
            return held, _names(held, frozenset(), given)
    if hasattr(source, "fit") and hasattr(source, "get_params"):
        raise InvalidInput(
            owner + f" is a {type(source).__name__} that is not fitted. Call fit first."
        )
    return None


def from_folder(path: Path) -> tuple[Model, list[str]]:
    """Load a saved model, and the names its clusters had when it was saved."""
    saved = io.load(path)
    given = saved.fitted.get("names")
    if not (isinstance(given, list) and len(given) == saved.model.n_clusters):
        given = None  # an estimator has no names
    return saved.model, _names(saved.model, _stop_words(saved), given)


def _names(
    model: Model, stop_words: frozenset[str], given: Sequence[str] | None = None
) -> list[str]:
    """A unique name for each cluster: that of its seed, the one given, or its most distinctive words."""
    top = model.top_words(N_WORDS, "distinct") if model.n_clusters else []
    words = [[str(w) if model.words is None else model.words[w] for w, _ in row] for row in top]
    return cluster_names(model.seeds, words, stop_words, given)


def _stop_words(saved: io.Saved) -> frozenset[str]:
    """Words not used in cluster names, if a saved clustering says its language."""
    try:
        return Vectorizer.from_dict(saved.fitted.get("vectorizer"), []).name_stop_words
    except (ValueError, TypeError):
        return frozenset()
