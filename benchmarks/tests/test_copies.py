"""Seconds by copies of a corpus: the fastest of several fits, what does not fit, linear time."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness import copies
from benchmarks.harness.data import Corpus
from benchmarks.harness.store import Options, Results

TASK = copies.Timed("toy", 3, "slow")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What each fit takes, one after the other; the first is the one that compiles."""
    took: list[float] = []

    def fit(documents: Any, n: int, task: Any, watch: Any) -> None:
        watch.seconds, watch.peak_mb = took.pop(0), 1.0

    corpus = Corpus([["a"]] * 4, ["x"] * 4)
    monkeypatch.setattr(copies, "part_of", lambda name, limit: corpus)
    monkeypatch.setattr(copies, "_fit", fit)
    return took


@pytest.mark.parametrize(
    ("took", "kept"),
    [
        ([35.6, 13.5], [35.6, 13.5]),  # two at least, so that a disturbance does not stay
        ([0.9, 0.7, 0.8], [0.9, 0.7, 0.8]),
        ([0.1] * 6, [0.1] * 5),
        ([130.0, 120.0], [130.0]),  # over the budget: once
    ],
)
def test_the_fastest_of_several_fits(
    clock: list[float], took: list[float], kept: list[float]
) -> None:
    clock += [9.0, *took]
    row = copies.timed(TASK)
    assert (row["seconds"], row["all"], row["fits"]) == (min(kept), kept, len(kept))
    assert row["n_docs"] == 12


@pytest.mark.parametrize(
    ("problem", "why"), [(BrokenProcessPool(), "killed"), (MemoryError(), "out of memory")]
)
def test_what_does_not_fit_is_a_row(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    clock: list[float],
    problem: Exception,
    why: str,
) -> None:
    def alone(function: Any, task: Any) -> Any:
        raise problem

    monkeypatch.setattr(copies, "alone", alone)
    results = Results("papers/x", Options())
    copies.run(results, {"a": TASK})
    assert results.rows == {"a": {"n_docs": 12, "failed": why, "commit": "now"}}
    assert copies.shown(results.rows["a"]) == f"({why})"


def rows(power: float, n: int = 9) -> dict[int, dict[str, Any]]:
    return {2**i: {"n_docs": 1000 * 2**i, "seconds": 0.1 * 2 ** (i * power)} for i in range(n)}


def test_all_lines_must_be_straight() -> None:
    straight, curved = rows(1.02), rows(1.5)
    few = dict(list(curved.items())[:5])
    killed = straight | {256: {"n_docs": 1, "failed": "killed"}}
    assert copies.linear("", {"a": straight, "b": straight}, 9).holds is True
    assert copies.linear("", {"a": straight, "b": curved}, 9).told() == "holds in part, 1 of 2"
    assert copies.linear("", {"a": straight, "b": few}, 9).holds is None
    assert copies.linear("", {"a": killed}, 9).holds


def test_a_ratio_is_over_the_sizes_that_both_have() -> None:
    twice = {n: {**row, "seconds": 2 * row["seconds"]} for n, row in rows(1.0, 4).items()}
    found = copies.ratio(twice | {99: {"failed": "killed"}}, rows(1.0))
    assert found is not None
    assert found == pytest.approx((2.0, 2.0, 2.0, 4))
    assert copies.ratio(twice, {}) is None


DOCUMENTS = [["a", "b"], ["c", "d", "d"], ["a", "b", "b"], ["c", "d"]] * 5


@pytest.mark.parametrize(
    ("system", "settings"),
    [
        ("gsdmm", dict(n_clusters=5, alpha=0.1, beta=0.1, n_sweeps=2)),
        ("gsdpmm", dict(beta=0.02, n_sweeps=2)),
        ("classify", dict(n_clusters=5, alpha=0.1, beta=0.1, n_sweeps=2)),
        ("kmeans", dict(n_clusters=2, max_iter=2)),
        ("minibatch", dict(n_clusters=2, max_iter=2)),
        ("lda", dict(n_clusters=2, alpha=0.1, beta=0.1, n_sweeps=2)),
    ],
)
def test_every_system_is_timed_from_copies(system: str, settings: dict[str, Any]) -> None:
    if system == "lda":
        pytest.importorskip("tomotopy", reason='tomotopy is in "coterie[bench]"')
    watch = copies.Watch()
    copies._fit(DOCUMENTS, 2, copies.Timed("toy", 2, system, settings), watch)
    assert watch.seconds > 0
