"""Tables of the race, and a picture of each half, from whatever rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from ..harness import drawing
from ..harness.pages import EMPTY
from ..harness.store import Rows
from ..harness.tables import joined, markdown, number, signed, span
from .judge import AHEAD, ALIKE, BEHIND, DECIDES, ENGLISH, KINDS, UNDECIDED, Cell, Gap, Half, kind
from .race import MEASURES
from .roster import SYSTEMS
from .sets import SETS

FIRST = 3  # systems named in a sentence
AMI = DECIDES.upper()
COLOURS = {AHEAD: "#1f6fb4", UNDECIDED: "#777777", BEHIND: "#c0392b"}


def how_far(halves: Sequence[Half]) -> str:
    """How many of the sets are done, and what is not ranked."""
    done = [name for name in SETS if all(name in half.names for half in halves)]
    if len(done) == len(SETS):
        return f"All {len(SETS)} sets are done."
    begun = [n for n in SETS if n not in done and any(n in half.cells for half in halves)]
    missing = [name for name in SETS if name not in (*done, *begun)]
    late = {s for half in halves for of in half.cells.values() for s in of if s not in half.entered}
    lists = {
        "Begun, but not ranked": begun,
        "Missing": missing,
        "Tried on few sets only, and so not ranked": sorted(late),
    }
    said = [f"{what}: {', '.join(names)}." for what, names in lists.items() if names]
    return " ".join([f"**{len(done)} of {len(SETS)} sets are done so far.**", *said])


def in_short(half: Half) -> str:
    """Who is first by mean rank, and against how many coterie is ahead."""
    ranks = half.ranks()
    if not ranks:
        return EMPTY
    first = sorted(ranks, key=lambda s: ranks[s])[:FIRST]
    named = ", ".join(f"{_name(system)} ({ranks[system]:.1f})" for system in first)
    ahead, *_ = half.claims()
    told = f" {ahead.says}: {ahead.told()}." if ahead.checks else ""
    return f"best of {len(ranks)} by mean rank in {AMI}: {named}.{told}"


def _name(system: str) -> str:
    return f"**{system}**" if SYSTEMS[system].ours else system


def by_kind(half: Half) -> str:
    """Mean AMI of each system over the sets of a kind, the best in bold."""
    ranks = half.ranks()
    systems = sorted(half.entered, key=lambda s: ranks.get(s, np.inf))
    columns, heads = [], []
    for k in KINDS:
        names = [name for name in half.names if kind(half.rows[name]) == k]
        if names:
            found = [_mean([half.cells[name][system] for name in names]) for system in systems]
            shown = [why or number(at, 3) for at, why in found]
            columns.append(_embolden(shown, [at for at, _ in found]))
            heads.append(f"{k} ({len(names)} set{'s' * (len(names) > 1)})")
    lines = [[_name(s), *line] for s, *line in zip(systems, *columns, strict=True)]
    return markdown(["system", *heads], lines) if columns else EMPTY


def _mean(cells: Sequence[Cell]) -> tuple[float, str]:
    """The mean of the deciding measure, or of how many sets there is one."""
    done = [cell.value() for cell in cells if cell.figures]
    if len(done) == len(cells):
        return mean(done), ""
    return -np.inf, f"{len(done)} of {len(cells)} sets" if done else cells[0].why


def overview(half: Half, means: Sequence[str] = MEASURES) -> str:
    """One line per system: ranks, means over the sets that all finished, wins, cost."""
    cells, names = half.cells, half.names
    if not names:
        return EMPTY
    all_done = [n for n in names if all(cells[n][s].figures for s in half.systems)]
    ranks = {measure: half.ranks(measure) for measure in MEASURES}
    highest = {name: max(cells[name][s].value() for s in half.systems) for name in names}
    lines = []
    for system in sorted(half.systems, key=lambda s: ranks[DECIDES][s]):
        done = [cell for name in names if (cell := cells[name][system]).figures]
        best = [cells[name][system].value() == top > -np.inf for name, top in highest.items()]
        line = [_name(system), *(f"{ranks[measure][system]:.1f}" for measure in MEASURES)]
        for m in means:
            over = [cells[name][system].figures[m] for name in all_done]
            line.append(number(mean(over) if over else None, 3))
        seeds = span([int(cell.figures["seeds"]) for cell in done])
        times = [cell.seconds for cell in done if cell.seconds is not None]
        took = number(median(times) if times else None, 2)
        peaks = [cell.figures["peak_mb"] for cell in done if "peak_mb" in cell.figures]
        most = number(max(peaks, default=None), 0)
        lines.append([*line, sum(best), len(names) - len(done), seeds, took, most])
    head = ["system", *(f"rank, {m.upper()}" for m in MEASURES), *(m.upper() for m in means)]
    head += [f"best {AMI} on", "not finished", "seeds", "median s", "most MB"]
    said = (
        f"Mean ranks over {len(names)} sets; a system that did not finish comes last. "
        f"{', '.join(m.upper() for m in means)}: means over the {len(all_done)} sets that all finished. "
        "Seconds include the embeddings where they are used."
    )
    return joined(said, markdown(head, lines))


def differences(half: Half) -> str:
    """coterie's system minus every other: the interval that decides, and the other means."""
    lines = []
    beside = [measure for measure in MEASURES if measure != DECIDES]
    for gap in half.gaps:
        found, ahead = gap.by[DECIDES]
        name = _name(gap.theirs)
        if gap.ours != half.ours:
            name = f"({gap.ours} minus) {name}"
        name += f": {gap.over}" if SYSTEMS[gap.theirs].embeds else ""
        word = gap.word
        if gap.claimed == ALIKE:
            word = "the same model, alike" if gap.alike else "the same model, **not alike**"
        means = [f"{gap.by[m][0].mean:+.3f}" for m in beside]
        lines.append([name, word, f"{ahead} of {found.n}", signed(found), *means])
    head = [f"{half.ours} minus", "is", "ahead on", AMI, *(m.upper() for m in beside)]
    return markdown(head, lines) or EMPTY


