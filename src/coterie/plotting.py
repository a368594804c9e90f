"""Figures for papers and slides: a clustering in, a matplotlib figure out.

The places and colours of the clusters are those of the report. Nothing here touches pyplot or its state,
so a figure needs no display. matplotlib is an optional package, imported on first use.
"""

from __future__ import annotations

import io
import os
import re
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._disk import write_atomically
from coterie._optional import require
from coterie.errors import InvalidInput
from coterie.report import data, drawing, html, layout, texts, view
from coterie.report.clean import printable, shorten

if TYPE_CHECKING:
    from coterie.clustering import Clustering

KINDS = ("map", "sizes", "over", "tree")
ENDINGS = ("png", "pdf", "svg")
MOST_BARS, MOST_LEAVES, MOST_LINES, FEW_LINES = 30, 40, 8, 4
WIDTH = 7.2  # inches: the text width of most journals
DPI = 200
POINTS = 8.0  # size of labels
_INK, _PALE = "#1d1d1b", "#b9b6ae"
# asked for only where DejaVu Sans, which comes with matplotlib, lacks a letter
_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Hiragino Sans", "PingFang SC",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "Noto Sans Thai", "Leelawadee UI",
    "Noto Sans Devanagari", "Nirmala UI", "Arial Unicode MS", "Unifont",
)  # fmt: skip

Floats = npt.NDArray[np.float64]


def draw(
    groups: Clustering,
    kind: str | None,
    column: str | None,
    every: str | None,
    ax: Any,
    path: str | os.PathLike[str] | None,
) -> Any:
    """Draw a figure and return it; without a kind, return the report's map as a picture."""
    _check(kind, column, every, ax, path)
    if kind is None:
        return html.Picture(html.render_map(data.page(groups, None)), groups.read_from)
    require("matplotlib", "plot", "groups.plot(kind)")
    ax = _new_axes(groups, kind) if ax is None else ax
    tones = _tones(groups)
    if kind == "map":
        _map(groups, ax, tones)
    elif kind == "sizes":
        _sizes(groups, ax, tones)
    elif kind == "over":
        _over(groups, ax, tones, str(column), every)
    else:
        _tree(groups, ax, tones)
    figure = ax.figure.canvas.figure
    figure._repr_png_ = partial(_written, figure, "png")  # notebooks show it
    if path is not None:
        write_atomically(Path(path), _written(figure, _ending(path)), groups.read_from)
    return figure


def _check(kind: Any, column: Any, every: Any, ax: Any, path: Any) -> None:
    given = {"column": column, "every": every, "ax": ax, "path": path}
    named = next((name for name, value in given.items() if value is not None), None)
    kinds = ", ".join(repr(k) for k in KINDS[:-1]) + f" or {KINDS[-1]!r}"
    if kind is None and named is not None:
        raise InvalidInput(f"plot() with {named} needs a kind of figure: {kinds}.")
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"kind of plot() must be {kinds}; got {kind!r}.", kind="not_allowed")
    if kind == "over" and column is None:
        raise InvalidInput(
            'plot("over") needs a column with times, as in groups.plot("over", "created_at").'
        )
    if kind != "over" and (column is not None or every is not None):
        raise InvalidInput(f'column and every are for plot("over"), not for plot({kind!r}).')
    if ax is not None and not hasattr(ax, "plot"):
        raise InvalidInput(f"ax of plot() must be matplotlib axes, not {type(ax).__name__}.")
    if path is not None:
        _ending(path)


def _ending(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise InvalidInput(f"path of plot() must end in .png, .pdf or .svg; got {str(path)!r}.")
    return ending


def _new_axes(groups: Clustering, kind: str) -> Any:
    rows = min(groups.n_clusters, {"sizes": MOST_BARS, "tree": MOST_LEAVES}.get(kind, 0))
    size = (WIDTH, max(WIDTH * layout.ASPECT, 0.6 + 0.17 * rows))
    make = require("matplotlib.figure", "plot", "groups.plot(kind)").Figure
    return make(figsize=size, dpi=DPI, layout="constrained").add_subplot()


def _written(figure: Any, ending: str) -> bytes:
    """The figure as a file: the same figure gives the same bytes, and letters stay letters."""
    matplotlib = require("matplotlib", "plot", "groups.plot(kind)")
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    letters = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "coterie"}
    out = io.BytesIO()
    with matplotlib.rc_context(letters):
        figure.savefig(out, format=ending, metadata=dated.get(ending))
    return out.getvalue()


# ---------------------------------------------------------------- words and colours
def _tones(groups: Clustering) -> list[str]:
    """The colour of each cluster on the map of the report."""
    places = layout.positions(layout.hellinger(groups.model.counted), groups.model.frozen.size)
    placed: Any = [{"id": k, "x": x, "y": y} for k, (x, y) in enumerate(places.tolist())]
    tone, colours = drawing.tone_of(placed), _palette()
    return [colours[tone[k]] for k in range(groups.n_clusters)]


