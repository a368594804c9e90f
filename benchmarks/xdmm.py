"""X-DMM's tables and figures, measured: index, time and sweeps by K, perplexity, agreement, threads."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from math import exp
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .chains import Chain, chain, end, online_labels, reached, series, warm_chain
from .data import Corpus, cut, load
from .papers import fits
from .scores import score
from .store import Options, Results, Row, say
from .tables import Verdict
from .xdmm_tables import (
    BLOCKED,
    CORPORA,
    DRAWN,
    FREQUENCY,
    GIBBS,
    KMEANS,
    LDA,
    MEAN,
    MH,
    NEAR,
    ONLINE,
    PARALLEL,
    SPAN,
    all_tables,
    by_cell,
    means,
    of_section,
    shown_at,
)

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
    "share of all words and averages .1. K-means is scikit-learn's on tf-idf rows of length 1 (so by the "
    "cosine), one start a run; LDA is tomotopy's with alpha = 50/K and beta = .1, 100 sweeps, and a text "
    "goes to its largest topic."
)
SECTIONS = ("nmi", "index", "clusters", "perplexity", "threads", "opened", "baselines")
TEXTS = {"ohsumed": "ohsumed_all", "reuters": "reuters21578"}
SWEEPS = {GIBBS: 30, ONLINE: 30, BLOCKED: 30, FREQUENCY: 30, MEAN: 30, MH: 100}
ONCE = (MEAN, BLOCKED, FREQUENCY)  # at twice the classes only
MOST_SWEEPS = 2000
LARGE = 30_000  # texts drawn; the nytimes of the paper has 300,000
LEVELS = (
    1.02,
    1.01,
    1.005,
    1.002,
)  # of the perplexity that the worse of gibbs and metropolis ends with


class Size(NamedTuple):
    """How much is measured: every so-manieth text, runs, sweeps, values of K."""

    step: int = 1
    seeds: int = 5
    index_sweeps: int = 50
    sweeps: int = 30
    by_k: tuple[int, ...] = (20, 80, 160, 240)
    k: int = 200
    chains: int = 3
    turns: int = 5
    baselines: int = 3  # runs of k-means and LDA
    lda_sweeps: int = 100


QUICK = Size(24, 2, 10, 12, by_k=(20, 80), k=40, chains=2, turns=2, baselines=2, lda_sweeps=10)


class Task(NamedTuple):
    """One fit that is only scored."""

    name: str
    times: int  # K in classes
    system: str
    seed: int
    step: int
    lda_sweeps: int = 0


def run(options: Options) -> dict[str, Row]:
    results = Results("xdmm", options)
    size = QUICK if options.quick else Size()
    sections = options.choose(SECTIONS, quick=len(SECTIONS))
    if "nmi" in sections:
        results.fill(_scored, _tasks(options.times(size.seeds, size.seeds), size.step))
    if "index" in sections:
        for name in CORPORA:
            results.once(f"index, {name}", partial(_index, name, size))
    if "clusters" in sections:
        for k in size.by_k:
            results.once(f"clusters, {k}", partial(_clusters, k, size))
    if "perplexity" in sections:
        for seed in range(options.times(size.chains, size.chains)):
            results.once(f"perplexity, {SPAN}, {seed}", partial(_perplexity, SPAN, seed, size))
        results.once(f"perplexity, {DRAWN}, 0", partial(_perplexity, DRAWN, 0, size))
    if "threads" in sections:
        for name in ("20ng", SPAN):
            for sampler in (BLOCKED, MEAN):
                make = partial(_threads, name, sampler, size)
                results.once(f"threads, {name}, {sampler}", make)
    if "opened" in sections:
        for name in CORPORA:
            results.once(f"opened, {name}", partial(_opened, name, size))
    if "baselines" in sections:
        for tasks in _baselines(options.times(size.baselines, size.baselines), size):
            try:
                results.fill(_scored, tasks)
            except ModuleNotFoundError as problem:
                say(f'left out: {problem}. Try: pip install "coterie[bench]"')
    return results.rows


def _texts(name: str, step: int) -> Corpus:
    """Every so-manieth text, cut into words."""
    if name == "20ng":
        corpus = load("20ng_tokens")
        return Corpus(corpus.documents[::step], corpus.classes[::step])
    return cut(TEXTS[name], min_df=1, every_label=name == "ohsumed", step=step)


@lru_cache(maxsize=3)
def _corpus(name: str, step: int) -> tuple[Any, list[str]]:
    """Word counts as a CSR, and classes."""
    from sklearn.feature_extraction.text import CountVectorizer

    if name == DRAWN:
        return drawn(LARGE // step)
    corpus = _texts(name, step)
    matrix = CountVectorizer(analyzer=list).fit_transform(corpus.documents)  # words are cut already
    return matrix, corpus.classes


def drawn(n_docs: int) -> tuple[Any, list[str]]:
    """A stand-in for nytimes: texts of 331 words on average, drawn from a model fitted to the small
    sample of that newspaper that is here, and the cluster of each."""
    import coterie

    rng = np.random.default_rng(2019)
    documents = load("nyt_topmost_bow").documents
    model = coterie.GSDMM(200, n_sweeps=10, random_state=0).fit(documents)
    sizes = model.cluster_sizes_ / model.cluster_sizes_.sum()
    z = np.sort(rng.choice(len(sizes), n_docs, p=sizes))
    length = np.array([len(doc) for doc in documents])
    length = np.rint(rng.choice(length, n_docs) * (331 / length.mean())).clip(1).astype(np.int64)
    words = []
    for k, phi in enumerate(model.model_.word_matrix()):
        cumulated = np.cumsum(phi)
        u = rng.random(int(length[z == k].sum())) * cumulated[-1]
        words.append(np.searchsorted(cumulated, u).astype(np.int32))
    ends = np.concatenate([[0], np.cumsum(length)])
    tokens = np.concatenate(words)
    shape = (n_docs, model.model_.word_matrix().shape[1])
    matrix = sp.csr_matrix((np.ones(len(tokens), np.int32), tokens, ends), shape)
    matrix.sum_duplicates()
    order = rng.permutation(n_docs)
    return matrix[order], [str(k) for k in z[order]]


def _tasks(n_seeds: int, step: int) -> dict[str, Task]:
    """Table 5, and Figure 4 at K = 2x the classes; corpus by corpus, the longest first."""
    tasks = [
        Task(name, times, system, seed, step)
        for name in sorted(CORPORA, key=lambda name: name != SPAN)
        for times in (4, 2)
        for seed in range(n_seeds)
        for system in SWEEPS
        if times == 2 or system not in ONCE
    ]
    return _keyed(tasks)


def _baselines(n_seeds: int, size: Size) -> list[dict[str, Task]]:
    """Table 5's k-means, then its LDA, the smallest corpus first."""
    return [
        _keyed(
            [
                Task(name, times, system, seed, size.step, size.lda_sweeps)
                for name in ("reuters", "20ng", "ohsumed")
                for times in (2, 4)
                for seed in range(n_seeds)
            ]
        )
        for system in (KMEANS, LDA)
    ]


