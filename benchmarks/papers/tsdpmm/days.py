"""Table 2: yesterday's clusters as today's seeds, TSDPMM next to DPMM (GSDPMM's urn)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from ...harness.data import Corpus, load
from ...harness.drawing import Plot, Points
from ...harness.scores import Interval, interval, score, summary
from ...harness.seeds import Seeds
from ...harness.store import Options, Results, Row, Rows
from ...harness.tables import markdown, mean_sd, signed

DAYS = {  # a day to start from, then the paper's days 1, 2 and 3
    "20N": tuple(f"tsdpmm_20n_1993-05-{day}" for day in (10, 11, 12, 13)),
    "Reu": tuple(f"tsdpmm_reu_1987-03-{day:02}" for day in (2, 3, 4, 5)),
}


class Case(NamedTuple):
    """What differs from the main setting."""

    both: Mapping[str, Any] = {}
    plain: Mapping[str, Any] = {}
    seeds: str = "clusters"  # or "shuffled", "classes"
    published: bool = False  # read the class as the authors' programs do


class Day(NamedTuple):
    """A day as DPMM reads it and as TSDPMM reads it: different documents only when `published`."""

    name: str
    plain: Corpus
    seeded: Corpus


SETTINGS: dict[str, Any] = dict(alpha=1.0, beta=1.0, n_sweeps=100, tol=1e-3, scan="random")
MAIN, FROM_ONE = "the setting above", "DPMM from one cluster"
ONLINE: dict[str, Any] = dict(init="online", scan="given", tol=None)
CASES = {
    MAIN: Case(),
    "documents in the given order": Case(both={"scan": "given"}),
    "all 100 sweeps": Case(both={"tol": None}),
    FROM_ONE: Case(plain={"init": "one"}),
    "seeds with shuffled words": Case(seeds="shuffled"),
    "seeds: yesterday's true classes": Case(seeds="classes"),
    "as published, class left out": Case(both=ONLINE),
    "as published, class read": Case(both=ONLINE, published=True),
}
L, L_KEPT = "TSDPMM-L", "TSDPMM-L, older seeds kept"
MODELS = ("DPMM", "TSDPMM", L, L_KEPT)
PAPER = {
    "20N-1": (0.610, 0.645, None),
    "20N-2": (0.537, 0.610, 0.681),
    "20N-3": (0.590, 0.681, 0.697),
    "Reu-1": (0.509, 0.648, None),
    "Reu-2": (0.647, 0.654, 0.689),
    "Reu-3": (0.653, 0.655, 0.656),
}
PAPER_GAIN = 0.058
MEASURES = ("nmi", "nmi_geometric")
Scores = dict[str, float]
Runs = Sequence[Row]  # one per seed: scores by day and model


def run(options: Options) -> None:
    results, seeds = Results("papers/tsdpmm", options), range(options.times(20, 3))
    for name in options.choose(tuple(CASES), quick=2):
        results.fill(_one_run, {f"{name}, seed {seed}": (name, seed) for seed in seeds})


def dpmm(documents: Any, seed: int, **changes: Any) -> Any:
    """A fitted DPMM with the paper's settings, except for the changes."""
    import coterie

    settings = {**SETTINGS, "init": 20, "random_state": seed, **changes}
    return coterie.GSDPMM(**settings).fit(documents)


def tsdpmm(seeds: Any, documents: Any, seed: int, **changes: Any) -> Any:
    """A fitted TSDPMM with the paper's settings, except for the changes."""
    import coterie

    return coterie.TSDPMM(seeds, **{**SETTINGS, "random_state": seed, **changes}).fit(documents)


@lru_cache(maxsize=1)
def _read(name: str) -> dict[str, list[Day]]:
    """The days of each source, the one to start from first."""
    return {
        source: [_day(f"{source}-{i}", file, CASES[name]) for i, file in enumerate(files)]
        for source, files in DAYS.items()
    }


def _day(name: str, file: str, case: Case) -> Day:
    corpus = load(file)
    if not case.published:
        return Day(name, corpus, corpus)
    pairs = list(zip(*corpus, strict=True))
    fused = [[f"{label}#{doc[0]}", *doc[1:]] for doc, label in pairs]
    apart = [[label, *doc] for doc, label in pairs]
    return Day(name, corpus._replace(documents=fused), corpus._replace(documents=apart))


def _one_run(task: tuple[str, int]) -> Row:
    """Agreement with the classes by day and model, the days to start from left out."""
    name, seed = task
    sources = [_days(days, CASES[name], seed) for days in _read(name).values()]
    return {day: of for found in sources for day, of in found.items()}


def _days(days: list[Day], case: Case, seed: int) -> dict[str, dict[str, Scores]]:
    found: dict[str, dict[str, Scores]] = {}
    plain = [dpmm(day.plain.documents, seed, **case.both, **case.plain) for day in days]
    older: dict[str, Any] = {}
    for i, day in enumerate(days[1:], 1):
        documents, yesterday = day.seeded.documents, days[i - 1]
        seeds = {"TSDPMM": _seeds(case, plain[i - 1], yesterday, documents, seed)}
        if older:
            seeds[L] = topics(yesterday.seeded.documents, older[L].labels_, documents)
            seeds[L_KEPT] = older[L_KEPT]
        fitted = {name: tsdpmm(of, documents, seed, **case.both) for name, of in seeds.items()}
        if case == Case():  # both forms go on from the first day's TSDPMM
            older = {form: fitted.get(form, fitted["TSDPMM"]) for form in (L, L_KEPT)}
        found[day.name] = {
            name: _scores(day.plain.classes, model.labels_.tolist())
            for name, model in {"DPMM": plain[i], **fitted}.items()
        }
    return found


