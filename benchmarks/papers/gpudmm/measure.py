"""What is measured for the GPU-DMM paper: accuracy, coherence, sweep times, the promotion."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC, LinearSVC

from ...harness.data import VECTORS, DataMissing, reference_matrix, snippets
from ...harness.scores import ratio
from ...harness.store import Options, Results, Row, say
from . import btm


class Model(NamedTuple):
    """Which word vectors a model uses, and how similar related words must be."""

    vectors: str | None = None
    threshold: float = 0.5


class Task(NamedTuple):
    """The documents, their classes, and the documents x words to count pairs in."""

    documents: list[list[str]]
    classes: np.ndarray
    words: list[str]
    reference: Any


MODELS = {
    "DMM": Model(),
    "word2vec": Model("word2vec"),
    "BTM": Model(),
    "GloVe": Model("GloVe"),
    "GloVe .7": Model("GloVe", 0.7),
}
SIZES = (40, 60, 80)
RUNS, SWEEPS, QUICK_SWEEPS = 5, 1000, 30
TURNS, TIMED_SWEEPS, LAST = 7, 150, 50
PROMOTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
PROMOTION_SWEEPS = 300
TOP = (5, 10, 20)
FITS = tuple(f"{model} K={k}" for k in SIZES for model in MODELS)
TIMES = tuple(f"sweep time K={k}" for k in SIZES)
CURVE = "promotion K=40"
QUICK = ("DMM K=40", "word2vec K=40", "BTM K=40", "sweep time K=40", CURVE)


def run(options: Options) -> None:
    results = Results("papers/gpudmm", options)
    names = QUICK if options.quick else (*FITS, *TIMES, CURVE)
    for name in options.choose(names, quick=len(QUICK)):
        try:
            for key, make in _rows(name, options).items():
                results.once(key, make)
        except (DataMissing, ModuleNotFoundError) as problem:
            say(f"{name}: left out: {problem}")


def promoted(promotion: float) -> str:
    """The name of the rows of a point of Figure 4."""
    return f"promotion {promotion} K=40"


def _rows(name: str, options: Options) -> dict[str, Callable[[], Row]]:
    """What to measure under a name: by the key of a row, how. Run i has the same start in all."""
    model, _, size = name.rpartition(" K=")
    k, seeds = int(size), range(options.times(RUNS))
    if name in TIMES:
        return {name: partial(_sweep_times, k, options)}
    if name == CURVE:
        points = PROMOTIONS[:: 3 if options.quick else 1]
        return {
            f"{promoted(p)}, seed {i}": partial(_promoted, k, p, i, options.quick)
            for p in points
            for i in seeds
        }
    return {f"{name}, seed {i}": partial(_quality, model, k, i, options.quick) for i in seeds}


@lru_cache(maxsize=1)
def _task(quick: bool) -> Task:
    found, step = snippets(), 8 if quick else 1
    documents, classes = found.documents[::step], found.classes[::step]
    words = sorted({word for doc in documents for word in doc})
    return Task(
        documents, np.array(classes), words, reference_matrix(words, 500 if quick else None)
    )


def _estimator(name: str, k: int, n_sweeps: int, seed: int, **settings: Any) -> Any:
    import coterie

    vectors, threshold = MODELS[name]
    return coterie.GPUDMM(
        k,
        word_vectors=VECTORS[vectors]() if vectors else None,
        threshold=threshold,
        n_sweeps=n_sweeps,
        random_state=seed,
        **settings,
    )


def _quality(name: str, k: int, seed: int, quick: bool) -> Row:
    from coterie.metrics import coherence

    task, n_sweeps = _task(quick), QUICK_SWEEPS if quick else SWEEPS
    found: Row = {}
    if name == "BTM":
        fitted = btm.fit(task.documents, k, n_sweeps, seed, max(TOP))
    else:
        model = _estimator(name, k, n_sweeps, seed).fit(task.documents)
        nb, sw = (model.transform(task.documents, method=method) for method in ("nb", "sw"))
        top = [[word for word, _ in row] for row in model.top_words(max(TOP))]
        seconds = float(np.median(model.trace_["seconds"]))
        fitted = btm.Fitted(nb, sw, top, model.n_clusters_, seconds)
        found = _relations(model, task) if hasattr(model, "related_") else {}
    found["nb"] = _accuracy(SVC(kernel="linear"), fitted.nb, task)
    found["sw"] = _accuracy(SVC(kernel="linear"), fitted.sw, task)
    found["sw_linear_svc"] = _accuracy(LinearSVC(), fitted.sw, task)
    for n in TOP:
        top = [row[:n] for row in fitted.top]
        value = coherence(top, task.reference, vocabulary=task.words, epsilon=0.0)
        found[f"pmi_{n}"] = value.mean
    found |= {"n_clusters": fitted.n_clusters, "seconds": fitted.seconds}
    shown = ", ".join(f"{measure} {value:.3f}" for measure, value in found.items())
    say(f"{name} K={k}, seed {seed}: {shown}")
    return found


def _accuracy(classifier: Any, X: np.ndarray, task: Task) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(cross_val_score(classifier, X, task.classes, cv=folds).mean())


def _relations(model: Any, task: Task) -> Row:
    """How many words are related, and the share of words that promoted in the last sweep."""
    related = model.related_
    return {
        "n_vectors": related.n_vectors,
        "n_dropped": related.n_dropped,
        "n_pairs": len(related.word),
        "promoting": float(model._promoting.sum() / sum(map(len, task.documents))),
    }


def _sweep_times(k: int, options: Options) -> Row:
    """Seconds per sweep by the trace; the models take turns, each from the same start."""
    documents = _task(options.quick).documents
    seconds: dict[str, dict[str, list[float]]] = {}
    for name in ("DMM", "word2vec", "GloVe .7"):
        try:
            _estimator(name, k, 2, 0).fit(documents)  # compiles
            seconds[name] = {"all": [], "last": []}
        except DataMissing as problem:
            if name == "word2vec":  # without it the row would decide nothing
                raise
            say(f"sweep time K={k}: left out: {name}: {problem}")
    for turn in range(options.times(TURNS)):
        for name in list(seconds)[:: 1 if turn % 2 else -1]:
            found = _estimator(name, k, TIMED_SWEEPS, turn).fit(documents).trace_["seconds"]
            seconds[name]["all"].append(float(np.median(found)))
            seconds[name]["last"].append(float(np.median(found[-LAST:])))
        shown = ", ".join(f"{name} {1000 * s['all'][-1]:.1f} ms" for name, s in seconds.items())
        say(f"sweep time K={k}: turn {turn + 1}: {shown}")
    dmm = seconds["DMM"]
    ratios = {
        name: {part: ratio(dmm[part], found[part]) for part in found}
        for name, found in seconds.items()
        if name != "DMM"
    }
    return {"seconds": seconds, "ratios": ratios}


def _promoted(k: int, promotion: float, seed: int, quick: bool) -> Row:
    """Accuracy with SW at a point of Figure 4."""
    task, n_sweeps = _task(quick), QUICK_SWEEPS if quick else PROMOTION_SWEEPS
    model = _estimator("word2vec", k, n_sweeps, seed, promotion=promotion).fit(task.documents)
    soft = model.transform(task.documents, method="sw")
    found = _accuracy(SVC(kernel="linear"), soft, task)
    say(f"promotion {promotion}, run {seed + 1}: accuracy {found:.4f}")
    return {"sw": found}
