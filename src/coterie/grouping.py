"""cluster(): texts in, the user's own table out, with the clusters beside it.

Reads, tokenizes, samples, then settles the labels: every text ends in its most probable cluster, so
that labels, probabilities and `predict` agree.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie import _allowed, editing, expecting, explaining, fitting, urns
from coterie import checkpoint as _saved
from coterie._allowed import Rule, either, nothing, number, one_of, whole
from coterie._habits import pointing
from coterie._records import recorded
from coterie._sentence import counted, parameter
from coterie.backends import SamplerOptions, backend_names, get_backend, sampler_names
from coterie.choosing import Choice, cap
from coterie.clustering import ADDED, Clustering, table_of
from coterie.counts import Corpus
from coterie.embedders import Embedder, resolve
from coterie.errors import InvalidInput, concerning
from coterie.frozen import promoting_words
from coterie.locating import Embedding
from coterie.merging import MergeClusters
from coterie.sample_start import Sampling
from coterie.sampler import Event, Plan
from coterie.seeds import EncodedSeeds
from coterie.splitting import SplitMerge
from coterie.text import readers, stopping
from coterie.text._which_files import files_read
from coterie.text.vectorize import Vectorizer

if TYPE_CHECKING:
    from coterie.estimators._base import BaseMixture

ALLOWED: dict[str, Rule] = {
    "n_clusters": either(nothing, whole(1, 2**53)),
    "max_clusters": either(nothing, whole(1, 2**53)),
    "levels": _allowed.flag,
    "outliers": either(one_of("flag", "own"), number(0.0, inclusive=False, high=0.5)),
    "alpha": number(0.0, inclusive=False, high=1e100),
    "beta": either(one_of("auto"), number(0.0, inclusive=False, high=1e9)),
    "n_sweeps": whole(1),
    "random_state": whole(0),
    "n_jobs": either(nothing, whole(1), _allowed.minus_one),
    "max_time": either(nothing, number(0.0, inclusive=False)),
    "kappa": either(one_of("auto"), number(0.0, inclusive=True, high=1e6)),
    "sampler": one_of("auto", *sampler_names()),
    "backend": one_of("auto", *backend_names()),
    "checkpoint": either(nothing, _allowed.path),
    "callbacks": _allowed.callables,
    "header": either(nothing, _allowed.flag),
    "sheet": either(nothing, _allowed.name),
    "tie_duplicates": _allowed.flag,
    "on_stage": either(nothing, _allowed.function),
    "on_progress": either(nothing, _allowed.function),
}
ALPHA, BETA, SWEEPS, TOL = 0.1, "auto", 40, 2e-4
DEFAULT_TAKES = ("alpha", "beta", "n_sweeps", "tie_duplicates", "embedder", "kappa")
MERGE_AFTER = (10, 20, 30)  # sweeps after which clusters are merged while the joint rises
SPLIT_AFTER = (5, 12, 15, 18, 22, 26)  # and those after which splits and merges are proposed
# A large corpus: its clusters are found in a sample of so many texts. Then there are so many times fewer
# sweeps over all texts, with merges after these. The first draws a text among all clusters, and lists so
# many that are likely; the others draw it among these.
SAMPLED, FEWER, MERGE_ALL_AFTER, LISTED = 25_000, 10, (1,), 16
# What a model that was passed decides by itself, and what it is otherwise.
MODEL_DECIDES: dict[str, Any] = {
    "seeds": None,
    "seed_weight": 1.0,
    "n_clusters": None,
    "max_clusters": None,
    "alpha": ALPHA,
    "beta": BETA,
    "n_sweeps": SWEEPS,
    "kappa": "auto",
    "embedder": "auto",
}


@pointing
@recorded
def cluster(
    data: Any,
    text: str | Sequence[str] | None = None,
    *,
    id: str | None = None,
    model: BaseMixture | None = None,
    seeds: Any = None,
    seed_weight: float | dict[str, float] | Sequence[float] = 1.0,
    n_clusters: int | None = None,
    max_clusters: int | None = None,
    levels: bool = True,
    outliers: str | float = "flag",
    alpha: float = ALPHA,
    beta: float | str = BETA,
    n_sweeps: int = SWEEPS,
    embedder: Any = "auto",
    kappa: float | str = "auto",
    sampler: str = "auto",
    backend: str = "auto",
    tokenizer: Any = None,
    language: str | None = "auto",
    stop_words: Any = "auto",
    min_df: int | float | str = "auto",
    max_df: int | float | str = "auto",
    tie_duplicates: bool = True,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_time: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callbacks: Sequence[Callable[[Event], Any]] = (),
    on_stage: Callable[[str], Any] | None = None,
    on_progress: Callable[[str, int, int], Any] | None = None,
) -> Clustering:
    """Group texts that share interests, and say what each group is about.

    Parameters
    ----------
    data : path, list of str, pandas or polars Series or DataFrame, Dask DataFrame, or an open file
        A csv, tsv, xlsx, jsonl or parquet file, a txt file with one text per line, or a folder of txt
        files; may be gzipped. A pattern such as `"tickets-*.csv"` or a list of `Path` objects is read as
        one table. A Dask DataFrame stays on its workers: see `cluster_large`.
    text : str or list of str
        The column that holds the texts, or several to read as one. Not needed if there is one obvious
        candidate.
    id : str
        The column that identifies the rows.
    model : GSDMM, GSDPMM, TSDPMM, GPUDMM or XDMM
        The model to fit, with its own parameters, instead of the default one. Then `n_clusters`,
        `alpha`, `beta`, `n_sweeps` and `seeds` are those of the model.
    seeds : dict, path or model
        Topics you expect: a dict from names to words, to a text or to {word: weight}; a yaml, json or
        csv file with such a dict; or an earlier clustering, whose clusters become the seeds. Their
        clusters are named after them. Other clusters may be found beside them, and `seed_report()` says
        what became of each seed.
    seed_weight : float, dict or list
        Confidence in the seeds, as a number of pseudo-texts: one for all, by name or in order.
    n_clusters : int
        Exactly this many clusters. By default the number is found: the most informative one on which
        several runs agree. `groups.levels` has the others, and `groups.at(12)` gives 12 clusters.
    max_clusters : int
        At most this many clusters. By default it follows from the number of texts.
    levels : bool
        Compare several runs, to choose the number of clusters and to say how far each can be trusted.
        Without it, the clusters of a single run are returned, which takes less time.
    outliers : "flag", "own" or a share
        Which texts `groups.outliers` marks: those that are clearly apart from the others ("flag"), or
        this share of the most unusual ones. "own" also puts them into a cluster of their own.
    alpha : float
        Pseudo-texts in every cluster. With a larger value, new clusters open more readily.
    beta : float or "auto"
        Pseudo-occurrences of every word in every cluster. A larger value gives fewer, broader clusters.
        "auto" follows from the texts: the prior of a cluster is then worth 60 of them.
    n_sweeps : int
        Maximum number of passes over the texts. It stops earlier when nothing improves any more. From
        200,000 texts on, these passes are over a sample, and a tenth as many over all texts follow.
    embedder : "auto", None, str, path or callable
        Use vectors of the texts together with their words, so that texts which say the same thing in
        different words come together. "auto" is the table of token vectors that is installed with
        coterie. None or "none": words only. See `coterie.embedders.resolve` for the others.
    kappa : float or "auto"
        How much the vectors count; "auto" learns it from the texts.
    sampler : "auto", "gibbs", "blocked", "metropolis", "uncollapsed" or "em"
        How the clusters are drawn, as in `GSDMM`.
    backend : "auto", "cpu", "cuda", "sharded" or "dask"
        Where the clusters are drawn, as in `GSDMM`.
    tokenizer : Tokenizer or CountVectorizer-like object
        How texts are split into words. The default detects the language.
    language : str
        A two-letter code, which decides the stop words and the lemmas. Detected by default.
    stop_words : "auto", None, list of str or path
        Words to leave out. "auto": those of the language that say nothing about the subject, such as
        articles, pronouns and prepositions. A file holds one word per line.
    min_df, max_df : int, share or "auto"
        Leave out words that occur in fewer texts than min_df, or in more texts than max_df.
    tie_duplicates : bool
        Keep texts with identical words in one cluster. With `model`, its own setting counts.
    encoding : str
        The encoding of the file, if it is not detected correctly.
    header : bool
        Whether the first line of a csv or tsv file holds the column names. By default the first line is
        compared with the others, and a note says what was decided if that is not obvious.
    sheet : str
        The sheet of an Excel file. By default the first one with rows is read; a note names the others.
    random_state : int
        The seed. The same seed, data, settings and version of coterie give the same clusters.
    n_jobs : int
        Number of threads. The clusters do not depend on it.
    max_time : float
        Stop after this many seconds, with what was found by then.
    checkpoint : path
        A file to save the progress to. If it is already there, the run continues from it.
    callbacks : list of callables
        Called after every sweep. `coterie.Progress()` shows a progress bar.
    on_stage : callable
        Called with "reading", "vectors", "words", "sampling", "levels" and "settling" when each of them
        begins.
    on_progress : callable
        Called with "vectors", the number of texts embedded so far and the number of all texts, and with
        "levels", how much of the comparison of runs is done, and how much there is; for large data also
        with "sampling", the number of passes over the sample so far, and the most there may be.

    Examples
    --------
    >>> import coterie
    >>> groups = coterie.cluster(["red apple pie", "apple pie recipe", "fast car race", "car race"])
    >>> groups.table.columns
    ['text', 'cluster', 'name', 'probability', 'outlier_score', 'trust']
    """
    given = dict(locals())
    if readers.is_dask(data):
        return _on_workers(given)
    began = time.perf_counter()
    _allowed.check("cluster", ALLOWED, {name: given[name] for name in ALLOWED})
    n_clusters, max_clusters = map(_allowed.plain_int, (n_clusters, max_clusters))
    estimator = _estimator(given)
    # mistakes in the checkpoint, seeds, embedder or stop words show before a file is read
    _saved.check(estimator.checkpoint)
    topics = expecting.topics_of(estimator, seeds, seed_weight)
    source = _embedder(estimator, model is None)
    own = [getattr(estimator, name, None) for name in ("seeds", "word_vectors", "embedder")]
    read_from = files_read(data, seeds, stop_words, *own)
    stop_words = stopping.asked(stop_words)
    enter = on_stage or (lambda stage: None)
    tell = on_progress or (lambda stage, done, total: None)
    enter("reading")
    rows = readers.read(data, text=text, id=id, encoding=encoding, header=header, sheet=sheet)
    enter("vectors" if source is not None else "words")
    embedding, vectors = None, None
    if source is not None:
        told = partial(tell, "vectors")
        embedding, vectors = Embedding.of_texts(source, rows.texts, told, n_jobs)
        enter("words")
    how = (tokenizer, language, min_df, max_df, estimator.tie_duplicates, vectors, stop_words)
    vectorizer, corpus, notes = Vectorizer.learn(rows.texts, *how)
    if source is None and _is_auto(embedder) and model is None:
        notes.append(f"Words only: the sampler {sampler!r} cannot use vectors of the texts.")
    notes += _about_rows(rows)
    known = None
    if topics is not None:
        if model is None:
            topics = expecting.repeated(seeds, seed_weight, estimator._beta(corpus.counts))
        known = expecting.encoded(topics, vectorizer)
        notes += [*topics.notes, *explaining.about_seeds(known)]
    if model is None:
        estimator.n_clusters = cap(corpus.counts, known, n_clusters, max_clusters)
    task = _task(estimator, corpus, vectorizer.words, known, model is None)
    task = task._replace(plan=task.plan._replace(on_sample=partial(tell, "sampling")))
    enter("sampling")
    compares = levels and model is None
    on_levels, of_levels = partial(enter, "levels"), partial(tell, "levels")
    chosen = Choice(n_clusters, compares, n_jobs, on_levels, of_levels)
    fitted = fitting.fit(
        task,
        settle=True,
        n_jobs=n_jobs,
        on_settle=lambda: enter("settling"),
        then=lambda run: chosen(run, task),
    )
    if n_clusters is None:
        notes += explaining.about_cap(chosen.n_finest or fitted.model.n_clusters, task)
    notes += [
        *chosen.notes,
        *chosen.about_number(fitted.model.n_clusters),
        *explaining.about_convergence(fitted.run, task, int(estimator.n_sweeps)),
    ]
    groups = Clustering(
        rows=rows,
        vectorizer=vectorizer,
        notes=[*rows.notes, *notes],
        settings=explaining.settings_of(
            estimator, fitted.run, task, source, model is None, n_clusters
        ),
        seconds=time.perf_counter() - began,
        outlier_share=None if isinstance(outliers, str) else float(outliers),
        n_jobs=n_jobs,
        read_from=read_from,
        **_found(corpus, embedding, fitted),
        **chosen.kept(corpus, fitted),
    )
    if fitted.probability is not None:
        groups.__dict__["probability"] = corpus.per_row(fitted.probability, 0.0)
    joins = chosen.joins()
    if joins is not None:  # not made again, which takes as long as the report
        groups.__dict__["tree"] = table_of(joins)
    if outliers == "own":
        editing.set_apart(groups)
    return groups


def _about_rows(rows: readers.Rows) -> list[str]:
    """Notes about rows without text, and about columns that are called like ours."""
    notes = []
    if rows.n_missing:
        notes.append(f"{counted(rows.n_missing, 'row')} without text: cluster -1.")
    names = rows.names_for(ADDED)
    if names != list(ADDED):
        notes.append(f"Your table has such columns already, so ours are called {', '.join(names)}.")
    return notes


def _found(corpus: Corpus, embedding: Embedding | None, fitted: fitting.Fitted) -> dict[str, Any]:
    """What the run found, as arguments of `Clustering`."""
    run = fitted.run
    promotes = run.urn.relations.promotion
    return {
        "model": replace(fitted.model, mean=None if embedding is None else embedding.mean),
        "labels": corpus.per_row(fitted.labels, -1),
        "trace": run.trace,
        "agreement": fitted.agreement,
        "converged": run.converged,
        "reason": run.reason,
        "stop": run.stop,
        "corpus": corpus,
        "embedding": embedding,
        "promoting": promoting_words(corpus, fitted.flag) if promotes else None,
    }


def _on_workers(given: dict[str, Any]) -> Clustering:
    """Cluster a Dask DataFrame where it is; that room is above this one, so it is called by its name."""
    large = import_module("coterie.large").cluster_large
    takes, own = (inspect.signature(call).parameters for call in (large, cluster))
    for name, value in given.items():
        if name not in takes and value is not own[name].default:
            raise InvalidInput(
                parameter(name, "cluster") + " does not work for a Dask DataFrame. Leave it out."
            )
    found: Clustering = large(**{name: given[name] for name in given if name in takes})
    return found


def _estimator(given: dict[str, Any]) -> Any:
    """The estimator to fit: a copy of the user's model, or the default one; nothing is fitted yet."""
    from sklearn.base import clone

    from coterie.estimators import GSDMM
    from coterie.estimators._base import BaseMixture

    how = {
        name: given[name]
        for name in ("max_time", "checkpoint", "n_jobs")
        if given[name] is not None
    }
    how |= {name: given[name] for name in ("sampler", "backend") if given[name] != "auto"}
    model = given["model"]
    if model is None:
        like = {name: given[name] for name in DEFAULT_TAKES}
        made: Any = GSDMM(tol=TOL, init="auto", random_state=given["random_state"], **like, **how)
    elif not isinstance(model, BaseMixture):
        raise InvalidInput(
            parameter("model", "cluster")
            + f" must be a model of coterie, such as GSDPMM(), not {type(model).__name__}."
        )
    else:
        _check_undecided(given, type(model).__name__)
        made = clone(model).set_params(**how)
        if made.random_state is None:
            made.random_state = given["random_state"]
        made._check()
    made.callbacks = [*(made.callbacks or ()), *given["callbacks"]]
    return made


