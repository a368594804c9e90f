"""`python -m benchmarks peers`: run the race, write RESULTS.md and docs/peers.md."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..harness import store
from ..harness.claims import claims_table
from ..harness.data import ROOT
from ..harness.pages import EMPTY, filled, provenance
from ..harness.store import Options, path_of, read, rows_of, say
from ..harness.tables import joined
from . import levels, race, show
from .embed import MODEL
from .judge import DECIDES, Half
from .race import FILE, MEASURES
from .roster import LIMITS, SHORT_TEXT
from .sets import SETS

DOCS = ROOT / "docs"
TEMPLATE = Path(__file__).parent / "page.md"


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
        show.draw(_halves(found.get("rows", {})), DOCS / "images")
    return text


def headline() -> str:
    """One sentence for the index of results."""
    found = [half.claims()[0] for half in _halves(rows_of(FILE))]
    return "; ".join(f"{claim.says}: {claim.told()}" for claim in found)


def texts(found: dict[str, Any], quick: bool = False) -> tuple[str, str]:
    """RESULTS.md, which has the figures set by set as well, and the page of the documentation."""
    halves = _halves(found.get("rows", {}))
    images = "" if quick else "../../docs/images"
    results = joined(
        _page(halves, MEASURES, images, " from `results/peers.json`"),
        *(f"## Set by set, {half.head}\n\n{show.matrices(half)}" for half in halves),
        provenance({"peers": found} if found else {}),
    )
    more = "; the figures set by set are in `benchmarks/peers/RESULTS.md`"
    return results, _page(halves, (DECIDES,), "images", more) + "\n"


def _levels(rows: store.Rows) -> str:
    shown = levels.table(rows)
    return joined(claims_table(levels.claims(rows), 3), shown) if shown else EMPTY


def _halves(rows: store.Rows) -> tuple[Half, Half]:
    return Half(rows, told_k=True), Half(rows, told_k=False)


def _page(halves: tuple[Half, Half], means: Sequence[str], images: str, where: str) -> str:
    claims = [claim for half in halves for claim in half.claims() if claim.checks]
    parts = {
        "where": where,
        "how_far": show.how_far(halves),
        "in_short": "\n".join(f"- {half.head}: {show.in_short(half)}" for half in halves),
        "claims": claims_table(claims, 3),
        "short_text": str(SHORT_TEXT),
        "model": MODEL,
        "limits": LIMITS,
        "who": show.who(),
        "which": show.which(halves[0].rows),
        "levels": _levels(halves[0].rows),
    }
    for half, name in zip(halves, ("given", "found"), strict=True):
        picture = show.picture(half, images) if images else ""
        parts[f"kinds_{name}"] = show.by_kind(half)
        parts[f"race_{name}"] = joined(show.overview(half, means), picture, show.differences(half))
    return filled(TEMPLATE.read_text(encoding="utf-8"), parts).strip()
