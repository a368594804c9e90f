"""The papers' kit: rows measured once, intervals, claims, and the fits that rows are made of."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")

from benchmarks import pool, scores, store
from benchmarks.papers import fits, gather, kit
from benchmarks.papers.gsdmm import plan as gsdmm_plan
from benchmarks.scores import Interval
from benchmarks.store import Options, Results

QUICK = Options(quick=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The harness writes below here."""
    folder = tmp_path / "benchmarks"
    monkeypatch.setattr(store, "HERE", folder)
    return folder / "papers"


def counting() -> tuple[list[int], Callable[[], dict[str, int]]]:
    calls: list[int] = []

    def make() -> dict[str, int]:
        calls.append(1)
        return {"n": len(calls)}

    return calls, make


# ---------------------------------------------------------------- rows


def test_a_row_is_measured_once_and_kept_for_the_next_run(home: Path) -> None:
    calls, make = counting()
    first = Results("x", Options(), home)
    assert first.once("a", make) == first.once("a", make) == {"n": 1}
    assert Results("x", Options(), home).once("a", make) == {"n": 1}
    assert len(calls) == 1
    assert (home / "results" / "x.json").is_file()


def test_again_measures_every_row_anew_and_once(home: Path) -> None:
    calls, make = counting()
    Results("x", Options(), home).once("a", make)
    results = Results("x", Options(again=True), home)
    results.once("a", make)
    results.once("a", make)
    assert len(calls) == 2


def test_rows_of_another_machine_are_not_taken(home: Path, capsys: Any) -> None:
    calls, make = counting()
    Results("x", Options(), home).once("a", make)
    path = home / "results" / "x.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "machine": {"processor": "abacus"}}))
    Results("x", Options(), home).once("a", make)
    assert len(calls) == 2
    assert "another machine" in capsys.readouterr().err


def test_quick_rows_are_kept_apart(home: Path) -> None:
    _, make = counting()
    Results("x", QUICK, home).once("a", make)
    assert (home.parent / "out" / "papers" / "x.json").is_file()
    assert not Results("x", Options(), home).has("a")


def test_a_row_a_line(home: Path) -> None:
    results = Results("x", Options(), home)
    for key in "abc":
        results.add(key, {"runs": [1, 2, {"deep": 3}]})
    lines = (home / "results" / "x.json").read_text().splitlines()
    assert sum('"runs"' in line for line in lines) == 3
    assert store.read(home / "results" / "x.json")["rows"] == results.rows


def test_fill_asks_for_what_is_missing_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def serial(function: Any, tasks: Any) -> Iterator[Any]:
        for task in tasks:
            yield task, function(task)

    def double(n: int) -> dict[str, int]:
        asked.append(n)
        return {"n": 2 * n}

    monkeypatch.setattr(store, "spread", serial)
    results = Results("x", Options(), home)
    results.add("one", {"n": 2})
    results.fill(double, {"one": 1, "two": 2, "three": 3})
    results.fill(double, {"two": 2})
    assert asked == [2, 3]
    assert {key: row["n"] for key, row in results.rows.items()} == {"one": 2, "two": 4, "three": 6}


def test_a_pool_that_is_left_early_does_not_do_the_rest(tmp_path: Path) -> None:
    tasks = [str(tmp_path / str(i)) for i in range(40)]
    for _ in pool.spread(_touch, tasks):
        break
    assert len(list(tmp_path.iterdir())) < len(tasks)


def _touch(path: str) -> None:
    time.sleep(0.05)
    Path(path).touch()


# ---------------------------------------------------------------- intervals


def test_paired_is_student_of_the_differences() -> None:
    found = scores.paired([1.0, 2.0, 4.0], [0.5, 1.0, 2.0])
    gains = np.array([0.5, 1.0, 2.0])
    half = 4.302652729911275 * gains.std(ddof=1) / math.sqrt(3)  # t of 2 degrees, 97.5%
    assert found == pytest.approx((gains.mean(), gains.mean() - half, gains.mean() + half, 3))
    assert not found.above_zero


