"""TSDPMM (Hu et al. 2015): prior topics as seeds of a Dirichlet process mixture.

Table 2: yesterday's clusters as today's seeds, next to DPMM (GSDPMM's urn). Table 1: perplexity with
last year's clusters as seeds, by three definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from ...harness.claims import Claim, single, wins
from ...harness.data import Corpus, load
from ...harness.drawing import Plot, Points
from ...harness.pages import numbers
from ...harness.scores import Interval, interval, paired, score, summary
from ...harness.seeds import Seeds
from ...harness.store import Options, Results, Row, Rows
from ...harness.tables import counted, markdown, mean_sd, signed

FILES = ("papers/tsdpmm", "papers/nips")
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
_paper = numbers(__file__)
PAPER: dict[str, list[float]] = _paper["nmi"]  # by day: DPMM, TSDPMM and, on days 2 and 3, TSDPMM-L
PAPER_YEARS: dict[int, dict[str, float]] = {int(y): of for y, of in _paper["perplexity"].items()}
PAPER_GAIN = 0.058
MEASURES = ("nmi", "nmi_geometric")
Scores = dict[str, float]
Runs = Sequence[Row]  # one per seed: scores by day and model
YEARS = {year: f"tsdpmm_nips_{year}" for year in (2012, 2013, 2014)}
BETAS = (1.0, 0.1)
PERPLEXITIES = ("mixture", "given_z", "documents_only")
TAKES = (*CASES, *map(str, BETAS))
START = "Where DPMM starts decides the sign of the difference."
VARY = "The days differ more than the runs do."
COUNTED = "When the seeds' words count, as they do in the model, the order is the other way round."


def run(options: Options) -> None:
    wanted = set(options.only)
    if not wanted or wanted & set(CASES):
        _run_days(options)
    if not wanted or wanted & set(map(str, BETAS)):
        _run_years(options)


def _run_days(options: Options) -> None:
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


def runs_of(rows: Rows, case: str) -> Runs:
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


def _plots(runs: Runs) -> list[Plot]:
    """NMI by day and model, and the paper's DPMM and TSDPMM: a panel for each source."""
    found = []
    for source in DAYS:
        days = [day for day in days_of(runs) if day.startswith(source)]
        lines: dict[str, Points] = {}
        for model in MODELS[:2]:
            lines[model] = [(float(i), mean(at(runs, d, model))) for i, d in enumerate(days, 1)]
        for j, model in enumerate(MODELS[:2]):
            paper = [(float(i), PAPER[day][j]) for i, day in enumerate(days, 1)]
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
        paper = ", ".join([*(f"{value:.3f}" for value in PAPER[day]), "-"][:3])
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


def key(beta: float) -> str:
    return f"beta = {beta:g}"


def _run_years(options: Options) -> None:
    results, seeds = Results("papers/nips", options), range(options.times(5))
    for name in options.choose(tuple(map(str, BETAS)), quick=len(BETAS)):
        beta = float(name)
        results.fill(_one_year_run, {f"{key(beta)}, seed {seed}": (beta, seed) for seed in seeds})


def _one_year_run(task: tuple[float, int]) -> Row:
    """Perplexities by year and model."""
    beta, seed = task
    found: Row = {}
    before = None
    for year, file in YEARS.items():
        documents = load(file).documents
        models = {"DPMM": dpmm(documents, seed, beta=beta)}
        if before is not None:
            models["TSDPMM-P"] = tsdpmm(before, documents, seed, beta=beta)
        found[str(year)] = {name: perplexities(model, documents) for name, model in models.items()}
        before = models["DPMM"]
    return found


def lower(runs: Runs, year: int, measure: str) -> Interval:
    """How much lower TSDPMM-P's perplexity is than DPMM's, over the runs."""
    return paired(*(at(runs, str(year), model, measure) for model in ("DPMM", "TSDPMM-P")))


