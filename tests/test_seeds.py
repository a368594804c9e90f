"""Seeds: every way to give them, every refusal, and what they are in a corpus' words."""

import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seed_cases import WORDS, counted, encoded, one, refusal, sentence

import coterie
from coterie import seeds
from coterie.errors import InvalidInput
from coterie.model import Model, SeedClusters
from coterie.text.vocabulary import count_texts, split_text
from coterie.urns import changed, per_word, process


def named(value: Any) -> str:
    """The same in every process, for tests that are shared out."""
    if isinstance(value, set):
        return f"set of {sorted(value)}"
    return repr(value) if not hasattr(value, "send") else "generator"


# ---------------------------------------------------------------- what a seed may be
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Rescue the bridge, rescue!", {"rescue": 20, "bridge": 10}),
        (["rescue", "TEAM ", "new york"], {"rescue": 10, "team": 10, "new york": 10}),
        (("rescue",), {"rescue": 10}),
        ({"rescue", "aid"}, {"rescue": 10, "aid": 10}),
        (np.array(["rescue", "aid"]), {"rescue": 10, "aid": 10}),
        (pd.Series(["rescue", "aid"]), {"rescue": 10, "aid": 10}),
        ((w for w in ["rescue", "rescue"]), {"rescue": 20}),
        (["rescue team"], {"rescue": 10, "team": 10}),
        ({"rescue": 3, "aid": 0.25, "dead": 0}, {"rescue": 3, "aid": 0.25}),
        ({"rescue": np.float32(0.5), "aid": np.int64(2)}, {"rescue": 0.5, "aid": 2}),
        ({"Rescue Team": 1.5, "team": 1}, {"rescue": 1.5, "team": 2.5}),
        ([["rescue", "aid", "aid"], [], ["aid"]], {"rescue": 1, "aid": 3}),
        ({"words": ["rescue"]}, {"rescue": 10}),
        ({"words": "rescue, new york; aid"}, {"rescue": 10, "new york": 10, "aid": 10}),
        ({"words": "rescue aid"}, {"rescue": 10, "aid": 10}),
        ({"text": "the rescue", "repeat": 2}, {"rescue": 2}),
        ({"text": ["rescue", "aid"], "confidence": 3}, {"rescue": 10, "aid": 10}),
        ({"examples": ["Rescue, rescue!", "aid"]}, {"rescue": 2, "aid": 1}),
        ({"examples": "rescue"}, {"rescue": 1}),
        ({"examples": [["rescue"], ["new york"]]}, {"rescue": 1, "new york": 1}),
        ({"weights": {"rescue": 0.5}, "text": None}, {"rescue": 0.5}),
        (
            {
                "words": ["aid"],
                "text": "aid road",
                "examples": [["aid"]],
                "weights": {"aid": 0.5},
                "repeat": 3,
            },
            {"aid": 3 + 3 + 1 + 0.5, "road": 3},
        ),
    ],
    ids=named,
)
def test_a_seed_may_be(value: Any, expected: dict[str, float]) -> None:
    assert one(value) == expected


def test_token_lists_are_looked_up_as_they_are() -> None:
    assert one([["rescue", "Rescue", "rescue team"]]) == {"rescue": 1}
    assert encoded({"it": [["rescue", "Rescue"]]}).unknown == (("Rescue",),)


def test_repeat() -> None:
    assert one("rescue", repeat=1) == {"rescue": 1}
    assert one(["rescue"], repeat=2.5) == {"rescue": 2.5}
    assert one({"rescue": 4}, repeat=3) == {"rescue": 4}


def test_names_and_pairs() -> None:
    given = seeds.read([("rescue", "team"), (2015, "aid")])
    assert given.names == ("rescue", "2015")
    assert len(given) == 2
    assert seeds.read(given, repeat=3) is given
    assert "weight=" in refusal(given, weight=5)  # not ignored in silence
    assert seeds.read(iter([["x", "aid"]])).names == ("x",)


def test_repr() -> None:
    assert repr(seeds.read({"a\x1b[0m": "x", "b": ["y", "z"]})) == (
        r"Seeds('a\x1b[0m' (1 term), 'b' (2 terms))"
    )
    assert repr(seeds.read({str(i): "x" for i in range(9)})).endswith("... 5 more)")


