"""Converts estimators to saved models and back. The effect of the parameters is in the model itself."""

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

MAX_JSON_CHARS = 2**20  # maximum characters of a saved parameter
PRIOR_KNOWLEDGE = ("seeds", "word_vectors")  # parameters that may be large, or hold a model
# Never restored: otherwise, fitting a model from someone else could write to a path they chose.
NEVER_SAVED = ("checkpoint", "callbacks")


def pack(estimator: Any) -> io.Saved:
    """Everything that is saved of a fitted estimator."""
    return io.Saved(
        estimator=type(estimator).__name__,
        parameters={n: _saved_value(n, v) for n, v in estimator.get_params(deep=False).items()},
        fitted={
            "converged": estimator.converged_,
            "stop_reason": estimator.stop_reason_,
            "n_features_in": estimator.n_features_in_,
            "learnt_from": estimator._learnt_from,
            "feature_names_in": _plain(getattr(estimator, "feature_names_in_", None)),
            **({} if estimator._embedding is None else estimator._embedding.facts()),
            "related": _prior_knowledge.related_to_json(getattr(estimator, "related_", None)),
        },
        model=estimator.model_,
        per_row={"labels": estimator.labels_, **estimator._row_values()},
        trace=estimator.trace_,
        promoting=estimator._promoting,
    )


def unpack(cls: Any, saved: io.Saved, folder: Path) -> Any:
    """Restore an estimator; `_not_restored` lists prior knowledge that cannot be saved."""
    names = set(cls._get_param_names())
    given = {n: v for n, v in saved.parameters.items() if n in names and _may_be_saved(n, v)}
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
    made._embedding = locating.restored(made.model_.mean, saved.fitted)
    had = {"seeds": made.model_.seeds, "word_vectors": saved.promoting}
    known = [name for name in PRIOR_KNOWLEDGE if had[name] is not None]
    if not names.issuperset(known):
        raise damaged(folder / io.CONFIG, f"a {cls.__name__} has no {' or '.join(known)}")
    made._not_restored = [name for name in known if getattr(made, name) is None]
    made._promoting = saved.promoting
    made._describe()
    return made


def _saved_value(name: str, value: Any) -> Any:
    """A parameter as it is saved; None if it is long, not plain data, or must not be saved."""
    if name in ("word_vectors", "embedder") or not _may_be_saved(name, value):
        return None  # vectors may be gigabytes, and the urn has the related words
    plain = _plain(value)
    return plain if len(json.dumps(plain)) <= MAX_JSON_CHARS else None


def _may_be_saved(name: str, value: Any) -> bool:
    """Whether a parameter may be saved and restored: no paths, and nothing callable."""
    a_path = name in PRIOR_KNOWLEDGE and isinstance(value, str | os.PathLike)
    return name not in NEVER_SAVED and not a_path


def _plain(value: Any) -> Any:
    """A parameter as plain data for JSON; None if that is not possible (callbacks, generators)."""
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
