"""The pages: from whatever rows there are, the overview, the details, the index and the command."""

from __future__ import annotations

import re
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from benchmarks import report as index
from benchmarks.engine import BENCHMARKS
from benchmarks.harness import claims, drawing, pages, store
from benchmarks.harness.drawing import Plot
from benchmarks.harness.store import Options, rows_of
from benchmarks.papers import PAPERS, report
from benchmarks.peers import report as peers

QUICK = Options(quick=True)


# ---------------------------------------------------------------- what is in the repository
def test_what_is_written_is_what_the_rows_say() -> None:
    """Run `python -m benchmarks report` after a change to a page."""
    found, drawn = report.texts()
    for name, text in found.items():
        assert (report.DOCS / name).read_text(encoding="utf-8") == text
    files = {path.stem for path in (report.DOCS / report.PLOTS).glob("*.svg")}
    assert files == set(drawn)
    names = [panel.name for panels in drawn.values() for panel in panels]
    assert len(set(names)) == len(names)
    assert (store.HERE / "engine" / "RESULTS.md").read_text(encoding="utf-8") == index.engine()
    assert (store.HERE / "RESULTS.md").read_text(encoding="utf-8") == index.index()


def test_no_page_shows_a_hole() -> None:
    for name, text in report.texts()[0].items():
        assert "{{" not in text, name
        assert pages.EMPTY not in text, name


def test_every_link_of_the_index_leads_to_a_page() -> None:
    links = re.findall(r"\]\(([^)]+)\)", index.index())
    assert len(links) == 9
    for link in links:
        if link != "trust/RESULTS.md":  # written by `make fuzz`
            assert (store.HERE / link).is_file(), link


def test_the_verdicts_of_the_papers_are_those_that_were_published() -> None:
    counts = {name: claims.counts(report.claims_of(name)) for name in PAPERS}
    assert counts == {
        "gsdmm": [17, 4, 5, 1],
        "gsdpmm": [17, 10, 4, 0],
        "tsdpmm": [1, 1, 4, 1],
        "gpudmm": [5, 3, 2, 0],
        "xdmm": [6, 1, 7, 2],
    }


@pytest.mark.parametrize("name", BENCHMARKS)
def test_an_engine_benchmark_shows_its_rows(name: str) -> None:
    rows = rows_of(f"engine/{name}")
    assert rows
    assert "| --- |" in BENCHMARKS[name].table(rows)
    assert all(claim.holds is not None for claim in BENCHMARKS[name].claims(rows))
    assert BENCHMARKS[name].table({}) == "" or name == "kmeans"


# ---------------------------------------------------------------- made-up rows
@pytest.fixture
def docs(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report, "DOCS", home / "docs")
    return home / "docs"


def test_pages_without_rows(docs: Path) -> None:
    report.write()
    overview = (docs / "reproduction.md").read_text(encoding="utf-8")
    assert "| all | " in overview
    for name, paper in PAPERS.items():
        assert f"\n## {paper.title}\n" in overview
        assert (docs / "reproduction" / f"{name}.md").is_file()
        assert not any(claim.holds for claim in paper.claims({}))
        assert claims.counts(paper.claims({}))[:3] == [0, 0, 0]


PANELS = [
    Plot(f"p-figure-2-{name}", "alpha", f"NMI, {name}", {"a": [(1, 2), (3, 4)]}, log_x=True)
    for name in ("Tweet", "TSet")
]


def test_plots_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='matplotlib is in "coterie[bench]"')
    for folder in ("1", "2"):
        drawing.draw_pictures(drawing.pictures(PANELS), tmp_path / folder)
    first, second = ((tmp_path / folder / "p-figure-2.svg").read_bytes() for folder in "12")
    assert first == second
    assert first.count(b">alpha</text>") == 2  # an x label for each panel


def test_a_template_is_filled_with_tables_and_pictures() -> None:
    pictures = drawing.pictures(PANELS)
    assert list(pictures) == ["p-figure-2"]
    text = pages.filled("{{a}}, {{p-figure-2}}, {{b}}", {"a": "A", "b": ""}, pictures, "images")
    assert text.startswith("A, ![Figure 2: NMI, Tweet; NMI, TSet, by alpha](images/p-figure-2.svg)")
    assert text.endswith(f"by alpha.*, {pages.EMPTY}")
    with pytest.raises(KeyError):
        pages.filled("{{unknown}}", {}, {}, "")


def test_a_page_says_with_which_commits_its_rows_were_measured() -> None:
    rows = {"a": {"commit": "c1"}, "b": {"commit": "c2"}}
    text = pages.provenance({"speed": {"machine": {"cores": "2"}, "rows": rows}})
    assert "- cores: 2\n- commits: speed c1 c2" in text


# ---------------------------------------------------------------- the command
@pytest.fixture
def asked(docs: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    """No paper is measured; which were asked for, and with which `only`."""
    seen: dict[str, tuple[str, ...]] = {}
    for name, paper in PAPERS.items():
        run = lambda options, name=name: seen.update({name: options.only})  # noqa: E731
        monkeypatch.setitem(PAPERS, name, paper._replace(run=run))
    return seen


@pytest.mark.parametrize("only", [("gsdm",), ("gsdmm", "nmi"), ("tweet", "gsdm")])
def test_a_name_that_nobody_takes_is_refused(
    asked: dict[str, Any], capsys: Any, only: tuple[str, ...]
) -> None:
    assert report.run(Options(only=only)) == 2
    assert asked == {}
    said = capsys.readouterr().err
    assert "--only takes gsdmm, gsdpmm, tsdpmm, gpudmm, xdmm, " in said
    assert repr(only[-1]) in said


def test_only_names_papers_and_sets(asked: dict[str, Any]) -> None:
    report.run(Options(only=("gsdmm", "tweet"), quick=True))
    assert asked == {"gsdmm": ("tweet",)}
    report.run(QUICK)
    assert set(asked) == set(PAPERS)
    asked.clear()
    report.run(Options(only=("tweet",), quick=True))
    assert set(asked) == {"gsdmm", "gsdpmm"}


def test_a_paper_that_cannot_run_does_not_stop_the_others(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def missing(options: Options) -> None:
        raise ModuleNotFoundError("No module named 'abacus'", name="abacus")

    def killed(options: Options) -> None:
        raise BrokenProcessPool

    monkeypatch.setitem(PAPERS, "gsdmm", PAPERS["gsdmm"]._replace(run=missing))
    monkeypatch.setitem(PAPERS, "gsdpmm", PAPERS["gsdpmm"]._replace(run=killed))
    assert report.run(QUICK) == 0
    assert list(asked) == ["tsdpmm", "gpudmm", "xdmm"]
    assert "gsdmm: left out: abacus is not installed" in capsys.readouterr().err


def test_the_race_page_is_that_of_the_rows() -> None:
    found = store.read(store.path_of("peers/peers"))
    results, page = peers.texts(found)
    assert (store.HERE / "peers" / "RESULTS.md").read_text(encoding="utf-8") == results
    assert (peers.DOCS / "peers.md").read_text(encoding="utf-8") == page
