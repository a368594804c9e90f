"""cluster(): the user's rows come back labelled, its answers agree with each other, and it survives."""

import hashlib
import html
import json
import math
import os
import random
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from report_data import HOSTILE
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import coterie
from coterie import Clustering, Tokenizer, fitting
from coterie.errors import CoterieError, InvalidInput, ModelFileError
from coterie.report.html import MOST_BYTES

SUBJECTS = (
    "oven bread dough flour recipe yeast bake crust",
    "bike ride gear wheel chain brake saddle pedal",
    "python code bug test compile error loop stack",
)
NEW = [
    "a recipe for bread",
    "the brake of my bike",
    "bread and brake",
    "zzz",
    "",
    "bug bug bug bug",
]
ADDED = ["cluster", "name", "probability", "outlier_score", "trust"]
SOURCES = Path(coterie.__file__).parent


def sentences(n: int = 60, seed: int = 3) -> list[str]:
    """English sentences about three subjects, in turn."""
    draw = random.Random(seed)
    words = [subject.split() for subject in SUBJECTS]
    return [
        "the {} and the {} with {} of {}".format(*draw.sample(words[i % 3], 4)) for i in range(n)
    ]


TEXTS = sentences()
MIXED = [*TEXTS, None, "", "  \t\n", "!!! ???", *TEXTS[:5]]  # rows 60 to 63 hold no word


@pytest.fixture(scope="module")
def groups() -> Clustering:
    return coterie.cluster(TEXTS)


@pytest.fixture(scope="module")
def mixed() -> Clustering:
    return coterie.cluster(MIXED)


@pytest.fixture(scope="module")
def muddle() -> Clustering:
    """Clusters that overlap: two of five words belong to any subject."""
    draw = random.Random(1)
    words = " ".join(SUBJECTS).split()
    texts = [
        " ".join(draw.choices(words, k=2) + draw.sample(SUBJECTS[i % 3].split(), 3))
        for i in range(150)
    ]
    return coterie.cluster(texts, max_clusters=12, levels=False)


