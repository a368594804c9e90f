"""coterie less each other system, and the verdict: decided by AMI, paired over sets."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ..scores import Interval
from ..store import Row
from .gather import gather, less
from .race import MEASURES
from .roster import FOUND, GIVEN, SYSTEMS

DECIDES = "ami"  # adjusted for chance: finding more clusters does not raise it by itself
MARGIN = 0.02  # two that are one model are alike if the whole interval is within
EVERY, ENGLISH = "all sets", "English sets"
AHEAD, BEHIND, OPEN = "ahead", "behind", "undecided"
BETTER, ALIKE = "better", "alike"  # what may be asked


class Gap(NamedTuple):
    """Ours less theirs: by measure the interval, and on how many sets ours is ahead. `over`: which
    sets. `asked`: whether ours is better, or alike; None where nothing is asked."""

    ours: str
    theirs: str
    over: str
    asked: str | None
    by: dict[str, tuple[Interval, int]]

    @property
    def decides(self) -> Interval:
        return self.by[DECIDES][0]

    @property
    def word(self) -> str:
        return AHEAD if self.decides.above_zero else BEHIND if self.decides.high < 0 else OPEN

    @property
    def met(self) -> bool | None:
        """Yes only if the interval is above zero; or, of one model, within the margin."""
        if self.asked == ALIKE:
            return max(-self.decides.low, self.decides.high) <= MARGIN
        return self.word == AHEAD if self.asked else None


def compared(rows: dict[str, Row], told_k: bool) -> list[Gap]:
    """coterie's system of this table less every other, over the sets that both finished.

    Who takes vectors is judged on the English sets, since the sentence model is English."""
    ours, cells = GIVEN if told_k else FOUND, gather(rows, told_k)
    pools = {
        EVERY: cells,
        ENGLISH: {n: of for n, of in cells.items() if rows[n]["language"] == "en"},
    }
    lines: list[tuple[str, str, str, str | None]] = []
    for name, system in SYSTEMS.items():
        if system.told_k is not told_k or name == ours:
            continue
        if system.twin:
            lines.append((system.twin, name, EVERY, ALIKE))
        if system.embeds:
            lines.append((ours, name, ENGLISH, BETTER))
        if system.twin != ours:
            asked = None if system.ours or system.embeds else BETTER
            lines.append((ours, name, EVERY, asked))
    found = []
    for a, b, over, asked in lines:
        by = {m: gap for m in MEASURES if (gap := less(pools[over], a, b, m))}
        if by:
            found.append(Gap(a, b, over, asked, by))
    return found


def tally(rows: dict[str, Row], told_k: bool) -> str:
    """Against how many other packages coterie's system of this table is ahead, behind, undecided."""
    words = Counter(gap.word for gap in compared(rows, told_k) if gap.asked == BETTER)
    counts = f"ahead of {words[AHEAD]}, behind {words[BEHIND]}, undecided against {words[OPEN]}"
    return f"{GIVEN if told_k else FOUND} is {counts} of {words.total()} from other packages."
