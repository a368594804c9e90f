"""The uncollapsed sampler: phi="draw" keeps the posterior, phi="mean" is what the paper writes.

Its chain is slow, so thinned frequencies would take minutes. Instead two sweeps are made from each
of many starts that were drawn from the posterior itself: what comes out must be the posterior again.
"""

import math
from collections import Counter

import numpy as np
import pytest
from chance import LUCK, SIGMAS, fit, moved, uniform
from scipy import special, stats
from test_exact_posterior import BETA, BROAD, NARROW, TIED, UNEVEN_BETA, URNS, posterior
from tiny import corpus, first_seen, promoted, random_corpus, random_labels, seeded

from coterie import GSDMM, GSDPMM, _rng, urns
from coterie._rng import DRAW_ONE
from coterie.backends import _uncollapsed as room
from coterie.backends.base import SamplerOptions, SweepStats
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.demo import make_corpus
from coterie.errors import Unsupported
from coterie.state import State, from_labels, is_sound
from coterie.urns import NO_CAP, Urn

DRAW, MEAN = SamplerOptions("uncollapsed"), SamplerOptions("uncollapsed", phi="mean")
STARTS, SWEEPS = 1500, 2
CASES: dict[str, tuple[Counts, Urn]] = {
    "few shared words": (NARROW, URNS["finite"]),
    "many shared words": (BROAD, URNS["finite"]),
    "uneven beta": (NARROW, URNS["finite, uneven beta"]),
    "tied": (TIED, URNS["finite"]),
    "tied, uneven beta": (TIED, URNS["finite, uneven beta"]),
    "more clusters than documents": (NARROW, urns.finite(9, 0.3, BETA)),
}


@pytest.mark.chance
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_sweeps_keep_the_posterior(case):
    counts, urn = CASES[case]
    exact = posterior(counts, urn)
    seen = after_sweeps(counts, urn, exact, DRAW)
    assert all(z in exact for z in seen)
    assert fit(seen, exact) > LUCK


MISTAKES = {
    "alpha": ("few shared words", dict(size_prior=2.8)),
    "one cluster less": ("few shared words", dict(cap=2)),
    "beta": ("many shared words", dict(beta=BETA * 4.0, beta_sum=4.0 * BETA.sum())),
    "V beta": ("many shared words", dict(beta_sum=BETA.sum() + 2.0)),
    "a word's beta": ("uneven beta", dict(beta=np.roll(UNEVEN_BETA, 1))),
}


@pytest.mark.chance
@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_posterior_is_not_kept(mistake):
    case, wrong = MISTAKES[mistake]
    counts, urn = CASES[case]
    exact = posterior(counts, urns.changed(urn, **wrong))
    assert fit(after_sweeps(counts, urn, exact, DRAW), exact) < LUCK


@pytest.mark.chance
@pytest.mark.slow
def test_tied_documents_are_not_one_document():
    heavy = TIED._replace(weight=2 * TIED.weight)
    single = TIED._replace(weight=np.ones(TIED.n_docs, np.int64))
    exact = posterior(single, URNS["finite"])
    assert fit(after_sweeps(heavy, URNS["finite"], exact, DRAW), exact) < LUCK


@pytest.mark.chance
@pytest.mark.slow
def test_the_mean_does_not_keep_the_posterior():
    counts, urn = CASES["many shared words"]
    exact = posterior(counts, urn)
    assert fit(after_sweeps(counts, urn, exact, MEAN), exact) < LUCK


@pytest.mark.chance
@pytest.mark.slow
def test_a_long_run_finds_the_posterior():
    counts, urn = CASES["few shared words"]
    exact = posterior(counts, urn)
    handle = BACKEND.open(counts, urn, together(counts, urn).assignment, DRAW)
    seen = Counter(first_seen(swept(handle, moved(1), sweep).z) for sweep in range(1, 4001))
    apart = sum(abs(seen[z] / 4000 - p) for z, p in exact.items()) / 2
    assert apart < 0.08
    assert max(exact.values()) < 0.5


