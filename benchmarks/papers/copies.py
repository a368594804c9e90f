"""Seconds over the number of documents: a corpus copied, from the matrix of words to labels.

Each fit has a process of its own, with one thread. A fit that its machine could not hold has a row
without `seconds`, which says what `failed`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, NamedTuple

import scipy.sparse as sp

from coterie.sampler import AUTO_BLOCKED

from ..pool import alone
from ..probe import Watch
from ..scores import Interval, exponent, interval
from ..store import Results, Row, say
from ..tables import number
from .fits import corpus_of, largest_topics
from .kit import Claim

LINEAR = 0.1
LEAST_FITS, BUDGET = 2, 120.0  # fits of one row, at least; none after so many seconds
MOST_FITS, ENOUGH_SECONDS = 5, 2.0  # a short fit is timed more often
MUCH = 2.0  # "much faster"
IN_BLOCKS = (
    f'coterie draws in blocks (sampler="auto") from {AUTO_BLOCKED / 1e6:.0f} million distinct words of '
    "documents on"
)


class Timed(NamedTuple):
    """One fit to time. `settings` are the system's own."""

    corpus: str
    copies: int
    system: str
    settings: Mapping[str, Any] = {}
    limit: int | None = None


def run(results: Results, tasks: Mapping[str, Timed]) -> None:
    """The rows that are not there yet, one after the other."""
    for key, task in tasks.items():
        if not results.has(key):
            row = results.once(key, lambda task=task: _tried(task))  # type: ignore[misc]
            say(f"{key}: {shown(row)} s")


def _tried(task: Timed) -> Row:
    """The row of a fit; a process out of memory, or killed, is a finding, not the end of the run."""
    try:
        return alone(timed, task)
    except (BrokenExecutor, MemoryError) as problem:
        n_docs = len(corpus_of(task.corpus, task.limit).documents) * task.copies
        why = "out of memory" if isinstance(problem, MemoryError) else "killed"
        return {"n_docs": n_docs, "failed": why}


def timed(task: Timed) -> Row:
    """The least seconds of several fits, since what disturbs a fit only adds; all of them; and the
    peak memory beyond the input."""
    documents = corpus_of(task.corpus, task.limit).documents
    fit = SYSTEMS[task.system]
    fit(documents[:200], 2, task.settings, Watch())  # imports, compiles
    took: list[float] = []
    while not _enough(took):
        watch = Watch()
        fit(documents, task.copies, task.settings, watch)
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


def shown(row: Row) -> str:
    """The seconds, or why there are none."""
    return f"({row['failed']})" if "failed" in row else number(row.get("seconds"), 2)


def how_timed(rows: Sequence[Row]) -> str:
    """By what rule these rows were timed; early rows hold a median."""
    fits = sorted({len(row["all"]) for row in rows if "all" in row})
    said = f"the least of {fits[0]} to {fits[-1]} fits" if fits else ""
    if len(fits) == 1:
        said = f"the least of {fits[0]} fit{'s' * (fits[0] > 1)}"
    early = sum("seconds" in row and "all" not in row for row in rows)
    if early:
        said += f"{'; ' if said else ''}earlier rows ({early}) are medians of 1 to {MOST_FITS} fits"
    return said or "not measured yet"


def ratio(ours: Mapping[int, Row], theirs: Mapping[int, Row]) -> Interval | None:
    """Seconds over seconds, the geometric mean over the sizes that both have, and its interval."""
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


def times(found: Interval) -> str:
    """A ratio of seconds in words."""
    return (
        f"{found.mean:.2f} times ({found.low:.2f} to {found.high:.2f}) the seconds, "
        f"over {found.n} sizes"
    )


