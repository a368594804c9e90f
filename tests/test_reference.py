"""The NumPy reference against the authors' equations, written out as the papers print them."""

import math
from collections import Counter

import numpy as np
import pytest
from tiny import corpus, first_seen, random_corpus, random_labels, seeded

from coterie import _rng, trace, urns
from coterie.backends.cpu import BACKEND
from coterie.kernels import reference
from coterie.state import from_labels
from coterie.urns import Urn

DOCUMENTS = ["ab", "aab", "bcd", "acc", "eee"]
Z = np.array([0, 0, 1, 1, 2])
V = 5
ALPHA, BETA, K = 0.3, 0.2, 6
TOY = corpus(*DOCUMENTS, n_words=V)
TOY_8 = corpus(*DOCUMENTS, n_words=8)


def in_cluster(k: int, without: int) -> tuple[int, Counter[str]]:
    """Number of documents and word counts of cluster k, one document left out."""
    members = [text for d, text in enumerate(DOCUMENTS) if Z[d] == k and d != without]
    return len(members), Counter("".join(members))


def gsdmm_eq_3(d: int, k: int) -> float:
    m, n = in_cluster(k, without=d)
    top = math.prod(n[w] + BETA for w in DOCUMENTS[d])
    bottom = math.prod(n.total() + V * BETA + i - 1 for i in range(1, len(DOCUMENTS[d]) + 1))
    return (m + ALPHA) / (len(DOCUMENTS) - 1 + K * ALPHA) * top / bottom


def gsdmm_eq_4(d: int, k: int) -> float:
    m, n = in_cluster(k, without=d)
    top = math.prod(
        n[w] + BETA + j - 1 for w, c in Counter(DOCUMENTS[d]).items() for j in range(1, c + 1)
    )
    bottom = math.prod(n.total() + V * BETA + i - 1 for i in range(1, len(DOCUMENTS[d]) + 1))
    return (m + ALPHA) / (len(DOCUMENTS) - 1 + K * ALPHA) * top / bottom


def gsdpmm_eq_iv_29(d: int, k: int) -> float:
    m, n = in_cluster(k, without=d)
    top = math.prod(
        n[w] + BETA + j - 1 for w, c in Counter(DOCUMENTS[d]).items() for j in range(1, c + 1)
    )
    bottom = math.prod(n.total() + V * BETA + i - 1 for i in range(1, len(DOCUMENTS[d]) + 1))
    return m / (len(DOCUMENTS) - 1 + ALPHA) * top / bottom


def gsdpmm_eq_iv_44(d: int) -> float:
    top = math.prod(BETA + j - 1 for c in Counter(DOCUMENTS[d]).values() for j in range(1, c + 1))
    bottom = math.prod(V * BETA + i - 1 for i in range(1, len(DOCUMENTS[d]) + 1))
    return ALPHA / (len(DOCUMENTS) - 1 + ALPHA) * top / bottom


def normalised(log_weight: np.ndarray) -> np.ndarray:
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum()


@pytest.mark.parametrize("d", range(len(DOCUMENTS)))
@pytest.mark.parametrize("equation", [gsdmm_eq_3, gsdmm_eq_4])
def test_finite_conditional_is_gsdmm(equation, d):
    urn = urns.finite(K, ALPHA, urns.per_word(BETA, V), burstiness=equation is gsdmm_eq_4)
    label, log_weight = reference.log_weights(TOY, urn, Z, d)

    open_clusters = sorted({int(k) for e, k in enumerate(Z) if e != d})
    assert label.tolist() == [*open_clusters, reference.NEW]
    weight = np.array([equation(d, k) for k in range(K)])
    wanted = np.append(weight[open_clusters], np.delete(weight, open_clusters).sum())
    np.testing.assert_allclose(normalised(log_weight), wanted / wanted.sum(), rtol=1e-12)


@pytest.mark.parametrize("d", range(len(DOCUMENTS)))
def test_process_conditional_is_gsdpmm(d):
    urn = urns.process(ALPHA, urns.per_word(BETA, V))
    label, log_weight = reference.log_weights(TOY, urn, Z, d)

    wanted = np.array([gsdpmm_eq_iv_29(d, k) for k in label[:-1]] + [gsdpmm_eq_iv_44(d)])
    np.testing.assert_allclose(normalised(log_weight), wanted / wanted.sum(), rtol=1e-12)


def test_the_two_word_terms_differ_only_where_a_word_repeats():
    eq_4 = urns.finite(K, ALPHA, urns.per_word(BETA, V))
    eq_3 = urns.changed(eq_4, burst=0.0)
    for d, text in enumerate(DOCUMENTS):
        a = reference.log_weights(TOY, eq_4, Z, d)[1]
        b = reference.log_weights(TOY, eq_3, Z, d)[1]
        assert np.allclose(a, b) == (len(set(text)) == len(text))


def test_alpha_zero_opens_nothing():
    urn = urns.finite(K, 0.0, urns.per_word(BETA, V))
    assert reference.log_weights(TOY, urn, Z, 0)[1][-1] == -np.inf
    assert math.isnan(reference.log_joint(TOY, urn, Z))
    assert reference.gibbs_sweep(corpus("ab"), urn, np.array([0]), 1, 1).tolist() == [0]


