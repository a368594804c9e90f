"""Blocked draws: the same labels for any number of threads, counts that add up, and good clusters."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from chance import moved
from tiny import from_bags, promoted, random_corpus, random_labels, seeded

import coterie
from coterie import GSDMM, GSDPMM, metrics, sampler, urns
from coterie import state as state_room
from coterie.backends import SamplerOptions, _blocked, _team
from coterie.backends._blocked import BlockedChain, deal, default_block
from coterie.backends._team import Team
from coterie.backends.cpu import BACKEND
from coterie.demo.corpus import make_messages
from coterie.kernels import blocked, reference
from coterie.sample_start import uncounted
from coterie.start import first_assignment
from coterie.state import is_sound
from coterie.urns import Urn

V = 90
BETA = urns.per_word(0.1, V)
RELATED = ("abcdefgh", "bac", "cfgk", "kabc", "xyz", "zx")
URNS: dict[str, Urn] = {
    "finite": urns.finite(40, 0.1, BETA),
    "finite, tight": urns.finite(12, 2.0, BETA),
    "finite, Eq. 3": urns.finite(40, 0.1, BETA, burstiness=False),
    "finite, uneven beta": urns.finite(40, 0.3, np.linspace(0.01, 1.0, V)),
    "process": urns.process(20.0, BETA),
    "process, crowded": urns.process(3000.0, BETA),
    "seeded": seeded(urns.process(20.0, BETA), aabc=1.0, xyz=2.0),
    "promoted": promoted(urns.finite(40, 0.1, BETA), 0.3, *RELATED),
    "promoted seeded": promoted(seeded(urns.process(20.0, BETA), aabc=1.0), 0.25, *RELATED),
}


def run(
    urn: Urn, how: SamplerOptions, n_sweeps: int = 5, heaviest: int = 1
) -> tuple[list[int], BlockedChain]:
    counts = random_corpus(300, V, 30, 11, heaviest, topics=9)
    labels = random_labels(counts.n_docs, 10, 12)
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, labels, 5, BACKEND), how)
    for sweep in range(1, n_sweeps + 1):
        handle.sweep(5, sweep)
        assert is_sound(counts, urn, handle.state)
    return handle.state.z.tolist(), handle


@pytest.mark.parametrize("scan", ["given", "random"])
@pytest.mark.parametrize("name", URNS)
def test_the_same_labels_on_any_number_of_threads(name: str, scan: str) -> None:
    heaviest = 1 if "Eq. 3" in name else 3
    how = SamplerOptions("blocked", scan, block_size=50)
    one, _ = run(URNS[name], how, heaviest=heaviest)
    for n_jobs in (2, 7):
        assert run(URNS[name], how._replace(n_jobs=n_jobs), heaviest=heaviest)[0] == one


@pytest.mark.parametrize("name", URNS)
def test_who_moves_the_words_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    how = SamplerOptions("blocked", block_size=50, n_jobs=3)
    alone, handle = run(URNS[name], how)
    joint = handle.joint_terms()
    monkeypatch.setattr(_blocked, "FEW", 0)
    together, handle = run(URNS[name], how)
    assert together == alone
    np.testing.assert_array_equal(handle.joint_terms(), joint)  # to the last bit, or both nan
    single, handle = run(URNS[name], how._replace(n_jobs=1))
    assert single == alone
    np.testing.assert_array_equal(handle.joint_terms(), joint)


@pytest.mark.parametrize("size", [1, 7, 40])
@pytest.mark.parametrize("name", URNS)
def test_the_labels_are_those_of_the_rule_in_plain_numpy(name: str, size: int) -> None:
    """One number per document, weights cumulated in slot order, lowest free slot first."""
    urn, heaviest = URNS[name], 1 if "Eq. 3" in name else 2
    counts = random_corpus(40, V, 25, 4, heaviest, topics=5)
    for seed in (1, 2) if size == 7 else (1,):
        labels = random_labels(counts.n_docs, 6, seed)
        first = first_assignment(counts, urn, labels, seed, BACKEND)
        options = SamplerOptions("blocked", block_size=size, n_jobs=2)
        handle = BACKEND.open(counts, urn, first, options)
        z, flag = first.labels.astype(np.int64), first.flag.copy() if first.flag.size else None
        for sweep in range(1, 6):
            z = reference.close_gaps(urn, z, sweep) if sweep > 1 else z
            z = reference.blocked_sweep(counts, urn, z, seed, sweep, deal(40, size), flag)
            handle.sweep(seed, sweep)
            assert handle.state.z.tolist() == z.tolist()
            assert flag is None or handle.state.flag.tolist() == flag.tolist()


@pytest.mark.parametrize("name", [name for name in URNS if "promoted" not in name])
def test_documents_that_are_not_placed_yet_are_drawn_by_the_same_rule(name: str) -> None:
    """A start from a sample: the others are drawn block by block, given the sample and those before."""
    urn, heaviest = URNS[name], 1 if "Eq. 3" in name else 2
    counts = random_corpus(60, V, 25, 4, heaviest, topics=5)
    labels = first_assignment(counts, urn, random_labels(60, 6, 3), 3, BACKEND).labels.copy()
    labels[np.arange(60) % 3 > 0] = -1
    used = np.union1d(np.arange(urn.seeds.weight.size), labels[labels >= 0])
    labels[labels >= 0] = np.searchsorted(used, labels[labels >= 0])
    n = max(int(labels.max()) + 1, urn.seeds.weight.size)
    for size in (1, 9, 60):
        options = SamplerOptions("blocked", block_size=size, n_jobs=2)
        handle = BACKEND.open(counts, urn, uncounted(counts, urn, labels, n), options)
        handle.sweep(8, 0)
        expected = reference.blocked_sweep(counts, urn, labels, 8, 0, deal(60, size))
        assert handle.state.z.tolist() == expected.tolist()
        assert is_sound(counts, urn, handle.state)


@pytest.mark.parametrize("n_slots", [300, 1500])
@pytest.mark.parametrize("name", ["finite", "process", "seeded"])
def test_the_rule_with_many_clusters(name: str, n_slots: int) -> None:
    """Where the tree has several levels, and surpluses are summed over 16 or over 256 slots."""
    counts = random_corpus(n_slots + 100, 2000, 3, 5)
    beta = urns.per_word(0.05, 2000)
    urn = {
        "finite": urns.finite(4000, 0.1, beta),
        "process": urns.process(50.0, beta),
        "seeded": seeded(urns.process(50.0, beta), aabc=1.0, xyz=2.0),
    }[name]
    labels = np.arange(counts.n_docs) % n_slots
    first = first_assignment(counts, urn, labels, 5, BACKEND)
    handle = BACKEND.open(counts, urn, first, SamplerOptions("blocked", block_size=30))
    block = deal(counts.n_docs, 30)[0]
    z = reference.blocked_sweep(counts, urn, first.labels, 5, 1, [block])
    assert handle.state.size.size > n_slots
    assert handle.sweep(5, 1).tree_draws > 100
    assert handle.state.z[block].tolist() == z[block].tolist()


@pytest.mark.parametrize("row_cost", [0.0, 1e9])
def test_long_documents_and_rows_follow_the_rule_too(
    row_cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, by postings only and by rows only, on documents of which some are long."""
    monkeypatch.setattr(state_room, "ROW_COST", row_cost)
    urn, counts = (
        urns.finite(30, 0.1, urns.per_word(0.05, V)),
        random_corpus(40, V, 260, 3, topics=4),
    )
    first = first_assignment(counts, urn, 8, 3, BACKEND)
    handle = BACKEND.open(counts, urn, first, SamplerOptions("blocked", block_size=9))
    assert 0 < handle.fixed.is_long.sum() < counts.n_docs
    z = first.labels.astype(np.int64)
    for sweep in range(1, 6):
        z = reference.close_gaps(urn, z, sweep) if sweep > 1 else z
        z = reference.blocked_sweep(counts, urn, z, 3, sweep, deal(40, 9))
        handle.sweep(3, sweep)
        assert handle.state.z.tolist() == z.tolist()


