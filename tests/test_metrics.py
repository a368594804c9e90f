"""Scores by hand, invariances, edge cases, and what a wrong call is told."""

import doctest
import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import random_corpus

from coterie import metrics
from coterie._cooccurrence import in_documents
from coterie.errors import InvalidInput

LOG2, LOG3 = math.log(2), math.log(3)
AGAINST_CLASSES = [
    metrics.nmi,
    metrics.ami,
    metrics.ari,
    metrics.homogeneity,
    metrics.completeness,
    metrics.v_measure,
    metrics.purity,
]
SYMMETRIC = [metrics.nmi, metrics.ami, metrics.ari, metrics.v_measure]

two_labelings = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


# ---- against known classes: by hand


def test_two_classes_cut_in_three():
    """Classes aabb, clusters 0012: H(class) = log 2, H(cluster) = 1.5 log 2, MI = log 2."""
    true, pred = ["a", "a", "b", "b"], [0, 0, 1, 2]
    assert metrics.nmi(true, pred) == pytest.approx(1 / 1.25)
    assert metrics.nmi(true, pred, average="geometric") == pytest.approx(1 / math.sqrt(1.5))
    assert metrics.nmi(true, pred, average="max") == pytest.approx(1 / 1.5)
    assert metrics.nmi(true, pred, average="min") == pytest.approx(1)
    assert metrics.homogeneity(true, pred) == pytest.approx(1)
    assert metrics.completeness(true, pred) == pytest.approx(1 / 1.5)
    assert metrics.v_measure(true, pred) == pytest.approx(0.8)
    # ARI: one of two class pairs kept; expected 2 * 1 / 6, greatest (2 + 1) / 2.
    assert metrics.ari(true, pred) == pytest.approx((1 - 1 / 3) / (1.5 - 1 / 3))
    assert metrics.purity(true, pred) == 1


def test_ami_by_hand():
    """Classes aab, clusters 001 moved by one: the expected MI over all 3 arrangements is known."""
    # A 2 + 1 grouping meets a 2 + 1 grouping in 3 equally likely ways: the same (MI = H) or,
    # twice, crossed.
    entropy = LOG3 - 2 / 3 * LOG2
    crossed = (1 / 3) * (math.log(3 / 4) + 2 * math.log(3 / 2))
    expected = (entropy + 2 * crossed) / 3
    wanted = (crossed - expected) / (entropy - expected)
    assert metrics.ami(["a", "a", "b"], [0, 1, 0]) == pytest.approx(wanted)
    assert metrics.ami(["a", "a", "b"], [5, 5, 0]) == pytest.approx(1)


def test_purity_counts_the_largest_class_of_each_cluster():
    true = ["x", "x", "y", "y", "y", "z"]
    pred = [0, 0, 0, 1, 1, 1]
    assert metrics.purity(true, pred) == pytest.approx(4 / 6)
    assert metrics.purity(pred, true) == pytest.approx(5 / 6)


# ---- against known classes: what must hold for any labels


@settings(max_examples=30)
@given(two_labelings)
@pytest.mark.parametrize("score", AGAINST_CLASSES)
def test_names_of_labels_do_not_matter(score, labelings):
    true, pred = labelings
    value = score(true, pred)
    renamed = score([f"class {t}" for t in true], np.array([-7, 3, 100, 2, 0])[pred])
    assert renamed == pytest.approx(value, abs=1e-9)


@settings(max_examples=30)
@given(two_labelings)
@pytest.mark.parametrize("score", SYMMETRIC)
def test_symmetric(score, labelings):
    true, pred = labelings
    assert score(pred, true) == pytest.approx(score(true, pred), abs=1e-9)


@given(two_labelings)
def test_ranges_and_relations(labelings):
    found = metrics.scores(*labelings)
    assert list(found) == [
        "nmi",
        "nmi_geometric",
        "ami",
        "ari",
        "homogeneity",
        "completeness",
        "v_measure",
        "purity",
    ]
    for name, value in found.items():
        lowest = -1 if name in ("ami", "ari") else 0
        assert lowest - 1e-9 <= value <= 1 + 1e-9, name
    assert found["v_measure"] == pytest.approx(found["nmi"], abs=1e-9)
    assert found["nmi_geometric"] >= found["nmi"] - 1e-9
    assert metrics.completeness(*labelings) == pytest.approx(
        metrics.homogeneity(*reversed(labelings)), abs=1e-9
    )


