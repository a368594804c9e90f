"""Pictures as SVG files, the same bytes for the same points: one file per figure of a paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .store import say

FIGURE = re.compile(r"[a-z]+-(figure|table)-(\w+)")
Fill = Callable[[Any], None]  # puts its axes into a figure
Points = list[tuple[float, float]]


class Plot(NamedTuple):
    """Lines of (x, y) points by name. `gsdpmm-figure-2-Tweet` is a panel of `gsdpmm-figure-2`:
    the panels of a figure are drawn side by side."""

    name: str
    x: str
    y: str
    lines: dict[str, Points]
    log_x: bool = False


Pictures = dict[str, list[Plot]]  # the panels by the name of the file


def pictures(plots: Sequence[Plot]) -> Pictures:
    """The plots by figure."""
    found: Pictures = {}
    for plot in plots:
        named = FIGURE.match(plot.name)
        found.setdefault(named[0] if named else plot.name, []).append(plot)
    return found


def image(name: str, panels: Sequence[Plot], folder: str) -> str:
    """The picture in Markdown, with a caption that says what it shows."""
    named = FIGURE.match(name)
    figure = f"{named[1].title()} {named[2]}" if named else name
    caption = f"{figure}: {'; '.join(panel.y for panel in panels)}, by {panels[0].x}"
    return f"![{caption}]({folder}/{name}.svg)\n\n*{caption}.*"


def draw_pictures(found: Pictures, folder: Path) -> None:
    """One SVG file for each."""
    draw({folder / f"{name}.svg": (_size(of), partial(_fill, of)) for name, of in found.items()})


def draw(found: Mapping[Path, tuple[tuple[float, float], Fill]]) -> None:
    """Files by path, each with a size in inches; says so if matplotlib is missing."""
    if not found:
        return
    try:
        import matplotlib
    except ModuleNotFoundError:
        say('plots are not drawn: matplotlib is not installed. Try: pip install ".[bench]"')
        return
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    for path, (size, fill) in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "coterie", "svg.fonttype": "none"}):
            figure = Figure(figsize=size, layout="constrained")
            fill(figure)
            canvas: Any = FigureCanvasSVG(figure)  # untyped
            canvas.print_svg(path, metadata={"Date": None, "Creator": None})


def _size(panels: Sequence[Plot]) -> tuple[float, float]:
    return {1: 5.0, 2: 8.0}.get(len(panels), 3.5 * len(panels)), 3.4


def _fill(panels: Sequence[Plot], figure: Any) -> None:
    n = len(panels)
    alike = all(list(panel.lines) == list(panels[0].lines) for panel in panels)
    for i, panel in enumerate(panels):
        axes = figure.add_subplot(1, n, i + 1, xlabel=panel.x, ylabel=panel.y)
        if panel.log_x:
            axes.set_xscale("log")
        for name, points in panel.lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
        axes.grid(alpha=0.3)
        if not alike:
            axes.legend(fontsize="small")
    if alike:  # one legend serves all
        handles, names = figure.axes[0].get_legend_handles_labels()
        columns = min(len(names), 2 * n)
        figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize="small")
