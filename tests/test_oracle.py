"""The compiled kernels against the NumPy reference, a recount, their own source, and themselves."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numba
import numpy as np
import pytest
from chance import LUCK, fit, moved
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_cases import CASES, PAIRS, RUNS, WAYS, Case, conditional, named, open_case, run_labels
from tiny import first_seen, from_bags, promoted, random_corpus, random_labels, seeded

from coterie import GSDMM, urns
from coterie import state as state_room
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.kernels import gibbs, reference
from coterie.kernels._common import log_rising
from coterie.start import first_assignment
from coterie.state import State, from_labels, word_counts
from coterie.urns import Urn

TESTS = Path(__file__).resolve().parent


def run_python(code: str, **env: str) -> str:
    """What another Python process prints when it runs this; it sees the tests' own modules."""
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------------------- the conditional


def test_the_kernels_law_is_the_references():
    """Exactly: as plain Python, with chosen numbers in the place of random ones."""
    found = json.loads(
        run_python("import runpy; runpy.run_module('oracle_cases', run_name='__main__')",
                   NUMBA_DISABLE_JIT="1")
    )  # fmt: skip
    assert len(found) == len(PAIRS)
    assert {name: it for name, it in found.items() if it["error"] > 1e-6} == {}
    for name in CASES:
        if "short" in name or "seeded" in name or "alpha 0" in name:
            way = "postings" if "promoted" in name else "as it comes"  # it has rows much earlier
            assert found[f"{name}; {way}"]["touched"] > 0
            assert found[f"{name}; rows"]["touched"] == 0


@pytest.mark.chance
@pytest.mark.parametrize(("name", "way"), PAIRS)
def test_compiled_draws_follow_the_conditional(name, way):
    case = CASES[name]
    d = case.documents[-1]
    exact = conditional(case, d)
    assert fit(draw_one(case, way, d, 2000), exact) > LUCK


def draw_one(case: Case, way: str, d: int, n: int) -> Counter[int]:
    """Draw document d again and again from the same state."""
    handle = open_case(case, WAYS[way])
    exact = conditional(case, d)
    everything = (*handle.state, *handle.derived, *handle.scratch, *handle.derived.start)
    arrays = [a for a in everything if isinstance(a, np.ndarray) and a.size]
    kept = [a.copy() for a in arrays]
    drawn: Counter[int] = Counter()
    for number in range(n):
        gibbs.sweep(
            case.counts,
            case.urn,
            handle.state,
            handle.fixed,
            handle.derived,
            handle.scratch,
            np.uint64(moved(17)),
            number,
            d,
            d + 1,
        )
        drawn[named(int(handle.state.z[d]), exact)] += 1
        for a, before in zip(arrays, kept, strict=True):
            np.copyto(a, before)
    return drawn


@pytest.mark.chance
def test_a_word_may_be_worth_hundreds_of_nats():
    """Eq. 3, a small beta, a word held a million times: products must not overflow on the way."""
    bag = np.arange(20).repeat(16)
    counts = from_bags([bag, bag, bag], 20, weight=[1, 100_000, 100_001])
    urn = urns.finite(5, 0.5, urns.per_word(1e-4, 20), burstiness=False)
    case = Case(counts, urn, np.array([0, 1, 2]))
    for way in ("rows", "postings"):
        assert fit(draw_one(case, way, 0, 500), conditional(case, 0)) > LUCK


def test_a_full_urn_opens_nothing_even_by_rounding():
    code = "import oracle_cases; print(oracle_cases.opened_when_full())"
    assert run_python(code, NUMBA_DISABLE_JIT="1") == "0\n"


# ----------------------------------------------------------------------------------- the recount


