"""Markdown tables and how figures are written in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """One figure as asked and as measured; `met` None where nothing was asked."""

    what: str
    asked: str
    measured: str
    met: bool | None


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def spread(ratio: dict[str, float], digits: int = 1) -> str:
    median, low, high = (f"{ratio[key]:.{digits}f}" for key in ("median", "low", "high"))
    return f"{median}x ({low} to {high})"


def mean_sd(summary: dict[str, float], digits: int = 3) -> str:
    return f"{summary['mean']:.{digits}f} ± {summary['sd']:.{digits}f}"


def asked_and_measured(verdicts: Sequence[Verdict]) -> str:
    words = {True: "yes", False: "**no**", None: ""}
    rows = [[v.what, v.asked, v.measured, words[v.met]] for v in verdicts]
    return markdown(["what", "asked", "measured", "met"], rows)
