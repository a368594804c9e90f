"""Corpora and settings at the edge, and what a fitted model must tell about itself."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import gammaln, logsumexp

import coterie.model
from coterie import GSDMM, GSDPMM, word_beta
from coterie.demo import make_corpus
from coterie.errors import InvalidInput

BOTH = pytest.mark.parametrize("cls", [GSDMM, GSDPMM])
BAKING = ["oven bread recipe", "bread dough recipe", "bake bread oven", "dough recipe bake"]
CYCLING = ["mountain bike ride", "bike gear ride", "ride mountain gear", "gear bike mountain"]
TEXTS = BAKING + CYCLING
TOKENS = [text.split() for text in TEXTS]


@pytest.fixture(scope="module")
def corpus() -> list[list[str]]:
    return make_corpus(300)[0]


@pytest.fixture(scope="module")
def matrix(corpus: list[list[str]]) -> Any:
    words = sorted({word for doc in corpus for word in doc})
    X = np.zeros((len(corpus), len(words)), np.int64)
    for d, doc in enumerate(corpus):
        for word in doc:
            X[d, words.index(word)] += 1
    return X


def check_fit(model: Any, n_rows: int, empty: tuple[int, ...] = ()) -> None:
    """What holds for every fitted model."""
    labels = model.labels_
    assert labels.shape == (n_rows,)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(np.flatnonzero(labels == -1), empty)
    used = labels[labels >= 0]
    assert model.n_clusters_ == used.max() + 1
    np.testing.assert_array_equal(np.bincount(used), model.cluster_sizes_)
    assert (np.diff(model.cluster_sizes_) <= 0).all(), "clusters are numbered from the largest down"
    for line in model.trace_:
        assert math.isfinite(line.log_likelihood)
        assert math.isfinite(line.log_joint) or model.alpha == 0


def check_scores(model: Any, X: Any) -> None:
    """What holds for every model's answers, whatever the documents."""
    proba, labels = model.predict_proba(X), model.predict(X)
    known = labels >= 0
    assert proba.shape == (len(labels), model.n_clusters_)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba[known].sum(axis=1), 1.0, rtol=1e-12)
    assert (proba[~known] == 0).all()
    np.testing.assert_array_equal(proba[known].argmax(axis=1), labels[known])
    assert math.isfinite(model.score(X))


