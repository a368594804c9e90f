"""Tables of the race, from whatever rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median
from typing import Any

import numpy as np

from ..harness.pages import EMPTY
from ..harness.store import Rows
from ..harness.tables import joined, markdown, number, signed, span
from .gather import KINDS, Cell, entered, gather, kind, mean_ranks, progress, ranked, seconds, value
from .judge import ALIKE, DECIDES, Gap, claims, compared
from .race import MEASURES
from .roster import FOUND, GIVEN, SYSTEMS
from .sets import SETS

FIRST = 3  # systems named in a sentence


def how_far(rows: Rows) -> str:
    """How many of the sets are done, and which are not."""
    done, begun, left, waiting = progress(rows)
    if not begun and not left and not waiting:
        return f"All {len(SETS)} sets are done."
    texts = [f"**{len(done)} of {len(SETS)} sets are done so far.**"]
    if begun:
        texts.append(f"Begun, but not ranked: {', '.join(begun)}.")
    if left:
        texts.append(f"Missing: {', '.join(left)}.")
    if waiting:
        few = ", ".join(f"{system} ({n})" for system, n in waiting.items())
        texts.append(f"Tried on few sets only, and so not ranked: {few}.")
    return " ".join(texts)


def in_short(rows: Rows, told_k: bool) -> str:
    """Who is first by mean rank, and against how many coterie is ahead."""
    ranks = mean_ranks(gather(rows, told_k), DECIDES)
    if not ranks:
        return EMPTY
    first = sorted(ranks, key=lambda s: ranks[s])[:FIRST]
    named = ", ".join(f"{_name(system)} ({ranks[system]:.1f})" for system in first)
    (check, *_) = claims(rows, told_k)
    ahead = f"{check.says}: {check.told()}" if check.checks else ""
    return f"best of {len(ranks)} by mean rank in {DECIDES.upper()}: {named}. {ahead}".strip() + "."


def _name(system: str) -> str:
    return f"**{system}**" if SYSTEMS[system].ours else system


def by_kind(rows: Rows, told_k: bool) -> str:
    """Mean AMI of each system over the sets of a kind, the best in bold."""
    cells = gather(rows, told_k)
    ranks, names = mean_ranks(cells, DECIDES), ranked(cells)[1]
    sets = {k: [n for n in names if kind(rows[n]) == k] for k in KINDS}
    sets = {k: of for k, of in sets.items() if of}
    if not sets:
        return EMPTY
    systems = sorted(entered(cells), key=lambda s: ranks.get(s, np.inf))
    columns = []
    for of in sets.values():
        found = [_mean([cells[name][system] for name in of]) for system in systems]
        shown = [why or number(at, 3) for at, why in found]
        _embolden(shown, [at for at, _ in found])
        columns.append(shown)
    lines = [[_name(s), *line] for s, line in zip(systems, zip(*columns, strict=True), strict=True)]
    heads = [f"{k} ({len(of)} set{'s' * (len(of) > 1)})" for k, of in sets.items()]
    return markdown(["system", *heads], lines)


def _mean(cells: Sequence[Cell]) -> tuple[float, str]:
    """The mean of the deciding measure, or of how many sets there is one."""
    done = [value(cell, DECIDES) for cell in cells if cell.figures]
    if len(done) == len(cells):
        return mean(done), ""
    return -np.inf, f"{len(done)} of {len(cells)} sets" if done else cells[0].why


def overview(rows: Rows, told_k: bool, means: Sequence[str] = MEASURES) -> str:
    """One line per system: ranks, means over the sets that all finished, wins, cost."""
    cells = gather(rows, told_k)
    systems, names = ranked(cells)
    if not names:
        return EMPTY
    all_done = [n for n in names if all(cells[n][s].figures for s in systems)]
    ranks = {measure: mean_ranks(cells, measure) for measure in MEASURES}
    highest = [max(value(cells[name][system], DECIDES) for system in systems) for name in names]
    lines = []
    for system in sorted(systems, key=lambda s: ranks[DECIDES][s]):
        of = [cells[name][system] for name in names]
        done = [cell for cell in of if cell.figures]
        best = [value(c, DECIDES) == top > -np.inf for c, top in zip(of, highest, strict=True)]
        means_of = [
            number(mean(cells[n][system].figures[m] for n in all_done) if all_done else None, 3)
            for m in means
        ]
        lines.append(
            [
                _name(system),
                *(f"{ranks[measure][system]:.1f}" for measure in MEASURES),
                *means_of,
                sum(best),
                len(of) - len(done),
                span([int(cell.figures["seeds"]) for cell in done]),
                number(median(map(seconds, done)) if done else None, 2),
                number(max((c.figures.get("peak_mb", 0) for c in done), default=None), 0),
            ]
        )
    head = ["system", *(f"rank, {m.upper()}" for m in MEASURES), *(m.upper() for m in means)]
    head += [f"best {DECIDES.upper()} on", "not finished", "seeds", "median s", "most MB"]
    said = (
        f"Mean ranks over {len(names)} sets; a system that did not finish comes last. "
        f"{', '.join(m.upper() for m in means)}: means over the {len(all_done)} sets that all finished. "
        "Seconds include the embeddings where they are used."
    )
    return joined(said, markdown(head, lines))


def differences(rows: Rows, told_k: bool) -> str:
    """coterie's system minus every other: the interval that decides, and the other means."""
    ours, lines = GIVEN if told_k else FOUND, []
    beside = [measure for measure in MEASURES if measure != DECIDES]
    for gap in compared(rows, told_k):
        found, ahead = gap.by[DECIDES]
        means = [f"{gap.by[m][0].mean:+.3f}" for m in beside]
        counted = f"{ahead} of {found.n}"
        lines.append([_other(gap, ours), _answer(gap), counted, signed(found), *means])
    head = [f"{ours} minus", "is", "ahead on", DECIDES.upper(), *(m.upper() for m in beside)]
    return markdown(head, lines) or EMPTY


