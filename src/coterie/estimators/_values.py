"""What the parameters of an estimator may be, and what they mean for a corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _allowed, _rng, locating, sampler, urns
from coterie._allowed import Rule, either, flag, nothing, number, one_of, whole
from coterie._arrays import plain
from coterie._sentence import counted, parameter
from coterie.backends import backend_names, sampler_names
from coterie.counts import Corpus, Counts
from coterie.errors import InvalidInput
from coterie.splitting import SplitMerge
from coterie.start import Named
from coterie.urns import Urn

MIN_BETA, MAX_BETA = 1e-100, 1e9  # outside this range, 1 + n / beta loses precision in float64

LOCATION: dict[str, Rule] = {
    "kappa": either(one_of("auto"), number(0.0, inclusive=True, high=1e6)),
    "split_merge": _allowed.flag,
}
COMMON: dict[str, Rule] = {
    "beta": either(one_of("auto"), _allowed.per_word(MIN_BETA, MAX_BETA)),
    "n_sweeps": whole(1),
    "sampler": one_of("auto", *sampler_names()),
    "block_size": either(nothing, whole(1)),
    "backend": one_of("auto", *backend_names()),
    "n_jobs": either(nothing, whole(1), _allowed.minus_one),
    "tol": either(nothing, number(0.0, inclusive=False)),
    "max_time": either(nothing, number(0.0, inclusive=False)),
    "scan": one_of("given", "random"),
    "burstiness": flag,
    "tie_duplicates": flag,
    "random_state": either(nothing, _allowed.seed),
    "callbacks": either(nothing, _allowed.callables),
    "checkpoint": either(nothing, _allowed.path),
    "checkpoint_every": whole(1),
}


def beta_of(estimator: Any, counts: Counts) -> npt.NDArray[np.float64]:
    """Beta of each word."""
    n_words = counts.n_words
    if isinstance(estimator.beta, str):
        return urns.per_word(urns.auto_beta(counts), n_words)
    of = parameter("beta", type(estimator).__name__)
    beta = plain(estimator.beta, of).astype(float)
    if beta.ndim == 1 and beta.size != n_words:
        raise InvalidInput(
            of + f" has {beta.size} values, but the corpus has {n_words} distinct words."
        )
    return np.broadcast_to(beta, (n_words,)).copy()


def plan_of(estimator: Any, corpus: Corpus) -> sampler.Plan:
    """How to sample: the parameters that are not about the model."""
    return sampler.Plan(
        n_sweeps=int(estimator.n_sweeps),
        init=estimator._init(corpus),
        key=_key(estimator.random_state),
        options=estimator._options(),
        tol=estimator.tol,
        max_time=estimator.max_time,
        callbacks=tuple(estimator.callbacks or ()),
        checkpoint=None if estimator.checkpoint is None else Path(estimator.checkpoint),
        checkpoint_every=int(estimator.checkpoint_every),
        steps=[SplitMerge()] if getattr(estimator, "split_merge", False) else (),
    )


def start_of(estimator: Any, corpus: Corpus) -> Named:
    """The chosen start; labels, if given, are converted from rows to documents."""
    init: Any = estimator.init
    if isinstance(init, str) or whole(1, 2**53)(init) is None:
        choices = one_of(*estimator._starts)
        _allowed.check(
            type(estimator).__name__, {"init": either(choices, whole(1, 2**53))}, {"init": init}
        )
        return init if isinstance(init, str) else int(init)
    rows, of = corpus.doc_of_row.size, parameter("init", type(estimator).__name__)
    labels = plain(init, of)
    if labels.shape != (rows,) or labels.dtype.kind not in "iu":
        raise InvalidInput(
            of
            + f" must be one of {estimator._starts}, a number of clusters, or a whole-number label for"
            f" each of the {rows} documents.",
            kind="not_allowed",
        )
    known = corpus.doc_of_row >= 0
    out = np.zeros(corpus.counts.n_docs, np.int64)
    # backwards, so that tied rows take the label of the first
    out[corpus.doc_of_row[known][::-1]] = labels[known][::-1]
    return out


def words_of(
    estimator: Any, kind: str, learnt: list[str] | None, given: Any, n_words: int
) -> list[str] | None:
    """The word of each column: `given` as a vocabulary, the names of a table's columns, or learnt."""
    if given is not None:
        if isinstance(given, str):
            raise InvalidInput(
                f"vocabulary of {type(estimator).__name__}.fit is a single string. Pass a list of words."
            )
        words = [str(word) for word in given]
        twice = [word for word, n in Counter(words).items() if n > 1]
        if twice:
            raise InvalidInput(
                f"vocabulary of {type(estimator).__name__}.fit contains {twice[0]!r} twice. Give every"
                " column its own word."
            )
        if kind != "matrix" or len(words) != n_words:
            raise InvalidInput(
                f"vocabulary of {type(estimator).__name__}.fit has {counted(len(words), 'word')} and X has"
                f" {counted(n_words, 'column')}. Pass one word per column, and only if X is a matrix."
            )
        return words
    if kind == "matrix" and hasattr(estimator, "feature_names_in_"):
        return [str(name) for name in estimator.feature_names_in_]
    return learnt


def locate(estimator: Any, urn: Urn, plan: sampler.Plan) -> tuple[Urn, sampler.Plan]:
    """The urn in which document vectors count, and the plan that learns how much."""
    if urn.relations.promotion:
        raise InvalidInput(
            f"{type(estimator).__name__} cannot use document vectors and word_vectors together."
            " Leave one of them out."
        )
    kappa = getattr(estimator, "kappa", "auto")
    if isinstance(kappa, str):
        return urns.located(urn, locating.START_KAPPA), plan._replace(
            steps=[locating.Calibrate(), *plan.steps]
        )
    return urns.located(urn, kappa), plan


def weightless_rows(corpus: Corpus, sample_weight: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
    """Rows of weight 0: they are not in the counts, and are labelled like new documents."""
    if sample_weight is None:
        return np.zeros(corpus.doc_of_row.size, bool)
    return np.broadcast_to(np.asarray(sample_weight) == 0, corpus.doc_of_row.shape)


def _key(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return _rng.key_from_seed(int(random_state.integers(2**32)))
    if isinstance(random_state, np.random.RandomState):
        return _rng.key_from_seed(int(random_state.randint(2**31 - 1)))
    return _rng.key_from_seed(int(random_state))
