"""X-DMM's tables and figures: index, time and sweeps by K, agreement with classes, symmetric beta."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from math import exp
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from .chains import end, reached, series, thin, warm_chain
from .data import Corpus, cut, load
from .pool import spread
from .scores import score, summaries
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, mean_sd, number

TITLE = "X-DMM: index, Metropolis-Hastings, agreement"
NOTE = (
    "alpha = beta = .1, random start, one thread unless said otherwise. Corpora: 20ng is `20ng_tokens`; "
    "ohsumed and Reuters-21578 are natural text in lower case, `\\w{2,}`, scikit-learn's English stop "
    "words out; an ohsumed abstract stands once for each of its classes (56,984 rows, class by class), a "
    "Reuters story under its first topic (82 classes, the paper's copy has 116). Perplexity is "
    "exp(- ln p(words | z) per word) at the posterior mean of phi; it is not timed. *Settled* is the "
    "first sweep whose perplexity is within .2% of the end of gibbs, by K of the worse of gibbs and "
    "metropolis. metropolis starts with Gibbs sweeps and has the same random numbers as gibbs, so that "
    "both chains are one until it switches; it then has as many seconds as gibbs. NMI is geometric, as "
    "the paper's, after 30 sweeps (metropolis: 100). Beta by frequency is in proportion to the word's "
    "share of all words and averages .1."
)
QUICK_STEP = 12  # every so-manieth text in a quick run
NAMES = ("20ng", "ohsumed", "reuters")
SECTIONS = ("index", "clusters", "nmi")
SPAN = "ohsumed"  # the largest corpus there is
BY_K = (20, 80, 160, 240)
GIBBS, MH, BLOCKED, FREQUENCY = "gibbs", "metropolis", "blocked", "gibbs, beta by frequency"
PARALLEL = "blocked, all cores"
SWEEPS = {GIBBS: 30, BLOCKED: 30, FREQUENCY: 30, MH: 100}
MOST_SWEEPS = 2000
NEAR = 0.002
LEVELS = (1.02, 1.01, 1.005, 1.002)  # of the perplexity that the worse chain ends with
PAPER_NMI = {  # GSDMM, X-DMM, X-DMM parallel at 2x and 4x the classes (Table 5)
    "20ng": ("0.689 0.691 0.682", "0.687 0.681 0.689"),
    "ohsumed": ("0.156 0.158 0.152", "0.156 0.154 0.153"),
    "reuters": ("0.506 0.510 0.498", "0.519 0.514 0.509"),
}
PAPER_K = {"20ng": (40, 80), "ohsumed": (46, 92), "reuters": (232, 464)}


class Task(NamedTuple):
    """One fit that is only scored."""

    name: str
    times: int  # K in classes
    system: str
    seed: int
    step: int


def run(options: Options) -> dict[str, Row]:
    results = Results("xdmm", options)
    step = QUICK_STEP if options.quick else 1
    sections = options.choose(SECTIONS, quick=len(SECTIONS))
    samplers = [GIBBS, *_metropolis()]
    if "nmi" in sections:
        _nmi(results, [*samplers, BLOCKED, FREQUENCY], options.times(5, 1), step)
    if "index" in sections:
        for name in NAMES:
            results.add(f"index, {name}", _index(name, samplers, 10 if options.quick else 50, step))
    if "clusters" in sections:
        chosen = BY_K[:2] if options.quick else BY_K
        for n_clusters in chosen:
            row = _by_k(n_clusters, samplers, SWEEPS[GIBBS], step, n_clusters == chosen[-1])
            results.add(f"clusters, {n_clusters}", row)
    return results.rows


def _metropolis() -> list[str]:
    """The sampler's name, where this version has it."""
    from coterie import urns
    from coterie.backends.base import How, get_backend

    refusal = get_backend().supports(urns.finite(2, 0.1, np.full(2, 0.1)), How(sampler=MH))
    if refusal:
        say(f"{MH}: SKIPPED: {refusal}")
    return [] if refusal else [MH]