def test_a_full_finite_urn_opens_nothing():
    urn = urns.finite(3, ALPHA, urns.per_word(BETA, V))
    assert reference.log_weights(TOY, urn, Z, 0)[1][-1] == -np.inf
    assert reference.log_weights(TOY, urn, Z, 4)[1][-1] > -np.inf  # it leaves a cluster empty


def test_a_seed_counts_its_words_and_never_vanishes():
    urn = seeded(urns.process(ALPHA, urns.per_word(BETA, V)), aab=0.7, d=0.0)
    z = np.array([0, 2, 2, 0, 3])
    label, log_weight = reference.log_weights(TOY, urn, z, 3)  # "acc"
    assert label.tolist() == [0, 1, 2, 3, reference.NEW]
    # seed 0: one document and 0.7; it holds aab from the seed and ab from document 0
    n, a = 5, 3
    wanted = (1 + 0.7) * (a + BETA) * BETA * (BETA + 1)
    wanted /= math.prod(n + V * BETA + i for i in range(3))
    assert math.isclose(log_weight[0], math.log(wanted))
    assert log_weight[1] == -np.inf  # a seed that weighs nothing and holds nobody


URNS: dict[str, Urn] = {
    "finite": urns.finite(7, 0.4, urns.per_word(0.3, 8)),
    "process": urns.process(1.3, urns.per_word(0.3, 8)),
    "per-word beta": urns.finite(7, 0.4, np.linspace(0.05, 1.2, 8)),
    "seeded process": seeded(urns.process(0.8, urns.per_word(0.3, 8)), aabc=0.6, h=1.5),
    "seeded finite": seeded(urns.finite(7, 0.4, urns.per_word(0.3, 8)), aabc=0.6, h=1.5),
}


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
@pytest.mark.parametrize("urn", URNS.values(), ids=URNS.keys())
def test_conditional_is_a_difference_of_joints(urn, heaviest, any_seed):
    counts = random_corpus(6, 8, 5, any_seed, heaviest)
    z = random_labels(6, 5, any_seed)
    for d in range(counts.n_docs):
        label, log_weight = reference.log_weights(counts, urn, z, d)
        joint = []
        for k in label:
            moved = z.copy()
            moved[d] = k if k != reference.NEW else 99
            joint.append(reference.log_joint(counts, urn, moved))
        if urn.sizes.prior:  # the joint names one of the empty clusters
            joint[-1] += math.log(urn.sizes.cap - (label.size - 1))
        np.testing.assert_allclose(
            log_weight - log_weight[-1], np.array(joint) - joint[-1], atol=1e-10
        )


@pytest.mark.parametrize("name", ["finite", "process", "per-word beta"])
@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
def test_joint_is_the_one_the_trace_reports(name, heaviest, any_seed):
    counts = random_corpus(20, 8, 9, any_seed, heaviest)
    z = random_labels(20, 5, any_seed)
    handle = BACKEND.open(counts, URNS[name], from_labels(counts, URNS[name], z).assignment)
    line = trace.record(counts, URNS[name], handle.assignment(), handle.joint_terms(), 1, 0, 0.0)
    assert math.isclose(line.log_joint, reference.log_joint(counts, URNS[name], z), rel_tol=1e-11)


@pytest.mark.parametrize("name", ["finite", "process"])
def test_joint_sums_to_one(name):
    """Over every corpus of two documents of two words, and every assignment: a probability."""
    urn = urns.changed(URNS[name], beta=np.array([0.3, 0.7]), beta_sum=1.0)
    pairs = ["aa", "ab", "ba", "bb"]
    same, apart = np.array([0, 0]), np.array([0, 1])
    total = 0.0
    for first in pairs:
        for second in pairs:
            counts = corpus(first, second, n_words=2)
            ways = (
                (urn.sizes.cap, urn.sizes.cap * (urn.sizes.cap - 1)) if urn.sizes.prior else (1, 1)
            )
            total += ways[0] * math.exp(reference.log_joint(counts, urn, same))
            total += ways[1] * math.exp(reference.log_joint(counts, urn, apart))
    assert math.isclose(total, 1.0)


def test_sweep_draws_by_the_inverse_of_the_cumulated_weights():
    urn = URNS["finite"]
    key, sweep = 7, 3
    z = np.array([4, 4, 1, 1, 2])
    label, log_weight = reference.log_weights(TOY_8, urn, z, 0)
    cumulated = np.cumsum(normalised(log_weight))
    u = _rng.uniform(key, sweep, 0, 0)[0]
    wanted = int(label[np.argmax(cumulated > u)])
    drawn = int(reference.gibbs_sweep(TOY_8, urn, z, key, sweep)[0])
    assert drawn == (wanted if wanted != reference.NEW else 0)


def test_sweep_is_a_function_of_its_address_and_needs_no_start():
    urn = URNS["seeded process"]
    absent = np.full(TOY_8.n_docs, -1)
    first = reference.gibbs_sweep(TOY_8, urn, absent, 5, 0)
    assert (first >= 0).all()
    assert first.tolist() == reference.gibbs_sweep(TOY_8, urn, absent, 5, 0).tolist()
    others = {first_seen(reference.gibbs_sweep(TOY_8, urn, absent, key, 0), 2) for key in range(20)}
    assert len(others) > 5