def test_a_single_difference_proves_nothing() -> None:
    found = scores.paired([2.0], [1.0])
    assert found.mean == 1.0
    assert not found.above_zero
    assert found.high == math.inf


def test_unequal_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        scores.paired([1.0, 2.0], [1.0])


# ---------------------------------------------------------------- claims

SURE, UNSURE = Interval(0.1, 0.05, 0.15, 20), Interval(0.1, -0.01, 0.21, 20)


@pytest.mark.parametrize(
    ("gains", "holds"),
    [
        ({"a": SURE, "b": SURE}, True),
        ({"a": SURE, "b": UNSURE}, False),
        ({"a": SURE, "b": None}, None),
        ({"a": UNSURE, "b": None}, False),
        ({"a": None}, None),
    ],
)
def test_a_win_needs_every_interval_above_zero(gains: kit.Gains, holds: bool | None) -> None:
    assert kit.wins("", gains).holds is holds


def test_a_loss_is_named() -> None:
    assert "b +0.100 (-0.010 to +0.210)" in kit.wins("", {"a": SURE, "b": UNSURE}).measured


@pytest.mark.parametrize(("bar", "holds"), [(0.2, True), (0.12, False)])
def test_the_same_needs_the_whole_interval_within(bar: float, holds: bool) -> None:
    assert kit.within("", {"a": SURE}, bar).holds is holds
    assert kit.within("", kit.turned({"a": SURE}), bar).holds is holds


def test_steady() -> None:
    runs = {"a": {0: 0.5, 1: 0.501}, "b": {0: 0.5, 1: 0.6}}
    assert kit.steady("", runs, 0.01).holds is False
    assert kit.steady("", {"a": runs["a"]}, 0.01).holds is True
    assert kit.steady("", {"a": runs["a"], "b": {}}, 0.01).holds is None


# ---------------------------------------------------------------- reading rows


def test_values_of_seeds_and_of_a_sweep() -> None:
    curve = {"sweep": [1, 5], "nmi": [0.2, 0.4]}
    rows = {"k, seed 0": {"nmi": 0.5, "curve": curve}, "k, seed 2": {"nmi": 0.7}}
    assert gather.values(rows, "k", "nmi") == {0: 0.5, 2: 0.7}
    assert gather.values(rows, "k", "nmi", 5) == {0: 0.4}


def test_gains_pair_the_seeds_that_both_have() -> None:
    rows = {f"us, seed {s}": {"nmi": 0.5 + s / 10} for s in range(3)}
    rows |= {f"they, seed {s}": {"nmi": s / 10} for s in (1, 2, 3)}
    found = gather.gain(rows, "us", "they", "nmi")
    assert found is not None
    assert (found.mean, found.n) == (pytest.approx(0.5), 2)
    assert gather.gain({"us, seed 0": {"nmi": 1.0}}, "us", "they", "nmi") is None


def test_a_system_without_chance_stands_for_every_seed() -> None:
    rows = {f"us, seed {s}": {"nmi": 0.5 + s / 10} for s in range(3)} | {"hac": {"nmi": 0.1}}
    found = gather.gain(rows, "us", "hac", "nmi")
    assert found is not None
    assert (found.mean, found.n) == (pytest.approx(0.5), 3)


def test_runs_are_counted_from_the_rows() -> None:
    rows = {f"k, seed {s}": {kit.NMI: 0.5} for s in range(3)} | {"l, seed 0": {kit.NMI: 0.5}}
    assert gather.runs(rows, ["k"]) == "3 runs"
    assert gather.runs(rows, ["l"]) == "1 run"
    assert gather.runs(rows, ["k", "l", "m"]) == "0 to 3 runs"
    line = gather.Series("line", lambda x: gather.values(rows, "kl"[int(x)], kit.NMI))
    assert "| line | 1 to 3 | 0.50 | 0.50 |" in gather.figure_table((0, 1), [line], "", 2)


def test_relative_change() -> None:
    found = gather.change({0: 110.0, 1: 120.0}, {0: 100.0, 1: 100.0})
    assert found is not None
    assert found.mean == pytest.approx(0.15)