class TestExtremeDocuments:
    @BOTH
    @pytest.mark.parametrize("tie", [False, True], ids=["free", "tied"])
    def test_documents_of_100_000_words(self, cls: Any, tie: bool) -> None:
        def long(step: int) -> list[str]:
            return [f"w{i * step % 5000}" for i in range(100_000)]

        docs = [long(1), long(1), long(2), long(2), ["w1", "other"]]
        model = cls(n_sweeps=4, random_state=0, tie_duplicates=tie).fit(docs)
        check_fit(model, 5)
        check_scores(model, docs)
        assert (model.predict_proba(docs, rows=range(5)).sum(axis=1) > 0.999).all()

    @BOTH
    @pytest.mark.parametrize("burstiness", [True, False])
    @pytest.mark.parametrize("beta", [1e-6, 0.1, 10.0])
    def test_100_000_times_one_word(self, cls: Any, burstiness: bool, beta: float) -> None:
        X = np.array([[100_000, 0, 1], [100_000, 1, 0], [0, 100_000, 2], [1, 1, 1]])
        model = cls(n_sweeps=4, random_state=0, beta=beta, burstiness=burstiness).fit(X)
        check_fit(model, 4)
        check_scores(model, X)
        if burstiness:  # with Eq. 3, a word met once draws 100,000 of it
            assert model.labels_[0] != model.labels_[2]

    @BOTH
    @pytest.mark.parametrize("tie", [False, True], ids=["free", "tied"])
    @pytest.mark.parametrize("beta", [1e-6, 0.02])
    def test_two_equal_documents_of_1_000_rare_words(
        self, cls: Any, tie: bool, beta: float, any_seed: int
    ) -> None:
        rare = [f"rare{i}" for i in range(1000)]
        docs = [rare, ["x", "y"], rare, ["x", "z"]]
        model = cls(n_sweeps=5, random_state=any_seed, beta=beta, tie_duplicates=tie).fit(docs)
        check_fit(model, 4)
        check_scores(model, docs)
        assert model.labels_[0] == model.labels_[2]
        assert model.labels_[0] != model.labels_[1]
        assert np.isfinite(model.outlier_scores_).all()

    @pytest.mark.parametrize("beta", [1e-9, 1e-7, 1e-5])
    def test_often_repeated_words_do_not_overflow(self, beta: float) -> None:
        """Eq. 3 raises 1 + n / beta to the power 16 here: 10^211 a word at beta = 1e-9."""
        X = np.kron(np.eye(2, dtype=int), np.full((50, 20), 16))
        model = GSDMM(5, beta=beta, burstiness=False, n_sweeps=5, random_state=0).fit(X)
        assert model.cluster_sizes_.tolist() == [50, 50]

    @BOTH
    @pytest.mark.parametrize("beta", [1e-100, 1e-30, 1e-6, 1e6])
    def test_extreme_beta(self, cls: Any, beta: float) -> None:
        docs = TOKENS * 5
        model = cls(random_state=0, beta=beta, n_sweeps=20).fit(docs)
        check_fit(model, len(docs))
        check_scores(model, docs)
        if beta < 1:  # identical documents stay together, as the others share too few words
            for row in range(len(TOKENS)):
                assert len(set(model.labels_[row :: len(TOKENS)])) == 1

    @pytest.mark.parametrize("alpha", [1e-300, 1e-9, 1e9, 1e100])
    def test_extreme_alpha_of_the_process(self, alpha: float) -> None:
        model = GSDPMM(alpha=alpha, random_state=0).fit(TOKENS * 5)
        check_fit(model, 40)
        check_scores(model, TOKENS)
        assert model.n_clusters_ == (1 if alpha < 1e-200 else model.n_clusters_)
        assert model.n_clusters_ == (40 if alpha > 1 else model.n_clusters_)

    def test_log_joint_of_a_huge_alpha(self) -> None:
        """All singletons: the partition costs ln(a^D / (a (a+1) ... (a+D-1))), nearly nothing."""
        model = GSDPMM(alpha=1e100, random_state=0).fit(TOKENS)
        words, beta = len({w for doc in TOKENS for w in doc}), 0.02
        rising = sum(math.log(words * beta + i) for i in range(3))
        expected = len(TOKENS) * (3 * math.log(beta) - rising)
        assert model.trace_[-1].log_joint == pytest.approx(expected, rel=1e-9)


