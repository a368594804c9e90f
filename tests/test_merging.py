"""Merging clusters while the joint rises, by the exact change of the joint."""

import numpy as np
import pytest
from test_located import with_vectors
from tiny import promoted, random_corpus, random_labels, seeded

from coterie import merging, sampler, urns
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.kernels import merging as kernel
from coterie.kernels import reference, summary
from coterie.state import from_labels, is_possible
from coterie.urns import Urn

V = 60
BETA = urns.per_word(0.1, V)
COUNTS = with_vectors(random_corpus(80, V, 8, 3, 2, topics=3))
URNS: dict[str, Urn] = {
    "finite": urns.finite(20, 0.1, BETA),
    "process": urns.process(3.0, BETA),
    "uneven beta": urns.process(3.0, np.linspace(0.05, 0.4, V)),
    "seeded": seeded(urns.process(3.0, BETA), aabc=1.0),
    "seeded finite": seeded(urns.finite(20, 0.3, BETA), aabc=1.0, xy=2.0),
    "located": urns.located(urns.finite(20, 0.1, BETA), 9.0),
    "located process": urns.located(urns.process(3.0, BETA), 9.0),
}


def begun(urn: Urn):
    labels = random_labels(COUNTS.n_docs, 9, 1) + urn.seeds.weight.size
    return from_labels(COUNTS, urn, labels).assignment


@pytest.mark.parametrize("table", [summary.TABLE, 3])
@pytest.mark.parametrize("name", URNS)
def test_gains_are_the_change_of_the_joint(
    name: str, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every pair; also those that remain after a pair was joined."""
    monkeypatch.setattr(summary, "TABLE", table)
    urn = URNS[name]
    now = begun(urn)
    slots = now.open_slots[urn.seeds.weight.size :]
    pairs = merging._Pairs(urn, *merging._clusters(COUNTS, urn, now, slots))
    z = now.labels.astype(np.int64)
    while pairs.open.sum() > 1:
        joint = reference.log_joint(COUNTS, urn, z)
        groups = np.flatnonzero(pairs.open)
        best = -np.inf
        for a, i in enumerate(groups):
            for j in groups[a + 1 :]:
                merged = np.where(z == slots[j], slots[i], z)
                gain = reference.log_joint(COUNTS, urn, merged) - joint
                assert pairs.gain[i, j] == pytest.approx(gain, abs=1e-8)
                best = max(best, gain)
        kept, gone, gained = pairs.join_best()
        assert gained == pytest.approx(best, abs=1e-8)
        z = np.where(z == slots[gone], slots[kept], z)


def plain_tree(counts: Counts, urn: Urn, z: np.ndarray) -> list[tuple[int, int, float]]:
    """The best pair again and again: every gain is found anew, from dense counts."""
    n, doc = int(z.max()) + 1, np.repeat(np.arange(counts.n_docs), np.diff(counts.ptr))
    words, size = np.zeros((n, counts.n_words)), np.bincount(z, counts.weight, n)
    np.add.at(words, (z[doc], counts.word), counts.tally * counts.weight[doc])
    sums = reference.vector_sums(counts, z, np.arange(n))

    def worth(words: np.ndarray, size: np.ndarray, sums: np.ndarray) -> np.ndarray:
        held = reference.log_rising(urn.words.beta, words).sum(axis=1)
        held -= reference.log_rising(urn.words.beta.sum(), words.sum(axis=1))
        held += reference.log_rising(urn.sizes.prior, size)
        return held + urns.potential(urn, (sums**2).sum(axis=1))

    is_open, pairs, joined = np.ones(n, bool), np.argwhere(np.tri(n, k=-1).T > 0), []
    for _ in range(n - 1):
        pairs = pairs[is_open[pairs].all(axis=1)]
        i, j = pairs.T
        gain = worth(words[i] + words[j], size[i] + size[j], sums[i] + sums[j])
        gain -= worth(words, size, sums)[i] + worth(words, size, sums)[j]
        kept, gone = pairs[gain.argmax()]
        joined.append((kept, gone, gain.max()))
        for values in (words, size, sums):
            values[kept] += values[gone]
        is_open[gone] = False
    return joined


@pytest.mark.parametrize("looked_up", [merging.TABLE, 0])
@pytest.mark.parametrize("name", ["finite", "uneven", "located"])
def test_the_tree_is_the_plain_one(
    name: str, looked_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that are in many clusters, and counts above those that are found once per word."""
    monkeypatch.setattr(merging, "TABLE", looked_up)
    n = 2 * kernel.CACHED
    counts = with_vectors(random_corpus(300, V, 60, 3, 3, topics=3))
    beta = np.linspace(0.05, 0.4, V) if name == "uneven" else BETA
    urn = urns.located(urns.finite(n, 0.1, beta), 9.0 if name == "located" else 0.0)
    now = from_labels(counts, urn, random_labels(counts.n_docs, n, 1)).assignment
    found = merging.tree(counts, urn, now)
    assert found is not None
    kept, gone, gain = zip(*plain_tree(counts, urn, now.labels), strict=True)
    np.testing.assert_array_equal(found.kept, kept)
    np.testing.assert_array_equal(found.gone, gone)
    np.testing.assert_allclose(found.gain, gain, atol=1e-8)


@pytest.mark.parametrize("name", URNS)
def test_the_joint_rises_until_no_pair_is_better_as_one(name: str) -> None:
    urn = URNS[name]
    now = begun(urn)
    merged = merging.merge(COUNTS, urn, now)
    assert merged is not None
    assert is_possible(COUNTS, urn, merged)
    assert set(merged.id[merged.open_slots]) < set(now.id[now.open_slots])
    before, after = (reference.log_joint(COUNTS, urn, a.labels) for a in (now, merged))
    assert after > before
    assert merging.merge(COUNTS, urn, merged) is None
    for k in range(urn.seeds.weight.size):  # seeds stay as they are
        np.testing.assert_array_equal(merged.labels == k, now.labels == k)


def test_an_urn_without_a_joint_is_left_alone() -> None:
    related = promoted(URNS["finite"], 0.3, "abc")
    assert merging.merge(COUNTS, related, begun(related)) is None
    none = urns.finite(20, 0.0, BETA)
    assert merging.merge(COUNTS, none, begun(none)) is None


def test_as_a_step_of_a_run() -> None:
    plan = sampler.Plan(8, 15, 5, steps=[merging.MergeClusters((5,))])
    counts = random_corpus(200, V, 6, 3, topics=4)
    plain = sampler.run(counts, URNS["finite"], plan._replace(steps=[]), BACKEND)
    done = sampler.run(counts, URNS["finite"], plan, BACKEND)
    assert done.trace[3].clusters == plain.trace[3].clusters
    assert done.trace[4].clusters < plain.trace[4].clusters
    assert done.trace[4].log_joint > plain.trace[4].log_joint