# ---------------------------------------------------------------- fits on a toy corpus

WORDS = {"food": "oven bread dough bake", "bikes": "ride gear wheel hill"}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    classes = [name for name in WORDS for _ in range(20)]
    documents = [[str(w) for w in rng.choice(WORDS[name].split(), 5)] for name in classes]
    corpus = fits.Corpus(documents, classes)
    monkeypatch.setattr(fits, "corpus_of", lambda name, limit: corpus)


@pytest.mark.parametrize(
    ("system", "settings"),
    [
        ("gsdmm", dict(n_clusters=8, n_sweeps=4)),
        ("gsdmm", dict(n_clusters=2, n_sweeps=4, sampler="em")),
        ("gsdpmm", dict(alpha_per_doc=0.01, beta=0.1, n_sweeps=4)),
        ("subset", dict(share=0.5, n_clusters=8, n_sweeps=4)),
        ("kmeans", dict(n_clusters=2, n_init=2)),
        ("kmeans_steps", dict(n_clusters=2, n_steps=4)),
        *(("hac", dict(n_clusters=2, linkage=how)) for how in gsdmm_plan.LINKAGES),
    ],
)
@pytest.mark.usefixtures("toy")
def test_systems_part_two_plain_clusters(system: str, settings: dict[str, Any]) -> None:
    row = fits.measure(fits.Ask("toy", system, 1, settings, (1, 4)))
    assert row["nmi_geometric"] > 0.8
    assert set(gsdmm_plan.MEASURES) < set(row)
    assert row["n_clusters"] >= row["above_1"] >= row["above_3"]
    if system in ("gsdmm", "gsdpmm", "kmeans_steps"):
        assert row["curve"]["sweep"] == [1, 4]
        assert row["curve"]["nmi_geometric"][-1] == pytest.approx(row["nmi_geometric"], abs=1e-4)


@pytest.mark.usefixtures("toy")
def test_lda_parts_them_too() -> None:
    pytest.importorskip("tomotopy", reason='tomotopy is in "coterie[bench]"')
    settings = dict(n_clusters=2, alpha=0.1, eta=0.1, n_sweeps=50)
    row = fits.measure(fits.Ask("toy", "lda", 1, settings, (10, 50)))
    assert row["nmi_geometric"] > 0.5
    assert row["curve"]["sweep"] == [10, 50]


def test_what_needs_a_missing_package_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    tasks = {system: fits.Ask("toy", system, 0) for system in ("lda", "kmeans")}
    monkeypatch.setattr(fits, "find_spec", lambda name: None)
    assert set(fits.possible(tasks)) == {"kmeans"}
    assert "tomotopy is not installed" in capsys.readouterr().err
    monkeypatch.setattr(fits, "find_spec", lambda name: name)
    assert fits.possible(tasks) == tasks


def test_distances_are_one_less_the_cosine() -> None:
    from scipy.sparse import csr_array
    from scipy.spatial.distance import pdist
    from sklearn.preprocessing import normalize

    rows = normalize(np.random.default_rng(0).random((7, 4)))
    assert fits._cosine_distances(csr_array(rows)) == pytest.approx(pdist(rows, "cosine"))


def test_a_tree_is_cut_into_exactly_so_many() -> None:
    from scipy.cluster.hierarchy import cut_tree, linkage

    rng = np.random.default_rng(1)
    tree = linkage(rng.random((30, 2)), "average")
    for k in (1, 2, 7, 30):
        ours, theirs = fits._cut(tree, k), cut_tree(tree, n_clusters=k)[:, 0]
        assert len(set(ours)) == k == len(set(zip(ours, theirs, strict=True)))
    ties = linkage(np.ones(15 * 14 // 2), "complete")
    assert len(set(fits._cut(ties, 4))) == 4


def test_brief_scores_are_the_full_ones() -> None:
    classes, labels = list("aabbccc"), [0, 0, 0, 1, 1, 2, 2]
    full = scores.full_score(classes, labels)
    for name, value in scores.full_score(classes, labels, brief=True).items():
        assert value == pytest.approx(full[name]), name