def _embedder(estimator: Any, is_default: bool) -> Embedder | None:
    """What makes vectors of the texts, if anything; a mistake shows before a file is read."""
    spec = getattr(estimator, "embedder", None)
    if is_default and _is_auto(spec) and estimator.sampler != "auto":
        with_vectors = urns.located(urns.finite(1, 1.0, np.ones(1)), 1.0)
        options = SamplerOptions(estimator.sampler)
        if get_backend(estimator.backend).supports(with_vectors, options) is not None:
            return None
    with concerning("embedder"):
        return resolve(spec)


def _is_auto(spec: Any) -> bool:
    return isinstance(spec, str) and spec == "auto"


def _check_undecided(given: dict[str, Any], name: str) -> None:
    """Refuse what both the call and the model would decide."""
    for option, default in MODEL_DECIDES.items():
        value = given[option]
        same = isinstance(value, float | int | str) and value == default
        if value is not default and not same:
            raise InvalidInput(
                parameter(option, "cluster")
                + f" has no effect with a model; set it there, as in model={name}({option}=...)."
            )


def _task(
    estimator: Any, corpus: Corpus, words: list[str], seeds: EncodedSeeds | None, is_default: bool
) -> fitting.Task:
    """What to fit; the default model also merges clusters, and starts from its seeds."""
    task: fitting.Task = estimator._task(corpus, words, "texts", seeds)
    if not is_default:
        return task
    plan = task.plan
    if plan.from_sample:
        plan = _of_sample(plan, estimator.backend)
    else:
        steps = [*plan.steps, MergeClusters(MERGE_AFTER), SplitMerge(SPLIT_AFTER)]
        plan = plan._replace(steps=steps)
    if seeds is not None and plan.init == "random":
        plan = plan._replace(init="anchored")
    return task._replace(plan=plan)


def _of_sample(plan: Plan, backend: str) -> Plan:
    """The plan of a large corpus: most sweeps are over a sample, and threads share all of them."""
    if plan.options.sampler == "auto" and backend in ("auto", "cpu"):
        plan = plan._replace(options=plan.options._replace(sampler="blocked", listed=LISTED))
    return plan._replace(
        n_sweeps=max(1, plan.n_sweeps // FEWER),
        sampling=Sampling(plan.n_sweeps, SAMPLED),
        steps=[*plan.steps, MergeClusters(MERGE_ALL_AFTER)],
    )
