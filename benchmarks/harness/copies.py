"""Seconds by the number of documents: a corpus is copied, and fitted from the word counts to labels.

Each fit has a process of its own, with one thread. A fit that does not fit in memory has a row
without `seconds`; its `failed` says what happened."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, NamedTuple

import scipy.sparse as sp

from coterie.sampler import AUTO_BLOCKED

from .claims import Check, Claim
from .data import part_of
from .pool import alone
from .probe import Watch
from .scores import Interval, exponent, interval
from .store import Results, Row, Rows, not_installed, say
from .systems import SYSTEMS, largest_topics, lda_model
from .tables import number

LINEAR = 0.1
LEAST_FITS, BUDGET = 2, 120.0  # fits of one row, at least; none after so many seconds
MOST_FITS, ENOUGH_SECONDS = 5, 2.0  # a short fit is timed more often
MUCH = 2.0  # "much faster"
IN_BLOCKS = (
    f"{AUTO_BLOCKED / 1e6:.0f} million"  # entries of the matrix, from which it draws in blocks
)


class Timed(NamedTuple):
    """One fit to time."""

    corpus: str
    copies: int
    system: str
    settings: Mapping[str, Any] = {}
    limit: int | None = None


def run(results: Results, tasks: Mapping[str, Timed]) -> None:
    """The rows that are missing, one after the other."""
    for key, task in tasks.items():
        if results.has(key):
            continue
        try:
            results.add(key, _tried(task))
            say(f"{key}: {shown(results.rows[key])} s")
        except ModuleNotFoundError as problem:
            say(f"{key}: {not_installed(problem.name)}")


def _tried(task: Timed) -> Row:
    """The row of a fit. To run out of memory is a result, and does not end the benchmark."""
    try:
        return alone(timed, task)
    except (BrokenExecutor, MemoryError) as problem:
        n_docs = part_of(task.corpus, task.limit).n_docs * task.copies
        why = "out of memory" if isinstance(problem, MemoryError) else "killed"
        return {"n_docs": n_docs, "failed": why}


def timed(task: Timed) -> Row:
    """The fastest of several fits, because a disturbance only adds time; all times; peak memory."""
    documents = part_of(task.corpus, task.limit).documents
    _fit(documents[:200], 2, task, Watch())  # imports, compiles
    took: list[float] = []
    while not _enough(took):
        watch = Watch()
        _fit(documents, task.copies, task, watch)
        took.append(round(watch.seconds, 4))
    return {
        "n_docs": len(documents) * task.copies,
        "seconds": min(took),
        "all": took,
        "fits": len(took),
        "peak_mb": watch.peak_mb,
    }


def _enough(took: Sequence[float]) -> bool:
    if len(took) < LEAST_FITS:
        return sum(took) >= BUDGET
    return len(took) >= MOST_FITS or sum(took) >= ENOUGH_SECONDS


def _fit(documents: Any, copies: int, task: Timed, watch: Watch) -> None:
    """The input is made before the clock starts: word counts, tf-idf, or (LDA) lists of words."""
    settings = dict(task.settings)
    if task.system == "classify":  # GSDMM 3.2: cluster one copy, then classify all of them
        import coterie

        one, rows = _counts(documents, 1), _counts(documents, copies)
        with watch():
            coterie.GSDMM(random_state=0, **settings).fit(one).predict(rows)
        return
    if task.system == "lda":
        n_sweeps, model = settings.pop("n_sweeps"), lda_model(0, **settings)
        for doc in documents * copies:
            model.add_doc(doc)
        with watch():
            model.train(n_sweeps, workers=1)
            largest_topics(model)
        return
    rows = _counts(documents, copies)
    if task.system in ("kmeans", "minibatch"):
        from sklearn.feature_extraction.text import TfidfTransformer

        rows = TfidfTransformer().fit_transform(rows)
        settings["n_clusters"] = min(settings["n_clusters"], rows.shape[0])
        settings["n_init"] = 1
        if task.system == "minibatch":  # a batch is one document in a hundred, as in GSDMM 4.8
            settings["batch_size"] = max(1, rows.shape[0] // 100)
    SYSTEMS[task.system](rows, 0, watch, **settings)


def _counts(documents: Any, copies: int) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    one = sp.csr_array(CountVectorizer(analyzer=list).fit_transform(documents))
    return sp.vstack([one] * copies, format="csr")


# ---------------------------------------------------------------- what the rows say
def shown(row: Row) -> str:
    """The seconds, or why there are none."""
    return f"({row['failed']})" if "failed" in row else number(row.get("seconds"), 2)


def timed_rows(rows: Rows, key: Callable[[int], str], sizes: Sequence[int]) -> dict[int, Row]:
    """The rows by the number of copies."""
    return {n: rows[key(n)] for n in sizes if key(n) in rows}


def took(rows: Rows, key: Callable[[int], str], n_copies: float) -> dict[int, float]:
    """The seconds for so many copies, as a point of a figure."""
    seconds = rows.get(key(int(n_copies)), {}).get("seconds")
    return {} if seconds is None else {0: seconds}


def seconds_line(rows: Rows, keys: Sequence[str]) -> list[str]:
    """The number of documents, and the seconds of each system."""
    found = [rows.get(key, {}) for key in keys]
    return [number(next((row["n_docs"] for row in found if row), None), 0), *map(shown, found)]


def how_timed(rows: Sequence[Row]) -> str:
    """How these rows were timed. The earliest rows are medians."""
    fits = sorted({len(row["all"]) for row in rows if "all" in row})
    several = f"{fits[0]} to {fits[-1]}" if len(fits) > 1 else f"{fits[0]}" if fits else ""
    said = f"the fastest of {several} runs" if fits else ""
    early = sum("seconds" in row and "all" not in row for row in rows)
    if early:
        said += f"{'; ' if said else ''}{early} earlier rows are medians of 1 to {MOST_FITS} runs"
    return said or "not measured yet"


def ratio(ours: Mapping[int, Row], theirs: Mapping[int, Row]) -> Interval | None:
    """Our seconds divided by theirs: the geometric mean over the sizes of both, and its interval."""
    logs = [
        math.log(row["seconds"] / theirs[n]["seconds"])
        for n, row in ours.items()
        if "seconds" in row and "seconds" in theirs.get(n, {})
    ]
    if len(logs) < 2:
        return None
    found = interval(logs)
    mean, low, high = (math.exp(value) for value in found[:3])
    return Interval(mean, low, high, found.n)


def times(found: Interval | None) -> str:
    """A ratio of seconds in words."""
    if found is None:
        return "not measured yet"
    low, high = f"{found.low:.2f}", f"{found.high:.2f}"
    return f"{found.mean:.2f} times ({low} to {high}) the seconds, over {found.n} sizes"


def linear(says: str, of: Mapping[str, Mapping[int, Row]], n_sizes: int, why: str = "") -> Claim:
    """A claim of linear time: seconds grow with a power of the documents within LINEAR of 1."""
    checks = []
    for name, rows in of.items():
        done = [row for row in rows.values() if "seconds" in row]
        name = name if len(of) > 1 else ""
        if len(done) < 3:
            checks.append(Check(name, "-", None))
            continue
        sizes = [row["n_docs"] for row in done]
        grown = exponent(sizes, [row["seconds"] for row in done])
        straight = 1 - LINEAR <= grown.low <= grown.high <= 1 + LINEAR
        text = f"{grown.mean:.3f} ({grown.low:.3f} to {grown.high:.3f})"
        text += f" for {sizes[0]:,} to {sizes[-1]:,} documents"
        met = straight if len(rows) == n_sizes else None
        checks.append(Check(name, text, met, -abs(grown.mean - 1)))
    return Claim(f"{says} (exponent within {LINEAR} of 1)", checks, why=why)