def test_seeds_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        seeds.read({"a": "x"}).names = ()


# ---------------------------------------------------------------- confidence
def test_confidence() -> None:
    three = {"a": "aid", "b": {"text": "aid", "confidence": 7}, "c": "aid"}
    assert seeds.read(three).weight.tolist() == [1, 7, 1]
    assert seeds.read(three, weight=0.5).weight.tolist() == [0.5, 7, 0.5]
    assert seeds.read(three, weight={"c": 2}).weight.tolist() == [1, 7, 2]
    assert seeds.read(three, weight=[3, 4, 5]).weight.tolist() == [3, 7, 5]
    assert seeds.read(three, weight=np.array([3, 4, 5])).weight.tolist() == [3, 7, 5]
    assert seeds.read({1: "aid"}, weight={1: 2}).weight.tolist() == [2]
    assert encoded(three, weight=0.5).weight.tolist() == [0.5, 7, 0.5]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "1", {1}, 10**400], ids=str)
def test_confidence_refused(bad: Any) -> None:
    said = "Seed 'b' in seeds has a confidence (alpha0) of"
    assert said in refusal({"a": "aid", "b": {"text": "aid", "confidence": bad}})
    assert said in refusal({"a": "aid", "b": "aid"}, weight=[1.0, bad])
    assert said in refusal({"a": "aid", "b": "aid"}, weight={"b": bad})
    assert said in refusal({"a": {"text": "aid", "confidence": 1}, "b": "aid"}, weight=bad)


def test_confidences_that_do_not_fit() -> None:
    assert "contain 'z', which is not a seed. The seeds are 'a'" in refusal(
        {"a": "x"}, weight={"z": 1}
    )
    assert "2 confidences (alpha0) for the 1 seeds" in refusal({"a": "x"}, weight=[1, 2])


# ---------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({}, "There are no seeds in seeds"),
        ([], "There are no seeds in seeds"),
        ([("a", "aid"), ("a", "team")], "Two seeds in seeds are named 'a'"),
        ({1: "aid", "1": "team"}, "Two seeds in seeds are named '1'"),
        ({"": "aid"}, "empty name"),
        ({" \t": "aid"}, "empty name"),
        ({None: "aid"}, "has None as its name"),
        ({True: "aid"}, "has True as its name"),
        ({("a", "b"): "aid"}, "has a tuple as its name"),
        ({"a": ""}, "Seed 'a' in seeds has no words"),
        ({"a": " "}, "Seed 'a' in seeds has no words"),
        ({"a": []}, "Seed 'a' in seeds has no words"),
        ({"a": ["", " "]}, "Seed 'a' in seeds has no words"),
        ({"a": {}}, "Seed 'a' in seeds has no words"),
        ({"a": None}, "Seed 'a' in seeds has no words"),
        ({"a": [[], []]}, "Seed 'a' in seeds has no words"),
        ({"a": {"aid": 0}}, "Seed 'a' in seeds has no words"),
        ({"a": {"words": None, "confidence": 2}}, "Seed 'a' in seeds has no words"),
        ({"a": {"aid": 1, "team": -1}}, "gives the word 'team' a weight of -1"),
        ({"a": {"aid": math.nan}}, "gives the word 'aid' a weight of nan"),
        ({"a": {"aid": math.inf}}, "gives the word 'aid' a weight of inf"),
        ({"a": {"weights": {"aid": "2"}}}, "gives the word 'aid' a weight of '2'"),
        ({"a": {"weights": {"aid": True}}}, "gives the word 'aid' a weight of True"),
        ({"a": {"weights": {(1,): 1}}}, "gives a weight to a tuple"),
        ({"a": {"weights": ["aid"]}}, "has a list as its weights"),
        ({"a": {"word": ["aid"]}}, "has the unknown key 'word'. Use words, text, examples,"),
        ({"a": {"aid": 1, "team": None}}, "every value must be a number"),
        ({"a": {"words": {"aid": 1}, "text": "x"}}, "has a dict as its words"),
        ({"a": {"words": [1.5]}}, "has a list as its words"),
        ({"a": {"text": [["aid"]]}}, "has a list as its text"),
        ({"a": {"examples": [3]}}, "has 3 among its examples"),
        ({"a": {"examples": {"aid": 1}}}, "has a dict among its examples"),
        ({"a": {"text": "aid", "repeat": 0}}, "has a repeat of 0"),
        ({"a": {"text": "aid", "repeat": "many"}}, "has a repeat of 'many'"),
        ({"a": 3}, "Seed 'a' in seeds is 3. Use a text"),
        ({"a": b"aid"}, "Seed 'a' in seeds is a bytes. Use a text"),
        ({"a": ["aid", 1.5]}, "Seed 'a' in seeds contains 1.5. Use a text"),
        ({"a": ["aid", True]}, "Seed 'a' in seeds contains True. Use a text"),
        ({"a": ["aid", ["team"]]}, "mixes words and token lists"),
        ({"a": np.array([0, 3, 1])}, "Seed 'a' in seeds is a ndarray. Use a text"),
        ({"a": pd.DataFrame({"aid": [1]})}, "Seed 'a' in seeds is a DataFrame. Use a text"),
        ({"a": {"aid": 2.0**31}}, "Seed 'a' in seeds counts 'aid' 2.15e+09 times"),
        ({"a": {"weights": {"aid": 1e308, "Aid": 1e308}}}, "counts 'aid' inf times"),
        (None, "seeds is None. Use a dict"),
        (7, "seeds is 7. Use a dict"),
        (["aid", "ab"], "Item 0 of seeds is 'aid', not a pair of a name"),
        ([("a", "b", "c")], "Item 0 of seeds is a tuple, not a pair of a name"),
        (pd.DataFrame({"name": ["a"]}), "Item 0 of seeds is 'name', not a pair of a name"),
        (coterie.GSDMM(), "seeds is a GSDMM that is not fitted"),
        ("no such file.yaml", "There is no file 'no such file.yaml' for seeds"),
        ("a text\0", "There is no file 'a text\\x00' for seeds"),
        ("long " * 10_000, "There is no file 'long long"),
    ],
)
def test_refused(source: Any, said: str) -> None:
    assert said in refusal(source)