def perplexities(model: Any, documents: Any) -> dict[str, float]:
    """Perplexity of the documents a model was fitted on, by each definition."""
    counted = model.model_.counted.toarray()  # clusters x words, of documents alone
    beta = model.model_.urn.words.beta
    alone = (counted + beta) / (counted.sum(axis=1, keepdims=True) + beta.sum())
    n_words = counted.sum()
    return {
        "mixture": model.perplexity(documents),
        "given_z": float(np.exp(-(counted * np.log(model.model_.word_matrix())).sum() / n_words)),
        "documents_only": float(np.exp(-(counted * np.log(alone)).sum() / n_words)),
        "n_clusters": int((model.cluster_sizes_ > 0).sum()),
    }


def by_year(rows: Rows) -> str:
    """The paper's Table 1."""
    lines = []
    for beta in BETAS:
        found = runs_of(rows, key(beta))
        for year, paper in PAPER_YEARS.items() if found else ():
            for model, theirs in paper.items():
                measures = (*PERPLEXITIES, "n_clusters")
                cells = [mean_sd(summary(at(found, str(year), model, m)), 1) for m in measures]
                lines.append([f"{beta:g}", year, len(found), model, *cells, theirs])
    head = ["beta", "NIPS", "runs", "model", "mixture", "given z", "documents only", "clusters"]
    return markdown([*head, "paper"], lines)


# ---------------------------------------------------------------- the paper
def tables(rows: Rows) -> dict[str, str]:
    cases = {name: of for name in CASES if (of := runs_of(rows, name))}
    return {
        "by_day": by_day(cases[MAIN]) if MAIN in cases else "",
        "by_case": by_case(cases),
        "days_runs": counted(map(len, cases.values())),
        "by_year": by_year(rows),
        "years_runs": counted(len(runs_of(rows, key(beta))) for beta in BETAS),
    }


def plots(rows: Rows) -> list[Plot]:
    main = runs_of(rows, MAIN)
    return _plots(main) if main else []


def claims(rows: Rows) -> list[Claim]:
    main, from_one = (runs_of(rows, case) for case in (MAIN, FROM_ONE))
    better = f"TSDPMM beats DPMM (NMI, Table 2: +{PAPER_GAIN} on average)"
    lifelong = "TSDPMM-L beats TSDPMM (NMI, Table 2: +0.032 on average) on days 2 and 3"
    missing = "the call for papers and the abstracts of 2011 are not available"
    as_authors = "counting this year's documents only, as the authors' programs do"
    return [
        _claim(f"{better}, over runs, DPMM from 20 random clusters", main),
        _claim(f"{better}, over runs, DPMM from one cluster", from_one, why=START),
        _claim(f"{better}, over days, DPMM from 20 random clusters", main, over="day", why=VARY),
        _claim(lifelong, main, L, "TSDPMM"),
        _perplexity(rows, 1.0, "mixture", "of the mixture"),
        _perplexity(rows, 0.1, "documents_only", as_authors),
        single("TSDPMM-P beats TSDPMM-E (perplexity, Table 1)", missing, None),
    ]


def _perplexity(rows: Rows, beta: float, measure: str, how: str) -> Claim:
    runs = runs_of(rows, key(beta))
    later = [year for year in YEARS if "TSDPMM-P" in PAPER_YEARS[year]]
    gains = {f"NIPS {year}": lower(runs, year, measure) if runs else None for year in later}
    says = f"TSDPMM-P has a lower perplexity than DPMM (Table 1), {key(beta)}, {how}"
    return wins(says, gains, COUNTED if measure == "mixture" else "")


def _claim(
    says: str,
    runs: Runs,
    ours: str = "TSDPMM",
    theirs: str = "DPMM",
    over: str = "run",
    why: str = "",
) -> Claim:
    """A gain above zero; the interval is over the runs or over the"""
    if not runs:
        return single(says)
    nmi, geometric = (gain(runs, m, f"{over}s", ours, theirs) for m in MEASURES)
    shown = f"{signed(nmi)} over {counted([nmi.n], over)}"
    if over == "run":
        shown += f" (geometric NMI {signed(geometric)})"
    return single(says, shown, nmi.above_zero if nmi.n > 1 else None, why)
