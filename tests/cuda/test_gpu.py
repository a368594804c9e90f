"""On a GPU: the draws of the CPU, the posterior, checkpoints, predictions, and memory."""

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chance import LUCK, fit
from cuda_emulated import assert_same_sweeps
from test_cuda import BETA, BLOCKED, UNCOLLAPSED, URNS, V, corpus
from test_exact_posterior import NARROW, TIED, posterior
from test_exact_posterior import URNS as POSTERIORS
from tiny import first_seen, promoted, random_corpus, random_labels

from coterie import GSDMM, GSDPMM, _rng, sampler, state, urns
from coterie.backends import SamplerOptions
from coterie.backends.cpu import BACKEND as CPU
from coterie.backends.cuda import BACKEND as GPU
from coterie.backends.cuda import _device
from coterie.frozen import LeaveOut
from coterie.model import Model
from coterie.sampler import Plan
from coterie.start import first_assignment

WORDS = 2000
MANY = {
    "finite": urns.finite(200, 0.1, urns.per_word(0.1, WORDS)),
    "finite, Eq. 3": urns.finite(200, 0.1, urns.per_word(0.1, WORDS), burstiness=False),
    "process": urns.process(50.0, urns.per_word(0.05, WORDS)),
    "uneven beta": urns.finite(3000, 0.1, np.linspace(0.01, 1.0, WORDS)),
    "promoted": promoted(
        urns.finite(200, 0.1, urns.per_word(0.1, WORDS)), 0.3, "abcd", "bad", "cbe", "fgh", "gfij"
    ),
}


def test_random_numbers_bit_for_bit() -> None:
    device = _device.get()
    for (key, sweep, document, draw), value in _rng.TEST_VECTORS.items():
        out = device.xp.empty(1000, np.float64)
        at = tuple(map(np.uint64, (key, sweep, document, draw)))
        device.launch("uniforms", 8, 128, (*at, np.int64(1000), out))
        assert float(out[0]) == value
        there = _rng.uniform(key, sweep, document + np.arange(1000), draw)
        np.testing.assert_array_equal(device.to_host(out), there)


@pytest.mark.parametrize("scan", ["given", "random"])
@pytest.mark.parametrize("name", URNS)
def test_small_corpora_get_the_labels_of_the_cpu(name: str, scan: str) -> None:
    counts, urn, options = corpus(name, 300), URNS[name], BLOCKED._replace(scan=scan)
    first = first_assignment(counts, urn, random_labels(counts.n_docs, 6, 1), 1, CPU)
    here, there = (place.open(counts, urn, first, options) for place in (CPU, GPU))
    assert_same_sweeps(here, there)


@pytest.mark.parametrize("block_size", [None, 500, 20_000])
@pytest.mark.parametrize("name", MANY)
def test_one_sweep_from_the_same_state_differs_in_few_documents(name: str, block_size: Any) -> None:
    """At most one document in 10,000, early on and later; then the counts are a recount."""
    counts, urn = random_corpus(20_000, WORDS, 40, 4, 1, topics=60), MANY[name]
    options = SamplerOptions("blocked", block_size=block_size, n_jobs=8)
    now = first_assignment(counts, urn, 100, 1, CPU)
    for sweep in range(1, 7):
        here, there = (place.open(counts, urn, now, options) for place in (CPU, GPU))
        for chain in (here, there):
            chain.sweep(7, sweep)
        cpu, gpu = here.assignment(), there.assignment()
        assert (cpu.labels != gpu.labels).sum() <= 2
        again = state.from_assignment(counts, urn, gpu)
        np.testing.assert_array_equal(gpu.size[gpu.open_slots], again.size[gpu.open_slots])
        np.testing.assert_array_equal(gpu.total[gpu.open_slots], again.total[gpu.open_slots])
        dense = there.tables.held
        ptr, slot, held = state.word_counts(again)
        word = np.repeat(np.arange(WORDS), np.diff(ptr))
        table = np.zeros(dense.shape, np.int32)
        table[word, slot] = held
        np.testing.assert_array_equal(_device.get().to_host(dense), table)
        now = cpu


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("urn", ["finite", "process, uneven beta", "seeded process"])
def test_blocks_of_one_document_draw_from_the_posterior(urn: str, tied: bool) -> None:
    counts = TIED if tied else NARROW
    exact, seen = posterior(counts, POSTERIORS[urn]), Counter[tuple[int, ...]]()
    first = state.from_labels(counts, POSTERIORS[urn], np.zeros(counts.n_docs, np.int32)).assignment
    for key in (1, 2):
        chain = GPU.open(counts, POSTERIORS[urn], first, SamplerOptions("blocked", block_size=1))
        for sweep in range(1, 3001):
            chain.sweep(key, sweep)
            if sweep % 3 == 0:
                z = chain.assignment().labels
                seen[first_seen(z, POSTERIORS[urn].seeds.weight.size)] += 1
    assert all(exact.get(z, 0.0) > 0.0 for z in seen)
    assert fit(seen, exact) > LUCK