def _other(gap: Gap, ours: str) -> str:
    """The other system, coterie's own in bold, and what the head of the table does not say."""
    name = _name(gap.theirs)
    if gap.ours != ours:
        name = f"({gap.ours} minus) {name}"
    return f"{name}: {gap.over}" if SYSTEMS[gap.theirs].embeds else name


def _answer(gap: Gap) -> str:
    if gap.claimed == ALIKE:
        return "the same model, alike" if gap.alike else "the same model, **not alike**"
    return gap.word


def matrices(rows: Rows, told_k: bool) -> str:
    """One table per measure: sets by systems, the best of a set in bold."""
    cells = gather(rows, told_k)
    systems = [s for s in SYSTEMS if any(s in of for of in cells.values())]
    parts = []
    for title, measure in (
        *((m.upper(), m) for m in MEASURES),
        ("Clusters found (share of the texts in a cluster, if not all)", "n_clusters"),
        ("Seconds (+ embeddings)", "seconds"),
        ("Peak MB of the fit, or of the embeddings if they need more", "peak_mb"),
    ):
        lines = []
        for name, of in cells.items():
            shown = [_shown(of.get(system), measure) for system in systems]
            if measure in MEASURES:
                _embolden(shown, [value(of.get(system), measure) for system in systems])
            lines.append([name, rows[name]["n_classes"], *shown])
        parts.append(f"**{title}**\n\n{markdown(['set', 'classes', *systems], lines)}")
    return joined(*parts)


def _shown(cell: Cell | None, measure: str) -> str:
    if cell is None:
        return ""
    if not cell.figures:
        return cell.why
    found = cell.figures.get(measure)
    if measure == "n_clusters":
        part = cell.figures["coverage"]
        return number(found, 0) + (f" ({part:.0%})" if part < 1 else "")
    if measure == "seconds" and "embedding" in cell.figures:
        return f"{number(found, 1)} (+ {cell.figures['embedding']:,.0f})"
    return number(found, {"seconds": 1, "peak_mb": 0}.get(measure, 3))


def _embolden(shown: list[str], values: Sequence[float]) -> None:
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


def which(rows: Rows) -> str:
    """The sets that are done or begun."""
    lines = [
        [
            name,
            kind(rows[name]),
            rows[name]["language"],
            *(f"{rows[name][size]:,}" for size in ("n_docs", "n_classes", "n_words")),
            f"{rows[name]['mean_length']:.1f}",
            number(rows.get(f"{name}: embedding", {}).get("seconds"), 0),
        ]
        for name in SETS
        if name in rows
    ]
    head = ["set", "kind", "language", "texts", "classes", "vocabulary", "words per text"]
    return markdown([*head, "embedding, s"], lines) or EMPTY
