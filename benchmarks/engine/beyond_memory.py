"""`coterie fit` of parquet files that are larger than the memory that the system lets it have."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from ..harness.claims import Claim, single
from ..harness.data import zipf
from ..harness.probe import CannotLimit, ran
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown

N_TEXTS = 1_400_000  # 5 GB
N_WORDS = 400  # of a text
N_TOPICS = 120
N_OWN = 2000  # words of a topic
VOCABULARY = 100_000
MEMORY = 2 * 10**9
FILE = 56_000  # rows
GROUP = 4_000  # rows that parquet keeps together
KIND = "parquet, with vectors"


def run(options: Options) -> Rows:
    results = Results("engine/beyond_memory", options)
    for name in options.choose((KIND,)):
        try:
            results.once(name, partial(_row, 8_000 if options.quick else N_TEXTS))
            say(f"{name}: {results.rows[name]}")
        except CannotLimit as problem:
            say(f"left out: {problem}")
    return results.rows


def _row(n_texts: int) -> Row:
    """The first run on a new machine: the kernels are compiled in the same process, too."""
    import polars as pl

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text_bytes = _write(folder, n_texts)
        fit = ["-m", "coterie", "fit", "texts-*.parquet", "--text", "text", "--out-of-core"]
        given = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
        done = ran([*fit, "-o", "out", "--json"], folder, MEMORY, given)
        told = json.loads(done.printed)
        table = pl.scan_parquet(folder / "out" / "table.parquet").select("number", "cluster")
        rows = table.collect()
    return {
        "n_docs": told["n_texts"],
        "text_gb": text_bytes / 1e9,
        "limit_gb": MEMORY / 1e9,
        "n_clusters": told["n_clusters"],
        "in_order": rows["number"].to_list() == list(range(n_texts)),
        "clustered": int((rows["cluster"] >= 0).sum()),
        "seconds": done.seconds,
        "cpu_seconds": done.cpu_seconds,
        "peak_mb": done.peak_mb,
        "stages": told["stages"],
    }


def _write(folder: Path, n_texts: int) -> int:
    """Long texts of planted topics, each with two words that no other has; returns their bytes."""
    import polars as pl

    rng = np.random.default_rng(2026)
    names = np.array(_vocabulary(rng))
    own = rng.integers(VOCABULARY, size=(N_TOPICS, N_OWN))
    n_bytes = 0
    for first in range(0, n_texts, FILE):
        numbers = np.arange(first, min(first + FILE, n_texts))
        texts: list[str] = []
        for start in range(0, numbers.size, GROUP):
            some = numbers[start : start + GROUP]
            shape = (some.size, N_WORDS)
            topic = rng.integers(N_TOPICS, size=some.size)
            words = own[topic[:, None], zipf(rng, N_OWN, shape)]
            words = np.where(rng.random(shape) < 0.5, words, zipf(rng, VOCABULARY, shape))
            for number, row in zip(some.tolist(), names[words].tolist(), strict=True):
                texts.append(" ".join([*row, f"seen{number}", f"only{number}"]))
        n_bytes += sum(map(len, texts))
        frame = pl.DataFrame({"number": numbers, "text": texts})
        frame.write_parquet(folder / f"texts-{first:08d}.parquet", row_group_size=GROUP)
    return n_bytes


def _vocabulary(rng: np.random.Generator) -> list[str]:
    """Distinct words of three syllables, eight letters on average."""
    ends = ("", "n", "r")
    syllables = [
        f"{first}{vowel}{end}" for first in "bdfgklmprs" for vowel in "aeiou" for end in ends
    ]
    n = len(syllables)
    return [
        syllables[i // n**2] + syllables[i // n % n] + syllables[i % n]
        for i in rng.choice(n**3, VOCABULARY, replace=False).tolist()
    ]


def table(rows: Rows) -> str:
    lines = []
    for name, row in rows.items():
        stages = ", ".join(f"{stage} {value / 60:.1f}" for stage, value in row["stages"].items())
        size = [f"{row['text_gb']:.2f}", f"{row['limit_gb']:.0f}", f"{row['n_docs']:,}"]
        took = [row["n_clusters"], f"{row['seconds'] / 60:.0f}", stages, f"{row['peak_mb']:,.0f}"]
        lines.append([name, *size, *took])
    head = ["input", "GB of text", "GB of memory", "texts", "clusters", "minutes"]
    return markdown([*head, "stages (minutes)", "peak (MB)"], lines)


def claims(rows: Rows) -> list[Claim]:
    found = []
    for name, row in rows.items():
        says = f"5 GB of text ({name}) are clustered in {row['limit_gb']:.0f} GB of memory"
        whole = row["in_order"] and row["clustered"] == row["n_docs"] and row["text_gb"] >= 5
        shown = f"{row['text_gb']:.2f} GB, {row['n_docs']:,} rows written"
        found.append(single(says, shown, whole))
    return found
