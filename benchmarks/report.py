"""The page of the engine's benchmarks, and RESULTS.md, which links all pages with one line each."""

from __future__ import annotations

from .engine import BENCHMARKS
from .harness import store
from .harness.claims import Claim, claims_table, counts
from .harness.pages import provenance
from .harness.store import Rows, path_of, read
from .harness.tables import joined, markdown
from .papers import PAPERS
from .papers import report as papers
from .peers import report as peers


def write() -> None:
    """Every page, from the rows that are there."""
    write_engine()
    papers.write()
    peers.write()
    (store.HERE / "RESULTS.md").write_text(index(), encoding="utf-8")


def write_engine() -> None:
    (store.HERE / "engine" / "RESULTS.md").write_text(engine(), encoding="utf-8")


def section(name: str, rows: Rows) -> str:
    """One benchmark: heading, how it is measured, the table."""
    of = BENCHMARKS[name]
    return f"## {of.TITLE}\n\n{of.NOTE}\n\n{of.table(rows)}"


def engine() -> str:
    """The page of the engine's benchmarks."""
    files = {name: read(path_of(f"engine/{name}")) for name in BENCHMARKS}
    found = {name: result for name, result in files.items() if result}
    return joined(
        "# What coterie costs and finds\n\nWritten by `python -m benchmarks report` from "
        "`engine/results/*.json`; `python -m benchmarks all --again` measures everything again.",
        f"## What was asked, and whether it holds\n\n{claims_table(engine_claims())}",
        *(section(name, result["rows"]) for name, result in found.items()),
        provenance(found),
    )


def engine_claims() -> list[Claim]:
    """The claims of all engine benchmarks, judged by the stored rows."""
    found = []
    for name, of in BENCHMARKS.items():
        found += of.claims(store.rows_of(f"engine/{name}"))
    return found


def index() -> str:
    """RESULTS.md: one line and the headline figure for each page."""
    by_paper = {name: papers.claims_of(name) for name in PAPERS}
    ours = engine_claims()
    lines = [["[engine](engine/RESULTS.md)", "speed, memory, scale, quality", _count(ours)]]
    of_all = _count([claim for claims in by_paper.values() for claim in claims])
    lines.append(["[papers](../docs/reproduction.md)", "the claims of five papers", of_all])
    for name, claims in by_paper.items():
        page = f"[{PAPERS[name].title}](../docs/reproduction/{name}.md)"
        lines.append([page, "all its tables and figures", _count(claims)])
    lines.append(["[peers](peers/RESULTS.md)", "27 labelled sets, 22 systems", peers.headline()])
    if (store.HERE / "trust" / "RESULTS.md").is_file():
        what = "damaged files, lying matrices, kills, races"
        lines.append(["[trust](trust/RESULTS.md)", what, "see the page"])
    about = "Written by `python -m benchmarks report` from the stored rows."
    return f"# Results\n\n{about}\n\n{markdown(['page', 'what', 'in short'], lines)}\n"


def _count(claims: list[Claim]) -> str:
    hold, part, fail, missing = counts(claims)
    return f"of {len(claims)} claims {hold} hold, {part} in part, {fail} do not, {missing} not measured"