@settings(max_examples=30)
@given(two_labelings)
@pytest.mark.parametrize("score", AGAINST_CLASSES)
def test_the_same_grouping_is_perfect(score, labelings):
    true, _ = labelings
    assert score(true, true) == pytest.approx(1)


def test_single_cluster():
    true = ["a", "a", "b", "c"]
    found = metrics.scores(true, [0, 0, 0, 0])
    assert found["completeness"] == pytest.approx(1)
    assert found["purity"] == 0.5
    for name in ("nmi", "nmi_geometric", "ami", "ari", "homogeneity", "v_measure"):
        assert found[name] == pytest.approx(0, abs=1e-12), name


def test_all_singletons():
    found = metrics.scores(["a", "a", "b", "b"], [0, 1, 2, 3])
    assert found["purity"] == 1
    assert found["homogeneity"] == pytest.approx(1)
    assert found["completeness"] == pytest.approx(0.5)
    assert found["nmi"] == pytest.approx(2 / 3)
    assert found["nmi_geometric"] == pytest.approx(1 / math.sqrt(2))
    assert found["ari"] == pytest.approx(0)
    assert found["ami"] == pytest.approx(0, abs=1e-12)


def test_one_document():
    assert set(metrics.scores(["a"], [3]).values()) == {1.0}


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        lambda x: np.array(x, dtype=float),
        lambda x: np.array(x, dtype=object),
        lambda x: [str(v) for v in x],
        lambda x: np.array([str(v) for v in x]),
    ],
    ids=["list", "tuple", "int", "float", "object", "str", "str array"],
)
def test_any_container(make):
    assert metrics.ari(make([0, 0, 1, 1]), [0, 0, 1, 2]) == pytest.approx(4 / 7)


def test_pandas_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"label": ["a", "a", "b", "b"], "cluster": [0, 0, 1, 2]}, index=[9, 8, 7, 6]
    )
    assert metrics.ari(frame["label"], frame["cluster"]) == pytest.approx(4 / 7)
    with pytest.raises(InvalidInput, match="has no label at position 1"):
        metrics.ari(pd.array([1, None], dtype="Int64"), [0, 1])


def test_one_and_its_name_are_two_labels():
    assert metrics.purity([1, "1"], [0, 0]) == 0.5


# ---- against known classes: wrong calls


@pytest.mark.parametrize("score", [*AGAINST_CLASSES, metrics.scores])
def test_wrong_labels(score):
    with pytest.raises(InvalidInput, match=rf"of {score.__name__} differ in length \(3 and 2\)"):
        score([0, 1, 1], [0, 1])
    with pytest.raises(InvalidInput, match=f"of {score.__name__} are empty"):
        score([], [])


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ("aab", "must be a list or array of labels, got 'aab'"),
        (3, "must be a list or array of labels, got 3"),
        (np.zeros((3, 2), int), r"one dimension, got shape \(3, 2\)"),
        ([0, [1], 2], r"simple labels, got \[1\] at position 1"),
        ([0, None, 2], "has no label at position 1"),
        ([0.0, 1.0, math.nan], "has no label at position 2"),
        (np.array([0.0, np.nan, 1.0]), "has no label at position 1"),
    ],
)
def test_what_is_no_labels(labels, says):
    with pytest.raises(InvalidInput, match=f"labels_pred of nmi .*{says}"):
        metrics.nmi([0, 1, 2], labels)


@pytest.mark.parametrize("score", [metrics.nmi, metrics.ami])
def test_wrong_average(score):
    with pytest.raises(
        InvalidInput, match=f"average of {score.__name__} .*'geometric'.* got 'geo'"
    ):
        score([0], [0], average="geo")


# ---- perplexity


