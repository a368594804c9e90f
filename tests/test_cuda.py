"""The CUDA backend's own part, on a GPU that is emulated: the same labels as the CPU's blocked draws."""

import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_emulated import Emulated, assert_same_sweeps
from tiny import from_bags, promoted, random_corpus, random_labels, seeded

import coterie
from coterie import GSDMM, sampler, state, urns
from coterie.backends import SamplerOptions, cuda, get_backend
from coterie.backends._blocked import BlockedChain
from coterie.backends.cpu import BACKEND
from coterie.backends.cuda import _device, _fast, _plan
from coterie.backends.cuda._chain import CudaChain
from coterie.counts import Counts
from coterie.errors import Unsupported
from coterie.sample_start import uncounted
from coterie.sampler import Plan
from coterie.start import first_assignment
from coterie.urns import Urn

V = 60
BETA = urns.per_word(0.1, V)
URNS: dict[str, Urn] = {
    "finite": urns.finite(30, 0.1, BETA),
    "finite, tight": urns.finite(9, 2.0, BETA),
    "finite, alpha 0": urns.finite(9, 0.0, BETA),
    "finite, Eq. 3": urns.finite(30, 0.1, BETA, burstiness=False),
    "finite, uneven beta": urns.finite(30, 0.3, np.linspace(0.01, 1.0, V)),
    "process": urns.process(20.0, BETA),
    "process, crowded": urns.process(3000.0, BETA),
    "seeded": seeded(urns.process(20.0, BETA), aabc=1.0, xyz=2.0),
    "located": urns.located(urns.finite(30, 0.1, BETA), 8.0),
    "promoted": promoted(urns.finite(30, 0.1, BETA), 0.3, "abcd", "bad", "cbe", "fgh", "gf"),
    "promoted, tight": promoted(urns.finite(9, 2.0, BETA), 1.0, "abcd", "bad", "cbe"),
    "promoted process": promoted(urns.process(200.0, BETA), 0.5, "abcd", "bad", "cbe"),
    "promoted, seeded": promoted(
        seeded(urns.process(20.0, BETA), aabc=1.0, xyz=2.0), 0.3, "abcd", "bad", "cbe", "xyz"
    ),
}
BLOCKED = SamplerOptions("blocked", block_size=13)


def corpus(name: str, n_docs: int = 70) -> Counts:
    counts = random_corpus(n_docs, V, 12, 4, 1 if "Eq. 3" in name else 2, topics=5)
    grid = np.random.default_rng(3).integers(-8000, 8000, (n_docs, 6))
    return counts._replace(vectors=grid.astype(np.int16)) if name == "located" else counts


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Any:
    device = Emulated()
    monkeypatch.setattr(_device, "get", lambda: device)
    monkeypatch.setattr(_device, "missing", lambda: None)
    return cuda.BACKEND


@pytest.mark.parametrize("scan", ["given", "random"])
@pytest.mark.parametrize("name", URNS)
def test_the_labels_and_ids_are_those_of_the_cpu(name: str, scan: str, emulated: Any) -> None:
    counts, urn, options = corpus(name), URNS[name], BLOCKED._replace(scan=scan)
    first = first_assignment(counts, urn, random_labels(counts.n_docs, 6, 1), 1, BACKEND)
    here, there = (place.open(counts, urn, first, options) for place in (BACKEND, emulated))
    assert_same_sweeps(here, there)


UNCOLLAPSED = {
    name: URNS[name]
    for name in ("finite", "finite, tight", "finite, alpha 0", "finite, uneven beta")
} | {"many more clusters than documents": urns.finite(900, 0.1, BETA)}


@pytest.mark.parametrize("phi", ["draw", "mean"])
@pytest.mark.parametrize("name", UNCOLLAPSED)
def test_algorithm_3_gives_the_labels_of_the_cpu(name: str, phi: str, emulated: Any) -> None:
    counts, urn = corpus(name), UNCOLLAPSED[name]
    options = SamplerOptions("uncollapsed", phi=phi)
    first = first_assignment(counts, urn, random_labels(counts.n_docs, 6, 1), 1, BACKEND)
    here, there = (place.open(counts, urn, first, options) for place in (BACKEND, emulated))
    assert_same_sweeps(here, there)


