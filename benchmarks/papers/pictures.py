"""The plots as pictures: one SVG file a figure of a paper, its panels side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .. import drawing
from .kit import Plot

FIGURE = re.compile(r"[a-z]+-(figure|table)-(\w+)")
Pictures = dict[str, list[Plot]]  # the file's stem, and its panels
WIDTHS = {1: 5.0, 2: 8.0}  # of so many panels; of more
WIDE = 3.5  # each


def pictures(plots: Sequence[Plot]) -> Pictures:
    """The plots by figure: `gsdpmm-figure-2-Tweet` is a panel of `gsdpmm-figure-2`."""
    found: Pictures = {}
    for plot in plots:
        named = FIGURE.match(plot.name)
        found.setdefault(named[0] if named else plot.name, []).append(plot)
    return found


def image(name: str, panels: Sequence[Plot], folder: str) -> str:
    """The picture in Markdown, and under it which figure it is and what it shows."""
    named = FIGURE.match(name)
    figure = f"{named[1].title()} {named[2]}" if named else name
    shows = "; ".join(panel.y for panel in panels)
    caption = f"{figure}: {shows}, over {panels[0].x}"
    return f"![{caption}]({folder}/{name}.svg)\n\n*{caption}.*"


def draw(found: Pictures, folder: Path) -> None:
    """An SVG file for each; files of no figure are removed."""
    drawing.draw(
        {folder / f"{name}.svg": (_size(of), partial(_fill, of)) for name, of in found.items()}
    )
    for old in folder.glob("*.svg") if found else ():
        if old.stem not in found:
            old.unlink()


def _size(panels: Sequence[Plot]) -> tuple[float, float]:
    return WIDTHS.get(len(panels), WIDE * len(panels)), 3.4


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