def after_sweeps(
    counts: Counts, urn: Urn, exact: dict[tuple[int, ...], float], how: SamplerOptions
) -> Counter[tuple[int, ...]]:
    """Partitions after SWEEPS sweeps from each of STARTS starts that are distributed as `exact`."""
    states = [from_labels(counts, urn, np.array(z, np.int32)) for z in exact]
    u = _rng.uniform(moved(17), 0, np.arange(STARTS), 1)
    chosen = np.searchsorted(np.cumsum(list(exact.values())), u).clip(max=len(states) - 1)
    handle = BACKEND.open(counts, urn, states[0].assignment, how)
    seen: Counter[tuple[int, ...]] = Counter()
    for i, start in enumerate(chosen):
        handle.state = states[start]
        for sweep in range(i * SWEEPS + 1, (i + 1) * SWEEPS + 1):
            state = swept(handle, moved(3), sweep)
        seen[first_seen(state.z)] += 1
    return seen


def together(counts: Counts, urn: Urn) -> State:
    return from_labels(counts, urn, np.zeros(counts.n_docs, np.int32))


def swept(handle, key: int, sweep: int) -> State:
    assert isinstance(handle.sweep(key, sweep), SweepStats)
    return handle.state


@pytest.mark.parametrize("shape", [1e-3, 0.01, 0.1, 0.9, 1.0, 3.0, 400.0])
def test_log_gammas_are_logs_of_gammas(shape, any_seed):
    n = 20_000
    value = room.log_gammas(np.full(n, shape), any_seed, 1, 0, _rng.DRAW_PHI)
    spread = math.sqrt(special.polygamma(1, shape))
    assert abs(value.mean() - special.digamma(shape)) < SIGMAS * spread / math.sqrt(n)
    if shape >= 0.1:  # below, the numbers themselves underflow
        assert uniform(stats.gamma(shape).cdf(np.exp(value))) > LUCK


def test_every_part_of_an_address_matters():
    shape = np.full(50, 0.7)
    where = [(1, 1, 1, _rng.DRAW_PHI), (2, 1, 1, _rng.DRAW_PHI), (1, 2, 1, _rng.DRAW_PHI),
             (1, 1, 2, _rng.DRAW_PHI), (1, 1, 1, _rng.DRAW_THETA)]  # fmt: skip
    together = np.concatenate([room.log_gammas(shape, *each) for each in where])
    assert np.unique(together).size == together.size
    last = (2**64 - 1, 2**31, 7, _rng.DRAW_PHI)
    np.testing.assert_array_equal(room.log_gammas(shape, *last), room.log_gammas(shape, *last))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 8.0])
def test_the_mean_is_the_papers_equation(alpha, any_seed):
    counts = random_corpus(80, 30, 9, any_seed, heaviest=3, topics=3)
    beta = 0.2 + 0.8 * _rng.uniform(any_seed, 9, np.arange(30), 0)
    urn = urns.finite(12, alpha, beta)
    z = random_labels(80, 3 if alpha > 1 else 9, any_seed)
    handle = BACKEND.open(counts, urn, from_labels(counts, urn, z).assignment, MEAN)
    z, opened = first_seen_sorted(z), 0
    for sweep in range(1, 6):
        drawn = mean_sweep(counts, urn, z, any_seed, sweep)
        opened = max(opened, np.unique(drawn[drawn > z.max()]).size)
        z = first_seen_sorted(drawn)
        np.testing.assert_array_equal(swept(handle, any_seed, sweep).z, z)
    if alpha == 0.0:
        assert opened == 0
    if alpha > 1.0:  # nine empty clusters of weight 8 each, beside 80 documents
        assert opened > 1, "several documents open clusters in one sweep, and not the same one"


def mean_sweep(counts, urn, z, key, sweep):
    """X-DMM's Algorithm 3 with the posterior means, one dense table, every cluster by itself."""
    table = np.zeros((counts.n_docs, counts.n_words))
    for d in range(counts.n_docs):
        entries = slice(counts.ptr[d], counts.ptr[d + 1])
        table[d, counts.word[entries]] = counts.tally[entries]
    member = (z[:, None] == np.arange(urn.sizes.cap)) * counts.weight[:, None]
    n_kw = member.T @ table + urn.words.beta
    phi = n_kw / n_kw.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        score = np.log(member.sum(axis=0) + urn.sizes.prior) + table @ np.log(phi).T
    score *= counts.weight[:, None]
    weight = np.cumsum(np.exp(score - score.max(axis=1, keepdims=True)), axis=1)
    u = _rng.uniform(key, sweep, np.arange(counts.n_docs), DRAW_ONE)
    return np.array([np.searchsorted(w, x * w[-1], side="right") for w, x in zip(weight, u)])  # noqa: B905


def first_seen_sorted(z):
    """Labels renamed to 0, 1, ... in ascending order, as the state keeps them."""
    return np.unique(z, return_inverse=True)[1]