def test_the_owner_is_named() -> None:
    assert "Seed 'a' in seeds of TSDPMM has no words" in refusal({"a": ""}, owner="seeds of TSDPMM")
    assert "repeat of seeds is -1" in refusal({"a": "aid"}, repeat=-1)
    assert "repeat of seeds is nan" in refusal({"a": "aid"}, repeat=math.nan)


# ---------------------------------------------------------------- unknown words
def test_unknown_words_enter_nothing_and_are_said() -> None:
    found = encoded(
        {
            "a": ["Helicopter", "rescue", "boat trip", "rescue boat", "the", "Helicopter"],
            "b": "aid, Aid and blankets by the thousand, blankets",
            "c": {"aid": 1, "flood": 2, "": 3},
        }
    )
    assert counted(found) == {"a": {"rescue": 20}, "b": {"aid": 20}, "c": {"aid": 1}}
    assert found.unknown == (
        ("Helicopter", "boat trip", "boat", "the"),
        ("and", "blankets", "by", "the", "thousand"),
        ("flood",),
    )
    assert found.left_out == ()


def test_a_seed_that_the_corpus_does_not_know() -> None:
    said = refusal({"a": "aid", "b\x1b": ["boat", "ship", "sail", "oar"]})
    assert r"Seed 'b\x1b' in seeds has no word that occurs in the corpus ('boat', 'ship'," in said
    assert "('!!')" in refusal({"b": "!!", "c": "aid"})


def test_the_arrays() -> None:
    found = encoded({"a": "team rescue", "b": "aid"})
    kinds = [array.dtype for array in (found.weight, found.ptr, found.word, found.count)]
    assert kinds == [np.float64, np.int64, np.int32, np.float64]
    assert found.ptr.tolist() == [0, 2, 3]
    assert found.word.tolist() == [5, 7, 0]


amounts = st.floats(0, 1e6)
texts = st.lists(st.sampled_from([*WORDS, "boat", "Aid", "!"]), max_size=6)
a_seed = st.fixed_dictionaries(
    {},
    optional={
        "words": texts,
        "text": texts.map(" ".join),
        "examples": st.lists(texts, max_size=3),
        "weights": st.dictionaries(st.sampled_from([*WORDS, "boat"]), amounts),
        "repeat": st.floats(0.1, 20),
    },
)


