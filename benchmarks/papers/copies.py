"""Seconds over the number of documents: a corpus copied, from the matrix of words to labels.

Each fit has a process of its own, with one thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import linregress
from scipy.stats import t as student

from ..pool import alone
from ..probe import Watch
from ..scores import Interval
from ..store import Results, Row, say
from .fits import corpus_of
from .kit import Claim

LINEAR = 0.1
MOST_FITS, ENOUGH_SECONDS = 5, 2.0  # a short fit is timed again


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
            row = results.once(key, lambda task=task: alone(timed, task))  # type: ignore[misc]
            say(f"{key}: {row['seconds']:.2f} s")


def timed(task: Timed) -> Row:
    """Median seconds of a fit, and its peak memory beyond the input."""
    documents = corpus_of(task.corpus, task.limit).documents
    fit = SYSTEMS[task.system]
    fit(documents[:200], 2, task.settings, Watch())  # imports, compiles
    took: list[float] = []
    while len(took) < MOST_FITS and sum(took) < ENOUGH_SECONDS:
        watch = Watch()
        fit(documents, task.copies, task.settings, watch)
        took.append(watch.seconds)
    return {
        "n_docs": len(documents) * task.copies,
        "seconds": round(median(took), 4),
        "fits": len(took),
        "peak_mb": watch.peak_mb,
    }


def linear(says: str, timed: Sequence[Row], complete: bool) -> Claim:
    """A claim of linear time: the exponent of the number of documents is within LINEAR of 1."""
    says = f"{says} (exponent within {LINEAR} of 1)"
    if len(timed) < 3:
        return Claim(says, "not measured yet", None)
    docs = [row["n_docs"] for row in timed]
    grown = _slope(docs, [row["seconds"] for row in timed])
    measured = (
        f"{grown.mean:.3f} ({grown.low:.3f} to {grown.high:.3f}), {docs[0]:,} to {docs[-1]:,}"
    )
    return Claim(says, measured, _straight(grown) if complete else None)


def _straight(grown: Interval) -> bool:
    return 1 - LINEAR <= grown.low <= grown.high <= 1 + LINEAR


def _slope(docs: list[int], seconds: list[float]) -> Interval:
    """How time grows: the exponent of the number of documents, with its interval. 1 is linear."""
    found = linregress(np.log(docs), np.log(seconds))
    reach = float(student.ppf(0.975, len(docs) - 2) * found.stderr) if len(docs) > 2 else math.inf
    mean = float(found.slope)
    return Interval(mean, mean - reach, mean + reach, len(docs))


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


SYSTEMS: dict[str, Callable[[Any, int, Mapping[str, Any], Watch], None]] = {
    "gsdmm": _gsdmm,
    "gsdpmm": _gsdpmm,
    "classify": _classify,
    "kmeans": _kmeans,
    "minibatch": _minibatch,
    "lda": _lda,
}