def test_another_block_size_is_another_chain() -> None:
    assert (
        run(URNS["finite"], SamplerOptions("blocked", block_size=10))[0]
        != run(URNS["finite"], SamplerOptions("blocked", block_size=100))[0]
    )


def test_openers_get_a_cluster_each_even_beyond_the_room_there_was() -> None:
    counts = random_corpus(600, V, 4, 3)
    urn = URNS["process, crowded"]
    state = first_assignment(counts, urn, "one", 1, BACKEND)
    narrow = state.size.size
    handle = BACKEND.open(counts, urn, state, SamplerOptions("blocked", block_size=600))
    handle.sweep(1, 1)
    state = handle.state
    assert state.n_open > 2 * narrow
    assert is_sound(counts, urn, state)
    assert (np.sort(state.size[state.size > 0])[:-1] == 1).all()  # none joined another opener


def test_a_full_urn_opens_nothing() -> None:
    _, handle = run(URNS["finite, tight"], SamplerOptions("blocked", block_size=300))
    assert handle.state.n_open <= 12


def test_neighbours_are_in_different_blocks() -> None:
    """Copies of a text often stand together; drawn against the same counts they would not meet."""
    rng = np.random.default_rng(1)
    bags = [rng.integers(0, 300, 8) for _ in range(150)]
    counts = from_bags([bag for bag in bags for _ in range(4)], 300)
    handle = BACKEND.open(
        counts,
        URNS_300,
        first_assignment(counts, URNS_300, 20, 1, BACKEND),
        SamplerOptions("blocked", block_size=100),
    )
    order, ends = handle.derived.scan, handle.blocks
    block = np.empty(counts.n_docs, int)
    block[order] = np.searchsorted(ends, np.arange(counts.n_docs), "right")
    assert (np.diff(block) != 0).all()
    assert np.sort(order).tolist() == list(range(counts.n_docs))
    assert np.diff(ends).max() <= 100