@lru_cache(maxsize=3)
def _corpus(name: str, step: int) -> tuple[Any, list[str]]:
    """Word counts as a CSR, and classes."""
    from sklearn.feature_extraction.text import CountVectorizer

    if name == "20ng":
        corpus = load("20ng_tokens")
        corpus = Corpus(corpus.documents[::step], corpus.classes[::step])
    else:
        file = {"ohsumed": "ohsumed_all", "reuters": "reuters21578"}[name]
        corpus = cut(file, min_df=1, every_label=name == "ohsumed", step=step)
    matrix = CountVectorizer(analyzer=list).fit_transform(corpus.documents)  # words are cut already
    return matrix, corpus.classes


def _nmi(results: Results, systems: list[str], n_seeds: int, step: int) -> None:
    """Table 5, and Figure 4 at K = 2x the classes."""
    tasks = [
        Task(name, times, system, seed, step)
        for name in sorted(NAMES, key=lambda name: name != SPAN)  # the longest first
        for times in (4, 2)
        for seed in range(n_seeds)
        for system in systems
        if times == 2 or system != FREQUENCY
    ]
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for task, scores in spread(_scored, tasks):
        of = found.setdefault(f"nmi, {task.name}, {task.times}", {})
        of.setdefault(task.system, []).append(scores)
        shown = f"geometric NMI {scores['nmi_geometric']:.3f}, {scores['n_clusters']:.0f} clusters"
        say(f"{task.name}, K = {task.times}x: {task.system}: seed {task.seed}: {shown}")
    for name in NAMES:
        classes = _corpus(name, step)[1]
        for times in (2, 4):
            key = f"nmi, {name}, {times}"
            row: Row = {s: summaries(found[key][s]) for s in systems if s in found[key]}
            results.add(key, {"K": times * len(set(classes)), "systems": row})


def _scored(task: Task) -> dict[str, float]:
    import coterie

    matrix, classes = _corpus(task.name, task.step)
    settings: dict[str, Any] = dict(alpha=0.1, beta=0.1, n_sweeps=SWEEPS[task.system], n_jobs=1)
    kind: Any = coterie.GSDMM
    if task.system == FREQUENCY:
        settings["beta"] = coterie.word_beta(matrix, mean=0.1, by="frequency")
    if task.system == MH:
        kind = getattr(coterie, "XDMM", coterie.GSDMM)
    sampler = GIBBS if task.system == FREQUENCY else task.system
    n_clusters = task.times * len(set(classes))
    model = kind(n_clusters, sampler=sampler, random_state=task.seed, **settings).fit(matrix)
    return score(classes, model.labels_.tolist())


def _index(name: str, samplers: list[str], n_sweeps: int, step: int) -> Row:
    """Table 2, Figures 5 and 6: K = the classes."""
    matrix, classes = _corpus(name, step)
    n_clusters = len(set(classes))
    chain = partial(warm_chain, matrix, n_clusters)
    plain = chain(GIBBS, n_sweeps, classes=classes)
    target = end(plain) - NEAR
    chains = {GIBBS: plain}
    if MH in samplers:
        chains[MH] = chain(MH, MOST_SWEEPS, max_seconds=sum(plain.seconds), target=target)
    row: Row = {
        "K": n_clusters,
        "n_docs": matrix.shape[0],
        "n_words": matrix.shape[1],
        "mean_length": float(matrix.sum() / matrix.shape[0]),
        "index_seconds": plain.index_seconds,
        "sampling_seconds": sum(plain.seconds),
        "sweeps": n_sweeps,
        "settled": {sampler: reached(of, target) for sampler, of in chains.items()},
        "nmi": thin(plain.nmi),
        "series": {GIBBS: series(plain)},
    }
    say(f"index, {name}: {row['index_seconds']:.3f} s of {row['sampling_seconds']:.1f} s")
    return row


