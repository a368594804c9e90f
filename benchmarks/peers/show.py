"""Tables of the race, its mean ranks, and coterie less each other system."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, takewhile
from statistics import mean, median
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from ..scores import Interval, paired
from ..store import Row
from ..tables import Verdict, markdown, number, signed
from .race import MEASURES, key
from .roster import FOUND, GIVEN, SYSTEMS, System
from .sets import SETS

HEADS = {True: "K given", False: "K not given"}
NOTHING = "Not measured yet."
DECIDES = "ami"  # adjusted for chance: finding more clusters does not raise it by itself


class Cell(NamedTuple):
    """A system on a set: means over the seeds, or an empty dict and why."""

    figures: dict[str, float]
    why: str = ""


Cells = dict[str, dict[str, Cell]]


def gather(rows: dict[str, Row], told_k: bool) -> Cells:
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


def _cell(rows: dict[str, Row], name: str, system: System) -> Cell | None:
    keys = takewhile(rows.__contains__, (key(name, system.name, seed) for seed in count()))
    at = [rows[k] for k in keys]
    runs = [row for row in at if "skipped" not in row]
    if not runs:
        return Cell({}, at[0]["skipped"]) if at else None
    figures = {m: mean(row[m] for row in runs) for m in (*MEASURES, "n_clusters", "coverage")}
    figures["seconds"] = median(row["seconds"] for row in runs)
    made = rows.get(f"{name}: embedding") if "vectors" in system.takes else None
    if made:
        figures["embedding"] = made["seconds"]
    peaks = [row["peak_mb"] for row in (*runs, *([made] if made else ()))]
    if None not in peaks:
        figures["peak_mb"] = max(peaks)
    return Cell(figures)


def beside(rows: dict[str, Row], system: str) -> dict[str, dict[str, float]]:
    """A system's figures by set, its embeddings' time included, for another benchmark's table."""
    cells = {n: of.get(system) for n, of in gather(rows, SYSTEMS[system].told_k).items()}
    return {
        name: {**cell.figures, "seconds": _seconds(cell), "outliers": 1 - cell.figures["coverage"]}
        for name, cell in cells.items()
        if cell and cell.figures
    }


def _seconds(cell: Cell) -> float:
    """Of a fit and, where it needs them, the embeddings."""
    return cell.figures["seconds"] + cell.figures.get("embedding", 0.0)


# ---------------------------------------------------------------- ranks and differences
def ranked(cells: Cells) -> tuple[list[str], list[str]]:
    """The systems to rank, and the sets on which all of them were tried."""
    tried = {system for of in cells.values() for system in of}
    systems = [name for name, system in SYSTEMS.items() if name in tried and not system.only]
    return systems, [name for name, of in cells.items() if all(s in of for s in systems)]


def mean_ranks(cells: Cells, measure: str) -> dict[str, float]:
    """Mean rank over the sets on which all were tried; who did not finish shares the last places."""
    systems, names = ranked(cells)
    if not names:
        return {}
    values = [[_value(cells[name][system], measure) for system in systems] for name in names]
    ranks = rankdata(-np.array(values), axis=1).mean(axis=0)
    return dict(zip(systems, ranks.tolist(), strict=True))


def _value(cell: Cell | None, measure: str) -> float:
    """A figure; who has none is behind all."""
    return cell.figures[measure] if cell and cell.figures else -np.inf


def less(cells: Cells, ours: str, theirs: str, measure: str) -> tuple[Interval, int] | None:
    """Ours less theirs over the sets both finished, and on how many ours is ahead."""
    pairs = [
        (of[ours].figures[measure], of[theirs].figures[measure])
        for of in cells.values()
        if ours in of and theirs in of and of[ours].figures and of[theirs].figures
    ]
    if not pairs:
        return None
    return paired(*zip(*pairs, strict=True)), sum(a > b for a, b in pairs)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    """coterie against each other package, decided by AMI; yes only if the interval excludes zero.

    Of two that are one model no difference is asked."""
    found = []
    cells = {told_k: gather(rows, told_k) for told_k in HEADS}
    for theirs, system in SYSTEMS.items():
        ours = system.twin or (GIVEN if system.told_k else FOUND)
        gaps = {m: less(cells[system.told_k], ours, theirs, m) for m in MEASURES}
        if system.ours or (gap := gaps[DECIDES]) is None:
            continue
        interval, ahead = gap
        shown = ", ".join(f"{m.upper()} {signed(of[0])}" for m, of in gaps.items() if of)
        measured = f"{_word(interval)}: {shown}; ahead on {ahead} of {interval.n} sets"
        asked, met = f"{DECIDES.upper()} > 0 with its interval", interval.above_zero
        if system.twin:
            asked, met = f"the same model: {DECIDES.upper()} alike", _word(interval) == "alike"
        found.append(Verdict(f"{HEADS[system.told_k]}: {ours} less {theirs}", asked, measured, met))
    return found


def _word(interval: Interval) -> str:
    if interval.above_zero:
        return "ahead"
    return "**behind**" if interval.high < 0 else "alike"