def matrices(half: Half) -> str:
    """One table per measure: sets by systems, the best of a set in bold."""
    systems = [s for s in SYSTEMS if any(s in of for of in half.cells.values())]
    parts = []
    for title, measure in (
        *((m.upper(), m) for m in MEASURES),
        ("Clusters found (share of the texts in a cluster, if not all)", "n_clusters"),
        ("Seconds (+ embeddings)", "seconds"),
        ("Peak MB of the fit, or of the embeddings if they need more", "peak_mb"),
    ):
        lines = []
        for name, of in half.cells.items():
            shown = [_shown(of[s], measure) if s in of else "" for s in systems]
            if measure in MEASURES:
                _embolden(shown, [of[s].value(measure) if s in of else -np.inf for s in systems])
            lines.append([name, half.rows[name]["n_classes"], *shown])
        parts.append(f"**{title}**\n\n{markdown(['set', 'classes', *systems], lines)}")
    return joined(*parts)


def _shown(cell: Cell, measure: str) -> str:
    if not cell.figures:
        return cell.why
    found = cell.figures.get(measure)
    if measure == "n_clusters":
        part = cell.figures["coverage"]
        return number(found, 0) + (f" ({part:.0%})" if part < 1 else "")
    if measure == "seconds" and found is not None and "embedding" in cell.figures:
        return f"{number(found, 1)} (+ {cell.figures['embedding']:,.0f})"
    return number(found, {"seconds": 1, "peak_mb": 0}.get(measure, 3))


def _embolden(shown: list[str], values: Sequence[float]) -> list[str]:
    at = int(np.argmax(values))
    if np.isfinite(values[at]):
        shown[at] = f"**{shown[at]}**"
    return shown


def who() -> str:
    """What each system is given and does."""
    lines = [[s.name, "yes" if s.told_k else "no", s.takes, s.does] for s in SYSTEMS.values()]
    return markdown(["system", "K given", "takes", "settings"], lines)


def which(rows: Rows) -> str:
    """The sets that are done or begun."""
    lines = []
    for name, of in [(name, rows[name]) for name in SETS if name in rows]:
        sizes = [f"{of[size]:,}" for size in ("n_docs", "n_classes", "n_words")]
        embedding = number(rows.get(f"{name}: embedding", {}).get("seconds"), 0)
        length = f"{of['mean_length']:.1f}"
        lines.append([name, kind(of), of["language"], *sizes, length, embedding])
    head = ["set", "kind", "language", "texts", "classes", "vocabulary", "words per text"]
    return markdown([*head, "embedding, s"], lines) or EMPTY


# ---------------------------------------------------------------- pictures
def picture(half: Half, folder: str) -> str:
    """The link to the picture of a half: ours minus each other system, if there is any."""
    said = f"{half.head}: {half.ours} minus each other system in {AMI}, with 95% intervals"
    return f"![{said}]({folder}/{_file(half)})" if _drawn(half) else ""


def draw(halves: Sequence[Half], folder: Path) -> None:
    """An SVG file for each half."""
    found = {half: _drawn(half) for half in halves if _drawn(half)}
    drawing.draw(
        {
            folder / _file(half): ((7, 1 + 0.28 * len(gaps)), partial(_fill, gaps, half.ours))
            for half, gaps in found.items()
        }
    )


def _file(half: Half) -> str:
    return f"peers-{half.head.lower().replace(' ', '-')}.svg"


def _drawn(half: Half) -> list[Gap]:
    return [gap for gap in half.gaps if gap.ours == half.ours]


def _fill(gaps: list[Gap], ours: str, figure: Any) -> None:
    """One line per system, the lowest at the bottom; coterie's own are hollow."""
    axes = figure.add_subplot()
    gaps = sorted(gaps, key=lambda gap: gap.decides.mean)
    for y, gap in enumerate(gaps):
        found, colour = gap.decides, COLOURS[gap.word]
        face = "white" if SYSTEMS[gap.theirs].ours else colour
        axes.plot([found.low, found.high], [y, y], color=colour, linewidth=1.5)
        axes.plot(found.mean, y, "o", color=colour, markerfacecolor=face, markersize=6)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(gaps)), [_label(gap) for gap in gaps])
    axes.set_xlabel(f"{AMI}: {ours} minus the other\n(right of 0: {ours} is ahead)")
    axes.grid(axis="x", alpha=0.3)


def _label(gap: Gap) -> str:
    """The name of a system, which sets it is judged on, and their number."""
    name = f"{gap.theirs} (coterie)" if SYSTEMS[gap.theirs].ours else gap.theirs
    if SYSTEMS[gap.theirs].embeds:
        name += ", English" if gap.over == ENGLISH else ", all sets"
    return f"{name} · {gap.decides.n}"
