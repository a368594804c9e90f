"""Claims, of papers and of our own, and whether the rows bear them out.

A claim rests on one or more comparisons. It holds if all of them are met, holds in part if some are,
and does not hold if none is. While a comparison is missing, a claim that has no failed one is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from .scores import Interval, summary
from .tables import counted, markdown, signed

Gains = Mapping[str, Interval | None]  # a paired difference by name; None: a row is missing
HOLDS, PART, FAILS, OPEN = "holds", "holds in part", "does not hold", "not measured"
VERDICTS = (HOLDS, PART, FAILS, OPEN)


class Check(NamedTuple):
    """One comparison: what was measured, and whether it is as claimed; None: not measured.

    `spare` orders the comparisons of a claim: the one with the least is the weakest."""

    name: str
    shown: str
    met: bool | None
    spare: float = 0.0


class Claim(NamedTuple):
    """What is claimed, and the comparisons. `note` says over how many runs, `why` the reason."""

    says: str
    checks: Sequence[Check]
    note: str = ""
    why: str = ""

    @property
    def verdict(self) -> str:
        met = [check.met for check in self.checks if check.met is not None]
        if any(met) and not all(met):
            return PART
        if met and not any(met):
            return FAILS
        return HOLDS if met and len(met) == len(self.checks) else OPEN

    @property
    def holds(self) -> bool | None:
        return {HOLDS: True, OPEN: None}.get(self.verdict, False)

    def told(self) -> str:
        """The verdict, with the count where it holds in part."""
        known = [check.met for check in self.checks if check.met is not None]
        return f"{PART}, {sum(known)} of {len(known)}" if self.verdict == PART else self.verdict

    def measured(self, most: int | None = None) -> str:
        """The comparisons: all of them, or at most so many of the failed ones, or the weakest."""
        known = [check for check in self.checks if check.met is not None]
        if not known:
            return self.note or "not measured yet"
        failed = [check for check in known if not check.met]
        shown, lead = known, ""
        if most is not None and failed:
            shown, lead = failed[:most], "not met: " if self.verdict == PART else ""
        elif most is not None and len(known) > most:
            shown, lead = [min(known, key=lambda check: check.spare)], "weakest: "
        text = lead + ", ".join(f"{check.name} {check.shown}".strip() for check in shown)
        if failed and len(shown) < len(failed):
            text += f" and {len(failed) - len(shown)} more"
        missing = len(self.checks) - len(known)
        parts = [text, self.note, f"{missing} not measured" if missing else ""]
        return "; ".join(part for part in parts if part)


def compared(
    says: str,
    gains: Gains,
    test: Callable[[Interval], bool],
    spare: Callable[[Interval], float] = lambda gain: gain.low,
    why: str = "",
) -> Claim:
    """A claim about intervals. A single run has no interval, and so decides nothing."""
    known = {name: gain for name, gain in gains.items() if gain and isfinite(gain.low)}
    checks = [
        Check(name, signed(gain), test(gain), spare(gain)) if gain else Check(name, "-", None)
        for name, gain in ((name, known.get(name)) for name in gains)
    ]
    return Claim(says, checks, counted(gain.n for gain in known.values()) if known else "", why)


def wins(says: str, gains: Gains, why: str = "") -> Claim:
    """A claim to be better: every interval is above zero."""
    return compared(says, gains, lambda gain: gain.above_zero, why=why)


def within(says: str, gains: Gains, bar: float, why: str = "") -> Claim:
    """A claim to be the same: every interval lies within plus or minus the bar."""

    def inside(gain: Interval) -> bool:
        return -bar <= gain.low <= gain.high <= bar

    return compared(says, gains, inside, lambda gain: -abs(gain.mean), why)


def steady(says: str, runs: Mapping[str, Mapping[int, float]], bar: float) -> Claim:
    """A claim that runs agree: every standard deviation is below the bar."""
    checks = []
    for name, of in runs.items():
        sd = summary(list(of.values()))["sd"] if len(of) > 1 else None
        met = None if sd is None else sd < bar
        checks.append(Check(name, "-" if sd is None else f"{sd:.4f}", met, -(sd or 0.0)))
    return Claim(says, checks)


def single(says: str, shown: str = "", met: bool | None = None, why: str = "") -> Claim:
    """A claim that rests on one comparison; not measured if `met` is None, `shown` says why."""
    return Claim(says, [Check("", shown, met)], shown if met is None else "", why)


def turned(gains: Gains) -> Gains:
    """Theirs minus ours."""
    return {name: None if gain is None else -gain for name, gain in gains.items()}


def claims_table(claims: Sequence[Claim], most: int | None = None) -> str:
    """A line per claim: verdict, claim, what was measured and, where it is known, the reason."""
    rows = []
    for claim in claims:
        reason = f". *{claim.why}*" if claim.why and claim.verdict in (PART, FAILS) else ""
        told = claim.told() if claim.verdict in (HOLDS, OPEN) else f"**{claim.told()}**"
        rows.append([claim.says, told, claim.measured(most) + reason])
    return markdown(["claim", "verdict", "measured here"], rows)


def counts(claims: Sequence[Claim]) -> list[int]:
    """How many hold, hold in part, do not hold, are not measured."""
    return [sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS]
