"""What each seed became: documents, words gained and lost, and a table that is safe to print."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie import counts, seeds
from coterie.errors import InvalidInput
from coterie.model import Model, SeedClusters
from coterie.seeds.report import NARROW, SHOWN, SeedReport, SeedRow, seed_report
from coterie.state import from_labels
from coterie.text.vocabulary import learn, split_text
from coterie.urns import changed, per_word, process

# Slots 0 to 2 are the seeds; the last two documents are in a cluster of nobody's.
DOCUMENTS = [
    *[["rescue", "team", "boat"]] * 3,
    ["rescue", "boat", "boat"],
    ["bridge", "road", "road"],
    *[["plant", "leak", "rescue"]] * 2,
]
LABELS = [0, 0, 0, 0, 1, 3, 3]
SEEDS = {
    "rescue": {"rescue": 4, "aid": 2, "team": 0.5, "dog": 1},
    "damage": {"bridge": 1.5, "road": 1},
    "trial": {"judge": 2, "jury": 1},
}
WORDS = ["aid", "judge", "jury"]  # known, though in no document


def model_of(
    source: Any = SEEDS, documents: Any = DOCUMENTS, labels: Any = LABELS, unit: float = 0.5
) -> Model:
    """A frozen model with these labels, counts in units as a fit with fractional seeds has them."""
    copies = round(1 / unit)
    (_, _), words = learn([*documents, WORDS], "a test")
    ptr = np.cumsum([0, *(copies * len(document) for document in documents)])
    ids = np.array([words.index(w) for d in documents for w in d for _ in range(copies)], np.int32)
    corpus = counts.from_ids(ptr, ids, len(words), "a test")
    found = seeds.read(source).encode(words, split_text)
    urn = changed(
        process(1.0, per_word(0.1, len(words))),
        unit=unit,
        seed_weight=found.weight,
        seed_ptr=found.ptr,
        seed_word=found.word,
        seed_count=np.round(found.count / unit).astype(np.int32),
    )
    state = from_labels(corpus.counts, urn, np.array(labels, np.int32))
    model, cluster_of = Model.freeze(urn, corpus.counts, state.assignment, words)
    cluster = cluster_of[: len(found.names)].astype(np.int64)
    return replace(model, seeds=SeedClusters(found.names, cluster, found.unknown))


@pytest.fixture(scope="module")
def model() -> Model:
    return model_of()


def ranked(bag: dict[str, float], everything: dict[str, float], n_words: int) -> list[str]:
    """phi ln(phi / p(word)) from plain dicts."""
    total, whole = sum(bag.values()) + 0.1 * n_words, sum(everything.values())

    def value(word: str) -> float:
        phi = (bag[word] + 0.1) / total
        return phi * math.log(phi / (max(everything.get(word, 0.0), 0.5) / whole))

    return sorted(bag, key=lambda word: -value(word))


def test_what_each_seed_became(model: Model) -> None:
    report = seed_report(model)
    rescue, damage, trial, new = report
    assert [row.name for row in report] == ["rescue", "damage", "trial", None]
    assert [row.status for row in report] == ["consistent", "consistent", "missing", "new"]
    assert [row.documents for row in report] == [4, 1, 0, 2]
    assert [row.cluster for row in report] == [*model.seeds.cluster, new.cluster]
    assert model.frozen.size[[row.cluster for row in report]].tolist() == [4, 1, 0, 2]

    assert set(rescue.before) == {"rescue", "aid", "team"}
    assert set(rescue.now) == {"rescue", "team", "boat"}
    assert rescue.gained == ("boat",)
    assert rescue.lost == ("aid",)
    assert rescue.unknown == ("dog",)

    assert set(damage.before) == set(damage.now) == {"bridge", "road"}
    assert damage.gained == damage.lost == damage.unknown == ()

    assert set(trial.before) == set(trial.lost) == {"judge", "jury"}
    assert trial.now == trial.gained == ()

    assert set(new.now) == {"plant", "leak", "rescue"}
    assert new.before == new.gained == new.lost == new.unknown == ()


def test_words_are_ranked_by_documents_alone(model: Model) -> None:
    everything = Counter(w for document in DOCUMENTS for w in document)
    n_words = len(model.words)
    rescue, damage, trial, new = seed_report(model)
    of = [Counter(w for d, k in zip(DOCUMENTS, LABELS, strict=True) if k == slot for w in d)
          for slot in (0, 1, 3)]  # fmt: skip
    assert list(rescue.now) == ranked(of[0], everything, n_words)
    assert list(damage.now) == ranked(of[1], everything, n_words)
    assert list(new.now) == ranked(of[2], everything, n_words)
    known = {word: n for word, n in SEEDS["rescue"].items() if word != "dog"}
    assert list(rescue.before) == ranked(known, everything, n_words)
    assert list(trial.before) == ["judge", "jury"]


def test_a_new_cluster_has_the_models_own_words() -> None:
    """Without pseudo-counts of weight, as `Model.top_words` ranks them."""
    model = model_of({"a": {"jury": 0.5}}, labels=[1, 1, 1, 1, 2, 3, 3])
    top = model.top_words(10, "distinct")
    for row in seed_report(model).new:
        assert row.now == tuple(model.words[w] for w, _ in top[row.cluster])


def test_a_few_words_only(model: Model) -> None:
    rescue = seed_report(model, n_words=1)[0]
    assert [len(words) for words in (rescue.before, rescue.now)] == [1, 1]
    assert set(rescue.lost) <= set(rescue.before)
    assert set(rescue.gained) <= set(rescue.now)


def test_a_gained_word_is_new_to_the_whole_seed() -> None:
    many = {f"w{i}": 1 for i in range(30)}
    documents = [[*many, "boat"]] * 2
    row = seed_report(model_of({"a": many}, documents, [0, 0]))[0]
    assert set(row.gained) <= {"boat"}
    assert len(row.before) == len(row.now) == 10


def test_columns(model: Model) -> None:
    bare = seed_report(replace(model, words=None))
    named = seed_report(model)
    assert [model.words[w] for w in bare[0].now] == list(named[0].now)
    assert json.dumps(bare.to_dicts())
    assert str(bare).count("\n") == str(named).count("\n")


def test_no_seeds() -> None:
    fitted = coterie.GSDMM(2, n_sweeps=2, random_state=0).fit(["red car", "blue car"])
    with pytest.raises(InvalidInput, match=r"fitted without seeds.*\.$"):
        seed_report(fitted.model_)


# ---------------------------------------------------------------- reading it
def test_list_and_dicts(model: Model) -> None:
    report = seed_report(model)
    assert len(report) == 4
    assert report[-1] is report.new[0]
    assert [row.name for row in report[:2]] == ["rescue", "damage"]
    assert [row.name for row in report.consistent] == ["rescue", "damage"]
    assert [row.name for row in report.missing] == ["trial"]
    plain = json.loads(json.dumps(report.to_dicts()))
    assert plain == report.to_dicts()
    assert plain[0]["lost"] == ["aid"]
    assert [SeedRow(**row).name for row in plain] == ["rescue", "damage", "trial", None]
    assert repr(report) == "<SeedReport: 3 seeds: 2 consistent, 1 missing; 1 new cluster.>"


def test_the_table(model: Model) -> None:
    rescue, damage, trial, new = seed_report(model)
    assert seed_report(model).to_text(80).split("\n") == [
        "3 seeds: 2 consistent, 1 missing; 1 new cluster.",
        "",
        "cluster  documents  seed    words now (+ gained)",
        f"      0          4  rescue  {', '.join('+boat' if w == 'boat' else w for w in rescue.now)}",
        "                            lost: aid",
        "                            unknown: dog",
        f"      2          1  damage  {', '.join(damage.now)}",
        "",
        "cluster  documents  missing seed  words it had",
        "      3          0  trial         judge, jury",
        "",
        "cluster  documents  words of a new cluster",
        f"      1          2  {', '.join(new.now)}",
    ]
    assert trial.cluster == 3


def row(name: str | None = "a", status: str = "consistent", n: int = 1, **words: Any) -> SeedRow:
    blank: dict[str, Any] = dict.fromkeys(("before", "now", "gained", "lost", "unknown"), ())
    return SeedRow(name=name, cluster=0, documents=n, status=status, **{**blank, **words})


def test_many_rows_are_cut() -> None:
    report = SeedReport([row(None, "new", 1000, now=("x",)) for _ in range(SHOWN + 1200)])
    lines = str(report).split("\n")
    assert lines[0] == "0 seeds: 0 consistent, 0 missing; 1,230 new clusters."
    assert lines[-1] == "... and 1,200 more, with 1,200,000 documents"
    assert len(lines) == SHOWN + 4


def test_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    words = tuple(f"word{i}" for i in range(100))
    report = SeedReport([row("n" * 99, now=words, lost=words, unknown=words), row("b", now=("x",))])
    for columns, width in [("20", NARROW), ("75", 75), ("500", 120)]:
        monkeypatch.setenv("COLUMNS", columns)
        lines = str(report).split("\n")
        assert max(map(len, lines)) <= width
        assert sum("…" in line for line in lines) == 3
        # the words of all rows begin in one column
        assert len({re.search(r"\S", line[25:]).start() for line in lines[4:6]}) == 1


def test_wide_letters_keep_the_columns_straight() -> None:
    report = SeedReport(
        [row("救助", now=("x",)), row("rescue", now=("y",)), row("e\u0301", now=("z",))]
    )
    lines = str(report).split("\n")[3:]
    assert [line[:-1] for line in lines] == [
        "      0          1  救助    ",
        "      0          1  rescue  ",
        "      0          1  e\u0301       ",
    ]


def test_hostile_words_do_not_reach_the_terminal() -> None:
    bad = "\x1b[31m\u202e\n\r\x07\x9b\ud800\u2028"
    text = str(
        SeedReport(
            [
                row(f"name{bad}", now=(f"now{bad}",), lost=(bad,), unknown=(bad,)),
                row(f"gone{bad}", "missing", 0, before=(bad,), lost=(bad,)),
                row(None, "new", now=(bad,)),
            ]
        )
    )
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(text.split("\n")) == 12
    assert r"name\x1b[31m\u202e" in text
    text.encode()


@given(st.lists(st.text(), max_size=3), st.text(), st.integers(0, 200))
def test_any_words_fit(words: list[str], name: str, width: int) -> None:
    report = SeedReport([row(name, now=tuple(words), lost=tuple(words), unknown=tuple(words))])
    lines = report.to_text(width).split("\n")
    assert len(lines) == 4 + 2 * bool(words)
    assert max(map(len, lines)) <= 120
