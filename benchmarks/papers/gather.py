"""Reading rows that hold one seed each (`<key>, seed 7`): values, cells, paired gains, figures.

A system without chance has one row, `<key>` alone, which stands for every seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..scores import Interval, paired, summary
from ..store import Row
from ..tables import counted, markdown, mean_sd, number, span
from .fits import Ask
from .kit import NMI, Plot

MOST_SEEDS = 100
EVERY = -1  # the seed of a system without chance
Rows = Mapping[str, Row]


def over_seeds(key: str, ask: Ask, n: int) -> dict[str, Ask]:
    """The tasks of one point of a table or figure."""
    return {f"{key}, seed {seed}": ask._replace(seed=seed) for seed in range(n)}


def values(rows: Rows, key: str, measure: str, sweep: int | None = None) -> dict[int, float]:
    """A measure by seed; after one of the sweeps of the curve, or at the end."""
    if key in rows:
        return {EVERY: float(rows[key][measure])}
    found = {}
    for seed in range(MOST_SEEDS):
        row = rows.get(f"{key}, seed {seed}")
        if row is None:
            continue
        if sweep is None:
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


def run_counts(rows: Rows, keys: Iterable[str], measure: str = NMI) -> str:
    """How many seeds these points have: `20`, or `5 to 20`."""
    return span(len(values(rows, key, measure)) for key in keys)


def runs(rows: Rows, keys: Iterable[str]) -> str:
    """The same in words: `20 runs`."""
    return counted(len(values(rows, key, NMI)) for key in keys)


def after(rows: Rows, key: str, measure: str, sweep: float) -> dict[int, float]:
    """A measure by seed after a sweep: a point of a figure over sweeps."""
    return values(rows, key, measure, int(sweep))


def seconds(rows: Rows, key: Callable[[int], str], n: float) -> dict[int, float]:
    """The seconds of so many copies: a point of a figure over copies."""
    found = rows.get(key(int(n)), {}).get("seconds")
    return {} if found is None else {0: found}


def gain(rows: Rows, ours: str, theirs: str, measure: str) -> Interval | None:
    """Ours less theirs, over the seeds that both have."""
    return difference(values(rows, ours, measure), values(rows, theirs, measure))


def difference(a: Mapping[int, float], b: Mapping[int, float]) -> Interval | None:
    """The paired difference over the seeds of both; None for fewer than two."""
    if EVERY in b:
        b = dict.fromkeys(a, b[EVERY])
    both = sorted(set(a) & set(b))
    return paired([a[s] for s in both], [b[s] for s in both]) if len(both) > 1 else None


def change(new: Mapping[int, float], old: Mapping[int, float]) -> Interval | None:
    """The relative change from old to new, seed by seed."""
    ratio = {seed: new[seed] / old[seed] for seed in new if old.get(seed)}
    return difference(ratio, dict.fromkeys(ratio, 1.0))


class Series(NamedTuple):
    """A line of a figure: its name, and the values by seed at a point of the x axis."""

    name: str
    at: Callable[[float], Mapping[int, float]]


def figure_table(xs: Sequence[float], series: Sequence[Series], corner: str, digits: int) -> str:
    """Means, a line a row, and over how many runs."""
    head = [corner, "runs", *(f"{x:g}" for x in xs)]
    lines = []
    for line in series:
        found = [line.at(x) for x in xs]
        n = span(len(of) for of in found if of)
        lines.append([line.name, n, *(number(_mean(of), digits) for of in found)])
    return markdown(head, lines)


def plot(
    name: str, x: str, y: str, xs: Sequence[float], series: Sequence[Series], log_x: bool = False
) -> tuple[Plot, ...]:
    """The means as a plot; none where nothing is measured."""
    lines = {}
    for line in series:
        points = [(point, _mean(line.at(point))) for point in xs]
        known = [(float(point), mean) for point, mean in points if mean is not None]
        if known:
            lines[line.name] = known
    return (Plot(name, x, y, lines, log_x),) if lines else ()


def _mean(found: Mapping[int, float]) -> float | None:
    return float(np.mean(list(found.values()))) if found else None