def _scores(classes: list[str], labels: list[int]) -> Scores:
    found = score(classes, labels)
    return {name: round(found[name], 4) for name in (*MEASURES, "n_clusters")}


def _seeds(case: Case, model: Any, yesterday: Day, documents: Any, seed: int) -> Any:
    """The seeds of a day: a fitted model, or word counts."""
    if case.seeds == "clusters":
        return model
    if case.seeds == "classes":
        return topics(yesterday.plain.documents, yesterday.plain.classes, documents)
    words = sorted({word for doc in documents for word in doc})
    order = np.random.default_rng(seed).permutation(len(words))
    other = {word: words[i] for word, i in zip(words, order, strict=True)}
    given = topics(yesterday.plain.documents, model.labels_, documents)
    return {name: {other[w]: n for w, n in counts.items()} for name, counts in given.items()}


def topics(
    documents: Sequence[Sequence[str]], labels: Sequence[Any], today: Sequence[Sequence[str]]
) -> dict[str, dict[str, int]]:
    """Word counts under each label, of the words that occur today."""
    known = {word for doc in today for word in doc}
    counts: dict[str, Counter[str]] = {}
    for doc, label in zip(documents, labels, strict=True):
        counts.setdefault(str(label), Counter()).update(word for word in doc if word in known)
    return {name: dict(words) for name, words in counts.items() if words}


def runs(rows: Rows, case: str) -> Runs:
    return list(Seeds(rows).runs(case).values())


def days_of(runs: Runs, model: str = "DPMM") -> list[str]:
    """The days on which a model was run."""
    return [day for day in PAPER if model in runs[0].get(day, {})]


def at(runs: Runs, day: str, model: str, measure: str = "nmi") -> list[float]:
    """The scores of a model on a day, one per run."""
    return [run[day][model][measure] for run in runs]


def gain(
    runs: Runs,
    measure: str = "nmi",
    over: str = "runs",
    ours: str = "TSDPMM",
    theirs: str = "DPMM",
    days: Sequence[str] = (),
) -> Interval:
    """The mean difference of two models on the days that have both (or these), with its interval
    over the means of the runs, or over the means of the days."""
    there = days or days_of(runs, ours)
    mine, other = (np.array([at(runs, d, m, measure) for d in there]) for m in (ours, theirs))
    return interval((mine - other).mean(axis=0 if over == "runs" else 1).tolist())


def plots(runs: Runs) -> list[Plot]:
    """NMI by day and model, and the paper's DPMM and TSDPMM: a panel for each source."""
    found = []
    for source in DAYS:
        days = [day for day in days_of(runs) if day.startswith(source)]
        lines: dict[str, Points] = {}
        for model in MODELS[:2]:
            lines[model] = [(float(i), mean(at(runs, d, model))) for i, d in enumerate(days, 1)]
        for j, model in enumerate(MODELS[:2]):
            paper = [(float(i), PAPER[day][j] or 0.0) for i, day in enumerate(days, 1)]
            lines[f"{model}, paper"] = paper
        found.append(Plot(f"tsdpmm-table-2-{source}", "day", f"NMI, {source}", lines))
    return found


def by_day(runs: Runs) -> str:
    """The paper's Table 2."""
    lines = []
    there = {model: days_of(runs, model) for model in MODELS}
    for day in there["DPMM"]:
        of = [mean_sd(summary(at(runs, day, m))) if day in there[m] else "-" for m in MODELS]
        gains = [signed(gain(runs, measure, days=[day])) for measure in MEASURES]
        paper = ", ".join("-" if value is None else f"{value:.3f}" for value in PAPER[day])
        lines.append([day, *of, *gains, paper])
    overall = [signed(gain(runs, measure)) for measure in MEASURES]
    lines.append(["six days", *("" for _ in MODELS), *overall, f"+{PAPER_GAIN}"])
    means = [f"{gain(runs, ours=L, theirs='TSDPMM', days=[d]).mean:+.3f}" for d in there[L]]
    lines.append(["TSDPMM-L minus TSDPMM", "", "", " ".join(means), "", "", "", ""])
    clusters = [
        f"{mean(mean(at(runs, day, model, 'n_clusters')) for day in of):.1f}" if of else "-"
        for model, of in there.items()
    ]
    lines.append(["clusters found, mean", *clusters, "", "", ""])
    head = ["NMI", *MODELS, "TSDPMM minus DPMM", "the same, geometric NMI"]
    return markdown([*head, "paper: DPMM, TSDPMM, TSDPMM-L"], lines)


def by_case(cases: Mapping[str, Runs]) -> str:
    """One thing changed at a time."""
    lines = []
    for name, runs in cases.items():
        days, over = days_of(runs), gain(runs, over="days")
        levels = [
            " ".join(f"{mean(at(runs, day, model, 'nmi_geometric')):.3f}" for day in days)
            for model in MODELS[:2]
        ]
        by_days = " ".join(f"{gain(runs, days=[day]).mean:+.3f}" for day in days)
        gains = [signed(gain(runs)), f"{over.low:+.3f} to {over.high:+.3f}"]
        gains += [signed(gain(runs, "nmi_geometric")), by_days, " / ".join(levels)]
        lines.append([name, *gains])
    head = ["case: TSDPMM minus DPMM", "NMI, interval over runs", "interval over days"]
    head += ["geometric NMI, over runs", "NMI by day", "geometric NMI by day, DPMM / TSDPMM"]
    return markdown(head, lines)