def refused(call: Callable[[], Any], *parts: str, error: type[Exception] = InvalidInput) -> str:
    """The one sentence with which a call is refused; it must hold these parts."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    for part in parts:
        assert part in message
    return message


def same(one: Clustering, other: Clustering) -> None:
    """Both clusterings give the same answers to every question."""
    np.testing.assert_array_equal(one.labels, other.labels)
    assert_frame_equal(pl.DataFrame(one.table), pl.DataFrame(other.table))
    assert_frame_equal(one.clusters, other.clusters)
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    np.testing.assert_array_equal(one.predict_proba(NEW), other.predict_proba(NEW))
    assert one.explain(0) == other.explain(0)
    assert one.explain(NEW[0]) == other.explain(NEW[0])
    assert one.summary() == other.summary()
    assert one.settings == other.settings
    one_line, other_line = ([line._replace(seconds=0.0) for line in g.trace] for g in (one, other))
    assert one_line == other_line  # but for the time
    assert one.trace.notes == other.trace.notes
    for k in range(one.n_clusters):
        assert one.representatives(k, 10) == other.representatives(k, 10)


# ---------------------------------------------------------------- the table
def test_a_list_gives_a_polars_table(groups: Clustering) -> None:
    assert isinstance(groups.table, pl.DataFrame)
    assert groups.table.columns == ["text", *ADDED]
    assert groups.table.dtypes == [pl.String, pl.Int64, pl.String, *[pl.Float64] * 3]
    assert groups.table["text"].to_list() == TEXTS
    assert groups.table["cluster"].to_list() == groups.labels.tolist()


def test_the_three_subjects_are_found(groups: Clustering) -> None:
    assert groups.n_clusters == 3
    assert [len(set(groups.labels[i::3])) for i in range(3)] == [1, 1, 1]


def test_pandas_stays_pandas_with_its_index_columns_and_order() -> None:
    frame = pd.DataFrame(
        {"when": range(60), "body": TEXTS, "who": ["x", None] * 30},
        index=pd.Index([f"r{i}" for i in range(60)][::-1], name="key"),
    )
    before = frame.copy()
    table = coterie.cluster(frame, text="body").table
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["when", "body", "who", *ADDED]
    pd.testing.assert_frame_equal(table[["when", "body", "who"]], before)
    pd.testing.assert_frame_equal(frame, before)


def test_a_pandas_series_keeps_its_index_and_name() -> None:
    series = pd.Series(TEXTS, index=range(100, 160), name="body")
    table = coterie.cluster(series).table
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["body", *ADDED]
    assert list(table.index) == list(range(100, 160))


@pytest.mark.parametrize(
    "make", [pl.DataFrame, pl.LazyFrame, lambda columns: pl.Series("body", TEXTS)]
)
def test_polars_stays_polars(make: Any) -> None:
    table = coterie.cluster(make({"body": TEXTS, "n": range(60)}), text="body").table
    assert isinstance(table, pl.DataFrame)
    assert table.columns[-5:] == ADDED
    assert table["body"].to_list() == TEXTS


def test_pyarrow_stays_pyarrow() -> None:
    import pyarrow as pa

    table = coterie.cluster(pa.table({"body": TEXTS, "n": range(60)}), text="body").table
    assert isinstance(table, pa.Table)
    assert table.column_names == ["body", "n", *ADDED]


def test_a_csv_file_gives_its_columns_and_the_same_clusters(
    groups: Clustering, tmp_path: Path
) -> None:
    path = tmp_path / "posts.csv"
    pl.DataFrame({"id": range(60), "body": TEXTS, "stars": [5, None] * 30}).write_csv(path)
    found = coterie.cluster(path)
    assert found.table.columns == ["id", "body", "stars", *ADDED]
    assert found.table["stars"].to_list() == [5, None] * 30
    np.testing.assert_array_equal(found.labels, groups.labels)
    assert any("'body'" in note for note in found.notes)  # the column was guessed, and it says so


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_of_the_users_is_never_overwritten(kind: Any) -> None:
    found = coterie.cluster(kind({"body": TEXTS, "cluster": ["mine"] * 60}), text="body")
    table = found.table
    assert list(table.columns) == ["body", "cluster", *(f"coterie_{name}" for name in ADDED)]
    assert list(table["cluster"]) == ["mine"] * 60
    assert "coterie_cluster" in found.summary()


def test_columns_of_pandas_need_not_be_named_by_strings(tmp_path: Path) -> None:
    found = coterie.cluster(pd.DataFrame({0: TEXTS, 1: range(60)}))
    assert list(found.table.columns) == [0, 1, *ADDED]
    found.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").labels, found.labels)


# ---------------------------------------------------------------- the clusters
def test_the_clusters_table(mixed: Clustering) -> None:
    clusters = mixed.clusters
    assert clusters.columns == [
        "cluster",
        "name",
        "size",
        "share",
        "words",
        "coherence",
        "trust",
        "examples",
    ]
    assert clusters["cluster"].to_list() == list(range(mixed.n_clusters))
    counted = np.bincount(mixed.labels[mixed.labels >= 0], minlength=mixed.n_clusters)
    assert clusters["size"].to_list() == counted.tolist() == sorted(counted, reverse=True)
    assert clusters["share"].sum() == pytest.approx(1)
    assert clusters["words"].list.len().is_between(1, 10).all()
    assert clusters["examples"].list.len().to_list() == [3, 3, 3]
    for row in clusters.iter_rows(named=True):
        of_cluster = mixed.table.filter(mixed.table["cluster"] == row["cluster"])["text"]
        assert of_cluster.str.contains(rf"\b{row['name']}\b").any()
        assert row["name"].split(" ")[0] in " ".join(SUBJECTS)
        for example in row["examples"]:
            assert mixed.predict([example]) == [row["cluster"]]


def test_representatives_are_distinct_and_in_the_cluster(muddle: Clustering) -> None:
    for k in range(muddle.n_clusters):
        rows = muddle.representatives(k, 1000)
        assert all(type(row) is int for row in rows)
        assert set(rows) <= set(np.flatnonzero(muddle.labels == k).tolist())
        bags = [tuple(sorted(muddle.rows.texts[row].split())) for row in rows]
        assert len(set(bags)) == len(bags) > 0
        assert muddle.representatives(k, 2) == rows[:2]
        assert muddle.representatives(k, 0) == []


@pytest.mark.parametrize("tie", [True, False])
def test_examples_are_not_the_same_text_thrice(tie: bool) -> None:
    found = coterie.cluster([*TEXTS, *["oven bread dough flour"] * 20], tie_duplicates=tie)
    for examples in found.clusters["examples"]:
        assert len(set(examples)) == len(examples)


@pytest.mark.parametrize("cluster", [-1, 3, 10**9])
def test_a_cluster_that_is_not_there(groups: Clustering, cluster: int) -> None:
    refused(lambda: groups.representatives(cluster), str(cluster), "0 to 2")


def test_identical_texts_are_in_one_cluster(any_seed: int) -> None:
    texts = TEXTS + [" ".join(reversed(text.split())) for text in TEXTS] + ["bread bike code"] * 40
    found = coterie.cluster(texts, random_state=any_seed)
    np.testing.assert_array_equal(found.labels[:60], found.labels[60:120])
    assert len(set(found.labels[120:])) == 1
    assert found.corpus.counts.weight.max() == 40


def test_names_are_unique_and_hold_no_stop_words(muddle: Clustering) -> None:
    for found in (muddle, coterie.cluster(TEXTS, beta=0.001)):
        assert len(set(found.names)) == found.n_clusters
        assert all(found.names)
        for name in found.names:
            words = name.split(" ")
            assert not {"the", "and", "with", "of"} & {words[0], words[-1]}


def test_names_are_unique_even_where_the_words_are_the_same() -> None:
    rich = ["apple " * 20 + "pear " * i for i in (1, 2)] * 5
    even = ["apple " * 12 + "pear " * i for i in (8, 9)] * 5
    other = ["pear " * 30] * 12
    found = coterie.cluster(rich + even + other, beta=0.2, embedder=None)
    assert found.n_clusters == 3
    assert len(set(found.names)) == 3


def test_names_hold_no_stop_words_in_capitals_either() -> None:
    capitals = [text.title() for text in TEXTS]
    found = coterie.cluster(capitals, tokenizer=Tokenizer(language="en", lowercase=False))
    ends = {name.split(" ")[i] for name in found.names for i in (0, -1)}
    assert not {"The", "And", "With", "Of"} & ends


def test_a_cluster_of_stop_words_alone_still_has_a_name() -> None:
    found = coterie.cluster(["the and of"] * 3, language="en")
    assert found.names == ["the and of"]


def test_coherence_is_a_number_or_not_known(mixed: Clustering) -> None:
    assert all(-1 <= value <= 1 for value in mixed.coherence)
    alone = coterie.cluster(["hello"] * 3)
    assert math.isnan(alone.clusters["coherence"][0])
    assert "NaN" not in alone._repr_html_()


# ---------------------------------------------------------------- labels, probabilities, predict
def test_labels_are_what_predict_says(groups: Clustering, mixed: Clustering) -> None:
    assert groups.agreement == mixed.agreement == 1.0
    np.testing.assert_array_equal(groups.predict(TEXTS), groups.labels)
    np.testing.assert_array_equal(mixed.predict(MIXED), mixed.labels)
    assert groups.labels.dtype == groups.predict(NEW).dtype == np.int64


def test_the_share_that_agrees_is_reported(
    muddle: Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "PASSES", 0)  # nothing is settled
    texts = [*muddle.rows.texts, *["bread bike"] * 30]
    raw = coterie.cluster(texts, max_clusters=12, n_sweeps=1, levels=False)
    assert raw.agreement == pytest.approx((raw.predict(texts) == raw.labels).mean())
    assert raw.agreement < 1


def test_probability_is_the_largest_of_predict_proba(muddle: Clustering) -> None:
    proba = muddle.predict_proba(muddle.rows.texts)
    assert proba.shape == (150, muddle.n_clusters)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(muddle.probability, proba.max(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(proba.argmax(axis=1), muddle.predict(muddle.rows.texts))
    assert muddle.probability.min() < 0.9  # or it would not be much of a test


def test_one_by_one_is_as_in_bulk(muddle: Clustering) -> None:
    texts = [*muddle.rows.texts[:40], *NEW]
    np.testing.assert_array_equal(
        muddle.predict(texts), np.concatenate([muddle.predict([t]) for t in texts])
    )
    np.testing.assert_array_equal(
        muddle.predict_proba(texts), np.concatenate([muddle.predict_proba([t]) for t in texts])
    )


def test_what_has_no_known_word_belongs_nowhere(mixed: Clustering) -> None:
    unknown = ["zzz", "", "   ", "!!!", None]
    assert mixed.predict(unknown).tolist() == [-1] * 5
    assert not mixed.predict_proba(unknown).any()
    assert mixed.labels[60:64].tolist() == [-1] * 4
    assert mixed.probability[60:64].tolist() == [0.0] * 4
    assert np.isnan(mixed.outlier_score[60:64]).all()
    assert np.isfinite(np.delete(mixed.outlier_score, range(60, 64))).all()
    assert "4 without words" in mixed.summary()
    assert "3 rows without text" in mixed.summary()


def test_predict_takes_the_columns_that_cluster_takes(groups: Clustering) -> None:
    expected = groups.predict(["bread flour", ""]).tolist()
    for column in (
        ("bread flour", None),
        np.array(["bread flour", ""]),
        pl.Series(["bread flour", None]),
        pd.Series(["bread flour", math.nan]),
        pd.Series(["bread flour", None], dtype=object),
        pd.Series(["bread flour", pd.NA], dtype="string"),
        ["bread flour", math.nan],
    ):
        assert groups.predict(column).tolist() == expected


def test_predict_of_nothing(groups: Clustering) -> None:
    assert groups.predict([]).shape == (0,)
    assert groups.predict_proba([]).shape == (0, 3)


@pytest.mark.parametrize(
    "texts",
    [
        "bread",
        b"bytes",
        [1],
        [["bread"]],
        7,
        pd.DataFrame({"a": ["bread"]}),
        pl.DataFrame({"a": ["b"]}),
    ],
)
def test_predict_refuses_what_is_no_list_of_texts(groups: Clustering, texts: Any) -> None:
    refused(lambda: groups.predict(texts))
    refused(lambda: groups.predict_proba(texts))


# ---------------------------------------------------------------- explain
def test_the_parts_of_an_explanation_add_up_to_the_log_ratio(muddle: Clustering) -> None:
    for row in range(0, 150, 7):
        why = muddle.explain(row)
        chances = muddle.predict_proba([muddle.rows.texts[row]])[0]
        first, second = np.argsort(-chances, kind="stable")[:2]
        assert (why.cluster, why.runner_up) == (first, second)
        assert why.cluster == muddle.predict([muddle.rows.texts[row]])[0]
        ratio = math.log(chances[first] / chances[second])
        assert why.total == pytest.approx(ratio, abs=1e-9)
        parts = sum(value for _, value in why.words) + why.sizes + why.vector
        assert parts == pytest.approx(ratio, abs=1e-9)
        assert {word for word, _ in why.words} == set(muddle.rows.texts[row].split())
        strength = [abs(value) for _, value in why.words]
        assert strength == sorted(strength, reverse=True)


def test_a_new_text_is_explained_by_the_words_that_are_known(muddle: Clustering) -> None:
    text = "bread zzz bread oven bike"
    why = muddle.explain(text)
    chances = np.sort(muddle.predict_proba([text])[0])
    assert {word for word, _ in why.words} == {"bread", "oven", "bike"}
    assert why.total == pytest.approx(math.log(chances[-1] / chances[-2]), abs=1e-9)
    assert dict(why.words)["bread"] > dict(why.words)["bike"]


def test_an_explanation_reads_well(groups: Clustering) -> None:
    said = str(groups.explain(0)).splitlines()
    assert said[0].startswith(f"cluster {groups.labels[0]} rather than ")
    known = set(TEXTS[0].split()) & set(groups.vectorizer.words)
    assert len(said) == 3 + len(known)  # the cluster, the words, the vector and the sizes


def test_what_cannot_be_explained(mixed: Clustering) -> None:
    refused(lambda: mixed.explain(62), "Row 62", "no word")
    refused(lambda: mixed.explain("zzz"), "no word")
    refused(lambda: mixed.explain(len(MIXED)), f"0 to {len(MIXED) - 1}")
    refused(lambda: mixed.explain(1.5), "1.5")  # type: ignore[arg-type]
    assert mixed.explain(np.int64(3)) == mixed.explain(3)
    assert mixed.explain(-1) == mixed.explain(len(MIXED) - 1)


# ---------------------------------------------------------------- what it says
def test_the_summary_says_what_was_chosen_and_how_to_get_fewer_or_more(mixed: Clustering) -> None:
    said = mixed.summary()
    assert "69 texts in 3 clusters" in said
    for chosen in ("64", "alpha", "beta", "0.1", "sweeps", str(len(mixed.trace))):  # 64: the cap
        assert chosen in said
    assert "For fewer or more clusters, use at(n)" in said
    assert "English" in said
    assert repr(mixed) == "Clustering(69 texts, 3 clusters)"


def test_the_settings_say_why() -> None:
    asked = coterie.cluster(TEXTS, max_clusters=7, alpha=0.5, beta=0.2, n_sweeps=2, random_state=9)
    values = {setting.name: (setting.value, setting.why) for setting in asked.settings}
    assert values["maximum clusters"][0] == "7"
    assert (values["alpha"][0], values["beta"][0], values["seed"][0]) == ("0.5", "0.2", "9")
    assert values["sweeps"][0] == "2"
    assert "as many as allowed" in values["sweeps"][1]


def test_a_run_cut_short_does_not_claim_to_have_settled() -> None:
    short = coterie.cluster(TEXTS, max_time=1e-9)
    why = next(setting.why for setting in short.settings if setting.name == "sweeps")
    assert not short.converged
    assert "nothing improved" not in why


def test_it_says_when_the_cap_was_reached(groups: Clustering) -> None:
    assert "raise max_clusters" in coterie.cluster(TEXTS, max_clusters=2).summary()
    assert "raise max_clusters" not in groups.summary()


def test_callbacks_are_called_after_every_sweep() -> None:
    events: list[Any] = []
    found = coterie.cluster(TEXTS, callbacks=[events.append])
    assert len(events) == len(found.trace)


# ---------------------------------------------------------------- determinism
def test_the_same_seed_gives_the_same_clusters(any_seed: int) -> None:
    same(
        coterie.cluster(TEXTS, random_state=any_seed), coterie.cluster(TEXTS, random_state=any_seed)
    )


def test_threads_and_kinds_of_data_change_nothing(muddle: Clustering) -> None:
    texts = muddle.rows.texts
    for data in (tuple(texts), pd.Series(texts), np.array(texts, dtype=object)):
        again = coterie.cluster(data, max_clusters=12, n_jobs=2, levels=False)
        np.testing.assert_array_equal(again.labels, muddle.labels)
        np.testing.assert_array_equal(again.probability, muddle.probability)


OTHER_PROCESS = """
import json, sys
import coterie
folder, texts = sys.argv[1], json.load(sys.stdin)
found, loaded = coterie.cluster(texts), coterie.load(folder)
for groups in (found, loaded):
    print(json.dumps([groups.labels.tolist(), groups.probability.tolist(), groups.names,
                      groups.predict_proba(texts[:9]).tolist(), str(groups.explain(3))]))
