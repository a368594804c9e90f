"""Vectors of 8 bits, for many documents: the same numbers give the same results as in 16 bits."""

import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_located import URNS, V, with_vectors
from tiny import random_corpus

import coterie
from coterie import GSDMM, locating, splitting
from coterie._arrays import COARSE, STEP, numbers, squares, step_of
from coterie.backends import SamplerOptions
from coterie.backends.cpu import BACKEND
from coterie.backends.cuda._tables import Corpus as CardCorpus
from coterie.counts import Counts, from_ids
from coterie.demo.corpus import make_messages
from coterie.embedders import _prepare, prepare
from coterie.embedders._base import BLOCK
from coterie.embedders._prepare import prepare_rows
from coterie.embedders._rows import ArrayRows
from coterie.kernels import reference
from coterie.large.store import Store
from coterie.model import Model
from coterie.start import first_assignment

HOWS = {
    "gibbs": SamplerOptions("gibbs"),
    "blocked": SamplerOptions("blocked", block_size=40, n_jobs=2),
    "lists": SamplerOptions("blocked", block_size=40, n_jobs=2, listed=4),
}


def both(n_docs: int = 300) -> tuple[Counts, Counts]:
    """The same corpus twice, with vectors of 8 and of 16 bits that stand for the same numbers."""
    counts = with_vectors(random_corpus(n_docs, V, 12, 5, topics=6), 37)
    coarse = np.clip(np.rint(numbers(counts.vectors) / COARSE), -127, 127).astype(np.int8)
    fine = coarse.astype(np.int16) * np.int16(COARSE / STEP)
    return counts._replace(vectors=coarse), counts._replace(vectors=fine)


