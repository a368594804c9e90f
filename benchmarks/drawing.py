"""Pictures as SVG files: the same bytes for the same points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .store import say

Fill = Callable[[Any], None]  # puts its axes into a figure


def draw(found: Mapping[Path, tuple[tuple[float, float], Fill]]) -> None:
    """Files by path, each of a size in inches; says so where matplotlib is missing."""
    if not found:
        return
    try:
        import matplotlib
    except ModuleNotFoundError:
        say('plots are not drawn: matplotlib is not installed. Try: pip install "coterie[bench]"')
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
