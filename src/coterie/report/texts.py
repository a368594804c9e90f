"""All texts for the page: which ones, in which order, and where each is drawn on the map.

Texts are sorted by cluster, the surest first. On the map, a text lies in the bubble of its cluster: sure
ones in the middle, and the finest clusters inside a bubble as sectors, so that the dial can divide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.report import layout
from coterie.report.schema import Cluster, Texts
from coterie.text._columns import column_names, need, values_of

MOST_TEXTS = 20_000
SCALE = 9600  # units of a position per picture width
_GOLDEN = (5**0.5 - 1) / 2

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def chosen_columns(rows: Any, columns: Sequence[str] | str | None) -> list[Any]:
    """The columns to show beside each text: a name, several, or "id,channel"; others are refused."""
    names = column_names(rows.frame)
    wanted = [columns] if isinstance(columns, str) else list(columns or ())
    found: list[Any] = []
    for name in wanted:
        parts = [name]
        if isinstance(name, str) and name not in names and "," in name:
            parts = [part.strip() for part in name.split(",") if part.strip()]
        for part in parts:
            need(part, names, "columns")
        found += parts
    return list(dict.fromkeys(found))


def texts_of(
    groups: Any,
    clusters: list[Cluster],
    order: Ints | None,
    with_texts: bool,
    columns: Sequence[Any] = (),
) -> Texts:
    """The texts of a clustering; `order` is that of the finest clusters in the tree."""
    rows = _chosen(groups)
    cluster, sure = groups.labels[rows], groups.probability[rows]
    leaf = groups.finest[rows] if order is not None else np.zeros(rows.size, np.int64)
    rank = np.zeros(1, np.int64) if order is None else np.argsort(order)
    place = _places(cluster, rank[leaf], sure, clusters)
    ids, texts = groups.rows.ids, groups.rows.texts
    return {
        "total": int((groups.labels >= 0).sum()),
        "row": [str(i if ids is None else ids[i]) for i in rows.tolist()] if with_texts else [],
        "text": [texts[i] for i in rows.tolist()] if with_texts else [],
        "cluster": cluster.tolist(),
        "leaf": leaf.tolist(),
        "sure": np.floor(100 * sure).astype(int).tolist(),
        "id": groups.rows.id_column or "row",
        "columns": {
            str(name): _values(groups, name, rows)
            for name in columns
            if name != groups.rows.id_column  # every text has its id anyway
        },
        "x": place[:, 0].tolist(),
        "y": place[:, 1].tolist(),
    }


def _values(groups: Any, name: Any, rows: Ints) -> list[str]:
    found = values_of(groups.rows.frame, name)
    return [found[i] or "" for i in rows.tolist()]


def _chosen(groups: Any) -> Ints:
    """Rows by cluster, the surest first; beyond MOST_TEXTS, evenly spaced ones."""
    held = np.flatnonzero(groups.labels >= 0)
    rows = held[np.lexsort((held, -groups.probability[held], groups.labels[held]))]
    if rows.size > MOST_TEXTS:
        rows = rows[np.linspace(0, rows.size - 1, MOST_TEXTS).astype(np.int64)]
    return np.asarray(rows)


def _places(cluster: Ints, part: Ints, sure: Floats, clusters: list[Cluster]) -> Ints:
    """Positions in whole units of 1 / SCALE picture widths."""
    n = cluster.size
    if not n:
        return np.zeros((0, 2), np.int64)
    order = np.lexsort((np.arange(n), -sure, part, cluster))
    own, piece = cluster[order], part[order]
    opens = np.append(True, own[1:] != own[:-1])
    starts = np.append(True, opens[1:] | (piece[1:] != piece[:-1]))
    first, begin = _start(opens), _start(starts)
    held, size = _size(opens), _size(starts)
    at = np.arange(n) - begin  # the place in its sector
    turn = ((begin - first) + size * ((at * _GOLDEN) % 1.0)) / held
    far = 0.94 * np.sqrt((at + 0.5) / size) * _radii(clusters)[own]
    centre = np.array([(c["x"], c["y"] * layout.ASPECT) for c in clusters])[own]
    around = np.stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)], 1)
    place = np.empty((n, 2), np.int64)
    place[order] = np.rint(SCALE * (centre + far[:, None] * around)).astype(np.int64)
    return place


def _start(opens: npt.NDArray[np.bool_]) -> Ints:
    return np.asarray(np.flatnonzero(opens)[np.cumsum(opens) - 1])


def _size(opens: npt.NDArray[np.bool_]) -> Ints:
    ends = np.append(np.flatnonzero(opens)[1:], opens.size)
    return np.asarray((ends - np.flatnonzero(opens))[np.cumsum(opens) - 1])


def _radii(clusters: list[Cluster]) -> Floats:
    """The radius of each cluster's bubble; those that are not drawn get the smallest one."""
    size = np.array([cluster["size"] for cluster in clusters])
    drawn = np.argsort(-size, kind="stable")[: layout.MOST]
    found = layout.radii(size[drawn])
    radius = np.full(size.size, found.min(initial=1.0))
    radius[drawn] = found
    return radius