def test_algorithm_3_goes_on_from_another_assignment(emulated: Any) -> None:
    counts, urn = corpus("finite"), URNS["finite"]
    options = SamplerOptions("uncollapsed", phi="mean")
    one, other = (state.assigned(counts, urn, random_labels(70, n, n)) for n in (6, 9))
    there, fresh = (emulated.open(counts, urn, first, options) for first in (one, other))
    there.sweep(1, 1)
    there.replace(other)
    for chain in (there, fresh):
        chain.sweep(1, 2)
    assert there.assignment().labels.tolist() == fresh.assignment().labels.tolist()


def test_word_distributions_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Emulated(free=2**30)
    monkeypatch.setattr(_device, "get", lambda: device)
    counts, urn = corpus("finite"), urns.finite(2_000_000, 0.1, BETA)
    first = state.assigned(counts, urn, random_labels(70, 6, 1))
    with pytest.raises(Unsupported, match=r"60 words x 2000000 clusters.*At most \d+ clusters fit"):
        cuda.BACKEND.open(counts, urn, first, SamplerOptions("uncollapsed"))


def test_a_run_may_begin_with_a_sample(emulated: Any) -> None:
    """As large corpora do: the sample's own run must ask for a sampler that is there."""
    counts, urn = corpus("finite"), URNS["finite"]
    plan = Plan(3, "sample", 7, BLOCKED)
    done = sampler.run(counts, urn, plan, emulated)
    assert (done.assignment.labels >= 0).all()
    assert len(done.trace) == 3


@pytest.mark.parametrize("products", [0, 8])
@pytest.mark.parametrize("narrow", [256, 0])
@pytest.mark.parametrize(
    "name", ["finite", "finite, Eq. 3", "finite, uneven beta", "process", "seeded"]
)
def test_quick_draws_change_no_label(
    name: str, narrow: int, products: int, emulated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulated kernel also checks that no weight is further off than its bound says."""
    counts, urn = corpus(name, 90), URNS[name]
    copies = np.where(np.arange(90) % 9 == 0, 2, 1)  # tied documents are always drawn exactly
    counts = counts._replace(weight=copies if "Eq. 3" not in name else np.ones(90, np.int64))
    monkeypatch.setattr(_plan, "QUICK", 1)
    monkeypatch.setattr(_plan, "product_columns", lambda *given: products)
    monkeypatch.setattr(_fast, "NARROW", narrow)
    monkeypatch.setattr(_fast, "SORTED_AT_ONCE", 100)
    first = first_assignment(counts, urn, random_labels(counts.n_docs, 6, 1), 1, BACKEND)
    options = SamplerOptions("blocked", block_size=counts.n_docs)
    here, there = (place.open(counts, urn, first, options) for place in (BACKEND, emulated))
    listed = []
    for sweep in range(1, 6):
        here.sweep(7, sweep), there.sweep(7, sweep)
        assert there.assignment().labels.tolist() == here.assignment().labels.tolist()
        listed.append(there.share_listed)
    assert there.quick is not None
    assert 0.0 < min(listed) <= max(listed) < 1.0


@pytest.mark.parametrize("burstiness", [True, False])
def test_repeated_words_have_one_error(
    burstiness: bool, emulated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulated kernel checks the bound: where repetitions are the same row, errors add up."""
    bags = [np.repeat((np.arange(6) * 7 + 3 * d) % V, 20) for d in range(80)]
    bags[3] = np.repeat([4, 9], 300)  # more often than there are columns
    counts = from_bags(bags, V)
    urn = urns.finite(12, 0.1, BETA, burstiness=burstiness)
    monkeypatch.setattr(_plan, "QUICK", 1)
    monkeypatch.setattr(_plan, "product_columns", lambda *given: 0)
    first = first_assignment(counts, urn, random_labels(80, 6, 1), 1, BACKEND)
    options = SamplerOptions("blocked", block_size=80)
    here, there = (place.open(counts, urn, first, options) for place in (BACKEND, emulated))
    for sweep in range(1, 4):
        here.sweep(7, sweep), there.sweep(7, sweep)
        assert there.assignment().labels.tolist() == here.assignment().labels.tolist()


def test_slots_are_widened_when_a_block_opens_more(emulated: Any) -> None:
    counts, urn = corpus("process", 200), urns.process(1e6, BETA)
    first = first_assignment(counts, urn, "one", 1, BACKEND)
    here, there = (
        place.open(counts, urn, first, BLOCKED._replace(block_size=150))
        for place in (BACKEND, emulated)
    )
    width = there.tables.width
    for chain in (here, there):
        chain.sweep(3, 1)
    assert there.tables.width > width
    assert there.assignment().labels.tolist() == here.assignment().labels.tolist()


@pytest.mark.parametrize("gpu_first", [True, False])
@pytest.mark.parametrize("name", ["finite", "seeded", "located"])
def test_a_checkpoint_goes_from_one_to_the_other(
    name: str, gpu_first: bool, emulated: Any, tmp_path: Path
) -> None:
    counts, urn = corpus(name), URNS[name]
    plan = Plan(9, 8, 5, BLOCKED)
    whole = sampler.run(counts, urn, plan, BACKEND)
    places = [emulated, BACKEND, emulated] if gpu_first else [BACKEND, emulated, BACKEND]
    for n_sweeps, place in zip((2, 6, 9), places, strict=True):
        part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / "run.ckpt")
        done = sampler.run(counts, urn, part, place)
    np.testing.assert_array_equal(done.assignment.labels, whole.assignment.labels)
    np.testing.assert_array_equal(done.assignment.id, whole.assignment.id)
    np.testing.assert_allclose(done.trace["log_joint"], whole.trace["log_joint"], rtol=1e-9)


