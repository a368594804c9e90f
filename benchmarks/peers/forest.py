"""The race as a picture per table: coterie minus each other system in AMI, with its interval."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ..harness import drawing
from ..harness.store import Rows
from .gather import HEADS
from .judge import AHEAD, BEHIND, DECIDES, ENGLISH, UNDECIDED, Gap, compared
from .roster import FOUND, GIVEN, SYSTEMS

FILES = {told_k: f"peers-{head.lower().replace(' ', '-')}.svg" for told_k, head in HEADS.items()}
COLOURS = {AHEAD: "#1f6fb4", UNDECIDED: "#777777", BEHIND: "#c0392b"}


def image(rows: Rows, told_k: bool, folder: str) -> str:
    """The link to a table's picture, if there is anything to draw."""
    if not _gaps(rows, told_k):
        return ""
    ours = GIVEN if told_k else FOUND
    said = (
        f"{HEADS[told_k]}: {ours} minus each other system in {DECIDES.upper()}, with 95% intervals"
    )
    return f"![{said}]({folder}/{FILES[told_k]})\n"


def draw(rows: Rows, folder: Path) -> None:
    """An SVG file for each table."""
    tables = {told_k: gaps for told_k in HEADS if (gaps := _gaps(rows, told_k))}
    drawing.draw(
        {
            folder / FILES[told_k]: ((7, 1 + 0.28 * len(gaps)), partial(_fill, gaps, told_k))
            for told_k, gaps in tables.items()
        }
    )


def _gaps(rows: Rows, told_k: bool) -> list[Gap]:
    ours = GIVEN if told_k else FOUND
    return [gap for gap in compared(rows, told_k) if gap.ours == ours]


def _fill(gaps: list[Gap], told_k: bool, figure: Any) -> None:
    """One line per system, the lowest at the bottom; coterie's own are hollow."""
    axes, ours = figure.add_subplot(), GIVEN if told_k else FOUND
    gaps = sorted(gaps, key=lambda gap: gap.decides.mean)
    for y, gap in enumerate(gaps):
        found, colour = gap.decides, COLOURS[gap.word]
        face = "white" if SYSTEMS[gap.theirs].ours else colour
        axes.plot([found.low, found.high], [y, y], color=colour, linewidth=1.5)
        axes.plot(found.mean, y, "o", color=colour, markerfacecolor=face, markersize=6)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(gaps)), [_label(gap) for gap in gaps])
    axes.set_xlabel(f"{DECIDES.upper()}: {ours} minus the other (right of 0: {ours} is ahead)")
    axes.grid(axis="x", alpha=0.3)


def _label(gap: Gap) -> str:
    """The name of a system, which sets it is judged on, and their number."""
    name = f"{gap.theirs} (coterie)" if SYSTEMS[gap.theirs].ours else gap.theirs
    if SYSTEMS[gap.theirs].embeds:
        name += ", English" if gap.over == ENGLISH else ", all sets"
    return f"{name} · {gap.decides.n}"
