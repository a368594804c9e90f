"""The page of the engine's benchmarks, and RESULTS.md, which links all pages with one line each."""

from __future__ import annotations

from pathlib import Path

from .engine import BENCHMARKS
from .harness import store
from .harness.claims import Claim, claims_table, counts
from .harness.pages import filled, provenance
from .harness.store import path_of, read, rows_of
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


def engine() -> str:
    """The page of the engine's benchmarks."""
    files = {name: read(path_of(f"engine/{name}")) for name in BENCHMARKS}
    tables = {name: BENCHMARKS[name].table(of.get("rows", {})) for name, of in files.items()}
    template = (Path(__file__).parent / "engine" / "page.md").read_text(encoding="utf-8")
    page = filled(template, {"claims": claims_table(engine_claims()), **tables})
    return joined(page.strip(), provenance({name: of for name, of in files.items() if of}))


def engine_claims() -> list[Claim]:
    """The claims of all engine benchmarks, judged by the stored rows."""
    return [c for name, of in BENCHMARKS.items() for c in of.claims(rows_of(f"engine/{name}"))]


def index() -> str:
    """RESULTS.md: one line and the headline figure for each page."""
    by_paper = {name: papers.claims_of(name) for name in PAPERS}
    of_all = [claim for claims in by_paper.values() for claim in claims]
    lines = [
        ["[engine](engine/RESULTS.md)", "speed, memory, scale, quality", _count(engine_claims())],
        ["[papers](../docs/reproduction.md)", "the claims of five papers", _count(of_all)],
    ]
    for name, claims in by_paper.items():
        page = f"[{PAPERS[name].title}](../docs/reproduction/{name}.md)"
        lines.append([page, "all its tables and figures", _count(claims)])
    lines.append(["[peers](peers/RESULTS.md)", "27 labelled sets, 22 systems", peers.headline()])
    what = "damaged files, inconsistent matrices, kills, races"
    lines.append(["[trust](trust/RESULTS.md)", what, "cases and failures, counted by `make fuzz`"])
    about = "Written by `python -m benchmarks report` from the stored rows."
    return f"# Results\n\n{about}\n\n{markdown(['page', 'what', 'in short'], lines)}\n"


def _count(claims: list[Claim]) -> str:
    hold, part, fail, missing = counts(claims)
    return f"of {len(claims)} claims {hold} hold, {part} in part, {fail} do not, {missing} not measured"
