"""`cluster()` with no parameters on natural texts, and where a large fit spends its time."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from .data import rows_of
from .peers.gather import beside
from .peers.report import race_rows
from .scores import score
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, spread

TITLE = "The front door"
NOTE = (
    "`coterie.cluster(texts)` with no parameters, the same for all sets (first table), and"
    " `coterie fit` on titles of reddit (second), each in a process of its own with compiled kernels."
    " BERTopic: its default with MiniLM embeddings, from `python -m benchmarks peers`, mean of its seeds;"
    " empty where a set is not in that race; its -1 counts as a cluster, as ours does."
    " The hostile corpus of 10,000 texts, opened in Chromium, is `tests/test_hostile.py`."
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
HELP = "coterie --help"
WORDS = "reading and tokenising 100,000 titles"
TITLES = {"reddit_titles 100,000": 100_000, "reddit_titles, all": None}


def run(options: Options) -> dict[str, Row]:
    results = Results("front_door", options)
    for name in options.choose((*SETS, HELP, WORDS, *TITLES), quick=2):
        if name == HELP:
            results.add(name, _help())
        elif name == WORDS:
            results.add(name, _words(100_000))
        elif name in TITLES:
            results.add(name, _command(TITLES[name]))
        else:
            results.add(name, _cluster(name))
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _cluster(name: str) -> Row:
    import coterie

    rows = rows_of(name)
    start = time.perf_counter()
    groups = coterie.cluster([row["text"] for row in rows])
    seconds = time.perf_counter() - start
    found = score([row["label"] for row in rows], groups.labels.tolist())
    return {**found, "classes": len({row["label"] for row in rows}), "seconds": seconds}


def _command(limit: int | None) -> Row:
    """The whole command, its stages, the CountVectorizer's time on the same texts, peak memory."""
    from sklearn.feature_extraction.text import CountVectorizer

    rows = rows_of("reddit_titles")[:limit]
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


def _help(turns: int = 20) -> Row:
    """`coterie --help` beside `python -c pass`, in turns."""
    commands = {"pass": ["-c", "pass"], "help": ["-m", "coterie", "--help"]}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def _words(limit: int, turns: int = 5) -> Row:
    """Reading and tokenising beside CountVectorizer, in turns, in one process that has done both."""
    from sklearn.feature_extraction.text import CountVectorizer

    from coterie.text import readers
    from coterie.text.vectorize import Vectorizer

    texts = [row["text"] for row in rows_of("reddit_titles")[:limit]]
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "titles.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        for _ in range(turns + 1):
            start = time.perf_counter()
            Vectorizer.learn(readers.read(path, "text").texts, None, "auto", "auto", "auto", True)
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            CountVectorizer(stop_words="english").fit_transform(texts)
            theirs.append(time.perf_counter() - start)
    ratios = [a / b for a, b in zip(ours[1:], theirs[1:], strict=True)]
    return {
        "ours": median(ours[1:]),
        "theirs": median(theirs[1:]),
        "ratio": {"median": median(ratios), "low": min(ratios), "high": max(ratios)},
    }


def _beside(row: Row | None) -> list[str]:
    if row is None:
        return [""] * 5
    figures = [f"{row['nmi']:.3f}", f"{row['ari']:.3f}", f"{row['outliers']:.0%}"]
    return [f"{row['n_clusters']:.0f}", *figures, f"{row['seconds']:.0f}"]


def table(rows: dict[str, Row]) -> str:
    peer = beside(race_rows(), "BERTopic")
    sets = [
        [
            name,
            row["classes"],
            row["n_clusters"],
            f"{row['nmi']:.3f}",
            f"{row['ari']:.3f}",
            f"{row['seconds']:.1f}",
            *_beside(peer.get(name)),
        ]
        for name, row in rows.items()
        if name in SETS
    ]
    head = ["set", "classes", "clusters", "NMI", "ARI", "seconds"]
    head += [f"BERTopic: {what}" for what in ("clusters", "NMI", "ARI", "outliers", "seconds")]
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
    row = rows.get(HELP)
    if row is not None:
        ratio = row["help"] / row["pass"]
        took = f"{ratio:.1f}x ({1000 * row['help']:.0f} ms)"
        found.append(Verdict(HELP, "≤ 4x `python -c pass`", took, ratio <= 4))
    row = rows.get(WORDS)
    if row is not None:
        found.append(
            Verdict(
                f"{WORDS}, pruning and counting too, warm, medians of 5",
                "≤ CountVectorizer's time",
                f"{row['ours']:.2f} s, {spread(row['ratio'], 2)} its time",
                row["ratio"]["median"] <= 1,
            )
        )
    row = rows.get("reddit_titles 100,000")
    if row is not None:
        reading = sum(v for k, v in row["stages"].items() if k in ("reading", "words"))
        found.append(
            Verdict(
                "coterie fit, 100,000 titles: the stages reading and words, in a new process",
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