@pytest.mark.parametrize("how", [DRAW, MEAN], ids=["draw", "mean"])
class TestAnySetting:
    def test_the_state_is_a_recount(self, how, any_seed):
        counts = random_corpus(300, 50, 20, any_seed, heaviest=2, topics=4)
        urn = urns.finite(25, 0.1, urns.per_word(0.1, 50))
        start = from_labels(counts, urn, random_labels(300, 25, any_seed))
        handle = BACKEND.open(counts, urn, start.assignment, how)
        before = start.z
        for sweep in range(1, 11):
            stats = handle.sweep(any_seed, sweep)
            state = handle.state
            assert is_sound(counts, urn, state)
            assert stats.sampler == "uncollapsed"
            assert 0 <= stats.moved <= counts.weight.sum()
            assert (stats.moved == 0) == (first_seen(before) == first_seen(state.z))
            before = state.z.copy()

    @pytest.mark.parametrize("n_jobs", [1, 2, 7])
    def test_threads_and_chunks_change_nothing(self, how, n_jobs, monkeypatch):
        counts = random_corpus(500, 80, 15, 3, heaviest=2, topics=5)
        expected = run(counts, how)
        monkeypatch.setattr(room, "CHUNK_ADDS", 20_000)
        monkeypatch.setattr(room, "CHUNK_GAMMAS", 100)
        np.testing.assert_array_equal(run(counts, how._replace(n_jobs=n_jobs)), expected)

    def test_the_order_of_the_scan_and_bursts_change_nothing(self, how):
        counts = random_corpus(200, 30, 15, 4, topics=3)
        expected = run(counts, how)
        np.testing.assert_array_equal(run(counts, how._replace(scan="random")), expected)
        np.testing.assert_array_equal(run(counts, how, burstiness=False), expected)

    def test_without_alpha_no_cluster_comes_back(self, how):
        counts = random_corpus(60, 20, 6, 5, topics=3)
        urn = urns.finite(40, 0.0, urns.per_word(0.5, 20))
        handle = BACKEND.open(
            counts, urn, from_labels(counts, urn, random_labels(60, 40, 5)).assignment, how
        )
        open_ = [swept(handle, 1, sweep).n_open for sweep in range(1, 30)]
        assert open_ == sorted(open_, reverse=True)
        assert open_[-1] < open_[0]

    @pytest.mark.parametrize("beta", [1e-100, 0.01, 1e9])
    def test_extreme_beta(self, how, beta):
        counts = random_corpus(100, 20, 300, 6, heaviest=9, topics=3)
        urn = urns.finite(10, 1e-9, urns.per_word(beta, 20))
        handle = BACKEND.open(
            counts, urn, from_labels(counts, urn, random_labels(100, 10, 6)).assignment, how
        )
        for sweep in range(1, 6):
            assert is_sound(counts, urn, swept(handle, 1, sweep))

    def test_one_cluster_and_one_document(self, how):
        for counts in (corpus("aab"), corpus("a", "b", "c")):
            urn = urns.finite(1, 0.1, urns.per_word(0.1, 8))
            handle = BACKEND.open(counts, urn, together(counts, urn).assignment, how)
            assert handle.sweep(1, 1).moved == 0
            assert not handle.state.z.any()

    def test_a_stopped_sweep_changes_nothing(self, how, monkeypatch):
        monkeypatch.setattr(room, "CHUNK_ADDS", 2000)
        counts = random_corpus(300, 40, 10, 7, topics=3)
        urn = urns.finite(20, 0.1, urns.per_word(0.1, 40))
        handle = BACKEND.open(
            counts, urn, from_labels(counts, urn, random_labels(300, 20, 7)).assignment, how
        )
        before = swept(handle, 1, 1)
        z = before.z.copy()
        assert handle.sweep(1, 2, lambda: True) is None
        assert handle.state is before
        np.testing.assert_array_equal(before.z, z)

    @pytest.mark.chance
    def test_it_finds_planted_groups(self, how):
        counts = random_corpus(400, 200, 60, moved(2), topics=5)
        planted = np.arange(400) % 5
        urn = urns.finite(10, 0.1, urns.per_word(0.1, 200))
        start = from_labels(counts, urn, random_labels(400, 10, moved(1)))
        handle = BACKEND.open(counts, urn, start.assignment, how)
        for sweep in range(1, 41):
            state = swept(handle, moved(1), sweep)
        pure = sum(np.bincount(planted[state.z == k]).max() for k in np.unique(state.z))
        assert pure > 0.5 * 400  # by chance about 0.3; many documents have one word only


