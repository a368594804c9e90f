"""Markdown tables, and how figures are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .scores import Interval


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table, or an empty text without rows."""
    lines = [head, ["---"] * len(head), *rows]
    text = "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
    return text if rows else ""


def joined(*parts: str) -> str:
    """Paragraphs or tables below each other, without the empty ones."""
    return "\n\n".join(part for part in parts if part)


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


def spread(ratio: Mapping[str, float], digits: int = 1) -> str:
    """A ratio of medians with the lowest and highest ratio of a turn."""
    median, low, high = (f"{ratio[key]:.{digits}f}" for key in ("median", "low", "high"))
    return f"{median}x ({low} to {high})"


def mean_sd(summary: Mapping[str, float], digits: int = 3) -> str:
    return f"{summary['mean']:.{digits}f} ± {summary['sd']:.{digits}f}"


def signed(difference: Interval | None, digits: int = 3) -> str:
    """A difference with its interval, or a dash."""
    if difference is None:
        return "-"
    mean, low, high = (f"{value:+.{digits}f}" for value in difference[:3])
    return f"{mean} ({low} to {high})"