# ---------------------------------------------------------------- tables
def overview(rows: dict[str, Row], told_k: bool) -> str:
    """One line a system: ranks, means over the sets all finished, where it was best, what it took."""
    cells = gather(rows, told_k)
    systems, names = ranked(cells)
    if not names:
        return NOTHING
    all_done = [n for n in names if all(cells[n][s].figures for s in systems)]
    ranks = {measure: mean_ranks(cells, measure) for measure in MEASURES}
    highest = [max(_value(cells[name][system], DECIDES) for system in systems) for name in names]
    lines = []
    for system in sorted(systems, key=lambda s: ranks[DECIDES][s]):
        of = [cells[name][system] for name in names]
        done = [cell for cell in of if cell.figures]
        best = [_value(c, DECIDES) == top > -np.inf for c, top in zip(of, highest, strict=True)]
        means = [
            number(mean(cells[n][system].figures[m] for n in all_done) if all_done else None, 3)
            for m in MEASURES
        ]
        lines.append(
            [
                f"**{system}**" if SYSTEMS[system].ours else system,
                *(f"{ranks[measure][system]:.1f}" for measure in MEASURES),
                *means,
                sum(best),
                len(of) - len(done),
                number(median(_seconds(cell) for cell in done) if done else None, 1),
                number(max((c.figures.get("peak_mb", 0) for c in done), default=None), 0),
            ]
        )
    head = ["system", *(f"rank, {m.upper()}" for m in MEASURES), *(m.upper() for m in MEASURES)]
    head += [f"best {DECIDES.upper()} on", "not finished", "median s", "most MB"]
    said = (
        f"Mean ranks over {len(names)} sets, who did not finish last; NMI, AMI and ARI are means over "
        f"the {len(all_done)} sets that all finished. Seconds include embeddings where they are used."
    )
    return f"{said}\n\n{markdown(head, lines)}"


def differences(rows: dict[str, Row], told_k: bool) -> str:
    """coterie's system less every other, over the sets both finished."""
    cells, ours = gather(rows, told_k), GIVEN if told_k else FOUND
    lines = []
    for theirs in (s for s, system in SYSTEMS.items() if system.told_k is told_k and s != ours):
        gaps = [less(cells, ours, theirs, measure) for measure in MEASURES]
        if all(gaps):
            ahead = [f"{signed(gap[0])}, {gap[1]} of {gap[0].n}" for gap in gaps if gap]
            lines.append([theirs, *ahead])
    head = [f"{ours} less", *(f"{m.upper()}, ahead on" for m in MEASURES)]
    return markdown(head, lines) if lines else ""


def matrices(rows: dict[str, Row], told_k: bool) -> str:
    """A table a measure: sets by systems, the best of a set in bold."""
    cells = gather(rows, told_k)
    systems = [s for s in SYSTEMS if any(s in of for of in cells.values())]
    parts = []
    for title, measure in (
        *((m.upper(), m) for m in MEASURES),
        ("Clusters found (texts in one, where not all are)", "n_clusters"),
        ("Seconds (+ embeddings)", "seconds"),
        ("Peak MB of the fit, or of the embeddings if that is more", "peak_mb"),
    ):
        lines = []
        for name, of in cells.items():
            shown = [_shown(of.get(system), measure) for system in systems]
            if measure in MEASURES:
                _embolden(shown, [of.get(system) for system in systems], measure)
            lines.append([name, rows[name]["n_classes"], *shown])
        parts.append(f"**{title}**\n\n{markdown(['set', 'classes', *systems], lines)}")
    return "\n\n".join(parts)


def _shown(cell: Cell | None, measure: str) -> str:
    if cell is None:
        return ""
    if not cell.figures:
        return cell.why.split(" on ")[0]
    value = cell.figures.get(measure)
    if measure == "n_clusters":
        part = cell.figures["coverage"]
        return number(value, 0) + (f" ({part:.0%})" if part < 1 else "")
    if measure == "seconds" and "embedding" in cell.figures:
        return f"{number(value, 1)} (+ {cell.figures['embedding']:,.0f})"
    return number(value, {"seconds": 1, "peak_mb": 0}.get(measure, 3))


def _embolden(shown: list[str], cells: Sequence[Cell | None], measure: str) -> None:
    values = [_value(cell, measure) for cell in cells]
    at = int(np.argmax(values))
    if np.isfinite(values[at]):
        shown[at] = f"**{shown[at]}**"


def who() -> str:
    """What each system is given and does."""
    lines: list[list[Any]] = [
        [system.name, "yes" if system.told_k else "no", system.takes, system.does]
        for system in SYSTEMS.values()
    ]
    return markdown(["system", "K given", "takes", "settings"], lines)


def which(rows: dict[str, Row]) -> str:
    """The sets."""
    lines = [
        [
            name,
            *(f"{rows[name][size]:,}" for size in ("n_docs", "n_classes", "n_words")),
            f"{rows[name]['mean_length']:.1f}",
            rows[name]["language"],
            "natural" if rows[name]["natural"] else "words",
            number(rows.get(f"{name}: embedding", {}).get("seconds"), 0),
        ]
        for name in SETS
        if name in rows
    ]
    head = ["set", "texts", "classes", "vocabulary", "words a text", "language", "text"]
    return markdown([*head, "embedding, s"], lines)
