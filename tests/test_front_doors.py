"""`cluster()` and the estimators are two doors to one way of fitting."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM, grouping
from coterie.demo.corpus import make_messages
from coterie.errors import InvalidInput

TEXTS = make_messages(300, 1)[0]
WORDS = ["parking", "ticket", "ferry", "island", "collection", "emptied"]
VECTORS = {word: np.eye(6)[i // 2] + 0.01 * np.eye(6)[i] for i, word in enumerate(WORDS)}
MODELS: dict[str, Any] = {
    "GSDMM": GSDMM(40, n_sweeps=8),
    "GSDPMM": GSDPMM(n_sweeps=8),
    "TSDPMM": TSDPMM(seeds={"cars": ["parking", "ticket"], "boats": ["ferry"]}, n_sweeps=8),
    "GPUDMM": GPUDMM(40, word_vectors=VECTORS, n_sweeps=8),
    "XDMM": XDMM(40, n_sweeps=8),
}


@pytest.fixture(scope="module", params=MODELS)
def groups(request: pytest.FixtureRequest) -> coterie.Clustering:
    return coterie.cluster(TEXTS, model=MODELS[request.param])


def test_any_model_clusters_texts(groups: coterie.Clustering, tmp_path: Path) -> None:
    assert len(groups.table) == len(TEXTS)
    assert groups.labels.min() >= -1
    assert groups.n_clusters > 1
    assert groups.model.frozen.size.sum() == (groups.labels >= 0).sum()
    assert np.isfinite(groups.outlier_score[groups.labels >= 0]).all()
    assert len(groups.names) == len(set(groups.names)) == groups.n_clusters
    assert groups.settings[0].name == "model"
    groups.explain(0)
    groups.report(tmp_path / "page.html")
    groups.save(tmp_path / "saved.coterie")
    again = coterie.load(tmp_path / "saved.coterie")
    np.testing.assert_array_equal(again.labels, groups.labels)
    np.testing.assert_array_equal(again.predict(TEXTS), groups.predict(TEXTS))
    np.testing.assert_array_equal(again.outlier_score, groups.outlier_score)


def test_labels_agree_with_predictions(groups: coterie.Clustering) -> None:
    same = groups.predict(TEXTS) == groups.labels
    assert same.mean() == pytest.approx(groups.agreement, abs=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_the_model_is_neither_fitted_nor_changed(name: str) -> None:
    model = MODELS[name]
    before = dict(model.get_params())
    coterie.cluster(TEXTS, model=model, n_jobs=2, max_time=60.0)
    assert model.get_params() == before
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("name", MODELS)
def test_both_doors_lead_to_the_same_labels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the same words, before `cluster()` settles its labels."""
    groups = coterie.cluster(TEXTS, model=MODELS[name])
    c = groups.corpus.counts
    rows = [
        [
            groups.vectorizer.words[w]
            for w, n in zip(c.word[a:b], c.tally[a:b], strict=True)
            for _ in range(n)
        ]
        for a, b in zip(c.ptr[:-1], c.ptr[1:], strict=True)
    ]
    documents = [rows[d] if d >= 0 else [] for d in groups.corpus.doc_of_row]
    model = MODELS[name].__class__(**{**MODELS[name].get_params(), "random_state": 0})
    model.fit(documents)
    seen = [record.log_likelihood for record in groups.trace]
    assert [record.log_likelihood for record in model.trace_] == pytest.approx(seen)


def test_the_default_is_gsdmm_with_settings_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the merging of clusters."""
    groups = coterie.cluster(TEXTS)
    cap = next(int(s.value) for s in groups.settings if s.name == "maximum clusters")
    like = {"alpha": 0.1, "beta": "auto", "embedder": "auto", "n_sweeps": 40, "tol": 2e-4}
    model = GSDMM(cap, tie_duplicates=True, **like)
    monkeypatch.setattr(grouping, "MERGE_AFTER", ())
    groups = coterie.cluster(TEXTS)
    same = coterie.cluster(TEXTS, model=model)
    np.testing.assert_array_equal(same.labels, groups.labels)


def test_a_random_state_of_the_model_counts() -> None:
    first = coterie.cluster(TEXTS, model=GSDMM(40, n_sweeps=5, random_state=3))
    second = coterie.cluster(TEXTS, model=GSDMM(40, n_sweeps=5), random_state=3)
    other = coterie.cluster(TEXTS, model=GSDMM(40, n_sweeps=5))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert (first.labels != other.labels).any()


@pytest.mark.parametrize("sampler", ["gibbs", "blocked", "metropolis", "uncollapsed", "em"])
def test_every_sampler(sampler: str) -> None:
    groups = coterie.cluster(TEXTS, max_clusters=30, sampler=sampler, n_sweeps=6)
    assert {record.sampler for record in groups.trace} <= {sampler, "gibbs"}


def test_a_checkpoint_continues(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    whole = coterie.cluster(TEXTS, n_sweeps=12)
    coterie.cluster(TEXTS, n_sweeps=12, checkpoint=path, callbacks=[lambda e: e.record.sweep == 4])
    assert path.exists()
    seen: list[int] = []
    resumed = coterie.cluster(
        TEXTS, n_sweeps=12, checkpoint=path, callbacks=[lambda e: seen.append(e.record.sweep)]
    )
    np.testing.assert_array_equal(resumed.labels, whole.labels)
    assert seen[0] == 4  # told once more about the last sweep that was saved
    assert seen[1:] == list(range(5, len(whole.trace) + 1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"model": GSDPMM(), "beta": 0.5},
            r"beta of cluster has no effect with a model; .*GSDPMM\(beta",
        ),
        ({"model": GSDPMM(), "n_clusters": 5}, "n_clusters of cluster has no effect with a model"),
        ({"model": GSDPMM(), "seeds": {"a": ["b"]}}, "seeds of cluster has no effect with a model"),
        ({"model": "GSDPMM"}, "must be a model of coterie, such as GSDPMM"),
        ({"model": GSDPMM}, "must be a model of coterie"),
        ({"model": GSDPMM(alpha=-1.0)}, "alpha of GSDPMM"),
        ({"sampler": "fast"}, "sampler of cluster"),
        ({"checkpoint": 7}, "checkpoint of cluster"),
        ({"model": TSDPMM(seeds=7)}, "seeds of TSDPMM"),
    ],
)
def test_mistakes_are_refused_before_anything_is_read(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=words):
        coterie.cluster(tmp_path / "not there.csv", **options)
