"""`coterie fit` of a large table: to a CSV file, and to Excel with names and breakdowns."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from ..harness.claims import Claim, single
from ..harness.probe import ran
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown

N_ROWS = 100_000
WAYS = {
    "csv": ["-o", "out.csv"],
    "xlsx": ["-o", "out.xlsx", "--by", "channel", "--over", "created_at"],
}
MEMORY = 1.5  # GB


def run(options: Options) -> Rows:
    results = Results("engine/tables", options)
    for name in options.choose(tuple(WAYS)):
        results.once(name, partial(_fit, name, 2000 if options.quick else N_ROWS))
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _fit(name: str, n_rows: int) -> Row:
    """In a process of its own, with compiled kernels."""
    from coterie import datasets

    with tempfile.TemporaryDirectory() as folder:
        datasets.tickets(n_rows).write_csv(Path(folder) / "tickets.csv")
        fit = ["-m", "coterie", "fit", "tickets.csv", "--text", "body", "-q"]
        done = ran([*fit, *WAYS[name]], Path(folder))
        size = (Path(folder) / f"out.{name}").stat().st_size
    return {"rows": n_rows, "seconds": done.seconds, "gb": done.peak_mb / 1024, "mb": size / 1e6}


def table(rows: Rows) -> str:
    lines = [
        [name, f"{row['rows']:,}", f"{row['seconds']:.1f}", f"{row['gb']:.2f}", f"{row['mb']:.1f}"]
        for name, row in rows.items()
    ]
    return markdown(["written as", "rows", "seconds", "peak memory, GB", "file, MB"], lines)


def claims(rows: Rows) -> list[Claim]:
    if "xlsx" not in rows:
        return []
    used = rows["xlsx"]["gb"]
    claim = f"{N_ROWS:,} rows to Excel, with breakdowns, take at most {MEMORY} GB"
    return [single(claim, f"{used:.2f} GB", used <= MEMORY)]
