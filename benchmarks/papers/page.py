"""What the papers' modules say, as text: RESULTS.md and the page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..tables import markdown
from .kit import Claim, Paper, Part, Quoted, claims_table
from .pictures import image, pictures

PLOTS = "images/papers"  # within docs/
MOST_LINES = 45  # of a table on the page; RESULTS.md has them all
COMMAND = "`python -m benchmarks papers`"
ABOUT = (
    "Every table and figure of five papers whose data are here, with the papers' own settings, ours "
    "beside the paper's number."
)
RULES = (
    "When a claim holds. *Better*, *more*, *faster*: the 95% interval (Student's t) of the paired "
    "difference excludes zero, in every comparison named; which is taken from which, the line says. *The "
    "same*, *stable*, *near*, *linear*: the whole interval lies within the bar that the line names. *As "
    "accurate*: its lower end is above the bar. *Runs agree*: their standard deviation is below the bar. "
    "Where a paper names a number (*less than 10*), the mean decides. Bars that no paper gives are "
    "ours. Runs with the same seed are a pair; one comparison that fails is a no, one that is missing "
    "leaves a yes open."
)


class Written(NamedTuple):
    """A paper, its claims and its parts, as far as there are rows."""

    paper: Paper
    claims: list[Claim]
    parts: list[Part]


def results(written: Sequence[Written], machines: Sequence[str], plots: str) -> str:
    """RESULTS.md: all claims, then every part with its full table."""
    claims = [f"### {of.paper.TITLE}\n\n{claims_table(of.claims)}\n" for of in written]
    return "\n".join(
        [
            f"# The papers' results, anew\n\n{ABOUT} {RULES}\n\nWritten by {COMMAND} from "
            "`results/*.json`.\n",
            f"## Claims\n\n{_count(written)}\n\n{_by_paper(written)}\n",
            *claims,
            *(_of_paper(of, plots, short=False) for of in written),
            *machines,
        ]
    )


def page(written: Sequence[Written]) -> str:
    """The page of the documentation: the count and the no's, then paper by paper."""
    return "\n".join(
        [
            f"# The papers, reproduced\n\n{ABOUT} {_count(written)}\n\n{_by_paper(written)}\n\n{RULES}\n\n"
            f"This page is written by {COMMAND}; `benchmarks/papers/RESULTS.md` has the tables too "
            "long for this page, and the machine.\n",
            f"## What does not hold\n\n{_refuted(written)}\n",
            *(_of_paper(of, PLOTS, short=True) for of in written),
        ]
    )


def _count(written: Sequence[Written]) -> str:
    claims = [claim for of in written for claim in of.claims]
    yes, no, open_ = _verdicts(claims)
    return f"Of {len(claims)} claims {yes} hold, {no} do not, {open_} are not measured (yet)."


def _by_paper(written: Sequence[Written]) -> str:
    lines = [[of.paper.TITLE, *_verdicts(of.claims)] for of in written]
    return markdown(["paper", "claims hold", "do not", "not measured"], lines)


def _verdicts(claims: Sequence[Claim]) -> list[int]:
    """How many hold, do not hold, are open."""
    return [sum(claim.holds is verdict for claim in claims) for verdict in (True, False, None)]


def _refuted(written: Sequence[Written]) -> str:
    lines = [
        [of.paper.TITLE, claim.says, claim.measured]
        for of in written
        for claim in of.claims
        if claim.holds is False
    ]
    return markdown(["paper", "says", "measured here"], lines) if lines else "Nothing so far."


def _of_paper(of: Written, plots: str, short: bool) -> str:
    paper = of.paper
    texts = [f"## {paper.TITLE}\n\n{paper.CITATION}\n"]
    if short:
        texts.append(f"### {paper.TITLE}: does each claim hold?\n\n{claims_table(of.claims)}\n")
    if paper.FOUND:
        texts.append(f"### {paper.TITLE}: what was found\n\n{paper.FOUND}\n")
    texts += [f"### {paper.TITLE}, {_part(part, plots, short)}" for part in of.parts]
    if paper.QUOTED:
        quoted = markdown(list(Quoted._fields), paper.QUOTED)
        texts.append(f"### {paper.TITLE}: quoted, not measured\n\n{quoted}\n")
    return "\n".join(texts)


def _part(part: Part, plots: str, short: bool) -> str:
    body = part.body
    if short and len(body.splitlines()) > MOST_LINES:
        body = "The table is long: see `benchmarks/papers/RESULTS.md`."
    shown = [image(name, of, plots) for name, of in pictures(part.plots).items()]
    texts = [part.title, part.settings, body, *shown]
    return "\n\n".join(text for text in texts if text) + "\n"
