"""GPU-DMM: what is measured again, the tables and the claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.harness.data import DataMissing
from benchmarks.harness.store import Options, Row, rows_of
from benchmarks.papers import gpudmm
from benchmarks.papers.gpudmm import btm


def runs(key: str, level: float, wobble: float = 0.001) -> dict[str, Row]:
    measures = ("nb", "sw", "sw_linear_svc", "pmi_5", "pmi_10", "pmi_20")
    of = [{**dict.fromkeys(measures, level + wobble * i), "seconds": 0.5} for i in (0, 1, -1)]
    return {
        f"{key}, seed {i}": {**run, "nb": run["nb"] - 0.1 - wobble * i} for i, run in enumerate(of)
    }


def gpudmm_rows(ours: float, dmm: float, biterms: float | None) -> dict[str, Row]:
    rows = {}
    for k in gpudmm.SIZES:
        rows |= runs(f"word2vec K={k}", ours, 0.002) | runs(f"DMM K={k}", dmm)
        if biterms is not None:
            rows |= runs(f"BTM K={k}", biterms)
    return rows


def held(rows: dict[str, Row]) -> dict[str, bool | None]:
    return {claim.says.split(" (")[0]: claim.holds for claim in gpudmm.claims(rows)}


def test_gpudmm_s_claims_need_every_k_and_every_model() -> None:
    found = held(gpudmm_rows(0.85, 0.8, biterms=None))
    assert found["GPU-DMM beats DMM in accuracy"] is True
    assert found["GPU-DMM beats DMM in coherence"] is True
    assert found["GPU-DMM beats BTM in accuracy"] is None
    assert found["SW beats NB in accuracy"] is None  # BTM's are missing
    found = held(gpudmm_rows(0.85, 0.8, biterms=0.9))
    assert found["GPU-DMM beats BTM in accuracy"] is False
    assert found["BTM beats DMM in coherence"] is True
    assert found["GPU-DMM beats DMM with NB too"] is True
    assert found["SW beats NB in accuracy"] is True


@pytest.mark.parametrize(("slower", "holds"), [(2.0, True), (3.5, False)])
def test_the_cost_is_held_against_three_times(slower: float, holds: bool) -> None:
    dmm = [0.010, 0.011, 0.012]
    ours = [slower * value * (1 + 0.01 * i) for i, value in enumerate(dmm)]
    seconds = {"DMM": {"all": dmm}, "word2vec": {"all": ours}}
    assert gpudmm.claims({key: {"seconds": seconds} for key in gpudmm.TIMES})[-1].holds is holds


def test_tables_show_the_paper_s_numbers_too() -> None:
    tables = gpudmm.tables(gpudmm_rows(0.85, 0.8, 0.9))
    assert "| 0.900 ± 0.001 | 0.81 |" in tables["accuracy"]
    assert "| GPU-DMM (word2vec), K=40 | +0.0500" in tables["differences"]


@pytest.mark.parametrize(
    ("worst", "holds"), [((0.82, 0.83, 0.84), True), ((0.81, 0.80, 0.83), False), ((), None)]
)
def test_every_promotion_is_held_against_none(worst: tuple[float, ...], holds: bool | None) -> None:
    curve = dict.fromkeys(gpudmm.PROMOTIONS, (0.83, 0.84, 0.86))
    curve |= {0.0: (0.80, 0.81, 0.82, 0.9), 1.0: worst}
    rows = {
        f"{gpudmm.promoted(at)}, seed {i}": {"sw": value}
        for at, of in curve.items()
        for i, value in enumerate(of)
    }
    assert held(rows)["Any promotion above zero beats DMM"] is holds


@pytest.mark.usefixtures("home")
def test_runs_are_measured_once_and_no_corpus_is_read_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(gpudmm, "_quality", lambda *args: asked.append(args) or {"sw": 0.5})
    monkeypatch.setattr(gpudmm, "snippets", lambda: pytest.fail("read the corpus"))
    for repeats in (1, 3):
        gpudmm.run(Options(only=("DMM K=40",), repeats=repeats))
    assert asked == [("DMM", 40, seed, False) for seed in range(3)]


def test_sweep_times_without_vectors_are_no_row(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def estimator(name: str, *args: Any) -> Any:
        raise DataMissing("no vectors")

    monkeypatch.setattr(gpudmm, "_task", lambda quick: gpudmm.Task([], np.zeros(0), [], None))
    monkeypatch.setattr(gpudmm, "_estimator", estimator)
    gpudmm.run(Options(only=(gpudmm.TIMES[0],)))
    assert rows_of("papers/gpudmm") == {}
    assert "left out" in capsys.readouterr().err


def test_documents_by_topic_are_the_paper_s_two_formulas() -> None:
    phi, theta = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]), np.array([0.25, 0.75])
    counts = np.array([[1, 1, 0], [0, 0, 2]])
    nb, sw = btm.by_product(counts, phi, theta), btm.by_sum(counts, phi, theta)
    weight = np.array([0.25 * 0.5 * 0.3, 0.75 * 0.1 * 0.1])
    assert nb[0] == pytest.approx(weight / weight.sum())
    given_word = phi * theta[:, None] / (phi * theta[:, None]).sum(axis=0)
    assert sw[0] == pytest.approx(given_word[:, :2].mean(axis=1))
    assert sw[1] == pytest.approx(given_word[:, 2])


def test_btm_finds_two_topics_from_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    bitermplus = pytest.importorskip("bitermplus", reason='bitermplus is in "coterie[bench]"')
    documents = [["apple", "pear", "plum"], ["car", "road", "wheel"]] * 20
    found = btm.fit(documents, 2, 50, seed=1, n_top=3)
    assert {frozenset(words) for words in found.top} == {frozenset(doc) for doc in documents}
    assert found.sw.sum(axis=1) == pytest.approx(np.ones(40))
    plain, counted = bitermplus.get_biterms, []

    def count(*args: Any, **settings: Any) -> Any:
        found = plain(*args, **settings)
        counted.append(len(found[0]))
        return found

    monkeypatch.setattr(bitermplus, "get_biterms", count)
    btm.fit([[f"w{i:02}" for i in range(20)]] * 2, 2, 1, seed=1, n_top=3)
    assert counted == [20 * 19 // 2]
