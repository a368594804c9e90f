"""What is measured for the X-DMM paper: index, time by K, perplexity, agreement, threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from math import exp
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...harness.data import Corpus, cut, load
from ...harness.probe import Watch
from ...harness.scores import score
from ...harness.seeds import over_seeds
from ...harness.store import Options, Results, Row, say
from ...harness.systems import SYSTEMS
from . import show
from .chains import Chain, chain, end, online_labels, reached, series, warm_chain
from .show import BLOCKED, CORPORA, DRAWN, GIBBS, KMEANS, LDA, MEAN, MH, ONLINE, SPAN

SECTIONS = ("nmi", "index", "clusters", "perplexity", "threads", "opened", "baselines")
TEXTS = {"ohsumed": "ohsumed_all", "reuters": "reuters21578"}
RANDOM = dict(sampler=GIBBS, init="random", n_sweeps=30)
FITS: dict[str, tuple[str, dict[str, Any]]] = {
    GIBBS: ("gsdmm", RANDOM),
    ONLINE: ("gsdmm", {**RANDOM, "init": "online"}),
    BLOCKED: ("gsdmm", dict(sampler=BLOCKED, n_sweeps=30)),
    show.FREQUENCY: ("gsdmm", RANDOM),
    MEAN: ("xdmm", dict(sampler=MEAN, n_sweeps=30)),
    MH: ("xdmm", dict(sampler=MH, n_sweeps=100)),
}
ONCE = (MEAN, BLOCKED, show.FREQUENCY)  # at twice the classes only
MOST_SWEEPS = 2000
LARGE = 30_000  # texts drawn; the nytimes of the paper has 300,000


class Size(NamedTuple):
    """How much is measured: one text in `step`, runs, sweeps, values of K."""

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
    """One fit that is scored and not timed. K is `times` the number of classes."""

    name: str
    times: int
    label: str
    step: int
    lda_sweeps: int = 0
    seed: int = 0


def run(options: Options) -> None:
    results = Results("papers/xdmm", options)
    size = QUICK if options.quick else Size()
    for section in options.choose(SECTIONS, quick=len(SECTIONS)):
        if section == "nmi":
            results.fill(_scored, _tasks(options.times(size.seeds, size.seeds), size.step))
        elif section == "baselines":
            n_runs = options.times(size.baselines, size.baselines)
            results.fill(_scored, _baselines(n_runs, size))
        else:
            for key, make in _once(section, size, options).items():
                results.once(key, partial(make, size))


def _once(section: str, size: Size, options: Options) -> dict[str, Callable[[Size], Row]]:
    """By the key of a row, what measures it."""
    if section == "clusters":
        return {f"clusters, {k}": partial(_clusters, k) for k in size.by_k}
    if section == "perplexity":
        n = options.times(size.chains, size.chains)
        pairs = [*((SPAN, seed) for seed in range(n)), (DRAWN, 0)]
        return {f"perplexity, {name}, seed {i}": partial(_perplexity, name, i) for name, i in pairs}
    if section == "threads":
        each = [(name, sampler) for name in ("20ng", SPAN) for sampler in (BLOCKED, MEAN)]
        return {f"threads, {name}, {of}": partial(_threads, name, of) for name, of in each}
    make = {"index": _index, "opened": _opened}[section]
    return {f"{section}, {name}": partial(make, name) for name in CORPORA}


def _texts(name: str, step: int) -> Corpus:
    """One text in `step`, cut into words."""
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
    """A stand-in for nytimes: texts of 331 words on average, drawn from a model of a small sample
    of that newspaper, and the cluster of each."""
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
    tasks: dict[str, Task] = {}
    for name in sorted(CORPORA, key=lambda name: name != SPAN):
        for times in (4, 2):
            for label in FITS if times == 2 else [label for label in FITS if label not in ONCE]:
                task = Task(name, times, label, step)
                tasks |= over_seeds(show.key(name, times, label), task, n_seeds)
    return tasks


def _baselines(n_seeds: int, size: Size) -> dict[str, Task]:
    """Table 5's k-means, then its LDA, the smallest corpus first."""
    tasks: dict[str, Task] = {}
    for label in (KMEANS, LDA):
        for name in ("reuters", "20ng", "ohsumed"):
            for times in (2, 4):
                task = Task(name, times, label, size.step, size.lda_sweeps)
                tasks |= over_seeds(show.key(name, times, label), task, n_seeds)
    return tasks


def _scored(task: Task) -> Row:
    texts, classes = (_corpus if task.label in FITS else _texts)(task.name, task.step)
    k = task.times * len(set(classes))
    system, settings = "lda", dict[str, Any](alpha=50 / k, beta=0.1, n_sweeps=task.lda_sweeps)
    if task.label == KMEANS:
        system, settings = "kmeans", dict(n_init=1)
    elif task.label in FITS:
        system, own = FITS[task.label]
        settings = dict(alpha=0.1, beta=0.1, n_jobs=1) | own
    if task.label == show.FREQUENCY:
        from coterie import word_beta

        settings["beta"] = word_beta(texts, mean=0.1, by="frequency")
    labels, _ = SYSTEMS[system](texts, task.seed, Watch(), n_clusters=k, **settings)
    found = score(classes, labels.tolist())
    return {"K": k, **{name: round(value, 4) for name, value in found.items()}}


def _opened(name: str, size: Size) -> Row:
    """How many clusters the online start opens, with the texts in the given order and shuffled."""
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
    target = end(plain) - show.NEAR
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
    """The other chains: metropolis has as many seconds as gibbs, the others as many sweeps."""
    return {
        ONLINE: sweep(GIBBS, n_sweeps, start="online", **how),
        MH: sweep(MH, MOST_SWEEPS, max_seconds=sum(plain.seconds), **how),
        show.PARALLEL: sweep(BLOCKED, n_sweeps, n_jobs=os.cpu_count() or 1, **how),
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
            "settled": reached(of, target - show.NEAR),
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
    row["perplexities"] = [exp(-target) * level for level in show.LEVELS]
    for label, of in chains.items():
        levels = [reached(of, target - float(np.log(level))) for level in show.LEVELS]
        row["chains"][label] = {
            "seconds": sum(of.seconds),
            "sweeps": len(of.seconds),
            "perplexity": exp(-end(of)),
            "levels": [at and at["seconds"] for at in levels],
            "series": series(of),
        }
    last = ", ".join(f"{label} {of['levels'][-1]}" for label, of in row["chains"].items())
    say(f"perplexity, {name}, {seed}: seconds to the last level: {last}")
    return row


def _threads(name: str, sampler: str, size: Size) -> Row:
    """Figure 3: seconds per sweep by the number of threads, in turns; the fastest of the later sweeps
    of a turn, because a disturbance only adds time."""
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
