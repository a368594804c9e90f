"""Lists of likely clusters: documents with vectors are drawn among few, by the rule, and always alike."""

from pathlib import Path

import numba
import numpy as np
import pytest
from test_located import BETA, URNS, V, with_vectors
from tiny import promoted, random_corpus

from coterie import grouping, merging, sampler, urns
from coterie import state as states
from coterie.backends import SamplerOptions, _blocked, _gibbs
from coterie.backends._blocked import BlockedChain, deal
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.kernels import _listed, _vector, reference
from coterie.start import first_assignment
from coterie.urns import Urn

PRODUCT = numba.njit(lambda a, b: _vector.dot(a, b))
HOW = SamplerOptions("blocked", block_size=40, listed=4)


def some(n_docs: int = 300) -> Counts:
    return with_vectors(random_corpus(n_docs, V, 12, 5, topics=6), 37)


def opened(counts: Counts, urn: Urn, how: SamplerOptions = HOW) -> BlockedChain:
    return BACKEND.open(counts, urn, first_assignment(counts, urn, 10, 2, BACKEND), how)


def closed_up(urn: Urn, z: np.ndarray, lists: np.ndarray, sweep: int) -> np.ndarray:
    """The slots after `reference.close_gaps`; the lists are given the same numbers, in place."""
    after = reference.close_gaps(urn, z, sweep)
    used = np.union1d(np.arange(urn.seeds.weight.size), z)
    if (after != z).any():
        place = np.searchsorted(used, lists)
        lists[:] = np.where(np.isin(lists, used), place, -1)
    return after


@pytest.mark.parametrize("listed", [1, 3, 16])
@pytest.mark.parametrize("name", URNS)
def test_labels_and_lists_are_those_of_the_reference(name: str, listed: int) -> None:
    urn, counts = URNS[name], with_vectors(random_corpus(40, V, 20, 3, topics=5), 37)
    first = first_assignment(counts, urn, 8, 3, BACKEND)
    how = SamplerOptions("blocked", block_size=9, n_jobs=2, listed=listed)
    chain = BACKEND.open(counts, urn, first, how)
    z, lists = first.labels.astype(np.int64), np.full((40, listed), -1, np.int16)
    for sweep in range(1, 7):
        z = closed_up(urn, z, lists, sweep) if sweep > 1 else z
        z = reference.blocked_sweep(counts, urn, z, 3, sweep, deal(40, 9), lists=lists)
        chain.sweep(3, sweep)
        assert chain.state.z.tolist() == z.tolist()
        held = [set(row[np.isin(row, z)]) for row in chain.listed]
        assert held == [set(row[np.isin(row, z)]) for row in lists]
        assert states.is_sound(counts, urn, chain.state)


def test_a_document_moves_only_to_clusters_on_its_list() -> None:
    counts = some()
    chain = opened(counts, URNS["finite"])
    chain.sweep(2, 1)
    moves = 0
    for sweep in range(2, 8):
        chain.begin(2, sweep)  # slots get their numbers of this sweep
        z, lists, size = chain.state.z.copy(), chain.listed.copy(), chain.state.size.copy()
        chain.sweep(2, sweep)
        listed = (lists == z[:, None]).any(axis=1) & (size[z] > 1)
        assert listed.mean() > 0.9
        now = chain.state.z
        assert (lists == now[:, None]).any(axis=1)[listed & (z != now)].all()
        moves += int((listed & (z != now)).sum())
    assert moves > 50


@pytest.mark.parametrize("name", URNS)
def test_the_same_labels_on_any_number_of_threads_and_after_a_resume(
    name: str, tmp_path: Path
) -> None:
    counts, urn, labels = some(), urns.located(URNS[name], 1.0), []
    how = HOW._replace(listed=2)
    for n_jobs in (1, 2, 5):
        options, steps = how._replace(n_jobs=n_jobs), [merging.MergeClusters((2, 5))]
        plan = sampler.Plan(8, 10, 5, options, steps=steps)
        labels.append(sampler.run(counts, urn, plan, BACKEND).assignment.labels)
        for n_sweeps in (4, 8):
            part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / f"{n_jobs}.ckpt")
            done = sampler.run(counts, urn, part, BACKEND)
        labels.append(done.assignment.labels)
    assert all((one == labels[0]).all() for one in labels)
    full = sampler.run(counts, urn, plan._replace(options=how._replace(listed=0)), BACKEND)
    assert (full.assignment.labels != labels[0]).any()


