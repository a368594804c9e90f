"""GPU-DMM's tables and TSDPMM's rows: runs kept one by one, what is measured again, and the claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")

from benchmarks import btm, gpudmm, probe, store
from benchmarks.papers import gpudmm as gpudmm_paper
from benchmarks.papers import report
from benchmarks.papers import tsdpmm as tsdpmm_paper
from benchmarks.store import Options, Results, Row


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The harness writes below here."""
    for module in (store, report):
        monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(store.Results.__init__, "__defaults__", (tmp_path,))
    monkeypatch.setattr(report, "HOME", tmp_path / "papers")
    return tmp_path


# ---------------------------------------------------------------- rows


def test_runs_are_kept_one_by_one_and_not_made_again(home: Path) -> None:
    made: list[int] = []

    def make(seed: int) -> Row:
        if seed == 2 and made == [0, 1]:
            raise KeyboardInterrupt
        made.append(seed)
        return {"value": seed}

    with pytest.raises(KeyboardInterrupt):
        Results("x", Options(), home).grow("a", 4, make)
    made.append(-1)
    row = Results("x", Options(), home).grow("a", 4, make)
    assert made == [0, 1, -1, 2, 3]
    assert [run["value"] for run in row["runs"]] == [0, 1, 2, 3]


def test_again_makes_all_runs_anew(home: Path) -> None:
    Results("x", Options(), home).grow("a", 3, lambda seed: {"value": 0})
    row = Results("x", Options(again=True), home).grow("a", 2, lambda seed: {"value": 1})
    assert row["runs"] == [{"value": 1}, {"value": 1}]


def test_more_runs_keep_what_else_is_in_the_row(home: Path) -> None:
    results = Results("x", Options(), home)
    results.add("a", {"runs": [{"value": 5}], "n_pairs": 7})
    assert results.grow("a", 2, lambda seed: {"value": seed})["n_pairs"] == 7


MACHINE = {"processor": "one", "packages": "coterie 0.1.0, numpy 2.4.6"}


def test_a_peer_installed_later_leaves_the_rows_alone() -> None:
    peers = {**MACHINE, "packages": "coterie 0.1.0, numpy 2.4.6, bitermplus 1.0.0"}
    assert probe.together(MACHINE, peers) == probe.together(peers, MACHINE) == peers


@pytest.mark.parametrize(
    "other",
    [
        {**MACHINE, "packages": "coterie 0.1.0, numpy 2.5.0"},
        {**MACHINE, "processor": "another"},
        {**MACHINE, "cores": "2"},
        {"processor": "one", "memory": "1 GiB"},
    ],
)
def test_another_machine_or_version_is_another(other: dict[str, str]) -> None:
    assert probe.together(MACHINE, other) is None


def test_a_version_of_a_peer_that_is_gone_is_remembered() -> None:
    with_peer = {**MACHINE, "packages": MACHINE["packages"] + ", topica 0.62.0"}
    both = probe.together(with_peer, MACHINE)
    assert both is not None
    newer = {**MACHINE, "packages": MACHINE["packages"] + ", topica 0.63.0"}
    assert probe.together(both, newer) is None


def test_the_report_takes_a_paper_s_rows_from_the_files_it_shares(home: Path) -> None:
    for name, key in (("tsdpmm", "a"), ("nips", "b")):
        Results(name, Options(), home).add(key, {"runs": []})
    assert set(report._rows(report._files("tsdpmm", quick=False))) == {"a", "b"}
    assert report._files("tsdpmm", quick=True) == {}


@pytest.mark.parametrize("name", ["tsdpmm", "gpudmm"])
def test_rows_measured_earlier_are_still_read(name: str) -> None:
    paper = report.PAPERS[name]
    rows = report._rows(report._files(name, quick=False))
    assert len(paper.parts(rows)) >= 2
    assert any(claim.holds is not None for claim in paper.claims(rows))


