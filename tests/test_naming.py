"""Names of clusters: the most telling phrase that stands in the texts, each only once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import naming
from coterie.errors import InvalidInput

CARDS = [
    "I lost my bank card",
    "my bank card is gone",
    "a new bank card, please",
    "Bank card stolen",
]
RATES = [
    "the exchange rate is wrong",
    "which exchange rate?",
    "exchange rate today",
    "bad exchange rate",
]
TEXTS = (CARDS + RATES) * 5
LABELS = np.array(([0] * 4 + [1] * 4) * 5)
STOP = frozenset({"the", "my", "is", "a", "i", "of", "and"})


def names(texts: list[str], labels: Any, n: int, stop: Any = STOP, **more: Any) -> list[str]:
    found = naming.phrases(texts, np.asarray(labels), n, stop, lambda word: True, **more)
    return naming.choose(found, {}, [""] * n)


def test_a_phrase_beats_its_words() -> None:
    assert names(TEXTS, LABELS, 2) == ["bank card", "exchange rate"]


def test_a_phrase_is_written_as_it_mostly_is() -> None:
    texts = ["Bank of England", "the Bank of England", "bank of england raises rates"] * 3
    assert names(texts + RATES * 2, [0] * 9 + [1] * 8, 2)[0] == "Bank of England"


def test_phrases_do_not_cross_punctuation() -> None:
    found = naming.phrases(["card. exchange rate"] * 3, np.zeros(3, np.int64), 1, STOP, bool)
    assert {phrase for phrase, _ in found[0]} == {"card", "exchange", "rate", "exchange rate"}


def test_names_are_different_and_go_where_they_tell_most() -> None:
    texts = ["late train"] * 9 + ["late train", "bus stop"] * 3 + ["late train"] * 3
    found = names(texts, [0] * 9 + [1] * 6 + [2] * 3, 3)
    assert len(set(found)) == 3
    assert "bus" in found[1] or "stop" in found[1]


def test_the_same_texts_in_every_cluster_still_have_names() -> None:
    found = names(["hello"] * 6, [0, 1, 2] * 2, 3)
    assert sorted(found) == ["hello", "hello (2)", "hello (3)"]


def test_numbers_and_unknown_words_are_no_names() -> None:
    found = naming.phrases(
        ["20 zzz pounds"] * 4, np.zeros(4, np.int64), 1, STOP, {"pounds"}.__contains__
    )
    assert all("pounds" in phrase for phrase, _ in found[0])


def test_scripts_without_spaces() -> None:
    texts = ["王者荣耀英雄", "王者荣耀皮肤", "王者荣耀比赛"] * 2 + [
        "房价上涨",
        "北京房价",
        "房价下跌",
    ] * 2
    found = names(texts, [0] * 6 + [1] * 6, 2, frozenset())
    assert found == ["王者荣耀", "房价"]
    cut = {"王者荣耀英雄": ["王者", "荣耀", "英雄"]}
    segment = lambda run: cut.get(run, [run[:2], run[2:4], run[4:]])  # noqa: E731
    assert names(texts, [0] * 6 + [1] * 6, 2, frozenset(), segment=segment) == found


def test_names_stay_the_same_after_loading(tmp_path: Path) -> None:
    groups = coterie.cluster(TEXTS)
    assert all(any(name in text for text in TEXTS) for name in groups.names)
    groups.save(tmp_path / "m")
    assert coterie.load(tmp_path / "m").names == groups.names
    again = coterie.cluster(TEXTS, seeds=str(tmp_path / "m"))
    assert set(groups.names) <= set(again.names)


@pytest.mark.parametrize(
    "change",
    [
        lambda names: names.__setitem__(0, "x"),
        lambda names: names.append("x"),
        lambda names: names.sort(),
    ],
    ids=["set", "append", "sort"],
)
def test_names_are_changed_by_rename_only(change: Any) -> None:
    with pytest.raises(InvalidInput, match=r"rename\(3, 'Cards'\)"):
        change(naming.Names(["a"]))


@pytest.mark.parametrize("bad", ["ab", ["a"], ["a", "a"], ["a", 1], {"a": 1}])
def test_forged_names_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="name"):
        naming.checked(bad, 2)


def test_a_seed_keeps_its_name() -> None:
    groups = coterie.cluster(TEXTS, seeds={"Plastic": "bank card lost"})
    assert "Plastic" in groups.names
    assert len(set(groups.names)) == groups.n_clusters


def test_names_of_levels_are_phrases_too() -> None:
    groups = coterie.cluster(TEXTS)
    for names in groups.levels["names"].to_list():
        assert len(set(names)) == len(names)
        assert all(any(name.lower() in text.lower() for text in TEXTS) for name in names)


# ---------------------------------------------------------------- several clusters in one
def named_as_one(texts: list[str], others: list[str]) -> list[str]:
    """The name of the first texts, among the others."""
    groups = coterie.cluster(texts + others, embedder=None, levels=False, n_sweeps=2, min_df=1)
    known = naming.table(groups, range(len(texts) + len(others)))
    return naming.covering(known, 0, len(texts))


def test_a_mixture_is_named_after_its_parts_and_a_word_after_its_phrase() -> None:
    clouds = [f"grey clouds number {i} today" for i in range(40)]
    mixed = CARDS * 6 + RATES * 5
    assert named_as_one(mixed, clouds) == ["bank card", "exchange rate"]
    # every text holds the word, and no phrase is in most of them
    cards = ["order a card", "card order", "card lost", "lost card again", "card"] * 4
    assert named_as_one(cards, clouds) == ["order a card"]
    apart = [f"{word} card" for word in ("gold", "blue", "gift", "sim", "key", "id") for _ in "ab"]
    many = apart + [f"card {i}" for i in range(60)]
    assert named_as_one(many, clouds) == ["card"]
    assert (
        naming.covering(naming.Table(*[np.zeros(2, np.int64)] * 2, [], *[np.zeros(0)] * 2), 0, 1)
        == []
    )
