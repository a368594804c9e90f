"""The promoted urn (GPU-DMM) beside the NumPy reference.

Replayed a document at a time, recounted over a thousand sweeps, and compared with the plain urn.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest
from chance import LUCK, fit
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_cases import WAYS as ORACLE_WAYS
from oracle_cases import Case, conditional, open_case
from test_oracle import assert_counted, draw_one
from tiny import corpus, first_seen, from_bags, promoted, random_corpus, random_labels, seeded

from coterie import _rng, urns
from coterie import state as state_room
from coterie._rng import DRAW_FLAG
from coterie.backends import SamplerOptions
from coterie.backends._gibbs import GibbsChain
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.errors import InvalidInput
from coterie.kernels import _open, _work, gibbs, reference
from coterie.start import first_assignment
from coterie.urns import Urn

V = 16  # the letters a to p; no document has the last two
BETA = urns.per_word(0.2, V)
# words of one document that promote each other both ways and one way, chains, words nobody has
RELATED = ("abcop", "bac", "cfgo", "dbeh", "ed", "gcp", "hgikl", "ilm", "lkp", "na")
BASES: dict[str, Urn] = {
    "finite": urns.finite(8, 0.4, BETA),
    "full": urns.finite(3, 0.4, BETA),
    "Eq. 3": urns.finite(8, 0.4, BETA, burstiness=False),
    "large alpha": urns.finite(
        8, 50.0, urns.per_word(2.0, V)
    ),  # an empty cluster is often the best
    "process": urns.process(12.0, np.linspace(0.05, 1.0, V)),
    "seeded process": seeded(urns.process(4.0, BETA), aabc=0.7, ooh=1.5, p=0.0),
    "seeded finite": seeded(urns.finite(7, 0.4, BETA), aabc=0.7, ooh=1.5),
}


class Way(NamedTuple):
    """Constants that decide how counts are laid out and which way to a draw is taken."""

    row_cost: float = 5.0
    safe_nats: float = 600.0


WAYS = {
    "as it comes": Way(),
    "rows": Way(1e9),
    "postings": Way(0.0),
    "long, rows": Way(1e9, -1.0),
    "long, postings": Way(0.0, -1.0),
}


@contextmanager
def going(way: Way) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_room, "ROW_COST", way.row_cost)
        patch.setattr(_open, "SAFE_NATS", way.safe_nats)
        yield


def relate(urn: Urn, amount: float, most: int, seed: int) -> Urn:
    """Every word promotes up to `most` others, whichever."""
    n_words = urn.words.beta.size
    u = _rng.uniform(seed, 9, np.arange(n_words)[:, None], np.arange(most))
    rows = [np.setdiff1d((u[w] * n_words).astype(int), [w]) for w in range(n_words)]
    ptr = np.cumsum([0, *(row.size for row in rows)])
    return urns.promoted(urn, amount, ptr, np.concatenate(rows))


# ------------------------------------------------------------------------------------- the replay

FRESH = 10**6  # labels of clusters opened within the sweep


def replay(
    counts: Counts, urn: Urn, z: np.ndarray, n_sweeps: int, scan: str = "given", anew: int = 5
) -> Counter[str]:
    """Sweep document by document; check flags and counts after each, and count what happened.

    The state is laid anew after `anew` documents, too: then slots change names within a sweep.
    """
    key = 5
    n_seeds = urn.seeds.weight.size
    handle = GibbsChain(
        counts, urn, state_room.from_labels(counts, urn, z), SamplerOptions(scan=scan)
    )
    seen: Counter[str] = Counter()
    for sweep in range(1, n_sweeps + 1):
        handle.begin(key, sweep)
        begun = reference.count(counts, urn, handle.state.z, handle.state.flag)
        label = handle.state.z.astype(np.int64)  # as the reference names the clusters
        unused = closed(handle)  # slots nobody was in since they were numbered
        order = handle.scan if scan == "random" else np.arange(counts.n_docs)
        for i, d in enumerate(order.tolist()):
            full = handle.state.n_open == handle.state.size.size
            if full:
                assert not draw(handle, key, sweep, i)
                seen["slots ran out"] += 1
            if full or i % anew == anew - 1:
                gaps = handle.state.n_open < handle.state.high
                seen["slots changed names within the sweep"] += gaps
                handle.relayout()
                unused = closed(handle)
                assert_counted(counts, urn, handle.state)
            freed = closed(handle) - unused
            assert draw(handle, key, sweep, i)
            state, old = handle.state, label[d]
            k = int(state.z[d])
            mates = np.flatnonzero((state.z == k) & (np.arange(counts.n_docs) != d))
            was_alone = old >= n_seeds and (label == old).sum() == 1
            label[d] = k if k < n_seeds else label[mates[0]] if mates.size else FRESH + d
            opened = bool(label[d] >= FRESH)
            assert first_seen(state.z, n_seeds) == first_seen(label, n_seeds)
            seen["opened"] += opened and not mates.size
            seen["joined one opened within the sweep"] += opened and bool(mates.size)
            seen["alone, and opened its own slot again"] += was_alone and opened and not mates.size
            seen["took a slot freed within the sweep"] += k in freed
            unused &= closed(handle)
            assert_flags(counts, urn, begun, label, d, state.flag, opened, (key, sweep))
            assert_counted(counts, urn, state)
            assert_derived(handle)
            seen["promoting words"] += int(state.flag[counts.ptr[d] : counts.ptr[d + 1]].sum())
    return seen


def closed(handle: GibbsChain) -> set[int]:
    """The slots without a cluster."""
    return set(handle.state.order[handle.state.n_open :].tolist())


def draw(handle: GibbsChain, key: int, sweep: int, i: int) -> bool:
    """Draw the i-th document of the scan; False if the slots are full."""
    done = gibbs.sweep(
        handle.counts,
        handle.urn,
        handle.state,
        handle.fixed,
        handle.derived,
        handle.scratch,
        np.uint64(key),
        sweep,
        i,
        i + 1,
    )
    return bool(done == i + 1)


def assert_flags(
    counts: Counts,
    urn: Urn,
    begun: reference.Tables,
    label: np.ndarray,
    d: int,
    flag: np.ndarray,
    opened: bool,
    at: tuple[int, int],
) -> None:
    """Document d's flags are what its own random numbers make of the reference's lambda."""
    mine = flag[counts.ptr[d] : counts.ptr[d + 1]]
    chance = reference.promotion_chances(counts, urn, begun, label, d, flag, opened)
    u = _rng.uniform(*at, d, DRAW_FLAG + np.arange(mine.size))
    tell = np.abs(u - chance) > 1e-12
    assert (mine == (u < chance))[tell].all()


def assert_derived(handle: GibbsChain) -> None:
    """What the kernel keeps beside the state is what a fresh start would derive from it."""
    kept = handle.derived._asdict() | handle.scratch._asdict()
    fresh = {}
    for part in handle._derive():
        fresh |= part._asdict()
    for name in ("base", "log_weight", "log_total", "product", "given", "promoted_by"):
        assert np.array_equal(kept[name], fresh[name]), name


CLUSTERS_COME_AND_GO = [
    "opened",
    "joined one opened within the sweep",
    "alone, and opened its own slot again",
    "took a slot freed within the sweep",
    "slots changed names within the sweep",
]


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", BASES)
def test_every_flag_is_the_references(base, way, heaviest):
    counts = random_corpus(25, V - 2, 7, 31, heaviest, topics=4)._replace(n_words=V)
    urn = promoted(BASES[base], 0.3, *RELATED)
    z = urn.seeds.weight.size + random_labels(counts.n_docs, 3, 2)
    scan = "random" if heaviest == 3 else "given"
    with going(WAYS[way]):
        seen = replay(counts, urn, z, 6, scan)
    assert seen["promoting words"] > 50
    if base == "process":
        assert all(seen[event] for event in CLUSTERS_COME_AND_GO), seen


@pytest.mark.parametrize("way", ["rows", "postings"])
def test_every_flag_when_the_slots_run_out_within_a_sweep(way):
    """From one cluster to many: what the sweep began with is found under the new numbers."""
    counts = random_corpus(130, V - 2, 4, 3, topics=3)._replace(n_words=V)
    urn = promoted(urns.process(900.0, BETA), 1 / 3, *RELATED)
    with going(WAYS[way]):
        seen = replay(counts, urn, random_labels(counts.n_docs, 5, 1), 2, anew=10**6)
    assert seen["slots ran out"] > 0


def test_every_flag_when_an_empty_cluster_is_the_best():
    """alpha = 50 / K and long documents: a rare word is likeliest where nothing was counted yet."""
    counts = random_corpus(12, V - 2, 90, 5)._replace(n_words=V)
    urn = promoted(urns.finite(40, 50.0, urns.per_word(0.1, V)), 0.3, *RELATED)
    z = random_labels(counts.n_docs, 3, 1)
    begun = reference.count(counts, urn, z)
    lower = 0
    for d in range(counts.n_docs):
        each = [
            reference.promotion_chances(counts, u, begun, z, d, None, opened=False)
            for u in (urn, urns.changed(urn, cap=3))
        ]
        lower += int((each[0] < 0.9 * each[1]).sum())
    assert lower > 10
    assert replay(counts, urn, z, 4)["promoting words"] > 50


def test_chances_are_gpu_dmms_equations():
    """Eq. 5, 6 and 8 as the paper prints them, for the reference that all the rest leans on."""
    texts, z, alpha, beta, mu, n_clusters = (
        ["aab", "bc", "cd", "ad"],
        [0, 0, 1, 1],
        0.3,
        0.2,
        0.5,
        5,
    )
    urn = promoted(urns.finite(n_clusters, alpha, urns.per_word(beta, 4)), mu, "abc", "cd", "da")
    counts, flag = corpus(*texts, n_words=4), np.array([1, 0, 0, 1, 0, 0, 1, 1], np.uint8)
    n = np.zeros((n_clusters, 4))  # n~ of Algorithm 2
    m = np.bincount(z, minlength=n_clusters)
    for k, word, amount in [(0, "a", 2), (0, "b", 2), (0, "c", 1), (1, "cdad", 1)]:
        for letter in word:
            n[k, "abcd".index(letter)] += amount
    n[0, [1, 2]] += 2 * mu  # a of document 0, twice there, promotes b and c
    n[0, 3] += mu  # c of document 1 promotes d
    n[1, [1, 2]] += mu  # a of document 3
    n[1, 0] += mu  # d of document 3
    p_z = (m + alpha) / (len(texts) + n_clusters * alpha)
    p_w = (n + beta) / (n.sum(axis=1) + 4 * beta)[:, None]
    joint = p_z[:, None] * p_w
    p_z_given_w = joint / joint.sum(axis=0)
    wanted = p_z_given_w / p_z_given_w.max(axis=0)

    begun = reference.count(counts, urn, np.array(z), flag)
    np.testing.assert_allclose(begun.words, n[:2])
    moved = np.array([0, 1, 1, 1])  # document 1, "bc": b promotes nothing
    chance = reference.promotion_chances(counts, urn, begun, moved, 1, flag, opened=False)
    np.testing.assert_allclose(chance, [0.0, wanted[1, 2]])
    alone = np.array([0, 7, 1, 1])
    chance = reference.promotion_chances(counts, urn, begun, alone, 1, flag, opened=True)
    now = (1 + alpha) * (1 + beta) / (2 + 4 * beta) / (len(texts) + n_clusters * alpha)
    np.testing.assert_allclose(chance, [0.0, min(1.0, now / joint[:, 2].max())])


# ---------------------------------------------------------------------------------- counts, exactly


@pytest.mark.parametrize("mu", [0.3, 1 / 3, 0.77, 1.0])
@pytest.mark.parametrize("base", ["finite", "process"])
def test_a_thousand_sweeps_leave_no_residue(base, mu):
    counts = random_corpus(40, V, 9, 8, topics=4)
    urn = relate(BASES[base], mu, 6, seed=3)
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, 5, 1, BACKEND))
    for sweep in range(1, 1001):
        handle.sweep(2, sweep)
        state = handle.state
        assert (state.rows >= 0).all()
        assert (state.post[state_room._used(state), 1] > 0).all()
        if sweep in (1, 10, 100, 1000):
            assert state_room.is_sound(counts, urn, state)
            assert_counted(counts, urn, state)


@settings(max_examples=80)
@given(
    n_docs=st.integers(1, 12),
    longest=st.integers(1, 12),
    heaviest=st.integers(1, 3),
    seed=st.integers(0, 2**32),
    init=st.sampled_from(["one", "online", "seeds", 2]),
    base=st.sampled_from(list(BASES)),
    most=st.sampled_from([1, 4, 40]),
    mu=st.sampled_from([0.001, 0.3, 1 / 7, 1.0, 5.0]),
    row_costs=st.lists(st.sampled_from([0.0, 5.0, 1e9]), min_size=1, max_size=3),
    scan=st.sampled_from(["given", "random"]),
)
def test_small_odd_corpora_are_counted_right(
    n_docs, longest, heaviest, seed, init, base, most, mu, row_costs, scan
):
    """Also when the layout is another one every sweep: to dense rows and back."""
    counts = random_corpus(n_docs, V, longest, seed, heaviest)
    urn = relate(BASES[base], mu, most, seed)
    init = "one" if init == "seeds" and not urn.seeds.weight.size else init
    state = first_assignment(counts, urn, init, seed, BACKEND)
    assert not state.flag.any()  # Algorithm 1 starts without promoting
    handle = BACKEND.open(counts, urn, state, SamplerOptions(scan=scan))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_room, "wants_relayout", lambda state, sweep: True)
        for sweep in range(1, 7):
            patch.setattr(state_room, "ROW_COST", row_costs[sweep % len(row_costs)])
            handle.sweep(seed, sweep)
            assert_counted(counts, urn, handle.state)


@pytest.mark.parametrize("n_docs", [1, 2, 3])
@pytest.mark.parametrize("base", ["process", "seeded process", "seeded finite"])
def test_postings_stay_within_their_room(base, n_docs):
    """Documents alone or in seeds, their words promoting words nobody has: not one place to spare."""
    counts = corpus("abk", "ab", "bak", n_words=V)
    counts = from_bags([counts.word[counts.ptr[d] : counts.ptr[d + 1]] for d in range(n_docs)], V)
    urn = promoted(
        urns.changed(BASES[base], beta=np.full(V, 1.0), beta_sum=float(V)), 0.5, "amnop", "bmnop"
    )
    state = state_room.from_labels(counts, urn, np.arange(n_docs, dtype=np.int32))
    room = int(state.post_ptr[-1])
    guarded = np.full((room + 4, 2), -7, np.int32)
    guarded[:room] = state.post
    handle = GibbsChain(counts, urn, state._replace(post=guarded[:room]))
    with going(WAYS["postings"]):
        for sweep in range(1, 300):
            handle.sweep(1, sweep)
            assert state_room.is_sound(counts, urn, handle.state)
    assert (guarded[room:] == -7).all()


def test_counts_at_the_edge_of_int32():
    counts = corpus("ab", "ba", "abc", n_words=V, weight=[79_000_000, 80_000_000, 1_000_000])
    urn = promoted(urns.finite(4, 0.4, BETA), 0.3, "ab", "ba", "ca")
    urns.check_room(urn, counts)
    with pytest.raises(InvalidInput, match="2\\^31"):
        urns.check_room(urn, counts._replace(weight=counts.weight * 11 // 10))
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, "one", 1, BACKEND))
    for sweep in range(1, 40):
        handle.sweep(1, sweep)
        assert_counted(counts, urn, handle.state)
    assert handle.state.flag.any()


@pytest.mark.chance
@pytest.mark.parametrize("d", [0, 5])
@pytest.mark.parametrize("beta", [1e-6, 1e9])
def test_the_smallest_promotion_marks_a_cluster_as_touched(beta, d):
    """A count of a thousandth beside the largest beta there is: 1 + n / beta is still above 1."""
    counts = corpus("ab", "bc", "d", "aae", "ef", "ggh", "hi", "ci", "k", "dk", n_words=V)
    urn = promoted(urns.process(3.0, urns.per_word(beta, V)), 0.001, "akd", "bhi", "gc", "ka")
    z, flag = np.array([0, 0, 1, 2, 2, 3, 1, 4, 4, 2]), np.ones(counts.word.size, np.uint8)
    case = Case(counts, urn, z, flag=flag)
    handle = open_case(case, ORACLE_WAYS["postings"])
    gibbs.sweep(
        counts,
        urn,
        handle.state,
        handle.fixed,
        handle.derived,
        handle.scratch,
        np.uint64(1),
        1,
        d,
        d + 1,
    )
    assert handle.scratch.stats[_work.TOUCHED_DRAWS] == 1
    assert fit(draw_one(case, "postings", d, 4000), conditional(case, d)) > LUCK


# ------------------------------------------------------------------------------------ equivalences


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("silent", ["mu = 0", "mu rounds to 0", "no relations", "other words only"])
def test_without_promotion_the_labels_are_the_plain_urns(base, silent, monkeypatch):
    if silent == "other words only":  # relations ask for rows, and a row is another way to draw
        monkeypatch.setattr(state_room, "PROMOTED_ROWS", 1.0)
    counts = random_corpus(80, V - 2, 9, 6, topics=4)._replace(n_words=V)
    plain = BASES[base]
    urn = {
        "mu = 0": lambda: relate(plain, 0.0, 4, 1),
        "mu rounds to 0": lambda: relate(plain, 1e-6, 4, 1),
        "no relations": lambda: promoted(plain, 0.5),
        "other words only": lambda: promoted(plain, 0.5, "oab", "pc"),  # nobody has o or p
    }[silent]()
    runs = []
    for each in (plain, urn):
        handle = BACKEND.open(counts, each, first_assignment(counts, each, 3, 4, BACKEND))
        for sweep in range(1, 9):
            handle.sweep(4, sweep)
        runs.append(handle.state.z.tolist())
        assert not handle.state.flag.any()
    assert runs[0] == runs[1]


def test_promotion_changes_the_labels():
    counts = random_corpus(80, V, 9, 6, topics=4)
    runs = {}
    for mu in (0.0, 0.3):
        urn = relate(BASES["finite"], mu, 4, 1)
        handle = BACKEND.open(counts, urn, first_assignment(counts, urn, 3, 4, BACKEND))
        for sweep in range(1, 9):
            handle.sweep(4, sweep)
        runs[mu] = first_seen(handle.state.z)
    assert runs[0.0] != runs[0.3]
