"""GSDMM's and GSDPMM's tables and figures: what is planned, what is shown, and the claims."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.harness.claims import Claim
from benchmarks.harness.data import OUTLIER, Corpus
from benchmarks.harness.scores import NMI
from benchmarks.harness.store import Options
from benchmarks.papers import PAPERS
from benchmarks.papers import gsdmm as gsdmm_plan
from benchmarks.papers.gsdpmm import plan as gsdpmm_plan
from benchmarks.papers.gsdpmm import topics as gsdpmm_topics

gsdmm, gsdpmm = PAPERS["gsdmm"], PAPERS["gsdpmm"]


def made_up(n: int = 5) -> dict[str, dict[str, Any]]:
    """Rows of Table 2 in which GSDMM is better by .1 everywhere."""
    rows: dict[str, dict[str, Any]] = {}
    for name in gsdmm_plan.SETS:
        for system in gsdmm_plan.SYSTEMS:
            for seed in range(n):
                value = 0.7 + 0.1 * (system == gsdmm_plan.OURS) + seed / 1000
                row = dict.fromkeys(gsdmm_plan.MEASURES, value)
                rows[f"{gsdmm_plan.main_key(name, system)}, seed {seed}"] = {
                    **row,
                    "n_clusters": gsdmm_plan.CLASSES[name] + seed,
                }
    return rows


def holds(claims: list[Claim], start: str) -> bool | None:
    return next(claim.holds for claim in claims if claim.says.startswith(start))


def test_gsdmm_wins_only_if_it_wins_everywhere() -> None:
    rows = made_up()
    assert holds(gsdmm.claims(rows), "GSDMM beats K-means") is True
    assert holds(gsdmm.claims(rows), "From K=500") is True
    key = gsdmm_plan.main_key("tweet", gsdmm_plan.KMEANS)
    for seed in range(5):
        rows[f"{key}, seed {seed}"]["ari"] = 0.9
    (claim,) = [c for c in gsdmm.claims(rows) if c.says.startswith("GSDMM beats K-means")]
    assert claim.told() == "holds in part, 19 of 20"
    assert holds(gsdmm.claims(rows), "GSDMM beats HAC (average") is True


TIMES = gsdmm_plan.COPIES


def seconds(system: str, **took: Any) -> dict[str, dict[str, Any]]:
    """Rows of Table 3: a second a copy, but for those named `x256=2.0`; None: it failed."""
    rows = {}
    for n in TIMES:
        value = took.get(f"x{n}", float(n))
        how = {"failed": "killed"} if value is None else {"seconds": value}
        rows[gsdmm_plan.time_key(system, n)] = {"n_docs": 1000 * n, **how}
    return rows


def test_who_does_not_fit_does_not_reach() -> None:
    says = "GSDMM reaches 256"
    ours = seconds(gsdmm_plan.OURS)
    fail, fit = ({"x256": value} for value in (None, 256.0))
    assert holds(gsdmm.claims(ours), says) is None
    for kmeans, verdict in ((fail, True), (fit, False)):
        rows = ours | seconds(gsdmm_plan.KMEANS, **kmeans) | seconds(gsdmm_plan.MINI, **fail)
        assert holds(gsdmm.claims(rows), says) is verdict
        assert "killed" in gsdmm.tables(rows)["seconds"]


def test_alpha_zero_must_be_faster_at_all_sizes_together() -> None:
    ours, without = seconds(gsdmm_plan.OURS), "GSDMM, alpha = 0"
    less = {f"x{n}": 0.8 * n for n in TIMES}
    assert holds(gsdmm.claims(ours | seconds(without, **less)), "alpha = 0 makes") is True
    assert holds(gsdmm.claims(ours | seconds(without)), "alpha = 0 makes") is False


def test_outliers_must_be_found_at_every_alpha() -> None:
    def key(alpha: float, place: str = "among") -> str:
        return f"{gsdpmm_plan.outlier_key(alpha, place)}, seed 0"

    rows: dict[str, dict[str, Any]] = {
        key(alpha): {"recall": 1.0, "false_alarms": 3} for alpha in gsdpmm_plan.ALPHAS
    }
    assert max(gsdpmm_plan.ALPHAS) / min(gsdpmm_plan.ALPHAS) >= 100  # two decades
    assert holds(gsdpmm.claims(rows), "It finds almost all") is True
    rows[key(0.01, "after")] = {"recall": 0.5, "false_alarms": 20}  # shown, not judged
    assert holds(gsdpmm.claims(rows), "It finds almost all") is True
    rows[key(0.01)]["recall"] = 0.5
    assert holds(gsdpmm.claims(rows), "It finds almost all") is False
    assert holds(gsdpmm.claims(rows), "Fewer than 10") is True


def test_what_the_papers_ask_for_is_planned() -> None:
    names = list(gsdmm_plan.SETS)
    table = gsdmm_plan.table_2(names, 20, tuple(names))
    assert len(table) == 4 * (20 + 20 + 20 + 4)
    ours = [ask for ask in table.values() if ask.system == "gsdmm"]
    assert {ask.settings["n_clusters"] for ask in ours} == {500}
    assert {ask.settings["n_sweeps"] for ask in ours} == {30}
    assert len(gsdmm_plan.figures(names, 20, False)) == 4 * 20 * (8 + 11 + 8 - 2)
    assert max(task.copies for task in gsdmm_plan.table_3(False).values()) == 256
    full = gsdpmm_plan.table_3(list(gsdpmm_plan.NAMES), Options(), (gsdpmm_plan.OURS, "GSDMM"))
    assert len(full) == 5 * 20 * (1 + 3)
    assert len(gsdpmm_plan.outlier_tasks(Options())) == 2 * 20 * len(gsdpmm_plan.ALPHAS)


def test_outliers_are_mixed_in_and_the_old_rows_are_those_after_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert gsdpmm_plan.outlier_key(0.1, "after") == "outliers, alpha=0.1 D"
    asked: list[Any] = []

    def build(*given: Any) -> Corpus:
        asked.append(given)
        return Corpus([["a", "b"]] * 4 + [["c", "d"]], ["x"] * 4 + [OUTLIER])

    monkeypatch.setattr(gsdpmm_plan, "_corpus", build)
    tasks = gsdpmm_plan.outlier_tasks(Options(quick=True, repeats=1))
    found = gsdpmm_plan.outliers(tasks["outliers among, alpha=0.01 D, seed 0"])
    assert "among" in asked[0]
    assert found == {"recall": 0.01, "false_alarms": 0}


def test_lda_is_slower_only_if_it_lacks_more_of_its_end() -> None:
    def rows(lda: float) -> dict[str, dict[str, Any]]:
        found = {}
        for name in gsdpmm_plan.DRAWN:
            k = gsdpmm_plan.CLASSES[name]
            keys = {
                gsdpmm_plan.main_key(name, "GSDPMM"): ([5, 10], 0.01),
                gsdpmm_plan.main_key(name, "GSDMM", k): ([5, 10], 0.01),
                gsdpmm_plan.steps_key(name): ([5, 10], 0.01),
                gsdpmm_plan.main_key(name, "LDA", k): ([10, 100], lda),
            }
            for key, (sweeps, lacks) in keys.items():
                for seed in range(3):
                    nmi = [0.8 - lacks - seed / 1000, 0.8]
                    curve = {"sweep": sweeps, NMI: nmi, "n_clusters": [9, 9]}
                    found[f"{key}, seed {seed}"] = {NMI: 0.8, "curve": curve}
        return found

    says = "GSDPMM, K-means and GSDMM converge faster than LDA"
    assert holds(gsdpmm.claims(rows(0.2)), says) is True
    assert holds(gsdpmm.claims(rows(0.001)), says) is False


def test_the_papers_words_stand_beside_ours() -> None:
    clusters = [{"size": 9, "class": "rec.sport.hockey", "share": 0.9, "words": ["puck", "___"]}]
    row = {"n_docs": 10, "n_clusters": 3, "clusters": clusters}
    body = gsdpmm_topics.table({gsdpmm_topics.KEY: row})
    first, *rest = body.splitlines()[2:]
    assert first.startswith(r"| rec.sport.hockey | 9 | 90.0% | puck \_\_\_ | **Hockey**: game team")
    assert any(line.startswith("| sci.space | - | - | - | **Space**: space nasa") for line in rest)
    assert len(gsdpmm_topics.PAPER) == 18
    assert {len(words.split()) for *_, words in gsdpmm_topics.PAPER} == {10}