class TestSmallCorpora:
    @BOTH
    def test_one_document(self, cls: Any) -> None:
        model = cls(random_state=0).fit([["a", "b"]])
        check_fit(model, 1)
        assert model.labels_.tolist() == [0]
        assert model.predict([["b"]]).tolist() == [0]
        assert model.predict_proba([["b"]]).tolist() == [[1.0]]
        assert [word for word, _ in model.top_words()[0]] == ["a", "b"]
        assert [rows.tolist() for rows in model.representative_docs()] == [[0]]
        assert model.outliers().tolist() == [True]

    @BOTH
    def test_one_document_left_out_leaves_nothing_to_belong_to(self, cls: Any) -> None:
        model = cls(random_state=0).fit([["a", "b"]])
        proba = model.predict_proba([["a", "b"]], rows=[0])
        assert proba.tolist() in ([[1.0]], [[0.0]])  # never nan
        assert not np.isnan(model.outlier_scores_).any()

    @BOTH
    def test_all_documents_equal(self, cls: Any) -> None:
        model = cls(random_state=0).fit([["a", "b"]] * 50)
        check_fit(model, 50)
        assert len(set(model.predict([["a", "b"]] * 3))) == 1

    @BOTH
    def test_all_documents_equal_and_tied(self, cls: Any) -> None:
        model = cls(random_state=0, tie_duplicates=True).fit([["a", "b"]] * 50)
        check_fit(model, 50)
        assert model.labels_.tolist() == [0] * 50

    @pytest.mark.parametrize("n_clusters", [9, 1000, 10**9, 2**40])
    def test_more_clusters_than_documents(self, n_clusters: int) -> None:
        model = GSDMM(n_clusters, random_state=0, n_sweeps=5).fit(TOKENS)
        check_fit(model, 8)
        check_scores(model, TOKENS)
        assert model.n_clusters_ <= 8

    @pytest.mark.parametrize("alpha", [0.0, 0.1])
    def test_one_cluster(self, alpha: float) -> None:
        model = GSDMM(1, alpha=alpha, random_state=0).fit(TOKENS)
        assert model.labels_.tolist() == [0] * 8
        assert set(model.trace_["moved"]) == {0}

    @pytest.mark.parametrize("tie", [False, True], ids=["free", "tied"])
    @pytest.mark.parametrize("init", ["random", "one", 3, [0, 1, 2, 3] * 2], ids=str)
    def test_alpha_0_never_opens_a_cluster(self, init: Any, tie: bool, any_seed: int) -> None:
        model = GSDMM(6, alpha=0, init=init, random_state=any_seed, tie_duplicates=tie)
        model.fit(TOKENS)
        check_fit(model, 8)
        check_scores(model, TOKENS)
        clusters = model.trace_["clusters"]
        assert (np.diff(clusters) <= 0).all()
        assert clusters[0] <= (6 if init == "random" else np.size(init) if init == "one" else 4)
        assert np.isnan(model.trace_["log_joint"]).all(), "alpha = 0 has no joint"

    def test_alpha_0_with_one_document(self) -> None:
        model = GSDMM(5, alpha=0, random_state=0).fit([["a"]])
        assert model.labels_.tolist() == [0]
        assert model.predict_proba([["a"]]).tolist() == [[1.0]]


class TestEmptyDocuments:
    @BOTH
    @pytest.mark.parametrize("tie", [False, True], ids=["free", "tied"])
    def test_get_no_cluster(self, cls: Any, tie: bool) -> None:
        docs = [[], *TOKENS[:4], [], *TOKENS[4:], []]
        model = cls(random_state=0, tie_duplicates=tie).fit(docs)
        check_fit(model, 11, empty=(0, 5, 10))
        check_scores(model, docs)
        assert np.isnan(model.outlier_scores_[[0, 5, 10]]).all()
        assert not model.outliers()[[0, 5, 10]].any()
        assert not model.outliers(by="score")[[0, 5, 10]].any()
        assert not {0, 5, 10} & set(np.concatenate(model.representative_docs(99)))

    @BOTH
    def test_change_nothing_for_the_others(self, cls: Any) -> None:
        plain = cls(random_state=0).fit(TOKENS)
        mixed = cls(random_state=0).fit([[], *TOKENS, []])
        np.testing.assert_array_equal(mixed.labels_[1:-1], plain.labels_)
        assert mixed.trace_["log_joint"].tolist() == plain.trace_["log_joint"].tolist()

    @BOTH
    def test_are_known_by_known_words_in_predict(self, cls: Any) -> None:
        model = cls(random_state=0).fit(TEXTS)
        new = ["", "unheard of", "bread and oven", "!"]
        labels = model.predict(new)
        assert (labels >= 0).tolist() == [False, False, True, False]
        assert (model.predict_proba(new).sum(axis=1) > 0).tolist() == (labels >= 0).tolist()
        assert model.score(new) == model.score(["bread oven"])
        assert model.predict([]).shape == (0,)
        assert model.predict_proba([]).shape == (0, model.n_clusters_)

    def test_as_rows_of_a_matrix(self) -> None:
        X = sparse.csr_matrix(np.array([[0, 0, 0], [1, 0, 2], [0, 0, 0], [0, 3, 0]]))
        model = GSDMM(5, random_state=0).fit(X)
        check_fit(model, 4, empty=(0, 2))


