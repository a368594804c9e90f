"""Coordinates for the SVG templates, computed from clusters and trace.

The bubble map has two sets of labels, for wide and narrow screens: SVG text shrinks with the picture,
and the style sheet shows the set that is readable.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.report import layout
from coterie.report.clean import shorten
from coterie.report.schema import Cluster, Sweep

WIDTH, HEIGHT = 960, round(960 * layout.ASPECT)
TONES = 6  # colours of the style sheet
PLOT_WIDTH, PLOT_HEIGHT = 320, 130
_LEADING = 1.15  # line height in font sizes


class Bubble(NamedTuple):
    """A cluster on the map, in picture units."""

    id: int
    name: str
    size: int
    x: float
    y: float
    r: float
    tone: int


class Label(NamedTuple):
    """A name on the map, in one or more lines, each centred at (x, its y)."""

    x: float
    lines: list[tuple[float, str]]


class Box(NamedTuple):
    """The area of a label."""

    left: float
    top: float
    right: float
    bottom: float


class Plot(NamedTuple):
    """One plot of the trace."""

    title: str
    caption: str
    first: str
    last: str
    low: str
    high: str
    line: str  # the points attribute of a polyline
    end: tuple[float, float]
    sweeps: tuple[int, int]
    stops: list[tuple[float, float, str]]  # x, width, text on hover


def bubbles(clusters: Sequence[Cluster]) -> list[Bubble]:
    """The first clusters as bubbles, largest first, so that small ones are drawn on top."""
    shown = clusters[: layout.MOST]
    radius = layout.radii([cluster["size"] for cluster in shown]) * WIDTH
    tones = tone_of(shown)
    return [
        Bubble(
            cluster["id"],
            cluster["name"],
            cluster["size"],
            round(_inside(cluster["x"]) * WIDTH, 1),
            round(_inside(cluster["y"]) * HEIGHT, 1),
            round(float(r), 1),
            tones[cluster["id"]],
        )
        for cluster, r in zip(shown, radius, strict=True)
    ]


def tone_of(clusters: Sequence[Cluster]) -> dict[int, int]:
    """A colour per cluster, from its direction on the map, so that neighbours share it."""
    tones = {}
    for cluster in clusters:
        angle = math.atan2(_inside(cluster["y"]) - 0.5, _inside(cluster["x"]) - 0.5)
        tones[cluster["id"]] = int((angle / math.tau + 1.0) * TONES) % TONES
    return tones


def labels(shown: Sequence[Bubble], font: float, most: int) -> list[Label]:
    """Labels of the largest bubbles that fit without overlapping."""
    place = np.array([(b.x, b.y, b.r) for b in shown]).reshape(-1, 3)
    taken: list[Box] = []
    placed: list[Label] = []
    for i, bubble in enumerate(shown[: 4 * most]):
        tries = [
            (_covered(box, place, i) + penalty, rank, lines, box)
            for rank, (lines, box, penalty) in enumerate(_tries(bubble, font))
            if _free(box, taken)
        ]
        if not tries:
            continue
        cost, _, lines, box = min(tries)
        if cost > 0.35:
            continue
        taken.append(box)
        x, top, step = (box.left + box.right) / 2, box.top, _LEADING * font
        placed.append(
            Label(round(x, 1), [(round(top + (j + 0.5) * step, 1), t) for j, t in enumerate(lines)])
        )
        if len(placed) == most:
            break
    return placed


def plots(trace: Sequence[Sweep]) -> list[Plot]:
    """Plots of clusters, moves and likelihood by sweep; those without a finite value are left out."""
    sweeps = [line["sweep"] for line in trace]
    wanted = [
        (
            "Clusters in use",
            "Empty clusters disappear during the run. A flat end is a good sign.",
            [float(line["clusters"]) for line in trace],
            "{:,.0f}",
        ),
        (
            "Texts that changed their cluster",
            "Many at first, few at the end. A flat end is a good sign.",
            [float(line["moved"]) for line in trace],
            "{:,.0f}",
        ),
        (
            "How well the clusters predict words",
            "Log-likelihood per word. Closer to zero is better; a flat end is a good sign.",
            [float(line["log_likelihood"]) for line in trace],
            "{:.3f}",
        ),
    ]
    made = (_plot(title, says, sweeps, values, form) for title, says, values, form in wanted)
    return [plot for plot in made if plot is not None]


def _plot(
    title: str, caption: str, sweeps: list[int], values: list[float], form: str
) -> Plot | None:
    pairs = [(s, v) for s, v in zip(sweeps, values, strict=True) if math.isfinite(v)]
    if not pairs:
        return None
    low, high = min(v for _, v in pairs), max(v for _, v in pairs)
    step = PLOT_WIDTH / max(len(pairs) - 1, 1)
    rise = (PLOT_HEIGHT - 12) / (high - low) if high > low else 0.0
    base = PLOT_HEIGHT - 6.0 if high > low else PLOT_HEIGHT / 2
    points = [(i * step, base - (v - low) * rise) for i, (_, v) in enumerate(pairs)]
    stops = [
        (round((i - 0.5) * step, 1), round(step, 1), f"pass {s}: {form.format(v)}")
        for i, (s, v) in enumerate(pairs)
    ]
    return Plot(
        title=title,
        caption=caption,
        first=form.format(pairs[0][1]),
        last=form.format(pairs[-1][1]),
        low=form.format(low),
        high=form.format(high),
        line=" ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        end=(round(points[-1][0], 1), round(points[-1][1], 1)),
        sweeps=(pairs[0][0], pairs[-1][0]),
        stops=stops if len(stops) <= 200 else [],
    )


def _inside(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.5


def _width(text: str) -> float:
    """Approximate width in font sizes; East Asian characters are twice as wide as others."""
    return 0.3 + sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.56 for c in text)


def _tries(bubble: Bubble, font: float) -> Iterator[tuple[list[str], Box, float]]:
    """Ways to place a name: its lines, its box, and a penalty."""
    words = [shorten(word, 18) for word in bubble.name.split(" · ")[:3]]
    x, y, r = bubble.x, bubble.y, bubble.r
    for lines, penalty in ((words, 0.0), (words[:2], 0.02), (words[:1], 0.04)):
        half = max(map(_width, lines)) * font / 2
        high = len(lines) * _LEADING * font / 2
        out = max(0.0, math.hypot(half, high) / max(r, 1.0) - 1.05)  # sticks out of its bubble
        yield lines, Box(x - half, y - high, x + half, y + high), penalty + 0.2 * min(out, 1.0)
    half = max(1.6 * r / font, 1.0)  # in font sizes: the width of its bubble
    own = [*_in_two(words[0])] if len(words) == 1 else words[:1]
    narrow = shorten(words[0], max(int(half / 0.56), 4))
    for lines, penalty in ((own, 0.03), ([narrow], 0.1)):
        half, high = max(map(_width, lines)) * font / 2, len(lines) * _LEADING * font / 2
        yield lines, Box(x - half, y - high, x + half, y + high), penalty
    for line in (shorten(" · ".join(words), 30), words[0]):
        half, high = _width(line) * font / 2, _LEADING * font / 2
        for cx, cy in (
            (x, y + r + high),
            (x, y - r - high),
            (x + r + half + 2, y),
            (x - r - half - 2, y),
        ):
            yield [line], Box(cx - half, cy - high, cx + half, cy + high), 0.12


def _in_two(name: str) -> list[str]:
    """A name in two lines of about the same length, if it has several words.

    >>> _in_two("activate my card")
    ['activate', 'my card']
    """
    words = name.split(" ")
    cuts = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return list(min(cuts, key=lambda cut: max(map(len, cut)))) if cuts else [name]


def _free(box: Box, taken: list[Box]) -> bool:
    if box.left < 2 or box.top < 2 or box.right > WIDTH - 2 or box.bottom > HEIGHT - 2:
        return False
    return not any(
        box.left < b.right and box.right > b.left and box.top < b.bottom and box.bottom > b.top
        for b in taken
    )


def _covered(box: Box, place: npt.NDArray[np.float64], own: int) -> float:
    """Share of the label that covers other bubbles (each approximated by its inner square)."""
    x, y, half = place[:, 0], place[:, 1], place[:, 2] * 0.85
    across = np.minimum(box.right, x + half) - np.maximum(box.left, x - half)
    down = np.minimum(box.bottom, y + half) - np.maximum(box.top, y - half)
    area = np.maximum(across, 0.0) * np.maximum(down, 0.0)
    area[own] = 0.0
    return float(area.sum()) / ((box.right - box.left) * (box.bottom - box.top))
