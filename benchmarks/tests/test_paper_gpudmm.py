"""GPU-DMM: what is measured again, the tables and the claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from benchmarks.harness.store import Options, Results, Row
from benchmarks.papers import gpudmm as paper
from benchmarks.papers.gpudmm import btm
from benchmarks.papers.gpudmm import measure as gpudmm


def runs(level: float, wobble: float = 0.001) -> Row:
    measures = ("nb", "sw", "sw_linear_svc", "pmi_5", "pmi_10", "pmi_20")
    of = [
        {**dict.fromkeys(measures, level + wobble * i), "n_clusters": 40, "seconds": 0.5}
        for i in (0, 1, -1)
    ]
    return {"runs": [{**run, "nb": run["nb"] - 0.1 - wobble * i} for i, run in enumerate(of)]}


def gpudmm_rows(ours: float, dmm: float, biterms: float | None) -> dict[str, Row]:
    rows = {}
    for k in gpudmm.SIZES:
        rows |= {f"word2vec K={k}": runs(ours, 0.002), f"DMM K={k}": runs(dmm)}
        if biterms is not None:
            rows[f"BTM K={k}"] = runs(biterms)
    return rows


def held(rows: dict[str, Row]) -> dict[str, bool | None]:
    return {claim.says.split(" (")[0]: claim.holds for claim in paper.claims(rows)}


def test_gpudmm_s_claims_need_every_k_and_every_model() -> None:
    found = held(gpudmm_rows(0.85, 0.8, biterms=None))
    assert found["GPU-DMM beats DMM in accuracy"] is True
    assert found["GPU-DMM beats DMM in coherence"] is True
    assert found["GPU-DMM beats BTM in accuracy"] is None
    assert found["SW beats NB in accuracy"] is None  # BTM's are missing
    found = held(gpudmm_rows(0.85, 0.8, biterms=0.9))
    assert found["GPU-DMM beats BTM in accuracy"] is False
    assert found["GPU-DMM beats BTM in coherence"] is False
    assert found["BTM beats DMM in coherence"] is True
    assert found["DMM beats BTM in accuracy"] is False
    assert found["GPU-DMM beats DMM with NB too"] is True
    assert found["SW beats NB in accuracy"] is True


@pytest.mark.parametrize(("slower", "holds"), [(2.0, True), (3.5, False)])
def test_the_cost_is_held_against_three_times(slower: float, holds: bool) -> None:
    dmm = [0.010, 0.011, 0.012]
    ours = [slower * value * (1 + 0.01 * i) for i, value in enumerate(dmm)]
    rows = {
        key: {"seconds": {"DMM": {"all": dmm}, "word2vec": {"all": ours}}} for key in gpudmm.TIMES
    }
    assert paper.claims(rows)[-1].holds is holds


def test_a_difference_without_a_row_is_none() -> None:
    rows = {"DMM K=40": runs(0.8)}
    assert paper.gain(rows, ("BTM K=40", "sw"), ("DMM K=40", "sw")) is None
    assert paper.gain(rows, ("DMM K=40", "sw"), ("DMM K=40", "nb")) is not None


def test_tables_show_the_paper_s_numbers_too() -> None:
    tables = paper.tables(gpudmm_rows(0.85, 0.8, 0.9))
    assert "| BTM, K=40 | 3 |" in tables["accuracy"]
    assert "| 0.900 ± 0.001 | 0.81 |" in tables["accuracy"]
    assert "| GPU-DMM (word2vec), K=40 | +0.0500" in tables["differences"]
    rows = {**gpudmm_rows(0.85, 0.8, None), "DMM K=40": {"runs": runs(0.8)["runs"][:2]}}
    assert paper.tables(rows)["runs"] == "2 to 3 runs"


def test_when_all_rows_are_there_no_corpus_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = Results("papers/gpudmm", Options())
    results.add("DMM K=40", {"runs": [{"sw": 0.8}] * gpudmm.RUNS})
    monkeypatch.setattr(gpudmm, "snippets", lambda: pytest.fail("read the corpus"))
    gpudmm.run(Options(only=("DMM K=40",)))


def test_points_of_the_promotion_are_kept_one_by_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    class Model:
        def fit(self, documents: Any) -> Model:
            return self

        def transform(self, documents: Any, method: str) -> np.ndarray:
            return np.zeros((2, 2))

    def estimator(*args: Any, promotion: float) -> Model:
        asked.append(promotion)
        return Model()

    monkeypatch.setattr(gpudmm, "_estimator", estimator)
    monkeypatch.setattr(gpudmm, "_accuracy", lambda *args: 0.5)
    results = Results("papers/gpudmm", Options())
    old = {
        "0.0": {"runs": [0.4, 0.41], "mean": 0.405},
        "0.1": {"mean": 0.4},
    }  # 0.1: its runs are lost
    results.add(gpudmm.CURVE, {**old, "0.2": {"runs": [0.3], "mean": 0.3}})
    task, options = gpudmm.Task([], np.zeros(0), [], None), Options(repeats=2)
    assert not gpudmm._done(results, gpudmm.CURVE, options)
    gpudmm._promotions(40, task, results, options)
    assert asked == [0.1, 0.1, 0.2, *(at for at in gpudmm.PROMOTIONS[3:] for _ in range(2))]
    kept = json.loads((home / "papers" / "results" / "gpudmm.json").read_text())["rows"][
        gpudmm.CURVE
    ]
    assert set(kept) == {"commit", *map(str, gpudmm.PROMOTIONS)}
    assert kept["0.0"] == old["0.0"]
    assert kept["0.2"]["runs"] == [0.3, 0.5]
    assert kept["0.2"]["mean"] == pytest.approx(0.4)
    assert gpudmm._done(results, gpudmm.CURVE, options)


@pytest.mark.parametrize(
    ("worst", "holds"), [((0.82, 0.83, 0.84), True), ((0.81, 0.80, 0.83), False), (None, None)]
)
def test_every_promotion_is_held_against_none(worst: tuple[float, ...], holds: bool | None) -> None:
    curve: Row = {str(at): {"runs": [0.83, 0.84, 0.86]} for at in gpudmm.PROMOTIONS}
    curve["0.0"] = {"runs": [0.80, 0.81, 0.82, 0.9]}
    curve["1.0"] = {"runs": list(worst)} if worst else {"mean": 0.83}
    assert held({gpudmm.CURVE: curve})["Any promotion above zero beats DMM"] is holds


def test_sweep_times_without_vectors_are_measured_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, task = gpudmm.TIMES[0], gpudmm.Task([], np.zeros(0), [], None)
    results = Results("papers/gpudmm", Options())
    results.add(key, {"seconds": {"DMM": {"all": [0.1]}}, "ratios": {}})
    assert not gpudmm._done(results, key, Options())

    def missing(model: gpudmm.Model, *args: Any) -> Any:
        if model.vectors:
            raise gpudmm.DataMissing
        return MagicMock()

    monkeypatch.setattr(gpudmm, "_estimator", missing)
    with pytest.raises(gpudmm.DataMissing):
        gpudmm._measure(key, task, results, Options())
    found = {"seconds": {"DMM": {}, "word2vec": {}}, "ratios": {}}
    monkeypatch.setattr(gpudmm, "_sweep_times", lambda *args: found)
    gpudmm._measure(key, task, results, Options())
    assert results.rows[key] == {**found, "commit": "now"}
    assert gpudmm._done(results, key, Options())


def test_documents_by_topic_are_the_paper_s_two_formulas() -> None:
    phi, theta = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]), np.array([0.25, 0.75])
    counts = np.array([[1, 1, 0], [0, 0, 2]])
    nb, sw = btm.by_product(counts, phi, theta), btm.by_sum(counts, phi, theta)
    weight = np.array([0.25 * 0.5 * 0.3, 0.75 * 0.1 * 0.1])
    assert nb[0] == pytest.approx(weight / weight.sum())
    given_word = phi * theta[:, None] / (phi * theta[:, None]).sum(axis=0)
    assert sw[0] == pytest.approx(given_word[:, :2].mean(axis=1))
    assert sw[1] == pytest.approx(given_word[:, 2])


def test_btm_finds_two_topics() -> None:
    pytest.importorskip("bitermplus", reason='bitermplus is in "coterie[bench]"')
    documents = [["apple", "pear", "plum"], ["car", "road", "wheel"]] * 20
    found = btm.fit(documents, 2, 50, seed=1, n_top=3)
    assert {frozenset(words) for words in found.top} == {frozenset(doc) for doc in documents}
    assert found.sw.sum(axis=1) == pytest.approx(np.ones(40))


def test_every_pair_of_a_long_document_is_a_biterm(monkeypatch: pytest.MonkeyPatch) -> None:
    bitermplus = pytest.importorskip("bitermplus", reason='bitermplus is in "coterie[bench]"')
    counted: list[int] = []
    plain = bitermplus.get_biterms

    def count(*args: Any, **settings: Any) -> Any:
        found = plain(*args, **settings)
        counted.append(len(found[0]))
        return found

    monkeypatch.setattr(bitermplus, "get_biterms", count)
    btm.fit([[f"w{i:02}" for i in range(20)]] * 2, 2, 1, seed=1, n_top=3)
    assert counted == [20 * 19 // 2]