@given(st.dictionaries(st.text(min_size=1), a_seed, min_size=1, max_size=4))
def test_totals_add_up(source: dict[str, dict[str, Any]]) -> None:
    """Every part counted by hand, word by word."""
    by_hand: dict[str, Counter[str]] = {}
    for name, spec in source.items():
        hand = by_hand.setdefault(name, Counter())
        times = spec.get("repeat", 10)
        for word in spec.get("words", []):
            for part in [word] if word in WORDS else split_text(word):
                hand[part] += times
        for part in split_text(spec.get("text", "")):
            hand[part] += times
        hand.update(word for example in spec.get("examples", []) for word in example)
        for word, weight in spec.get("weights", {}).items():
            hand[word] += weight
        by_hand[name] = Counter({w: n for w, n in hand.items() if w in WORDS and n > 0})
    try:
        found = encoded(source)
    except InvalidInput as error:
        sentence(error)
        assert not all(by_hand.values()) or not all(map(str.strip, by_hand))
        return
    assert list(counted(found)) == list(by_hand)
    for name, hand in counted(found).items():
        assert hand == pytest.approx(dict(by_hand[name]))


@given(st.text(min_size=1), st.text(), st.text())
def test_any_name_and_any_words(name: str, word: str, text: str) -> None:
    """Whatever is in them: taken as it is, or refused in a sentence that can be printed."""
    try:
        found = encoded({name: {"words": [word, "aid"], "text": text}})
    except InvalidInput as error:
        said = sentence(error)
        assert said.isprintable()
        assert not name.strip()
    else:
        assert found.names == (name,)
    with pytest.raises(InvalidInput) as caught:
        seeds.read({name: {word: -1.0}})
    assert sentence(caught.value).isprintable()


# ---------------------------------------------------------------- a bare matrix
def test_columns() -> None:
    source = {"a": [3, 1], "b": {2: 0.5, 9: 1}, "c": [[0, 0, 1]], "d": {"words": ["1"]}}
    found = seeds.read(source).encode(None, split_text, n_words=4)
    assert counted(found, None) == {
        "a": {1: 10, 3: 10},
        "b": {2: 0.5},
        "c": {0: 2, 1: 1},
        "d": {1: 10},
    }
    assert found.unknown == ((), ("9",), (), ())


@pytest.mark.parametrize("value", ["1 2", ["aid"], {"aid": 1}, [["aid"]]], ids=repr)
def test_words_for_a_bare_matrix(value: Any) -> None:
    given = seeds.read({"ok": [1], "it": value})
    with pytest.raises(
        InvalidInput, match=r"^Seed 'it' in seeds contains .*, but the corpus is a matrix"
    ):
        given.encode(None, split_text, n_words=4)


def test_a_column_that_is_not_there() -> None:
    for column in (4, -1, 10**30):
        with pytest.raises(InvalidInput, match="no word that occurs in the corpus"):
            seeds.read({"a": [column]}).encode(None, split_text, n_words=4)


def test_numbers_are_words_of_texts() -> None:
    assert counted(seeds.read({"a": [2020]}).encode(["2020"], split_text), ["2020"])["a"] == {
        "2020": 10
    }


# ---------------------------------------------------------------- models
TEXTS = ["rescue team aid", "rescue team", "rescue aid", "bridge road", "road bridge road"] * 3


@pytest.fixture(scope="module")
def fitted() -> coterie.GSDMM:
    return coterie.GSDMM(4, n_sweeps=20, random_state=3, beta=0.1).fit(TEXTS)


def clusters_of(model: Model) -> list[dict[str, float]]:
    """Each cluster's words, counted from the frozen model the slow way."""
    dense = model.word_cluster.toarray() * model.urn.words.unit
    return [
        {model.words[w]: dense[w, k] for w in np.flatnonzero(dense[:, k])}
        for k in range(model.n_clusters)
    ]


def test_a_fitted_model(fitted: coterie.GSDMM, tmp_path: Path) -> None:
    fitted.save(tmp_path / "day1")
    given = seeds.read(fitted, weight=2)
    assert given.weight.tolist() == [2.0] * fitted.n_clusters_
    top = [" · ".join(w for w, _ in row[:3]) for row in fitted.top_words(3, by="distinct")]
    assert list(given.names) == top
    found = given.encode(WORDS, split_text)
    assert [list(row.items()) for row in counted(found).values()] == [
        sorted(row.items()) for row in clusters_of(fitted.model_)
    ]
    for same in (fitted.model_, tmp_path / "day1", str(tmp_path / "day1")):
        again = seeds.read(same, weight=2)
        assert again.names == given.names
        assert counted(again.encode(WORDS, split_text)) == counted(found)