@cache
def _palette() -> list[str]:
    """The colours of the report, from the light half of its style sheet."""
    style = (files("coterie.report") / "static" / "report.css").read_text(encoding="utf-8")
    return re.findall(r"--t\d: (#\w{6});", style)[: drawing.TONES]


def _name(name: str, most: int = 34) -> str:
    return shorten(str(printable(name)), most)


def _said(text: str, **how: Any) -> dict[str, Any]:
    """How to write other people's words: as they are, with a font that has the letters."""
    return {"fontsize": POINTS, "color": _INK, "parse_math": False, **_font(text), **how}


def _font(text: str) -> dict[str, Any]:
    if all(ord(letter) < 0x590 for letter in text):
        return {}
    manager = require("matplotlib.font_manager", "plot", "groups.plot(kind)")
    there = set(manager.get_font_names())
    return {"fontfamily": ["DejaVu Sans", *(font for font in _FONTS if font in there)]}


def _plain(ax: Any, *, axis: str) -> None:
    """Few lines: no frame, and a pale grid for one axis."""
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis=axis, color=_PALE, alpha=0.35, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=POINTS, length=0, colors=_INK)


# ---------------------------------------------------------------- map
def _map(groups: Clustering, ax: Any, tones: list[str]) -> None:
    """Bubbles as in the report, with a dot per text."""
    circle = require("matplotlib.patches", "plot", "groups.plot(kind)").Circle
    clusters = view.shown(data.page(groups, None))["clusters"]
    shown = drawing.bubbles(clusters)
    for bubble in shown:
        place = (bubble.x, bubble.y)
        tone = tones[bubble.id]
        ax.add_patch(circle(place, bubble.r, facecolor=tone, alpha=0.16, edgecolor="none"))
        ax.add_patch(circle(place, bubble.r, fill=False, edgecolor=tone, alpha=0.5, linewidth=0.6))
    dots = texts.texts_of(groups, clusters, None, with_texts=False)
    unit = drawing.WIDTH / texts.SCALE
    colours = [tones[k] for k in dots["cluster"]]
    small = min(4.0, 3000.0 / max(len(colours), 1) + 0.3)
    ax.scatter(
        np.array(dots["x"]) * unit, np.array(dots["y"]) * unit,
        s=small, c=colours, alpha=0.55, linewidths=0, rasterized=True,
    )  # fmt: skip
    ax.set(xlim=(0, drawing.WIDTH), ylim=(drawing.HEIGHT, 0), aspect="equal")
    ax.axis("off")
    ax.figure.canvas.figure.draw_without_rendering()  # decides how large the axes are
    points = ax.get_window_extent().width / ax.figure.dpi * 72
    font = POINTS * drawing.WIDTH / max(points, 1.0)
    for label in drawing.labels(shown, font=font, most=40):
        for y, line in label.lines:
            ax.text(label.x, y, line, ha="center", va="center", **_said(line))


# ---------------------------------------------------------------- sizes
def _sizes(groups: Clustering, ax: Any, tones: list[str]) -> None:
    """A bar per cluster, the largest on top; the axis says how many more there are."""
    size = groups.model.frozen.size
    shown = np.argsort(-size, kind="stable")[:MOST_BARS].tolist()
    total, at = max(int(size.sum()), 1), np.arange(len(shown))
    ax.barh(at, size[shown], color=[tones[k] for k in shown], height=0.72)
    ax.set_yticks([])
    for y, k in enumerate(shown):
        count, name = int(size[k]), _name(groups.names[k])
        words = f" {count:,} ({count / total:.0%})"
        ax.text(count, y, words, va="center", fontsize=POINTS - 1, color=_INK)
        _beside(ax, y, name, name)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, max(int(size.max()), 1) * 1.14)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    rest = int(size.sum() - size[shown].sum())
    also = f" (not shown: {size.size - len(shown):,} smaller clusters with {rest:,} texts)"
    ax.set_xlabel("texts" + (also if rest else ""), fontsize=POINTS, color=_INK)
    _plain(ax, axis="x")


def _beside(ax: Any, y: float, name: str, text: str, **how: Any) -> None:
    """Write a name to the left of the axes."""
    where = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    said = _said(name, **how)
    ax.annotate(text, (0, y), (-4, 0), ha="right", va="center", **where, **said)


