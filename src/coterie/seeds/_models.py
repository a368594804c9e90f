"""Whatever holds a fitted model -> the model, and a name for each of its clusters.

A seeded model's clusters keep the names of their seeds, so that a topic keeps its name from day to
day (TSDPMM-L).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coterie import io
from coterie.errors import InvalidInput
from coterie.model import Model
from coterie.text.vectorize import Vectorizer

N_WORDS = 10  # looked at to name a cluster


def from_object(source: Any, owner: str) -> tuple[Model, list[str]] | None:
    """The model of whatever holds one, and a name for each cluster."""
    for held in (source, getattr(source, "model_", None), getattr(source, "model", None)):
        if isinstance(held, Model):
            given = None if held is source else getattr(source, "names", None)
            return held, _names(held, frozenset(), given)
    if hasattr(source, "fit") and hasattr(source, "get_params"):
        raise InvalidInput(
            f"{owner} is a {type(source).__name__} that is not fitted; call its fit first."
        )
    return None


def from_folder(path: Path) -> tuple[Model, list[str]]:
    """The model of a saved folder, with the names it had when it was saved."""
    saved = io.load(path)
    return saved.model, _names(saved.model, _dull(saved))


def _names(model: Model, dull: frozenset[str], given: Sequence[str] | None = None) -> list[str]:
    """A name for each cluster: its seed's, one given, or its most distinct words; each once."""
    named: dict[int, str] = {}
    if model.seeds is not None:
        named = dict(zip(model.seeds.cluster.tolist(), model.seeds.names, strict=True))
    taken = set(named.values())
    top = model.top_words(N_WORDS, "distinct") if model.n_clusters else []
    for k, row in enumerate(top):
        if k in named:
            continue
        words = [str(w) if model.words is None else model.words[w] for w, _ in row]
        telling = [w for w in words if w.lower() not in dull] or words
        many = 3
        while " · ".join(telling[:many]) in taken and many < len(telling):
            many += 1
        base = " · ".join(telling[:many]) if given is None else given[k]
        name, again = base, 2
        while name in taken:
            name, again = f"{base} ({again})", again + 1
        named[k] = name
        taken.add(name)
    return [named[k] for k in range(model.n_clusters)]


def _dull(saved: io.Saved) -> frozenset[str]:
    """Words that name nothing, where a saved clustering says its language."""
    try:
        return Vectorizer.from_dict(saved.fitted.get("vectorizer"), []).dull
    except (ValueError, TypeError):
        return frozenset()
