"""Breakdowns of the groups by a column, and over time.

In: a clustering and a column of the user's table. Out: a `Breakdown`: counts, shares, and how much more
often a group occurs in a part of the texts than in the rest, with a 99% interval. Over time, it also
says which groups are new, growing, shrinking or gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.text import _times
from coterie.text._columns import need_column, values_of

if TYPE_CHECKING:
    from coterie.clustering import Clustering
    from coterie.text.readers import Rows

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

OUTSIDE = 0.01  # of a 99% interval
MOST_VALUES = 30  # shown one by one; the rest is one value
MISSING, OTHER = "(missing)", "(other)"
RECENT = 0.25  # the share of the periods that counts as recent


@dataclass
class Breakdown:
    """The groups in each part of the texts."""

    column: str
    table: Any = field(repr=False)  # a row per part and group: count, share, ratio and its interval
    counts: Any = field(repr=False)  # a row per group, a column per part
    changes: Any = field(default=None, repr=False)  # over time: a row per group with its state
    notes: list[str] = field(default_factory=list)
    every: str = ""  # over time: the length of a period

    def __str__(self) -> str:
        """What stands out, in a few lines."""
        return "\n".join([*self.lines(), *self.notes])

    def lines(self, most: int = 12) -> list[str]:
        """What stands out."""
        return _changes_in_words(self, most) if self.every else _parts_in_words(self, most)


def check(rows: Rows, columns: Sequence[str], times: str | None) -> None:
    """Refuse columns that cannot be broken down by, before the work starts."""
    for column in columns:
        _parts(rows, column)
    if times is not None:
        _times.parse(rows.frame, times)


def by(groups: Clustering, column: str) -> Breakdown:
    """Break the groups down by the values of a column."""
    found, part = _parts(groups.rows, column)
    notes = []
    sizes = np.bincount(part)
    order = sorted(range(len(found)), key=lambda i: (found[i] == MISSING, -sizes[i], found[i]))
    if len(order) > MOST_VALUES + 1:
        notes.append(
            f"The column {column!r} has {len(found):,} values; the {MOST_VALUES} most frequent ones are"
            f" shown, the others as {OTHER}."
        )
    rank = np.empty(len(found), np.int64)
    rank[order] = np.arange(len(found))
    names = [str(found[i]) for i in order]
    if notes:
        rank = np.minimum(rank, MOST_VALUES)
        names = [*names[:MOST_VALUES], OTHER]
    table, counts = _tables(groups, column, rank[part], names)
    return Breakdown(column, table, counts, notes=notes)


def over(groups: Clustering, column: str, every: str | None = None) -> Breakdown:
    """Break the groups down by time; `every` is "hour", "day", "week", "month", "year" or None."""
    import polars as pl

    found = timeline(groups.rows, column, every)
    table, counts = _tables(groups, column, found.part, found.names)
    changes = _changes(groups, found.part, len(found.names), found.names)
    return Breakdown(column, table, counts, pl.DataFrame(changes), found.notes, found.every)


class Timeline(NamedTuple):
    """The period of each row."""

    part: Ints  # (rows,) the number of its period; -1: it has no time
    names: list[str]  # of all periods, from the first to the last
    every: str  # the length of a period
    notes: list[str]


def timeline(rows: Rows, column: str, every: str | None = None) -> Timeline:
    """Cut the times of a column into periods; None: of a length that gives about fifty of them."""
    times, notes = _times.parse(rows.frame, column)
    every = _times.period(times) if every is None else every
    starts = _times.starts(times, every)
    has_time = starts.is_not_null().to_numpy()
    if not has_time.all():
        without = int((~has_time).sum())
        notes.append(f"{counted(without, 'row')} without a time in {column!r} left out.")
    grid = _times.grid(starts, every)
    place = {start: i for i, start in enumerate(grid)}
    part = np.array([place.get(start, -1) for start in starts.to_list()], np.int64)
    return Timeline(part, [_times.label(s, every) for s in grid], every, notes)


# ---------------------------------------------------------------- counting
def _parts(rows: Rows, column: str) -> tuple[Any, Ints]:
    """(the different values of a column, the number of each row's value)."""
    need_column(rows.frame, column)
    values = [MISSING if value is None else value for value in values_of(rows.frame, column)]
    found, part = np.unique(np.array(values, dtype=object).astype(str), return_inverse=True)
    _check_parts(column, found, len(values))
    return found, part


def _check_parts(column: str, found: Any, n_rows: int) -> None:
    if len(found) > max(50, n_rows // 2):
        raise InvalidInput(
            f"The column {column!r} has {len(found):,} different values in {n_rows:,} rows, too many to"
            " break the groups down by. Choose a column with fewer values, such as a channel or a country."
        )
    if len(found) == 1:
        raise InvalidInput(
            f"The column {column!r} has the same value in every row ({str(found[0])!r}), so there is"
            " nothing to compare. Choose another column."
        )


def _tables(groups: Clustering, column: str, part: Ints, names: list[str]) -> tuple[Any, Any]:
    """(a row per part and group, a row per group with a column per part)."""
    import polars as pl

    n, k = crossed(groups.labels, part, groups.n_clusters, len(names))
    share, ratio, low, high = _ratios(n, k)
    width, height = n.shape[1], n.shape[0]
    table = pl.DataFrame(
        {
            column if column not in _OURS else f"{column}_": np.repeat(names, height).tolist(),
            "cluster": np.tile(np.arange(height), width),
            "name": list(groups.names) * width,
            "count": n.T.ravel(),
            "share": share.T.ravel(),
            "ratio": ratio.T.ravel(),
            "low": low.T.ravel(),
            "high": pl.Series(_finite(high.T), dtype=pl.Float64),  # null: no upper end
        }
    )
    first: dict[str, Any] = {"cluster": np.arange(height), "name": list(groups.names)}
    parts = {name if name not in first else f"{name}_": n[:, i] for i, name in enumerate(names)}
    return table, pl.DataFrame({**first, **parts})


_OURS = ("cluster", "name", "count", "share", "ratio", "low", "high")


def crossed(labels: Ints, part: Ints, height: int, width: int) -> tuple[Ints, Ints]:
    """Counts of groups x parts, and the size of each part; rows without words count nowhere."""
    kept = (labels >= 0) & (part >= 0)
    flat = np.bincount(labels[kept] * width + part[kept], minlength=height * width)
    n = flat.reshape(height, width).astype(np.int64)
    return n, n.sum(axis=0)


def _ratios(n: Ints, sizes: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Share of each group in each part, its ratio to the share in the rest, and a 99% interval."""
    rest, others = n.sum(axis=1, keepdims=True) - n, sizes.sum() - sizes
    share = n / np.maximum(sizes, 1)
    ratio, low, high = relative(n, sizes[None, :], rest, others[None, :])
    return share, ratio, low, high


def relative(a: Any, n: Any, c: Any, m: Any) -> tuple[Floats, Floats, Floats]:
    """(a / n) / (c / m) and its exact 99% interval, for counts a and c of n and m texts.

    The interval is that of two Poisson rates: given a + c, a is binomial (Clopper and Pearson). The ratio
    itself adds half a text to each count. The upper end is infinite where c is 0.
    """
    from scipy.special import betaincinv

    a, n, c, m = (np.asarray(x, float) for x in np.broadcast_arrays(a, n, c, m))
    ratio = (a + 0.5) / (n + 1.0) * (m + 1.0) / (c + 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(a > 0, betaincinv(a, c + 1, OUTSIDE / 2), 0.0)
        most = np.where(c > 0, betaincinv(a + 1, c, 1 - OUTSIDE / 2), 1.0)
        low, high = (np.nan_to_num(p / (1 - p) * m / n, nan=0.0) for p in (least, most))
        high = np.where((c > 0) & (n > 0), high, np.inf)
    return ratio, low, high


def _finite(values: Floats) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values.ravel()]


# ---------------------------------------------------------------- over time
def _changes(groups: Clustering, part: Ints, width: int, names: list[str]) -> dict[str, Any]:
    """What became of each group: the recent periods against those before."""
    n, sizes = crossed(groups.labels, part, groups.n_clusters, width)
    before, recent, ratio, low, high = _recently(n, sizes)
    seen = [np.flatnonzero(row) for row in n]
    return {
        "cluster": np.arange(n.shape[0]),
        "name": list(groups.names),
        "state": states(n, sizes),
        "before": before,
        "recent": recent,
        "ratio": ratio,
        "low": low,
        "high": _finite(high),
        "first": [names[at[0]] if at.size else None for at in seen],
        "last": [names[at[-1]] if at.size else None for at in seen],
    }


def states(n: Ints, sizes: Ints) -> list[str]:
    """What became of each group, from its texts in each period: new, growing, shrinking, gone, steady."""
    before, recent, _, low, high = _recently(n, sizes)
    rises = np.where(before > 0, "growing", "new")
    falls = np.where(recent > 0, "shrinking", "gone")
    return [str(one) for one in np.where(low > 1, rises, np.where(high < 1, falls, "steady"))]


def first_recent(width: int) -> int:
    """The first of so many periods that counts as recent."""
    return max(1, width - max(1, round(RECENT * width))) if width > 1 else width


def _recently(n: Ints, sizes: Ints) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """Texts before and in the recent periods, the ratio of their shares, and its interval."""
    cut = first_recent(n.shape[1])
    before, recent = n[:, :cut].sum(axis=1), n[:, cut:].sum(axis=1)
    return before, recent, *relative(recent, sizes[cut:].sum(), before, sizes[:cut].sum())


# ---------------------------------------------------------------- words
def _times_as(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _how_much(row: dict[str, Any]) -> str:
    low, high = _times_as(row["low"]), row["high"]
    between = f"at least {low}" if high is None else f"{low} to {_times_as(high)}"
    return f"{_times_as(row['ratio'])} times ({between})"


def _parts_in_words(found: Breakdown, most: int) -> list[str]:
    part = found.table.columns[0]
    telling = [r for r in found.table.iter_rows(named=True) if r["low"] > 1 and r["count"] > 0]
    telling.sort(key=lambda row: (-row["low"], row[part], row["cluster"]))
    lines = [
        f"{row[part]}: {row['name']!r} {_how_much(row)} as often as elsewhere,"
        f" {counted(row['count'], 'text')}"
        for row in telling[:most]
    ]
    if len(telling) > most:
        lines.append(f"... and {len(telling) - most:,} more")
    return lines or [f"No group stands out in any value of {found.column!r}."]


def _changes_in_words(found: Breakdown, most: int) -> list[str]:
    lines = []
    rows = list(found.changes.iter_rows(named=True))
    for state in ("new", "growing", "shrinking", "gone"):
        of_state = [row for row in rows if row["state"] == state]
        rises = state in ("new", "growing")
        of_state.sort(
            key=lambda row: (-row["low"] if rises else row["high"] or 0.0, row["cluster"])
        )
        for row in of_state[:most]:
            if state == "new":
                said = (
                    f"new: {row['name']!r}, since {row['first']}, {counted(row['recent'], 'text')}"
                )
            elif state == "gone":
                said = f"gone: {row['name']!r}, last {row['last']}, {counted(row['before'], 'text')} before"
            else:
                said = f"{state}: {row['name']!r}, {_how_much(row)} as often as before"
            lines.append(said)
    return lines or [f"No group grew or shrank clearly over {found.column!r}."]