def _keyed(tasks: list[Task]) -> dict[str, Task]:
    return {f"nmi, {t.name}, {t.times}, {t.system}, {t.seed}": t for t in tasks}


def _scored(task: Task) -> Row:
    labels, classes, k = (_others if task.system in (KMEANS, LDA) else _ours)(task)
    found = score(classes, labels)
    return {"K": k, **{name: round(value, 4) for name, value in found.items()}}


def _others(task: Task) -> tuple[Any, list[str], int]:
    """The labels of k-means or LDA as the paper sets them."""
    corpus = _texts(task.name, task.step)
    k = task.times * len(set(corpus.classes))
    if task.system == KMEANS:
        labels = fits.kmeans(corpus, task.seed, _unwatched, n_clusters=k, n_init=1)
    else:
        n = task.lda_sweeps
        how: dict[str, Any] = dict(alpha=50 / k, eta=0.1, n_sweeps=n, step=n)
        labels = fits.lda(corpus, task.seed, _unwatched, n_clusters=k, **how)
    return labels, corpus.classes, k


def _unwatched(sweep: int, labels: Any) -> None:
    """Nobody looks on."""


def _ours(task: Task) -> tuple[Any, list[str], int]:
    """The labels of a sampler of DMM."""
    import coterie

    matrix, classes = _corpus(task.name, task.step)
    k = task.times * len(set(classes))
    settings: dict[str, Any] = dict(alpha=0.1, beta=0.1, n_sweeps=SWEEPS[task.system], n_jobs=1)
    settings["random_state"] = task.seed
    if task.system in (MH, MEAN):
        model = coterie.XDMM(k, sampler=task.system, **settings)
    elif task.system == BLOCKED:
        model = coterie.GSDMM(k, sampler=BLOCKED, **settings)
    else:
        if task.system == FREQUENCY:
            settings["beta"] = coterie.word_beta(matrix, mean=0.1, by="frequency")
        start = "online" if task.system == ONLINE else "random"
        model = coterie.GSDMM(k, sampler=GIBBS, init=start, **settings)
    return model.fit(matrix).labels_.tolist(), classes, k


