"""`python -m benchmarks peers`: run the race, write RESULTS.md and docs/peers.md."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..data import ROOT
from ..store import HERE, Options, Row, place, read, say
from ..tables import machines
from . import forest, race, show
from .embed import MODEL
from .gather import HEADS
from .judge import DECIDES, MARGIN
from .race import HOME, MEASURES
from .roster import LIMITS, SHORT_TEXT
from .sets import RULE, SETS

DOCS = ROOT / "docs"
COMMAND = "`python -m benchmarks peers`"
READ = (
    "AMI decides, since NMI rises with the number of clusters; NMI and ARI stand beside it. Differences"
    " are coterie's less the other's, paired over the sets that both finished (two at least), with 95% "
    "intervals (Student's t): they tell of sets like these, not of seeds. **Ahead?** Yes: all of the "
    "interval of AMI is above zero. No: it holds zero (undecided) or is below (behind). Of one model in"
    f" two packages it is asked that the interval is within ±{MARGIN}. Who takes vectors is judged on "
    "the English sets, since the sentence model is English; all sets stand beside. In the pictures a "
    "line is a system, with the number of sets; left of zero coterie is behind, grey is undecided, "
    "hollow is coterie's own."
)
KIND = (
    "Mean AMI over the sets of a kind. The highest is in bold, and so are the names of coterie's "
    f"systems. Who did not finish all of the sets has no mean. Short: at most {SHORT_TEXT} words a text "
    "after stop words; words: a set that comes as cleaned words; natural: as people wrote it."
)
NOTE = (
    "Every system gets the same texts. Who takes words gets the same words: sets of words are split at "
    "spaces; natural text is cut by coterie's Tokenizer (lower case, words of two letters or more; "
    "Chinese and Japanese by their segmenters), stop words out (scikit-learn's for English, "
    "stopwordsiso's for others), words of two texts or more. Who takes texts gets the file's text, "
    f"which for sets of words is these words. Vectors are {MODEL}'s, an English model that reads the "
    "first 256 pieces of words, made once a set. A text that a system puts into no cluster (-1) counts "
    "as one of a further cluster; the share of the others is in brackets. Each system runs in a process"
    " of its own, seconds and memory are of the fit alone, after a small fit that compiles and imports;"
    " peak memory is what the fit adds. The machine was shared, often with another fit on its other "
    "core: seconds compare, and are not its best. TSDPMM is not here: it needs topics known before, "
    "which the others are not told."
)


def run(options: Options) -> int:
    """Measure what is not there yet, and write the report."""
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
    """Write RESULTS.md and (not for quick rows) the docs page and its pictures; return the first."""
    home = HERE / "out" / "peers" if quick else HOME
    found = read(place(HOME, quick) / "peers.json")
    text, page = texts(found, quick)
    home.mkdir(parents=True, exist_ok=True)
    (home / "RESULTS.md").write_text(text, encoding="utf-8")
    if not quick:
        (DOCS / "peers.md").write_text(page, encoding="utf-8")
        forest.draw(found.get("rows", {}), DOCS / "images")
    return text


def texts(found: dict[str, Any], quick: bool = False) -> tuple[str, str]:
    """RESULTS.md and the page of the documentation."""
    rows = found.get("rows", {})
    results = [
        f"# coterie beside its peers\n\nWritten by {COMMAND} from `results/peers.json`.\n",
        _first(rows),
        *(_half(rows, k, MEASURES, "" if quick else "../../docs/images") for k in HEADS),
        _how(rows),
        *(f"## Set by set, {head}\n\n{show.matrices(rows, k)}\n" for k, head in HEADS.items()),
        *machines({"peers": found} if found else {}),
    ]
    page = [
        f"# Beside other packages\n\nThis page is written by {COMMAND}; set by set the figures are in "
        "`benchmarks/peers/RESULTS.md`.\n",
        _first(rows),
        *(_half(rows, told_k, (DECIDES,), "images") for told_k in HEADS),
        _how(rows),
    ]
    return "\n".join(results), "\n".join(page)


def race_rows() -> dict[str, Row]:
    """The rows of the full race, as far as it got."""
    return read(place(HOME, False) / "peers.json").get("rows", {})


def _first(rows: dict[str, Row]) -> str:
    """How far it is, who is first, and who on which kind of text."""
    short = "\n".join(f"- {head}: {show.in_short(rows, k)}" for k, head in HEADS.items())
    kinds = (f"**{head}**\n\n{show.by_kind(rows, k)}\n" for k, head in HEADS.items())
    return "\n".join(
        [
            f"{show.how_far(rows)}\n\n{short}\n",
            f"## Which for which texts\n\n{KIND}\n",
            *kinds,
            f"## How to read the tables\n\n{READ}\n",
        ]
    )


def _half(rows: dict[str, Row], told_k: bool, means: Sequence[str], images: str) -> str:
    """One of the two races: ranks, then coterie less each as a picture and in figures."""
    ranks, gaps = show.overview(rows, told_k, means), show.differences(rows, told_k)
    picture = forest.image(rows, told_k, images) if images else ""
    return f"## {HEADS[told_k]}\n\n{ranks}\n\n{picture}\n{gaps}\n"


def _how(rows: dict[str, Row]) -> str:
    """What was raced on what, and how."""
    return (
        f"## How it was measured\n\n{NOTE}\n\n{LIMITS}\n\n## The systems\n\n{show.who()}\n\n"
        f"## The sets\n\n{RULE}\n\n{show.which(rows)}\n"
    )