# ---------------------------------------------------------------- over time
def _over(groups: Clustering, ax: Any, tones: list[str], column: str, every: str | None) -> None:
    """A line per cluster: those that grew or shrank in colour, or else the largest; the others pale."""
    found = groups.over(column, every)
    counts = found.counts.drop("cluster", "name").to_numpy()
    periods = found.counts.columns[2:]
    share = 100.0 * counts / np.maximum(counts.sum(axis=0), 1)
    steady = np.array([state == "steady" for state in found.changes["state"]])
    order = np.lexsort((-counts.sum(axis=1), steady))
    at = np.arange(len(periods))
    named = order[: min(int((~steady).sum()) or FEW_LINES, MOST_LINES)].tolist()
    for k in order[len(named) :].tolist():
        ax.plot(at, share[k], color=_PALE, linewidth=0.7, alpha=0.7)
    ends = _apart(share[named, -1], 0.055 * max(float(share.max()), 1e-9))
    for k, end in zip(named, ends.tolist(), strict=True):
        ax.plot(at, share[k], color=tones[k], linewidth=1.8, marker="o" * (len(periods) == 1))
        name = _name(groups.names[k], 26)
        how = _said(name, color=tones[k])
        ax.annotate(
            name, (1, end), (5, 0), ("axes fraction", "data"), "offset points", va="center", **how
        )
    step = max(1, -(-len(periods) // 8))
    ax.set_xticks(at[::step], [str(period) for period in periods[::step]])
    ax.set_xlim(0, max(len(periods) - 1, 1))
    ax.set_ylim(0, None)
    ax.set_ylabel(f"% of the texts in each {found.every}", fontsize=POINTS, color=_INK)
    _plain(ax, axis="y")


def _apart(wanted: Floats, gap: float) -> Floats:
    """Places near those wanted, at least `gap` from each other and not below 0.

    >>> _apart(np.array([1.0, 1.0, 5.0]), 1.0).tolist()
    [1.0, 2.0, 5.0]
    """
    order = np.argsort(wanted, kind="stable")
    placed = np.asarray(wanted, np.float64).copy()
    low = 0.0
    for k in order.tolist():
        placed[k] = max(placed[k], low)
        low = placed[k] + gap
    return placed


# ---------------------------------------------------------------- tree
def _tree(groups: Clustering, ax: Any, tones: list[str]) -> None:
    """How the clusters join: a leaf per cluster, the cheapest joins next to the leaves."""
    _check_tree(groups)
    joins = groups.tree.filter(groups.tree["clusters"] < groups.n_clusters)
    branch = {int(i): k for k, i in enumerate(groups.ids.tolist())}
    left, right, cost = (
        joins["into"].to_list(),
        joins["cluster"].to_list(),
        -joins["gain"].to_numpy(),
    )
    hidden = max(0, len(left) - (MOST_LEAVES - 1))
    leaves, order = _leaves(branch, left, right, hidden)
    place = {leaf: float(y) for y, leaf in enumerate(order)}
    depth = np.maximum.accumulate(np.append(0.0, np.maximum(cost, 0.0)))[1:] if len(cost) else cost
    floor = float(depth[hidden - 1]) if hidden else 0.0
    reach = dict.fromkeys(order, floor)
    for one, other, at in list(zip(left, right, depth.tolist(), strict=True))[hidden:]:
        ys, xs = (place[one], place[other]), (reach[one], reach[other])
        ax.plot([xs[0], at, at, xs[1]], [ys[0], ys[0], ys[1], ys[1]], color=_INK, linewidth=0.9)
        place[one], reach[one] = sum(ys) / 2, at
    size = groups.model.frozen.size
    for y, leaf in enumerate(order):
        held = sorted(leaves[leaf], key=lambda k: (-size[k], k))
        more = f" and {len(held) - 1} more" if len(held) > 1 else ""
        name = f"{_name(groups.names[held[0]])}{more}"
        count = int(size[held].sum())
        _beside(ax, y, name, f"{name}  {count:,}", color=tones[held[0]])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlim(floor * 0.98, max(float(depth[-1]) if len(depth) else 1.0, 1e-9) * 1.02)
    ax.set_xlabel("what a join costs, in nats of the log joint", fontsize=POINTS, color=_INK)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    _plain(ax, axis="x")
    ax.set_yticks([])


def _check_tree(groups: Clustering) -> None:
    if groups.n_clusters > 1 and not groups.tree.height:
        raise InvalidInput("These clusters cannot be joined, so there is no tree to draw.")
    if any(edit.startswith(("merged", "split")) for edit in groups.edits):
        raise InvalidInput(
            "The tree is that of the clusters as they were found, and these were merged or split by hand."
            f" For a tree without these edits, use groups.at({groups.n_clusters}).plot('tree')."
        )


def _leaves(
    branch: dict[int, int], left: list[int], right: list[int], hidden: int
) -> tuple[dict[int, list[int]], list[int]]:
    """The clusters of each leaf after the first `hidden` joins, and the leaves from top to bottom."""
    held = {i: [k] for i, k in branch.items()}
    for one, other in zip(left[:hidden], right[:hidden], strict=True):
        held[one] = held[one] + held.pop(other)
    rows = {i: [i] for i in held}
    for one, other in zip(left[hidden:], right[hidden:], strict=True):
        rows[one] = rows[one] + rows.pop(other)
    return held, [leaf for part in rows.values() for leaf in part]