class TestWeights:
    @BOTH
    def test_a_document_of_weight_0_counts_nowhere(self, cls: Any) -> None:
        docs = [*TOKENS, ["bread", "brandnew"]]
        light = cls(random_state=0, beta=0.02).fit(docs, sample_weight=[1] * 8 + [0])
        assert light.cluster_sizes_.sum() == 8
        assert light.labels_[8] == light.predict(docs)[8], "labelled like a new document"
        word_counts = light.model_.word_cluster.sum(axis=1)
        assert np.asarray(word_counts).ravel()[-1] == 0

    @BOTH
    def test_leaving_out_a_document_of_weight_0_changes_nothing(self, cls: Any) -> None:
        model = cls(random_state=0).fit(TOKENS, sample_weight=[0, 1, 1, 1, 1, 1, 1, 1])
        np.testing.assert_array_equal(
            model.predict_proba(TOKENS[:1], rows=[0]), model.predict_proba(TOKENS[:1])
        )

    @BOTH
    def test_weight_means_copies_that_stay_together(self, cls: Any) -> None:
        weights = [3, 1, 2, 1, 1, 1, 1, 1]
        copies = [doc for doc, copy in zip(TOKENS, weights, strict=True) for _ in range(copy)]
        heavy = cls(random_state=0, n_sweeps=5).fit(TOKENS, sample_weight=weights)
        tied = cls(random_state=0, n_sweeps=5, tie_duplicates=True).fit(copies)
        np.testing.assert_array_equal(np.repeat(heavy.labels_, weights), tied.labels_)
        np.testing.assert_array_equal(heavy.cluster_sizes_, tied.cluster_sizes_)
        assert heavy.trace_["log_joint"].tolist() == tied.trace_["log_joint"].tolist()

    def test_weight_1_is_no_weight(self) -> None:
        plain = GSDMM(9, random_state=0).fit(TOKENS)
        for weight in ([1] * 8, np.ones(8), 1):
            weighted = GSDMM(9, random_state=0).fit(TOKENS, sample_weight=weight)
            np.testing.assert_array_equal(weighted.labels_, plain.labels_)

    def test_an_empty_document_of_weight_0(self) -> None:
        model = GSDMM(9, random_state=0).fit([[], *TOKENS], sample_weight=[0, 0] + [1] * 7)
        assert model.labels_[0] == -1
        assert model.labels_[1] >= 0


