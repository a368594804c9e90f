"""The rows of the race as cells (a system on a set), mean ranks over them, and differences."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from ..harness.scores import Interval, paired
from ..harness.store import Row, Rows
from .race import MEASURES, key
from .roster import SEEDS, SHORT_TEXT, SYSTEMS, System
from .sets import SETS

HEADS = {True: "K given", False: "K not given"}
KINDS = ("short, words", "short, natural", "long", "not English")


class Cell(NamedTuple):
    """A system on a set: means over the seeds, or an empty dict and why."""

    figures: dict[str, float]
    why: str = ""


Cells = dict[str, dict[str, Cell]]


def gather(rows: Rows, told_k: bool) -> Cells:
    """Sets in order, and in each the systems of one table that have a row there."""
    found: Cells = {}
    for name in SETS:
        of = {
            s: _cell(rows, name, system) for s, system in SYSTEMS.items() if system.told_k is told_k
        }
        cells = {system: cell for system, cell in of.items() if cell is not None}
        if cells:
            found[name] = cells
    return found


def _cell(rows: Rows, name: str, system: System) -> Cell | None:
    keys = takewhile(rows.__contains__, (key(name, system.name, seed) for seed in range(SEEDS)))
    at = [rows[k] for k in keys]
    runs = [row for row in at if "skipped" not in row]
    if not runs:
        return Cell({}, at[0]["skipped"].split(" on ")[0]) if at else None
    figures = {m: mean(row[m] for row in runs) for m in (*MEASURES, "n_clusters", "coverage")}
    figures["seconds"] = median(row["seconds"] for row in runs)
    figures["seeds"] = len(runs)
    made = rows.get(f"{name}: embedding") if system.embeds else None
    if made:
        figures["embedding"] = made["seconds"]
    peaks = [row["peak_mb"] for row in (*runs, *([made] if made else ()))]
    if None not in peaks:
        figures["peak_mb"] = max(peaks)
    return Cell(figures)


def seconds(cell: Cell) -> float:
    """Those of a fit and, if it needs them, of the embeddings."""
    return cell.figures["seconds"] + cell.figures.get("embedding", 0.0)


def value(cell: Cell | None, measure: str) -> float:
    """A figure; a system without one is behind all."""
    return cell.figures[measure] if cell and cell.figures else -np.inf


# ---------------------------------------------------------------- how far the race is
def entered(cells: Cells) -> list[str]:
    """The systems that were tried on at least a quarter of the sets.

    A system added later waits: ranking it would drop all sets that it has not been tried on."""
    tried = Counter(system for of in cells.values() for system in of)
    most = max(tried.values(), default=0)
    return [system for system in SYSTEMS if tried[system] and 4 * tried[system] >= most]


def ranked(cells: Cells) -> tuple[list[str], list[str]]:
    """The systems to rank, and the sets on which all that entered were tried."""
    systems = entered(cells)
    names = [name for name, of in cells.items() if systems and all(s in of for s in systems)]
    return [system for system in systems if not SYSTEMS[system].only_short], names


class Progress(NamedTuple):
    """Sets that are done, begun and not begun; and systems that wait, with their number of sets."""

    done: list[str]
    begun: list[str]
    left: list[str]
    waiting: dict[str, int]


def progress(rows: Rows) -> Progress:
    """How far the race is, over both tables."""
    tables = [gather(rows, told_k) for told_k in HEADS]
    whole = [set(ranked(cells)[1]) for cells in tables]
    done = [name for name in SETS if all(name in names for names in whole)]
    begun = [n for n in SETS if n not in done and any(n in cells for cells in tables)]
    waiting = {
        system: sum(system in of for of in cells.values())
        for cells in tables
        for system in sorted({s for of in cells.values() for s in of} - set(entered(cells)))
    }
    return Progress(done, begun, [n for n in SETS if n not in (*done, *begun)], waiting)


# ---------------------------------------------------------------- ranks and differences
def mean_ranks(cells: Cells, measure: str) -> dict[str, float]:
    """Mean rank over the sets on which all were tried; unfinished systems share the last places."""
    systems, names = ranked(cells)
    if not names:
        return {}
    values = [[value(cells[name][system], measure) for system in systems] for name in names]
    ranks = rankdata(-np.array(values), axis=1).mean(axis=0)
    return dict(zip(systems, ranks.tolist(), strict=True))


def less(cells: Cells, ours: str, theirs: str, measure: str) -> tuple[Interval, int] | None:
    """Ours minus theirs over the sets that both finished, and on how many ours is ahead."""
    pairs = [
        (of[ours].figures[measure], of[theirs].figures[measure])
        for of in cells.values()
        if ours in of and theirs in of and of[ours].figures and of[theirs].figures
    ]
    if len(pairs) < 2:
        return None
    return paired(*zip(*pairs, strict=True)), sum(a > b for a, b in pairs)


def kind(facts: Row) -> str:
    """The kind of text of a set, one of KINDS."""
    if facts["language"] != "en":
        return "not English"
    if facts["mean_length"] > SHORT_TEXT:
        return "long"
    return "short, natural" if facts["natural"] else "short, words"