@pytest.mark.parametrize("phi", ["draw", "mean"])
@pytest.mark.parametrize("name", UNCOLLAPSED)
def test_algorithm_3_gives_the_labels_of_the_cpu(name: str, phi: str) -> None:
    counts, urn = corpus(name, 300), UNCOLLAPSED[name]
    options = SamplerOptions("uncollapsed", phi=phi)
    first = first_assignment(counts, urn, random_labels(counts.n_docs, 6, 1), 1, CPU)
    here, there = (place.open(counts, urn, first, options) for place in (CPU, GPU))
    assert_same_sweeps(here, there)


@pytest.mark.parametrize("phi", ["draw", "mean"])
def test_one_sweep_of_algorithm_3_differs_in_few_documents(phi: str) -> None:
    counts, urn = random_corpus(20_000, WORDS, 40, 4, 1, topics=60), MANY["finite"]
    options = SamplerOptions("uncollapsed", phi=phi, n_jobs=8)
    now = first_assignment(counts, urn, 100, 1, CPU)
    for sweep in range(1, 5):
        here, there = (place.open(counts, urn, now, options) for place in (CPU, GPU))
        for chain in (here, there):
            chain.sweep(7, sweep)
        assert (here.assignment().labels != there.assignment().labels).sum() <= 2
        now = here.assignment()


@pytest.mark.parametrize("gpu_first", [True, False])
@pytest.mark.parametrize("name", ["finite", "seeded", "located", "promoted"])
def test_a_checkpoint_goes_from_one_to_the_other(
    name: str, gpu_first: bool, tmp_path: Path
) -> None:
    counts, urn, plan = corpus(name), URNS[name], Plan(9, 8, 5, BLOCKED)
    whole = sampler.run(counts, urn, plan, CPU)
    places = [GPU, CPU, GPU] if gpu_first else [CPU, GPU, CPU]
    for n_sweeps, place in zip((2, 6, 9), places, strict=True):
        part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / "run.ckpt")
        done = sampler.run(counts, urn, part, place)
    np.testing.assert_array_equal(done.assignment.labels, whole.assignment.labels)
    np.testing.assert_array_equal(done.assignment.id, whole.assignment.id)


@pytest.mark.parametrize("at_mean", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize(
    "name", ["finite", "finite, Eq. 3", "seeded", "located", "finite, uneven beta"]
)
def test_scores_are_those_of_the_cpu(name: str, left_out: bool, at_mean: bool) -> None:
    counts, urn = corpus(name), URNS[name]
    first = first_assignment(counts, urn, 6, 1, CPU)
    model, cluster_of = Model.freeze(urn, counts, first, None)
    out = LeaveOut(cluster_of[first.labels].astype(np.int64)) if left_out else None
    found = []
    for place in (CPU, GPU):
        scores = np.full((counts.n_docs, model.frozen.size.size), np.nan)
        place.score(counts, urn, model.frozen, scores.__setitem__, out, at_mean)
        found.append(scores)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", [GSDMM, GSDPMM])
def test_estimators_fit_and_predict(make: Any) -> None:
    counts = random_corpus(3000, V, 12, 4, topics=5)
    from scipy import sparse

    X = sparse.csr_matrix((counts.tally, counts.word, counts.ptr), (counts.n_docs, V))
    fits = [
        make(sampler="blocked", backend=backend, n_sweeps=8, random_state=3).fit(X)
        for backend in ("cpu", "cuda")
    ]
    np.testing.assert_array_equal(fits[1].labels_, fits[0].labels_)
    np.testing.assert_array_equal(fits[1].predict(X), fits[0].predict(X))


def test_memory_is_given_back() -> None:
    counts, urn = random_corpus(3000, V, 12, 4, topics=5), urns.finite(500, 0.1, BETA)
    pool, used = _device.get().xp.get_default_memory_pool(), []
    for _ in range(3):
        sampler.run(counts, urn, Plan(3, 10, 1, BLOCKED._replace(block_size=1000)), GPU)
        gc.collect()
        used.append(pool.used_bytes())
    assert used[0] == used[1] == used[2]
