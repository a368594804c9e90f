"""init="sample": fit a tenth of the documents, place the others, then sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import GSDMM, GSDPMM, TSDPMM, cluster, fitting, grouping, sample_start, sampler, urns
from coterie import counts as counts_room
from coterie.backends import get_backend
from coterie.backends.base import DEFAULT
from coterie.counts import Counts, from_matrix, subset
from coterie.demo.synthetic import TOPICS, make_corpus
from coterie.sample_start import Started, sample_of, thinned
from coterie.state import from_labels
from coterie.urns import Urn

SEEDS = {name: words.split()[:3] for name, words in list(TOPICS.items())[:3]}
TEXTS, TRUTH = make_corpus(2500, seed=3)
MODELS: dict[str, Any] = {
    "finite": lambda **more: GSDMM(40, init="sample", random_state=5, n_sweeps=3, **more),
    "process": lambda **more: GSDPMM(init="sample", random_state=5, n_sweeps=3, **more),
    "seeded": lambda **more: TSDPMM(SEEDS, init="sample", random_state=5, n_sweeps=3, **more),
}


@pytest.fixture(autouse=True)
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_start, "FEWEST", 100)


def vectors() -> np.ndarray:
    names = list(TOPICS)
    rng = np.random.default_rng(0)
    corner = np.eye(len(names))[[names.index(label) for label in TRUTH]]
    return corner + 0.1 * rng.standard_normal(corner.shape)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("with_vectors", [False, True], ids=["words", "vectors"])
def test_same_labels_again_and_after_a_resume(
    name: str, with_vectors: bool, tmp_path: Path
) -> None:
    more = {"embeddings": vectors()} if with_vectors else {}
    whole = MODELS[name]().fit(TEXTS, **more)
    again = MODELS[name](n_jobs=3).fit(TEXTS, **more)
    np.testing.assert_array_equal(whole.labels_, again.labels_)

    part = tmp_path / "run.ckpt"
    MODELS[name](checkpoint=part, callbacks=[lambda event: event.record.sweep == 1]).fit(
        TEXTS, **more
    )
    resumed = MODELS[name](checkpoint=part).fit(TEXTS, **more)
    np.testing.assert_array_equal(whole.labels_, resumed.labels_)


def test_what_the_sample_learned_is_kept() -> None:
    """kappa of the first sweep is the one that the sample learned, not where learning starts."""
    seen = []
    fitted = GSDMM(40, init="sample", random_state=5, n_sweeps=1)
    fitted.fit(TEXTS, embeddings=vectors())
    seen.append(fitted.model_.urn.location.kappa)
    plain = GSDMM(40, random_state=5, n_sweeps=1).fit(TEXTS, embeddings=vectors())
    assert plain.model_.urn.location.kappa == 16.0
    assert seen[0] != 16.0


def test_every_document_is_placed_and_the_note_says_how() -> None:
    model = GSDMM(40, init="sample", random_state=5, n_sweeps=1).fit(TEXTS)
    assert (model.labels_ >= 0).all()
    n = sample_of(model._training.counts.n_docs, 0, 10**9).size
    assert 200 < n < 300
    assert any(note.startswith("Start: ") and "2,500" in note for note in model.trace_.notes)


def test_no_cluster_is_merged_in_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters of a sample are small: what is merged there would be apart in the corpus."""
    monkeypatch.setattr(sample_start, "LARGE", 100)
    seen: list[int] = []
    monkeypatch.setattr(
        grouping.MergeClusters, "__call__", lambda self, moment: seen.append(moment.counts.n_docs)
    )
    texts = [" ".join(words) for words in TEXTS]
    groups = cluster(texts, embedder=None, n_sweeps=2)
    assert any(note.startswith("Start: ") for note in groups.trace.notes)
    assert {record.sampler for record in groups.trace} == {"blocked"}
    assert seen
    assert len(set(seen)) == 1


def test_cluster_with_seeds_starts_large_data_from_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample_start, "LARGE", 100)
    texts = [" ".join(words) for words in TEXTS]
    groups = cluster(texts, seeds=SEEDS, embedder=None, n_sweeps=2)
    assert any(note.startswith("Start: ") for note in groups.trace.notes)
    assert {record.sampler for record in groups.trace} == {"blocked"}
    assert {"baking", "cycling", "astronomy"} <= set(groups.clusters["name"].to_list())


@pytest.mark.parametrize(("n_docs", "expected"), [(199_999, "random"), (200_000, "sample")])
def test_auto_follows_from_the_number_of_documents(n_docs: int, expected: str) -> None:
    corpus = from_matrix(np.ones((n_docs, 1), np.int8), "test")
    assert GSDMM(3, init="auto")._init(corpus) == expected
    assert GSDPMM()._init(corpus) == ("sample" if expected == "sample" else "one")


def test_the_prior_shrinks_with_the_sample() -> None:
    urn = urns.process(8.0, np.full(4, 0.2))
    thin = thinned(urn, 0.25)
    assert thin.sizes.open_weight == 2.0
    np.testing.assert_allclose(thin.words.beta, 0.05)
    assert thin.words.beta_sum == pytest.approx(0.2)


def test_placing_starts_from_the_clusters_of_the_sample() -> None:
    """Documents join clusters that the sample found, by their words."""
    counts = from_matrix(np.repeat(np.eye(2, dtype=int) * 5, 3000, axis=0), "test").counts
    urn = urns.finite(2, 0.1, np.full(2, 0.1))

    def fit(some: Counts, thin: Urn, init: str, key: int) -> Started:
        assert init == "random"
        assert thin.words.beta[0] == pytest.approx(0.1 * some.n_docs / counts.n_docs)
        return Started(from_labels(some, thin, some.word[some.ptr[:-1]]).assignment)

    started = sample_start.sample_start(counts, urn, 9, get_backend(), fit, DEFAULT, 10**9)
    np.testing.assert_array_equal(started.assignment.labels, np.repeat([0, 1], 3000))
    np.testing.assert_array_equal(started.assignment.size[:2], [3000, 3000])