def test_perplexity_of_uniform_words_is_their_number():
    lengths = np.array([3, 5, 1])
    assert metrics.perplexity(-lengths * math.log(50), lengths) == pytest.approx(50)
    assert metrics.perplexity(-9 * math.log(50), 9) == pytest.approx(50)


def test_perplexity_edges():
    assert metrics.perplexity(0, 4) == 1
    assert metrics.perplexity(-1e6, 1) == math.inf
    assert metrics.perplexity(-math.inf, 1) == math.inf
    with pytest.raises(InvalidInput, match="n_words of perplexity must be above 0, got 0"):
        metrics.perplexity(-3.0, [])
    with pytest.raises(InvalidInput, match="NaN"):
        metrics.perplexity([math.nan, -1.0], [1, 1])


# ---- coherence

WORDS = ["pear", "plum", "saw", "unused"]
# pear in 3 documents, plum in 2, saw in 2; pear + plum in 2, pear + saw in 1; the last is empty.
X = np.array([[1, 2, 0, 0], [4, 1, 0, 0], [1, 0, 1, 0], [0, 0, 3, 0], [0, 0, 0, 0]])
PEAR_PLUM = math.log((2 / 4) / ((3 / 4) * (2 / 4)))
PEAR_SAW = math.log((1 / 4) / ((3 / 4) * (2 / 4)))
REFERENCES = {
    "dense": X,
    "csr": sp.csr_array(X),
    "csr matrix": sp.csr_matrix(X),
    "coo": sp.coo_array(X),
    "counts": metrics.reference_counts(X, WORDS, vocabulary=WORDS),
}


@pytest.mark.parametrize("reference", REFERENCES.values(), ids=REFERENCES)
def test_coherence_by_hand(reference):
    clusters = [["pear", "plum"], ["saw", "pear"], ["plum", "pear", "saw"]]
    names = None if isinstance(reference, metrics.ReferenceCounts) else WORDS
    found = metrics.coherence(clusters, reference, vocabulary=names, epsilon=0)
    third = (PEAR_PLUM + PEAR_SAW + 0) / 3
    np.testing.assert_allclose(found.per_cluster, [PEAR_PLUM, PEAR_SAW, third])
    assert found.mean == pytest.approx(np.mean([PEAR_PLUM, PEAR_SAW, third]))
    np.testing.assert_array_equal(found.coverage, 1)

    found = metrics.coherence(clusters, reference, "npmi", vocabulary=names, epsilon=0)
    normed = [PEAR_PLUM / LOG2, PEAR_SAW / (2 * LOG2)]
    np.testing.assert_allclose(found.per_cluster, [*normed, (sum(normed) - 1) / 3])


def test_ids_are_words_without_names():
    by_name = metrics.coherence([["pear", "plum", "saw"]], X, vocabulary=WORDS)
    assert metrics.coherence([[0, 1, 2]], X) == by_name
    assert metrics.coherence([np.array([0, 1, 2])], X) == by_name
    assert metrics.coherence([[0, 1, 2]], metrics.reference_counts(X, range(4))) == by_name


def test_epsilon_decides_what_a_pair_never_seen_together_is_worth():
    pair = [["plum", "saw"]]  # p = 1/2 each, never together
    pmi = metrics.coherence(pair, X, vocabulary=WORDS).mean
    assert pmi == pytest.approx(math.log(1e-12 / 0.25))
    npmi = metrics.coherence(pair, X, "npmi", vocabulary=WORDS).mean
    assert npmi == pytest.approx(math.log(1e-12 / 0.25) / -math.log(1e-12))
    assert metrics.coherence(pair, X, vocabulary=WORDS, epsilon=0).mean == 0
    assert metrics.coherence(pair, X, "npmi", vocabulary=WORDS, epsilon=0).mean == -1


def test_words_in_every_document_are_in_step():
    assert metrics.coherence([[0, 1]], np.ones((3, 2)), "npmi").mean == 1
    assert metrics.coherence([[0, 1]], np.ones((3, 2)), "npmi", epsilon=0).mean == 1


