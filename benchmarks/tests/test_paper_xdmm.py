"""X-DMM's tables: chains, rows measured once, pairs by seed, and how "as accurate" is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.harness import systems
from benchmarks.harness.data import Corpus
from benchmarks.harness.scores import interval
from benchmarks.harness.seeds import Seeds
from benchmarks.harness.store import Options, Row, rows_of
from benchmarks.papers import PAPERS
from benchmarks.papers.xdmm import chains, judge, show
from benchmarks.papers.xdmm import measure as xdmm
from benchmarks.papers.xdmm.chains import Chain, chain
from benchmarks.papers.xdmm.show import GIBBS, KMEANS, LDA, MH, ONLINE, PARALLEL
from scipy import sparse

paper = PAPERS["xdmm"]


@pytest.fixture(scope="module")
def texts() -> tuple[Any, list[str]]:
    """Sixty texts of three kinds, each with words of its own."""
    rng = np.random.default_rng(1)
    kinds = rng.integers(3, size=60)
    counts = rng.poisson(0.05, (60, 30))
    for i, kind in enumerate(kinds):
        counts[i, 10 * kind : 10 * kind + 10] += rng.poisson(1.0, 10)
    counts[:, 0] += 1
    return sparse.csr_matrix(counts), [str(kind) for kind in kinds]


# ---------------------------------------------------------------- chains


def test_a_chain_stops_at_its_target_sweeps_or_time(texts: Any) -> None:
    matrix, classes = texts
    whole = chain(matrix, 6, GIBBS, 12, classes=classes)
    assert len(whole.seconds) == len(whole.likelihood) == len(whole.nmi) == 12
    target = whole.likelihood[3]
    cut = chain(matrix, 6, GIBBS, 12, target=target)
    at = chains.reached(whole, target)
    assert at is not None
    assert len(cut.seconds) == at["sweeps"] <= 4
    assert len(chain(matrix, 6, GIBBS, 12, max_seconds=0.0).seconds) == 0


def test_another_seed_is_another_chain_and_threads_are_not(texts: Any) -> None:
    first = chain(texts[0], 6, "blocked", 5)
    assert chain(texts[0], 6, "blocked", 5, n_jobs=2).likelihood == first.likelihood
    assert chain(texts[0], 6, "blocked", 5, seed=1).likelihood != first.likelihood


def test_the_pass_of_an_online_start_counts_as_a_sweep(texts: Any) -> None:
    found = chain(texts[0], 6, GIBBS, 4, start="online")
    assert found.drawn == ["online", GIBBS, GIBBS, GIBBS]
    assert all(value > 0 for value in found.seconds)


def test_a_series_is_thinned_alike() -> None:
    n = 200
    run = Chain(0.0, [0.1] * n, [-float(n - i) for i in range(n)], [GIBBS] * n, [0.5] * n)
    found = chains.series(run)
    assert {len(values) for values in found.values()} == {len(found["sweep"])}
    assert len(found["sweep"]) <= chains.POINTS
    assert (found["sweep"][0], found["sweep"][-1]) == (1, n)
    assert found["seconds"][-1] == pytest.approx(20.0)
    assert "nmi" not in chains.series(run._replace(nmi=[]))


# ---------------------------------------------------------------- rows


@pytest.fixture
def measured(home: Path, serial: None, monkeypatch: pytest.MonkeyPatch, texts: Any) -> list[str]:
    """The harness writes below a new folder and reads a small corpus; names of corpora read."""
    read: list[str] = []

    def corpus(name: str, step: int) -> Any:
        read.append(name)
        return texts

    def words(name: str, step: int) -> Corpus:
        matrix, classes = corpus(name, step)
        return Corpus([[f"w{j}" for j in row.indices] for row in matrix], classes)

    def lda(documents: Any, seed: int, watch: Any, n_clusters: int, **settings: Any) -> Any:
        assert settings == {"alpha": 50 / n_clusters, "beta": 0.1, "n_sweeps": 10}
        return np.array([len(doc) % n_clusters for doc in documents]), None

    monkeypatch.setattr(xdmm, "_corpus", corpus)
    monkeypatch.setattr(xdmm, "_texts", words)
    monkeypatch.setitem(systems.SYSTEMS, "lda", lda)
    small = xdmm.Size(1, 2, 4, 4, (20, 80, 160), k=5, chains=2, turns=2, baselines=2, lda_sweeps=10)
    monkeypatch.setattr(xdmm, "QUICK", small)
    return read


def run(*only: str) -> dict[str, Row]:
    xdmm.run(Options(quick=True, only=only))
    return rows_of("papers/xdmm", quick=True)


def test_all_of_it_runs_once_and_is_shown(measured: list[str]) -> None:
    rows = run()
    assert measured
    assert all(paper.tables(rows).values())
    names = {plot.name for plot in paper.plots(rows)}
    assert {"xdmm-figure-2", "xdmm-figure-3", "xdmm-figure-6-nmi"} <= names
    assert all(claim.measured() != "not measured yet" for claim in paper.claims(rows))
    measured.clear()
    assert run() == rows
    assert measured == []


def test_kmeans_and_lda_come_last_at_both_sizes(measured: list[str]) -> None:
    found = run("baselines")
    cells = {tuple(key.split(", ")[1:4]) for key in found}
    both = {(name, n, s) for name in xdmm.CORPORA for n in "24" for s in (KMEANS, LDA)}
    assert cells == both
    assert len(found) == 2 * len(both)
    assert found["nmi, 20ng, 2, K-means, seed 0"]["K"] == 6
    assert found["nmi, 20ng, 2, K-means, seed 0"]["nmi_geometric"] > 0.5
    assert xdmm.SECTIONS[-1] == "baselines"
    assert xdmm.Size().baselines == 3


# ---------------------------------------------------------------- agreement


def agreement(system: str, values: dict[int, float], cell: str = "20ng, 2") -> dict[str, Row]:
    return {
        f"nmi, {cell}, {system}, seed {seed}": {"K": 40, "nmi_geometric": value, "n_clusters": 30}
        for seed, value in values.items()
    }


def test_a_cell_without_gibbs_is_left_out_and_one_without_a_system_shown() -> None:
    rows = agreement(MH, {0: 0.5}, "reuters, 2") | agreement(GIBBS, {0: 0.512}, "20ng, 4")
    assert show.cells(Seeds(rows)) == [("20ng", 4)]
    table = paper.tables(rows)["nmi"]
    assert "0.512 (0.687)" in table
    assert "| - (0.681) |" in table  # X-DMM, quoted only


@pytest.mark.parametrize(
    ("differences", "holds"),
    [
        ((0.001, -0.001, 0.0), True),
        ((-0.011, -0.010, -0.009), True),  # worse, but by less than the margin
        ((0.050, 0.051, 0.052), True),  # better is no failure
        ((-0.031, -0.030, -0.029), False),
        ((0.1, -0.1, 0.0), False),  # includes zero, but shows nothing
    ],
)
def test_as_accurate_means_not_below_the_margin(
    differences: tuple[float, ...], holds: bool
) -> None:
    assert judge.as_good("x", {"a": interval(differences)}).holds is holds


def said(rows: dict[str, Row], words: str) -> bool | None:
    (claim,) = (c for c in paper.claims(rows) if words in c.says)
    return claim.holds


def test_every_system_of_table_5_is_judged() -> None:
    values = {0: 0.70, 1: 0.71, 2: 0.69}
    rows = {}
    for name in xdmm.CORPORA:
        for times in "24":
            below = {GIBBS: 0.0, MH: 0.0, ONLINE: 0.05, KMEANS: 0.1, LDA: 0.2}
            for system, less in below.items():
                lower = {seed: value - less * (1 + 0.1 * seed) for seed, value in values.items()}
                rows |= agreement(system, lower, f"{name}, {times}")
    assert said(rows, "X-DMM is as accurate") is True
    assert said(rows, "FGSDMM+") is False
    assert said(rows, "K-means and LDA") is True
    better = agreement(KMEANS, dict.fromkeys(values, 0.9), "20ng, 2")
    assert said({**rows, **better}, "K-means and LDA") is False


def test_what_is_said_of_an_online_start_is_in_the_rows() -> None:
    rows = rows_of("papers/xdmm")
    of = Seeds(rows)
    for cell in show.cells(of):
        found = [of.values(show.key(*cell, s), "n_clusters") for s in (ONLINE, GIBBS)]
        online, plain = (np.mean(list(values.values())) for values in found)
        assert online < 0.7 * plain
    for row in show.section(rows, "perplexity").values():
        assert row["chains"][ONLINE]["levels"] == [None] * len(show.LEVELS)
    for row in show.section(rows, "index").values():
        assert row["settled"][ONLINE] is None
    for row in show.section(rows, "opened").values():
        orders = [row[order] for order in ("given", "shuffled")]
        assert all(of["clusters"] < int(k) for order in orders for k, of in order.items())


# ---------------------------------------------------------------- time


def perplexity(seconds: dict[str, list[float | None]]) -> Row:
    """A run whose chains reached the four levels after so many seconds."""
    of = {name: {"levels": seconds.get(name, [1.0] * 4)} for name in (GIBBS, ONLINE, MH, PARALLEL)}
    series = {"seconds": [1.0], "nmi": [0.5]}
    return {
        "K": 200,
        "n_docs": 100,
        "perplexities": [40.0, 30.0, 20.0, 10.0],
        "chains": {name: {**row, "series": series} for name, row in of.items()},
    }


@pytest.mark.parametrize(("theirs", "holds"), [(4.0, True), (0.5, False)])
def test_faster_is_the_ratio_over_runs(theirs: float, holds: bool) -> None:
    rows = {
        f"perplexity, ohsumed, seed {seed}": perplexity({GIBBS: [theirs * (1 + 0.01 * seed)] * 4})
        for seed in range(3)
    }
    assert said(rows, "a perplexity sooner") is holds


def test_a_level_that_was_not_reached_proves_nothing() -> None:
    rows = {"perplexity, ohsumed, seed 0": perplexity({MH: [1.0, 1.0, 1.0, None]})}
    assert said(rows, "a perplexity sooner") is None
    assert "not reached" in paper.tables(rows)["levels"]


@pytest.mark.parametrize(
    ("two", "faster", "linear"), [(0.52, True, True), (0.75, True, False), (1.2, False, False)]
)
def test_threads_are_faster_and_nearly_in_proportion(
    two: float, faster: bool, linear: bool
) -> None:
    seconds = {"1": [1.0, 1.01, 0.99], "2": [two, two * 1.005, two * 0.995]}
    rows = {"threads, 20ng, blocked": {"K": 20, "seconds": seconds}}
    assert [claim.holds for claim in paper.claims(rows)[-2:]] == [faster, linear]


def test_more_than_the_threads_can_give_is_no_result() -> None:
    good = {"1": [1.0, 1.0, 1.0], "2": [0.55, 0.56, 0.57]}
    bad = {"1": [1.0, 1.0, 1.5], "2": [0.6, 0.55, 0.5]}  # 3 times on two threads
    key = "threads, {}, blocked".format
    rows = {key("20ng"): {"K": 20, "seconds": bad}, key("ohsumed"): {"K": 23, "seconds": good}}
    assert [claim.holds for claim in paper.claims(rows)[-2:]] == [None, None]
    assert "disturbed: 1.67, 1.82, 3.00x" in paper.tables(rows)["threads"]
    assert "disturbed" in paper.claims(rows)[-2].measured()
    slow = {"1": [1.0, 1.01, 1.02], "2": [1.2, 1.21, 1.2]}
    rows[key("ohsumed")] = {"K": 23, "seconds": slow}  # one that fails is enough
    assert [claim.holds for claim in paper.claims(rows)[-2:]] == [False, False]


@pytest.mark.parametrize(("power", "holds"), [(1.0, True), (0.1, False)])
def test_the_gain_of_a_sweep_is_held_against_k(power: float, holds: bool) -> None:
    rows = {
        f"clusters, {k}": {
            "K": k,
            "samplers": {
                GIBBS: {"seconds_a_sweep": (k / 20) ** power * (1 + 0.01 * (k % 3))},
                MH: {"seconds_a_sweep": 0.2},
            },
        }
        for k in (20, 80, 160, 240)
    }
    assert said(rows, "proportional to K") is holds


@pytest.mark.parametrize(("theirs", "holds"), [((4.0, 4.2, 4.4), True), ((0.5, 4.0, 1.0), False)])
def test_settling_sooner_is_over_the_corpora(theirs: tuple[float, ...], holds: bool) -> None:
    rows = {
        f"index, {name}": {
            "settled": {GIBBS: {"seconds": value}, MH: {"seconds": 2.0}},
            "index_seconds": 1.0,
            "sampling_seconds": 9.0,
        }
        for name, value in zip(xdmm.CORPORA, theirs, strict=True)
    }
    assert said(rows, "settles sooner") is holds
    rows["index, 20ng"]["settled"][MH] = rows["index, reuters"]["settled"][MH] = None
    assert said(rows, "settles sooner") is None


@pytest.mark.parametrize(("late", "holds"), [(0.6, True), (0.1, False)])
def test_both_curves_must_go_together(late: float, holds: bool) -> None:
    rows = {}
    for seed in range(3):
        row = perplexity({})
        nmi = [0.1, 0.3, 0.45, late + 0.01 * seed]
        row["chains"][GIBBS]["series"] = {"likelihood": [-8.0, -7.6, -7.3, -7.0], "nmi": nmi}
        rows[f"perplexity, ohsumed, seed {seed}"] = row
    assert said(rows, "NMI rises") is holds
