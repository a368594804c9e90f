"""An estimator as a saved model, and back. What its parameters gave is in the model itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from coterie import io, locating
from coterie._pack import damaged
from coterie.errors import InvalidInput
from coterie.estimators import _prior_knowledge

MOST_JSON = 2**20  # characters of a saved parameter, since a configuration is read in one piece
PRIOR_KNOWLEDGE = ("seeds", "word_vectors")  # parameters that may be large, or models
# What a folder must not say: fitting a model that somebody sent would write to a place of theirs.
NEVER_KEPT = ("checkpoint", "callbacks")


def pack(estimator: Any) -> io.Saved:
    """Everything a folder keeps of a fitted estimator."""
    return io.Saved(
        estimator=type(estimator).__name__,
        parameters={n: _kept(n, v) for n, v in estimator.get_params(deep=False).items()},
        fitted={
            "converged": estimator.converged_,
            "stop_reason": estimator.stop_reason_,
            "n_features_in": estimator.n_features_in_,
            "learnt_from": estimator._learnt_from,
            "feature_names_in": _plain(getattr(estimator, "feature_names_in_", None)),
            "embedder": None if estimator._embedding is None else estimator._embedding.identity,
            "related": _prior_knowledge.related_to_json(getattr(estimator, "related_", None)),
        },
        model=estimator.model_,
        per_row={"labels": estimator.labels_, **estimator._row_values()},
        trace=estimator.trace_,
        promoting=estimator._promoting,
    )


def unpack(cls: Any, saved: io.Saved, folder: Path) -> Any:
    """The estimator that was packed; `_not_restored` names what it knew and a folder cannot hold."""
    names = set(cls._get_param_names())
    given = {n: v for n, v in saved.parameters.items() if n in names and _may_keep(n, v)}
    made = cls(**given)
    try:
        made._check()
    except InvalidInput as error:
        raise damaged(folder / io.CONFIG, str(error).rstrip(".")) from None
    made.model_, made.trace_ = saved.model, saved.trace
    made.labels_ = saved.per_row["labels"]
    made._rows = {name: a for name, a in saved.per_row.items() if name != "labels"}
    made.converged_ = saved.fitted["converged"]
    made.stop_reason_ = saved.fitted["stop_reason"]
    made.n_features_in_ = saved.fitted["n_features_in"]
    made._learnt_from = saved.fitted["learnt_from"]
    if saved.fitted["feature_names_in"] is not None:
        made.feature_names_in_ = np.array(saved.fitted["feature_names_in"], dtype=object)
    if saved.promoting is not None:
        made.related_ = _prior_knowledge.related_from_json(
            made.model_.urn, saved.fitted.get("related")
        )
    made._training = None
    made._embedding = locating.restored(made.model_.mean, saved.fitted.get("embedder"))
    had = {"seeds": made.model_.seeds, "word_vectors": saved.promoting}
    known = [name for name in PRIOR_KNOWLEDGE if had[name] is not None]
    if not names.issuperset(known):
        raise damaged(folder / io.CONFIG, f"a {cls.__name__} has no {' or '.join(known)}")
    made._not_restored = [name for name in known if getattr(made, name) is None]
    made._promoting = saved.promoting
    made._describe()
    return made


def _kept(name: str, value: Any) -> Any:
    """A parameter as a saved model keeps it; None where it has no short, plain form, or may not."""
    if name in ("word_vectors", "embedder") or not _may_keep(name, value):
        return None  # vectors may be gigabytes, and the urn has their relations
    plain = _plain(value)
    return plain if len(json.dumps(plain)) <= MOST_JSON else None


def _may_keep(name: str, value: Any) -> bool:
    """Whether a folder may say this: no path of another machine, and nothing that is called."""
    a_path = name in PRIOR_KNOWLEDGE and isinstance(value, str | os.PathLike)
    return name not in NEVER_KEPT and not a_path


def _plain(value: Any) -> Any:
    """A parameter as JSON, or None where it has no such form (callbacks, generators)."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple):
        plain = [_plain(v) for v in value]
        return None if None in plain else plain
    if isinstance(value, dict):
        named = {str(name): _plain(v) for name, v in value.items()}
        return None if None in named.values() else named
    return None
