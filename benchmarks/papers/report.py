"""`python -m benchmarks papers`: run the papers' modules, write RESULTS.md and docs/reproduction.md."""

from __future__ import annotations

import time
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from typing import Any, cast

from ..data import ROOT, SHORT
from ..gpudmm import CURVE, FITS, TIMES
from ..nips import BETAS
from ..store import HERE, Options, Row, place, read, say
from ..tables import machines
from ..tsdpmm import CASES
from ..xdmm import SECTIONS
from . import gpudmm, gsdmm, gsdpmm, tsdpmm, xdmm
from .gsdpmm.plan import NAMES
from .kit import HOME, Paper, claims_table
from .page import PLOTS, Written, page, results
from .pictures import Pictures, draw, pictures

PAPERS: dict[str, Paper] = {
    "gsdmm": cast(Paper, gsdmm),
    "gsdpmm": cast(Paper, gsdpmm),
    "tsdpmm": cast(Paper, tsdpmm),
    "gpudmm": cast(Paper, gpudmm),
    "xdmm": cast(Paper, xdmm),
}
TAKES: dict[str, tuple[str, ...]] = {  # what --only may name within a paper
    "gsdmm": SHORT,
    "gsdpmm": NAMES,
    "tsdpmm": (*CASES, *map(str, BETAS)),
    "gpudmm": (*FITS, *TIMES, CURVE),
    "xdmm": SECTIONS,
}


def run(options: Options) -> int:
    """Measure what is not there yet, paper by paper, and write the report after each."""
    inner = tuple(name for name in options.only if name not in PAPERS)
    asked = [name for name in PAPERS if name in options.only]
    asked = asked or [name for name in PAPERS if not inner or set(inner) & set(TAKES[name])]
    unknown = [name for name in inner if not any(name in TAKES[paper] for paper in asked)]
    if unknown:
        sets = dict.fromkeys(name for paper in asked or PAPERS for name in TAKES[paper])
        say(f"{unknown[0]!r} is no paper, set or part: --only takes {', '.join((*PAPERS, *sets))}")
        return 2
    try:
        for name in asked:
            _run(name, replace(options, only=inner))
    finally:  # a run cut short is reported as far as it went
        write(options.quick)
    rows = {name: _rows(_files(name, options.quick)) for name in asked}
    if options.quick:
        print(
            "Quick: two runs and few sets. The intervals decide nothing; this shows that it works.\n"
        )
    print(claims_table([c for name, of in rows.items() for c in PAPERS[name].claims(of)]))
    return 0


def _run(name: str, options: Options) -> None:
    say(f"{name}: start")
    start = time.perf_counter()
    try:
        PAPERS[name].run(options)
    except ModuleNotFoundError as problem:  # the other papers may not need it
        say(f'{name}: stopped: {problem.name} is not installed. Try: pip install "coterie[bench]"')
    except BrokenExecutor:
        say(f"{name}: stopped: a process was killed, perhaps for memory; its rows so far are kept")
    write(options.quick, drawn=False)
    say(f"{name}: done in {time.perf_counter() - start:.0f} s")


def write(quick: bool = False, drawn: bool = True) -> str:
    """Write RESULTS.md, (not for quick rows) the docs page, and the plots; return the first."""
    home, docs = HERE / "out" / "papers" if quick else HOME, ROOT / "docs"
    text, page_text, found = texts(quick)
    home.mkdir(parents=True, exist_ok=True)
    (home / "RESULTS.md").write_text(text, encoding="utf-8")
    if not quick:
        (docs / "reproduction.md").write_text(page_text, encoding="utf-8")
    if drawn:
        draw(found, home / "plots" if quick else docs / PLOTS)
    return text


def texts(quick: bool = False) -> tuple[str, str, Pictures]:
    """RESULTS.md, the page of the documentation, and the pictures that both show."""
    found = {name: _files(name, quick) for name in PAPERS}
    written = []
    for name, paper in PAPERS.items():
        rows = _rows(found[name])
        written.append(Written(paper, paper.claims(rows), paper.parts(rows)))
    of_machines = machines({file: of for files in found.values() for file, of in files.items()})
    plots = [plot for of in written for part in of.parts for plot in part.plots]
    folder = "plots" if quick else f"../../docs/{PLOTS}"
    return results(written, of_machines, folder), page(written), pictures(plots)


def _files(name: str, quick: bool) -> dict[str, dict[str, Any]]:
    """The results files of a paper that are there: its own, or those it shares."""
    shared = getattr(PAPERS[name], "FILES", ())
    folder = place(HERE if shared else HOME, quick)
    found = {file: read(folder / f"{file}.json") for file in shared or (name,)}
    return {file: result for file, result in found.items() if result}


def _rows(files: dict[str, dict[str, Any]]) -> dict[str, Row]:
    return {key: row for result in files.values() for key, row in result["rows"].items()}
