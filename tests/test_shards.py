"""Sweeps in shards: the rest of the corpus is a set of seeds, and whole numbers are added up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score
from tiny import corpus, from_bags, random_corpus, random_labels, seeded

from coterie import GSDMM, _rng, cluster, sampler, urns
from coterie import counts as counts_room
from coterie._arrays import STEP, numbers
from coterie.backends import SamplerOptions, get_backend
from coterie.backends.cpu import BACKEND as CPU
from coterie.counts import Counts
from coterie.demo.synthetic import make_corpus
from coterie.distributed import layout, local, merge, shard
from coterie.distributed.chain import ShardedChain, tree
from coterie.distributed.merge import Delta, twins
from coterie.distributed.tallying import Tally, tally
from coterie.errors import Unsupported
from coterie.kernels import reference
from coterie.state import from_assignment, from_labels, word_counts
from coterie.urns import Urn

V = 40
BETA = urns.per_word(0.3, V)
FINITE, PROCESS = urns.finite(30, 0.4, BETA), urns.process(1.5, BETA)
URNS = {
    "finite": FINITE,
    "process": PROCESS,
    "seeded": seeded(PROCESS, aab=0.6, jk=1.5),
    "located": urns.located(FINITE, 5.0),
}
SHARDED = get_backend("sharded")


def documents(n_docs: int = 400, heaviest: int = 3, vectors: bool = False) -> Counts:
    counts = random_corpus(n_docs, V, 9, seed=4, heaviest=heaviest, topics=5)
    if not vectors:
        return counts
    whole = np.rint(8 * (_rng.uniform(6, 1, np.arange(3 * n_docs), 0) - 0.5)) / (8 * STEP)
    return counts._replace(vectors=whole.reshape(n_docs, 3).astype(np.int16))


def opened(counts: Counts, urn: Urn, n_shards: int, **how: object) -> ShardedChain:
    n_seeds = urn.seeds.weight.size
    start = from_labels(counts, urn, n_seeds + random_labels(counts.n_docs, 12, 8)).assignment
    chain = SHARDED.open(counts, urn, start, SamplerOptions(shards=n_shards, **how))
    assert isinstance(chain, ShardedChain)
    return chain


@pytest.mark.parametrize("name", URNS)
@pytest.mark.parametrize("by", ["gibbs", "blocked"])
@pytest.mark.parametrize("n_shards", [1, 3])
def test_after_many_sweeps_all_equals_a_recount(name: str, by: str, n_shards: int) -> None:
    urn, counts = URNS[name], documents(vectors=name == "located")
    chain = opened(counts, urn, n_shards, sampler=by)
    for sweep in range(1, 8):
        chain.sweep(11, sweep)
        now = chain.assignment()
        again = from_assignment(counts, urn, now)
        used = slice(0, now.id.size)
        np.testing.assert_array_equal(now.size, again.size[used])
        np.testing.assert_array_equal(now.total, again.total[used])
        np.testing.assert_array_equal(chain.clusters.sums, again.sums[used])
        assert (now.size[urn.seeds.weight.size :] > 0).all()
        assert np.unique(now.id).size == now.id.size <= urn.sizes.cap
        assert now.id.max() < now.next_id
        on_cpu = CPU.open(counts, urn, now)
        np.testing.assert_allclose(chain.joint_terms(), on_cpu.joint_terms(), rtol=1e-10)


def test_vectors_are_added_up_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As double precision, all vectors of a shard would take a gigabyte."""
    counts, labels = documents(vectors=True), random_labels(400, 12, 8)
    labels[::9] = -1
    whole = tally(counts, labels, 12)
    monkeypatch.setattr(counts_room, "AT_ONCE", 37)
    parts = tally(counts, labels, 12)
    np.testing.assert_array_equal(whole.sums, parts.sums)
    own = [counts.weight[labels == k] @ numbers(counts.vectors[labels == k]) for k in range(12)]
    np.testing.assert_array_equal(parts.sums, own)


