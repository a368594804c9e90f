"""`cluster()` with no parameters on natural texts, and where a large fit spends its time."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .data import folder
from .scores import score
from .store import Options, Results, Row, say
from .tables import Verdict, markdown

TITLE = "The front door"
NOTE = (
    "`coterie.cluster(texts)` with no parameters, the same for all sets (first table), and"
    " `coterie fit` on titles of reddit (second), each in a process of its own with compiled kernels."
    " BERTopic's default, where given, is the figure of an earlier measurement with MiniLM embeddings."
)
SETS = (
    "tweet",
    "googlenews_title",
    "bbc_news_raw",
    "banking77",
    "clinc150",
    "10kgnad_test_de",
    "fewclue_tnews_zh",
    "sms_spam",
    "reuters_r8",
)
BERTOPIC = {"tweet": ".898 / .733", "banking77": ".738 / .169"}
TITLES = {"reddit_titles 100,000": 100_000, "reddit_titles, all": None}


def run(options: Options) -> dict[str, Row]:
    results = Results("front_door", options)
    for name in options.choose((*SETS, *TITLES), quick=2):
        if name in TITLES:
            results.add(name, _command(TITLES[name]))
        else:
            results.add(name, _cluster(name))
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _cluster(name: str) -> Row:
    import coterie

    rows = _rows(name)
    start = time.perf_counter()
    groups = coterie.cluster([row["text"] for row in rows])
    seconds = time.perf_counter() - start
    found = score([row["label"] for row in rows], groups.labels.tolist())
    return {**found, "classes": len({row["label"] for row in rows}), "seconds": seconds}


def _command(limit: int | None) -> Row:
    """The whole command, its stages, the CountVectorizer's time on the same texts, peak memory."""
    from sklearn.feature_extraction.text import CountVectorizer

    rows = _rows("reddit_titles")[:limit]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with open(place / "titles.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        texts = [row["text"] for row in rows]
        start = time.perf_counter()
        CountVectorizer(stop_words="english").fit_transform(texts)
        vectorizer = time.perf_counter() - start
        del texts, rows
        start = time.perf_counter()
        words = ["-m", "coterie", "fit", "titles.jsonl", "--text", "text", "-o", "out", "--json"]
        done = subprocess.run(
            [sys.executable, *words], cwd=place, capture_output=True, text=True, check=True
        )
        seconds = time.perf_counter() - start
        told = json.loads(done.stdout)
        page = (place / "out" / "report.html").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {
        "n_docs": told["n_texts"],
        "n_clusters": told["n_clusters"],
        "seconds": seconds,
        "stages": told["stages"],
        "count_vectorizer": vectorizer,
        "page_mb": page / 1e6,
        "peak_mb": peak,
    }


def table(rows: dict[str, Row]) -> str:
    sets = [
        [
            name,
            row["classes"],
            row["n_clusters"],
            f"{row['nmi']:.3f}",
            f"{row['ari']:.3f}",
            f"{row['seconds']:.1f}",
            BERTOPIC.get(name, ""),
        ]
        for name, row in rows.items()
        if name in SETS
    ]
    head = ["set", "classes", "clusters", "NMI", "ARI", "seconds", "BERTopic NMI / ARI"]
    fits = [
        [
            name,
            f"{row['n_docs']:,}",
            row["n_clusters"],
            f"{row['seconds']:.1f}",
            ", ".join(f"{stage} {value:.1f}" for stage, value in row["stages"].items()),
            f"{row['count_vectorizer']:.1f}",
            f"{row['page_mb']:.2f}",
            f"{row['peak_mb']:,.0f}",
        ]
        for name, row in rows.items()
        if name in TITLES
    ]
    fit_head = ["coterie fit", "texts", "clusters", "seconds", "stages (s)"]
    fit_head += ["CountVectorizer (s)", "page (MB)", "peak (MB)"]
    return markdown(head, sets) + "\n\n" + markdown(fit_head, fits)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    row = rows.get("reddit_titles 100,000")
    if row is not None:
        reading = sum(v for k, v in row["stages"].items() if k in ("reading", "words"))
        found.append(
            Verdict(
                "coterie fit, 100,000 titles: reading and tokenising",
                f"≤ CountVectorizer's {row['count_vectorizer']:.1f} s",
                f"{reading:.1f} s",
                reading <= row["count_vectorizer"],
            )
        )
        report = row["stages"].get("report", 0.0)
        found.append(Verdict("same: report", "≤ 3 s", f"{report:.1f} s", report <= 3))
        found.append(
            Verdict("same: page", "≤ 3 MB", f"{row['page_mb']:.2f} MB", row["page_mb"] <= 3)
        )
    row = rows.get("reddit_titles, all")
    if row is not None:
        peak = row["peak_mb"]
        found.append(
            Verdict(
                f"coterie fit, {row['n_docs']:,} titles: peak memory",
                "≤ 1,500 MB",
                f"{peak:,.0f} MB",
                peak <= 1500,
            )
        )
    return found