@pytest.mark.parametrize("name", ["finite", "located"])
def test_another_urn_and_other_labels_are_taken_up(name: str, emulated: Any) -> None:
    counts, urn = corpus(name), URNS[name]
    first = first_assignment(counts, urn, 6, 1, BACKEND)
    other = urns.changed(urn, size_prior=0.7, kappa=4.0 if name == "located" else 0.0)
    chains = [place.open(counts, urn, first, BLOCKED) for place in (BACKEND, emulated)]
    for chain in chains:
        chain.sweep(1, 1)
        chain.retune(other)
        chain.sweep(1, 2)
        chain.replace(first)
        chain.sweep(1, 3)
    assert chains[1].assignment().labels.tolist() == chains[0].assignment().labels.tolist()


@pytest.mark.parametrize("at_mean", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize(
    "name", ["finite", "finite, Eq. 3", "seeded", "located", "promoted", "finite, uneven beta"]
)
def test_scores_are_those_of_the_cpu(
    name: str, left_out: bool, at_mean: bool, emulated: Any
) -> None:
    from coterie.frozen import LeaveOut
    from coterie.model import Model

    counts, urn = corpus(name)._replace(weight=np.ones(70, np.int64)), URNS[name]
    first = first_assignment(counts, urn, 6, 1, BACKEND)
    if urn.relations.promotion:
        chain = BACKEND.open(counts, urn, first, BLOCKED)
        chain.sweep(1, 1)
        first = chain.assignment()
        assert first.flag.any()
    model, cluster_of = Model.freeze(urn, counts, first, None)
    flag = first.flag if urn.relations.promotion else None
    out = LeaveOut(cluster_of[first.labels].astype(np.int64), flag) if left_out else None
    found = []
    for place in (BACKEND, emulated):
        scores = np.full((counts.n_docs, model.frozen.size.size), np.nan)
        place.score(counts, urn, model.frozen, scores.__setitem__, out, at_mean)
        found.append(scores)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-6)


