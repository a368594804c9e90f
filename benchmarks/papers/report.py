"""`python -m benchmarks papers`: measure, then write docs/reproduction.md and a page per paper."""

from __future__ import annotations

import time
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..harness import store
from ..harness.claims import Claim, claims_table, counts
from ..harness.data import ROOT
from ..harness.drawing import Pictures, draw_pictures, image, pictures
from ..harness.pages import EMPTY, Paper, filled, provenance
from ..harness.store import Options, Rows, not_installed, path_of, read, rows_of, say
from ..harness.tables import joined, markdown
from . import PAPERS

DOCS = ROOT / "docs"
PLOTS = "images/papers"  # within docs/
FEW = 3  # comparisons that the overview names
HERE = Path(__file__).parent


def run(options: Options) -> int:
    """Measure what is missing, paper by paper, and write the pages after each."""
    inner = tuple(name for name in options.only if name not in PAPERS)
    asked = [name for name in PAPERS if name in options.only]
    asked = asked or [
        n for n, paper in PAPERS.items() if not inner or set(inner) & set(paper.takes)
    ]
    unknown = [name for name in inner if not any(name in PAPERS[p].takes for p in asked)]
    if unknown:
        sets = dict.fromkeys(name for paper in asked or PAPERS for name in PAPERS[paper].takes)
        say(f"{unknown[0]!r} is no paper, set or part: --only takes {', '.join((*PAPERS, *sets))}")
        return 2
    try:
        for name in asked:
            _run(name, replace(options, only=inner))
    finally:  # an interrupted run is reported as far as it went
        write(options.quick)
    if options.quick:
        print("Quick: two runs and few sets decide nothing. This only shows that it works.\n")
    print(claims_table([c for name in asked for c in claims_of(name, options.quick)], FEW))
    return 0


def _run(name: str, options: Options) -> None:
    start = time.perf_counter()
    try:
        PAPERS[name].run(options)
    except ModuleNotFoundError as problem:  # the other papers may not need it
        say(f"{name}: {not_installed(problem.name)}")
    except BrokenExecutor:
        say(f"{name}: stopped: a process was killed, perhaps for memory; its rows so far are kept")
    say(f"{name}: done in {time.perf_counter() - start:.0f} s")


def claims_of(name: str, quick: bool = False) -> list[Claim]:
    """The claims of a paper, judged by the stored rows."""
    return PAPERS[name].claims(rows_of(*PAPERS[name].files, quick=quick))


def write(quick: bool = False) -> None:
    """The overview, the details of each paper, and the pictures (in `out/` after a quick run)."""
    docs = store.HERE / "out" / "papers" if quick else DOCS
    found, drawn = texts(quick)
    for name, text in found.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    draw_pictures(drawn, docs / PLOTS)
    for old in (docs / PLOTS).glob("*.svg"):
        if drawn and old.stem not in drawn:
            old.unlink()


def texts(quick: bool = False) -> tuple[dict[str, str], Pictures]:
    """The pages by their paths within docs/, and the pictures that they show."""
    drawn: Pictures = {}
    pages, parts, lines = {}, [], []
    for name, paper in PAPERS.items():
        rows = rows_of(*paper.files, quick=quick)
        shown, claims = pictures(paper.plots(rows)), paper.claims(rows)
        drawn |= shown
        pages[f"reproduction/{name}.md"] = _details(paper, rows, claims, shown, quick)
        parts.append(_overview(paper, claims, shown))
        lines.append([f"[{paper.title}](#{paper.title.lower()})", len(claims), *counts(claims)])
    sums = np.array([line[1:] for line in lines]).sum(axis=0)
    head = ["paper", "claims", "hold", "hold in part", "do not hold", "not measured"]
    template = (HERE / "overview.md").read_text(encoding="utf-8")
    listed = "\n".join(f"reproduction/{name}" for name in PAPERS)
    overview = joined(
        filled(template, {"counts": markdown(head, [*lines, ["all", *sums]])}).strip(),
        *parts,
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n",
    )
    return {"reproduction.md": overview, **pages}, drawn


def _overview(paper: Paper, claims: list[Claim], shown: Pictures) -> str:
    picture = image(paper.picture, shown[paper.picture], PLOTS) if paper.picture in shown else EMPTY
    more = f"[All tables and figures of {paper.title}](reproduction/{paper.name}.md)."
    return joined(f"## {paper.title}", paper.citation, claims_table(claims, FEW), picture, more)


def _details(paper: Paper, rows: Rows, claims: list[Claim], shown: Pictures, quick: bool) -> str:
    template = (HERE / paper.name / "details.md").read_text(encoding="utf-8")
    results = {file: found for file in paper.files if (found := read(path_of(file, quick)))}
    back = "[The overview](../reproduction.md) explains the verdicts."
    notes = filled(template, paper.tables(rows), shown, f"../{PLOTS}").strip()
    return joined(
        f"# {paper.title} in detail\n\n{paper.citation} {back}",
        f"## Claims\n\n{claims_table(claims)}",
        f"## Notes\n\n{notes}",
        provenance(results),
    )