def test_lists_from_a_checkpoint_are_checked() -> None:
    counts = some()
    chain = opened(counts, URNS["finite"])
    chain.sweep(2, 1)
    kept = chain.memory()

    def recalled(**changes: np.ndarray) -> bool:
        again = BACKEND.open(counts, chain.urn, chain.assignment(), HOW)
        return again.recall({**kept, **changes})

    assert recalled()
    assert not recalled(listed=np.full_like(chain.listed, chain.state.size.size))
    assert not recalled(listed=np.full_like(chain.listed, -2))
    assert not recalled(listed=chain.listed[:, :3].copy())
    assert not recalled(listed=chain.listed.astype(np.int32))
    without = {name: array for name, array in kept.items() if name != "listed"}
    assert not BACKEND.open(counts, chain.urn, chain.assignment(), HOW).recall(without)


def test_a_merged_cluster_stays_on_the_lists_under_its_new_number() -> None:
    counts = some()
    chain = opened(counts, URNS["finite"])
    chain.sweep(2, 1)
    slots = chain.assignment().open_slots
    kept, gone = int(slots[0]), int(slots[1])
    before, labels = chain.listed.copy(), chain.state.z.copy()
    labels[labels == gone] = kept
    ids = chain.state.id.copy()
    ids[gone] = -1
    chain.replace(chain.assignment()._replace(labels=labels, id=ids))
    now = int(chain.state.z[np.flatnonzero(labels == kept)[0]])
    had = (before == gone).any(axis=1) | (before == kept).any(axis=1)
    assert ((chain.listed == now).any(axis=1) == had).all()
    assert ((chain.listed == now).sum(axis=1) <= 1).all()
    assert (before == gone).any()


def test_lists_are_kept_only_where_vectors_count_and_slots_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = some(60)
    words = urns.finite(20, 0.1, urns.per_word(0.1, V))
    related = urns.located(promoted(words, 0.3, "abc", "bac"), 2.0)
    assert opened(counts, URNS["finite"]).listed.shape == (60, 4)
    assert opened(counts, words).listed.shape == (60, 0)
    assert opened(counts, related).listed.shape == (60, 0)
    chain = opened(counts, URNS["finite"])
    chain.retune(words)
    assert chain.listed.shape == (60, 0)
    monkeypatch.setattr(_blocked, "MOST_LISTED", 8)
    assert opened(counts, URNS["finite"]).listed.shape == (60, 0)


def test_renaming_drops_what_is_gone_or_listed_twice() -> None:
    listed = np.array([[0, 1, 2, 3], [3, -1, 1, 0]], np.int16)
    _listed.rename(listed, np.array([5, 5, -1, 2, -1], np.int32), np.full(6, -1))
    assert listed.tolist() == [[5, -1, -1, 2], [2, -1, 5, -1]]


@pytest.mark.parametrize("size", [0, 5, 32, 64, 100, 256])
def test_products_are_summed_in_one_order(size: int) -> None:
    draw = np.random.default_rng(size)
    a, b = draw.normal(size=(2, size)).astype(np.float32)
    sums = np.zeros(32, np.float32)
    for j in range(0, size - 31, 32):
        sums += a[j : j + 32] * b[j : j + 32]
    while sums.size > 1:
        sums = sums[: sums.size // 2] + sums[sums.size // 2 :]
    value = sums[0]
    for j in range(size // 32 * 32, size):
        value += a[j] * b[j]
    assert np.float32(PRODUCT(a, b)) == value


def test_large_data_get_lists_and_its_sample_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    open_chain = type(BACKEND).open

    def noted(self: object, counts: Counts, *args: object) -> BlockedChain:
        asked.append((counts.n_docs, args[2].listed))
        return open_chain(self, counts, *args)

    monkeypatch.setattr(type(BACKEND), "open", noted)
    given = sampler.Plan(24, "sample", 1, SamplerOptions("auto"))
    plan = grouping._of_sample(given, "auto")
    assert plan.options.listed == grouping.LISTED > 0
    plan = plan._replace(sampling=plan.sampling._replace(most=50))
    sampler.run(some(), URNS["finite"], plan, BACKEND)
    assert [listed for _, listed in asked] == [0, 0, grouping.LISTED]
    assert grouping._of_sample(given, "cuda").options.listed == 0


@pytest.mark.parametrize("room", [0, _gibbs.BASE_BYTES], ids=["no lengths kept", "lengths kept"])
def test_a_cluster_that_was_closed_is_not_drawn(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays on lists until slots are renamed; its prior alone would weigh something."""
    monkeypatch.setattr(_gibbs, "BASE_BYTES", room)
    counts, urn = some(), urns.located(urns.finite(60, 0.5, BETA), 1.0)
    chain = BACKEND.open(
        counts,
        urn,
        first_assignment(counts, urn, 50, 2, BACKEND),
        SamplerOptions("blocked", block_size=40, listed=8),
    )
    closed = 0
    for sweep in range(1, 20):
        chain.sweep(0, sweep)
        used = np.unique(chain.state.z)
        assert (chain.state.id[used] >= 0).all()
        assert states.is_sound(counts, urn, chain.state)
        on_lists = np.unique(chain.listed[chain.listed >= 0])
        closed += np.setdiff1d(on_lists, used).size
    assert closed
