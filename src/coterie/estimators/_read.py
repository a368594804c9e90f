"""Turns X, and what is given for its rows, into a corpus. Only this file looks at the type of X."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from coterie import _arrays, _tables, counts, embedders, locating
from coterie._arrays import Steps, plain
from coterie._sentence import parameter
from coterie._sparse import as_csr
from coterie.counts import Corpus
from coterie.errors import InvalidInput, concerning
from coterie.frozen import LeaveOut, flags_of
from coterie.text import vocabulary


def kind_of(X: Any, owner: str) -> tuple[str, Any]:
    """("matrix" | "texts" | "tokens", X as a matrix or a list)."""
    if isinstance(X, str | bytes):
        raise InvalidInput(
            f"X of {owner} is a single string. Pass a list of texts ([text] for a single document)."
        )
    if sparse.issparse(X):
        # before scikit-learn or scipy use an index; some sparse formats are dicts
        return "matrix", as_csr(_arrays.plain_matrix(X, owner), f"X of {owner}")
    if isinstance(X, Mapping | Set):
        raise InvalidInput(
            f"X of {owner} is a {type(X).__name__}, which has no order of rows. Pass a list of texts,"
            " a list of token lists or a matrix of word counts."
        )
    if _tables.is_table(X):
        return "matrix", X  # `checked` needs the names of its columns
    if getattr(X, "ndim", 1) != 1:
        return "matrix", _arrays.plain_matrix(X, owner)
    if (
        isinstance(X, np.ndarray) and X.dtype.kind not in "OSUT"
    ):  # scikit-learn reports the wrong dimension
        return "matrix", _arrays.plain_matrix(X, owner)
    if not isinstance(X, Sequence):
        as_list = getattr(X, "to_list", None) or getattr(X, "to_pylist", None)  # of pyarrow
        try:
            X = list(X) if as_list is None else as_list()
        except TypeError:
            if hasattr(X, "__array__"):
                return "matrix", X
            raise InvalidInput(
                f"X of {owner} is {_name(X)}. Pass a list of texts, a list of token lists or a matrix"
                " of word counts."
            ) from None
    return _kind_of_list(X, owner)


def _kind_of_list(X: Sequence[Any], owner: str) -> tuple[str, Any]:
    """Decide from the first document that is not empty; all documents must be of the same type."""
    typed = (
        x for x in X if isinstance(x, str | bytes) or (_is_row(x) and len(x) and _has_words(x))
    )
    first = next(typed, None)
    if isinstance(first, str | bytes):
        return "texts", _all(X, str, "a text", owner)
    if first is not None or all(_is_row(x) and len(x) == 0 for x in X):
        return "tokens", _all(X, (list, tuple, np.ndarray), "a list of tokens", owner)
    for i, x in enumerate(X):
        if not hasattr(x, "__len__") or isinstance(x, dict):
            raise InvalidInput(
                f"Document {i} of {owner} is {_name(x)}. Pass texts, token lists or rows of word counts,"
                " and '' or [] for an empty document."
            )
    return "matrix", X


def _is_row(x: Any) -> bool:
    return isinstance(x, list | tuple | np.ndarray)


def _has_words(row: Any) -> bool:
    return any(isinstance(x, str | bytes) for x in row)


def checked(estimator: Any, X: Any, owner: str, reset: bool) -> Any:
    """A matrix as scikit-learn wants it; the estimator remembers, or compares, the names of columns."""
    how = {"accept_sparse": "csr", "ensure_all_finite": False}
    if not _tables.is_table(X):
        return validate_data(estimator, X, reset=reset, **how)
    matrix = _tables.as_matrix(X, f"X of {owner}")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return check_array(matrix, estimator=estimator, **how)


def learn(
    kind: str,
    X: Any,
    owner: str,
    sample_weight: npt.ArrayLike | None,
    tie: bool,
    vectors: Steps | None = None,
) -> tuple[Corpus, list[str] | None]:
    """A corpus to fit, and its vocabulary if it is known."""
    words: list[str] | None = None
    if kind == "tokens":
        (ptr, ids), words = vocabulary.learn(X, owner)
        corpus = counts.from_ids(ptr, ids, len(words), owner, sample_weight, tie, vectors)
    else:
        if kind == "texts":
            X, words = vocabulary.count_texts(X, None)
        corpus = counts.from_matrix(X, owner, sample_weight, tie, vectors)
    if corpus.counts.n_docs == 0:
        raise InvalidInput(
            f"No document of {owner} has words and a weight above zero: there is nothing to cluster."
        )
    return corpus, words


def embed(
    estimator: Any, kind: str, X: Any, given: Any
) -> tuple[locating.Embedding | None, Steps | None]:
    """How the documents to fit get vectors, and these: given, from the texts, or none."""
    if given is not None:
        with concerning("embeddings"):
            return locating.Embedding.of_array(given, _n_rows(X))
    spec = getattr(estimator, "embedder", None)
    with concerning("embedder"):
        embedder = embedders.resolve(spec)
        if embedder is None:
            return None, None
        texts = _texts(kind, X)
        if texts is None:
            raise InvalidInput(
                parameter("embedder", type(estimator).__name__)
                + " needs texts or token lists, and X is a matrix; pass the vectors of its rows as"
                " embeddings= instead."
            )
    return locating.Embedding.of_texts(embedder, texts, n_jobs=estimator.n_jobs)


def located(estimator: Any, corpus: Corpus, kind: str, X: Any, given: Any, owner: str) -> Corpus:
    """The corpus to score with the vectors of its documents, if the model knows vectors."""
    if not estimator.model_.n_dimensions:
        if given is not None and estimator._embedding is None:
            raise InvalidInput(
                parameter("embeddings", owner)
                + " cannot be used: the model was fitted without any."
            )
        return corpus
    of = _texts(kind, X), given, _n_rows(X), owner, estimator.n_jobs
    vectors = estimator._embedding.again(*of)
    vectors = np.ascontiguousarray(vectors[corpus.doc_of_row >= 0])
    return corpus._replace(counts=corpus.counts._replace(vectors=vectors))


def _texts(kind: str, X: Any) -> list[str] | None:
    if kind == "texts":
        return list(X)
    return [" ".join(map(str, row)) for row in X] if kind == "tokens" else None


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def encode(
    kind: str, X: Any, owner: str, words: list[str] | None, learnt_from: str = "texts"
) -> Corpus:
    """A corpus to predict, in the vocabulary of a fitted model; unknown words are dropped."""
    if kind == "matrix":
        return counts.from_matrix(X, owner)
    if words is None:
        raise InvalidInput(
            f"{owner} got {kind}, but the model was fitted on a matrix without a vocabulary. Pass a"
            " matrix with the same columns."
        )
    if kind == "texts":
        if learnt_from == "tokens":
            raise InvalidInput(
                f"{owner} got texts, but the model was fitted on token lists. Split the texts into tokens"
                " in the same way and pass token lists."
            )
        return counts.from_matrix(vocabulary.count_texts(X, words)[0], owner)
    ptr, ids = vocabulary.encode(X, words, owner)
    return counts.from_ids(ptr, ids, len(words), owner)


def _all(X: Any, types: Any, what: str, owner: str) -> Any:
    for i, x in enumerate(X):
        if not isinstance(x, types):
            raise InvalidInput(
                f"Document {i} of {owner} is {_name(x)}, not {what}. All documents must be of the same"
                " type; use '' or [] for an empty one."
            )
    return X


def _name(x: Any) -> str:
    return (
        repr(x) if x is None or type(x).__name__ in ("float", "NAType") else f"a {type(x).__name__}"
    )


def own_rows(estimator: Any, corpus: Corpus, rows: npt.ArrayLike | None) -> LeaveOut | None:
    """The training rows these documents correspond to, so that each can be left out."""
    if rows is None:
        return None
    rows = plain(rows, parameter("rows"))
    n = corpus.doc_of_row.size
    ok = rows.shape == (n,) and rows.dtype.kind in "iu"
    if not ok or (n and (rows.min() < 0 or rows.max() >= estimator.labels_.size)):
        raise InvalidInput(
            parameter("rows")
            + f" must be {n} row numbers of the training data, one for each document in X."
        )
    length = estimator._row_values()["length"][rows]
    counted = length > 0  # a row of weight 0 is not in the counts
    other = counted & (length != corpus.per_row(corpus.counts.length, 0))
    if other.any():
        i = int(np.argmax(other))
        raise InvalidInput(
            f"Document {i} of X is not row {rows[i]} of the training data, which had {length[i]}"
            " words. Pass the documents the model was fitted on, in the same order as rows."
        )
    own = np.where(counted, estimator.labels_[rows], -1)
    known = corpus.doc_of_row >= 0
    promoting = estimator._promoting
    flags = None if promoting is None else flags_of(promoting, corpus.counts, rows[known])
    return LeaveOut(own[known], flags)
