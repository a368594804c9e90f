"""Sparse matrices whose index arrays lie: scipy makes them without a word, no kernel may see them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from coterie import GSDMM, GSDPMM, metrics
from coterie.errors import InvalidInput
from coterie.urns import word_beta

DENSE = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 2, 0], [0, 0, 1, 1, 3]])


def csr() -> Any:
    return sparse.csr_matrix(DENSE)


def changed(matrix: Any, name: str, place: Any, value: Any) -> Any:
    getattr(matrix, name)[place] = value
    return matrix


def replaced(matrix: Any, name: str, value: Any) -> Any:
    setattr(matrix, name, value)
    return matrix


LIES: dict[str, Callable[[], Any]] = {
    "an index far outside": lambda: changed(csr(), "indices", -1, 5_000_000),
    "an index just outside": lambda: changed(csr(), "indices", -1, 5),
    "a negative index": lambda: changed(csr(), "indices", 2, -3),
    "a pointer beyond the end": lambda: changed(csr(), "indptr", -1, 4_000_000),
    "pointers that descend": lambda: changed(csr(), "indptr", 1, 9),
    "a first pointer that is not 0": lambda: changed(csr(), "indptr", 0, 2),
    "a negative pointer": lambda: changed(csr(), "indptr", 1, -1),
    "too few pointers": lambda: replaced(csr(), "indptr", np.array([0, 3])),
    "too many pointers": lambda: replaced(csr(), "indptr", np.array([0, 3, 6, 9, 9])),
    "too few values": lambda: replaced(csr(), "data", np.ones(2, int)),
    "too few indices": lambda: replaced(csr(), "indices", np.zeros(2, np.int32)),
    "indices that are fractions": lambda: replaced(csr(), "indices", csr().indices + 0.5),
    "pointers that are fractions": lambda: replaced(csr(), "indptr", csr().indptr + 0.0),
    "indices in two dimensions": lambda: replaced(csr(), "indices", csr().indices[:, None]),
    "csc: an index far outside": lambda: changed(csr().tocsc(), "indices", 0, 10**6),
    "csc: a pointer beyond the end": lambda: changed(csr().tocsc(), "indptr", -1, 10**6),
    "coo: a row far outside": lambda: changed(csr().tocoo(), "row", 0, 10**6),
    "coo: a negative column": lambda: changed(csr().tocoo(), "col", 0, -(10**6)),
    "coo: a row too few": lambda: replaced(csr().tocoo(), "row", np.zeros(2, np.int32)),
    "lil: a column far outside": lambda: changed(csr().tolil(), "rows", 0, [0, 1, 10**8]),
    "lil: more values than columns": lambda: changed(csr().tolil(), "rows", 0, [0]),
    "bsr: a block far outside": lambda: changed(csr().tobsr((1, 5)), "indices", 0, 10**7),
}

DOORS: dict[str, Callable[[Any, Any], Any]] = {
    "fit": lambda model, X: GSDMM(3, n_sweeps=2).fit(X),
    "fit, process": lambda model, X: GSDPMM(n_sweeps=2).fit(X),
    "predict": lambda model, X: model.predict(X),
    "predict, rows": lambda model, X: model.predict(X, rows=np.arange(X.shape[0])),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "transform": lambda model, X: model.transform(X, method="sw"),
    "score": lambda model, X: model.score(X),
    "perplexity": lambda model, X: model.perplexity(X),
    "coherence": lambda model, X: metrics.coherence([[0, 1]], X, measure="npmi"),
    "word_beta": lambda model, X: word_beta(X),
}


@pytest.fixture(scope="module")
def model() -> GSDMM:
    return GSDMM(3, n_sweeps=3, random_state=0).fit(csr())


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("lie", LIES)
def test_is_refused_at_every_door(lie: str, door: str, model: GSDMM) -> None:
    with pytest.raises(
        InvalidInput, match="sparse matrix whose index arrays do not match"
    ) as caught:
        DOORS[door](model, LIES[lie]())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("door", ["predict", "predict_proba", "score"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "bsr", "dok", "dia"])
def test_honest_ones_of_every_form_pass(form: str, door: str, model: GSDMM) -> None:
    np.testing.assert_array_equal(
        DOORS[door](model, csr().asformat(form)), DOORS[door](model, DENSE)
    )


def test_repeats_are_added_up_whatever_the_matrix_says_of_itself(model: GSDMM) -> None:
    honest = sparse.csr_matrix(([1, 1, 2, 1], [3, 0, 3, 3], [0, 3, 4]), shape=(2, 5))
    lying = honest.copy()
    lying.has_canonical_format = True
    lying.has_sorted_indices = True
    assert model.score(lying) == model.score(honest.toarray())


def test_values_behind_the_last_pointer_are_not_the_matrix(model: GSDMM) -> None:
    loose = csr()
    loose.data = np.append(loose.data, [-1, 7])
    loose.indices = np.append(loose.indices, [99, -5]).astype(np.int32)
    assert model.score(loose) == model.score(DENSE)


def test_rows_must_be_those_the_model_was_fitted_on(model: GSDMM) -> None:
    """A document larger than the cluster it is taken out of made scoring spin for minutes."""
    huge = np.array([[2**31 - 1, 0, 0, 0, 0]])
    with pytest.raises(InvalidInput, match="is not row 1 of the training data, which had 4 words"):
        model.predict(huge, rows=[1])
    assert model.predict(DENSE, rows=[0, 1, 2]).shape == (3,)