def few(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(_prepare, "MANY", n)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", ["finite", "seeded"])
def test_labels_are_those_of_sixteen_bits(name: str, how: str) -> None:
    labels = []
    for counts in both():
        first = first_assignment(counts, URNS[name], 10, 2, BACKEND)
        chain = BACKEND.open(counts, URNS[name], first, HOWS[how])
        for sweep in range(1, 7):
            chain.sweep(2, sweep)
        labels.append(chain.state.z.tolist())
    assert labels[0] == labels[1]
    assert len(set(labels[0])) > 3


def test_numbers_squares_and_the_joint() -> None:
    coarse, fine = both(100)
    assert step_of(coarse.vectors) == COARSE
    np.testing.assert_array_equal(numbers(coarse.vectors), numbers(fine.vectors))
    np.testing.assert_array_equal(squares(coarse.vectors), squares(fine.vectors))
    z = np.arange(100) % 6
    urn = URNS["finite"]
    assert reference.log_joint(coarse, urn, z) == reference.log_joint(fine, urn, z)


def test_predictions_kappa_and_proposals_are_those_of_sixteen_bits() -> None:
    urn, found = URNS["finite"], []
    for counts in both():
        first = first_assignment(counts, urn, 10, 2, BACKEND)
        after = splitting.split_merge(counts, urn, first, 5, 1, 200, 3)
        assert after is not None
        chain = BACKEND.open(counts, urn, after, HOWS["gibbs"])
        chain.sweep(1, 1)
        assignment = chain.assignment()
        model, _ = Model.freeze(urn, counts, assignment, None)
        found.append(
            (
                assignment.labels.tolist(),
                locating.best_kappa(counts, urn, assignment),
                model.predict(counts).tolist(),
            )
        )
    assert found[0] == found[1]


def test_texts_are_tied_by_words_and_vectors() -> None:
    ptr, ids = np.arange(0, 13, 3), np.tile(np.array([1, 2, 3], np.int32), 4)
    vectors = np.array([[1, 2], [1, 2], [1, -2], [1, 3]], np.int8)
    corpus = from_ids(ptr, ids, 5, "test", tie=True, vectors=vectors)
    assert corpus.doc_of_row.tolist() == [0, 0, 1, 2]
    assert corpus.counts.vectors.tolist() == [[1, 2], [1, -2], [1, 3]]


class TestPrepare:
    def test_many_documents_get_eight_bits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        raw = np.random.default_rng(0).normal(2, 1, (500, 64)).astype(np.float32)
        assert _prepare.MANY == 200_000
        few(monkeypatch, 500)
        vectors, mean = prepare(raw)
        assert vectors.dtype == np.int8
        wanted, same = prepare(raw, bits=16)
        np.testing.assert_array_equal(mean, same)
        assert np.abs(numbers(vectors) - numbers(wanted)).max() <= COARSE / 2 + STEP
        assert prepare(raw[:499])[0].dtype == np.int16
        assert prepare(raw, mean)[0].dtype == np.int16, "the model says how many bits"

    def test_sixteen_bits_if_numbers_would_be_cut(self, monkeypatch: pytest.MonkeyPatch) -> None:
        few(monkeypatch, 100)
        raw = np.random.default_rng(0).normal(size=(100, 64))
        raw[7] = 0
        raw[7, 3] = 9.0
        assert prepare(raw)[0].dtype == np.int16
        cut = prepare(raw, bits=8)[0]
        assert cut[7, 3] == 127
        assert np.abs(cut[7]).max() == 127

    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_every_row_is_looked_at(self, n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file may be sorted: the rows whose numbers are too large stand in any block, or in one."""
        few(monkeypatch, 100)
        rng = np.random.default_rng(0)
        raw = rng.normal(size=(20 * BLOCK, 16)).astype(np.float32)
        raw[:, 8:] = np.abs(raw).max(axis=1, keepdims=True)  # no number is half of the length
        raw[::2, 8:] *= -1
        assert prepare_rows(ArrayRows(raw), n_threads=n_threads)[0].dtype == np.int8
        done: list[int] = []
        for at in (0, 3 * BLOCK // 2, 20 * BLOCK - 1):
            some = raw.copy()
            some[at] = np.eye(16)[3] * 99
            vectors, _ = prepare_rows(
                ArrayRows(some), None, n_threads, lambda *n: done.append(n[0])
            )
            assert done[-1] == len(raw)
            np.testing.assert_array_equal(vectors, prepare(some, bits=16)[0])
            assert vectors.dtype == np.int16

    def test_vectors_of_eight_bits_are_let_go_before_others_are_made(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        few(monkeypatch, 100)
        raw = np.random.default_rng(0).normal(size=(20 * BLOCK, 16)).astype(np.float32)
        raw[-1] = np.eye(16)[3] * 99
        prepare(raw)  # the kernels are compiled
        tracemalloc.start()
        vectors, _ = prepare_rows(ArrayRows(raw))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert vectors.dtype == np.int16
        assert peak < 1.2 * vectors.nbytes

    def test_numbers_of_new_texts_are_cut_not_wrapped(self) -> None:
        vectors, _ = prepare([[5.0, 0], [-5.0, 0]], np.zeros(2), bits=8)
        assert vectors.tolist() == [[127, 0], [-127, 0]]


def test_the_bits_are_saved_and_predictions_agree_with_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = make_messages(400, 1)[0]
    few(monkeypatch, 300)
    groups = coterie.cluster(texts, levels=False)
    assert groups.corpus is not None
    assert groups.corpus.counts.vectors.dtype == np.int8
    monkeypatch.undo()
    groups.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    for one in (groups, loaded):
        assert one.embedding.bits == 8
        assert one.corpus.counts.vectors.dtype == np.int8
        found: Any = one.predict(texts)
        assert (found == groups.labels).mean() >= groups.agreement - 1e-9
        seen = one.embedding.again(texts[:50], None, 50, "test")
        np.testing.assert_array_equal(
            seen, groups.corpus.counts.vectors[groups.corpus.doc_of_row[:50]]
        )


def test_an_estimator_is_saved_with_its_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = make_messages(200, 2)[0]
    few(monkeypatch, 200)
    model = GSDMM(20, embedder="auto", n_sweeps=5, random_state=0).fit(texts)
    monkeypatch.undo()
    wanted = model.predict_proba(texts)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").predict_proba(texts), wanted)
    fine = GSDMM(20, embedder="auto", n_sweeps=5, random_state=0).fit(texts)
    assert fine._embedding.bits == 16


def test_a_store_on_disk_keeps_eight_bits(tmp_path: Path) -> None:
    ptr, ids = np.arange(0, 13, 3), np.arange(12, dtype=np.int32)
    vectors = np.arange(-4, 4, dtype=np.int8).reshape(4, 2)
    store = Store(tmp_path)
    for _ in range(2):
        store.append(from_ids(ptr, ids.copy(), 12, "test", vectors=vectors.copy()), np.full(4, 3))
    kept = store.counts(12, 2).vectors
    assert kept.dtype == np.int8
    np.testing.assert_array_equal(kept, np.tile(vectors, (2, 1)))


def test_the_gpu_gets_the_same_numbers() -> None:
    coarse, fine = (CardCorpus(SimpleNamespace(xp=np), counts).vectors for counts in both(50))
    assert coarse.dtype == np.float32
    np.testing.assert_array_equal(coarse, fine)