def _opened(name: str, size: Size) -> Row:
    """What the pass of an online start opens, in the given order of the texts and in another."""
    matrix, classes = _corpus(name, size.step)
    order = np.random.default_rng(0).permutation(matrix.shape[0])
    found: Row = {"given": {}, "shuffled": {}}
    for times in (2, 4):
        k = times * len(set(classes))
        for label, texts in (("given", matrix), ("shuffled", matrix[order])):
            sizes = np.bincount(online_labels(texts, k))
            largest = float(sizes.max() / sizes.sum())
            found[label][str(k)] = {"clusters": int((sizes > 0).sum()), "largest": largest}
    say(f"opened, {name}: {found}")
    return found


def _index(name: str, size: Size) -> Row:
    """Table 2, Figures 5 and 6: K = the classes."""
    matrix, classes = _corpus(name, size.step)
    n_clusters = len(set(classes))
    sweep = partial(warm_chain, matrix, n_clusters)
    plain = sweep(GIBBS, size.index_sweeps, classes=classes)
    target = end(plain) - NEAR
    chains = {GIBBS: plain, **_rivals(sweep, plain, size.index_sweeps, target=target)}
    n_jobs = os.cpu_count() or 1
    chains[MEAN] = sweep(MEAN, size.index_sweeps, n_jobs=n_jobs, target=target)
    return {
        "K": n_clusters,
        "n_docs": matrix.shape[0],
        "n_words": matrix.shape[1],
        "mean_length": float(matrix.sum() / matrix.shape[0]),
        "index_seconds": plain.index_seconds,
        "sampling_seconds": sum(plain.seconds),
        "sweeps": size.index_sweeps,
        "settled": {label: reached(of, target) for label, of in chains.items()},
        "series": series(plain),
    }


def _rivals(sweep: Any, plain: Chain, n_sweeps: int, **how: Any) -> dict[str, Chain]:
    """The chains beside gibbs: metropolis has as many seconds, the others as many sweeps."""
    return {
        ONLINE: sweep(GIBBS, n_sweeps, start="online", **how),
        MH: sweep(MH, MOST_SWEEPS, max_seconds=sum(plain.seconds), **how),
        PARALLEL: sweep(BLOCKED, n_sweeps, n_jobs=os.cpu_count() or 1, **how),
    }