@pytest.mark.parametrize("name", ["finite", "process", "seeded", "located"])
def test_a_document_is_weighed_as_in_the_whole_corpus(name: str) -> None:
    """To a shard the rest of the corpus is a set of seeds, and each cluster weighs what it weighs in all.

    The state of a shard is laid out from the clusters: it is the one that those seeds give.
    """
    urn, counts = URNS[name], documents(60, vectors=name == "located")
    n_seeds = urn.seeds.weight.size
    labels = np.unique(n_seeds + random_labels(60, 6, 8), return_inverse=True)[1] + n_seeds
    n = int(labels.max()) + 4
    labels[:3] = np.arange(n_seeds, n_seeds + 3)  # only the first shard holds these
    labels[3:] += 3
    whole = tally(counts, labels, n)
    order = shard.Order(urn, whole, SamplerOptions(), 1, 1, n_shards=1)
    part, own = layout.cut(counts, 0, 20), labels[:20].astype(np.int32)
    elsewhere = whole - tally(part, own, n)
    alone = np.arange(n_seeds, n_seeds + 3)
    slots = np.concatenate([np.delete(np.arange(n), alone), alone])
    slot_of = np.argsort(slots).astype(np.int32)
    inside = shard._surrounded(order, part, elsewhere.size[slots[:-3]], 0)
    state = shard._laid(order, part, slot_of[own], np.bincount(own, part.weight, n), slots)
    held = elsewhere.held[slots[:-3]] * urn.words.one
    held = sparse.csr_matrix(held + shard.seed_words(urn, n - 3) if n_seeds else held)
    spelled = urns.changed(
        inside, seed_ptr=held.indptr, seed_word=held.indices, seed_count=held.data.astype(np.int32)
    )
    expected = from_labels(part, spelled, slot_of[own], compact=False)
    expected.sums[: n - 3] += elsewhere.sums[slots[:-3]]
    for field in ("z", "size", "total", "order", "counters", "sums"):
        np.testing.assert_array_equal(getattr(state, field), getattr(expected, field), field)
    for ours, theirs in zip(word_counts(state), word_counts(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # bounds on all states ask for no more than the sum of the seeds' words
    sums = [np.bincount(u.seeds.word, u.seeds.tally, V) for u in (inside, spelled)]
    np.testing.assert_array_equal(*sums)
    if name == "located":
        return
    for d in range(20):
        mine, weight = reference.log_weights(part, spelled, slot_of[own], d)
        all_, theirs = reference.log_weights(counts, urn, labels, d)
        cluster = np.append(slots, -1)[mine]  # -1: a new one
        assert dict(zip(cluster.tolist(), weight, strict=True)) == pytest.approx(
            dict(zip(all_.tolist(), theirs, strict=True)), rel=1e-9
        )


def test_a_word_that_32_bits_cannot_count() -> None:
    counts = documents(60)
    held = sparse.csr_matrix(np.full((3, V), 2**30, np.int64))
    whole = Tally(np.full(3, 1000), held, np.zeros((3, 0)))
    word, amount = shard._words_elsewhere(
        shard.Order(FINITE, whole, SamplerOptions(), 1, 1, 2), counts
    )
    assert amount.dtype == np.int32
    own = np.bincount(counts.word, counts.tally * np.repeat(counts.weight, np.diff(counts.ptr)), V)
    assert (np.bincount(word, amount, V) >= 3 * 2**30 - own).all()


@pytest.mark.parametrize("by", ["gibbs", "blocked"])
def test_labels_do_not_depend_on_threads_or_on_a_resume(by: str, tmp_path: Path) -> None:
    counts, urn = documents(), URNS["process"]
    plan = sampler.Plan(6, "one", 21, SamplerOptions(by, shards=3))
    whole = sampler.run(counts, urn, plan, SHARDED)
    threads = plan._replace(options=plan.options._replace(n_jobs=3))
    np.testing.assert_array_equal(
        whole.assignment.labels, sampler.run(counts, urn, threads, SHARDED).assignment.labels
    )
    saved = plan._replace(checkpoint=tmp_path / "run")
    sampler.run(counts, urn, saved._replace(n_sweeps=2), SHARDED)
    resumed = sampler.run(counts, urn, saved, SHARDED)
    np.testing.assert_array_equal(whole.assignment.labels, resumed.assignment.labels)
    np.testing.assert_array_equal(whole.assignment.id, resumed.assignment.id)


def test_shards_draw_with_different_numbers() -> None:
    """Two shards with the same documents in the same clusters do not make the same moves."""
    half = random_corpus(200, V, 9, seed=4)
    bags = [half.word[a:b].tolist() for a, b in zip(half.ptr[:-1], half.ptr[1:], strict=True)]
    counts = from_bags(bags * 2, V)
    labels = np.tile(random_labels(200, 12, 8), 2)
    start = from_labels(counts, FINITE, labels).assignment
    chain = SHARDED.open(counts, FINITE, start, SamplerOptions(shards=2))
    chain.sweep(3, 1)
    now = chain.assignment().labels
    assert (now[:200] != now[200:]).any()


def test_twins_are_joined_and_others_are_not() -> None:
    """Two shards opened a cluster for the same words, a third one for others."""
    members = corpus(*["abab"] * 6, *["abab"] * 6, *["efef"] * 6, n_words=V)
    member_of = np.repeat([0, 1, 2], 6)
    new = tally(members, member_of, 3)
    delta = Delta(tally(members, np.full(18, -1), 5), new, members, member_of)
    np.testing.assert_array_equal(twins(PROCESS, delta), [0, 0, 1])


def test_deltas_add_up_in_any_grouping() -> None:
    counts = documents(90)
    labels = random_labels(90, 4, 1)
    parts = []
    for first in (0, 30, 60):
        some = layout.cut(counts, first, first + 30)
        own = labels[first : first + 30].astype(np.int64)
        parts.append(Delta(tally(some, own, 4), tally(some, own, 4), some, own))
    left = merge.add(merge.add(parts[0], parts[1]), parts[2])
    right = merge.add(parts[0], merge.add(parts[1], parts[2]))
    for one, other in ((left, right), (left, tree(parts, merge.add))):
        assert (one.known.held != other.known.held).nnz == 0
        assert (one.opened.held != other.opened.held).nnz == 0
        np.testing.assert_array_equal(one.member_of, other.member_of)
        np.testing.assert_array_equal(one.members.word, other.members.word)
    np.testing.assert_array_equal(left.known.size, tally(counts, labels, 4).size)
    np.testing.assert_array_equal(left.members.ptr, counts.ptr)


def test_the_layout_follows_from_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = documents(100)
    words = int(counts.ptr[-1])
    assert layout.shard_bounds(counts, None) == [(0, 100)]
    monkeypatch.setattr(layout, "SHARD_WORDS", words // 4)
    bounds = layout.shard_bounds(counts, None)
    assert len(bounds) in (4, 5)
    assert [first for first, _ in bounds[1:]] == [end for _, end in bounds[:-1]]
    assert all(first < end for first, end in layout.shard_bounds(counts, 100))
    assert len(layout.shard_bounds(counts, 1000)) == 100


@pytest.mark.parametrize("n_shards", [2, 7])
def test_the_cap_holds_though_every_shard_opens_clusters(n_shards: int) -> None:
    counts, urn = documents(), urns.finite(10, 5.0, urns.per_word(0.001, V))
    start = from_labels(counts, urn, np.zeros(counts.n_docs, np.int32)).assignment
    chain = SHARDED.open(counts, urn, start, SamplerOptions(shards=n_shards))
    for sweep in range(1, 4):
        chain.sweep(5, sweep)
        assert 1 < chain.assignment().open_slots.size <= 10


@pytest.mark.parametrize("init", ["online", "sample"])
def test_documents_are_placed_as_on_the_cpu(init: str) -> None:
    """The start is made on one machine, whatever the layout of the sweeps after it."""
    counts, urn = documents(), URNS["finite"]
    plan = sampler.Plan(0, init, 5, SamplerOptions(shards=1))
    here = sampler.run(counts, urn, plan._replace(n_sweeps=1), SHARDED)
    assert (here.assignment.labels >= 0).all()
    if init == "online":
        cpu, sharded = (sampler.run(counts, urn, plan, b).assignment for b in (CPU, SHARDED))
        np.testing.assert_array_equal(cpu.labels, sharded.labels)


def test_estimators_and_cluster_take_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, truth = make_corpus(600)
    swept: list[int] = []
    sweep = local.sweep_shard

    def noted(part: Counts, *rest: Any) -> Any:
        swept.append(part.n_docs)
        return sweep(part, *rest)

    monkeypatch.setattr(local, "sweep_shard", noted)
    GSDMM(30, backend="sharded", random_state=0, n_sweeps=2).fit(texts)
    assert swept == [600, 600]
    sentences = [" ".join(words) for words in texts]
    groups = cluster(sentences, backend="sharded", embedder=None, tie_duplicates=False)
    assert len(swept) > 2
    assert normalized_mutual_info_score(truth, groups.labels) > 0.9


def test_what_cannot_work_in_shards_is_refused() -> None:
    texts, _ = make_corpus(60)
    with pytest.raises(Unsupported, match="cannot work in shards"):
        GSDMM(5, backend="sharded", sampler="em").fit(texts)