def test_fractional_units(fitted: coterie.GSDMM) -> None:
    model = fitted.model_
    half = Model(changed(model.urn, unit=0.5), model.frozen, model.words)
    whole, halves = (counted(seeds.read(m).encode(WORDS, split_text)) for m in (model, half))
    assert list(halves.values()) == [{w: n / 2 for w, n in row.items()} for row in whole.values()]


def test_a_clustering_and_its_folder(tmp_path: Path) -> None:
    texts = [
        f"the {a} {b} was there" for a in ("rescue", "bridge") for b in ("aid", "team", "road")
    ]
    groups = coterie.cluster(texts * 3, language="en")
    groups.save(tmp_path / "g.coterie")
    expected = tuple(groups.names)
    assert seeds.read(groups).names == expected
    assert seeds.read(tmp_path / "g.coterie").names == expected, "dull words left out there too"


def test_a_seeded_model_keeps_its_names(fitted: coterie.GSDMM) -> None:
    model = fitted.model_
    plain = seeds.read(model).names
    known = SeedClusters((plain[1],), np.array([0]), ((),))
    again = seeds.read(Model(model.urn, model.frozen, model.words, known)).names
    assert again[0] == plain[1]
    assert again[1] != plain[1], "made unique"
    assert again[1].startswith(plain[1])
    named = SimpleNamespace(
        model=Model(model.urn, model.frozen, model.words, known), names=["x"] * 9
    )
    assert seeds.read(named).names[:2] == (plain[1], "x")
    assert len(set(seeds.read(named).names)) == model.n_clusters


def test_topics_that_are_gone(fitted: coterie.GSDMM) -> None:
    given = seeds.read(fitted)
    found = given.encode(["road", "river"], split_text)
    kept = [k for k, row in enumerate(clusters_of(fitted.model_)) if "road" in row]
    assert 0 < len(kept) < len(given)
    assert found.names == tuple(given.names[k] for k in kept)
    assert set(found.left_out) == set(given.names) - set(found.names)
    assert len(found.unknown) == len(found.weight) == len(kept) == found.ptr.size - 1
    assert "bridge" in found.unknown[0]
    with pytest.raises(InvalidInput, match="shares no word with the corpus") as caught:
        given.encode(["river", "boat"], split_text)
    sentence(caught.value)


def test_words_of_a_model_are_cut_where_they_are_not_known(fitted: coterie.GSDMM) -> None:
    model = fitted.model_
    shouted = Model(model.urn, model.frozen, [word.upper() for word in model.words])
    found = seeds.read(shouted).encode(WORDS, split_text)
    assert list(counted(found).values()) == list(
        counted(seeds.read(model).encode(WORDS, split_text)).values()
    )


def test_models_of_bare_matrices(fitted: coterie.GSDMM) -> None:
    X = count_texts(TEXTS, WORDS)[0]
    bare = seeds.read(coterie.GSDMM(4, n_sweeps=5, random_state=1).fit(X))
    found = bare.encode(None, split_text, n_words=len(WORDS))
    assert sum(found.count) == X.sum()
    with pytest.raises(InvalidInput, match="fitted on a matrix without a vocabulary"):
        bare.encode(WORDS, split_text)
    unused = coterie.GSDMM(4, n_sweeps=5, random_state=1).fit(X, vocabulary=WORDS)
    assert "dead" not in " ".join(TEXTS)
    for model in (fitted, unused):
        with pytest.raises(InvalidInput, match="the corpus is a matrix without a vocabulary"):
            seeds.read(model).encode(None, split_text, n_words=8)


def test_a_model_without_clusters() -> None:
    nothing = np.zeros(0, np.int64)
    urn = process(1.0, per_word(0.1, 2))
    empty = np.zeros(0, np.int32)
    model = Model.make(urn, nothing, nothing, np.zeros(3, np.int64), empty, empty, ["a", "b"])
    with pytest.raises(InvalidInput, match="has no clusters"):
        seeds.read(model)
