"""`cluster()` without parameters on natural texts, and where a large fit spends its time."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from statistics import median

import numpy as np

from ..harness.claims import Claim, single
from ..harness.data import texts_of
from ..harness.probe import Watch, ran, seconds
from ..harness.scores import ratio, score
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import joined, markdown, spread

SETS = (
    *("tweet", "googlenews_title", "bbc_news_raw", "banking77", "clinc150"),
    *("10kgnad_test_de", "fewclue_tnews_zh", "sms_spam", "reuters_r8"),
)
HELP = "coterie --help"
WORDS = "reading and tokenising 100,000 titles"
MILLION = "a million titles like reddit_titles"
TITLES = {"reddit_titles 100,000": 100_000, "reddit_titles, all": None, MILLION: 1_000_000}
EXCHANGED = 1 / 3  # of the words of such a title, by words of the same community


def run(options: Options) -> Rows:
    results = Results("engine/front_door", options)
    for name in options.choose((*SETS, HELP, WORDS, *TITLES), quick=2):
        if name in TITLES:
            row = _command(TITLES[name])
        else:
            row = _help() if name == HELP else _words() if name == WORDS else _cluster(name)
        results.add(name, row)
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _cluster(name: str) -> Row:
    import coterie

    rows, watch = texts_of(name), Watch()
    with watch():
        groups = coterie.cluster([row["text"] for row in rows])
    found = score([row["label"] for row in rows], groups.labels.tolist())
    return {**found, "classes": len({row["label"] for row in rows}), "seconds": watch.seconds}


def _vectorize(texts: list[str]) -> float:
    """The seconds of scikit-learn's CountVectorizer."""
    from sklearn.feature_extraction.text import CountVectorizer

    return seconds(lambda: CountVectorizer(stop_words="english").fit_transform(texts))


@contextmanager
def _titles(limit: int | None) -> Iterator[tuple[Path, list[str]]]:
    """Titles as a file of JSON lines, and as a list."""
    rows = texts_of("reddit_titles")[:limit]
    if limit is not None and len(rows) < limit:
        rows = _alike(rows, limit)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "titles.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        yield path, [row["text"] for row in rows]


def _alike(rows: list[Row], n: int) -> list[Row]:
    """So many titles: those of `rows`, drawn, with some words from other titles of the same label."""
    rng = np.random.default_rng(7)
    words: dict[str, list[str]] = {}
    for row in rows:
        words.setdefault(row["label"], []).extend(row["text"].split())
    found = []
    for drawn in rng.integers(len(rows), size=n):
        label, title = rows[drawn]["label"], rows[drawn]["text"].split()
        pool = words[label]
        for i in np.flatnonzero(rng.random(len(title)) < EXCHANGED):
            title[i] = pool[rng.integers(len(pool))]
        found.append({"text": " ".join(title), "label": label})
    return found


