"""Bad input gets one clear sentence (what, where, what to do), and loses nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

from coterie import GSDMM, GSDPMM, word_beta
from coterie.errors import CoterieError, InvalidInput

TEXTS = ["red apple pie", "apple pie recipe", "fast car race", "car race driver"]
COUNTS = np.array([[1, 2, 0], [0, 1, 1], [3, 0, 0]])
NAN = float("nan")


def sentence(call: Callable[[], Any], kind: type[Exception] = InvalidInput) -> str:
    """The message of what `call` raises, after checking that it reads like a sentence."""
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message, message
    assert message.endswith("."), message
    assert 20 < len(message) < 300, message
    return message


def fit(X: Any, **how: Any) -> GSDMM:
    return GSDMM(3, n_sweeps=2, random_state=0).fit(X, **how)


def with_cell(value: float) -> np.ndarray:
    X = COUNTS.astype(float)
    X[1, 2] = value
    return X


class TestMatrix:
    @pytest.mark.parametrize(
        "container", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_array]
    )
    @pytest.mark.parametrize(
        ("value", "what"),
        [
            (-1, "egative values"),
            (NAN, "NaN or infinite values"),
            (np.inf, "NaN or infinite values"),
            (-np.inf, "NaN or infinite values"),
            (0.5, "fractions"),
        ],
        ids=str,
    )
    def test_values_that_are_no_counts(self, value: float, what: str, container: Any) -> None:
        message = sentence(lambda: fit(container(with_cell(value))))
        assert what in message
        assert "GSDMM.fit" in message
        assert "row 1" in message
        assert "CountVectorizer" in message

    def test_tf_idf(self) -> None:
        message = sentence(lambda: fit(TfidfVectorizer().fit_transform(TEXTS)))
        assert "tf-idf" in message
        assert "CountVectorizer" in message

    def test_negative_integers(self) -> None:
        assert "egative values" in sentence(lambda: fit(-COUNTS))

    def test_the_same_in_predict(self) -> None:
        model = fit(COUNTS)
        message = sentence(lambda: model.predict(with_cell(0.5)))
        assert "GSDMM.predict" in message
        assert "row 1" in message

    def test_a_table_of_texts(self) -> None:
        sentence(lambda: fit(np.array([["red car", "pie"]])), ValueError)

    def test_half_precision_counts_are_counts(self) -> None:
        assert (fit(COUNTS.astype(np.float16)).labels_ == fit(COUNTS).labels_).all()

    def test_float_counts_beyond_int32(self) -> None:
        X = np.array([[2.0**31, 1]], np.float32)
        assert "2^31 - 1" in sentence(lambda: fit(X))

    @pytest.mark.parametrize("X", [np.zeros((3, 3), int), sparse.csr_matrix((3, 3), dtype=int)])
    def test_no_words_at_all(self, X: Any) -> None:
        assert "nothing to cluster" in sentence(lambda: fit(X))

    @pytest.mark.parametrize("shape", [(3, 0), (0, 3)])
    def test_no_columns_or_no_rows(self, shape: tuple[int, int]) -> None:
        sentence(lambda: fit(np.zeros(shape)), ValueError)

    def test_another_number_of_columns(self) -> None:
        model = fit(COUNTS)
        message = sentence(lambda: model.predict(np.ones((2, 4), int)), ValueError)
        assert "4 features" in message
        assert "3 features" in message


class TestTexts:
    @pytest.mark.parametrize("X", ["red car", b"red car"], ids=["str", "bytes"])
    def test_a_bare_string(self, X: Any) -> None:
        model = fit(TEXTS)
        for call in (lambda: fit(X), lambda: model.predict(X), lambda: model.score(X)):
            message = sentence(call)
            assert "is a single string" in message
            assert "[text]" in message

    @pytest.mark.parametrize("X", [{"a": 1}, {"red car"}, frozenset({"pie"})])
    def test_what_has_no_order(self, X: Any) -> None:
        assert type(X).__name__ in sentence(lambda: fit(X))

    @pytest.mark.parametrize("missing", [None, NAN, pd.NA], ids=str)
    @pytest.mark.parametrize("at", [0, 1, 3])
    def test_a_missing_text(self, missing: Any, at: int) -> None:
        texts = [*TEXTS[:at], missing, *TEXTS[at:]]
        message = sentence(lambda: fit(texts))
        assert f"Document {at} of GSDMM.fit" in message
        assert "''" in message
        assert f"Document {at}" in sentence(lambda: fit(pd.Series(texts, dtype=object)))

    def test_a_missing_text_after_an_empty_one(self) -> None:
        assert "Document 1" in sentence(lambda: fit(["", None, "red car"]))

    @pytest.mark.parametrize("X", [[None], [None, None], [NAN, NAN]])
    def test_nothing_but_missing_texts(self, X: Any) -> None:
        assert "Document 0" in sentence(lambda: fit(X))

    def test_a_missing_text_in_predict(self) -> None:
        model = fit(TEXTS)
        assert "GSDMM.predict" in sentence(lambda: model.predict([None, "red apple"]))
        assert "GSDMM.predict" in sentence(lambda: model.predict([None]))

    @pytest.mark.parametrize("at", [0, 1])
    def test_a_missing_token_list(self, at: int) -> None:
        docs: list[Any] = [["red", "car"], ["pie"]]
        docs.insert(at, None)
        assert f"Document {at}" in sentence(lambda: fit(docs))

    def test_a_bare_string_among_token_lists(self) -> None:
        message = sentence(lambda: fit([["red", "car"], "red car"]))
        assert "Document 1" in message
        assert "list of tokens" in message

    def test_a_token_list_among_texts(self) -> None:
        assert "Document 1" in sentence(lambda: fit(["red car", ["red", "car"]]))

    @pytest.mark.parametrize("token", [None, 1, 1.5, b"car", ["car"]], ids=repr)
    def test_a_token_that_is_no_string(self, token: Any) -> None:
        for doc in (["red", token], [token, "red"]):
            assert "string" in sentence(lambda doc=doc: fit([["pie", "red"], doc]))

    @pytest.mark.parametrize(
        "X",
        [[b"red car", b"pie"], [[b"red"]], [{"red": 1}], [[1, 2], ["red", "car"]], [[1, "red"]]],
        ids=["bytes", "bytes tokens", "dicts", "counts and tokens", "count and token"],
    )
    def test_lists_that_are_neither_texts_nor_tokens_nor_counts(self, X: Any) -> None:
        message = sentence(lambda: fit(X))
        assert "GSDMM.fit" in message
        assert "text" in message or "token" in message

    @pytest.mark.parametrize("X", [None, 3])
    def test_no_documents_at_all(self, X: Any) -> None:
        assert "GSDMM.fit" in sentence(lambda: fit(X))

    @pytest.mark.parametrize("X", [[], [""], ["", ""], [[]], [[], []], ["a", "I !"]], ids=repr)
    def test_no_words_at_all(self, X: Any) -> None:
        assert "nothing to cluster" in sentence(lambda: fit(X))

    def test_texts_for_a_model_of_a_matrix(self) -> None:
        model = fit(COUNTS)
        message = sentence(lambda: model.predict(["red car"]))
        assert "GSDMM.predict got texts" in message
        assert "matrix with the same columns" in message
        assert "GSDMM.predict got tokens" in sentence(lambda: model.predict([["red"]]))

    def test_perplexity_of_nothing_known(self) -> None:
        message = sentence(lambda: fit(TEXTS).perplexity(["unheard of"]))
        assert "GSDMM.perplexity" in message

    def test_a_vocabulary_of_another_length(self) -> None:
        assert "one word per column" in sentence(lambda: fit(COUNTS, vocabulary=["red"]))

    def test_a_vocabulary_for_texts(self) -> None:
        assert "only if X is a matrix" in sentence(lambda: fit(TEXTS, vocabulary=["red"]))

    def test_a_vocabulary_that_is_a_bare_string(self) -> None:
        assert "vocabulary" in sentence(lambda: fit(COUNTS, vocabulary="abc"))

    def test_a_vocabulary_with_a_word_twice(self) -> None:
        assert "'red'" in sentence(lambda: fit(COUNTS, vocabulary=["red", "red", "car"]))


class TestWeights:
    @pytest.mark.parametrize(
        "weight",
        [[0.5, 1, 1, 1], [-1, 1, 1, 1], [NAN, 1, 1, 1], ["x"] * 4, [2**31, 1, 1, 1]],
        ids=str,
    )
    def test_weights_that_are_no_whole_numbers(self, weight: Any) -> None:
        message = sentence(lambda: fit(TEXTS, sample_weight=weight))
        assert "sample_weight of GSDMM.fit" in message
        assert "whole numbers" in message

    @pytest.mark.parametrize("weight", [[1], [1] * 5, [[1]] * 4], ids=str)
    def test_weights_of_another_length(self, weight: Any) -> None:
        message = sentence(lambda: fit(TEXTS, sample_weight=weight))
        assert "sample_weight of GSDMM.fit" in message
        assert "4 documents" in message

    def test_no_weight_at_all(self) -> None:
        message = sentence(lambda: fit(TEXTS, sample_weight=[0] * 4))
        assert "weight" in message
        assert "nothing to cluster" in message


PARAMETERS = [
    ("beta", [0, 0.0, -1, NAN, np.inf, "x", None, True, [], [0.1, 0.0], [[0.1]], 1e10]),
    ("alpha", [-1, -1e-9, NAN, np.inf, "x", None, True, [0.1]]),
    ("n_sweeps", [0, -1, 1.5, "x", None, True]),
    ("tol", [0, -1, "x", NAN]),
    ("max_time", [0, -1, "x", NAN]),
    ("n_jobs", [0, -2, 1.5, "x"]),
    ("sampler", ["x", None]),
    ("backend", ["x", "gpu", None]),
    ("burstiness", [1, "yes", None]),
    ("tie_duplicates", [1, "yes", None]),
    ("checkpoint_every", [0, 1.5, None]),
    ("random_state", [-1, 1.5, "x", True, [1]]),
    ("callbacks", [3, len, [3]]),
    ("checkpoint", [3]),
    ("init", ["x", 0, -1, 1.5, None, [0, 1], [0.5] * 4, ["a"] * 4, [[0]] * 4, [[0], [1, 2]]]),
]


class TestParameters:
    @pytest.mark.parametrize("cls", [GSDMM, GSDPMM])
    @pytest.mark.parametrize(
        ("name", "value"),
        [(name, value) for name, values in PARAMETERS for value in values],
        ids=lambda v: v if isinstance(v, str) else repr(v)[:30],
    )
    def test_a_parameter_out_of_range(self, cls: Any, name: str, value: Any) -> None:
        model = cls(**{"n_sweeps": 2, "random_state": 0, name: value})
        message = sentence(lambda: model.fit(TEXTS))
        assert name in message
        assert cls.__name__ in message

    @pytest.mark.parametrize("value", [0, -3, 2.5, 3.0, "x", None, True, 10**30])
    def test_n_clusters(self, value: Any) -> None:
        message = sentence(lambda: GSDMM(value).fit(TEXTS))
        assert "n_clusters of GSDMM" in message

    def test_alpha_so_large_that_it_overflows(self) -> None:
        assert "alpha" in sentence(lambda: GSDMM(10**9, alpha=1e308).fit(TEXTS))
        assert "alpha" in sentence(lambda: GSDPMM(alpha=1e308).fit(TEXTS))

    def test_beta_so_small_that_it_underflows(self) -> None:
        assert "beta" in sentence(lambda: GSDMM(3, beta=5e-324).fit(TEXTS))

    def test_eq_3_cannot_be_tied(self) -> None:
        for settings, weight in (({"tie_duplicates": True}, None), ({}, [2, 1, 1, 1, 1])):
            model = GSDMM(3, burstiness=False, **settings)
            message = sentence(lambda m=model, w=weight: m.fit([*TEXTS, TEXTS[0]], sample_weight=w))
            assert "burstiness" in message

    def test_beta_of_another_length(self) -> None:
        message = sentence(lambda: GSDMM(3, beta=[0.1, 0.2]).fit(TEXTS))
        assert "beta of GSDMM has 2 values" in message
        assert "8 distinct words" in message

    def test_alpha_0_has_no_process(self) -> None:
        message = sentence(lambda: GSDPMM(alpha=0).fit(TEXTS))
        assert "alpha of GSDPMM must be" in message
        assert "'auto'" in message

    @pytest.mark.parametrize("init", [4, [0, 1, 2, 3]], ids=str)
    def test_init_with_more_clusters_than_the_cap(self, init: Any) -> None:
        message = sentence(lambda: GSDMM(3, init=init).fit(TEXTS))
        assert "4 clusters" in message
        assert "n_clusters is 3" in message

    def test_init_random_needs_a_cap(self) -> None:
        message = sentence(lambda: GSDPMM(init="random").fit(TEXTS))
        assert (
            "init of GSDPMM must be one of 'auto', 'one', 'online', 'sample', 'anchored', 'seeds'"
            in message
        )

    def test_init_online_needs_alpha(self) -> None:
        assert "alpha > 0" in sentence(lambda: GSDMM(3, alpha=0, init="online").fit(TEXTS))

    def test_the_constructor_only_stores(self) -> None:
        assert GSDMM(-1, beta="x").get_params()["beta"] == "x"

    def test_fit_never_rewrites_parameters(self) -> None:
        model = GSDPMM(random_state=0, n_jobs=-1)
        before = model.get_params()
        assert model.fit(TEXTS).get_params() == before

    @pytest.mark.parametrize(
        "call",
        [
            lambda: word_beta([[1, 2], [3, 4]], by="x"),
            lambda: word_beta(COUNTS, mean=0),
            lambda: word_beta(COUNTS, mean="x"),
            lambda: word_beta(-COUNTS),
            lambda: word_beta(np.zeros((2, 2)), by="frequency"),
            lambda: word_beta(TEXTS),
        ],
        ids=["by", "mean 0", "mean x", "negative", "no words", "texts"],
    )
    def test_word_beta(self, call: Any) -> None:
        assert "word_beta" in sentence(call)


class TestMethods:
    @pytest.mark.parametrize("cls", [GSDMM, GSDPMM])
    @pytest.mark.parametrize(
        "method",
        ["predict", "predict_proba", "transform", "score", "perplexity", "save"],
    )
    def test_an_unfitted_model(self, cls: Any, method: str) -> None:
        arguments = ("nowhere",) if method == "save" else (TEXTS,)
        message = sentence(lambda: getattr(cls(), method)(*arguments), NotFittedError)
        assert f"This {cls.__name__} instance is not fitted yet" in message

    def test_an_unfitted_model_has_nothing_to_tell(self) -> None:
        sentence(lambda: GSDMM().top_words(), NotFittedError)
        sentence(lambda: GSDMM().representative_docs(), NotFittedError)
        sentence(lambda: GSDMM().outliers(), NotFittedError)
        sentence(lambda: GSDMM().outlier_scores_, NotFittedError)

    @pytest.mark.parametrize(
        ("method", "arguments"),
        [
            ("top_words", {"n": 0}),
            ("top_words", {"n": 2.5}),
            ("top_words", {"by": "x"}),
            ("representative_docs", {"n": 0}),
            ("outliers", {"by": "x"}),
            ("outliers", {"by": "score", "threshold": "x"}),
            ("outliers", {"by": "score", "threshold": NAN}),
        ],
        ids=str,
    )
    def test_an_argument_out_of_range(self, method: str, arguments: dict[str, Any]) -> None:
        message = sentence(lambda: getattr(fit(TEXTS), method)(**arguments))
        assert f"of GSDMM.{method} must be" in message

    @pytest.mark.parametrize("rows", [[0], [0, 1, 2, 4], [0, 1, 2, -1], [0.0, 1, 2, 3], 0], ids=str)
    def test_rows_that_are_no_training_rows(self, rows: Any) -> None:
        model = fit(TEXTS)
        assert "row numbers" in sentence(lambda: model.predict(TEXTS, rows=rows))
        assert "row numbers" in sentence(lambda: model.predict_proba(TEXTS, rows=rows))


class TestNothingIsLost:
    """A fit that fails leaves the earlier one as it was."""

    @pytest.mark.parametrize(
        "failing",
        [
            pytest.param(lambda m: m.fit(-np.ones((2, 7))), id="other columns"),
            pytest.param(
                lambda m: m.fit(pd.DataFrame({"x": [-1], "y": [1], "z": [1]})), id="other names"
            ),
            pytest.param(lambda m: m.fit([None]), id="missing text"),
            pytest.param(lambda m: m.fit(["", ""]), id="no words"),
            pytest.param(lambda m: m.fit(COUNTS, sample_weight=[1]), id="weights"),
            pytest.param(lambda m: m.fit(COUNTS, vocabulary=["red"]), id="vocabulary"),
            pytest.param(lambda m: m.set_params(beta=[1.0, 1.0]).fit(COUNTS), id="beta"),
            pytest.param(lambda m: m.set_params(alpha=-1).fit(COUNTS), id="alpha"),
            pytest.param(lambda m: m.set_params(init=[0]).fit(COUNTS), id="init"),
            pytest.param(lambda m: m.set_params(random_state=-1).fit(COUNTS), id="seed"),
            pytest.param(
                lambda m: m.set_params(checkpoint="/nowhere/x").fit(COUNTS), id="checkpoint"
            ),
            pytest.param(lambda m: m.set_params(callbacks=[_fail]).fit(COUNTS), id="callback"),
        ],
    )
    @pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
    def test_a_failed_refit(self, failing: Any, frame: bool, tmp_path: Path) -> None:
        X = pd.DataFrame(COUNTS, columns=["aa", "bb", "cc"]) if frame else COUNTS
        model = fit(X)
        before = _all_of(model, X)
        attributes = set(vars(model))
        with pytest.raises((CoterieError, ValueError, RuntimeError, AttributeError, TypeError)):
            failing(model)
        after = _all_of(model, X)
        assert set(vars(model)) == attributes
        for name, old in before.items():
            np.testing.assert_array_equal(after[name], old, err_msg=name)
        model.save(tmp_path / "model")

    def test_names_of_columns_go_when_texts_come(self) -> None:
        model = fit(pd.DataFrame(COUNTS, columns=["aa", "bb", "cc"])).fit(TEXTS)
        assert not hasattr(model, "feature_names_in_")
        assert model.predict(np.ones((1, 8), int)).shape == (1,)


def _fail(event: Any) -> None:
    raise RuntimeError("a callback failed")


def _all_of(model: GSDMM, X: Any) -> dict[str, Any]:
    return {
        "predict": model.predict(X),
        "predict_proba": model.predict_proba(X),
        "labels": model.labels_,
        "sizes": model.cluster_sizes_,
        "outlier scores": model.outlier_scores_,
        "log joint": model.trace_["log_joint"],
        "columns": model.n_features_in_,
        "names": getattr(model, "feature_names_in_", None),
        "top words": repr(model.top_words()),
    }


@pytest.mark.parametrize("name", ["alpha", "tol", "max_time", "n_clusters", "beta"])
def test_whole_numbers_too_large_for_a_float(name: str) -> None:
    message = sentence(lambda: GSDMM(**{name: 10**400}).fit(TEXTS))
    assert message.startswith(f"{name} of GSDMM must be")