@pytest.mark.parametrize("paper", [tsdpmm_paper, gpudmm_paper])
def test_without_rows_nothing_is_claimed(paper: Any) -> None:
    assert paper.parts({}) == []
    assert all(claim.holds is None for claim in paper.claims({}))


# ---------------------------------------------------------------- GPU-DMM


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
    return {claim.says.split(" (")[0]: claim.holds for claim in gpudmm_paper.claims(rows)}


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
    assert gpudmm_paper.claims(rows)[-1].holds is holds


def test_a_difference_without_a_row_is_none() -> None:
    rows = {"DMM K=40": runs(0.8)}
    assert gpudmm.gain(rows, ("BTM K=40", "sw"), ("DMM K=40", "sw")) is None
    assert gpudmm.gain(rows, ("DMM K=40", "sw"), ("DMM K=40", "nb")) is not None


def test_parts_show_ours_beside_the_paper_s() -> None:
    parts = {part.title[:8]: part.body for part in gpudmm_paper.parts(gpudmm_rows(0.85, 0.8, 0.9))}
    assert "| BTM | SW | 0.900 ± 0.001 (0.8100) |" in parts["Table 3."]
    assert "| LF-DMM | - (0.7414) |" in parts["Table 5."]


def test_settings_say_how_many_runs_there_are() -> None:
    rows = {**gpudmm_rows(0.85, 0.8, None), "DMM K=40": {"runs": runs(0.8)["runs"][:2]}}
    assert "Ours: the same with 2 to 3 runs" in gpudmm_paper.parts(rows)[0].settings


def test_the_level_is_told_from_the_rows() -> None:
    parts = {
        part.title[:8]: part.settings for part in gpudmm_paper.parts(gpudmm_rows(0.85, 0.8, None))
    }
    assert "DMM -0.052 to -0.030; GPU-DMM -0.022 to -0.004" in parts["Table 5."]
    assert "K=40 +0.050 (+0.024)" in parts["Table 5."]


def test_when_all_rows_are_there_no_corpus_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = Results("gpudmm", Options(), home)
    results.add("DMM K=40", {"runs": [{"sw": 0.8}] * gpudmm.RUNS})
    monkeypatch.setattr(gpudmm, "snippets", lambda: pytest.fail("read the corpus"))
    assert set(gpudmm.run(Options(only=("DMM K=40",)))) == {"DMM K=40"}


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
    results = Results("gpudmm", Options(), home)
    old = {
        "0.0": {"runs": [0.4, 0.41], "mean": 0.405},
        "0.1": {"mean": 0.4},
    }  # 0.1: its runs are lost
    results.add(gpudmm.CURVE, {**old, "0.2": {"runs": [0.3], "mean": 0.3}})
    task, options = gpudmm.Task([], np.zeros(0), [], None), Options(repeats=2)
    assert not gpudmm._done(results, gpudmm.CURVE, options)
    gpudmm._promotions(40, task, results, options)
    assert asked == [0.1, 0.1, 0.2, *(at for at in gpudmm.PROMOTIONS[3:] for _ in range(2))]
    kept = json.loads((home / "results" / "gpudmm.json").read_text())["rows"][gpudmm.CURVE]
    assert len(kept) == len(gpudmm.PROMOTIONS)
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
    results = Results("gpudmm", Options(), home)
    results.add(key, {"seconds": {"DMM": {"all": [0.1]}}, "ratios": {}})
    assert not gpudmm._done(results, key, Options())

    def missing(model: gpudmm.Model, *args: Any) -> Any:
        if model.vectors:
            raise gpudmm.VectorsMissing
        return MagicMock()

    monkeypatch.setattr(gpudmm, "_estimator", missing)
    with pytest.raises(gpudmm.VectorsMissing):
        gpudmm._measure(key, task, results, Options())
    found = {"seconds": {"DMM": {}, "word2vec": {}}, "ratios": {}}
    monkeypatch.setattr(gpudmm, "_sweep_times", lambda *args: found)
    gpudmm._measure(key, task, results, Options())
    assert results.rows[key] == found
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
