"""coterie minus each other system, decided by AMI and paired over sets, and the claims about it."""

from __future__ import annotations

from typing import NamedTuple

from ..harness.claims import Check, Claim
from ..harness.scores import Interval
from ..harness.store import Rows
from ..harness.tables import signed
from .gather import gather, less
from .race import MEASURES
from .roster import FOUND, GIVEN, SYSTEMS

DECIDES = "ami"  # adjusted for chance: finding more clusters does not raise it by itself
MARGIN = 0.02  # two packages with one model are alike if the whole interval is within
EVERY, ENGLISH = "all sets", "English sets"
AHEAD, BEHIND, UNDECIDED = "ahead", "behind", "undecided"
BETTER, ALIKE = "better", "alike"  # what is claimed


class Gap(NamedTuple):
    """Ours minus theirs: the interval of each measure, and on how many sets ours is ahead.

    `over`: which sets. `claimed`: that ours is better, or alike; None where nothing is claimed."""

    ours: str
    theirs: str
    over: str
    claimed: str | None
    by: dict[str, tuple[Interval, int]]

    @property
    def decides(self) -> Interval:
        return self.by[DECIDES][0]

    @property
    def word(self) -> str:
        return AHEAD if self.decides.above_zero else BEHIND if self.decides.high < 0 else UNDECIDED

    @property
    def alike(self) -> bool:
        return max(-self.decides.low, self.decides.high) <= MARGIN

    def check(self) -> Check:
        met = self.alike if self.claimed == ALIKE else self.word == AHEAD
        return Check(self.theirs, signed(self.decides), met, self.decides.low)


def compared(rows: Rows, told_k: bool) -> list[Gap]:
    """coterie's system of this table minus every other, over the sets that both finished.

    Systems that take sentence embeddings are judged on English sets: the sentence model is English."""
    ours, cells = GIVEN if told_k else FOUND, gather(rows, told_k)
    english = {n: of for n, of in cells.items() if rows[n]["language"] == "en"}
    pools = {EVERY: cells, ENGLISH: english}
    lines: list[tuple[str, str, str, str | None]] = []
    for name, system in SYSTEMS.items():
        if system.told_k is not told_k or name == ours:
            continue
        if system.twin:
            lines.append((system.twin, name, EVERY, ALIKE))
        if system.embeds:
            lines.append((ours, name, ENGLISH, BETTER))
        if system.twin != ours:
            claimed = None if system.ours or system.embeds else BETTER
            lines.append((ours, name, EVERY, claimed))
    found = []
    for a, b, over, claimed in lines:
        by = {m: gap for m in MEASURES if (gap := less(pools[over], a, b, m))}
        if by:
            found.append(Gap(a, b, over, claimed, by))
    return found


def claims(rows: Rows, told_k: bool) -> list[Claim]:
    """That coterie is ahead of the other packages, and like the one that has the same model."""
    gaps = compared(rows, told_k)
    ahead = [gap.check() for gap in gaps if gap.claimed == BETTER]
    alike = [gap.check() for gap in gaps if gap.claimed == ALIKE]
    twin = next((gap.ours for gap in gaps if gap.claimed == ALIKE), "")
    found = [Claim(f"{GIVEN if told_k else FOUND} is ahead of the other packages (AMI)", ahead)]
    if alike:
        says = f"{twin} is within ±{MARGIN} AMI of the package with the same model"
        found.append(Claim(says, alike))
    return found
