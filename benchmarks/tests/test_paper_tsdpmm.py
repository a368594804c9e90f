"""TSDPMM's tables: what a difference is, the claims, and that what is said is in the rows."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.harness.store import Row, rows_of
from benchmarks.papers import PAPERS, tsdpmm

SEVEN = (0.0, 0.1, 0.2, 0.3, 0.2, 0.1, 0.0)  # seven runs that differ a little


def days(gains: tuple[float, ...], lifelong: float = 0.0) -> list[Row]:
    """Two days; TSDPMM gains this much in each run, on the second day twice as much."""

    def scores(value: float) -> Row:
        return {"nmi": value, "nmi_geometric": value, "n_clusters": 3}

    first, second = list(tsdpmm.PAPER)[:2]
    runs = []
    for g in gains:
        late = {"DPMM": scores(0.3), "TSDPMM": scores(0.3 + 2 * g)}
        late |= {
            form: scores(0.3 + 2 * g + lifelong * (1 + g)) for form in (tsdpmm.L, tsdpmm.L_KEPT)
        }
        runs.append({first: {"DPMM": scores(0.3), "TSDPMM": scores(0.3 + g)}, second: late})
    return runs


def keyed(**cases: list[Row]) -> dict[str, Row]:
    """These runs as rows of the cases."""
    names = {"main": tsdpmm.MAIN, "from_one": tsdpmm.FROM_ONE}
    names |= {"broad": tsdpmm.key(1.0), "fine": tsdpmm.key(0.1)}
    return {f"{names[c]}, seed {i}": run for c, of in cases.items() for i, run in enumerate(of)}


def test_a_gain_is_over_the_means_of_runs_or_of_days() -> None:
    row = days((0.1, 0.2, 0.3))
    over_runs, over_days = tsdpmm.gain(row), tsdpmm.gain(row, over="days")
    assert over_runs.mean == pytest.approx(over_days.mean) == pytest.approx(0.3)
    assert (over_runs.n, over_days.n) == (3, 2)
    assert tsdpmm.gain(row, days=["20N-1"]).mean == pytest.approx(0.2)


def test_the_lifelong_gain_is_over_the_days_that_have_it() -> None:
    found = tsdpmm.gain(days(SEVEN, lifelong=0.1), ours=tsdpmm.L, theirs="TSDPMM")
    assert found.mean == pytest.approx(0.1 * (1 + np.mean(SEVEN)))


@pytest.mark.parametrize(("sign", "holds"), [(1, True), (-1, False)])
def test_tsdpmm_s_claims_follow_the_runs(sign: int, holds: bool) -> None:
    gains = tuple(sign * (0.1 + value) for value in SEVEN)
    row = days(gains, lifelong=sign * 0.1)
    other = days(tuple(-value for value in gains))
    found = tsdpmm.claims(keyed(main=row, from_one=other))
    over_runs, from_one, over_days, lifelong, *_ = found
    assert over_runs.holds is lifelong.holds is holds
    assert over_days.holds is False  # two days, one gaining twice the other
    assert from_one.holds is not holds
    assert "20 random clusters" in over_runs.says
    assert "one cluster" in from_one.says


def test_one_run_decides_nothing_of_tsdpmm() -> None:
    row = days((0.1,), lifelong=0.1)
    over_runs, from_one, _, lifelong, *_ = tsdpmm.claims(keyed(main=row))
    assert over_runs.holds is from_one.holds is lifelong.holds is None


@pytest.fixture(scope="module")
def kept() -> dict[str, Row]:
    """The rows in the repository."""
    return rows_of(*PAPERS["tsdpmm"].files)


def test_what_is_said_of_perplexity_is_in_the_rows(kept: dict[str, Row]) -> None:
    broad, fine = (tsdpmm.runs_of(kept, tsdpmm.key(beta)) for beta in tsdpmm.BETAS)

    def at(runs: tsdpmm.Runs, model: str, measure: str) -> float:
        return float(np.mean(tsdpmm.at(runs, str(year), model, measure)))

    for year in (2013, 2014):
        for model, theirs in tsdpmm.PAPER_YEARS[year].items():
            assert at(broad, model, "n_clusters") == pytest.approx(5.5, abs=0.6)
            assert 2.6 < at(broad, model, "mixture") / theirs < 3.2
            assert at(fine, model, "documents_only") == pytest.approx(theirs, rel=0.04)
        plain, seeded = (at(fine, model, "n_clusters") for model in ("DPMM", "TSDPMM-P"))
        assert plain == pytest.approx(65, abs=2)
        assert seeded / plain == pytest.approx(1.25, abs=0.05)
        assert at(fine, "TSDPMM-P", "documents_only") < at(fine, "DPMM", "documents_only")
        assert at(fine, "TSDPMM-P", "given_z") > at(fine, "DPMM", "given_z")


def test_what_is_said_of_the_days_is_in_the_rows(kept: dict[str, Row]) -> None:
    def runs(case: str) -> tsdpmm.Runs:
        return tsdpmm.runs_of(kept, case)

    assert tsdpmm.gain(runs(tsdpmm.MAIN)).low > 0 > tsdpmm.gain(runs(tsdpmm.FROM_ONE)).high
    classes = runs("seeds: yesterday's true classes")
    assert all(tsdpmm.gain(classes, days=[day]).mean > 0 for day in tsdpmm.PAPER)
    assert not tsdpmm.gain(runs("as published, class left out")).above_zero
    read = runs("as published, class read")
    apart = [
        abs(np.mean(tsdpmm.at(read, day, model, "nmi_geometric")) - theirs)
        for day, of in tsdpmm.PAPER.items()
        for model, theirs in zip(("DPMM", "TSDPMM"), of, strict=False)
    ]
    assert sum(value <= 0.02 for value in apart) >= 9
    assert len(apart) == 12


def test_a_lower_perplexity_is_a_gain() -> None:
    runs = [
        {"2013": {"DPMM": {"mixture": 300.0 + i}, "TSDPMM-P": {"mixture": 290.0 - i}}}
        for i in range(4)
    ]
    assert tsdpmm.lower(runs, 2013, "mixture").mean == pytest.approx(13.0)
    assert tsdpmm.lower(runs, 2013, "mixture").above_zero


def test_perplexity_is_judged_by_both_definitions() -> None:
    def runs(gain: float) -> list[Row]:
        both = {
            "DPMM": dict.fromkeys(tsdpmm.PERPLEXITIES, 300.0),
            "TSDPMM-P": dict.fromkeys(tsdpmm.PERPLEXITIES, 300.0 - gain),
        }
        return [{"2013": both, "2014": both}] * 3

    found = tsdpmm.claims(keyed(broad=runs(-5.0), fine=runs(5.0)))
    held = {claim.says: claim.holds for claim in found if "perplexity" in claim.says}
    assert list(held.values()) == [False, True, None]
