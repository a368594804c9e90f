"""cluster(): texts in, the user's own table out, with the clusters beside it.

Reads, tokenizes, samples, then settles the labels: every text ends in its most probable cluster, so
that labels, probabilities and `predict` agree.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coterie import _allowed, _rng, sampler, urns
from coterie._allowed import Rule, either, nothing, number, whole
from coterie._sentence import Name, Sentence, counted, parameter
from coterie.backends import SamplerOptions, get_backend, threads
from coterie.clustering import ADDED, Clustering, Labels, Setting
from coterie.counts import Counts
from coterie.errors import InvalidInput, concerning
from coterie.model import Model
from coterie.seeds import EncodedSeeds, read
from coterie.state import Assignment, from_labels
from coterie.text import readers
from coterie.text.vectorize import Vectorizer

ALLOWED: dict[str, Rule] = {
    "n_clusters": either(nothing, whole(1, 2**53)),
    "alpha": number(0.0, inclusive=False, high=1e100),
    "beta": number(0.0, inclusive=False, high=1e9),
    "n_sweeps": whole(1),
    "random_state": whole(0),
    "n_jobs": either(nothing, whole(1), lambda v: None if v == -1 else "-1"),
    "max_time": either(nothing, number(0.0, inclusive=False)),
    "callbacks": _allowed.callables,
    "header": either(nothing, _allowed.flag),
}
SEEDS = parameter("seeds", "cluster")
ALPHA, BETA, SWEEPS, TOL = 0.1, 0.2, 40, 2e-4
PASSES = 20  # of settling, at most


def cluster(
    data: Any,
    text: str | None = None,
    *,
    id: str | None = None,
    seeds: Any = None,
    seed_weight: float | dict[str, float] | Sequence[float] = 1.0,
    n_clusters: int | None = None,
    alpha: float = ALPHA,
    beta: float = BETA,
    n_sweeps: int = SWEEPS,
    tokenizer: Any = None,
    language: str | None = "auto",
    min_df: int | float | str = "auto",
    max_df: int | float | str = "auto",
    tie_duplicates: bool = True,
    encoding: str | None = None,
    header: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_time: float | None = None,
    callbacks: Sequence[Callable[[sampler.Event], Any]] = (),
    on_stage: Callable[[str], Any] | None = None,
) -> Clustering:
    """Group texts that share interests, and say what each group is about.

    Parameters
    ----------
    data : path, list of str, pandas or polars Series or DataFrame, or an open file
        csv, tsv, jsonl, parquet, txt (a text a line) or a folder of txt files, gzip or not.
    text : str
        The column that holds the texts; found when there is one obvious candidate.
    id : str
        The column that names the rows.
    seeds : dict, path or model
        Topics you expect: name -> words, a text or {word: weight}; a yaml, json or csv file of these; or
        an earlier clustering, whose clusters are then the seeds. Their clusters bear their names;
        others may be found beside them, and `seed_report()` tells what became of each.
    seed_weight : float, dict or list
        Confidence in the seeds: pseudo-texts of each, for all, by name or in order.
    n_clusters : int
        Clusters at most; usually fewer are found. None lets the number of texts decide.
    alpha : float
        Pseudo-texts in every cluster: a larger one opens clusters more readily.
    beta : float
        Pseudo-occurrences of every word in every cluster. Larger: fewer, broader clusters.
    n_sweeps : int
        Passes over the texts, at most; it stops earlier when nothing gets better.
    tokenizer : Tokenizer or CountVectorizer-like object
        How texts become words; the default finds the language.
    language : str
        A two-letter code, for names without stop words and for lemmas; found by default.
    min_df, max_df : int, share or "auto"
        Leave out words of fewer texts than min_df, and of more texts than max_df.
    encoding : str
        A file's encoding, where it is not found by itself.
    header : bool
        Whether the first line of a csv or tsv file names the columns. By default the first line is
        compared with the others, and a note tells what was decided where it is not obvious.
    n_jobs : int
        Threads for settling, and for sampling large data; the clusters do not depend on it.
    tie_duplicates : bool
        Keep texts with identical words in one cluster.
    random_state : int
        The seed. The same seed, data, settings and version of coterie give the same clusters.
    max_time : float
        Seconds after which to stop, with what was found so far.
    callbacks : list of callables
        Called after every sweep; `coterie.Progress()` shows a bar.
    on_stage : callable
        Called with "reading", "words", "sampling" and "settling" as each of them begins.

    Examples
    --------
    >>> import coterie
    >>> groups = coterie.cluster(["red apple pie", "apple pie recipe", "fast car race", "car race"])
    >>> groups.table.columns
    ['text', 'cluster', 'probability', 'outlier_score']
    """
    began = time.perf_counter()
    values = {name: value for name, value in locals().items() if name in ALLOWED}
    _allowed.check("cluster", ALLOWED, values)
    if seeds is None and not (isinstance(seed_weight, int | float) and seed_weight == 1.0):
        raise InvalidInput(
            parameter("seed_weight", "cluster")
            + " weighs seeds, but there are none; pass "
            + Sentence(Name("seeds", "seeds=", ""))
            + " too."
        )
    if seeds is not None:  # a mistake in them shows before a long file is read
        with concerning("seeds"):
            read(seeds, weight=seed_weight, owner=SEEDS)
    enter = on_stage or (lambda stage: None)
    enter("reading")
    rows = readers.read(data, text=text, id=id, encoding=encoding, header=header)
    enter("words")
    vectorizer, corpus, notes = Vectorizer.learn(
        rows.texts, tokenizer, language, min_df, max_df, tie_duplicates
    )
    if rows.n_missing:
        notes.append(f"{counted(rows.n_missing, 'row')} without text: cluster -1.")
    names = rows.names_for(ADDED)
    if names != list(ADDED):
        notes.append(f"Your table has such columns already, so ours are called {', '.join(names)}.")
    known = None
    if seeds is not None:
        repeat = default_repeat(beta * len(vectorizer.words))
        with concerning("seeds"):
            topics = read(seeds, repeat=repeat, weight=seed_weight, owner=SEEDS)
            known = topics.encode(vectorizer.words, vectorizer.cut, cut_all=vectorizer.cut_all)
        notes += topics.notes
        notes += _about(known)
    cap = n_clusters if n_clusters is not None else default_cap(corpus.counts, known)
    urn = urns.finite(cap, alpha, urns.per_word(beta, corpus.counts.n_words))
    urn = urn if known is None else _planted(urn, known, corpus.counts)
    plan = sampler.Plan(
        n_sweeps=n_sweeps,
        init="random" if known is None else "anchored",
        key=_rng.key_from_seed(random_state),
        options=SamplerOptions("auto", n_jobs=threads(n_jobs)),
        tol=TOL,
        max_time=max_time,
        callbacks=tuple(callbacks),
    )
    enter("sampling")
    run = sampler.run(corpus.counts, urn, plan, get_backend())
    enter("settling")
    model, labels, agreement = settle(
        corpus.counts, run.urn, run.assignment, vectorizer.words, n_jobs, known
    )
    n_seeds = urn.seeds.weight.size
    found, room = model.n_clusters - n_seeds, cap - n_seeds
    if found >= 0.9 * room:
        beside = " beside the seeds" if n_seeds else ""
        notes.append(
            f"{found} of at most {room} clusters{beside} are in use: there may be more to find; raise "
            + parameter("n_clusters")
            + "."
        )
    return Clustering(
        rows=rows,
        vectorizer=vectorizer,
        model=model,
        labels=corpus.per_row(labels, -1),
        trace=run.trace,
        notes=[*rows.notes, *notes],
        settings=_settings(urn, n_clusters is None, alpha, beta, run, random_state),
        agreement=agreement,
        converged=run.converged,
        reason=run.reason,
        stop=run.stop,
        seconds=time.perf_counter() - began,
        corpus=corpus,
    )


def default_cap(counts: Counts, seeds: EncodedSeeds | None = None) -> int:
    """Clusters to allow: generous, since those not needed die out, yet bounded by the texts.

    Seeds come on top.
    """
    n_docs = int(counts.weight.sum())
    n_seeds = 0 if seeds is None else len(seeds.names)
    return n_seeds + max(2, min(1000, round(8 * math.sqrt(n_docs)), n_docs))


def default_repeat(pseudo_words: float) -> int:
    """How often the words of a seed's list count: ten times, as in the TSDPMM paper, or fewer.

    A seed of five words should hold a tenth of the pseudo-words that every cluster has: a larger one
    would keep out texts that share some of its words, but not all.
    """
    return max(1, min(10, round(0.1 * pseudo_words / 5)))


def _planted(urn: urns.Urn, seeds: EncodedSeeds, counts: Counts) -> urns.Urn:
    if urn.sizes.cap < len(seeds.names):
        raise InvalidInput(
            parameter("n_clusters", "cluster")
            + f" is {urn.sizes.cap}, but there are {len(seeds.names)} seeds; allow at least as many"
            " clusters."
        )
    urn = urns.seeded(urn, seeds.weight, seeds.ptr, seeds.word, seeds.count)
    urns.check_room(urn, counts)
    return urn


def _about(seeds: EncodedSeeds) -> list[str]:
    """Notes on what of the seeds is not among the words of the texts."""
    notes = []
    if seeds.left_out:
        n, one = len(seeds.left_out), len(seeds.left_out) == 1
        notes.append(
            f"{n} seed{' shares' if one else 's share'} no word with these texts and"
            f" {'is' if one else 'are'} left out."
        )
    unknown = [(name, row) for name, row in zip(seeds.names, seeds.unknown, strict=True) if row]
    if not unknown:
        return notes
    name, row = unknown[0]
    words = ", ".join(row[:3]) + (", ..." if len(row) > 3 else "")
    others = len(unknown) - 1
    more = f", and of {others} other seed{'s' * (others > 1)}" if others else ""
    return [
        *notes,
        f"Words of seeds that no text holds, or that are not kept: {words} ({name}){more}; "
        + Sentence(Name("seed_report()", "`seed_report()`"))
        + " lists them.",
    ]


def settle(
    counts: Counts,
    urn: urns.Urn,
    assignment: Assignment,
    words: list[str],
    n_jobs: int | None = None,
    seeds: EncodedSeeds | None = None,
) -> tuple[Model, Labels, float]:
    """Move every document to its most probable cluster, until none moves (or PASSES times).

    Returns the model of these labels, the labels, and the share of documents whose label is the
    model's own prediction: 1 when a fixed point was reached.
    """
    named = () if seeds is None else (seeds.names, seeds.unknown)
    model, cluster_of = Model.freeze(urn, counts, assignment, words, *named)
    labels = cluster_of[assignment.labels].astype(np.int64)
    for _ in range(PASSES):
        best = model.predict(counts, n_jobs=n_jobs)
        if (best == labels).all():
            return model, labels, 1.0
        assignment = from_labels(counts, urn, model.slots(best)).assignment
        model, cluster_of = Model.freeze(urn, counts, assignment, words, *named)
        labels = cluster_of[assignment.labels].astype(np.int64)
    agree = model.predict(counts, n_jobs=n_jobs) == labels
    return model, labels, float(np.average(agree, weights=counts.weight))


def _settings(
    urn: urns.Urn, auto: bool, alpha: float, beta: float, run: sampler.Run, seed: int
) -> list[Setting]:
    why_cap = "8 times the square root of the number of texts, 1000 at most" if auto else "as asked"
    why_cap += ", and the seeds" if auto and urn.seeds.weight.size else ""
    stopped = {"sweeps": "as many as allowed", "settled": "nothing got better any more"}.get(
        run.stop.kind, run.stop.words
    )
    return [
        Setting("clusters at most", str(urn.sizes.cap), f"{why_cap}; those not needed die out"),
        Setting("beta", f"{beta:g}", "how much two texts may differ: larger gives fewer clusters"),
        Setting("alpha", f"{alpha:g}", "how readily a text opens a cluster of its own"),
        Setting("sweeps", str(len(run.trace)), f"passes over all texts; {stopped}"),
        Setting(
            "seed",
            str(seed),
            "the same clusters for the same texts, settings and version",
        ),
    ]