def assert_counted(counts: Counts, urn: Urn, state: State) -> None:
    """The state is what a recount of its labels gives, and its lists agree with each other."""
    flag = state.flag if urn.relations.promotion else None
    label, size, words = reference.count(counts, urn, state.z, flag)
    words = np.rint(words * urn.words.one)  # as it is stored: whole numbers of units
    width = state.size.size
    assert (state.z >= 0).all()
    assert_spread(state.size, label, size)
    assert_spread(state.total, label, words.sum(axis=1))

    ptr, slot, held = word_counts(state)
    table = np.zeros((width, counts.n_words))
    table[slot, np.repeat(np.arange(counts.n_words), np.diff(ptr))] = held
    assert (held > 0).all()
    assert np.count_nonzero(table) == held.size  # no cluster is listed twice for a word
    assert_spread(table, label, words)
    assert (state.post_len[state.row_of >= 0] == 0).all()
    assert (state.post_len <= np.diff(state.post_ptr)).all()

    n_open, high = state.n_open, state.high
    assert np.sort(state.order).tolist() == list(range(width))
    assert state.place[state.order].tolist() == list(range(width))
    assert np.sort(state.order[:n_open]).tolist() == label.tolist()
    assert n_open <= urn.sizes.cap
    assert label.max() < high <= width


def assert_spread(per_slot: np.ndarray, label: np.ndarray, wanted: np.ndarray) -> None:
    """Open slots hold what is wanted, all others nothing."""
    assert (per_slot[label] == wanted).all()
    assert not np.delete(per_slot, label, axis=0).any()


V = 90
BETA = urns.per_word(0.1, V)
RELATED = ("abcdefgh", "bac", "cfgk", "kabc", "xyz", "zx")
URNS: dict[str, Urn] = {
    "finite": urns.finite(40, 0.1, BETA),
    "finite, many": urns.finite(500, 0.1, BETA),
    "finite, Eq. 3": urns.finite(40, 0.1, BETA, burstiness=False),
    "finite, alpha 0": urns.finite(40, 0.0, BETA),
    "finite, uneven beta": urns.finite(40, 0.3, np.linspace(0.01, 1.0, V)),
    "process": urns.process(20.0, BETA),
    "process, crowded": urns.process(3000.0, BETA),
    "seeded process": seeded(urns.process(20.0, BETA), aabc=1.0, xyz=2.0, z=0.0),
    "seeded finite": seeded(urns.finite(60, 0.2, BETA), aabc=1.0, xyz=2.0),
    "promoted": promoted(urns.finite(40, 0.1, BETA), 0.3, *RELATED),
    "promoted process": promoted(urns.process(20.0, BETA), 1 / 3, *RELATED),
    "promoted seeded": promoted(
        seeded(urns.process(20.0, BETA), aabc=1.0, xyz=2.0), 0.25, *RELATED
    ),
}
STARTS = ["random", "one", "online", 7, "labels"]


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
@pytest.mark.parametrize("init", STARTS, ids=str)
@pytest.mark.parametrize("name", URNS)
def test_the_state_equals_a_recount(name, init, heaviest):
    urn = URNS[name]
    counts = random_corpus(200, V, 30, 11, heaviest, topics=9)
    start = random_labels(counts.n_docs, 30, 12) * 3 if init == "labels" else init  # with gaps
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, start, 5, BACKEND))
    assert_counted(counts, urn, handle.state)
    for sweep in range(1, 13):
        handle.sweep(5, sweep)
        if sweep in (1, 2, 7, 12):
            assert_counted(counts, urn, handle.state)


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
def test_a_sweep_that_outgrows_its_slots_goes_on(heaviest):
    """From one cluster to hundreds in one sweep: the state is laid anew in the middle of it."""
    counts = random_corpus(600, V, 4, 3, heaviest)
    urn = URNS["process, crowded"]
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, "one", 1, BACKEND))
    narrow = handle.state.size.size
    handle.sweep(1, 1)
    state = handle.state
    assert state.n_open > 2 * narrow
    assert_counted(counts, urn, state)
    other = BACKEND.open(counts, urn, from_labels(counts, urn, state.z).assignment)
    for sweep in range(2, 10):  # and closes them again
        other.sweep(1, sweep)
    assert_counted(counts, urn, other.state)


