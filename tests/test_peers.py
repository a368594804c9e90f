"""The race against other packages: sets, limits, resuming, ranks and verdicts, on made-up rows."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")

from benchmarks import workers
from benchmarks.peers import embed, fits, race, report, roster, sets, show
from benchmarks.probe import Watch
from benchmarks.store import Options, Results
from benchmarks.systems import Settings

FRUIT = ["apple", "pear", "plum"]
CARS = ["wheel", "engine", "brake"]


# ---------------------------------------------------------------- sets
@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A data folder with one small set of words, `tweet`."""
    rows: list[dict[str, Any]] = [
        {"text": " ".join(words), "label": label}
        for words, label in ((FRUIT, "fruit"), (CARS, "car")) * 10
    ]
    rows += [{"text": "", "label": "car"}, {"text": "apple wheel", "label": ""}]
    rows.append({"text": "apple wheel", "label": "car", "labels": ["car", "fruit"]})
    with gzip.open(tmp_path / "tweet.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    monkeypatch.setattr(embed, "FOLDER", tmp_path / "embeddings")
    sets.labelled.cache_clear()
    return rows


def test_texts_without_one_class_or_a_word_are_left_out(corpus: list[dict[str, Any]]) -> None:
    found = sets.labelled("tweet")
    assert found.classes == ["fruit", "car"] * 10
    assert found.words[0] == FRUIT
    assert sets.facts("tweet")["n_classes"] == 2


def test_a_quick_set_is_spread_over_the_whole(corpus: list[dict[str, Any]]) -> None:
    assert len(sets.labelled("tweet", 5).texts) == 5


def test_natural_text_is_cut_alike_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The Apples, the pears!", "apples and a pear", "pears: once"]
    assert sets._cut(texts, "en") == [["apples", "pears"], ["apples"], ["pears"]]


def _encoder() -> embed.Encode:
    return lambda texts: np.array([[text.count("e"), text.count("p")] for text in texts])


def test_vectors_are_made_once_and_found_by_their_texts(
    corpus: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "encoder", _encoder)
    texts = sets.labelled("tweet").texts
    with pytest.raises(FileNotFoundError):
        embed.vectors(texts)
    embed.embedding(texts, Settings(seed=0), Watch())
    assert embed.vectors(texts).shape == (20, 2)
    assert not embed.path_of([*texts, "more"]).is_file()
    vectors = sets.build({"labelled": "tweet", "takes": sets.VECTORS}).documents
    labels, _ = fits.embedded_kmeans(vectors, Settings(seed=0, n_clusters=2), Watch())
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1
    text, vector = sets.build({"labelled": "tweet", "takes": sets.BOTH}).documents[1]
    assert text == " ".join(CARS)
    assert vector.tolist() == vectors[1].tolist()


def test_every_set_and_system_is_named_once() -> None:
    assert len(sets.SETS) == 27
    assert {roster.GIVEN, roster.FOUND, "BERTopic"} <= set(roster.SYSTEMS)
    assert all(system.fit in workers.ALL for system in roster.SYSTEMS.values())


# ---------------------------------------------------------------- fits
def test_hac_joins_what_is_alike() -> None:
    labels, _ = fits.hac([FRUIT, CARS, FRUIT[:2], CARS[:2]], Settings(0, n_clusters=2), Watch())
    assert labels[0] == labels[2] != labels[1] == labels[3]


# ---------------------------------------------------------------- limits of a worker
def test_a_worker_that_takes_too_long_is_stopped() -> None:
    with (
        workers.Worker("coterie", seconds=0.01) as worker,
        pytest.raises(workers.TimedOut, match="longer than"),
    ):
        worker.load({"name": "tweet"})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux refuses the memory")
def test_a_worker_that_takes_too_much_memory_is_told(corpus: list[dict[str, Any]]) -> None:
    with (
        workers.Worker("coterie", seconds=60, gigabytes=1) as worker,
        pytest.raises(workers.WorkerFailed, match="MemoryError"),
    ):
        worker.load({"planted": 300_000_000, "n_clusters": 2, "form": "csr"})


# ---------------------------------------------------------------- resuming
class FakeWorker:
    """Finds the classes at once; a set of systems misbehaves."""

    asked: list[tuple[str, int]] = []
    seconds_of_a_fit = 1.0
    slow: set[str] = set()
    missing: set[str] = set()

    def __init__(self, system: str, **limits: Any) -> None:
        self.system = system

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def load(self, spec: dict[str, Any]) -> None:
        if self.system in self.missing:
            raise workers.NotInstalled(f"{self.system}: no module")

    def warm_up(self, **settings: Any) -> None:
        assert settings.get("n_clusters", 0) <= 10

    def fit(self, *, seed: int, labels: bool = True, **settings: Any) -> dict[str, Any]:
        if self.system in self.slow:
            raise workers.TimedOut(f"{self.system}: took longer")
        self.asked.append((self.system, seed))
        return {"seconds": self.seconds_of_a_fit, "peak_mb": 1.0, "labels": [0, 1] * 9 + [0, -1]}


@pytest.fixture
def fake(
    corpus: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> type[FakeWorker]:
    class Fake(FakeWorker):
        asked: list[tuple[str, int]] = []
        slow: set[str] = set()
        missing: set[str] = set()

    monkeypatch.setattr(race, "Worker", Fake)
    monkeypatch.setattr(race, "HOME", tmp_path)
    monkeypatch.setattr(race, "SYSTEMS", {n: roster.SYSTEMS[n] for n in ("GSDMM", "KMeans", "HAC")})
    return Fake


TWEET = Options(only=("tweet",))


def test_a_row_is_measured_once(fake: type[FakeWorker]) -> None:
    rows = race.run(TWEET)
    assert fake.asked.count(("coterie", 0)) == 1
    assert len(fake.asked) == 2 * roster.SEEDS + 1  # HAC has no chance in it
    row = rows[race.key("tweet", "GSDMM", 0)]
    assert row["coverage"] == 19 / 20
    assert row["n_clusters"] == 2  # -1 is none, yet it counts against agreement:
    assert row["nmi"] < 1
    fake.asked.clear()
    assert race.run(TWEET) == rows
    assert fake.asked == []
    race.run(Options(only=("tweet",), again=True))
    assert len(fake.asked) == 2 * roster.SEEDS + 1


def test_an_interrupted_run_goes_on(fake: type[FakeWorker]) -> None:
    whole = race.run(TWEET)
    results = Results("peers", TWEET, race.HOME)
    del results.rows[race.key("tweet", "KMeans", 3)]
    results.add("tweet", whole["tweet"])
    fake.asked.clear()
    assert race.run(TWEET) == whole
    assert fake.asked == [("kmeans", 3)]


def test_slow_fits_have_fewer_seeds(fake: type[FakeWorker]) -> None:
    fake.seconds_of_a_fit = 0.6 * roster.ENOUGH
    race.run(TWEET)
    assert [seed for system, seed in fake.asked if system == "kmeans"] == [0, 1]


def test_over_time_is_a_row_and_absence_is_none(fake: type[FakeWorker]) -> None:
    fake.slow, fake.missing = {"kmeans"}, {"hac"}
    rows = race.run(TWEET)
    assert rows[race.key("tweet", "KMeans", 0)] == {"skipped": roster.OVER_TIME}
    assert race.key("tweet", "HAC", 0) not in rows
    fake.slow, fake.missing = set(), set()
    fake.asked.clear()
    race.run(TWEET)
    assert fake.asked == [("hac", 0)]


def test_other_versions_of_a_systems_packages_are_measured_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = roster.SYSTEMS["BERTopic"]
    for now, expected in (("bertopic 2", True), ("bertopic 1", False), ("", False)):
        monkeypatch.setattr(race, "versions", lambda packages, now=now: now)
        assert race.outdated({"packages": "bertopic 1"}, system) is expected


# ---------------------------------------------------------------- who may not run where
def _facts(n_docs: int = 1000, **more: Any) -> dict[str, Any]:
    base = {"n_tokens": 9 * n_docs, "n_classes": 5, "n_words": 50, "natural": True}
    return {"n_docs": n_docs, "mean_length": 9.0, "language": "en"} | base | more


def test_refusals_say_why() -> None:
    hac, gpudmm, kmeans = (roster.SYSTEMS[n] for n in ("HAC", "GPU-DMM", "KMeans"))
    assert roster.refuses(hac, _facts(), {}) is None
    assert roster.refuses(hac, _facts(50_000), {}) == roster.OVER_MEMORY
    assert roster.refuses(gpudmm, _facts(language="fr"), {}) == "not English"
    assert roster.refuses(gpudmm, _facts(mean_length=100.0), {}) == "long texts"
    over = {"small": _facts(500)}
    assert roster.refuses(kmeans, _facts(1000), over) == "over time on small"
    assert roster.refuses(kmeans, _facts(1000, n_classes=2), over) is None


# ---------------------------------------------------------------- tables
def _rows(values: dict[str, dict[str, float | str]]) -> dict[str, Any]:
    """Rows of sets x systems: the same value in all measures, or why there is none."""
    rows: dict[str, Any] = {}
    for name, of in values.items():
        rows[name] = _facts()
        rows[f"{name}: embedding"] = {"seconds": 10.0, "peak_mb": 5.0}
        for system, value in of.items():
            row: dict[str, Any] = {"skipped": value}
            if not isinstance(value, str):
                row = dict.fromkeys(race.MEASURES, value)
                row |= dict(n_clusters=7, coverage=0.75, seconds=2.0, peak_mb=3.0)
            rows[race.key(name, system, 0)] = row
    return rows


NAMES = list(sets.SETS)[:4]


def test_who_does_not_finish_is_last() -> None:
    rows = _rows(
        {
            NAMES[0]: {"GSDMM": 0.9, "KMeans": 0.5, "HAC": "over memory", "GPU-DMM": 0.95},
            NAMES[1]: {"GSDMM": 0.4, "KMeans": 0.5, "HAC": 0.45, "GPU-DMM": "not English"},
            NAMES[2]: {"GSDMM": 0.4},  # stopped here: not all were tried
        }
    )
    cells = show.gather(rows, True)
    assert show.ranked(cells) == (["GSDMM", "KMeans", "HAC"], NAMES[:2])
    assert show.mean_ranks(cells, "ami") == {"GSDMM": 2.0, "KMeans": 1.5, "HAC": 2.5}
    text = show.overview(rows, True)
    assert "Mean ranks over 2 sets" in text
    assert "the 1 sets that all finished" in text
    assert "over memory" in show.matrices(rows, True)
    assert "**0.950**" in show.matrices(rows, True)


@pytest.mark.parametrize(
    ("theirs", "met", "shown"),
    [
        ((0.3, 0.31, 0.29, 0.3), True, "ahead: NMI +0.200"),
        ((0.7, 0.71, 0.69, 0.7), False, "**behind**: NMI -0.200"),
        ((0.3, 0.7, 0.31, 0.69), False, "ahead on 2 of 4"),
    ],
)
def test_a_verdict_is_yes_only_above_zero(theirs: tuple[float, ...], met: bool, shown: str) -> None:
    rows = _rows(
        {n: {"GSDMM": 0.5, "KMeans": v, "XDMM": 0.1} for n, v in zip(NAMES, theirs, strict=True)}
    )
    (verdict,) = show.verdicts(rows)  # coterie's own are no peers
    assert verdict.what == "K given: GSDMM less KMeans"
    assert verdict.met is met
    assert shown in verdict.measured
    assert "XDMM" in show.differences(rows, True)


def test_of_one_model_no_difference_is_asked() -> None:
    rows = _rows(
        {
            n: {"cluster()": 0.9, "GSDMM, cap 500": v, "topica GSDMM, cap 500": 0.5}
            for n, v in zip(NAMES, (0.49, 0.51, 0.5, 0.5), strict=True)
        }
    )
    (verdict,) = show.verdicts(rows)
    assert verdict.what == "K not given: GSDMM, cap 500 less topica GSDMM, cap 500"
    assert verdict.met is True


def test_coverage_and_embeddings_are_shown() -> None:
    rows = _rows({NAMES[0]: {"cluster()": 0.5, "BERTopic": 0.6}})
    text = show.matrices(rows, False)
    assert "7 (75%)" in text
    assert "2.0 (+ 10)" in text
    (found,) = show.beside(rows, "BERTopic").values()
    assert found["seconds"] == 12.0
    assert found["outliers"] == 0.25


def test_the_report_makes_do_with_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(report, "HOME", tmp_path)
    monkeypatch.setattr(report, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    assert "Not measured yet." in report.write()
    assert (tmp_path / "docs" / "peers.md").is_file()