def run(
    counts: Counts, how: SamplerOptions, burstiness: bool = True, alpha: float = 0.1
) -> np.ndarray:
    """Labels after some sweeps."""
    urn = urns.finite(30, alpha, urns.per_word(0.1, counts.n_words), burstiness)
    state = from_labels(counts, urn, random_labels(counts.n_docs, 30, 1))
    handle = BACKEND.open(counts, urn, state.assignment, how)
    for sweep in range(1, 6):
        state = swept(handle, 9, sweep)
    return state.z


def test_draws_and_means_differ():
    counts = random_corpus(200, 30, 15, 4, topics=3)
    assert (run(counts, DRAW) != run(counts, MEAN)).any()


@pytest.mark.parametrize("alpha", [0.0, 0.3, 8.0])
def test_draws_are_made_around_the_means(alpha, monkeypatch, any_seed):
    """With every gamma variate at its mean, drawn theta and phi are the posterior means."""
    monkeypatch.setattr(room, "log_gammas", lambda shape, *address: np.log(shape))
    counts = random_corpus(150, 30, 9, any_seed, heaviest=3, topics=3)
    assert (run(counts, DRAW, alpha=alpha) == run(counts, MEAN, alpha=alpha)).all()


FINITE = urns.finite(5, 0.1, BETA)
OTHERS = {
    "process": urns.process(1.0, BETA),
    "seeded": seeded(FINITE, aab=0.5),
    "promoted": promoted(FINITE, 0.3, "ab"),
}


@pytest.mark.parametrize("sampler", ["uncollapsed", "em"])
class TestRefusals:
    def test_the_finite_urn_is_taken(self, sampler):
        assert BACKEND.supports(FINITE, SamplerOptions(sampler)) is None

    @pytest.mark.parametrize("urn", OTHERS)
    def test_other_urns_are_refused_in_a_sentence(self, sampler, urn):
        refusal = BACKEND.supports(OTHERS[urn], SamplerOptions(sampler))
        assert refusal.startswith(f"sampler={sampler!r} takes the finite urn alone")
        assert refusal.endswith("use sampler='gibbs' or 'blocked'.")

    def test_an_estimator_passes_it_on(self, sampler):
        with pytest.raises(Unsupported, match="finite urn alone"):
            GSDPMM(sampler=sampler).fit([["a"], ["b"]])

    def test_a_table_too_large_is_refused_with_its_numbers(self, sampler, monkeypatch):
        monkeypatch.setattr(room, "MAX_BYTES", 2**20)
        counts = random_corpus(50, 300, 5, 1)
        urn = urns.finite(1000, 0.1, urns.per_word(0.1, 300))
        with pytest.raises(Unsupported, match=r"300 words x 1000 clusters.*GiB.*fewer clusters"):
            BACKEND.open(counts, urn, together(counts, urn).assignment, SamplerOptions(sampler))

    def test_an_unknown_phi_is_refused(self, sampler):
        assert "'draw' or 'mean'; got 'median'" in BACKEND.supports(
            FINITE, SamplerOptions(sampler, phi="median")
        )


def test_the_mean_needs_room_for_documents_only():
    counts = random_corpus(50, 300, 5, 1)
    urn = urns.finite(NO_CAP // 2, 0.1, urns.per_word(0.1, 300))
    with pytest.raises(Unsupported):
        BACKEND.open(counts, urn, together(counts, urn).assignment, DRAW)
    handle = BACKEND.open(counts, urn, together(counts, urn).assignment, MEAN)
    assert swept(handle, 1, 1).n_open > 1


def test_resumed_runs_are_the_same(tmp_path):
    texts, _ = make_corpus(200)
    how = {"n_clusters": 20, "sampler": "uncollapsed", "random_state": 3}
    whole = GSDMM(**how, n_sweeps=9).fit(texts)
    for n_sweeps in (2, 5, 9):
        part = GSDMM(**how, n_sweeps=n_sweeps, checkpoint=tmp_path / "run.ckpt").fit(texts)
    np.testing.assert_array_equal(part.labels_, whole.labels_)
    assert set(whole.trace_["sampler"]) == {"uncollapsed"}
    assert np.isfinite(whole.trace_["log_joint"]).all()
    assert whole.predict(texts).shape == (200,)
