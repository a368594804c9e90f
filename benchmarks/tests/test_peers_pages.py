"""The race on made-up rows: who may not run where, who is ranked, verdicts, tables and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness.pages import EMPTY
from benchmarks.harness.store import Options
from benchmarks.peers import judge, race, report, roster, sets, show
from benchmarks.peers.judge import Half
from benchmarks.peers.roster import GIVEN


def _facts(n_docs: int = 1000, **more: Any) -> dict[str, Any]:
    base = {"n_tokens": 9 * n_docs, "n_classes": 5, "n_words": 50, "natural": True}
    return {"n_docs": n_docs, "mean_length": 9.0, "language": "en"} | base | more


def test_a_set_that_nobody_knows_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(race, "run", lambda options: pytest.fail("it ran"))
    assert report.run(Options(only=("tweet", "twet"))) == 2
    assert "'twet' is no set of the race: --only takes cmu_qa_questions" in capsys.readouterr().err


def test_refusals_say_why() -> None:
    hac, gpudmm, kmeans = (roster.SYSTEMS[n] for n in ("HAC, Ward", "GPU-DMM", "KMeans"))
    assert roster.refuses(hac, _facts(), {}) is None
    assert roster.refuses(hac, _facts(50_000), {}) == roster.OVER_MEMORY
    assert roster.refuses(gpudmm, _facts(language="fr"), {}) == "not English"
    assert roster.refuses(gpudmm, _facts(mean_length=100.0), {}) == "long texts"
    over = {"small": _facts(500)}
    assert roster.refuses(kmeans, _facts(1000), over) == "over time on small"
    assert roster.refuses(kmeans, _facts(1000, n_classes=2), over) is None


# ---------------------------------------------------------------- tables
def _rows(values: dict[str, dict[str, float | str]]) -> dict[str, Any]:
    """Rows of sets x systems: the same value in all measures, or why there is none."""
    rows: dict[str, Any] = {}
    for name, of in values.items():
        rows[name] = _facts()
        rows[f"{name}: embedding"] = {"seconds": 10.0, "peak_mb": 5.0}
        for system, value in of.items():
            row: dict[str, Any] = {"skipped": value}
            if not isinstance(value, str):
                row = dict.fromkeys(race.MEASURES, value)
                row |= dict(n_clusters=7, coverage=0.75, seconds=2.0, peak_mb=3.0)
            rows[race.key(name, system, 0)] = row
    return rows


NAMES = list(sets.SETS)[:4]


def test_who_does_not_finish_is_last() -> None:
    rows = _rows(
        {
            NAMES[0]: {GIVEN: 0.9, "KMeans": 0.5, "HAC, Ward": "over memory", "GPU-DMM": 0.95},
            NAMES[1]: {GIVEN: 0.4, "KMeans": 0.5, "HAC, Ward": 0.45, "GPU-DMM": "not English"},
            NAMES[2]: {GIVEN: 0.4},  # stopped here: not all were tried
        }
    )
    half = Half(rows, True)
    assert (half.systems, half.names) == ([GIVEN, "KMeans", "HAC, Ward"], NAMES[:2])
    assert half.ranks() == {GIVEN: 2.0, "KMeans": 1.5, "HAC, Ward": 2.5}
    text = show.overview(half)
    assert "Mean ranks over 2 sets" in text
    assert "the 1 sets that all finished" in text
    assert "over memory" in show.matrices(half)
    assert "**0.950**" in show.matrices(half)


def test_who_came_later_takes_no_set_from_the_others() -> None:
    names = list(sets.SETS)
    rows = _rows({name: {GIVEN: 0.9, "KMeans": 0.5, "cluster()": 0.5} for name in names[:5]})
    rows |= _rows({names[0]: {GIVEN: 0.9, "KMeans": 0.5, "EM-DMM": 0.7, "cluster()": 0.5}})
    rows |= _rows({names[5]: {GIVEN: 0.9}})
    half = Half(rows, True)
    assert (half.systems, half.names) == ([GIVEN, "KMeans"], names[:5])
    text = show.how_far([half, Half(rows, False)])
    assert f"5 of {len(sets.SETS)} sets are done so far" in text
    assert f"Begun, but not ranked: {names[5]}." in text
    assert f"Missing: {names[6]}," in text
    assert "not ranked: EM-DMM." in text


def test_seeds_are_counted_and_bounded() -> None:
    rows = _rows({name: {"GSDMM": 0.5, "KMeans": 0.4} for name in NAMES[:2]})
    for seed in range(1, roster.SEEDS + 2):
        rows[race.key(NAMES[0], "GSDMM", seed)] = rows[race.key(NAMES[0], "GSDMM", 0)] | {
            "ami": 0.5 if seed < roster.SEEDS else 9.0
        }
    cell = Half(rows, True).cells[NAMES[0]]["GSDMM"]
    assert cell.figures["seeds"] == roster.SEEDS
    assert cell.figures["ami"] == 0.5
    assert f"| 1 to {roster.SEEDS} |" in show.overview(Half(rows, True))


def test_a_fit_on_another_machine_has_no_seconds() -> None:
    rows = _rows({name: {GIVEN: 0.5, "KMeans, MiniLM": 0.4} for name in NAMES[:2]})
    for name in NAMES[:2]:
        del rows[f"{name}: embedding"]
        del rows[race.key(name, "KMeans, MiniLM", 0)]["seconds"]
        rows[race.key(name, GIVEN, 1)] = rows[race.key(name, GIVEN, 0)] | {"seconds": 6.0}
        rows[race.key(name, GIVEN, 2)] = dict.fromkeys((*race.MEASURES, "coverage"), 0.8) | {
            "n_clusters": 7
        }
    half = Half(rows, True)
    ours, theirs = (half.cells[NAMES[0]][system] for system in (GIVEN, "KMeans, MiniLM"))
    assert (ours.seconds, theirs.seconds) == (4.0, None)
    assert ours.figures["seeds"] == 3
    assert ours.figures["ami"] == pytest.approx(0.6)
    assert "| 1 | - | - |" in show.overview(half)
    assert show.matrices(half)


def test_kinds_of_text_have_means_of_those_who_finished() -> None:
    rows = _rows(
        {
            NAMES[0]: {GIVEN: 0.4, "KMeans": 0.5},
            NAMES[1]: {GIVEN: 0.6, "KMeans": "over time on another"},
            NAMES[2]: {GIVEN: 0.2, "KMeans": 0.3},
            NAMES[3]: {GIVEN: 0.2, "KMeans": "over memory"},
        }
    )
    rows[NAMES[2]]["language"] = "fr"
    rows[NAMES[3]]["mean_length"] = 100.0
    text = show.by_kind(Half(rows, True))
    assert "| system | short, natural (2 sets) | long (1 set) | not English (1 set) |" in text
    assert f"| **{GIVEN}** | **0.500** | **0.200** | 0.200 |" in text
    assert "| KMeans | 1 of 2 sets | over memory | **0.300** |" in text


@pytest.mark.parametrize(
    ("theirs", "told", "shown"),
    [
        ((0.3, 0.31, 0.29, 0.3), "holds", "| KMeans | ahead | 4 of 4 | +0.200"),
        ((0.7, 0.71, 0.69, 0.7), "does not hold", "| KMeans | behind | 0 of 4 | -0.200"),
        ((0.3, 0.7, 0.31, 0.69), "does not hold", "| KMeans | undecided | 2 of 4 |"),
    ],
)
def test_coterie_is_ahead_only_above_zero(theirs: tuple[float, ...], told: str, shown: str) -> None:
    rows = _rows(
        {n: {GIVEN: 0.5, "KMeans": v, "XDMM": 0.1} for n, v in zip(NAMES, theirs, strict=True)}
    )
    own, peer = Half(rows, True).gaps
    assert own.theirs == "XDMM"
    assert own.claimed is None  # coterie's own are no peers
    assert peer.claimed == judge.BETTER
    (claim,) = Half(rows, True).claims()
    assert claim.told() == told
    assert len(claim.checks) == 1
    assert shown in show.differences(Half(rows, True))


def test_one_set_decides_nothing() -> None:
    rows = _rows({NAMES[0]: {GIVEN: 0.9, "topica GSDMM": 0.5, "KMeans": 0.1}})
    assert Half(rows, True).gaps == []
    assert show.differences(Half(rows, True)) == EMPTY


@pytest.mark.parametrize(
    ("values", "met"),
    [
        ((0.499, 0.501, 0.5, 0.5), True),
        ((0.4, 0.6, 0.45, 0.55), False),  # holds zero, and says nothing
        ((0.54, 0.541, 0.54, 0.54), False),
    ],
)
def test_one_model_in_two_packages_is_asked_to_be_alike(
    values: tuple[float, ...], met: bool
) -> None:
    rows = _rows(
        {
            n: {"cluster()": 0.9, "GSDMM, cap 500": v, "topica GSDMM, cap 500": 0.5}
            for n, v in zip(NAMES, values, strict=True)
        }
    )
    twins = next(gap for gap in Half(rows, False).gaps if gap.claimed == judge.ALIKE)
    assert (twins.ours, twins.theirs) == ("GSDMM, cap 500", "topica GSDMM, cap 500")
    assert twins.check().met is met
    assert Half(rows, False).claims()[1].holds is met


def test_an_english_model_is_judged_on_english_sets() -> None:
    rows = _rows({n: {"cluster()": 0.5, "BERTopic": 0.6 if n in NAMES[:2] else 0.1} for n in NAMES})
    for name in NAMES[2:]:
        rows[name]["language"] = "zh"
    rows[race.key(NAMES[0], "BERTopic", 0)]["ami"] = 0.601
    english, every = Half(rows, False).gaps
    assert (english.over, english.word) == (judge.ENGLISH, judge.BEHIND)
    assert (english.claimed, every.claimed) == (judge.BETTER, None)
    assert (english.decides.n, every.decides.n) == (2, 4)
    text = show.differences(Half(rows, False))
    assert "| BERTopic: English sets | behind | 0 of 2 |" in text
    assert "| BERTopic: all sets | undecided | 2 of 4 |" in text


def test_coterie_with_other_vectors_is_no_other_package() -> None:
    rows = _rows({n: {"cluster()": 0.5, "cluster(), MiniLM": 0.6} for n in NAMES})
    gaps = Half(rows, False).gaps
    assert [(gap.over, gap.claimed) for gap in gaps] == [(judge.ENGLISH, None), (judge.EVERY, None)]
    assert Half(rows, False).claims()[0].checks == []


# ---------------------------------------------------------------- pages and pictures
def test_the_pages_make_do_without_rows(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "DOCS", home)
    assert EMPTY in report.write()
    page = (home / "peers.md").read_text(encoding="utf-8")
    assert "0 of 27 sets are done so far" in page
    assert "![" not in page


def test_both_pages_show_the_pictures_that_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="draws; pip install .[bench]")
    values = {GIVEN: 0.5, "XDMM": 0.52, "KMeans": 0.4, "cluster()": 0.5, "BERTopic": 0.6}
    rows = _rows({name: dict(values) for name in NAMES})
    for folder in (tmp_path / "one", tmp_path / "two"):
        show.draw([Half(rows, True), Half(rows, False)], folder)
    results, page = report.texts({"machine": {}, "rows": rows})
    for name in ("peers-k-given.svg", "peers-k-not-given.svg"):
        drawn = (tmp_path / "one" / name).read_bytes()
        assert drawn == (tmp_path / "two" / name).read_bytes()
        assert f"(images/{name})" in page
        assert f"(../../docs/images/{name})" in results
    given = (tmp_path / "one" / "peers-k-given.svg").read_text(encoding="utf-8")
    assert "XDMM (coterie) · 4" in given
    assert "![" not in report.texts({"machine": {}, "rows": rows}, quick=True)[0]
