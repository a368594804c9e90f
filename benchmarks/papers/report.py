"""`python -m benchmarks papers`: run the papers' modules, write RESULTS.md and docs/reproduction.md."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ..data import ROOT
from ..store import HERE, Options, Row, place, read, say
from ..tables import machines, markdown
from . import gpudmm, gsdmm, gsdpmm, tsdpmm, xdmm
from .kit import HOME, Paper, Part, Plot, Quoted, claims_table, draw

PAPERS: dict[str, Paper] = {
    "gsdmm": cast(Paper, gsdmm),
    "gsdpmm": cast(Paper, gsdpmm),
    "tsdpmm": cast(Paper, tsdpmm),
    "gpudmm": cast(Paper, gpudmm),
    "xdmm": cast(Paper, xdmm),
}
ABOUT = (
    "Every table and figure of five papers whose data are here, with the papers' own settings, ours "
    "beside the paper's number. A claim holds when the 95% interval of the paired difference "
    "(Student's t) excludes zero. Differences are ours less theirs, over runs with the same seeds."
)
COMMAND = "`python -m benchmarks papers`"


def run(options: Options) -> None:
    """Measure what is not there yet, paper by paper, and write the report after each."""
    asked = [name for name in PAPERS if name in options.only] or list(PAPERS)
    inner = replace(options, only=tuple(name for name in options.only if name not in PAPERS))
    for name in asked:
        say(f"{name}: start")
        start = time.perf_counter()
        try:
            PAPERS[name].run(inner)
        finally:  # a run cut short is reported as far as it went
            write(options.quick)
        say(f"{name}: done in {time.perf_counter() - start:.0f} s")
    rows = {name: _rows(_files(name, options.quick)) for name in asked}
    if options.quick:
        print(
            "Quick: two runs and few sets. The intervals decide nothing; this shows that it works.\n"
        )
    print(claims_table([c for name, of in rows.items() for c in PAPERS[name].claims(of)]))


def write(quick: bool = False) -> str:
    """Write RESULTS.md, the plots and (not for quick rows) the docs page; return the first."""
    home = HERE / "out" / "papers" if quick else HOME
    text, page, plots = texts(quick)
    home.mkdir(parents=True, exist_ok=True)
    (home / "RESULTS.md").write_text(text, encoding="utf-8")
    if not quick:
        (ROOT / "docs" / "reproduction.md").write_text(page, encoding="utf-8")
    draw(plots, home / "plots")
    return text


def texts(quick: bool = False) -> tuple[str, str, list[Plot]]:
    """RESULTS.md, the page of the documentation, and the plots that both show."""
    found = {name: _files(name, quick) for name in PAPERS}
    rows = {name: _rows(files) for name, files in found.items()}
    parts = {name: paper.parts(rows[name]) for name, paper in PAPERS.items()}
    text = "\n".join(
        [
            f"# The papers' results, anew\n\n{ABOUT}\n\nWritten by {COMMAND} from `results/*.json`.\n",
            f"## Claims\n\n{_by_paper(rows)}",
            *(_results(paper, parts[name]) for name, paper in PAPERS.items()),
            *machines({file: of for files in found.values() for file, of in files.items()}),
        ]
    )
    plots = [plot for of in parts.values() for part in of for plot in part.plots]
    return text, _page(rows, parts), plots


def _files(name: str, quick: bool) -> dict[str, dict[str, Any]]:
    """The results files of a paper that are there: its own, or those it shares."""
    shared = getattr(PAPERS[name], "FILES", ())
    folder = place(HERE if shared else HOME, quick)
    found = {file: read(folder / f"{file}.json") for file in shared or (name,)}
    return {file: result for file, result in found.items() if result}


def _rows(files: dict[str, dict[str, Any]]) -> dict[str, Row]:
    return {key: row for result in files.values() for key, row in result["rows"].items()}


def _by_paper(rows: dict[str, dict[str, Row]]) -> str:
    return "\n".join(
        f"### {paper.TITLE}\n\n{claims_table(paper.claims(rows[name]))}\n"
        for name, paper in PAPERS.items()
    )


def _results(paper: Paper, parts: list[Part]) -> str:
    texts = [f"## {paper.TITLE}\n\n{paper.CITATION}\n"]
    if paper.FOUND:
        texts.append(f"{paper.FOUND}\n")
    texts += [f"### {part.title}\n\n{part.settings}\n\n{_body(part, 'plots')}" for part in parts]
    if paper.QUOTED:
        texts.append(f"### Quoted, not measured\n\n{_quoted(paper)}\n")
    return "\n".join(texts)


def _body(part: Part, plots: str) -> str:
    texts = [part.body, *(_image(plot, plots) for plot in part.plots)]
    return "\n\n".join(text for text in texts if text) + "\n"


def _image(plot: Plot, folder: str) -> str:
    return f"![{plot.y} over {plot.x}]({folder}/{plot.name}.svg)"


def _quoted(paper: Paper) -> str:
    return markdown(list(Quoted._fields), paper.QUOTED)


def _page(rows: dict[str, dict[str, Row]], parts: dict[str, list[Part]]) -> str:
    """The page of the documentation: claims first, then what was and was not reproduced, and why."""
    texts = [
        f"# The papers, reproduced\n\n{ABOUT} This page is written by {COMMAND}; every table is in "
        "`benchmarks/papers/RESULTS.md`.\n",
        f"## Does each claim hold?\n\n{_by_paper(rows)}",
    ]
    plots = Path("..") / "benchmarks" / "papers" / "plots"
    for name, paper in PAPERS.items():
        texts.append(f"## {paper.TITLE}: what was measured\n\n{paper.CITATION}\n")
        if paper.FOUND:
            texts.append(f"{paper.FOUND}\n")
        texts.append("\n".join(f"- {part.title}" for part in parts[name]) + "\n")
        texts += [f"{_image(plot, plots.as_posix())}\n" for p in parts[name] for plot in p.plots]
        if paper.QUOTED:
            texts.append(f"Quoted, not measured:\n\n{_quoted(paper)}\n")
    return "\n".join(texts)