@pytest.mark.parametrize(
    ("n_docs", "size"), [(1, 64), (64, 64), (65, 64), (2472, 78), (999, 10), (30, 1)]
)
def test_every_document_is_dealt_once_and_about_in_the_order_given(n_docs: int, size: int) -> None:
    blocks = deal(n_docs, size)
    order = np.concatenate(blocks)
    assert np.sort(order).tolist() == list(range(n_docs))
    assert max(map(len, blocks)) <= size
    if len(blocks) > 16:
        assert np.abs(order - np.arange(n_docs)).max() <= n_docs / 7


URNS_300 = urns.finite(40, 0.1, urns.per_word(0.1, 300))


def test_the_block_size_follows_from_the_documents_alone() -> None:
    assert [default_block(n) for n in (1, 500, 2_472, 11_109, 10**6)] == [64, 64, 78, 348, 8192]


def test_a_team_does_every_part_and_passes_errors_on() -> None:
    team = Team(3)
    seen: list[int] = []
    team.run(seen.append)
    assert sorted(seen) == [0, 1, 2]
    with pytest.raises(ZeroDivisionError):
        team.run(lambda part: part // (part - 2))
    team.run(seen.append)
    assert len(seen) == 6


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_nobody_waits_for_a_thread_that_failed(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, handle = run(URNS["finite"], SamplerOptions("blocked", block_size=50, n_jobs=3), n_sweeps=1)
    kernel = blocked.sweep

    def fails(*arguments) -> None:
        if arguments[-3] == failing:
            raise MemoryError("no room")
        kernel(*arguments)

    monkeypatch.setattr(blocked, "sweep", fails)
    with pytest.raises(MemoryError):
        handle.sweep(5, 2)


def test_threads_end_with_the_fit() -> None:
    before = set(threading.enumerate())
    for _ in range(3):
        GSDMM(5, sampler="blocked", n_jobs=4, random_state=0).fit([["a", "b"], ["b", "c"]])
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("coterie-"):
            thread.join(5)
    assert set(threading.enumerate()) <= before


@pytest.mark.chance
@pytest.mark.parametrize("cls", [GSDMM, GSDPMM])
def test_blocked_clusters_are_as_good(cls: type) -> None:
    texts, classes, _ = make_messages(1200, seed=3)
    exact, by_block = [], []
    for seed in map(moved, range(5)):
        kind = dict(n_clusters=60) if cls is GSDMM else dict(alpha=1.0, beta=0.1)
        make = dict(n_sweeps=15, random_state=seed, **kind)
        exact.append(metrics.nmi(classes, cls(**make).fit(texts).labels_))
        by_block.append(metrics.nmi(classes, cls(sampler="blocked", **make).fit(texts).labels_))
    assert np.mean(by_block) > np.mean(exact) - 0.03


def test_auto_says_what_and_why(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    texts = ["bread oven recipe", "bike ride gear"] * 20
    model = GSDMM(5, n_sweeps=3, random_state=0).fit(texts)
    assert set(model.trace_["sampler"]) == {"gibbs"}
    assert "gibbs" in model.trace_.notes[0]
    monkeypatch.setattr(sampler, "AUTO_BLOCKED", 10)
    for n_jobs in (1, 2):
        large = GSDMM(5, n_sweeps=3, n_jobs=n_jobs, random_state=0).fit(texts)
        assert set(large.trace_["sampler"]) == {"blocked"}
        assert "'blocked'" in large.trace_.notes[0]
    large.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert again.trace_.notes == large.trace_.notes
    assert list(again.trace_) == list(large.trace_)
    asked = GSDMM(5, n_sweeps=3, sampler="gibbs", random_state=0).fit(texts)
    assert asked.trace_.notes == []


@pytest.mark.parametrize("name", ["blocked", "metropolis", "uncollapsed", "em"])
def test_a_resumed_run_is_the_run(name: str, tmp_path) -> None:
    texts = [f"word{i % 7} word{i % 11} word{i % 13}" for i in range(300)]
    make = dict(n_clusters=30, sampler=name, n_sweeps=8, random_state=1)
    whole = GSDMM(**make).fit(texts)
    half = GSDMM(**make, checkpoint=tmp_path / "c", callbacks=[lambda e: e.record.sweep == 3])
    half.fit(texts)
    rest = GSDMM(**make, n_jobs=2, checkpoint=tmp_path / "c").fit(texts)
    assert len(half.trace_) == 3
    assert (rest.labels_ == whole.labels_).all()


def test_documents_that_share_nothing_are_drawn_from_the_tree() -> None:
    """Exactly: a run on which the tree is asked often equals a recount, and draws all clusters."""
    rng = np.random.default_rng(0)
    bags = [rng.integers(0, 40, 30) for _ in range(60)] + [[100 + i, 200 + i] for i in range(60)]
    counts = from_bags(bags, 300)
    urn = urns.process(0.5, urns.per_word(0.02, 300))
    labels = np.arange(counts.n_docs, dtype=np.int64) % 50
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, labels, 1, BACKEND))
    asked = 0
    for sweep in range(1, 20):
        asked += handle.sweep(1, sweep).tree_draws
        assert is_sound(counts, urn, handle.state)
    assert asked > 10
    assert state_room.word_counts(handle.state)[2].sum() == counts.length.sum()


def test_openers_share_what_a_full_urn_has_left() -> None:
    counts = random_corpus(120, V, 3, 3)
    urn = urns.finite(12, 50.0, BETA)
    handle = BACKEND.open(
        counts,
        urn,
        first_assignment(counts, urn, 8, 1, BACKEND),
        SamplerOptions("blocked", block_size=120),
    )
    before = handle.state.n_open
    stats = handle.sweep(1, 1)
    opened = handle.state.size[np.setdiff1d(np.unique(handle.state.z), np.arange(before))]
    assert handle.state.n_open == 12
    assert opened.size == 4
    assert opened.min() > 3  # not one each, with all others left where they were
    assert opened.max() - opened.min() <= 1
    assert stats.moved > 20
    assert is_sound(counts, urn, handle.state)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_nobody_waits_for_a_thread_interrupted_before_it_began(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, handle = run(
        URNS["finite"], SamplerOptions("blocked", block_size=50, n_jobs=n_jobs), n_sweeps=1
    )
    attempt = _team._attempt

    def interrupted(task, part, leave):
        def stop(part: int) -> None:
            raise KeyboardInterrupt

        return attempt(stop if part == 0 else task, part, leave)

    monkeypatch.setattr(_team, "_attempt", interrupted)
    with pytest.raises(KeyboardInterrupt):
        handle.sweep(5, 2)


def test_no_more_threads_than_pieces() -> None:
    _, handle = run(URNS["finite"], SamplerOptions("blocked", block_size=50, n_jobs=64), n_sweeps=1)
    assert handle.team.n == 4


def test_plain_python_draws_the_same(tmp_path) -> None:
    code = (
        "from coterie import GSDPMM\n"
        "texts = [f'w{i % 7} w{i % 11} w{i % 5}' for i in range(90)]\n"
        "m = GSDPMM(alpha=3.0, sampler='blocked', block_size=40, n_jobs=3, n_sweeps=3, random_state=2)\n"
        "print(m.fit(texts).labels_.tolist())\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": plain},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for plain in ("0", "1")
    ]
    assert said[0] == said[1]
    assert len(said[0]) > 200
