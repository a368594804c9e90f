"""Rows that hold one seed each (`<key>, seed 7`): values, table cells, paired gains, figures.

A system without randomness has one row, `<key>` alone, which stands for every seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .drawing import Plot
from .scores import NMI, Interval, interval, paired, summary
from .store import Row, Rows
from .tables import counted, markdown, mean_sd, number, span

MOST_SEEDS = 100
EVERY = -1  # the seed of a system without randomness
At = str | tuple[str, float]  # a key, or a key and one of the sweeps of its curve
Values = dict[int, float]  # by seed
Ask = TypeVar("Ask", bound=Any)  # a NamedTuple with a field `seed`


def over_seeds(key: str, ask: Ask, n: int) -> dict[str, Ask]:
    """The tasks of one point of a table or figure."""
    return {f"{key}, seed {seed}": ask._replace(seed=seed) for seed in range(n)}


class Seeds(NamedTuple):
    """What the rows say of a key, over its seeds."""

    rows: Rows

    def runs(self, key: str) -> dict[int, Row]:
        """The rows of a key by seed."""
        if key in self.rows:
            return {EVERY: self.rows[key]}
        found = {seed: self.rows.get(f"{key}, seed {seed}", {}) for seed in range(MOST_SEEDS)}
        return {seed: row for seed, row in found.items() if row}

    def values(self, at: At, measure: str = NMI) -> Values:
        """A measure by seed, at the end or after a sweep."""
        if isinstance(at, str):
            return {seed: float(row[measure]) for seed, row in self.runs(at).items()}
        key, sweep = at
        curves = {seed: row.get("curve", {"sweep": ()}) for seed, row in self.runs(key).items()}
        return {
            seed: float(curve[measure][curve["sweep"].index(sweep)])
            for seed, curve in curves.items()
            if sweep in curve["sweep"]
        }

    def cell(self, key: str, measure: str = NMI, digits: int = 3) -> str:
        """Mean ± standard deviation over the seeds, or a dash."""
        found = list(self.values(key, measure).values())
        if len(found) == 1:
            return number(found[0], digits)
        return mean_sd(summary(found), digits) if found else "-"

    def counted(self, keys: Iterable[str]) -> str:
        """How many seeds these keys have: `20 runs`, `5 to 20 runs`."""
        return counted(len(self.runs(key)) for key in keys)

    def gain(self, ours: At, theirs: At, measure: str = NMI) -> Interval | None:
        """Ours minus theirs, over the seeds that both have."""
        return difference(self.values(ours, measure), self.values(theirs, measure))

    def change(self, new: At, old: At, measure: str) -> Interval | None:
        """The relative change from old to new, seed by seed."""
        before = self.values(old, measure)
        now = {seed: n for seed, n in self.values(new, measure).items() if before.get(seed)}
        return mean_of({seed: n / before[seed] - 1 for seed, n in now.items()})


def difference(a: Values, b: Values) -> Interval | None:
    """The paired difference over the seeds of both; None for fewer than two."""
    if EVERY in b:
        b = dict.fromkeys(a, b[EVERY])
    both = sorted(set(a) & set(b))
    return paired([a[s] for s in both], [b[s] for s in both]) if len(both) > 1 else None


def mean_of(found: Values) -> Interval | None:
    """The mean over the seeds; None for fewer than two."""
    return interval(list(found.values())) if len(found) > 1 else None


class Figure(NamedTuple):
    """Lines by name: the values by seed at each point of the x axis."""

    x: str
    xs: Sequence[float]
    lines: Mapping[str, Callable[[float], Values]]

    def table(self, corner: str, digits: int) -> str:
        """The means at each x, one row per line of the figure, and over how many runs."""
        rows = []
        for name, at in self.lines.items():
            found = [at(x) for x in self.xs]
            n = span(len(of) for of in found if of)
            rows.append([name, n, *(number(_mean(of), digits) for of in found)])
        return markdown([corner, "runs", *(f"{x:g}" for x in self.xs)], rows)

    def plot(self, name: str, y: str, log_x: bool = False) -> list[Plot]:
        """The means as a plot; none where nothing is measured."""
        lines = {}
        for line, at in self.lines.items():
            points = [(float(x), mean) for x in self.xs if (mean := _mean(at(x))) is not None]
            if points:
                lines[line] = points
        return [Plot(name, self.x, y, lines, log_x)] if lines else []


def _mean(found: Values) -> float | None:
    return float(np.mean(list(found.values()))) if found else None