@settings(max_examples=60)
@given(
    n_docs=st.integers(1, 12),
    n_words=st.integers(1, 6),
    longest=st.integers(1, 40),
    heaviest=st.integers(1, 3),
    seed=st.integers(0, 2**32),
    init=st.sampled_from(["random", "one", "online", 2]),
    alpha=st.sampled_from([0.0, 1e-3, 0.5, 30.0]),
    beta=st.sampled_from([1e-4, 0.1, 20.0]),
    cap=st.sampled_from([2, 5, 60, None]),
    row_cost=st.sampled_from([0.0, 5.0, 1e9]),
)
def test_small_odd_corpora_are_counted_right(
    n_docs, n_words, longest, heaviest, seed, init, alpha, beta, cap, row_cost
):
    counts = random_corpus(n_docs, n_words, longest, seed, heaviest)
    beta = urns.per_word(beta, n_words)
    urn = urns.finite(cap, alpha, beta) if cap else urns.process(alpha or 1.0, beta)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_room, "ROW_COST", row_cost)
        handle = BACKEND.open(counts, urn, first_assignment(counts, urn, init, seed, BACKEND))
        for sweep in range(1, 7):
            handle.sweep(seed, sweep)
            assert_counted(counts, urn, handle.state)


# ------------------------------------------------------------- the same source, the same numbers


@pytest.mark.parametrize("name", RUNS)
def test_the_source_run_as_python_gives_the_same_labels(name):
    code = f"import oracle_cases; print(oracle_cases.run_labels({name!r}, 3))"
    assert json.loads(run_python(code, NUMBA_DISABLE_JIT="1")) == run_labels(name, 3)


def test_every_process_gives_the_same_labels():
    code = "import oracle_cases as o, json; print(json.dumps([o.run_labels(n, 6) for n in o.RUNS]))"
    here = [run_labels(name, 6) for name in RUNS]
    for hash_seed in ("1", "2"):
        assert json.loads(run_python(code, PYTHONHASHSEED=hash_seed)) == here


# A seed means the same clusters in every version: a change here belongs in the CHANGELOG.
GOLDEN = {
    ("finite", "gibbs"): "0974e701a71cfa1a",
    ("process", "gibbs"): "ab87ae09ccae02f5",
    ("tied", "gibbs"): "3d74ea85eb44686f",
    ("seeded", "gibbs"): "16ab0e41b29cf799",
    ("promoted", "gibbs"): "3397b502329b6f40",
    ("finite", "blocked"): "ab3383bbb57e24a4",
    ("process", "blocked"): "fcd5b791ba48fcb0",
    ("tied", "blocked"): "c75a2feda8e3fc60",
    ("seeded", "blocked"): "b0fb9e413445d60f",
    ("promoted", "blocked"): "ceaa96796c6c4047",
}


@pytest.mark.parametrize(("name", "sampler"), GOLDEN)
def test_golden_labels(name, sampler):
    """Short, tied and long documents (up to 150 words), on every urn."""
    z = first_seen(np.array(run_labels(name, 10, sampler)))
    assert hashlib.sha256(bytes(z)).hexdigest()[:16] == GOLDEN[name, sampler]


@numba.njit
def rising(x: float, steps: int) -> float:
    return log_rising(x, steps)  # has no way in from Python


class TestLargePriors:
    """Weights of tied documents are products of up to alpha^copies, beyond what a float64 holds."""

    @pytest.mark.parametrize("x", [1e-100, 0.1, 7.5, 1e8, 1e74, 1e76, 1e90, 1e100])
    @pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 9, 1000])
    def test_rising_products(self, x: float, steps: int) -> None:
        exact = sum((Decimal(x) + i).ln() for i in range(steps))
        assert rising(x, steps) == pytest.approx(float(exact), rel=1e-12)

    @pytest.mark.parametrize("alpha", [1e-3, 1e80, 1e90, 1e100])
    @pytest.mark.parametrize("sampler", ["gibbs", "blocked", "metropolis"])
    def test_words_decide_where_tied_documents_go(self, alpha: float, sampler: str) -> None:
        """A thousand nats of words against clusters that all weigh the same."""
        kind = np.arange(12) % 3
        X = np.kron(np.eye(3, dtype=int)[kind], np.full(10, 20))
        X[np.arange(12), 10 * kind] += np.arange(12)
        how = {"n_sweeps": 5, "sampler": sampler, "init": kind}
        for seed in range(5):
            model = GSDMM(40, alpha=alpha, beta=0.01, random_state=seed, **how)
            labels = model.fit(X, sample_weight=1 + np.arange(12) % 4).labels_
            assert (labels[:, None] == labels)[kind[:, None] == kind].all()
            assert len(set(labels)) == 3
