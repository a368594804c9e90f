"""`python -m benchmarks peers`: run the race, write RESULTS.md and docs/peers.md."""

from __future__ import annotations

import time

from ..data import ROOT
from ..store import HERE, Options, Row, place, read, say
from ..tables import asked_and_measured, machines
from . import race, show
from .embed import MODEL
from .race import HOME
from .roster import LIMITS
from .sets import RULE

COMMAND = "`python -m benchmarks peers`"
WHY_AMI = (
    "Where the interval does not exclude zero (alike), or lies below it (behind), the answer is no. AMI "
    "decides, since NMI rises with the number of clusters; NMI and ARI stand beside it. Differences are "
    "paired over the sets that both finished, with 95% intervals (Student's t): they tell of sets like "
    "these, not of seeds."
)
NOTE = (
    "Every system gets the same texts. Who takes words gets the same words: sets of words are split at "
    "spaces; natural text is cut by coterie's Tokenizer (lower case, words of two letters or more; Chinese "
    "and Japanese by their segmenters), stop words out (scikit-learn's for English, stopwordsiso's for "
    "others), words of two texts or more. Who takes texts gets the file's text, which for sets of words is "
    f"these words. Vectors are {MODEL}'s, an English model that reads the first 256 pieces of words, "
    "made once a set. A text that a system puts into no cluster (-1) counts as one of a further cluster; "
    "the share of the others is in brackets. Each system runs in a process of its own, seconds and memory "
    "are of the fit alone, after a small fit that compiles and imports; peak memory is what the fit adds. "
    "TSDPMM is not here: it needs topics known "
    "before, which the others are not told."
)


def run(options: Options) -> None:
    """Measure what is not there yet, and write the report."""
    start = time.perf_counter()
    try:
        race.run(options)
    finally:
        text = write(options.quick)
    say(f"peers: done in {time.perf_counter() - start:.0f} s")
    print(text)


def write(quick: bool = False) -> str:
    """Write RESULTS.md and (not for quick rows) the docs page; return the first."""
    home = HERE / "out" / "peers" if quick else HOME
    found = read(place(HOME, quick) / "peers.json")
    rows = found.get("rows", {})
    texts = [
        f"# coterie beside its peers\n\n{NOTE}\n\n{RULE}\n\n{LIMITS}\n\nWritten by {COMMAND} from "
        "`results/peers.json`.\n",
        _short(rows),
        f"## The systems\n\n{show.who()}\n",
        f"## The sets\n\n{show.which(rows)}\n",
        *(f"## Set by set, {head}\n\n{show.matrices(rows, k)}\n" for k, head in show.HEADS.items()),
        *machines({"peers": found} if found else {}),
    ]
    text = "\n".join(texts)
    home.mkdir(parents=True, exist_ok=True)
    (home / "RESULTS.md").write_text(text, encoding="utf-8")
    if not quick:
        (ROOT / "docs" / "peers.md").write_text(_page(rows), encoding="utf-8")
    return text


def race_rows() -> dict[str, Row]:
    """The rows of the full race, as far as it got."""
    return read(place(HOME, False) / "peers.json").get("rows", {})


def _short(rows: dict[str, Row]) -> str:
    """Yes or no against each peer, and the two overviews."""
    verdicts = show.verdicts(rows)
    said = asked_and_measured(verdicts) if verdicts else show.NOTHING
    texts = [f"## coterie against each\n\n{WHY_AMI}\n\n{said}\n"]
    for told_k, head in show.HEADS.items():
        texts.append(f"## {head}\n\n{show.overview(rows, told_k)}\n")
        if gaps := show.differences(rows, told_k):
            texts.append(f"{gaps}\n")
    return "\n".join(texts)


def _page(rows: dict[str, Row]) -> str:
    """The page of the documentation."""
    return (
        f"# Beside other packages\n\n{NOTE}\n\n{LIMITS} This page is written by {COMMAND}; set by set the "
        f"figures are in `benchmarks/peers/RESULTS.md`.\n\n{_short(rows)}\n## The systems\n\n{show.who()}\n"
    )
