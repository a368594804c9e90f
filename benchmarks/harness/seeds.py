"""Rows that hold one seed each (`<key>, seed 7`): values, table cells, paired gains, figures.

A system without randomness has one row, `<key>` alone, which stands for every seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .drawing import Plot
from .scores import NMI, Interval, paired, summary
from .store import Rows
from .tables import counted, markdown, mean_sd, number, span

MOST_SEEDS = 100
EVERY = -1  # the seed of a system without randomness
Values = dict[int, float]  # by seed
Ask = TypeVar("Ask", bound=Any)  # a NamedTuple with a field `seed`


def over_seeds(key: str, ask: Ask, n: int) -> dict[str, Ask]:
    """The tasks of one point of a table or figure."""
    return {f"{key}, seed {seed}": ask._replace(seed=seed) for seed in range(n)}


def values(rows: Rows, key: str, measure: str, sweep: float | None = None) -> Values:
    """A measure by seed; after one of the sweeps of the curve, or at the end."""
    if key in rows:
        return {EVERY: float(rows[key][measure])}
    found = {}
    for seed in range(MOST_SEEDS):
        row = rows.get(f"{key}, seed {seed}", {})
        if sweep is None and row:
            found[seed] = float(row[measure])
        elif sweep in row.get("curve", {}).get("sweep", ()):
            found[seed] = float(row["curve"][measure][row["curve"]["sweep"].index(sweep)])
    return found


def cell(rows: Rows, key: str, measure: str, digits: int = 3) -> str:
    """Mean ± standard deviation over the seeds, or a dash."""
    found = list(values(rows, key, measure).values())
    if len(found) == 1:
        return number(found[0], digits)
    return mean_sd(summary(found), digits) if found else "-"


def runs(rows: Rows, keys: Iterable[str], measure: str = NMI) -> str:
    """How many seeds these points have: `20 runs`, `5 to 20 runs`."""
    return counted(len(values(rows, key, measure)) for key in keys)


def gain(rows: Rows, ours: str, theirs: str, measure: str = NMI) -> Interval | None:
    """Ours minus theirs, over the seeds that both have."""
    return difference(values(rows, ours, measure), values(rows, theirs, measure))


def difference(a: Values, b: Values) -> Interval | None:
    """The paired difference over the seeds of both; None for fewer than two."""
    if EVERY in b:
        b = dict.fromkeys(a, b[EVERY])
    both = sorted(set(a) & set(b))
    return paired([a[s] for s in both], [b[s] for s in both]) if len(both) > 1 else None


def change(new: Values, old: Values) -> Interval | None:
    """The relative change from old to new, seed by seed."""
    ratio = {seed: new[seed] / old[seed] for seed in new if old.get(seed)}
    return difference(ratio, dict.fromkeys(ratio, 1.0))


class Series(NamedTuple):
    """A line of a figure: its name, and the values by seed at a point of the x axis."""

    name: str
    at: Callable[[float], Values]


def figure_table(xs: Sequence[float], series: Sequence[Series], corner: str, digits: int) -> str:
    """The means at each x, one row per line of the figure, and over how many runs."""
    lines = []
    for line in series:
        found = [line.at(x) for x in xs]
        n = span(len(of) for of in found if of)
        lines.append([line.name, n, *(number(_mean(of), digits) for of in found)])
    return markdown([corner, "runs", *(f"{x:g}" for x in xs)], lines)


def plot(
    name: str, x: str, y: str, xs: Sequence[float], series: Sequence[Series], log_x: bool = False
) -> list[Plot]:
    """The means as a plot; none where nothing is measured."""
    lines = {}
    for line in series:
        points = [(float(at), mean) for at in xs if (mean := _mean(line.at(at))) is not None]
        if points:
            lines[line.name] = points
    return [Plot(name, x, y, lines, log_x)] if lines else []


def _mean(found: Mapping[int, float]) -> float | None:
    return float(np.mean(list(found.values()))) if found else None
