"""Does a document cost the same in a corpus 90 times as large? googlenews_title, copied."""

from __future__ import annotations

from statistics import median
from typing import Any

from .data import SHORT, build
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, spread
from .workers import Worker

TITLE = "Scale"
NOTE = (
    "googlenews_title copied 90 times (1 M documents), K=500, alpha = beta = .1: wall time of "
    "`fit(token_lists)` per document and sweep, all of the fit counted; beside it the sweeps "
    "alone. Single and copied corpus take turns, each in its own process; the single one is "
    "timed three times before and three times after each fit of the copies."
)
NAME = SHORT[1]
BAR, STRETCH = 1.5, 1.1
SWEEPS = (3, 10, 30)
PARTS = {"seconds": "fit", "sweep_seconds": "sweeps alone"}


def run(options: Options) -> dict[str, Row]:
    results = Results("scale", options)
    if not options.choose((NAME,)):
        return results.rows
    copies = 9 if options.quick else 90
    n_docs = build({"name": NAME}).n_docs
    with Worker("coterie") as one, Worker("coterie") as many:
        say(f"building {n_docs * copies:,} documents")
        one.load({"name": NAME})
        many.load({"name": NAME, "copies": copies})
        for n_sweeps in SWEEPS[: 1 if options.quick else 3]:
            settings = dict(n_clusters=500, n_sweeps=n_sweeps, alpha=0.1, beta=0.1)
            one.fit(seed=0, labels=False, **settings)
            many.warm_up(seed=0, **settings)
            turns = []
            for turn in range(1, options.times(3, 1) + 1):
                turns.append(_turn(one, many, turn, settings))
                single, copied = (turns[-1][who]["seconds"] for who in ("single", "copied"))
                say(f"{n_sweeps} sweeps, turn {turn}: x1 {single:.3f} s, x{copies} {copied:.1f} s")
            row = {"copies": copies, "n_docs": n_docs * copies}
            for part in PARTS:
                row[part] = _compare(turns, part, n_docs, copies, n_sweeps)
            results.add(f"{n_sweeps} sweeps", row)
    return results.rows


def _turn(one: Worker, many: Worker, turn: int, settings: dict[str, Any]) -> Row:
    """The corpus three times, its copies once, the corpus three times again."""
    seeds = range(3 * turn, 3 * turn + 3)
    around = [one.fit(seed=seed, labels=False, **settings) for seed in seeds]
    copied = many.fit(seed=turn, labels=False, **settings)
    around += [one.fit(seed=seed, labels=False, **settings) for seed in seeds]
    return {
        "single": {part: median(fit[part] for fit in around) for part in PARTS},
        "copied": copied,
    }


def _compare(turns: list[Row], part: str, n_docs: int, copies: int, n_sweeps: int) -> Row:
    """Microseconds a document and sweep of both, and their ratio."""
    single = [turn["single"][part] / n_docs / n_sweeps * 1e6 for turn in turns]
    copied = [turn["copied"][part] / n_docs / copies / n_sweeps * 1e6 for turn in turns]
    ratios = [b / a for a, b in zip(single, copied, strict=True)]
    return {
        "us_single": median(single),
        "us_copied": median(copied),
        "ratio": {
            "median": median(copied) / median(single),
            "low": min(ratios),
            "high": max(ratios),
        },
    }


def table(rows: dict[str, Row]) -> str:
    head = ["run", "part", "documents", "µs a document and sweep, x1", "copied", "ratio"]
    lines = []
    for key, row in rows.items():
        for part, title in PARTS.items():
            got = row[part]
            times = [f"{got[who]:.2f}" for who in ("us_single", "us_copied")]
            lines.append([key, title, f"{row['n_docs']:,}", *times, spread(got["ratio"], 2)])
    return markdown(head, lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    return [
        Verdict(
            f"time per document, {NAME} x{row['copies']}, K=500, {key}",
            f"≤ {BAR}x (stretch {STRETCH}x)",
            spread(row["seconds"]["ratio"], 2),
            row["seconds"]["ratio"]["median"] <= BAR,
        )
        for key, row in rows.items()
    ]
