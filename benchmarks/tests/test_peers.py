"""The race against other packages: sets, fits, limits of a worker, resuming."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.harness import data, systems, workers
from benchmarks.harness.probe import Watch
from benchmarks.harness.store import Options, Results
from benchmarks.peers import embed, fits, race, roster, sets

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
    embed.embedding(texts, 0, Watch())
    assert embed.vectors(texts).shape == (20, 2)
    assert not embed.path_of([*texts, "more"]).is_file()
    vectors = sets.build("tweet", sets.VECTORS).documents
    labels, _ = fits.FITS["kmeans"](vectors, 0, Watch(), n_clusters=2)
    assert len(set(labels[::2])) == len(set(labels[1::2])) == 1
    text, vector = sets.build("tweet", sets.BOTH).documents[1]
    assert text == " ".join(CARS)
    assert vector.tolist() == vectors[1].tolist()


@pytest.mark.parametrize("name", roster.SYSTEMS)
def test_a_system_takes_its_settings(name: str) -> None:
    system = roster.SYSTEMS[name]
    if system.embeds or system.fit == "gpudmm":
        pytest.skip("needs vectors")
    packages = dict.fromkeys(("lda", "pt", "hdp"), "tomotopy")
    packages |= {name: name for name in ("topica", "bitermplus")}
    if system.fit in packages:
        pytest.importorskip(packages[system.fit], reason='it is in "coterie[bench]"')
    words = [FRUIT, CARS, [*FRUIT, "apple"], [*CARS, "wheel"]] * 10
    documents: Any = [" ".join(doc) for doc in words] if system.takes == sets.TEXTS else words
    known = {"n_clusters": 2} if system.told_k else {}
    labels, _ = fits.FITS[system.fit](documents, 0, Watch(), **known, **system.settings)
    assert len(labels) == 40


# ---------------------------------------------------------------- fits
def test_cluster_takes_the_vectors_that_come_with_the_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import coterie

    asked = []

    def cluster(texts: list[str], *, embedder: Any, random_state: int) -> Any:
        asked.append((texts, embedder(texts).tolist(), random_state))
        return type("Groups", (), {"labels": [0, 1]})

    monkeypatch.setattr(coterie, "cluster", cluster, raising=False)
    documents = [("an apple", np.array([1.0, 0.0])), ("a wheel", np.array([0.0, 1.0]))]
    labels, _ = fits.FITS["cluster_vectors"](documents, 3, Watch())
    assert labels.tolist() == [0, 1]
    assert asked == [(["an apple", "a wheel"], [[1.0, 0.0], [0.0, 1.0]], 3)]


def test_ward_takes_euclidean_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy.cluster import hierarchy

    asked = {}
    join = hierarchy.linkage
    monkeypatch.setattr(
        hierarchy, "linkage", lambda d, how: asked.update({how: d.copy()}) or join(d, how)
    )
    for how in ("ward", "average"):
        systems.hac([FRUIT, CARS, FRUIT[:2]], 0, Watch(), n_clusters=2, linkage=how)
    assert asked["ward"] == pytest.approx(np.sqrt(2 * asked["average"]))


def test_rows_of_hac_keep_their_name() -> None:
    assert race.key("tweet", "HAC, Ward", 0) == "tweet: HAC: 0"
    assert race.key("tweet", "HAC, average", 0) == "tweet: HAC, average: 0"


# ---------------------------------------------------------------- limits of a worker
def test_a_worker_that_takes_too_long_is_stopped() -> None:
    with (
        workers.Worker(systems.gsdmm, seconds=0.01) as worker,
        pytest.raises(workers.TimedOut, match="longer than"),
    ):
        worker.load(data.load, "tweet")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux refuses the memory")
def test_a_worker_that_takes_too_much_memory_is_told(corpus: list[dict[str, Any]]) -> None:
    with (
        workers.Worker(systems.gsdmm, seconds=60, gigabytes=1) as worker,
        pytest.raises(workers.WorkerFailed, match="MemoryError"),
    ):
        worker.load(data.planted, 300_000_000, 2, "csr")


# ---------------------------------------------------------------- resuming
class FakeWorker:
    """Finds the classes at once; a set of systems misbehaves."""

    asked: list[tuple[str, int]] = []
    seconds_of_a_fit = 1.0
    slow: set[str] = set()
    missing: set[str] = set()
    broken = ""

    def __init__(self, fit: Any, **limits: Any) -> None:
        self.system = fit.__name__

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def load(self, *given: Any) -> None:
        if self.system in self.missing:
            raise workers.NotInstalled(f"{self.system}: no module")

    def warm_up(self, **settings: Any) -> None:
        assert settings.get("n_clusters", 0) <= 10

    def fit(self, *, seed: int, labels: bool = True, **settings: Any) -> dict[str, Any]:
        if self.system in self.slow:
            raise workers.TimedOut(f"{self.system}: took longer")
        if self.broken:
            raise workers.WorkerFailed(f"{self.system}: {self.broken}")
        self.asked.append((self.system, seed))
        return {"seconds": self.seconds_of_a_fit, "peak_mb": 1.0, "labels": [0, 1] * 9 + [0, -1]}


@pytest.fixture
def fake(
    corpus: list[dict[str, Any]], home: Path, monkeypatch: pytest.MonkeyPatch
) -> type[FakeWorker]:
    class Fake(FakeWorker):
        asked: list[tuple[str, int]] = []
        slow: set[str] = set()
        missing: set[str] = set()

    monkeypatch.setattr(race, "Worker", Fake)
    monkeypatch.setattr(
        race, "SYSTEMS", {n: roster.SYSTEMS[n] for n in ("GSDMM", "KMeans", "HAC, Ward")}
    )
    return Fake


TWEET = Options(only=("tweet",))


def test_a_row_is_measured_once(fake: type[FakeWorker]) -> None:
    rows = race.run(TWEET)
    assert fake.asked.count(("gsdmm", 0)) == 1
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
    results = Results(race.FILE, TWEET)
    last = roster.SEEDS - 1
    del results.rows[race.key("tweet", "KMeans", last)]
    results.add("tweet", whole["tweet"])
    fake.asked.clear()
    assert race.run(TWEET) == whole
    assert fake.asked == [("kmeans", last)]


def test_slow_fits_have_fewer_seeds(fake: type[FakeWorker]) -> None:
    fake.seconds_of_a_fit = 0.6 * roster.ENOUGH
    race.run(TWEET)
    assert [seed for system, seed in fake.asked if system == "kmeans"] == [0, 1]


def test_seeds_measured_anew_are_not_mixed_with_old_ones(fake: type[FakeWorker]) -> None:
    race.run(TWEET)
    fake.seconds_of_a_fit = 2.0 * roster.ENOUGH
    rows = race.run(Options(only=("tweet",), again=True))
    kept = [at for at in rows if at.startswith("tweet: GSDMM: ")]
    assert kept == [race.key("tweet", "GSDMM", 0)]
    fake.asked.clear()
    assert race.run(TWEET) == rows
    assert fake.asked == []


def test_no_more_seeds_than_are_used(fake: type[FakeWorker]) -> None:
    rows = race.run(Options(only=("tweet",), repeats=roster.SEEDS + 2))
    assert race.key("tweet", "GSDMM", roster.SEEDS - 1) in rows
    assert race.key("tweet", "GSDMM", roster.SEEDS) not in rows


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        ("ValueError: a | b\nsee /some/file: x", "failed: ValueError"),
        ("the process ended (status -9)", "failed: the process ended (status -9)"),
        ("MemoryError: 9 GB", roster.OVER_MEMORY),
    ],
)
def test_of_a_failure_only_its_kind_is_kept(
    fake: type[FakeWorker], capsys: pytest.CaptureFixture[str], broken: str, shown: str
) -> None:
    fake.broken = broken
    rows = race.run(TWEET)
    assert rows[race.key("tweet", "KMeans", 0)] == {"skipped": shown, "commit": "now"}
    assert broken in capsys.readouterr().err


def test_over_time_is_a_row_and_absence_is_none(fake: type[FakeWorker]) -> None:
    fake.slow, fake.missing = {"kmeans"}, {"hac"}
    rows = race.run(TWEET)
    assert rows[race.key("tweet", "KMeans", 0)] == {"skipped": roster.OVER_TIME, "commit": "now"}
    assert race.key("tweet", "HAC, Ward", 0) not in rows
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