def _by_k(n_clusters: int, samplers: list[str], n_sweeps: int, step: int, parallel: bool) -> Row:
    """Table 3, and from its largest K Table 6 and Figure 2."""
    matrix, _ = _corpus(SPAN, step)
    chain = partial(warm_chain, matrix, n_clusters)
    chains = {GIBBS: chain(GIBBS, n_sweeps)}
    if MH in samplers:
        chains[MH] = chain(MH, MOST_SWEEPS, max_seconds=sum(chains[GIBBS].seconds))
    target = min(end(of) for of in chains.values())
    if parallel:
        n_jobs = os.cpu_count() or 1
        chains[PARALLEL] = chain(BLOCKED, n_sweeps, n_jobs=n_jobs)
    row: Row = {"K": n_clusters, "n_docs": matrix.shape[0], "samplers": {}}
    for sampler, of in chains.items():
        row["samplers"][sampler] = {
            "seconds_a_sweep": median(of.seconds[-min(20, len(of.seconds) // 2) :]),
            "settled": reached(of, target - NEAR),
            "switched": of.drawn.index(MH) + 1 if MH in of.drawn else None,
            "sweeps": len(of.seconds),
            "seconds": sum(of.seconds),
            "perplexity": exp(-end(of)),
            "levels": [reached(of, target - float(np.log(level))) for level in LEVELS],
            "series": series(of),
        }
        shown = row["samplers"][sampler]
        say(
            f"ohsumed, K = {n_clusters}: {sampler}: {shown['seconds_a_sweep']:.3f} s a sweep, "
            f"{shown['sweeps']} sweeps, perplexity {shown['perplexity']:.1f}"
        )
    row["perplexities"] = [exp(-target) * level for level in LEVELS]
    return row


def table(rows: dict[str, Row]) -> str:
    parts = []
    of = {key: row for key, row in rows.items() if key.startswith("index")}
    if of:
        parts += ["**Table 2, Figure 5: K = the classes**", _index_table(of)]
        if f"index, {SPAN}" in of:
            title = "**Figure 6: perplexity and NMI by sweep, ohsumed, gibbs**"
            parts += [title, _figure_6(of[f"index, {SPAN}"])]
    of = {key: row for key, row in rows.items() if key.startswith("clusters")}
    if of:
        largest = max(of.values(), key=lambda row: row["K"])
        parts += ["**Table 3: ohsumed by K**", _by_k_table(of)]
        parts += [f"**Table 6: seconds to a perplexity, ohsumed, K = {largest['K']}**"]
        parts += [
            _levels_table(largest),
            "**Figure 2: ln-likelihood per word after so many seconds**",
        ]
        parts += [_figure_2(largest)]
    of = {key: row for key, row in rows.items() if key.startswith("nmi")}
    if of:
        parts += ["**Table 5 and Figure 4: geometric NMI**", _nmi_table(of)]
    return "\n\n".join(parts)


def _index_table(rows: dict[str, Row]) -> str:
    head = ["corpus", "texts", "words", "length", "K", "index, ms", "sampling, ms", "share"]
    head += ["gibbs settles, sweeps: s", "metropolis: s"]
    lines = []
    for key, row in rows.items():
        index, sampling = row["index_seconds"], row["sampling_seconds"]
        size = [row["n_docs"], row["n_words"], number(row["mean_length"], 1), row["K"]]
        cost = [number(1000 * index, 0), f"{1000 * sampling:,.0f} ({row['sweeps']} sweeps)"]
        settled = [_at(row["settled"], sampler) for sampler in (GIBBS, MH)]
        lines.append([key.split(", ")[1], *size, *cost, f"{index / sampling:.2%}", *settled])
    return markdown(head, lines)


def _figure_6(row: Row) -> str:
    likelihood = row["series"][GIBBS]["likelihood"]
    sweeps = thin(range(1, row["sweeps"] + 1))
    shown = np.unique(np.linspace(0, len(sweeps) - 1, 10).astype(int))
    lines = [
        ["perplexity", *(f"{exp(-likelihood[i]):,.0f}" for i in shown)],
        ["NMI", *(f"{row['nmi'][i]:.3f}" for i in shown)],
    ]
    return markdown(["sweep", *(str(sweeps[i]) for i in shown)], lines)


def _by_k_table(rows: dict[str, Row]) -> str:
    head = ["K", "sampler", "ms a sweep, late", "settles, sweeps: s", "metropolis from sweep"]
    head += ["sweeps in all", "s in all", "perplexity at the end"]
    lines = []
    for row in sorted(rows.values(), key=lambda row: row["K"]):
        for sampler, of in row["samplers"].items():
            cells = [
                number(1000 * of["seconds_a_sweep"], 0),
                _at({sampler: of["settled"]}, sampler),
            ]
            cells += [of["switched"] or "", of["sweeps"], number(of["seconds"], 1)]
            lines.append([row["K"], sampler, *cells, number(of["perplexity"], 1)])
        if MH not in row["samplers"]:
            lines.append([row["K"], MH, "skipped: no such sampler", "", "", "", "", ""])
    return markdown(head, lines)


def _levels_table(row: Row) -> str:
    lines = [
        [sampler, *(number(at and at["seconds"], 2) for at in of["levels"])]
        for sampler, of in row["samplers"].items()
    ]
    return markdown(["perplexity", *(f"{value:,.1f}" for value in row["perplexities"])], lines)


def _figure_2(row: Row) -> str:
    end = row["samplers"][GIBBS]["seconds"]
    marks = [end * share for share in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)]
    lines = []
    for sampler, of in row["samplers"].items():
        seconds, values = np.array(of["series"]["seconds"]), of["series"]["likelihood"]
        at = [int(np.searchsorted(seconds, mark + 1e-3, side="right")) - 1 for mark in marks]
        lines.append([sampler, *(f"{values[i]:.4f}" if i >= 0 else "-" for i in at)])
    return markdown(["seconds", *(f"{mark:.1f}" for mark in marks)], lines)


def _nmi_table(rows: dict[str, Row]) -> str:
    systems = (GIBBS, MH, BLOCKED, FREQUENCY)
    head = ["corpus", "K", "runs", *systems, "clusters of gibbs"]
    head += ["paper: K: GSDMM, X-DMM, X-DMM parallel"]
    lines = []
    for key, row in rows.items():
        name, times = key.split(", ")[1:]
        which = 0 if times == "2" else 1
        of = row["systems"]
        cells = [mean_sd(of[s]["nmi_geometric"]) if s in of else "-" for s in systems]
        paper = f"{PAPER_K[name][which]}: {PAPER_NMI[name][which]}"
        n_runs, clusters = of[GIBBS]["nmi"]["n"], mean_sd(of[GIBBS]["n_clusters"], 1)
        lines.append([name, row["K"], n_runs, *cells, clusters, paper])
    return markdown(head, lines)


def _at(settled: dict[str, Any], sampler: str) -> str:
    """Sweeps and seconds to settle, as written in a table."""
    if sampler not in settled:
        return "skipped"
    at = settled[sampler]
    return "not reached" if at is None else f"{at['sweeps']}: {at['seconds']:.1f}"


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for key, row in rows.items():
        kind = key.split(", ")[0]
        if kind == "index":
            share = (
                f"{row['index_seconds'] / row['sampling_seconds']:.2%} of {row['sweeps']} sweeps"
            )
            found.append(Verdict(f"X-DMM Table 2: {key}, its share", "reported", share, None))
        if kind == "clusters" and MH in row["samplers"]:
            ours, theirs = (row["samplers"][s]["levels"][-1] for s in (MH, GIBBS))
            what = f"metropolis and gibbs to the same perplexity, ohsumed, K = {row['K']}"
            measured = " and ".join(
                "not reached" if at is None else f"{at['seconds']:.1f} s" for at in (ours, theirs)
            )
            found.append(Verdict(what, "reported", measured, None))
        if kind == "nmi":
            means = {s: of["nmi_geometric"]["mean"] for s, of in row["systems"].items()}
            rest = ", ".join(
                f"{s} {value - means[GIBBS]:+.3f}" for s, value in means.items() if s != GIBBS
            )
            what = f"X-DMM Table 5: {key.removeprefix('nmi, ')}x the classes: geometric NMI"
            found.append(Verdict(what, "reported", f"gibbs {means[GIBBS]:.3f}; {rest}", None))
    return found
