"""EM: it climbs, it is the textbook's EM, and nothing but the start decides where it ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, xlogy
from tiny import corpus, from_bags, random_corpus, random_labels

from coterie import GSDMM, _rng, urns
from coterie.backends import _em as room
from coterie.backends.base import SamplerOptions, SweepStats
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.demo import make_corpus
from coterie.state import from_labels, is_sound
from coterie.urns import Urn

EM = SamplerOptions("em")
MAX_EXAMPLES = 60


def begin(counts: Counts, urn: Urn, labels: np.ndarray, n_jobs: int = 1) -> room.EMChain:
    first = from_labels(counts, urn, labels).assignment
    return BACKEND.open(counts, urn, first, EM._replace(n_jobs=n_jobs))


def climb(handle: room.EMChain, first: int, last: int) -> list[float]:
    """The objective before each of these sweeps."""
    values = []
    for sweep in range(first, last + 1):
        handle.sweep(1, sweep)
        values.append(handle.objective)
    return values


@settings(max_examples=MAX_EXAMPLES)
@given(
    seed=st.integers(0, 10**6),
    n_docs=st.integers(1, 60),
    n_words=st.integers(1, 30),
    longest=st.integers(1, 80),
    heaviest=st.integers(1, 5),
    n_clusters=st.integers(1, 20),
    alpha=st.sampled_from([0.0, 1e-9, 0.1, 1.0, 30.0]),
    beta=st.sampled_from([1e-100, 1e-3, 0.1, 1.0, 50.0]),
)
def test_the_objective_never_falls(
    seed, n_docs, n_words, longest, heaviest, n_clusters, alpha, beta
):
    counts = random_corpus(n_docs, n_words, longest, seed, heaviest, topics=min(3, n_words))
    urn = urns.finite(n_clusters, alpha, urns.per_word(beta, n_words))
    handle = begin(counts, urn, random_labels(n_docs, n_clusters, seed))
    values = np.array(climb(handle, 1, 12))
    assert np.isfinite(values).all()
    rounding = 1e-9 * np.abs(values[1:]) + 1e-12 * (counts.length @ counts.weight)
    assert (np.diff(values) >= -rounding).all()
    assert is_sound(counts, urn, handle.state)


def test_it_climbs_at_all(any_seed):
    counts = random_corpus(200, 40, 20, any_seed, topics=4)
    urn = urns.finite(12, 0.1, urns.per_word(0.1, 40))
    values = climb(begin(counts, urn, random_labels(200, 12, any_seed)), 1, 10)
    assert values[-1] > values[0] + 100


@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_it_is_the_textbooks_em(alpha, any_seed):
    counts = random_corpus(60, 25, 30, any_seed, heaviest=3, topics=3)
    beta = 0.05 + 0.4 * _rng.uniform(any_seed, 9, np.arange(25), 0)
    urn = urns.finite(8, alpha, beta)
    start = random_labels(60, 6, any_seed)
    handle = begin(counts, urn, start)
    plain = textbook(counts, urn, start)
    before = start
    for sweep, (theta, phi, share, objective) in zip(range(1, 9), plain, strict=False):
        np.testing.assert_allclose(np.exp(handle.log_theta), theta, atol=1e-12)
        np.testing.assert_allclose(np.exp(handle.log_phi).T, phi, rtol=1e-9)
        stats = handle.sweep(1, sweep)
        assert handle.objective == pytest.approx(objective, rel=1e-10)
        best = share.argmax(axis=1)
        np.testing.assert_array_equal(handle.best, best)
        labels = np.unique(best, return_inverse=True)[1]
        np.testing.assert_array_equal(handle.state.z, labels)
        assert stats == SweepStats("em", counts.weight[best != before].sum())
        before = best


def textbook(counts: Counts, urn: Urn, labels: np.ndarray):
    """EM for a mixture of multinomials with pseudo-counts, dense, from one-hot shares."""
    table = np.zeros((counts.n_docs, counts.n_words))
    for d in range(counts.n_docs):
        entries = slice(counts.ptr[d], counts.ptr[d + 1])
        table[d, counts.word[entries]] = counts.tally[entries]
    copies = counts.weight[:, None]
    share = np.eye(urn.sizes.cap)[labels]
    while True:
        theta = (copies * share).sum(axis=0) + urn.sizes.prior
        theta = theta / theta.sum()
        phi = (copies * share).T @ table + urn.words.beta
        phi = phi / phi.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            score = np.log(theta) + table @ np.log(phi).T
        fit = logsumexp(score, axis=1)
        share = np.exp(score - fit[:, None])
        prior = xlogy(urn.sizes.prior, theta).sum() + (urn.words.beta * np.log(phi)).sum()
        yield theta, phi, share, counts.weight @ fit + prior


def test_copies_are_as_good_as_documents(any_seed):
    tied = random_corpus(40, 20, 15, any_seed, heaviest=4, topics=3)
    of = np.repeat(np.arange(40), tied.weight)
    bags = [np.repeat(tied.word[a:b], tied.tally[a:b]) for a, b in zip(tied.ptr, tied.ptr[1:])]  # noqa: B905
    apart = from_bags([bags[d] for d in of], 20)
    urn = urns.finite(7, 0.1, urns.per_word(0.1, 20))
    start = random_labels(40, 7, any_seed)
    one, other = begin(tied, urn, start), begin(apart, urn, start[of])
    np.testing.assert_allclose(climb(one, 1, 10), climb(other, 1, 10), rtol=1e-10)
    np.testing.assert_array_equal(one.best[of], other.best)


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_threads_and_chunks_change_nothing(n_jobs, monkeypatch):
    counts = random_corpus(400, 60, 15, 3, heaviest=2, topics=5)
    urn = urns.finite(30, 0.1, urns.per_word(0.1, 60))
    start = random_labels(400, 30, 3)
    expected = begin(counts, urn, start)
    values = climb(expected, 1, 6)
    monkeypatch.setattr(room, "SHARE_BYTES", 8 * 30 * 37)
    found = begin(counts, urn, start, n_jobs)
    assert climb(found, 1, 6) == values
    for name, array in expected.memory().items():
        np.testing.assert_array_equal(found.memory()[name], array)


def test_no_number_is_drawn():
    counts = random_corpus(100, 30, 15, 3, topics=3)
    urn = urns.finite(10, 0.1, urns.per_word(0.1, 30))
    one, other = (begin(counts, urn, random_labels(100, 10, 3)) for _ in range(2))
    for sweep in range(1, 6):
        assert one.sweep(1, sweep) == other.sweep(2, sweep + 50)
    np.testing.assert_array_equal(one.state.z, other.state.z)


def test_a_stopped_sweep_changes_nothing(monkeypatch):
    monkeypatch.setattr(room, "SHARE_BYTES", 8 * 10 * 20)
    counts = random_corpus(100, 30, 15, 3, topics=3)
    urn = urns.finite(10, 0.1, urns.per_word(0.1, 30))
    whole, stopped = (begin(counts, urn, random_labels(100, 10, 3)) for _ in range(2))
    stopped.sweep(1, 1)
    state = stopped.state
    assert stopped.sweep(1, 2, lambda: True) is None
    assert stopped.state is state
    assert climb(whole, 1, 6)[1:] == climb(stopped, 2, 6)


def test_one_cluster_and_one_document():
    for counts in (corpus("aab"), corpus("a", "b", "c")):
        urn = urns.finite(1, 0.1, urns.per_word(0.1, 8))
        handle = begin(counts, urn, np.zeros(counts.n_docs, np.int32))
        assert handle.sweep(1, 1).moved == 0
        assert not handle.state.z.any()


class TestMemory:
    """What a checkpoint must hold besides the state."""

    counts = random_corpus(120, 30, 15, 8, heaviest=2, topics=3)

    def handle(self, alpha: float = 0.1) -> room.EMChain:
        urn = urns.finite(10, alpha, urns.per_word(0.1, 30))
        return begin(self.counts, urn, random_labels(120, 10, 8))

    @pytest.mark.parametrize("alpha", [0.0, 0.1])
    @pytest.mark.parametrize("stop", [1, 2, 5])
    def test_a_resumed_run_is_the_same(self, stop, alpha):
        whole, part = self.handle(alpha), self.handle(alpha)
        values = climb(whole, 1, 9)
        climb(part, 1, stop)
        saved = {name: array.copy() for name, array in part.memory().items()}
        resumed = BACKEND.open(self.counts, part.urn, part.assignment(), EM)
        assert resumed.recall(saved)
        assert climb(resumed, stop + 1, 9) == values[stop:]
        np.testing.assert_array_equal(resumed.state.z, whole.state.z)
        for name, array in whole.memory().items():
            np.testing.assert_array_equal(resumed.memory()[name], array)

    def test_the_state_alone_would_not_do(self):
        whole, part = self.handle(), self.handle()
        values = climb(whole, 1, 6)
        climb(part, 1, 2)
        assert climb(BACKEND.open(self.counts, part.urn, part.assignment(), EM), 3, 6) != values[2:]

    def test_what_is_recalled_is_a_copy(self):
        handle = self.handle()
        saved = {name: array.copy() for name, array in handle.memory().items()}
        handle.recall(saved)
        climb(handle, 1, 3)
        np.testing.assert_allclose(np.exp(saved["em_log_phi"]).sum(axis=0), 1.0)

    DAMAGE = {
        "an array missing": lambda m: m.pop("em_best"),
        "an array too many": lambda m: m.update(more=np.zeros(1)),
        "labels of another kind": lambda m: m.update(em_best=m["em_best"].astype(np.int64)),
        "labels too few": lambda m: m.update(em_best=m["em_best"][:-1]),
        "a label too large": lambda m: m["em_best"].__setitem__(0, 10),
        "a label below 0": lambda m: m["em_best"].__setitem__(0, -1),
        "labels of another state": lambda m: m["em_best"].__setitem__(
            0, (m["em_best"][0] + 1) % 10
        ),
        "theta not a number": lambda m: m["em_log_theta"].__setitem__(0, np.nan),
        "theta without a cluster": lambda m: m["em_log_theta"].__setitem__(0, -np.inf),
        "theta that sums to more": lambda m: m["em_log_theta"].__iadd__(0.1),
        "theta in float32": lambda m: m.update(em_log_theta=m["em_log_theta"].astype(np.float32)),
        "phi not a number": lambda m: m["em_log_phi"].__setitem__((0, 0), np.nan),
        "phi of 0": lambda m: m["em_log_phi"].__setitem__((0, 0), -np.inf),
        "phi that sums to more": lambda m: m["em_log_phi"].__setitem__((3, 3), 0.0),
        "phi above 1": lambda m: m["em_log_phi"].__setitem__((3, 3), 1e5),
        "phi transposed": lambda m: m.update(em_log_phi=m["em_log_phi"].T.copy()),
    }

    @pytest.mark.parametrize("damage", DAMAGE)
    def test_a_damaged_memory_is_refused_whole(self, damage):
        handle = self.handle()
        climb(handle, 1, 2)
        before = {name: array.copy() for name, array in handle.memory().items()}
        arrays = {name: array.copy() for name, array in before.items()}
        self.DAMAGE[damage](arrays)
        assert not handle.recall(arrays)
        for name, array in before.items():
            np.testing.assert_array_equal(handle.memory()[name], array)


def test_an_estimator_can_ask_for_it():
    texts, _ = make_corpus(200)
    model, again = (
        GSDMM(20, sampler="em", n_sweeps=15, random_state=1, n_jobs=n).fit(texts) for n in (1, 2)
    )
    np.testing.assert_array_equal(model.labels_, again.labels_)
    assert set(model.trace_["sampler"]) == {"em"}
    assert model.trace_["moved"][-1] < model.trace_["moved"][0]
    assert model.trace_["log_likelihood"][-1] > model.trace_["log_likelihood"][0]
    assert model.predict(texts).shape == (200,)
