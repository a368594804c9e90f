"""What is measured for the GPU-DMM paper: accuracy, coherence, sweep times, the promotion."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC, LinearSVC

from ...harness.data import VECTORS, DataMissing, reference_matrix, snippets
from ...harness.scores import ratio, summary
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
RUNS, SWEEPS = 5, 1000
TURNS, TIMED_SWEEPS, LAST = 7, 150, 50
PROMOTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
PROMOTION_RUNS, PROMOTION_SWEEPS = 5, 300
TOP = (5, 10, 20)
FITS = tuple(f"{model} K={k}" for k in SIZES for model in MODELS)
TIMES = tuple(f"sweep time K={k}" for k in SIZES)
CURVE = "promotion K=40"
QUICK = ("DMM K=40", "word2vec K=40", "BTM K=40", "sweep time K=40", CURVE)


def run(options: Options) -> None:
    results = Results("papers/gpudmm", options)
    names = QUICK if options.quick else (*FITS, *TIMES, CURVE)
    chosen = options.choose(names, quick=len(QUICK))
    if all(_done(results, key, options) for key in chosen):
        return
    found = snippets()
    step = 8 if options.quick else 1
    documents, classes = found.documents[::step], found.classes[::step]
    words = sorted({word for doc in documents for word in doc})
    reference = reference_matrix(words, 500 if options.quick else None)
    task = Task(documents, np.array(classes), words, reference)
    for key in chosen:
        try:
            _measure(key, task, results, options)
        except (DataMissing, ModuleNotFoundError) as problem:
            say(f"{key}: left out: {problem}")


def _done(results: Results, key: str, options: Options) -> bool:
    if key in FITS:
        return results.has(key) and len(results.rows[key]["runs"]) >= options.times(RUNS)
    if key in TIMES:  # a row without GPU-DMM, measured without vectors, decides nothing
        return results.has(key) and "word2vec" in results.rows[key]["seconds"]
    n_runs = options.times(PROMOTION_RUNS)
    found = results.rows[key] if results.has(key) else {}
    return all(len(runs_at(found, at)) >= n_runs for at in _promotions_of(options))


def _measure(key: str, task: Task, results: Results, options: Options) -> None:
    name, _, size = key.rpartition(" K=")
    k, n_sweeps = int(size), 30 if options.quick else SWEEPS
    if key in TIMES:
        if not _done(results, key, options):
            results.add(key, _sweep_times(k, task, options))
    elif key == CURVE:
        _promotions(k, task, results, options)
    elif name == "BTM":
        fit = partial(btm.fit, task.documents, k, n_sweeps, n_top=max(TOP))
        results.grow(key, options.times(RUNS), lambda seed: _quality(key, fit(seed=seed), task))
    else:
        model = _estimator(MODELS[name], k, n_sweeps, 0)

        def make(seed: int) -> Row:
            model.set_params(random_state=seed).fit(task.documents)
            return _quality(key, _fitted(model, task), task)

        row = results.grow(key, options.times(RUNS), make)
        if hasattr(model, "related_"):
            results.add(key, {**row, **_relations(model, task)})


def _estimator(model: Model, k: int, n_sweeps: int, seed: int, **settings: Any) -> Any:
    import coterie

    return coterie.GPUDMM(
        k,
        word_vectors=VECTORS[model.vectors]() if model.vectors else None,
        threshold=model.threshold,
        n_sweeps=n_sweeps,
        random_state=seed,
        **settings,
    )


def _fitted(model: Any, task: Task) -> btm.Fitted:
    nb, sw = (model.transform(task.documents, method=method) for method in ("nb", "sw"))
    top = [[word for word, _ in row] for row in model.top_words(max(TOP))]
    return btm.Fitted(nb, sw, top, model.n_clusters_, float(np.median(model.trace_["seconds"])))


def _quality(key: str, fitted: btm.Fitted, task: Task) -> Row:
    from coterie.metrics import coherence

    found = {
        "nb": _accuracy(SVC(kernel="linear"), fitted.nb, task),
        "sw": _accuracy(SVC(kernel="linear"), fitted.sw, task),
        "sw_linear_svc": _accuracy(LinearSVC(), fitted.sw, task),
    }
    for n in TOP:
        top = [row[:n] for row in fitted.top]
        value = coherence(top, task.reference, vocabulary=task.words, epsilon=0.0)
        found[f"pmi_{n}"] = value.mean
    found["n_clusters"] = fitted.n_clusters
    found["seconds"] = fitted.seconds
    say(f"{key}: " + ", ".join(f"{measure} {value:.3f}" for measure, value in found.items()))
    return found


def _accuracy(classifier: Any, X: np.ndarray, task: Task) -> float:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(cross_val_score(classifier, X, task.classes, cv=folds).mean())


def _relations(model: Any, task: Task) -> Row:
    """How many words are related, and the share of words that promoted in the last sweep."""
    related = model.related_
    n_tokens = sum(map(len, task.documents))
    return {
        "n_vectors": related.n_vectors,
        "n_dropped": related.n_dropped,
        "n_pairs": len(related.word),
        "promoting": float(model._promoting.sum() / n_tokens),
    }


def _sweep_times(k: int, task: Task, options: Options) -> Row:
    """Seconds per sweep by the trace; the models take turns, each from the same start."""
    seconds: Row = {}
    for name in ("DMM", "word2vec", "GloVe .7"):
        try:
            _estimator(MODELS[name], k, 2, 0).fit(task.documents)  # compiles
            seconds[name] = {"all": [], "last": []}
        except DataMissing as problem:
            if name == "word2vec":
                raise
            say(f"sweep time K={k}: left out: {name}: {problem}")
    for turn in range(options.times(TURNS)):
        for name in list(seconds)[:: 1 if turn % 2 else -1]:
            model = _estimator(MODELS[name], k, TIMED_SWEEPS, turn).fit(task.documents)
            found = model.trace_["seconds"]
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


def _promotions(k: int, task: Task, results: Results, options: Options) -> None:
    """Accuracy with SW over the promotion: Figure 4, a run at a time."""
    found: Row = dict(results.rows[CURVE]) if results.has(CURVE) else {}
    n_sweeps = 30 if options.quick else PROMOTION_SWEEPS
    for promotion in _promotions_of(options):
        values = runs_at(found, promotion)
        for seed in range(len(values), options.times(PROMOTION_RUNS)):
            model = _estimator(MODELS["word2vec"], k, n_sweeps, seed, promotion=promotion)
            soft = model.fit(task.documents).transform(task.documents, method="sw")
            values = [*values, _accuracy(SVC(kernel="linear"), soft, task)]
            found[str(promotion)] = {"runs": values, **summary(values)}
            results.add(CURVE, found)
            say(f"promotion {promotion}, run {seed + 1}: accuracy {values[-1]:.4f}")


def _promotions_of(options: Options) -> tuple[float, ...]:
    return PROMOTIONS[:: 3 if options.quick else 1]


def runs_at(curve: Row, promotion: float) -> list[float]:
    """The runs of a point; run i of all points has the same start."""
    return list(curve.get(str(promotion), {}).get("runs", []))
