"""RESULTS.md from the JSON files: asked and measured first, then each benchmark's table."""

from __future__ import annotations

from types import ModuleType

from . import (
    flat,
    front_door,
    gpudmm,
    kmeans,
    memory,
    mixing,
    nips,
    outliers,
    quality,
    scale,
    speed,
    threads,
    tsdpmm,
    xdmm,
)
from .store import HERE, Row, read
from .tables import Verdict, asked_and_measured, machines

BENCHMARKS: dict[str, ModuleType] = {
    "speed": speed,
    "memory": memory,
    "scale": scale,
    "quality": quality,
    "mixing": mixing,
    "outliers": outliers,
    "front_door": front_door,
    "tsdpmm": tsdpmm,
    "nips": nips,
    "gpudmm": gpudmm,
    "threads": threads,
    "flat": flat,
    "kmeans": kmeans,
    "xdmm": xdmm,
}


def section(name: str, rows: dict[str, Row]) -> str:
    """One benchmark: heading, what was done, the table."""
    benchmark = BENCHMARKS[name]
    return f"## {benchmark.TITLE}\n\n{benchmark.NOTE}\n\n{benchmark.table(rows)}\n"


def write() -> str:
    """Write benchmarks/RESULTS.md and return its text."""
    found = {name: read(HERE / "results" / f"{name}.json") for name in BENCHMARKS}
    found = {name: result for name, result in found.items() if result}
    verdicts: list[Verdict] = []
    for name, result in found.items():
        verdicts += BENCHMARKS[name].verdicts(result["rows"])
    parts = [
        "# Results\n\nWritten by `python -m benchmarks report` from `results/*.json`; "
        "`python -m benchmarks all --again` measures everything anew.\n",
        f"## Asked and measured\n\n{asked_and_measured(verdicts)}\n",
        *machines(found),
        *(section(name, result["rows"]) for name, result in found.items()),
    ]
    text = "\n".join(parts)
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    return text
