"""GPU-DMM (Li et al. 2016): related words by their vectors. Tables 3, 5 and 6, Figures 2 and 4.

`btm` is the biterm topic model as the paper uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC, LinearSVC

from ...harness.claims import Check, Claim, Gains, wins
from ...harness.data import REFERENCE, VECTORS, DataMissing, reference_matrix, snippets
from ...harness.drawing import Plot
from ...harness.pages import numbers
from ...harness.scores import paired, ratio
from ...harness.seeds import Figure, Seeds, Values, difference
from ...harness.store import Options, Results, Row, Rows, say
from ...harness.tables import counted, markdown, signed, spread
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
TAKES = (*FITS, *TIMES, CURVE)
CALLED = {"BTM": "BTM", "DMM": "DMM", "word2vec": "GPU-DMM"}  # the paper's models
ACCURACY = {"nb": "NB", "sw": "SW", "sw_linear_svc": "SW, LinearSVC"}
PMI = {f"pmi_{n}": f"PMI, {n} words" for n in TOP}
NAMED = {**ACCURACY, **{f"pmi_{n}": f"{n} words" for n in TOP}}
_paper = numbers(__file__)
PAPER_ACCURACY, PAPER_SECONDS = _paper["accuracy"], _paper["seconds"]
PAPER_CURVE = _paper["promotion"]
CHEAP = 3.0  # "less than 3 times of DMM"


# ---------------------------------------------------------------- what is measured
def run(options: Options) -> None:
    results = Results("papers/gpudmm", options)
    paper = [key for key in FITS if _parts(key)[0] in CALLED]  # --only may name other vectors
    every = QUICK if options.quick else (*paper, *TIMES, CURVE)
    for name in options.choose(TAKES) if options.only else every:
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


def _parts(key: str) -> tuple[str, int]:
    name, _, k = key.rpartition(" K=")
    return name, int(k)


def _called(key: str) -> str:
    """How the tables name a row: `word2vec K=40` is GPU-DMM with these vectors."""
    name, k = _parts(key)
    return f"{f'GPU-DMM ({name})' if MODELS[name].vectors else name}, K={k}"


# ---------------------------------------------------------------- tables and plots
def tables(rows: Rows) -> dict[str, str]:
    of = Seeds(rows)
    there = [key for key in FITS if of.runs(key)]
    points = [p for p in PROMOTIONS if of.runs(promoted(p))]
    lines = [[p, of.cell(promoted(p), "sw"), PAPER_CURVE.get(str(p), "")] for p in points]
    coherence = [[_called(key), *(of.cell(key, m) for m in PMI)] for key in there]
    return {
        "runs": of.counted(there),
        "reference": ", ".join(REFERENCE),
        "accuracy": _accuracy_table(of, there),
        "differences": _differences(of, there),
        "coherence": markdown(["model", *PMI.values()], coherence),
        "relations": _relations_table(of, there),
        "seconds": _seconds(rows),
        "promotion": markdown(["promotion", "accuracy, SW", "paper"], lines),
        "promotion_runs": of.counted(map(promoted, points)),
        "promotion_sweeps": str(PROMOTION_SWEEPS),
    }


def _accuracy_table(of: Seeds, keys: Sequence[str]) -> str:
    lines = []
    for key in keys:
        name, k = _parts(key)
        paper = {m: of[SIZES.index(k)] for m, of in PAPER_ACCURACY.get(name, {}).items()}
        nb, sw, linear = (of.cell(key, m) for m in ACCURACY)
        cells = [nb, paper.get("nb", ""), sw, paper.get("sw", ""), linear]
        lines.append([_called(key), len(of.runs(key)), *cells])
    return markdown(["model", "runs", "NB", "paper", "SW", "paper", "SW, LinearSVC"], lines)


def _differences(of: Seeds, keys: Sequence[str]) -> str:
    lines = []
    for key in [key for key in keys if not key.startswith("DMM")]:
        name, k = _parts(key)
        measures = ("sw", "sw_linear_svc", "nb", *PMI)
        cells = [signed(of.gain(key, f"DMM K={k}", m), 4) for m in measures]
        shown = ""
        if name in PAPER_ACCURACY:
            theirs, dmm = (PAPER_ACCURACY[n]["sw"][SIZES.index(k)] for n in (name, "DMM"))
            shown = f"{theirs - dmm:+.4f}"
        lines.append([_called(key), cells[0], shown, *cells[1:]])
    head = ["minus DMM", "SW", "paper", "SW, LinearSVC", "NB", *PMI.values()]
    return markdown(head, lines)


def _relations_table(of: Seeds, keys: Sequence[str]) -> str:
    lines = []
    for key in keys:
        for row in [row for row in of.runs(key).values() if "n_pairs" in row][-1:]:
            counts = [f"{row[name]:,}" for name in ("n_vectors", "n_dropped", "n_pairs")]
            lines.append([_called(key), *counts, f"{row['promoting']:.0%}"])
    head = ["vectors", "words with a vector", "with too many related words", "related pairs"]
    return markdown([*head, "words promoting"], lines)


def _seconds(rows: Rows) -> str:
    lines = []
    for at, (key, k) in enumerate(zip(TIMES, SIZES, strict=True)):
        found = {n: of["all"] for n, of in rows.get(key, {}).get("seconds", {}).items()}
        if btm := Seeds(rows).values(f"BTM K={k}", "seconds"):
            found["BTM"] = list(btm.values())
        for name, took in found.items():
            found_ratio = rows.get(key, {}).get("ratios", {}).get(name)
            shown = [
                spread(found_ratio[part], 2) if found_ratio else "" for part in ("all", "last")
            ]
            paper = ""
            if name in PAPER_SECONDS:
                paper = f"{1000 * PAPER_SECONDS[name][at]:.0f} ms"
                if name != "DMM":
                    paper += f", {PAPER_SECONDS[name][at] / PAPER_SECONDS['DMM'][at]:.2f}x"
            lines.append([_called(f"{name} K={k}"), f"{1000 * median(took):.1f}", *shown, paper])
    last = f"last {LAST} of {TIMED_SWEEPS} sweeps"
    return markdown(["model", "ms per sweep", "times DMM's", last, "paper"], lines)


def plots(rows: Rows) -> list[Plot]:
    of = Seeds(rows)

    def at(name: str, measure: str, k: float) -> Values:
        return of.values(f"{name} K={k:g}", measure)

    found = []
    for n in TOP:
        lines = {called: partial(at, name, f"pmi_{n}") for name, called in CALLED.items()}
        figure = Figure("number of topics (K)", SIZES, lines)
        found += figure.plot(f"gpudmm-figure-2-top-{n}", f"PMI, top {n}")
    curve = {"K = 40": lambda promotion: of.values(promoted(promotion), "sw")}
    return found + Figure("promotion", PROMOTIONS, curve).plot("gpudmm-figure-4", "accuracy")


# ---------------------------------------------------------------- claims
def claims(rows: Rows) -> list[Claim]:
    of = Seeds(rows)

    def less(theirs: str, measures: Sequence[str], ours: str = "word2vec") -> Gains:
        return {
            f"K={k}, {NAMED[m]}": of.gain(f"{ours} K={k}", f"{theirs} K={k}", m)
            for k in SIZES
            for m in measures
        }

    soft = {
        f"{called}, K={k}": difference(*(of.values(f"{name} K={k}", m) for m in ("sw", "nb")))
        for name, called in CALLED.items()
        for k in SIZES
    }
    above = {str(p): of.gain(promoted(p), promoted(0.0), "sw") for p in PROMOTIONS[1:]}
    few = "BTM has three runs here, so that the interval is wide."
    return [
        wins("GPU-DMM beats DMM in coherence (Figure 2)", less("DMM", tuple(PMI))),
        wins("GPU-DMM beats BTM in coherence (Figure 2)", less("BTM", tuple(PMI))),
        wins("BTM beats DMM in coherence (Figure 2)", less("DMM", tuple(PMI), ours="BTM"), few),
        wins("GPU-DMM beats DMM in accuracy (Table 5)", less("DMM", ("sw",))),
        wins("GPU-DMM beats BTM in accuracy (Table 5)", less("BTM", ("sw",))),
        wins("DMM beats BTM in accuracy (Table 5)", less("BTM", ("sw",), ours="DMM")),
        wins("GPU-DMM beats DMM with NB too (Table 3)", less("DMM", ("nb",))),
        wins("SW beats NB in accuracy (Table 3)", soft),
        wins("Any promotion above zero beats DMM (Figure 4)", above),
        _cost(rows),
    ]


def _cost(rows: Rows) -> Claim:
    checks, turns = [], []
    for key, k in zip(TIMES, SIZES, strict=True):
        seconds = rows.get(key, {}).get("seconds", {})
        if "word2vec" not in seconds:
            checks.append(Check(f"K={k}", "-", None))
            continue
        both = zip(*(seconds[name]["all"] for name in ("DMM", "word2vec")), strict=True)
        ratios = [b / a for a, b in both]
        spare = paired([CHEAP] * len(ratios), ratios)
        turns.append(spare.n)
        shown = f"{CHEAP - spare.mean:.2f}x ({CHEAP - spare.high:.2f} to {CHEAP - spare.low:.2f})"
        checks.append(Check(f"K={k}", shown, spare.above_zero, spare.low))
    says = f"A sweep of GPU-DMM takes less than {CHEAP:g} times DMM's (Table 6, Snippet)"
    return Claim(says, checks, counted(turns, "turn") if turns else "")
