"""The harness: rows measured once and kept with their commit, intervals, claims, scored fits."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.harness import claims, data, pool, probe, scored, scores, seeds, store, systems
from benchmarks.harness.scores import NMI, Interval
from benchmarks.harness.seeds import Seeds
from benchmarks.harness.store import Options, Results
from benchmarks.papers import gsdmm as gsdmm_plan

QUICK = Options(quick=True)


def counting() -> tuple[list[int], Callable[[], dict[str, int]]]:
    calls: list[int] = []

    def make() -> dict[str, int]:
        calls.append(1)
        return {"n": len(calls)}

    return calls, make


# ---------------------------------------------------------------- rows


def test_a_row_is_measured_once_and_kept_for_the_next_run(home: Path) -> None:
    calls, make = counting()
    first = Results("papers/x", Options())
    assert first.once("a", make) == first.once("a", make) == {"n": 1, "commit": "now"}
    assert Results("papers/x", Options()).once("a", make)["n"] == 1
    assert len(calls) == 1
    assert (home / "papers" / "results" / "x.json").is_file()


def test_again_measures_every_row_anew_and_once(home: Path) -> None:
    calls, make = counting()
    Results("papers/x", Options()).once("a", make)
    results = Results("papers/x", Options(again=True))
    results.once("a", make)
    results.once("a", make)
    assert len(calls) == 2


def test_rows_of_another_machine_are_not_taken(home: Path, capsys: Any) -> None:
    calls, make = counting()
    Results("papers/x", Options()).once("a", make)
    path = home / "papers" / "results" / "x.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "machine": {"processor": "abacus"}}))
    Results("papers/x", Options()).once("a", make)
    assert len(calls) == 2
    assert "another machine" in capsys.readouterr().err


def test_quick_rows_are_kept_apart(home: Path) -> None:
    _, make = counting()
    Results("papers/x", QUICK).once("a", make)
    assert (home / "out" / "papers" / "x.json").is_file()
    assert not Results("papers/x", Options()).has("a")


@pytest.mark.usefixtures("home", "serial")
def test_fill_measures_only_what_is_missing() -> None:
    asked: list[int] = []

    def double(n: int) -> dict[str, int]:
        asked.append(n)
        return {"n": 2 * n}

    results = Results("papers/x", Options())
    results.add("one", {"n": 2})
    results.fill(double, {"one": 1, "two": 2, "three": 3})
    results.fill(double, {"two": 2})
    assert asked == [2, 3]
    assert {key: row["n"] for key, row in results.rows.items()} == {"one": 2, "two": 4, "three": 6}


def test_every_stored_row_has_a_commit() -> None:
    files = sorted(store.HERE.glob("*/results/*.json"))
    assert len(files) >= 20
    for path in files:
        rows = store.read(path)["rows"]
        assert all(row["commit"] for row in rows.values()), path


def test_a_checkout_says_its_commit_and_a_copy_without_git_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probe.commit.cache_clear()
    assert probe.commit()
    probe.commit.cache_clear()
    monkeypatch.setattr(probe.subprocess, "run", lambda *a, **k: (_ for _ in ()).throw(OSError))
    assert probe.commit() == "unknown"
    probe.commit.cache_clear()


MACHINE = {"processor": "one", "packages": "coterie 0.1.0, numpy 2.4.6"}


def test_a_peer_installed_later_leaves_the_rows_alone() -> None:
    peers = {**MACHINE, "packages": "coterie 0.1.0, numpy 2.4.6, bitermplus 1.0.0"}
    assert probe.same_machine(MACHINE, peers) == probe.same_machine(peers, MACHINE) == peers


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
    assert probe.same_machine(MACHINE, other) is None


def test_a_version_of_a_peer_that_is_gone_is_remembered() -> None:
    with_peer = {**MACHINE, "packages": MACHINE["packages"] + ", topica 0.62.0"}
    both = probe.same_machine(with_peer, MACHINE)
    assert both is not None
    newer = {**MACHINE, "packages": MACHINE["packages"] + ", topica 0.63.0"}
    assert probe.same_machine(both, newer) is None


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


# ---------------------------------------------------------------- claims

SURE, UNSURE = Interval(0.1, 0.05, 0.15, 20), Interval(0.1, -0.01, 0.21, 20)
SINGLE = Interval(0.1, -math.inf, math.inf, 1)


@pytest.mark.parametrize(
    ("gains", "told"),
    [
        ({"a": SURE, "b": SURE}, "holds"),
        ({"a": SURE, "b": UNSURE}, "holds in part, 1 of 2"),
        ({"a": UNSURE, "b": UNSURE}, "does not hold"),
        ({"a": SURE, "b": None}, "not measured"),
        ({"a": SURE, "b": SINGLE}, "not measured"),  # one run decides nothing
        ({"a": SURE, "b": UNSURE, "c": None}, "holds in part, 1 of 2"),
        ({"a": UNSURE, "b": None}, "does not hold"),
        ({"a": None}, "not measured"),
        ({}, "not measured"),
    ],
)
def test_a_claim_has_one_of_three_verdicts_once_it_is_measured(
    gains: claims.Gains, told: str
) -> None:
    assert claims.wins("", gains).told() == told


def test_what_fails_is_named_and_else_the_weakest() -> None:
    part = claims.wins("", {"a": SURE, "b": UNSURE})
    assert part.measured(3) == "not met: b +0.100 (-0.010 to +0.210); 20 runs"
    whole = claims.wins("", {"a": SURE, "b": Interval(0.2, 0.01, 0.39, 3)})
    assert whole.measured(1) == "weakest: b +0.200 (+0.010 to +0.390); 3 to 20 runs"
    assert "a +0.100 (+0.050 to +0.150), b +0.200" in whole.measured()
    many = claims.wins("", dict.fromkeys("abcde", UNSURE))
    assert many.measured(3).count("+0.100") == 3
    assert "not met" not in many.measured(3)  # none of them is: the verdict says so
    assert "and 2 more" in many.measured(3)
    assert "1 not measured" in claims.wins("", {"a": SURE, "b": None}).measured()


@pytest.mark.parametrize(("bar", "holds"), [(0.2, True), (0.12, False)])
def test_the_same_needs_the_whole_interval_within(bar: float, holds: bool) -> None:
    assert claims.within("", {"a": SURE}, bar).holds is holds
    assert claims.within("", claims.turned({"a": SURE}), bar).holds is holds


def test_steady() -> None:
    runs = {"a": {0: 0.5, 1: 0.501}, "b": {0: 0.5, 1: 0.6}}
    assert claims.steady("", runs, 0.01).told() == "holds in part, 1 of 2"
    assert claims.steady("", {"a": runs["a"]}, 0.01).holds is True
    assert claims.steady("", {"a": runs["a"], "b": {}}, 0.01).holds is None


# ---------------------------------------------------------------- reading rows


def test_values_of_seeds_and_of_a_sweep() -> None:
    curve = {"sweep": [1, 5], "nmi": [0.2, 0.4]}
    of = Seeds({"k, seed 0": {"nmi": 0.5, "curve": curve}, "k, seed 2": {"nmi": 0.7}})
    assert of.values("k", "nmi") == {0: 0.5, 2: 0.7}
    assert of.values(("k", 5), "nmi") == {0: 0.4}


def test_gains_pair_the_seeds_that_both_have() -> None:
    rows = {f"us, seed {s}": {"nmi": 0.5 + s / 10} for s in range(3)} | {"hac": {"nmi": 0.1}}
    rows |= {f"they, seed {s}": {"nmi": s / 10} for s in (1, 2, 3)}
    of = Seeds(rows)
    for other, n in (("they", 2), ("hac", 3)):  # one without chance stands for every seed
        found = of.gain("us", other, "nmi")
        assert found is not None
        assert (found.mean, found.n) == (pytest.approx(0.5), n)
    assert of.gain("us", "nobody", "nmi") is None


def test_runs_are_counted_from_the_rows() -> None:
    of = Seeds({f"k, seed {s}": {NMI: 0.5} for s in range(3)} | {"l, seed 0": {NMI: 0.5}})
    assert of.counted(["k"]) == "3 runs"
    assert of.counted(["k", "l", "m"]) == "0 to 3 runs"
    figure = seeds.Figure("x", (0, 1), {"line": lambda x: of.values("kl"[int(x)])})
    assert "| line | 1 to 3 | 0.50 | 0.50 |" in figure.table("", 2)


def test_relative_change() -> None:
    found = Seeds(
        {
            f"{k}, seed {s}": {"n": n}
            for k, s, n in (
                ("old", 0, 100.0),
                ("old", 1, 100.0),
                ("new", 0, 110.0),
                ("new", 1, 120.0),
            )
        }
    ).change("new", "old", "n")
    assert found is not None
    assert found.mean == pytest.approx(0.15)


# ---------------------------------------------------------------- fits on a toy corpus

WORDS = {"food": "oven bread dough bake", "bikes": "ride gear wheel hill"}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    classes = [name for name in WORDS for _ in range(20)]
    documents = [[str(w) for w in rng.choice(WORDS[name].split(), 5)] for name in classes]
    corpus = data.Corpus(documents, classes)
    monkeypatch.setattr(scored, "part_of", lambda name, limit: corpus)


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
    row = scored.measure(scored.Ask("toy", system, 1, settings, (1, 4)))
    assert row["nmi_geometric"] > 0.8
    assert set(gsdmm_plan.MEASURES) < set(row)
    assert row["n_clusters"] >= row["above_1"] >= row["above_3"]
    if system in ("gsdmm", "gsdpmm", "kmeans_steps"):
        assert row["curve"]["sweep"] == [1, 4]
        assert row["curve"]["nmi_geometric"][-1] == pytest.approx(row["nmi_geometric"], abs=1e-4)


@pytest.mark.usefixtures("toy")
def test_lda_parts_them_too() -> None:
    pytest.importorskip("tomotopy", reason='tomotopy is in "coterie[bench]"')
    settings = dict(n_clusters=2, alpha=0.1, beta=0.1, n_sweeps=50, step=10)
    row = scored.measure(scored.Ask("toy", "lda", 1, settings, (10, 50)))
    assert row["nmi_geometric"] > 0.5
    assert row["curve"]["sweep"] == [10, 50]


@pytest.mark.usefixtures("home", "serial")
def test_what_needs_a_missing_package_is_left_out(capsys: Any) -> None:
    def measure(system: str) -> dict[str, int]:
        if system == "lda":
            raise ModuleNotFoundError(name="tomotopy")
        return {"n": 1}

    results = Results("papers/x", Options())
    results.fill(measure, {system: system for system in ("lda", "kmeans")})
    assert set(results.rows) == {"kmeans"}
    assert "tomotopy is not installed" in capsys.readouterr().err


def test_distances_are_one_less_the_cosine() -> None:
    from scipy.sparse import csr_array
    from scipy.spatial.distance import pdist
    from sklearn.preprocessing import normalize

    rows = normalize(np.random.default_rng(0).random((7, 4)))
    assert systems.cosine_distances(csr_array(rows)) == pytest.approx(pdist(rows, "cosine"))


def test_a_tree_is_cut_into_exactly_so_many() -> None:
    from scipy.cluster.hierarchy import cut_tree, linkage

    rng = np.random.default_rng(1)
    tree = linkage(rng.random((30, 2)), "average")
    for k in (1, 2, 7, 30):
        ours, theirs = systems.cut_tree(tree, k), cut_tree(tree, n_clusters=k)[:, 0]
        assert len(set(ours)) == k == len(set(zip(ours, theirs, strict=True)))
    ties = linkage(np.ones(15 * 14 // 2), "complete")
    assert len(set(systems.cut_tree(ties, 4))) == 4