def linear(says: str, of: Mapping[str, Sequence[Row]], n_sizes: int) -> Claim:
    """A claim of linear time: for each system the exponent of the number of documents is within
    LINEAR of 1."""
    says = f"{says} (exponent within {LINEAR} of 1)"
    done = {name: [row for row in rows if "seconds" in row] for name, rows in of.items()}
    grown = {
        name: exponent([row["n_docs"] for row in rows], [row["seconds"] for row in rows])
        for name, rows in done.items()
        if len(rows) > 2
    }
    if not grown:
        return Claim(says, "not measured yet", None)
    one = len(of) == 1
    measured = "; ".join(
        f"{'' if one else name + ' '}{g.mean:.3f} ({g.low:.3f} to {g.high:.3f}), "
        f"{done[name][0]['n_docs']:,} to {done[name][-1]['n_docs']:,} documents"
        for name, g in grown.items()
    )
    complete = {name: len(rows) == n_sizes for name, rows in of.items()}
    if not all(_straight(g) for name, g in grown.items() if complete[name]):
        return Claim(says, measured, False)
    return Claim(says, measured, True if all(complete.values()) else None)


def _straight(grown: Interval) -> bool:
    return 1 - LINEAR <= grown.low <= grown.high <= 1 + LINEAR


def _counts(documents: Any, copies: int) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    one = sp.csr_array(CountVectorizer(analyzer=list).fit_transform(documents))
    return sp.vstack([one] * copies, format="csr")


def _gsdmm(documents: Any, copies: int, settings: Mapping[str, Any], watch: Watch) -> None:
    import coterie

    rows = _counts(documents, copies)
    with watch():
        coterie.GSDMM(random_state=0, **settings).fit(rows)


def _gsdpmm(documents: Any, copies: int, settings: Mapping[str, Any], watch: Watch) -> None:
    import coterie

    rows = _counts(documents, copies)
    with watch():
        coterie.GSDPMM(alpha="auto", init="one", random_state=0, **settings).fit(rows)


def _classify(documents: Any, copies: int, settings: Mapping[str, Any], watch: Watch) -> None:
    """Cluster one copy, then classify all of them."""
    import coterie

    one, rows = _counts(documents, 1), _counts(documents, copies)
    with watch():
        coterie.GSDMM(random_state=0, **settings).fit(one).predict(rows)


def _kmeans(documents: Any, copies: int, settings: Mapping[str, Any], watch: Watch) -> None:
    from sklearn.cluster import KMeans

    rows = _tfidf(documents, copies)
    k = min(settings["n_clusters"], rows.shape[0])
    with watch():
        KMeans(**{**settings, "n_clusters": k}, n_init=1, random_state=0).fit(rows)


def _minibatch(documents: Any, copies: int, settings: Mapping[str, Any], watch: Watch) -> None:
    """A batch is one document in a hundred, as in GSDMM 4.8."""
    from sklearn.cluster import MiniBatchKMeans

    rows = _tfidf(documents, copies)
    k, batch = min(settings["n_clusters"], rows.shape[0]), max(1, rows.shape[0] // 100)
    with watch():
        MiniBatchKMeans(
            **{**settings, "n_clusters": k}, batch_size=batch, n_init=1, random_state=0
        ).fit(rows)


def _tfidf(documents: Any, copies: int) -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(_counts(documents, copies))


def _lda(documents: Any, copies: int, settings: Mapping[str, Any], watch: Watch) -> None:
    import tomotopy

    n_sweeps = settings["n_sweeps"]
    model = tomotopy.LDAModel(
        k=settings["n_clusters"], alpha=settings["alpha"], eta=settings["eta"], seed=0
    )
    model.optim_interval = 0
    for _ in range(copies):
        for doc in documents:
            model.add_doc(doc)
    with watch():
        model.train(n_sweeps, workers=1)
        largest_topics(model)


SYSTEMS: dict[str, Callable[[Any, int, Mapping[str, Any], Watch], None]] = {
    "gsdmm": _gsdmm,
    "gsdpmm": _gsdpmm,
    "classify": _classify,
    "kmeans": _kmeans,
    "minibatch": _minibatch,
    "lda": _lda,
}