class TestInput:
    @BOTH
    def test_the_container_of_counts_does_not_matter(self, cls: Any, matrix: Any) -> None:
        expected = cls(random_state=3, n_sweeps=5).fit(matrix).labels_
        frame = pd.DataFrame(matrix, columns=[f"w{i}" for i in range(matrix.shape[1])])
        for X in (
            matrix.tolist(),
            matrix.astype(np.int8),
            matrix.astype(np.float32),
            np.asfortranarray(matrix),
            frame,
            sparse.csr_matrix(matrix),
            sparse.csr_array(matrix.astype(float)),
            sparse.csc_array(matrix),
            sparse.coo_array(matrix),
        ):
            np.testing.assert_array_equal(cls(random_state=3, n_sweeps=5).fit(X).labels_, expected)

    def test_the_container_of_texts_does_not_matter(self) -> None:
        expected = GSDMM(9, random_state=3).fit(TEXTS).labels_
        for X in (tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), iter(TEXTS)):
            np.testing.assert_array_equal(GSDMM(9, random_state=3).fit(X).labels_, expected)

    def test_the_container_of_tokens_does_not_matter(self) -> None:
        expected = GSDMM(9, random_state=3).fit(TOKENS).labels_
        for X in (tuple(map(tuple, TOKENS)), [np.array(doc) for doc in TOKENS], pd.Series(TOKENS)):
            np.testing.assert_array_equal(GSDMM(9, random_state=3).fit(X).labels_, expected)

    def test_words_of_a_matrix(self, matrix: Any) -> None:
        words = [f"w{i}" for i in range(matrix.shape[1])]
        given = GSDMM(20, random_state=0).fit(matrix, vocabulary=words)
        named = GSDMM(20, random_state=0).fit(pd.DataFrame(matrix, columns=words))
        bare = GSDMM(20, random_state=0).fit(matrix)
        assert given.top_words() == named.top_words()
        assert [[f"w{w}" for w, _ in row] for row in bare.top_words()] == [
            [w for w, _ in row] for row in given.top_words()
        ]
        assert given.predict([["w1", "w5"]]) == given.predict([["w5", "w1"]])

    def test_a_matrix_changed_after_the_fit_does_not_matter(self) -> None:
        X = sparse.csr_array(np.array([[1, 0, 2, 5], [1, 0, 2, 4], [0, 7, 1, 1]]))
        X.indices = np.array([3, 2, 0, 3, 2, 0, 3, 2, 1], np.int32)  # as unsorted as it gets
        X.data = np.array([5, 2, 1, 4, 2, 1, 1, 1, 7], np.int32)
        expected = GSDMM(5, random_state=0).fit(X.copy()).outlier_scores_
        model = GSDMM(5, random_state=0).fit(X)
        X.sort_indices()  # in place, as many a function of scipy does
        np.testing.assert_array_equal(model.outlier_scores_, expected)

    @BOTH
    def test_a_second_fit_does_not_add_to_the_first(self, cls: Any) -> None:
        model = cls(random_state=0).fit(CYCLING).fit(BAKING)
        fresh = cls(random_state=0).fit(BAKING)
        np.testing.assert_array_equal(model.labels_, fresh.labels_)
        np.testing.assert_array_equal(model.cluster_sizes_, fresh.cluster_sizes_)
        np.testing.assert_array_equal(model.outlier_scores_, fresh.outlier_scores_)
        assert model.top_words() == fresh.top_words()
        assert model.score(TEXTS) == fresh.score(TEXTS)
        assert len(model.trace_) == len(fresh.trace_)


class Counted:
    """Plain NumPy counts of a fitted model, and the formulas of the papers on them."""

    def __init__(self, model: Any, X: Any, without: int | None = None) -> None:
        keep = np.arange(len(X)) != (-1 if without is None else without)
        X, labels = X[keep], model.labels_[keep]
        self.size = np.array([(labels == k).sum() for k in range(model.n_clusters_)], float)
        self.words = np.array([X[labels == k].sum(axis=0) for k in range(model.n_clusters_)])
        self.finite = isinstance(model, GSDMM)
        self.beta = np.broadcast_to(np.asarray(model.beta, float), X.shape[1])
        self.cap = model.n_clusters if self.finite else 0
        alpha = 0.1 * len(model.labels_) if model.alpha == "auto" else model.alpha
        self.alpha = float(alpha)
        self.phi = (self.words + self.beta) / (self.words + self.beta).sum(axis=1, keepdims=True)

    def log_weights(self, doc: Any) -> Any:
        """GSDMM Eq. 4 (GSDPMM IV.29), against an empty cluster."""
        held, total, n = self.words + self.beta, (self.words + self.beta).sum(axis=1), doc.sum()
        with np.errstate(divide="ignore"):
            weight = np.log(self.size + (self.alpha if self.finite else 0.0))
        weight = weight + (gammaln(held + doc) - gammaln(held)).sum(axis=1)
        weight -= gammaln(total + n) - gammaln(total)
        empty = (gammaln(self.beta + doc) - gammaln(self.beta)).sum()
        return weight - empty + gammaln(self.beta.sum() + n) - gammaln(self.beta.sum())

    def log_likelihood(self, doc: Any) -> float:
        """ln sum_k theta_k prod_w phi_kw^c_w; what is left of theta goes to empty clusters."""
        mass = self.size.sum() + (self.cap * self.alpha if self.finite else self.alpha)
        theta = (self.size + (self.alpha if self.finite else 0.0)) / mass
        empty = (self.beta / self.beta.sum())[None]
        theta = np.append(theta, 1.0 - theta.sum())
        phi = np.vstack([self.phi, empty])
        return float(np.log(theta @ np.prod(phi**doc, axis=1)))


