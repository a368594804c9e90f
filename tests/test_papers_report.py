"""The papers' report: from whatever rows there are, the page, its pictures, and the command."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")

from benchmarks import store
from benchmarks.papers import kit, page, pictures, report
from benchmarks.papers.page import PLOTS
from benchmarks.store import Options

QUICK = Options(quick=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The harness writes below here."""
    folder = tmp_path / "benchmarks"
    for module in (store, report):
        monkeypatch.setattr(module, "HERE", folder)
    monkeypatch.setattr(report, "HOME", folder / "papers")
    monkeypatch.setattr(report, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    return folder / "papers"


def test_a_report_without_rows(home: Path) -> None:
    text = report.write()
    assert (home / "RESULTS.md").read_text(encoding="utf-8") == text
    page = (home.parents[1] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert "claims 0 hold, 0 do not" in page
    for paper in report.PAPERS.values():
        assert f"## {paper.TITLE}\n" in page
        assert not any(claim.holds for claim in paper.claims({}))


def test_what_is_written_is_what_the_rows_say() -> None:
    """Run `python -m benchmarks report` after a change to a paper's module."""
    text, page, found = report.texts()
    assert (kit.HOME / "RESULTS.md").read_text(encoding="utf-8") == text
    docs = kit.HOME.parents[1] / "docs"
    assert (docs / "reproduction.md").read_text(encoding="utf-8") == page
    drawn = {path.stem for path in (docs / PLOTS).glob("*.svg")}
    assert drawn == set(found)
    names = [panel.name for panels in found.values() for panel in panels]
    assert len(set(names)) == len(names)


def test_plots_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='matplotlib is in "coterie[bench]"')
    found = pictures.pictures(PANELS)
    for folder in ("1", "2"):
        pictures.draw(found, tmp_path / folder)
    first, second = ((tmp_path / folder / "p-figure-2.svg").read_bytes() for folder in "12")
    assert first == second
    assert first.count(b">alpha</text>") == 2  # a label of x for each panel
    (tmp_path / "1" / "p-figure-1.svg").touch()  # of a figure that is no more
    pictures.draw(found, tmp_path / "1")
    assert {path.name for path in (tmp_path / "1").iterdir()} == {"p-figure-2.svg"}


PANELS = [
    kit.Plot(f"p-figure-2-{name}", "alpha", f"NMI, {name}", {"a": [(1, 2), (3, 4)]}, log_x=True)
    for name in ("Tweet", "TSet")
]


def test_panels_of_a_figure_are_one_picture_with_a_caption() -> None:
    plots = [*PANELS, kit.Plot("p-table-3", "copies", "seconds", {})]
    found = pictures.pictures(plots)
    assert found == {"p-figure-2": PANELS, "p-table-3": plots[2:]}
    shown = pictures.image("p-figure-2", PANELS, "images")
    assert "](images/p-figure-2.svg)" in shown
    assert shown.endswith("*Figure 2: NMI, Tweet; NMI, TSet, over alpha.*")


def written(body: str) -> page.Written:
    claims = [kit.Claim("up", "+1", True), kit.Claim("down", "-1", False), kit.Claim("", "", None)]
    part = kit.Part("Figure 2. All", "As the paper.", body, tuple(PANELS))
    return page.Written(report.PAPERS["gsdmm"], claims, [part])


def test_the_page_starts_with_the_count_and_what_does_not_hold() -> None:
    text = page.page([written("| a |")])
    assert text.index("Of 3 claims 1 hold, 1 do not, 1 are not") < text.index(
        "| GSDMM | down | -1 |"
    )
    assert "| GSDMM | 1 | 1 | 1 |" in text
    assert text.index("| GSDMM | down | -1 |") < text.index("| yes | up | +1 |")
    assert (
        text.index("### GSDMM, Figure 2. All") < text.index("| a |") < text.index("(images/papers")
    )


def test_only_long_tables_are_left_out_of_the_page() -> None:
    long = "| row |\n" * (page.MOST_LINES + 1)
    assert "| row |" not in page.page([written(long)])
    assert long in page.results([written(long)], [], "plots")


@pytest.mark.parametrize("only", [("gsdm",), ("gsdmm", "nmi"), ("tweet", "gsdm")])
def test_a_name_that_nobody_takes_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, only: tuple[str, ...]
) -> None:
    for paper in report.PAPERS.values():
        monkeypatch.setattr(paper, "run", lambda options: pytest.fail("it ran"))
    assert report.run(Options(only=only)) == 2
    said = capsys.readouterr().err
    assert "--only takes gsdmm, gsdpmm, tsdpmm, gpudmm, xdmm, " in said
    assert repr(only[-1]) in said


def test_a_paper_that_cannot_run_does_not_stop_the_others(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    ran: list[str] = []

    def missing(options: Options) -> None:
        raise ModuleNotFoundError("No module named 'abacus'", name="abacus")

    def killed(options: Options) -> None:
        raise BrokenProcessPool

    for name, paper in report.PAPERS.items():
        monkeypatch.setattr(paper, "run", lambda options, name=name: ran.append(name))
    monkeypatch.setattr(report.PAPERS["gsdmm"], "run", missing)
    monkeypatch.setattr(report.PAPERS["gsdpmm"], "run", killed)
    assert report.run(QUICK) == 0
    assert ran == ["tsdpmm", "gpudmm", "xdmm"]
    assert "gsdmm: stopped: abacus is not installed" in capsys.readouterr().err


def test_only_names_papers_and_sets(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[str, ...]] = {}
    for name, paper in report.PAPERS.items():
        monkeypatch.setattr(
            paper, "run", lambda options, name=name: seen.update({name: options.only})
        )
    report.run(Options(only=("gsdmm", "tweet"), quick=True))
    assert seen == {"gsdmm": ("tweet",)}
    report.run(QUICK)
    assert set(seen) == set(report.PAPERS)
    seen.clear()
    report.run(Options(only=("tweet",), quick=True))
    assert set(seen) == {"gsdmm", "gsdpmm"}
