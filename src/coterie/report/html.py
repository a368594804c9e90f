"""The report page: the data of `data.py` in, one self-contained HTML document out.

It shows other people's texts. Four things prevent them from acting as code: `clean.printable` (makes
control characters and direction overrides visible), jinja2's autoescape, a script that only sets
`textContent`, and a content security policy that allows only the inlined style and script, by hash.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from coterie._disk import write_atomically
from coterie.report import charts, drawing, packing, view
from coterie.report.clean import printable, shorten
from coterie.report.packing import FIRST_CARDS, MOST_BYTES
from coterie.report.schema import Cluster, Report

FIRST_OUTLIERS = 20
MOST_DOUBTS = 12  # clusters named in the overview
FIRST_ROWS = 20  # of the table in a notebook
_COLOURS = ("#4f7cac", "#c0653f", "#5b8e7d", "#8e5b8a", "#b59b3b", "#6b7280")
# the last one starts them
SCRIPTS = ("texts.js", "trend.js", "dial.js", "labels.js", "map.js", "report.js")
_DATA = "@@coterie-data@@"


def render(data: Report) -> str:
    """Render the report as one offline HTML page, to be written as UTF-8."""
    n_clusters = len(data["clusters"])
    data = view.shown(data)
    cards = view.cards(data["clusters"], data["trend"])
    page = _environment().get_template("page.html").render(_context(data, cards, n_clusters))
    # The data are at the end of the page, after all texts, so the last mark is ours.
    before, _, after = page.rpartition(_DATA)
    most = MOST_BYTES if data["texts"] is None else packing.most_bytes(len(data["texts"]["x"]))
    room = most - len(before.encode()) - len(after.encode())
    return before + packing.embedded(data, cards, room) + after


def render_map(data: Report) -> str:
    """Render only the map of the clusters, as an SVG document."""
    shown = drawing.bubbles(view.shown(data)["clusters"])
    labels = drawing.labels(shown, font=13, most=40)
    template = _environment().get_template("picture.svg")
    return template.render(bubbles=shown, wide_labels=labels, drawing=drawing, colours=_COLOURS)


def render_summary(data: Report) -> str:
    """Render the first clusters as a small HTML table, for notebooks."""
    data = view.shown(data)
    first = [
        {
            "id": c["id"],
            "name": c["name"],
            "size": c["size"],
            "example": str(printable(shorten(_text(c), 120))),
        }
        for c in data["clusters"][:FIRST_ROWS]
    ]
    template = _environment().get_template("summary.html")
    return template.render(overview=data["overview"], clusters=first)


def _text(cluster: Cluster) -> str:
    return "".join(part["text"] for example in cluster["examples"][:1] for part in example["parts"])


class Picture(NamedTuple):
    """An SVG picture that notebooks display."""

    svg: str
    read_from: tuple[Path | int, ...] = ()  # what nothing may replace

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to an SVG file."""
        write_atomically(Path(path), self.svg.encode("utf-8", "replace"), self.read_from)


def policy() -> str:
    """The content security policy of the page: it loads nothing, and allows only our style and script."""
    style, script = _static("report.css").hash, _script().hash
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


class Static(NamedTuple):
    """A file that is inlined into the page, and its hash for the content security policy."""

    text: str
    hash: str


@lru_cache
def _static(name: str) -> Static:
    # read_text converts line ends to \n, as browsers do before hashing
    return _hashed("\n" + files("coterie.report").joinpath("static", name).read_text("utf-8"))


@lru_cache
def _script() -> Static:
    """The scripts as one function: what one of them declares, the others see, and nobody else."""
    parts = "".join(_static(name).text for name in SCRIPTS)
    return _hashed(f'\n"use strict";\n(() => {{{parts}}})();\n')


def _hashed(text: str) -> Static:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Static(text, f"sha256-{digest}")


@lru_cache
def _environment() -> Environment:
    def source(name: str) -> str:
        return files("coterie.report").joinpath("templates", name).read_text("utf-8")

    environment = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=view.percent, duration=view.duration, number=_number, decimals=_decimals
    )
    return environment


def _context(data: Report, cards: list[view.Card], n_clusters: int) -> dict[str, Any]:
    shown = drawing.bubbles(data["clusters"])
    icon = _static("icon.svg").text.strip().encode()
    return {
        "data": data,
        "overview": data["overview"],
        "coverage": view.coverage(data["overview"]),
        "spread": view.spread(data["clusters"]),
        "cards": cards,
        "n_clusters": n_clusters,
        "texts": data["texts"],
        "dial": data["dial"],
        "charts": data["charts"],
        "trend": data["trend"],
        "seeds": data["seeds"],
        "charting": charts,
        "blank": view.Card(0, "", 0, 0, "", 0.0, 1.0, [], [], None),
        "doubts": view.doubts(cards, data["overview"]["doubt_below"]),
        "most_doubts": MOST_DOUBTS,
        "n_first": FIRST_CARDS,
        "n_first_outliers": FIRST_OUTLIERS,
        "bubbles": shown,
        "wide_labels": drawing.labels(shown, font=13, most=40),
        "narrow_labels": drawing.labels(shown, font=31, most=10),
        "drawing": drawing,
        "plots": drawing.plots(data["trace"]),
        "outliers": view.outliers(data["outliers"], {card.id for card in cards}),
        "policy": Markup(policy()),  # our own text; its quotes must not be escaped
        "css": Markup(_static("report.css").text),
        "js": Markup(_script().text),
        "icon": "data:image/svg+xml;base64," + base64.b64encode(icon).decode(),
        "mark": _DATA,
    }


def _number(value: float) -> str:
    return f"{value:,}"


def _decimals(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"