def test_subset_keeps_words_weights_and_vectors() -> None:
    matrix = np.array([[1, 0, 2], [0, 3, 0], [4, 0, 0]])
    given = np.arange(6, dtype=np.int16).reshape(3, 2)
    counts = from_matrix(matrix, "test", sample_weight=[1, 2, 3], vectors=given).counts
    some = subset(counts, np.array([0, 2]))
    assert some.word.tolist() == [0, 2, 0]
    assert some.tally.tolist() == [1, 2, 4]
    assert some.length.tolist() == [3, 4]
    assert some.weight.tolist() == [1, 3]
    assert some.n_words == 3
    assert some.vectors.tolist() == [[0, 1], [4, 5]]


def test_cluster_sweeps_a_sample_of_large_data_and_then_a_few_times_over_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample_start, "LARGE", 100)
    monkeypatch.setattr(grouping, "SAMPLED", 300)
    texts = [" ".join(words) for words in TEXTS]
    told: list[tuple[str, int, int]] = []
    swept: list[int] = []
    groups = cluster(
        texts,
        embedder=None,
        levels=False,
        on_progress=lambda *what: told.append(what),
        callbacks=[lambda event: swept.append(event.n_sweeps)],
    )
    assert swept == [4, 4, 4, 4]  # a tenth of 40
    assert told[0] == ("sampling", 1, 40)
    assert len(told) > 9
    assert any(note.startswith("Start: ") for note in groups.trace.notes)
    assert {record.sampler for record in groups.trace} == {"blocked"}
    assert not any("still improving" in note for note in groups.notes)
    assert "over a sample" in {s.name: s.why for s in groups.settings}["sweeps"]
    again = cluster(texts, embedder=None, levels=False, n_jobs=3)
    np.testing.assert_array_equal(groups.labels, again.labels)
    longer = cluster(texts, embedder=None, levels=False, n_sweeps=60)
    assert len(longer.trace) == 6


@pytest.mark.parametrize("sampler", ["gibbs", "blocked"])
def test_threads_share_the_pass_that_places_documents(sampler: str) -> None:
    """In blocks, if the run is: the same labels for any number of threads."""
    one, two = (
        GSDMM(40, init="sample", sampler=sampler, random_state=5, n_sweeps=1, n_jobs=n).fit(TEXTS)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_threads_share_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[int, str, int]] = []

    def run(counts: Any, urn: Any, plan: Any, backend: Any) -> Any:
        ran.append((counts.n_docs, plan.options.sampler, plan.options.n_jobs))
        return real(counts, urn, plan, backend)

    real = sampler.run
    monkeypatch.setattr(sampler, "run", run)
    fitted = {"init": "sample", "random_state": 5, "n_sweeps": 1, "n_jobs": 3}
    GSDMM(40, sampler="blocked", **fitted).fit(TEXTS)
    GSDMM(40, sampler="gibbs", **fitted).fit(TEXTS)
    (_, *whole), (_, *sample), (_, *_), (_, *exact) = ran
    assert (whole, sample, exact) == (["blocked", 3], ["blocked", 3], ["auto", 1])


def test_large_data_is_settled_when_nearly_all_texts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last texts to move are between clusters that suit them equally well."""
    monkeypatch.setattr(fitting, "is_large", lambda counts: True)
    monkeypatch.setattr(fitting, "LARGE_PASSES", 1)
    monkeypatch.setattr(fitting, "ENOUGH", 0.0)
    texts = [" ".join(words) for words in TEXTS]
    rough = cluster(texts, embedder=None, levels=False, n_sweeps=1)
    assert rough.agreement < 1.0
    monkeypatch.setattr(fitting, "is_large", lambda counts: False)
    assert cluster(texts, embedder=None, levels=False, n_sweeps=1).agreement == 1.0


def test_vectors_of_a_corpus_are_those_of_its_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are moved where they are: empty rows and copies of documents have none."""
    monkeypatch.setattr(counts_room, "_MOVED", 2)
    matrix = np.array([[0, 0], [1, 0], [1, 0], [0, 2], [0, 0], [3, 1], [0, 2], [1, 1]])
    given = np.arange(16, dtype=np.int16).reshape(8, 2)
    given[2], given[6] = given[1], given[3]
    expected = given[[1, 3, 5, 7]].copy()
    corpus = from_matrix(matrix, "test", tie=True, vectors=given)
    assert corpus.doc_of_row.tolist() == [-1, 0, 0, 1, -1, 2, 1, 3]
    np.testing.assert_array_equal(corpus.counts.vectors, expected)
    assert corpus.counts.vectors.flags.c_contiguous


def test_progress_cannot_stop_the_passes_over_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a callback of progress returns means nothing; True of other callbacks stops a run."""
    monkeypatch.setattr(sample_start, "LARGE", 100)
    monkeypatch.setattr(grouping, "SAMPLED", 300)
    texts, told = [" ".join(words) for words in TEXTS], []

    def progress(*what: Any) -> bool:
        told.append(what)
        return True

    cluster(texts, embedder=None, levels=False, on_progress=progress)
    assert len(told) > 5


def test_labels_to_start_from_are_no_sample() -> None:
    texts = [" ".join(words) for words in TEXTS[:300]]
    for n_sweeps in (3, 15):
        model = GSDMM(5, init=np.arange(300) % 3, n_sweeps=n_sweeps, random_state=1)
        assert cluster(texts, model=model).n_clusters > 1
