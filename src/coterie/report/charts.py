"""Breakdowns by a column and over time, as tables and small charts of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._forks import check_threads
from coterie.report.schema import Chart, ChartRow

MOST_ROWS, MOST_PARTS = 30, 10
WIDTH, HEIGHT = 240, 56  # of a small chart
_STATES = ("new", "growing", "shrinking", "gone", "steady")


def charts_of(groups: Any, by: Sequence[str] | str | None, over: str | None) -> list[Chart]:
    """A chart per column."""
    columns = [by] if isinstance(by, str) else list(dict.fromkeys(by or ()))
    if columns or over is not None:
        check_threads()
    found = [_by(groups.by(column)) for column in columns]
    return [*found, _over(groups.over(over))] if over is not None else found


def _by(found: Any) -> Chart:
    """The largest groups, in each of the most frequent values."""
    counts, names = _counted(found)
    parts = found.counts.columns[2:]
    shape = (counts.shape[1], counts.shape[0])
    low, high, ratio = (
        found.table[name].fill_null(math.inf).to_numpy().reshape(shape).T
        for name in ("low", "high", "ratio")
    )
    order = np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_ROWS]
    share = counts / np.maximum(counts.sum(axis=0), 1)
    rows = [
        _row(k, names[k], counts[k], share[k].tolist(), _marks(low[k], high[k], ratio[k]))
        for k in order.tolist()
    ]
    return _chart(found, parts, rows, counts.shape[0])


def _over(found: Any) -> Chart:
    """Groups that changed first, then the largest."""
    counts, names = _counted(found)
    state = found.changes["state"].to_list()
    rank = [_STATES.index(one) for one in state]
    order = np.lexsort((-counts.sum(axis=1), np.array(rank) == len(_STATES) - 1))[:MOST_ROWS]
    share = counts / np.maximum(counts.sum(axis=0), 1)
    rows = [_row(k, names[k], counts[k], share[k].tolist(), [], state[k]) for k in order.tolist()]
    return _chart(found, found.counts.columns[2:], rows, counts.shape[0])


def _counted(found: Any) -> tuple[Any, list[str]]:
    return found.counts.drop("cluster", "name").to_numpy(), found.counts["name"].to_list()


def _marks(low: Any, high: Any, ratio: Any) -> list[int]:
    """1 or 2: clearly more often than elsewhere, -1: clearly less often, 0: neither."""
    up = np.where(ratio >= 2.0, 2, 1)
    return [int(v) for v in np.where(low > 1, up, np.where(high < 1, -1, 0))]


def _row(
    k: int, name: str, counts: Any, share: list[float], marks: list[int], state: str = ""
) -> ChartRow:
    made: ChartRow = {
        "cluster": k,
        "name": name,
        "counts": [int(n) for n in counts],
        "share": share,
        "marks": marks,
        "state": state,
    }
    return made


def _chart(found: Any, parts: list[str], rows: list[ChartRow], n_groups: int) -> Chart:
    return {
        "column": found.column,
        "every": found.every,
        "parts": [str(part) for part in parts],
        "rows": rows,
        "groups": n_groups,
        "lines": [str(line) for line in found.lines()],
        "notes": [str(note) for note in found.notes],
    }


def bars(share: Sequence[float]) -> str:
    """The bars of a small chart, as the d attribute of a path; the highest fills it.

    >>> bars([0.5, 1.0])
    'M0 56V28H118V56ZM120 56V0H238V56Z'
    """
    most = max([*share, 1e-12])
    step = WIDTH / max(len(share), 1)
    gap = 2 if step > 6 else 0
    made = []
    for i, value in enumerate(share):
        if value > 0:
            left, right = _short(i * step), _short((i + 1) * step - gap)
            made.append(f"M{left} {HEIGHT}V{_short(HEIGHT * (1 - value / most))}H{right}V{HEIGHT}Z")
    return "".join(made)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