def _command(limit: int | None, turns: int = 3) -> Row:
    """The whole command, its stages, the CountVectorizer's time on the same texts, peak memory.

    One more run comes before those that count, because the first run on a machine compiles.
    """
    with _titles(limit) as (path, texts):
        vectorizer = _vectorize(texts)
        del texts
        words = ["-m", "coterie", "fit", path.name, "--text", "text"]
        words += ["-o", "out", "--force", "--json"]
        ran(words, path.parent)
        runs = sorted((ran(words, path.parent) for _ in range(turns)), key=attrgetter("seconds"))
        done = runs[turns // 2]
        told = json.loads(done.printed)
        page = (path.parent / "out" / "report.html").stat().st_size
    return {
        "n_docs": told["n_texts"],
        "n_clusters": told["n_clusters"],
        "seconds": done.seconds,
        "turns": [round(run.seconds, 1) for run in runs],
        "cpu_seconds": done.cpu_seconds,
        "stages": told["stages"],
        "count_vectorizer": vectorizer,
        "page_mb": page / 1e6,
        "peak_mb": max(run.peak_mb for run in runs),
    }


def _help(turns: int = 20) -> Row:
    """`coterie --help` and `python -c pass`, in turns."""
    commands = {"pass": ["-c", "pass"], "help": ["-m", "coterie", "--help"]}
    call = partial(subprocess.run, stdout=subprocess.DEVNULL, check=True)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            times[name].append(seconds(partial(call, [sys.executable, *command])))
    return {name: median(values) for name, values in times.items()}


def _words(limit: int = 100_000, turns: int = 5) -> Row:
    """Reading and tokenising, and CountVectorizer, in turns in one warm process."""
    from coterie.text import readers
    from coterie.text.vectorize import Vectorizer

    ours, theirs = [], []
    with _titles(limit) as (path, texts):

        def read() -> None:
            Vectorizer.learn(readers.read(path, "text").texts, None, "auto", "auto", "auto", True)

        for _ in range(turns + 1):
            ours.append(seconds(read))
            theirs.append(_vectorize(texts))
    times = {"ours": median(ours[1:]), "theirs": median(theirs[1:])}
    return {**times, "ratio": ratio(theirs[1:], ours[1:])}


def table(rows: Rows) -> str:
    sets, fits = [], []
    for name, row in rows.items():
        if name in SETS:
            scores = [f"{row['nmi']:.3f}", f"{row['ari']:.3f}", f"{row['seconds']:.1f}"]
            sets.append([name, row["classes"], row["n_clusters"], *scores])
        elif name in TITLES:
            stages = ", ".join(f"{stage} {value:.1f}" for stage, value in row["stages"].items())
            cells = [f"{row['n_docs']:,}", row["n_clusters"], _times(row), stages]
            cells += [f"{row['count_vectorizer']:.1f}", f"{row['page_mb']:.2f}"]
            fits.append([name, *cells, f"{row['peak_mb']:,.0f}"])
    head = ["coterie fit", "texts", "clusters", "seconds", "stages (s)"]
    head += ["CountVectorizer (s)", "page (MB)", "peak (MB)"]
    scores = ["set", "classes", "clusters", "NMI", "ARI", "seconds"]
    return joined(markdown(scores, sets), markdown(head, fits))


def _times(row: Row) -> str:
    turns = row.get("turns")  # rows measured earlier have none
    width = f" ({turns[0]:.1f} to {turns[-1]:.1f})" if turns else ""
    return f"{row['seconds']:.1f}{width}"


def claims(rows: Rows) -> list[Claim]:
    found = []
    if row := rows.get(HELP):
        times = row["help"] / row["pass"]
        shown = f"{times:.1f}x ({1000 * row['help']:.0f} ms)"
        found.append(single(f"`{HELP}` takes at most 4 times `python -c pass`", shown, times <= 4))
    if row := rows.get(WORDS):
        says = "Reading, cutting, pruning and counting 100,000 titles takes no longer than CountVectorizer"
        shown = f"{row['ours']:.2f} s, {spread(row['ratio'], 2)} its time (warm, medians of 5)"
        found.append(single(says, shown, row["ratio"]["median"] <= 1))
    if row := rows.get("reddit_titles 100,000"):
        stages, bar, page = row["stages"], row["count_vectorizer"], row["page_mb"]
        reading, report = stages["reading"] + stages["words"], stages.get("report", 0.0)
        fit = "`coterie fit` on 100,000 titles"
        says = f"{fit} reads and cuts them no slower than CountVectorizer's {bar:.1f} s"
        found += [
            single(says, f"{reading:.1f} s", reading <= bar),
            single(f"{fit} writes its report in 3 s", f"{report:.1f} s", report <= 3),
            single(f"{fit} writes a page of at most 3 MB", f"{page:.2f} MB", page <= 3),
        ]
    if row := rows.get("reddit_titles, all"):
        says = f"`coterie fit` on {row['n_docs']:,} titles takes at most 1,500 MB"
        found.append(single(says, f"{row['peak_mb']:,.0f} MB", row["peak_mb"] <= 1500))
    if row := rows.get(MILLION):
        fit = f"`coterie fit` on {row['n_docs']:,} titles, two cores,"
        shown = f"{row['seconds']:.0f} s"
        found += [
            single(f"{fit} takes at most 60 s", shown, row["seconds"] <= 60),
            single(
                f"{fit} takes at most 1 GB", f"{row['peak_mb']:,.0f} MB", row["peak_mb"] <= 1000
            ),
        ]
    return found
