"""`python -m benchmarks peers`: run the race, write RESULTS.md and docs/peers.md."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..harness import store
from ..harness.claims import claims_table
from ..harness.data import ROOT
from ..harness.pages import filled, provenance
from ..harness.store import Options, Rows, path_of, read, say
from ..harness.tables import joined
from . import forest, judge, race, show
from .embed import MODEL
from .gather import HEADS
from .judge import DECIDES
from .race import FILE, MEASURES
from .roster import LIMITS, SHORT_TEXT
from .sets import SETS

DOCS = ROOT / "docs"
TEMPLATE = Path(__file__).parent / "page.md"
NAMES = {True: "given", False: "found"}


def run(options: Options) -> int:
    """Measure what is missing, and write the pages."""
    unknown = [name for name in options.only if name not in SETS]
    if unknown:
        say(f"{unknown[0]!r} is no set of the race: --only takes {', '.join(SETS)}")
        return 2
    start = time.perf_counter()
    try:
        race.run(options)
    finally:
        text = write(options.quick)
    say(f"peers: done in {time.perf_counter() - start:.0f} s")
    print(text)
    return 0


def write(quick: bool = False) -> str:
    """Write RESULTS.md and (not after a quick run) the docs page; return the first."""
    home = store.HERE / ("out/peers" if quick else "peers")
    found = read(path_of(FILE, quick))
    text, page = texts(found, quick)
    home.mkdir(parents=True, exist_ok=True)
    (home / "RESULTS.md").write_text(text, encoding="utf-8")
    if not quick:
        (DOCS / "peers.md").write_text(page, encoding="utf-8")
        forest.draw(found.get("rows", {}), DOCS / "images")
    return text


def headline() -> str:
    """One sentence for the index of results."""
    rows = read(path_of(FILE)).get("rows", {})
    found = [judge.claims(rows, told_k)[0] for told_k in HEADS]
    return "; ".join(f"{claim.says}: {claim.told()}" for claim in found)


def texts(found: dict[str, Any], quick: bool = False) -> tuple[str, str]:
    """RESULTS.md, which has the figures set by set as well, and the page of the documentation."""
    rows = found.get("rows", {})
    results = joined(
        _page(rows, MEASURES, "" if quick else "../../docs/images", " from `results/peers.json`"),
        *(f"## Set by set, {head}\n\n{show.matrices(rows, k)}" for k, head in HEADS.items()),
        provenance({"peers": found} if found else {}),
    )
    more = "; the figures set by set are in `benchmarks/peers/RESULTS.md`"
    return results, _page(rows, (DECIDES,), "images", more) + "\n"


def _page(rows: Rows, means: Sequence[str], images: str, where: str) -> str:
    claims = [claim for told_k in HEADS for claim in judge.claims(rows, told_k) if claim.checks]
    parts = {
        "where": where,
        "how_far": show.how_far(rows),
        "in_short": "\n".join(f"- {head}: {show.in_short(rows, k)}" for k, head in HEADS.items()),
        "claims": claims_table(claims, 3),
        "short_text": str(SHORT_TEXT),
        "model": MODEL,
        "limits": LIMITS,
        "who": show.who(),
        "which": show.which(rows),
    }
    for told_k, name in NAMES.items():
        picture = forest.image(rows, told_k, images).strip() if images else ""
        ranks, gaps = show.overview(rows, told_k, means), show.differences(rows, told_k)
        parts[f"kinds_{name}"] = show.by_kind(rows, told_k)
        parts[f"race_{name}"] = joined(ranks, picture, gaps)
    return filled(TEMPLATE.read_text(encoding="utf-8"), parts, {}, images).strip()