MODELS = pytest.mark.parametrize(
    "model",
    [
        GSDMM(12, alpha=0.3, beta=0.2, n_sweeps=4, random_state=5),
        GSDPMM(alpha=4.0, beta=0.1, n_sweeps=4, random_state=5),
        GSDPMM(n_sweeps=2, random_state=5),
    ],
    ids=["GSDMM", "GSDPMM", "auto"],
)


class TestAnswers:
    @MODELS
    def test_probabilities_are_the_conditional(self, model: Any, matrix: Any) -> None:
        counted = Counted(model.fit(matrix), matrix)
        scores = np.array([counted.log_weights(doc) for doc in matrix[:40]])
        expected = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        np.testing.assert_allclose(model.predict_proba(matrix[:40]), expected, atol=1e-10)

    @MODELS
    def test_rows_are_left_out_of_what_they_are_judged_by(self, model: Any, matrix: Any) -> None:
        model.fit(matrix)
        rows = np.arange(25)[::-1]
        scores = np.array([Counted(model, matrix, row).log_weights(matrix[row]) for row in rows])
        expected = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        found = model.predict_proba(matrix[rows], rows=rows)
        np.testing.assert_allclose(found, expected, atol=1e-10)
        np.testing.assert_array_equal(model.predict(matrix[rows], rows=rows), found.argmax(axis=1))

    @MODELS
    def test_outlier_scores(self, model: Any, matrix: Any) -> None:
        """Nats per word by which a cluster of its own beats all others, the row left out."""
        model.fit(matrix)
        for row in range(10):
            counted = Counted(model, matrix, row)
            own = 0.0 if counted.finite else math.log(counted.alpha)
            expected = own - logsumexp(counted.log_weights(matrix[row]))
            assert model.outlier_scores_[row] == pytest.approx(expected / matrix[row].sum())

    @MODELS
    def test_score_and_perplexity(self, model: Any, matrix: Any) -> None:
        counted = Counted(model.fit(matrix), matrix)
        expected = np.array([counted.log_likelihood(doc) for doc in matrix[:50]])
        assert model.score(matrix[:50]) == pytest.approx(expected.mean())
        perplexity = math.exp(-expected.sum() / matrix[:50].sum())
        assert model.perplexity(matrix[:50]) == pytest.approx(perplexity)

    def test_perplexity_by_hand(self) -> None:
        """One cluster of the documents "a", "a b"; alpha = beta = 1, cap 2, two words.

        theta = 3/4 (full) and 1/4 (empty); phi = (3/5, 2/5) and (1/2, 1/2).
        """
        model = GSDMM(2, alpha=1, beta=1, init="one", n_sweeps=1, random_state=0)
        seed = next(s for s in range(50) if not _fit_seed(model, s).labels_.any())
        model.set_params(random_state=seed).fit([["a"], ["a", "b"]])
        likelihood = 0.75 * 0.6 * 0.4 + 0.25 * 0.25  # of "a b"
        assert model.score([["a", "b"]]) == pytest.approx(math.log(likelihood))
        assert model.perplexity([["a", "b"]]) == pytest.approx(likelihood**-0.5)

    @MODELS
    def test_one_by_one_is_as_in_bulk(self, model: Any, matrix: Any) -> None:
        model.fit(matrix)
        bulk, proba = model.predict(matrix), model.predict_proba(matrix)
        for row in range(0, 60, 3):
            assert model.predict(matrix[[row]]).tolist() == [bulk[row]]
            assert model.predict_proba(matrix[[row]]).tolist() == [proba[row].tolist()]
        backwards = model.predict_proba(matrix[::-1])
        np.testing.assert_array_equal(backwards[::-1], proba)

    @MODELS
    def test_any_number_of_threads_answers_alike(
        self, model: Any, matrix: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model.fit(matrix)
        expected = model.predict_proba(matrix), model.predict(matrix), model.score(matrix)
        monkeypatch.setattr(coterie.backends._score, "CHUNK_BYTES", 7 * 8 * model.n_clusters_)
        for n_jobs in (None, 1, 2, 7, -1):
            model.n_jobs = n_jobs
            np.testing.assert_array_equal(model.predict_proba(matrix), expected[0])
            np.testing.assert_array_equal(model.predict(matrix), expected[1])
            assert model.score(matrix) == expected[2]
        model.n_jobs = None

    @MODELS
    def test_probabilities_agree_with_predict(self, model: Any, matrix: Any) -> None:
        check_scores(model.fit(matrix), matrix)

    @MODELS
    def test_top_words(self, model: Any, matrix: Any) -> None:
        counted = Counted(model.fit(matrix), matrix)
        share = matrix.sum(axis=0) / matrix.sum()
        distinct = counted.phi * np.log(counted.phi / share)
        for by, value in (("probability", counted.phi), ("distinct", distinct)):
            for k, row in enumerate(model.top_words(4, by=by)):
                held = np.flatnonzero(counted.words[k])
                best = held[np.argsort(-value[k, held], kind="stable")][:4]
                assert [w for w, _ in row] == best.tolist()
                np.testing.assert_allclose([v for _, v in row], value[k, best])

    def test_distinct_words_are_not_those_of_everywhere(self) -> None:
        docs = [["the", "the", *doc] for doc in TOKENS] * 3
        model = GSDMM(2, random_state=1, init=([0] * 4 + [1] * 4) * 3).fit(docs)
        assert {row[0][0] for row in model.top_words(1)} == {"the"}
        assert all(row[0][0] != "the" for row in model.top_words(1, by="distinct"))

    def test_top_words_are_no_more_than_a_cluster_holds(self) -> None:
        model = GSDMM(1, random_state=0).fit([["a", "b"]])
        assert [len(row) for row in model.top_words(99)] == [2]

    @MODELS
    def test_representative_docs(self, model: Any, corpus: list[list[str]]) -> None:
        model.fit([*corpus, []])
        picked = model.representative_docs(3)
        assert len(picked) == model.n_clusters_
        for k, rows in enumerate(picked):
            members = np.flatnonzero(model.labels_ == k)
            assert rows.size == min(3, members.size)
            assert set(rows) <= set(members)
            assert len(set(rows)) == rows.size
        assert [rows[:1].tolist() for rows in picked] == [
            rows.tolist() for rows in model.representative_docs(1)
        ]

    def test_the_most_typical_document_comes_first(self) -> None:
        docs = [["bread", "oven"], ["bread", "oven"], ["bread", "bike"], ["bread"], ["bike"] * 2]
        model = GSDMM(2, init=[0, 0, 0, 0, 1], n_sweeps=1, random_state=0)
        seed = next(
            s for s in range(99) if _fit_seed(model, s, docs).labels_.tolist() == [0] * 4 + [1]
        )
        rows = model.set_params(random_state=seed).fit(docs).representative_docs(4)[0].tolist()
        assert rows[:2] == [0, 1]
        assert rows.index(3) > 0, "a single typical word does not represent much"

    @BOTH
    def test_a_planted_outlier_is_found(self, cls: Any, corpus: list[list[str]]) -> None:
        odd = [f"odd{i}" for i in range(12)]
        model = cls(random_state=0, n_sweeps=10).fit([*corpus, odd])
        assert model.outlier_scores_.argmax() == len(corpus)
        assert model.outliers()[-1]
        assert model.outliers(by="score")[-1]
        assert model.outliers(by="score", threshold=model.outlier_scores_[-1]).sum() == 0
        assert model.outliers(by="score", threshold=-1e9).all()

    def test_singletons_are_clusters_of_one(self) -> None:
        model = GSDPMM(alpha=2, random_state=0).fit([*TOKENS, ["odd", "one"]])
        np.testing.assert_array_equal(
            model.outliers(), [model.cluster_sizes_[k] == 1 for k in model.labels_]
        )

    @BOTH
    def test_transform_and_set_output(self, cls: Any, matrix: Any) -> None:
        model = cls(random_state=0, n_sweeps=3).fit(matrix)
        np.testing.assert_array_equal(model.transform(matrix), model.predict_proba(matrix))
        frame = model.set_output(transform="pandas").transform(matrix[:5])
        name = cls.__name__.lower()
        assert list(frame.columns) == [f"{name}{k}" for k in range(model.n_clusters_)]
        np.testing.assert_array_equal(frame.to_numpy(), model.predict_proba(matrix[:5]))


class TestBeta:
    def test_one_beta_a_word_is_as_one_for_all(self, matrix: Any) -> None:
        one = GSDMM(20, beta=0.1, random_state=0, n_sweeps=5).fit(matrix)
        each = GSDMM(20, beta=[0.1] * matrix.shape[1], random_state=0, n_sweeps=5).fit(matrix)
        np.testing.assert_array_equal(one.labels_, each.labels_)

    def test_a_large_beta_takes_a_word_out_of_play(self) -> None:
        docs = [["noise", *doc] if d % 2 else doc for d, doc in enumerate(TOKENS)] * 4
        words = list(dict.fromkeys(w for doc in docs for w in doc))
        beta = [1e6 if word == "noise" else 0.05 for word in words]
        model = GSDMM(2, beta=beta, random_state=0, init=([0] * 4 + [1] * 4) * 4).fit(docs)
        with_noise = model.predict_proba([["noise", "bread"]])
        np.testing.assert_allclose(with_noise, model.predict_proba([["bread"]]), atol=0.05)

    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_array])
    def test_word_beta(self, container: Any, matrix: Any) -> None:
        X = container(matrix)
        frequency = (matrix > 0).sum(axis=0)
        by_idf, by_share = word_beta(X, mean=0.2), word_beta(X, mean=0.2, by="frequency")
        for beta in (by_idf, by_share):
            assert beta.shape == (matrix.shape[1],)
            assert beta.mean() == pytest.approx(0.2)
            assert (beta > 0).all()
        assert (np.diff(by_idf[np.argsort(frequency, kind="stable")]) >= -1e-15).all()
        np.testing.assert_allclose(by_share, 0.2 * matrix.sum(axis=0) / matrix.sum(axis=0).mean())
        check_fit(GSDMM(20, beta=by_idf, random_state=0, n_sweeps=3).fit(X), len(matrix))


def _fit_seed(model: GSDMM, seed: int, docs: Any = (["a"], ["a", "b"])) -> GSDMM:
    return model.set_params(random_state=seed).fit(list(docs))


def test_a_model_of_token_lists_takes_no_texts() -> None:
    """Texts would be cut another way, and lower-cased: they would match nothing, silently."""
    model = GSDMM(3, random_state=0).fit([["Red", "Car"], ["Pie", "Oven"]])
    with pytest.raises(InvalidInput, match="fitted on token lists"):
        model.predict(["Red Car"])
    with pytest.raises(InvalidInput, match="not a string"):
        model.predict([["Red", None]])
    assert model.predict([["Red", "Car"]])[0] >= 0