def test_an_estimator_predicts_on_the_gpu(
    emulated: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    documents = [[word, other, "apple"] for word in "abcde" for other in "vwxyz"] * 2
    new, found, launched = [["a", "v"], ["e", "z"]], {}, []
    launch = Emulated.launch

    def noted(self: Any, name: str, *args: Any, **more: Any) -> None:
        launched.append(name)
        launch(self, name, *args, **more)

    monkeypatch.setattr(Emulated, "launch", noted)
    for backend in ("cpu", "cuda"):
        model = GSDMM(4, sampler="blocked", backend=backend, n_sweeps=5, random_state=1)
        model.fit(documents)
        launched.clear()
        found[backend] = model.predict_proba(new)
        assert ("score_documents" in launched) == (backend == "cuda")
        model.save(tmp_path / backend)
        launched.clear()  # who loads a model may have no GPU
        np.testing.assert_allclose(
            coterie.load(tmp_path / backend).predict_proba(new), found[backend]
        )
        assert not launched
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_allclose(again.predict_proba(new), found[backend])
        assert not launched
    np.testing.assert_allclose(found["cuda"], found["cpu"], rtol=1e-6)


@pytest.mark.parametrize("name", URNS)
def test_a_light_assignment_is_that_of_a_whole_state(name: str) -> None:
    counts, urn = corpus(name), URNS[name]
    labels = 3 * random_labels(counts.n_docs, 2, 1) + urn.seeds.weight.size
    light, whole = (
        state.assigned(counts, urn, labels),
        state.from_labels(counts, urn, labels).assignment,
    )
    for mine, theirs in zip(light, whole, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_is_not_there_is_said(emulated: Any) -> None:
    finite = URNS["finite"]
    assert "'blocked' or 'uncollapsed'" in (
        emulated.supports(finite, SamplerOptions("gibbs")) or ""
    )
    taken = emulated.supports(promoted(finite, 0.3, "ab"), SamplerOptions("uncollapsed"))
    assert "neither seeds nor word vectors; use sampler='blocked'." in (taken or "")
    assert emulated.supports(finite, BLOCKED) is None
    assert sampler.run(corpus("finite"), finite, Plan(2, 5, 1, SamplerOptions("auto")), emulated)


def test_the_note_says_when_a_gpu_would_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, auto = corpus("finite"), SamplerOptions("auto")
    assert "GPU" not in sampler.resolved(auto, counts)[1]
    monkeypatch.setattr(sampler, "GPU_PAYS", counts.word.size)
    assert "backend='cuda'" in sampler.resolved(auto, counts)[1]
    assert "GPU" not in sampler.resolved(auto, counts, "blocked")[1]  # it is on one


def test_without_cupy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(Unsupported, match=r"needs cupy.*pip install cupy-cuda12x"):
        sampler.run(corpus("finite"), URNS["finite"], Plan(2, 5, 1, BLOCKED), get_backend("cuda"))


def test_without_a_card_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Runtime:
        def getDeviceCount(self) -> int:
            raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")

    cupy = type("cupy", (), {"cuda": type("cuda", (), {"runtime": Runtime()})})
    monkeypatch.setitem(__import__("sys").modules, "cupy", cupy)
    with pytest.raises(Unsupported, match=r"finds no NVIDIA GPU .*no CUDA-capable device"):
        sampler.run(corpus("finite"), URNS["finite"], Plan(2, 5, 1, BLOCKED), get_backend("cuda"))


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    counts = corpus("finite")
    free = _plan.SPARE_BYTES + _plan.needed_bytes(counts, 1000, 0)
    _plan.check_memory(counts, 992, 0, free)
    with pytest.raises(Unsupported, match=r"At most \d+ clusters fit") as refused:
        _plan.check_memory(counts, 16000, 0, free)
    fits = int(str(refused.value).partition("At most ")[2].split()[0])
    assert 500 < fits < 1000
    _plan.check_memory(counts, state.slots_wide(fits, urns.NO_CAP), 0, free)
    with pytest.raises(Unsupported, match="documents alone do not fit"):
        _plan.check_memory(counts, 16, 0, 1000)
    first = first_assignment(counts, URNS["finite"], 6, 1, BACKEND)
    with pytest.raises(Unsupported, match="GiB free"):
        CudaChain(counts, URNS["finite"], first, BLOCKED, Emulated(free=1000))


def test_large_corpora_are_one_block_and_small_ones_those_of_the_cpu() -> None:
    from coterie.backends._blocked import deal, default_block

    small, large = 1000, _plan.WHOLE
    assert [b.tolist() for b in _plan.blocks_of(small, None)] == [
        b.tolist() for b in deal(small, default_block(small))
    ]
    assert [b.size for b in _plan.blocks_of(large, None)] == [large]
    assert [b.size for b in _plan.blocks_of(large, large // 2)] == [large // 2] * 2


@pytest.mark.parametrize("beta", [1e-300, 1e-12, 0.1, 50.0])
def test_products_never_overflow(beta: float) -> None:
    counts = from_bags([[0] * 30, [1] * 3], 2)
    urn = urns.finite(3, 0.1, np.array([beta, 1.0]))
    flush = _plan.flush_every(_plan.most_held(counts, urn), urn)
    assert flush >= 1
    assert flush * np.log1p(30 / beta) < 709.0


def test_base_terms_are_kept_for_the_frequent_lengths_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bags = [[0, 1]] * 2 + [[1, 2, 3]] * 5 + [[2, 3, 4, 5]] * 3
    counts = from_bags(bags, 6, weight=[1] * 9 + [2])
    lengths = _plan.Lengths.found_in(counts)
    monkeypatch.setattr(_plan, "BASE_BYTES", 2 * 8 * 16)
    kept, row = _plan.base_lengths(lengths, 16)
    assert kept.tolist() == [2, 3]
    assert row.tolist() == [0] * 2 + [1] * 5 + [-1] * 3


def test_a_product_is_chosen_where_columns_are_used_often() -> None:
    running = np.cumsum(np.sort(np.random.default_rng(1).pareto(1.0, 100_000))[::-1]).astype(
        np.int64
    )
    long, short = 300_000, 10_000_000
    assert _plan.product_columns(running * 1000, long, 208, 2**37) >= 512
    assert _plan.product_columns(running * 10, short, 1008, 2**37) == 0
    assert _plan.product_columns(running * 1000, long, 208, 2**20) == 0  # no room for it


def test_every_kernel_is_in_the_package_and_has_a_signature_the_host_can_call() -> None:
    from cuda_emulated import signatures

    wanted = {"draw_exact", "score_documents", "move_documents", "fill_base", "word_terms"}
    assert wanted <= set(signatures())


def test_the_kernels_compile(tmp_path: Path) -> None:
    """With nvcc, or with NVRTC as CuPy does; neither needs a GPU."""
    source, nvcc = _device.source(), shutil.which("nvcc")
    if nvcc:
        (tmp_path / "all.cu").write_text(source, encoding="utf-8")
        command = [nvcc, "-std=c++17", "-arch=sm_80", "-cubin", "-o", "all.cubin", "all.cu"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return
    nvrtc = pytest.importorskip(
        "cupy_backends.cuda.libs.nvrtc", reason="neither nvcc nor NVRTC here"
    )
    program = nvrtc.createProgram(source, "all.cu", [], [])
    nvrtc.compileProgram(program, ["-std=c++17", "--gpu-architecture=compute_80"])


def test_documents_that_are_not_placed_yet_are_placed_on_the_cpu() -> None:
    """Kernels of the GPU read the counts of a document's own cluster."""
    counts = random_corpus(30, 40, 6, 3)
    urn = urns.finite(5, 0.1, urns.per_word(0.1, 40))
    start = uncounted(counts, urn, np.where(np.arange(30) < 9, 0, -1).astype(np.int32), 1)
    chain = get_backend("cuda").open(counts, urn, start, SamplerOptions("blocked"))
    assert isinstance(chain, BlockedChain)