def _clusters(n_clusters: int, size: Size) -> Row:
    """Table 3."""
    matrix, _ = _corpus(SPAN, size.step)
    sweep = partial(warm_chain, matrix, n_clusters)
    plain = sweep(GIBBS, size.sweeps)
    chains = {GIBBS: plain, MH: sweep(MH, MOST_SWEEPS, max_seconds=sum(plain.seconds))}
    target = min(end(of) for of in chains.values())
    row: Row = {"K": n_clusters, "n_docs": matrix.shape[0], "samplers": {}}
    for sampler, of in chains.items():
        row["samplers"][sampler] = {
            "seconds_a_sweep": median(of.seconds[-min(20, len(of.seconds) // 2) :]),
            "settled": reached(of, target - NEAR),
            "switched": of.drawn.index(MH) + 1 if MH in of.drawn else None,
            "sweeps": len(of.seconds),
            "seconds": sum(of.seconds),
            "perplexity": exp(-end(of)),
        }
    return row


def _perplexity(name: str, seed: int, size: Size) -> Row:
    """Table 6 and Figure 2."""
    matrix, classes = _corpus(name, size.step)
    sweep = partial(warm_chain, matrix, size.k, seed=seed, classes=classes)
    plain = sweep(GIBBS, size.sweeps)
    chains = {GIBBS: plain, **_rivals(sweep, plain, size.sweeps)}
    target = min(end(chains[label]) for label in (GIBBS, MH))
    row: Row = {"K": size.k, "n_docs": matrix.shape[0], "chains": {}}
    row["perplexities"] = [exp(-target) * level for level in LEVELS]
    for label, of in chains.items():
        levels = [reached(of, target - float(np.log(level))) for level in LEVELS]
        row["chains"][label] = {
            "seconds": sum(of.seconds),
            "sweeps": len(of.seconds),
            "perplexity": exp(-end(of)),
            "levels": [at and at["seconds"] for at in levels],
            "series": series(of),
        }
    say(f"perplexity, {name}, {seed}: seconds to the last level: {_last(row)}")
    return row


def _last(row: Row) -> str:
    return ", ".join(f"{label} {of['levels'][-1]}" for label, of in row["chains"].items())


def _threads(name: str, sampler: str, size: Size) -> Row:
    """Figure 3: seconds a sweep on one thread and more, the numbers of threads in turns; the least of the
    later sweeps of a turn, since what disturbs a sweep only adds."""
    matrix, classes = _corpus(name, size.step)
    n_clusters, cores = len(set(classes)), os.cpu_count() or 1
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= cores]
    seconds: dict[str, list[float]] = {str(n): [] for n in counts}
    chain(matrix[:300], n_clusters, sampler, 2, n_jobs=cores)  # compiles
    for turn in range(size.turns):
        for n in counts[:: 1 if turn % 2 else -1]:
            of = chain(matrix, n_clusters, sampler, size.sweeps, seed=turn, n_jobs=n)
            seconds[str(n)].append(min(of.seconds[size.sweeps // 2 :]))
    say(f"threads, {name}, {sampler}: " + ", ".join(f"{n}: {s}" for n, s in seconds.items()))
    return {"K": n_clusters, "seconds": seconds}


def table(rows: dict[str, Row]) -> str:
    tables = all_tables(rows)
    return "\n\n".join(f"**{title}**\n\n{text}" for title, text in tables.items())


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for key, row in of_section(rows, "index").items():
        share = f"{row['index_seconds'] / row['sampling_seconds']:.2%} of {row['sweeps']} sweeps"
        found.append(Verdict(f"X-DMM Table 2: {key}, its share", "reported", share, None))
    for row in of_section(rows, "clusters").values():
        what = f"metropolis and gibbs settle, ohsumed, K = {row['K']} (sweeps: s)"
        both = [shown_at(row["samplers"][sampler]["settled"]) for sampler in (MH, GIBBS)]
        found.append(Verdict(what, "reported", " and ".join(both), None))
    for (name, times), cell in by_cell(rows).items():
        values = means(cell)
        rest = ", ".join(f"{s} {v - values[GIBBS]:+.3f}" for s, v in values.items() if s != GIBBS)
        what = f"X-DMM Table 5: {name}, {times}x the classes: geometric NMI"
        found.append(Verdict(what, "reported", f"gibbs {values[GIBBS]:.3f}; {rest}", None))
    return found
