"""Markdown tables and how figures are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .scores import Interval


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


def span(counts: Iterable[int]) -> str:
    """`20`, or `5 to 20`; `0` without any."""
    found = list(counts) or [0]
    low, high = min(found), max(found)
    return f"{low}" if low == high else f"{low} to {high}"


def counted(counts: Iterable[int], what: str = "run") -> str:
    """`1 run`, `3 runs`, `3 to 5 runs`; `no runs yet` without any."""
    shown = span(counts)
    if shown == "0":
        return f"no {what}s yet"
    return f"1 {what}" if shown == "1" else f"{shown} {what}s"


def spread(ratio: dict[str, float], digits: int = 1) -> str:
    median, low, high = (f"{ratio[key]:.{digits}f}" for key in ("median", "low", "high"))
    return f"{median}x ({low} to {high})"


def mean_sd(summary: dict[str, float], digits: int = 3) -> str:
    return f"{summary['mean']:.{digits}f} ± {summary['sd']:.{digits}f}"


def signed(difference: Interval, digits: int = 3) -> str:
    mean, low, high = (f"{value:+.{digits}f}" for value in difference[:3])
    return f"{mean} ({low} to {high})"


def machines(found: Mapping[str, dict[str, Any]]) -> list[str]:
    """A section for each machine that the results files name."""
    named: dict[str, list[str]] = {}
    for name, result in found.items():
        text = "\n".join(f"- {key}: {value}" for key, value in result["machine"].items())
        named.setdefault(text, []).append(name)
    return [f"## The machine ({', '.join(names)})\n\n{text}\n" for text, names in named.items()]


def asked_and_measured(verdicts: Sequence[Verdict]) -> str:
    words = {True: "yes", False: "**no**", None: ""}
    rows = [[v.what, v.asked, v.measured, words[v.met]] for v in verdicts]
    return markdown(["what", "asked", "measured", "met"], rows)