"""


def test_another_process_finds_the_same_and_opens_the_model(
    mixed: Clustering, tmp_path: Path
) -> None:
    mixed.save(tmp_path / "model")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", OTHER_PROCESS, str(tmp_path / "model")],
        input=json.dumps(MIXED),
        env=os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": str(SOURCES.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    here = [
        mixed.labels.tolist(),
        mixed.probability.tolist(),
        mixed.names,
        mixed.predict_proba(MIXED[:9]).tolist(),
        str(mixed.explain(3)),
    ]
    assert [json.loads(line) for line in run.stdout.splitlines()] == [here, here]


# ---------------------------------------------------------------- save and load
def test_what_is_saved_comes_back(mixed: Clustering, tmp_path: Path) -> None:
    """The report too, byte for byte; and what was loaded can be saved again."""
    mixed.save(tmp_path / "one")
    loaded = coterie.load(tmp_path / "one")
    assert isinstance(loaded, Clustering)
    same(mixed, loaded)
    loaded.save(tmp_path / "two")
    again = coterie.load(tmp_path / "two")
    same(mixed, again)
    pages = [g.report(tmp_path / f"{i}.html").read_bytes() for i, g in enumerate((mixed, again))]
    assert pages[0] == pages[1]
    loaded.save(tmp_path / "one")  # over itself
    same(mixed, coterie.load(tmp_path / "one"))


def test_texts_are_not_tied_behind_ones_back(tmp_path: Path) -> None:
    """tie_duplicates=False is remembered: scores and examples are the same after load."""
    found = coterie.cluster([*TEXTS, *TEXTS[:9]], tie_duplicates=False)
    found.save(tmp_path / "model")
    same(found, coterie.load(tmp_path / "model"))


def test_the_users_columns_come_back(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(60)],
            "body": [*TEXTS[:58], None, "  "],
            "stars": pl.Series([1, None] * 30, dtype=pl.Int8),
            "kind": pl.Series(["a", "b"] * 30, dtype=pl.Categorical),
            "day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 29), eager=True),
            "tags": [["x", "y"]] * 60,
        }
    )
    found = coterie.cluster(frame, text="body")
    found.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    assert_frame_equal(loaded.table.select(frame.columns), frame)
    assert loaded.rows.ids == found.rows.ids == frame["id"].to_list()
    same(found, loaded)


def test_a_pandas_table_comes_back_in_values(tmp_path: Path) -> None:
    odd = [object() for _ in range(60)]  # no file holds these: left out
    found = coterie.cluster(pd.DataFrame({"n": range(60), "body": TEXTS, "odd": odd}), text="body")
    found.save(tmp_path / "model")
    table = coterie.load(tmp_path / "model").table
    assert list(table.columns) == ["n", "body", *ADDED]
    for name in ["n", "body", *ADDED]:
        assert table[name].to_list() == found.table[name].tolist()


def test_a_note_about_names_is_not_lost_or_doubled(tmp_path: Path) -> None:
    found = coterie.cluster(pl.DataFrame({"body": TEXTS, "cluster": range(60)}), text="body")
    found.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    assert loaded.table.columns == found.table.columns
    assert loaded.notes == found.notes
    assert len(set(loaded.notes)) == len(loaded.notes)


def test_no_question_changes_another_answer() -> None:
    """In whatever order they are asked: nothing sorts or rewrites the counts in place."""
    one, other = coterie.cluster(MIXED), coterie.cluster(MIXED)
    arrays = [part for part in one.corpus.counts if isinstance(part, np.ndarray)]
    before = [array.copy() for array in arrays]
    one.clusters, one._repr_html_(), one.plot(), one.explain(0)
    for array, kept in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, kept)
    np.testing.assert_array_equal(one.outlier_score, other.outlier_score)


def test_clusterings_can_be_compared(groups: Clustering, folder: Path) -> None:
    """Arrays have no truth; a clustering is equal to itself only."""
    assert groups != coterie.load(folder)
    assert groups in [coterie.load(folder), groups]


def test_models_of_estimators_still_load(tmp_path: Path) -> None:
    model = coterie.GSDMM(8, random_state=1).fit(TEXTS)
    model.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    assert type(loaded) is coterie.GSDMM
    np.testing.assert_array_equal(loaded.labels_, model.labels_)


@pytest.fixture
def folder(groups: Clustering, tmp_path: Path) -> Path:
    groups.save(tmp_path / "model")
    return tmp_path / "model"


def forge(folder: Path, change: Callable[[Any], Any], documents: bytes | None = None) -> None:
    """Change a model as an attacker would: every checksum is right afterwards."""
    about = json.loads((folder / "config.json").read_bytes())
    change(about)
    if documents is not None:
        (folder / "documents.parquet").write_bytes(documents)
        about["files"]["documents.parquet"] = hashlib.sha256(documents).hexdigest()
    rest = {key: value for key, value in about.items() if key != "checksum"}
    about["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(about))


def unchanged(about: Any) -> None:
    pass


def test_the_folder_is_plain_data(folder: Path) -> None:
    names = {
        "config.json",
        "arrays.safetensors",
        "vocabulary.txt",
        "trace.csv",
        "documents.parquet",
    }
    assert {path.name for path in folder.iterdir()} == names
    assert pl.read_parquet(folder / "documents.parquet")["text"].to_list() == TEXTS


@pytest.mark.parametrize("name", ["documents.parquet", "config.json", "vocabulary.txt"])
@pytest.mark.parametrize("damage", ["cut", "gone", "flipped"])
def test_a_damaged_file_is_named(folder: Path, name: str, damage: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "gone":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content[:-9] if damage == "cut" else content)
    refused(lambda: coterie.load(folder), name, error=ModelFileError)


def parquet(frame: pl.DataFrame, path: Path) -> bytes:
    frame.write_parquet(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "documents",
    [b"", b"PAR1", b"PAR1" * 9, b"not a parquet file", "halved", "flipped", "other", "few", "none"],
)
def test_forged_documents_are_refused(folder: Path, documents: Any, tmp_path: Path) -> None:
    good = (folder / "documents.parquet").read_bytes()
    if documents == "halved":
        documents = good[: len(good) // 2] + good[-8:]
    elif documents == "flipped":
        documents = good[:60] + bytes(255 - b for b in good[60:90]) + good[90:]
    elif documents == "other":
        documents = parquet(pl.DataFrame({"text": range(60)}), tmp_path / "x")
    elif documents == "few":
        documents = parquet(pl.DataFrame({"text": TEXTS[:9]}), tmp_path / "x")
    elif documents == "none":
        documents = parquet(pl.DataFrame({"body": TEXTS}), tmp_path / "x")
    forge(folder, unchanged, documents)
    refused(lambda: coterie.load(folder), str(folder / "documents.parquet"), error=ModelFileError)


def test_documents_left_out_are_missed(folder: Path) -> None:
    forge(folder, lambda about: about["files"].pop("documents.parquet"))
    refused(lambda: coterie.load(folder), str(folder / "documents.parquet"), error=ModelFileError)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("vectorizer", None),
        ("vectorizer", 5),
        ("vectorizer", {}),
        ("vectorizer", {"tokenizer": 5}),
        ("vectorizer", {"tokenizer": "en"}),
        ("vectorizer", {"tokenizer": [1]}),
        ("vectorizer", {"tokenizer": {"language": 3}}),
        ("vectorizer", {"tokenizer": {"language": "klingon"}}),
        ("vectorizer", {"tokenizer": {"ngrams": None}}),
        ("vectorizer", {"tokenizer": {"ngrams": ["a", "b"]}}),
        ("vectorizer", {"tokenizer": {"min_chars": "many"}}),
        ("vectorizer", {"tokenizer": {"stop_words": [1, "a"]}}),
        ("vectorizer", {"tokenizer": {"segmenter": "/bin/sh"}}),
        ("vectorizer", {"tokenizer": {"from_the_future": 1}}),
        ("notes", 5),
        ("settings", 5),
        ("settings", [["beta"]]),
        ("agreement", "all"),
        ("seconds", [1]),
        ("column", "nowhere"),
        ("ids", "nowhere"),
        ("ids", []),
    ],
)
def test_a_forged_config_is_refused(folder: Path, place: str, value: Any) -> None:
    forge(folder, lambda about: about["fitted"].update({place: value}))
    said = refused(lambda: coterie.load(folder), error=ModelFileError)
    assert str(folder / "config.json") in said or str(folder / "documents.parquet") in said


def test_a_model_of_a_newer_version(folder: Path) -> None:
    forge(folder, lambda about: about.update(schema=99, version="9.0"))
    refused(lambda: coterie.load(folder), "9.0", "upgrade", error=ModelFileError)


# ---------------------------------------------------------------- tokenizers
def test_a_count_vectorizer_in_the_tokenizers_place(tmp_path: Path) -> None:
    vectorizer = CountVectorizer(stop_words="english")
    found = coterie.cluster(TEXTS, tokenizer=vectorizer)
    assert found.n_clusters == 3
    assert found.agreement == 1.0
    np.testing.assert_array_equal(found.predict(TEXTS), found.labels)
    assert "CountVectorizer" in found.summary()
    assert {word for word, _ in found.explain("the bread of the oven").words} == {"bread", "oven"}
    page = found.report(tmp_path / "page.html").read_text("utf-8")
    assert "<mark" in page


def test_a_vectorizer_of_ones_own_is_asked_for_after_load(tmp_path: Path) -> None:
    """Opening a model runs no code, so the vectorizer is not in it; the labels are."""
    vectorizer = CountVectorizer()
    found = coterie.cluster([*MIXED[:60], ""], tokenizer=vectorizer)
    found.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.labels, found.labels)
    refused(lambda: loaded.predict(NEW), "vectorizer", "groups.vectorizer.foreign")
    loaded.vectorizer.foreign = vectorizer
    same(found, loaded)


def test_a_vectorizer_of_other_words_is_refused() -> None:
    """Its word numbers mean other words, or point past the end of every array."""
    found = coterie.cluster(TEXTS, tokenizer=CountVectorizer(stop_words="english"))
    names = found.vectorizer.words
    for others in (names[:9], names[::-1], [*names, *(f"more{i}" for i in range(10**5))]):
        found.vectorizer.foreign = CountVectorizer(vocabulary=others)
        refused(lambda: found.predict([others[-1]]), "vocabulary")  # noqa: B023
        refused(lambda: found.explain(others[-1]), "vocabulary")  # noqa: B023


def test_words_of_ones_own_vectorizer_do_not_steer_the_terminal() -> None:
    texts = [f"\x1b[31m{text} \u202egnp" for text in TEXTS]
    found = coterie.cluster(texts, tokenizer=CountVectorizer(token_pattern=r"\S+"))
    assert not re.search("[\x1b\u202e]", str(found.explain(0)) + found.summary() + repr(found))


def test_vectorizers_that_will_not_do() -> None:
    refused(lambda: coterie.cluster(TEXTS, tokenizer=str.split), "tokenizer", "CountVectorizer")
    refused(lambda: coterie.cluster(TEXTS, tokenizer=TfidfVectorizer()), "counts")
    refused(lambda: coterie.cluster(["!", "?"], tokenizer=CountVectorizer()), "no word")
    refused(
        lambda: coterie.cluster(["!", "?"], tokenizer=CountVectorizer(vocabulary=["aa"])), "no word"
    )


def test_a_tokenizer_of_ones_own_is_saved_with_the_model(tmp_path: Path) -> None:
    tokenizer = Tokenizer(language=None, stop_words=["the", "and"], ngrams=(1, 2), numbers="mark")
    found = coterie.cluster([text + " 1999" for text in TEXTS], tokenizer=tokenizer)
    assert "the" not in found.vectorizer.words
    assert "<number>" in found.vectorizer.words
    assert any(" " in word for word in found.vectorizer.words)
    np.testing.assert_array_equal(found.predict(["7 oven"]), found.predict(["1234 oven"]))
    found.save(tmp_path / "model")
    same(found, coterie.load(tmp_path / "model"))


def test_rare_and_common_words_are_left_out_and_said() -> None:
    texts = [f"{text} once{i}" for i, text in enumerate(TEXTS)]
    found = coterie.cluster(texts, tokenizer=Tokenizer(language="en"), min_df=2, max_df=0.9)
    assert not {"the", "and", "once1"} & set(found.vectorizer.words)
    assert "removed 60 that occur in only one text" in found.summary()
    assert "removed 4 that occur in more than 54 texts" in found.summary()
    assert found.predict(["once1 the and of"]).tolist() == [-1]


def test_an_empty_vocabulary_names_the_setting() -> None:
    refused(lambda: coterie.cluster(TEXTS, min_df=61), "min_df=61")
    refused(lambda: coterie.cluster(["oven bread"] * 9, max_df=0.5), "max_df")
    long = Tokenizer(min_chars=20)
    refused(lambda: coterie.cluster(TEXTS, tokenizer=long), "min_chars")
    stop = Tokenizer(stop_words=[word for subject in SUBJECTS for word in subject.split()])
    refused(lambda: coterie.cluster(["oven bread", "bike"], tokenizer=stop), "Stop words")


# ---------------------------------------------------------------- it survives
def check_whole(found: Clustering, n: int, tmp_path: Path) -> None:
    """Every question has an answer, also after save and load."""
    assert len(found.table) == len(found.labels) == n
    assert len(found.clusters) == found.n_clusters == len(found.names)
    assert found.labels.max() == found.n_clusters - 1
    assert found.summary()
    page = found.report(tmp_path / "page.html").read_text("utf-8")
    assert page.endswith(("</html>", "</html>\n"))
    assert found._repr_html_()
    assert "<svg" in found.plot().svg
    found.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.labels, found.labels)
    assert_frame_equal(loaded.clusters, found.clusters)


def missing(kind: str) -> Any:
    texts = [*TEXTS[:20], None, "", " ", "\u00a0\u3000\t\n"]
    return {
        "list": texts,
        "pandas": pd.Series(texts, dtype=object),
        "nan": pd.DataFrame({"text": [math.nan if t is None else t for t in texts]}),
        "NA": pd.DataFrame({"text": pd.Series(texts, dtype="string")}),
        "polars": pl.Series("text", texts),
    }[kind]


@pytest.mark.parametrize("kind", ["list", "pandas", "nan", "NA", "polars"])
def test_missing_texts_are_counted_and_belong_nowhere(kind: str, tmp_path: Path) -> None:
    found = coterie.cluster(missing(kind))
    assert found.labels[20:].tolist() == [-1] * 4
    assert (found.labels[:20] >= 0).all()
    assert "24 texts" in found.summary()
    assert "4 without words" in found.summary()
    check_whole(found, 24, tmp_path)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_a_few_rows(n: int, tmp_path: Path) -> None:
    check_whole(coterie.cluster(TEXTS[:n]), n, tmp_path)


def test_one_row_of_one_word(tmp_path: Path) -> None:
    found = coterie.cluster(["hello"])
    assert found.labels.tolist() == [0]
    assert found.probability.tolist() == [1.0]
    assert found.explain(0).total == 0.0
    check_whole(found, 1, tmp_path)


def test_all_rows_equal(tmp_path: Path) -> None:
    found = coterie.cluster(["the same old story"] * 50)
    assert found.n_clusters == 1
    assert found.clusters["size"].to_list() == [50]
    assert found.clusters["examples"].to_list() == [["the same old story"]]
    check_whole(found, 50, tmp_path)


def test_ten_texts_that_share_no_word(tmp_path: Path) -> None:
    check_whole(coterie.cluster([f"only{i} mine{i}" for i in range(10)]), 10, tmp_path)


@pytest.mark.parametrize("texts", [["", " ", None], ["", ""], [None], ["\n\n"]])
def test_only_empty_texts(texts: list[Any]) -> None:
    refused(lambda: coterie.cluster(texts), "nothing to cluster")


@pytest.mark.parametrize(
    "data", [[], (), pd.DataFrame({"text": []}), pl.Series("text", [], pl.String)]
)
def test_no_rows(data: Any) -> None:
    refused(lambda: coterie.cluster(data))


def test_texts_in_no_script(tmp_path: Path) -> None:
    refused(lambda: coterie.cluster(["😀😀 ✨", "→ ∞ ♫", "!!! ???"]), "word")
    found = coterie.cluster([*TEXTS, "😀😀 ✨", "→ ∞ ♫"])
    assert found.labels[60:].tolist() == [-1, -1]
    assert "2 without words" in found.summary()


def test_texts_in_a_script_nobody_asked_about(tmp_path: Path) -> None:
    """Gothic, cuneiform, Ogham and a private use area: words where there are letters."""
    texts = ["𐌰𐍄𐍄𐌰 𐌿𐌽𐍃𐌰𐍂", "𐌰𐍄𐍄𐌰 𐌸𐌿", "𒀀𒀁 𒀂𒀃", "𒀀𒀁", "ᚁᚂᚃ ᚄᚅ", "\ue000\ue001"] * 2
    found = coterie.cluster(texts)
    assert (found.labels.reshape(2, 6)[:, :5] >= 0).all()
    check_whole(found, 12, tmp_path)


def test_a_column_of_numbers() -> None:
    refused(lambda: coterie.cluster(pd.DataFrame({"n": [1, 2]}), text="n"), "'n'", "not texts")
    refused(lambda: coterie.cluster(pl.DataFrame({"n": [1.5, 2.5]})), "'n'")
    refused(lambda: coterie.cluster([1, 2]), "Item 0", "int")


def test_a_missing_column_lists_those_that_are_there() -> None:
    frame = pd.DataFrame({"body": TEXTS, "stars": 5})
    refused(lambda: coterie.cluster(frame, text="boddy"), "'boddy'", "'body'", "'stars'")
    refused(lambda: coterie.cluster(frame, text="body", id="nr"), "'nr'", "'body'", "'stars'")


def test_ids_that_occur_twice(tmp_path: Path) -> None:
    found = coterie.cluster(pl.DataFrame({"id": [1, 1, 2] * 20, "text": TEXTS}))
    assert "ids in the column 'id' are not unique (58 repeated)" in found.summary()
    check_whole(found, 60, tmp_path)


def test_a_cell_of_a_megabyte(tmp_path: Path) -> None:
    draw = random.Random(5)
    words = SUBJECTS[0].split()
    huge = " ".join(draw.choices(words, k=200_000))
    found = coterie.cluster([*TEXTS, huge])
    assert len(huge) > 1_000_000
    assert np.isfinite(found.probability).all()
    assert math.isfinite(found.explain(60).total)
    check_whole(found, 61, tmp_path)
    assert (tmp_path / "page.html").stat().st_size < 500_000
    one_word = coterie.cluster([*TEXTS, "a" * 1_000_000])
    assert one_word.report(tmp_path / "long.html").stat().st_size < MOST_BYTES


def test_a_report_to_a_place_that_cannot_be_written(groups: Clustering, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    for place in ("nowhere/page.html", "folder", "file/page.html"):
        path = tmp_path / place
        refused(lambda path=path: groups.report(path), str(path), "written", error=CoterieError)
        refused(
            lambda path=path: groups.plot().save(path), str(path), "written", error=CoterieError
        )
    assert {path.name for path in tmp_path.rglob("*")} == {"folder", "file"}
    assert (tmp_path / "file").read_text() == "mine"


def test_a_model_to_a_place_that_cannot_be_written(groups: Clustering, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("mine")
    for place in ("nowhere/model", "folder", "folder/thesis.txt", "folder/thesis.txt/model"):
        refused(
            lambda place=place: groups.save(tmp_path / place),
            str(tmp_path / place),
            error=ModelFileError,
        )
    assert {path.name for path in tmp_path.rglob("*")} == {"folder", "thesis.txt"}


@pytest.mark.skipif(os.name != "posix", reason="about rights of files")
def test_a_report_can_be_read_by_others_as_any_new_file(groups: Clustering, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    page = groups.report(tmp_path / "page.html")
    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


# ---------------------------------------------------------------- hostile texts
@pytest.fixture(scope="module")
def hostile() -> Clustering:
    texts = [f"{text} {odd}" for text, odd in zip(TEXTS, HOSTILE * 4, strict=False)]
    ids = [f"<b onclick=x>{i}" for i in range(60)]
    frame = pd.DataFrame({"<i>id": ids, "<script>": pd.Series(texts, dtype=object)})
    return coterie.cluster(frame, text="<script>", id="<i>id")


def test_hostile_texts_stay_texts(hostile: Clustering, tmp_path: Path) -> None:
    page = hostile.report(tmp_path / "page.html", title="<script>alert(1)</script>").read_text(
        "utf-8"
    )
    assert len(re.findall("<script", page)) == 2  # ours: the program, and the data
    for shown in (page, hostile._repr_html_(), hostile.plot().svg):
        assert not re.search(
            r"<(img|iframe|b|i|a)\b[^>]*(onerror|onclick|srcdoc|javascript)", shown
        )
        assert "<script>alert" not in shown
        assert not re.search(
            "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown
        )
        assert "\ud800" not in shown
    assert "&lt;script&gt;" in page
    assert "&lt;script&gt;" in hostile._repr_html_()


def test_hostile_texts_pass_through_every_question(hostile: Clustering, tmp_path: Path) -> None:
    assert hostile.agreement == 1.0
    np.testing.assert_array_equal(hostile.predict(hostile.rows.texts), hostile.labels)
    check_whole(hostile, 60, tmp_path)
    for name in hostile.names:
        assert not re.search("[<>\x00-\x1f]", name.replace("<url>", ""))


def test_half_a_character(tmp_path: Path) -> None:
    """JSON may hold halves of surrogate pairs; no file and no frame can."""
    texts = [*TEXTS, "oven bread \ud800 half", "bread\udc00oven"]
    found = coterie.cluster(texts)
    np.testing.assert_array_equal(found.predict(texts), found.labels)
    check_whole(found, 62, tmp_path)
    found.explain("bread \ud800")


# ---------------------------------------------------------------- report, picture, notebook
def test_the_report_is_one_page(groups: Clustering, tmp_path: Path) -> None:
    path = groups.report(str(tmp_path / "page.html"), title="My posts & more")
    assert path == tmp_path / "page.html"
    page = path.read_text("utf-8")
    assert "My posts &amp; more" in page
    for name in groups.names:
        assert html.escape(name) in page
    for setting in groups.settings:
        assert setting.why in html.unescape(page)
    assert not re.search(r"(src|href)=.https?:", page)
    groups.report(path)
    assert "My posts" not in path.read_text("utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_a_notebook_shows_the_clusters(groups: Clustering) -> None:
    shown = groups._repr_html_()
    assert "<table" in shown
    assert "<script" not in shown
    for name in groups.names:
        assert name in shown


def test_the_picture(groups: Clustering, tmp_path: Path) -> None:
    import xml.etree.ElementTree as ET

    picture = groups.plot()
    assert picture._repr_svg_() == picture.svg
    picture.save(tmp_path / "map.svg")
    root = ET.parse(tmp_path / "map.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{*}circle")) >= groups.n_clusters


# ---------------------------------------------------------------- wrong parameters
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", 0),
        ("n_clusters", -3),
        ("n_clusters", 2.0),
        ("n_clusters", "ten"),
        ("n_clusters", True),
        ("alpha", 0),
        ("alpha", -0.1),
        ("alpha", math.nan),
        ("alpha", math.inf),
        ("alpha", "auto"),
        ("alpha", None),
        ("beta", 0),
        ("beta", -1),
        ("beta", math.nan),
        ("beta", True),
        ("beta", [0.1]),
        ("n_sweeps", 0),
        ("n_sweeps", 1.5),
        ("n_sweeps", None),
        ("random_state", -1),
        ("random_state", 1.5),
        ("random_state", None),
        ("max_time", -1),
        ("max_time", math.nan),
        ("max_time", "1h"),
        ("n_jobs", "all"),
        ("n_jobs", 0),
        ("min_df", 0),
        ("min_df", -1),
        ("min_df", "few"),
        ("max_df", 1.5),
        ("max_df", None),
        ("language", "klingon"),
        ("callbacks", [3]),
        ("callbacks", print),
        ("tokenizer", "word"),
    ],
)
def test_a_wrong_parameter_is_named(name: str, value: Any) -> None:
    refused(lambda: coterie.cluster(TEXTS, **{name: value}), name)


def test_wrong_data() -> None:
    refused(lambda: coterie.cluster(TEXTS, text="body"), "text='body'", "list")
    refused(lambda: coterie.cluster(TEXTS, id="nr"), "id='nr'")
    refused(lambda: coterie.cluster({"a": 1}), "dict")
    refused(lambda: coterie.cluster(7), "int")
    refused(lambda: coterie.cluster("no/such/file.csv"), "no/such/file.csv", error=CoterieError)
