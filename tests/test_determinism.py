"""A seed is a promise: the same labels everywhere, however the run came about."""

import hashlib
import json
import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
import coterie.model
from coterie import GSDMM, GSDPMM, sampler
from coterie.demo import make_corpus

KINDS = {
    "GSDMM": (GSDMM, {"n_clusters": 40}),
    "GSDMM tied": (GSDMM, {"n_clusters": 40, "tie_duplicates": True}),
    "GSDMM online": (GSDMM, {"n_clusters": 40, "init": "online"}),
    "GSDPMM": (GSDPMM, {"beta": 0.05}),
    "GSDPMM tied": (GSDPMM, {"beta": 0.05, "tie_duplicates": True}),
    "GSDPMM random": (GSDPMM, {"beta": 0.05, "init": 12}),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
N_SWEEPS = 12


def documents() -> list[list[str]]:
    """Short messages, some twice, some long enough for the other way through the kernel."""
    short, _ = make_corpus(300)
    long = [[word for doc in short[i : i + 40] for word in doc] for i in (0, 80, 160)]
    return short + short[:60] + long + [[]]


def make(kind: str, seed: Any = 7, **more: Any) -> Any:
    cls, how = KINDS[kind]
    return cls(**{"n_sweeps": N_SWEEPS, "random_state": seed, **how, **more})


def digest(model: Any, docs: Any) -> str:
    """All that a seed decides, as a short text."""
    trace = [line._replace(seconds=0.0) for line in model.trace_]
    parts = [model.labels_.tobytes(), model.predict(docs).tobytes(), repr(trace).encode()]
    parts.append(model.predict_proba(docs).tobytes())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def digests() -> dict[str, str]:
    docs = documents()
    return {kind: digest(make(kind).fit(docs), docs) for kind in KINDS}


@pytest.fixture(scope="module")
def docs() -> list[list[str]]:
    return documents()


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return digests()


def same_run(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.labels_, other.labels_)
    for column in ("clusters", "moved", "log_joint", "log_likelihood"):
        assert one.trace_[column].tolist() == other.trace_[column].tolist(), column


def test_the_runs_are_not_trivial(docs: list[list[str]]) -> None:
    for kind in KINDS:
        model = make(kind).fit(docs)
        assert 3 < model.n_clusters_ < 100, kind
        assert (model.trace_["moved"] > 0).all(), kind


def test_same_process(expected: dict[str, str]) -> None:
    assert digests() == expected


def test_new_process(expected: dict[str, str]) -> None:
    code = "import json, test_determinism as t; print(json.dumps(t.digests()))"
    run = [sys.executable, "-c", code]
    found = subprocess.run(run, cwd=Path(__file__).parent, capture_output=True, check=True)
    assert json.loads(found.stdout) == expected


def test_spawned_process(expected: dict[str, str]) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(digests).result() == expected


@EVERY_KIND
def test_two_threads_at_once(kind: str, docs: list[list[str]]) -> None:
    alone = [make(kind, seed).fit(docs) for seed in (1, 2)]
    together = [make(kind, seed) for seed in (1, 2)]
    start = threading.Barrier(2)

    def work(model: Any) -> None:
        start.wait()
        model.fit(docs)

    threads = [threading.Thread(target=work, args=(model,)) for model in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        same_run(one, other)


@EVERY_KIND
def test_any_number_of_jobs(
    kind: str, docs: list[list[str]], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        coterie.backends._score, "CHUNK_BYTES", 4096
    )  # many chunks, so that threads matter
    for n_jobs in (1, 2, 7):
        assert digest(make(kind, n_jobs=n_jobs).fit(docs), docs) == expected[kind]


@EVERY_KIND
def test_saved_and_loaded(
    kind: str, docs: list[list[str]], expected: dict[str, str], tmp_path: Path
) -> None:
    make(kind).fit(docs).save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    assert digest(loaded, docs) == expected[kind]
    assert digest(loaded.fit(docs), docs) == expected[kind], "parameters and seed came along"


@EVERY_KIND
@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("stop", [1, 3, 8])
def test_stopped_and_resumed(
    kind: str,
    stop: int,
    every: int,
    docs: list[list[str]],
    expected: dict[str, str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.ckpt"
    how = {"checkpoint": path, "checkpoint_every": every}
    model = make(kind, callbacks=[lambda event: event.record.sweep == stop], **how).fit(docs)
    assert len(model.trace_) == stop
    assert f"stopped by a callback after sweep {stop}" in model.stop_reason_
    resumed = make(kind, **how).fit(docs)
    assert len(resumed.trace_) == N_SWEEPS
    assert digest(resumed, docs) == expected[kind]


@EVERY_KIND
def test_resumed_many_times(
    kind: str, docs: list[list[str]], expected: dict[str, str], tmp_path: Path
) -> None:
    for sweeps in (2, 5, 6, 7, 11, N_SWEEPS, N_SWEEPS):
        model = make(kind, n_sweeps=sweeps, checkpoint=tmp_path / "run.ckpt").fit(docs)
        assert len(model.trace_) == sweeps
    assert digest(model, docs) == expected[kind]


def test_a_run_without_a_seed_resumes_too(docs: list[list[str]], tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    first = make("GSDMM", None, n_sweeps=4, checkpoint=path).fit(docs)
    whole = make("GSDMM", None, checkpoint=path).fit(docs)
    assert whole.trace_["moved"][:4].tolist() == first.trace_["moved"].tolist()
    assert len(whole.trace_) == N_SWEEPS


@EVERY_KIND
def test_other_seeds_differ(kind: str, docs: list[list[str]]) -> None:
    one, other = (make(kind, seed).fit(docs) for seed in (1, 2))
    assert (one.labels_ != other.labels_).any()


@EVERY_KIND
def test_no_seed_means_a_key_of_the_systems(
    kind: str, docs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels may agree by chance; that every fit asks for its own 64 bits cannot."""
    given = iter([11, 12])
    runs: list[sampler.Run] = []
    run = sampler.run
    monkeypatch.setattr(sampler.secrets, "randbits", lambda bits: {64: lambda: next(given)}[bits]())
    monkeypatch.setattr(sampler, "run", lambda *how: runs.append(run(*how)) or runs[-1])
    model = make(kind, None, n_sweeps=2)
    model.fit(docs).fit(docs)
    assert [found.key for found in runs] == [11, 12]


def test_the_system_gives_other_keys_every_time() -> None:
    code = (
        "import numpy as np\n"
        "from coterie import counts, sampler, urns\n"
        "from coterie.backends import get_backend\n"
        "corpus = counts.from_matrix(np.eye(3, dtype=int), 'a test').counts\n"
        "urn = urns.finite(2, 0.1, urns.per_word(0.1, 3))\n"
        "plan = sampler.Plan(n_sweeps=1, init='one', key=None)\n"
        "print(*(sampler.run(corpus, urn, plan, get_backend()).key for _ in range(2)))\n"
    )
    run = [sys.executable, "-c", code]
    keys = {
        int(key)
        for _ in range(2)
        for key in subprocess.run(run, capture_output=True, check=True).stdout.split()
    }
    assert len(keys) == 4  # of 2**64: two are equal once in 3 * 10**18 times


@pytest.mark.parametrize("make_state", [np.random.RandomState, np.random.default_rng])
def test_generators_are_seeds(make_state: Any, docs: list[list[str]]) -> None:
    first, again = (make("GSDMM", make_state(5)).fit(docs) for _ in range(2))
    same_run(first, again)
    state = make_state(5)
    later = [make("GSDMM", state).fit(docs) for _ in range(2)]
    assert (later[0].labels_ != later[1].labels_).any(), "a generator moves on"


def test_numpy_integers_are_seeds(docs: list[list[str]]) -> None:
    same_run(make("GSDMM", 7).fit(docs), make("GSDMM", np.int64(7)).fit(docs))