def test_words_the_reference_never_saw_are_left_out_and_reported():
    clusters = [["pear", "plum", "unused"], ["pear", "nowhere"], ["pear"], []]
    found = metrics.coherence(clusters, X, vocabulary=WORDS)
    assert found.per_cluster[0] == pytest.approx(PEAR_PLUM)
    assert np.isnan(found.per_cluster[1:]).all()
    assert found.mean == pytest.approx(PEAR_PLUM)
    np.testing.assert_allclose(found.coverage, [1 / 3, 0, 0, 0])
    assert math.isnan(metrics.coherence([["pear"]], X, vocabulary=WORDS).mean)


def test_reference_counts():
    counts = metrics.reference_counts(sp.csr_array(X), ["saw", "pear", "plum"], vocabulary=WORDS)
    assert counts.n_docs == 4
    assert counts.doc_freq == {"saw": 2, "pear": 3, "plum": 2}
    assert counts.pair_freq == {("saw", "pear"): 1, ("pear", "plum"): 2}


@given(st.integers(0, 2**32 - 1), st.sampled_from(["pmi", "npmi"]))
def test_repeated_documents_and_higher_counts_change_nothing(seed, measure):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, size=(8, 5))
    X[0] = 1
    once = metrics.coherence([[0, 1, 2], [4, 3]], X, measure)
    again = metrics.coherence([[2, 0, 1], [3, 4]], np.vstack([3 * X, X, 0 * X]), measure)
    np.testing.assert_allclose(again.per_cluster, once.per_cluster, atol=1e-9)
    if measure == "npmi":
        assert (np.abs(once.per_cluster) <= 1 + 1e-9).all()


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (([], X), {}, "top_words of coherence is empty"),
        ((["pear", "plum"], X), {}, "one list of words per cluster, got 'pear'"),
        (([0, 1], X), {}, "one list of words per cluster, got 0"),
        (([[0, 1, 0]], X), {}, "contains a word twice"),
        (([["pear", "plum"]], X), {}, "pass vocabulary="),
        (([[0, 4]], X), {}, "has 4 columns, so there is no word number 4"),
        (([[0, -1]], X), {}, "no word number -1"),
        (([[0, 1]], X, "umass"), {}, "measure of coherence must be one of 'pmi', 'npmi'"),
        (([[0, 1]], X), {"epsilon": -1.0}, "epsilon of coherence must be 0 or above"),
        (([[0, 1]], X), {"vocabulary": ["a"]}, "has 4 columns, but vocabulary has 1 words"),
        (([[0, 1]], [["a", "b"]]), {}, "must be a matrix of documents x words, got list"),
        (([[0, 1]], 0 * X), {}, "contains no words"),
        (([[0, 1]], metrics.ReferenceCounts(0, {}, {})), {}, "at least one document, got 0"),
    ],
)
def test_wrong_calls_of_coherence(arguments, options, says):
    with pytest.raises(InvalidInput, match=says):
        metrics.coherence(*arguments, **options)


# ---- the module itself


def test_examples_in_docstrings():
    assert doctest.testmod(metrics).failed == 0


def test_import_is_light():
    code = "import sys, coterie.metrics; sys.exit(bool({'sklearn', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_words_counted_in_documents_are_those_of_the_matrix() -> None:
    counts = random_corpus(200, 30, 8, 3, topics=4)
    lists = [[0, 3, 7, 12], [7, 1], [29], [4, 5, 6]]
    seen = in_documents(counts, lists)
    dense = np.zeros((200, 30), int)
    dense[np.repeat(np.arange(200), np.diff(counts.ptr)), counts.word] = counts.tally
    for words in lists:
        wanted = metrics.reference_counts(dense, words)
        assert seen.n_docs == wanted.n_docs == 200
        assert {word: seen.doc_freq[word] for word in words} == dict(wanted.doc_freq)
        for one, other in wanted.pair_freq:
            found = seen.pair_freq.get((one, other), seen.pair_freq.get((other, one)))
            assert found == wanted.pair_freq[one, other]
    top = metrics.coherence(lists[:2], seen).per_cluster
    np.testing.assert_array_equal(top, metrics.coherence(lists[:2], dense).per_cluster)
