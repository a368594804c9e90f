"""Seconds over copies of a corpus: the least of several fits, what does not fit, straight lines."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")

from benchmarks.data import Corpus
from benchmarks.papers import copies
from benchmarks.store import Options, Results

TASK = copies.Timed("toy", 3, "slow")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What each fit takes, one after the other; the first is the one that compiles."""
    took: list[float] = []

    def fit(documents: Any, n: int, settings: Any, watch: Any) -> None:
        watch.seconds, watch.peak_mb = took.pop(0), 1.0

    corpus = Corpus([["a"]] * 4, ["x"] * 4)
    monkeypatch.setattr(copies, "corpus_of", lambda name, limit: corpus)
    monkeypatch.setitem(copies.SYSTEMS, "slow", fit)
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
def test_the_least_of_several_fits(
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
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clock: list[float],
    problem: Exception,
    why: str,
) -> None:
    def alone(function: Any, task: Any) -> Any:
        raise problem

    monkeypatch.setattr(copies, "alone", alone)
    results = Results("x", Options(), tmp_path)
    copies.run(results, {"a": TASK})
    assert results.rows == {"a": {"n_docs": 12, "failed": why}}
    assert copies.shown(results.rows["a"]) == f"({why})"


def rows(power: float, n: int = 9) -> dict[int, dict[str, Any]]:
    return {2**i: {"n_docs": 1000 * 2**i, "seconds": 0.1 * 2 ** (i * power)} for i in range(n)}


def test_all_lines_must_be_straight() -> None:
    straight, curved = (list(rows(power).values()) for power in (1.02, 1.5))
    assert copies.linear("", {"a": straight, "b": straight}, 9).holds is True
    assert copies.linear("", {"a": straight, "b": curved}, 9).holds is False
    assert copies.linear("", {"a": straight, "b": curved[:5]}, 9).holds is None
    assert copies.linear("", {"a": [*straight[:8], {"n_docs": 1, "failed": "killed"}]}, 9).holds


def test_a_ratio_is_over_the_sizes_that_both_have() -> None:
    twice = {n: {**row, "seconds": 2 * row["seconds"]} for n, row in rows(1.0, 4).items()}
    found = copies.ratio(twice | {99: {"failed": "killed"}}, rows(1.0))
    assert found is not None
    assert found == pytest.approx((2.0, 2.0, 2.0, 4))
    assert copies.ratio(twice, {}) is None


def test_the_rule_of_timing_is_told_from_the_rows() -> None:
    new, old = {"seconds": 1.0, "all": [1.0, 1.2]}, {"seconds": 1.0, "fits": 1}
    assert copies.how_timed([new]) == "the least of 2 fits"
    assert copies.how_timed([new, {**new, "all": [1.0] * 5}]) == "the least of 2 to 5 fits"
    assert "; earlier rows (1) are medians" in copies.how_timed([new, old])
    assert copies.how_timed([{"n_docs": 1, "failed": "killed"}]) == "not measured yet"
