"""Does a document cost the same in a corpus 90 times as large? googlenews_title, copied."""

from __future__ import annotations

from statistics import median
from typing import Any

from ..harness.claims import Check, Claim
from ..harness.data import SHORT, copied, load
from ..harness.scores import ratio
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.systems import gsdmm
from ..harness.tables import markdown, spread
from ..harness.workers import Worker

NAME = SHORT[1]
BAR = 1.5
SWEEPS = (3, 10, 30)
PARTS = {"seconds": "fit", "sweep_seconds": "sweeps alone"}


def run(options: Options) -> Rows:
    results = Results("engine/scale", options)
    if not options.choose((NAME,)):
        return results.rows
    copies = 9 if options.quick else 90
    n_docs = load(NAME).n_docs
    with Worker(gsdmm) as one, Worker(gsdmm) as many:
        say(f"building {n_docs * copies:,} documents")
        one.load(load, NAME)
        many.load(copied, NAME, copies)
        for n_sweeps in SWEEPS[: 1 if options.quick else 3]:
            settings = dict(n_clusters=500, n_sweeps=n_sweeps, alpha=0.1, beta=0.1)
            one.fit(seed=0, labels=False, **settings)
            many.warm_up(seed=0, **settings)
            turns = []
            for turn in range(1, options.times(3, 1) + 1):
                turns.append(_turn(one, many, turn, settings))
                first, last = (of["seconds"] for of in turns[-1])
                say(f"{n_sweeps} sweeps, turn {turn}: x1 {first:.3f} s, x{copies} {last:.1f} s")
            row: Row = {"copies": copies, "n_docs": n_docs * copies}
            for part in PARTS:
                single = [of[part] / n_docs / n_sweeps * 1e6 for of, _ in turns]
                many_us = [of[part] / n_docs / copies / n_sweeps * 1e6 for _, of in turns]
                row[part] = {"us_single": median(single), "us_copied": median(many_us)}
                row[part]["ratio"] = ratio(single, many_us)
            results.add(f"{n_sweeps} sweeps", row)
    return results.rows


def _turn(one: Worker, many: Worker, turn: int, settings: dict[str, Any]) -> tuple[Row, Row]:
    """The corpus three times, its copies once, the corpus three times again."""
    seeds = range(3 * turn, 3 * turn + 3)
    around = [one.fit(seed=seed, labels=False, **settings) for seed in seeds]
    copied = many.fit(seed=turn, labels=False, **settings)
    around += [one.fit(seed=seed, labels=False, **settings) for seed in seeds]
    return {part: median(fit[part] for fit in around) for part in PARTS}, copied


def table(rows: Rows) -> str:
    lines = []
    for key, row in rows.items():
        for part, title in PARTS.items():
            times = [f"{row[part][who]:.2f}" for who in ("us_single", "us_copied")]
            lines.append([key, title, f"{row['n_docs']:,}", *times, spread(row[part]["ratio"], 2)])
    head = ["run", "part", "documents", "µs per document and sweep, x1", "copied", "ratio"]
    return markdown(head, lines)


def claims(rows: Rows) -> list[Claim]:
    ratios = {key: row["seconds"]["ratio"] for key, row in rows.items()}
    checks = [Check(key, spread(of, 2), of["median"] <= BAR) for key, of in ratios.items()]
    says = f"A document costs at most {BAR} times as much in a corpus 90 times as large ({NAME})"
    return [Claim(says, checks)]
