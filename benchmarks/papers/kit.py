"""What a paper's module hands to the report: parts, plots, claims, and what could only be quoted.

A module has `TITLE`, `CITATION`, `FOUND`, `QUOTED`, `run`, `parts` and `claims` (see `Paper`);
`parts` and `claims` make do with whatever rows there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple, Protocol

from ..scores import Interval, summary
from ..store import HERE, Options, Results, Row
from ..tables import counted, markdown, signed

HOME = HERE / "papers"
Gains = dict[str, Interval | None]  # a paired difference by name; None: a row is missing
MOST_NAMED = 4
NMI = "nmi_geometric"  # as the papers have it
STABLE = 0.02  # of NMI: what counts as no change
STEADY = 0.01  # standard deviation of NMI
VERDICT = {True: "yes", False: "**no**", None: "not measured"}
Points = list[tuple[float, float]]


class Plot(NamedTuple):
    """Lines of (x, y) points, by name. `name` is `gsdmm-figure-3`, or, of one panel of a figure that
    has several, `gsdpmm-figure-2-Tweet`: panels of a figure are drawn side by side."""

    name: str
    x: str
    y: str
    lines: dict[str, Points]
    log_x: bool = False


class Part(NamedTuple):
    """A table or figure of the paper: its settings and ours, and what came out beside what it says."""

    title: str
    settings: str
    body: str
    plots: tuple[Plot, ...] = ()


class Claim(NamedTuple):
    """What the paper says, what was measured, and whether it holds; None: not (yet) measured."""

    says: str
    measured: str
    holds: bool | None


class Quoted(NamedTuple):
    """What could not be measured here: the paper's number, and the reason."""

    what: str
    paper: str
    why: str


class Paper(Protocol):
    """The module of one paper. `FOUND`: what was learnt where ours differs (Markdown, may be empty).

    Rows that the general report shows too are in its folder; such a module names their `FILES`."""

    TITLE: str
    CITATION: str
    FOUND: str
    QUOTED: Sequence[Quoted]

    def run(self, options: Options) -> dict[str, Row]: ...
    def parts(self, rows: dict[str, Row]) -> list[Part]: ...
    def claims(self, rows: dict[str, Row]) -> list[Claim]: ...


def results(paper: str, options: Options) -> Results:
    """The rows of a paper, in `benchmarks/papers/results`."""
    return Results(paper, options, HOME)


def wins(says: str, gains: Gains) -> Claim:
    """A claim of being better everywhere: it holds if every difference's interval is above zero.

    The differences are paired, ours less theirs, by name; None where a row is missing. One
    comparison that fails is enough for a no; a yes needs all of them."""
    known = decided(gains)
    if not known:
        return Claim(says, "not measured yet", None)
    lost = [f"{name} {signed(gain)}" for name, gain in known.items() if not gain.above_zero]
    least = min(known, key=lambda name: known[name].low)
    measured = f"above zero in {len(known) - len(lost)} of {len(known)}"
    measured += f"; not in {_some(lost)}" if lost else f"; least: {least} {signed(known[least])}"
    missing = len(gains) - len(known)
    return Claim(
        says, measured + told(known, missing), False if lost else None if missing else True
    )


def within(says: str, differences: Gains, bar: float) -> Claim:
    """A claim of being the same: it holds if every interval lies within plus or minus the bar."""
    known = decided(differences)
    if not known:
        return Claim(says, "not measured yet", None)
    out = [n for n, found in known.items() if not -bar <= found.low <= found.high <= bar]
    most = max(known, key=lambda name: abs(known[name].mean))
    shown = [f"{name} {signed(known[name])}" for name in out or [most]]
    measured = f"{len(known) - len(out)} of {len(known)} within ±{bar:g}; "
    measured += f"{'not' if out else 'most'}: {_some(shown)}"
    missing = len(differences) - len(known)
    return Claim(says, measured + told(known, missing), False if out else None if missing else True)


def steady(says: str, runs: Mapping[str, Mapping[int, float]], bar: float) -> Claim:
    """A claim that runs agree: it holds if every standard deviation is below the bar."""
    known = {n: summary(list(of.values()))["sd"] for n, of in runs.items() if len(of) > 1}
    if not known:
        return Claim(says, "not measured yet", None)
    low = all(sd < bar for sd in known.values())
    shown = ", ".join(f"{name} {sd:.4f}" for name, sd in known.items())
    return Claim(says, shown, low if len(known) == len(runs) or not low else None)


def decided(gains: Mapping[str, Interval | None]) -> dict[str, Interval]:
    """The differences that say something: one run has no interval, and proves nothing."""
    return {n: gain for n, gain in gains.items() if gain is not None and isfinite(gain.low)}


def told(known: Mapping[str, Interval], missing: int) -> str:
    """Over how many runs the intervals are, and what is missing."""
    runs = counted(found.n for found in known.values())
    return f"; {runs}" + (f"; {missing} not measured yet" if missing else "")


def turned(gains: Gains) -> Gains:
    """Theirs less ours."""
    return {
        name: None if g is None else Interval(-g.mean, -g.high, -g.low, g.n)
        for name, g in gains.items()
    }


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def claims_table(claims: Sequence[Claim]) -> str:
    rows = [[VERDICT[claim.holds], claim.says, claim.measured] for claim in claims]
    return markdown(["holds", "the paper says", "measured here"], rows)
