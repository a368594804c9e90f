"""The clusters over time, for the cards: every cluster of the fit, and every node of the dial."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie import breakdown
from coterie.report.cuts import Shown
from coterie.report.schema import Dial, Trend


def trend_of(groups: Any, over: str, dial: tuple[Dial, Shown] | None) -> Trend:
    """The texts of each cluster in each period of a column of times."""
    found = breakdown.timeline(groups.rows, over)
    width = len(found.names)
    counts, totals = breakdown.crossed(groups.labels, found.part, groups.n_clusters, width)
    made: Trend = {
        "column": over,
        "every": found.every,
        "parts": found.names,
        "totals": totals.tolist(),
        "recent": breakdown.first_recent(width),
        "counts": counts.tolist(),
        "states": breakdown.states(counts, totals),
        "leaves": [],
        "nodes": [],
    }
    if dial is not None:
        shown = dial[1]
        own, _ = breakdown.crossed(groups.finest, found.part, shown.order.size, width)
        made["leaves"] = [_sparse(row) for row in own]
        made["nodes"] = [""] * len(dial[0]["nodes"])
        states = breakdown.states(shown.sums(own), totals)
        for node, state in zip(shown.node, states, strict=True):
            made["nodes"][node] = state
    return made


def _sparse(row: Any) -> list[int]:
    at = np.flatnonzero(row)
    return [int(v) for v in np.stack([at, row[at]], 1).ravel()]
