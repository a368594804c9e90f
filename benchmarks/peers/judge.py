"""The rows of the race as two tables (K given, K not given): cells, mean ranks over them, and coterie
minus each other system, decided by AMI and paired over sets."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import takewhile
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from ..harness.claims import Check, Claim
from ..harness.scores import Interval, paired
from ..harness.store import Row, Rows
from ..harness.tables import signed
from .race import MEASURES, key
from .roster import FOUND, GIVEN, SHORT_TEXT, SYSTEMS, System
from .sets import SETS

DECIDES = "ami"  # adjusted for chance: finding more clusters does not raise it by itself
MARGIN = 0.02  # two packages with one model are alike if the whole interval is within
EVERY, ENGLISH = "all sets", "English sets"
AHEAD, BEHIND, UNDECIDED = "ahead", "behind", "undecided"
BETTER, ALIKE = "better", "alike"  # what is claimed
KINDS = ("short, words", "short, natural", "long", "not English")


class Cell(NamedTuple):
    """A system on a set: means over the seeds, or an empty dict and why."""

    figures: dict[str, float]
    why: str = ""

    def value(self, measure: str = DECIDES) -> float:
        """A figure; a system without one is behind all."""
        return self.figures[measure] if self.figures else -np.inf

    @property
    def seconds(self) -> float | None:
        """Those of a fit and, if it needs them, of the embeddings; None if they were not timed here."""
        fit = self.figures.get("seconds")
        return None if fit is None else fit + self.figures.get("embedding", 0.0)


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


class Half:
    """One of the two tables. `cells`: sets in order, and in each the systems that have a row there.

    `entered` are the systems that were tried on at least half of the sets: ranking one that was
    added later would drop all sets that it has not been tried on. `names` are the sets on which all
    that entered were tried, `systems` those to rank."""

    def __init__(self, rows: Rows, told_k: bool) -> None:
        self.rows, self.told_k = rows, told_k
        self.ours, self.head = (GIVEN, "K given") if told_k else (FOUND, "K not given")
        of = {name: system for name, system in SYSTEMS.items() if system.told_k is told_k}
        every = {n: {s: _cell(rows, n, system) for s, system in of.items()} for n in SETS}
        cells = {n: {s: c for s, c in found.items() if c} for n, found in every.items()}
        self.cells = {name: found for name, found in cells.items() if found}
        tried = Counter(system for found in self.cells.values() for system in found)
        most = max(tried.values(), default=0)
        self.entered = [s for s in of if tried[s] and 2 * tried[s] >= most]
        self.names = [n for n, found in self.cells.items() if all(s in found for s in self.entered)]
        self.systems = [s for s in self.entered if not SYSTEMS[s].only_short]

    def ranks(self, measure: str = DECIDES) -> dict[str, float]:
        """Mean ranks; unfinished systems share the last places."""
        if not self.names:
            return {}
        values = [[self.cells[n][s].value(measure) for s in self.systems] for n in self.names]
        ranks = rankdata(-np.array(values), axis=1).mean(axis=0)
        return dict(zip(self.systems, ranks.tolist(), strict=True))

    @cached_property
    def gaps(self) -> list[Gap]:
        """coterie's system of this table minus every other, over the sets that both finished.

        Systems that take sentence embeddings are judged on English sets: the model is English."""
        lines: list[tuple[str, str, str, str | None]] = []
        for name, system in SYSTEMS.items():
            if system.told_k is not self.told_k or name == self.ours:
                continue
            if system.twin:
                lines.append((system.twin, name, EVERY, ALIKE))
            if system.embeds:
                lines.append((self.ours, name, ENGLISH, None if system.ours else BETTER))
            if system.twin != self.ours:
                claimed = None if system.ours or system.embeds else BETTER
                lines.append((self.ours, name, EVERY, claimed))
        found = [
            Gap(*line, {m: gap for m in MEASURES if (gap := self._less(*line[:3], m))})
            for line in lines
        ]
        return [gap for gap in found if gap.by]

    def _less(self, ours: str, theirs: str, over: str, measure: str) -> tuple[Interval, int] | None:
        pairs = [
            (of[ours].figures[measure], of[theirs].figures[measure])
            for name, of in self.cells.items()
            if over == EVERY or self.rows[name]["language"] == "en"
            if ours in of and theirs in of and of[ours].figures and of[theirs].figures
        ]
        if len(pairs) < 2:
            return None
        return paired(*zip(*pairs, strict=True)), sum(a > b for a, b in pairs)

    def claims(self) -> list[Claim]:
        """That coterie is ahead of the other packages, and like the one that has the same model."""
        ahead = [gap.check() for gap in self.gaps if gap.claimed == BETTER]
        found = [Claim(f"{self.ours} is ahead of the other packages (AMI)", ahead)]
        alike = [gap for gap in self.gaps if gap.claimed == ALIKE]
        if alike:
            says = f"{alike[0].ours} is within ±{MARGIN} AMI of the package with the same model"
            found.append(Claim(says, [gap.check() for gap in alike]))
        return found


def _cell(rows: Rows, name: str, system: System) -> Cell | None:
    keys = takewhile(
        rows.__contains__, (key(name, system.name, seed) for seed in range(system.seeds))
    )
    at = [rows[k] for k in keys]
    runs = [row for row in at if "skipped" not in row]
    if not runs:
        return Cell({}, at[0]["skipped"].split(" on ")[0]) if at else None
    figures = {m: mean(row[m] for row in runs) for m in (*MEASURES, "n_clusters", "coverage")}
    figures["seeds"] = len(runs)
    timed = [row for row in runs if "seconds" in row]  # those that ran on this machine
    if timed:
        figures["seconds"] = median(row["seconds"] for row in timed)
    made = rows.get(f"{name}: embedding") if system.embeds else None
    if made:
        figures["embedding"] = made["seconds"]
    peaks = [row["peak_mb"] for row in (*timed, *([made] if made else ()))]
    if peaks and None not in peaks:
        figures["peak_mb"] = max(peaks)
    return Cell(figures)


def kind(facts: Row) -> str:
    """The kind of text of a set, one of KINDS."""
    if facts["language"] != "en":
        return "not English"
    if facts["mean_length"] > SHORT_TEXT:
        return "long"
    return "short, natural" if facts["natural"] else "short, words"
