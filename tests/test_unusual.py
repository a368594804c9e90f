"""Outliers: planted nonsense is found, ordinary texts are not, and every count is the same number."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_levels import SUBJECTS, texts

import coterie
from coterie import unusual
from coterie.model import Model
from coterie.report import data
from coterie.text.tokenize import Tokenizer

ODD = [
    "xqzv bnrt wplk hjgf mmnb",
    "der schnelle braune Fuchs springt hoch",
    "lorem ipsum dolor sit amet",
    "0x80070057 segfault kernel oops panic",
]
PLANTED = [*texts(400), *ODD]


@pytest.fixture(scope="module")
def groups() -> coterie.Clustering:
    return coterie.cluster(PLANTED)


def test_planted_nonsense_is_found_and_little_else(groups: coterie.Clustering) -> None:
    assert groups.outliers[-4:].all()
    assert groups.outliers[:-4].mean() <= 0.02
    assert (groups.outlier_score[groups.outliers] >= unusual.LINE).all()
    assert (groups.outlier_score[~groups.outliers] < unusual.LINE).all()


def test_the_count_is_the_same_everywhere(groups: coterie.Clustering) -> None:
    n = int(groups.outliers.sum())
    assert (groups.table["outlier_score"] >= unusual.LINE).sum() == n
    assert f"{n} fit nowhere" in groups.summary()
    assert data.page(groups)["overview"]["outliers"] == n


def test_new_texts_have_a_score_on_the_same_scale(groups: coterie.Clustering) -> None:
    usual = ["parcel courier depot van", "login password email link"]
    odd = ["parcel qqq www eee rrr ttt yyy", "login zzz xxx ccc vvv bbb nnn"]
    score = groups.added_to([*usual, *odd])["outlier_score"]
    assert (score[:2] < unusual.LINE).all()
    assert (score[2:] >= unusual.LINE).all()
    assert np.isnan(groups.added_to(["qqq www"])["outlier_score"]).all()


def test_new_texts_cost_nothing_that_depends_on_the_texts_of_the_fit(
    groups: coterie.Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first call, a text is split once and weighed once, and no median is taken again."""
    new = ["parcel qqq www eee rrr ttt yyy", "", "login password email link", "zzz xxx"]
    together = groups.added_to(new)
    done: list[str] = []

    def noted(owner: Any, name: str) -> None:
        plain = getattr(owner, name)

        def noting(*args: Any, **kwargs: Any) -> Any:
            done.append(name)
            return plain(*args, **kwargs)

        monkeypatch.setattr(owner, name, noting)

    noted(Tokenizer, "count")
    noted(Model, "_for_chunks")
    for name in ("median", "quantile", "sort"):
        noted(np, name)
    apart = [groups.added_to([text]) for text in new]
    assert done == ["count", "_for_chunks"] * len(new)
    for column, values in together.items():
        np.testing.assert_array_equal(values, [one[column][0] for one in apart])


def test_texts_are_measured_some_at_a_time(
    groups: coterie.Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What that takes in memory does not grow with the texts, and no score changes."""
    counts, labels = groups.corpus.counts, groups.corpus.per_document(groups.labels)
    whole = unusual.of_fit(groups.model, counts, labels)
    sizes = []
    plain = unusual._measured

    def noted(model: Any, part: Any, *others: Any) -> Any:
        sizes.append(part.word.size)
        return plain(model, part, *others)

    monkeypatch.setattr(unusual, "AT_ONCE", 50)
    monkeypatch.setattr(unusual, "_measured", noted)
    parts = unusual.of_fit(groups.model, counts, labels)
    np.testing.assert_array_equal(whole[1], parts[1])
    assert len(sizes) > 5
    assert sum(sizes) == counts.word.size
    assert max(sizes) <= 50 + int(np.diff(counts.ptr).max())


def test_texts_that_are_all_alike_have_no_outliers() -> None:
    rng = np.random.default_rng(1)
    words = [SUBJECTS["garden"].split(), SUBJECTS["music"].split()]
    same = [" ".join(rng.permutation(words[i % 2])) for i in range(200)]
    assert not coterie.cluster(same, tie_duplicates=False).outliers.any()


def test_a_text_that_is_alone_is_an_outlier() -> None:
    found = coterie.cluster([*texts(200), "zebra quantum"], model=coterie.GSDPMM(beta=0.1, init=20))
    sizes = np.bincount(found.labels)
    assert found.outliers[sizes[found.labels] == 1].all()
    assert found.outliers[-1]


def test_a_share_of_the_most_unusual(groups: coterie.Clustering) -> None:
    most = coterie.cluster(PLANTED, outliers=0.05)
    assert most.outliers.sum() == round(0.05 * len(PLANTED))
    assert most.outlier_score[most.outliers].min() >= most.outlier_score[~most.outliers].max()


def test_outliers_in_a_cluster_of_their_own(groups: coterie.Clustering, tmp_path: Path) -> None:
    own = coterie.cluster(PLANTED, outliers="own")
    assert own.n_clusters == np.unique(groups.labels[~groups.outliers]).size + 1
    np.testing.assert_array_equal(own.outliers, groups.outliers)
    assert set(own.labels[own.outliers]) == {own.names.index("Outliers")}
    assert own.model.frozen.size.sum() == len(PLANTED)
    own.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").outliers, own.outliers)
    own.undo()
    np.testing.assert_array_equal(own.labels, groups.labels)
    np.testing.assert_array_equal(own.outliers, groups.outliers)
