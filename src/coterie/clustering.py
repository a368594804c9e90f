"""cluster(): texts in, the user's own table out, with the clusters beside it.

Reads, tokenizes, samples, then settles the labels: every text ends in its most probable cluster, so
that labels, probabilities and `predict` agree.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _allowed, _rng, io, metrics, sampler, urns
from coterie._allowed import Rule, either, nothing, number, whole
from coterie._disk import write_atomically
from coterie.backends import get_backend
from coterie.counts import Corpus, Counts
from coterie.errors import InvalidInput
from coterie.model import Model, most_typical
from coterie.report.clean import tame
from coterie.state import State, from_labels
from coterie.text import readers
from coterie.text.vectorize import Vectorizer
from coterie.trace import Trace

ALLOWED: dict[str, Rule] = {
    "n_clusters": either(nothing, whole(1, 2**53)),
    "alpha": number(0.0, inclusive=False, high=1e100),
    "beta": number(0.0, inclusive=False, high=1e9),
    "n_sweeps": whole(1),
    "random_state": whole(0),
    "n_jobs": either(nothing, whole(1), lambda v: None if v == -1 else "-1"),
    "max_time": either(nothing, number(0.0, inclusive=False)),
    "callbacks": _allowed.callables,
}
ADDED = ("cluster", "probability", "outlier_score")  # columns of the table
ALPHA, BETA, SWEEPS, TOL = 0.1, 0.2, 40, 2e-4
PASSES = 20  # of settling, at most
N_WORDS, N_EXAMPLES = 10, 3

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


class Setting(NamedTuple):
    """What was chosen, and why."""

    name: str
    value: str
    why: str

    @property
    def sentence(self) -> str:
        """The choice in words."""
        after = {
            "clusters at most": f"at most {self.value} clusters",
            "sweeps": f"{self.value} sweeps",
        }
        return after.get(self.name, f"{self.name} {self.value}")


def cluster(
    data: Any,
    text: str | None = None,
    *,
    id: str | None = None,
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
    n_jobs : int
        Threads for settling; the clusters do not depend on it.
    tie_duplicates : bool
        Keep texts with identical words in one cluster.
    random_state : int
        The seed: the same clusters everywhere.
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
    enter = on_stage or (lambda stage: None)
    enter("reading")
    rows = readers.read(data, text=text, id=id, encoding=encoding)
    enter("words")
    vectorizer, corpus, notes = Vectorizer.learn(
        rows.texts, tokenizer, language, min_df, max_df, tie_duplicates
    )
    if rows.n_missing:
        notes.append(f"{rows.n_missing:,} rows have no text; their cluster is -1.")
    names = rows.names_for(ADDED)
    if names != list(ADDED):
        notes.append(f"Your table has such columns already, so ours are called {', '.join(names)}.")
    cap = n_clusters if n_clusters is not None else default_cap(corpus.counts)
    urn = urns.finite(cap, alpha, urns.per_word(beta, corpus.counts.n_words))
    plan = sampler.Plan(
        n_sweeps=n_sweeps,
        init="random",
        key=_rng.key_from_seed(random_state),
        tol=TOL,
        max_time=max_time,
        callbacks=tuple(callbacks),
    )
    enter("sampling")
    run = sampler.run(corpus.counts, urn, plan, get_backend())
    enter("settling")
    model, labels, agreement = settle(corpus.counts, urn, run.state, vectorizer.words, n_jobs)
    if model.n_clusters >= 0.9 * cap:
        notes.append(
            f"{model.n_clusters} of at most {cap} clusters are in use: there may be more to find;"
            " raise n_clusters."
        )
    return Clustering(
        rows=rows,
        vectorizer=vectorizer,
        model=model,
        labels=corpus.per_row(labels, -1),
        trace=run.trace,
        notes=[*rows.notes, *notes],
        settings=_settings(cap, n_clusters is None, alpha, beta, run, n_sweeps, random_state),
        agreement=agreement,
        converged=run.converged,
        reason=run.reason,
        seconds=time.perf_counter() - began,
        corpus=corpus,
    )


def default_cap(counts: Counts) -> int:
    """Clusters to allow: generous, since those not needed die out, yet bounded by the texts."""
    n_docs = int(counts.weight.sum())
    return max(2, min(1000, round(8 * math.sqrt(n_docs)), n_docs))


def settle(
    counts: Counts, urn: urns.Urn, state: State, words: list[str], n_jobs: int | None = None
) -> tuple[Model, Labels, float]:
    """Move every document to its most probable cluster, until none moves (or PASSES times).

    Returns the model of these labels, the labels, and the share of documents whose label is the
    model's own prediction: 1 when a fixed point was reached.
    """
    model, cluster_of = Model.freeze(urn, state, words)
    labels = cluster_of[state.z].astype(np.int64)
    for _ in range(PASSES):
        best = model.predict(counts, n_jobs=n_jobs)
        if (best == labels).all():
            return model, labels, 1.0
        dense = np.unique(best, return_inverse=True)[1].astype(np.int32)
        state = from_labels(counts, urn, dense)
        model, cluster_of = Model.freeze(urn, state, words)
        labels = cluster_of[state.z].astype(np.int64)
    agree = model.predict(counts, n_jobs=n_jobs) == labels
    return model, labels, float(np.average(agree, weights=counts.weight))


class Explanation(NamedTuple):
    """Why a text is in its cluster rather than in the next best one, in nats; the parts add up."""

    cluster: int
    runner_up: int
    words: list[tuple[str, float]]  # each known word's share, the most telling first
    sizes: float  # what the clusters' sizes and lengths add
    total: float  # ln of how much more probable the cluster is

    def __str__(self) -> str:
        """A few lines to read."""
        lines = [f"cluster {self.cluster} rather than {self.runner_up}: {self.total:+.2f} nats"]
        lines += [f"  {value:+7.2f}  {tame(word)}" for word, value in self.words]
        return "\n".join([*lines, f"  {self.sizes:+7.2f}  (sizes of the clusters)"])


@dataclass(eq=False)
class Clustering:
    """A finished clustering: the table, the clusters, and questions one can ask it."""

    rows: readers.Rows = field(repr=False)
    vectorizer: Vectorizer = field(repr=False)
    model: Model = field(repr=False)
    labels: Labels = field(repr=False)  # (rows,) -1: no words
    trace: Trace = field(repr=False)
    notes: list[str]
    settings: list[Setting]
    agreement: float
    converged: bool
    reason: str
    seconds: float
    corpus: Corpus = field(repr=False)

    @property
    def n_clusters(self) -> int:
        """Clusters found."""
        return self.model.n_clusters

    @cached_property
    def table(self) -> Any:
        """The user's rows with `cluster`, `probability` and `outlier_score`; same kind of frame."""
        values = (self.labels, self.probability, self.outlier_score)
        return self.rows.with_columns(dict(zip(ADDED, values, strict=True)))

    @cached_property
    def probability(self) -> Floats:
        """p(cluster | text) of each row's cluster; 0 for rows without words."""
        return self.corpus.per_row(self.model.best_probability(self.corpus.counts), 0.0)

    @cached_property
    def outlier_score(self) -> Floats:
        """Nats per word by which a cluster of its own would explain a row better; NaN without words."""
        scores = self.model.outlier_scores(self.corpus.counts, self._per_document)
        return self.corpus.per_row(scores, math.nan)

    @cached_property
    def names(self) -> list[str]:
        """A name for each cluster: the words that set it apart, more where two would be alike."""
        taken: set[str] = set()
        names = []
        for words in self.top_words(N_WORDS):
            dull = self.vectorizer.dull
            telling = [w for w, _ in words if w.lower() not in dull] or [w for w, _ in words]
            many = 3
            while " · ".join(telling[:many]) in taken and many < len(telling):
                many += 1
            name = " · ".join(telling[:many])
            again = 2
            while name in taken:
                name, again = f"{' · '.join(telling[:many])} ({again})", again + 1
            names.append(name)
            taken.add(name)
        return names

    @cached_property
    def coherence(self) -> list[float]:
        """NPMI of each cluster's ten words, counted in these texts: near 1, they go together."""
        from scipy import sparse

        c = self.corpus.counts
        seen = sparse.csr_matrix((c.tally, c.word, c.ptr), (c.n_docs, c.n_words), copy=True)
        top = [[w for w, _ in row] for row in self.model.top_words(N_WORDS, "distinct")]
        return [float(v) for v in metrics.coherence(top, seen, measure="npmi").per_cluster]

    @cached_property
    def clusters(self) -> Any:
        """One row a cluster: id, name, size, share, words, coherence, examples (polars)."""
        import polars as pl

        sizes = self.model.frozen.size
        examples = [self.representatives(k, N_EXAMPLES) for k in range(self.n_clusters)]
        return pl.DataFrame(
            {
                "cluster": np.arange(self.n_clusters),
                "name": self.names,
                "size": sizes,
                "share": sizes / max(int(sizes.sum()), 1),
                "words": [[w for w, _ in row] for row in self.top_words(N_WORDS)],
                "coherence": self.coherence,
                "examples": [[self.rows.texts[i] for i in rows] for rows in examples],
            },
            schema_overrides={"words": pl.List(pl.String), "examples": pl.List(pl.String)},
        )

    def top_words(self, n: int = N_WORDS) -> list[list[tuple[str, float]]]:
        """For each cluster the words that set it apart, and how much."""
        words = self.vectorizer.words
        return [[(words[w], v) for w, v in row] for row in self.model.top_words(n, "distinct")]

    def representatives(self, cluster: int, n: int = N_EXAMPLES) -> list[int]:
        """Row numbers of the n most typical texts of a cluster, no two with the same words."""
        if not 0 <= cluster < self.n_clusters:
            raise InvalidInput(
                f"There is no cluster {cluster}; they are 0 to {self.n_clusters - 1}."
            )
        rows: list[int] = []
        seen: set[tuple[tuple[int, int], ...]] = set()
        c = self.corpus.counts
        for d in self._typical[cluster]:
            if len(rows) >= n:
                break
            entries = slice(c.ptr[d], c.ptr[d + 1])
            bag = tuple(
                sorted(zip(c.word[entries].tolist(), c.tally[entries].tolist(), strict=True))
            )
            if bag not in seen:
                seen.add(bag)
                rows.append(int(self._first_row[d]))
        return rows

    def predict(self, texts: Sequence[str]) -> Labels:
        """The cluster of each text; -1 where no word is known. One by one or in bulk, the same."""
        corpus = self.vectorizer.encode(_texts(texts))
        return corpus.per_row(self.model.predict(corpus.counts), -1)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """p(cluster | text), texts x clusters; all 0 where no word is known."""
        corpus = self.vectorizer.encode(_texts(texts))
        out = np.zeros((corpus.doc_of_row.size, self.n_clusters))
        out[corpus.doc_of_row >= 0] = self.model.probabilities(corpus.counts)
        return out

    def explain(self, row: int | str) -> Explanation:
        """Which words put a row (its number), or a new text, into its cluster and not the next best."""
        if isinstance(row, str):
            text, what = row, "The text"
        elif not isinstance(row, int | np.integer) or not -len(self.rows) <= row < len(self.rows):
            raise InvalidInput(f"There is no row {row}; they are 0 to {len(self.rows) - 1}.")
        else:
            text, what = self.rows.texts[row], f"Row {row}"
        counts = self.vectorizer.encode([text]).counts
        if counts.n_docs == 0:
            raise InvalidInput(
                f"{what} has no word the model knows, so there is nothing to explain."
            )
        best, second, per_word, rest = self.model.explain(counts)
        ids = counts.word[np.argsort(-np.abs(per_word), kind="stable")]
        values = per_word[np.argsort(-np.abs(per_word), kind="stable")]
        words = [(self.vectorizer.words[w], float(v)) for w, v in zip(ids, values, strict=True)]
        return Explanation(best, second, words, rest, float(per_word.sum()) + rest)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """Write one offline HTML page to look at and pass on; returns where it is."""
        from coterie.report import data, html

        target = Path(path)
        write_atomically(target, html.render(data.page(self, title)).encode("utf-8", "replace"))
        return target

    def plot(self) -> Any:
        """A picture of the clusters' sizes and distances; shows itself in a notebook, `.save(path)`."""
        from coterie.report import data, html

        return html.Picture(html.render_map(data.page(self, None)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a folder that `coterie.load` opens; no code in it, and no pickle."""
        io.save(path, self._saved())

    def summary(self) -> str:
        """What was found, in a few sentences."""
        empty = int((self.labels < 0).sum())
        said = f"{len(self.rows):,} texts in {self.n_clusters:,} clusters"
        said += f" ({empty:,} without words)" if empty else ""
        biggest = self.model.frozen.size[:1].sum() / max(int(self.model.frozen.size.sum()), 1)
        chosen = "; ".join(s.sentence for s in self.settings)
        lines = [f"{said}; the largest holds {biggest:.0%}.", *self.notes, f"Chosen: {chosen}."]
        lines.append(
            "Fewer, broader clusters: a larger beta (2 or 5 times), or a smaller n_clusters. More,"
            " finer ones: a smaller beta."
        )
        return "\n".join(str(tame(line)) for line in lines)

    def __repr__(self) -> str:
        """One line."""
        return f"Clustering({len(self.rows):,} texts, {self.n_clusters:,} clusters)"

    def _repr_html_(self) -> str:
        from coterie.report import data, html

        return html.render_summary(data.page(self, None))

    @cached_property
    def _per_document(self) -> Labels:
        return self.corpus.per_document(self.labels)

    @cached_property
    def _first_row(self) -> Labels:
        return self.corpus.per_document(np.arange(len(self.rows)))

    @cached_property
    def _typical(self) -> list[npt.NDArray[np.int64]]:
        """For each cluster its documents, the most typical first."""
        counts = self.corpus.counts
        typical = self.model.typicality(counts, self._per_document)
        return most_typical(self._per_document, typical, counts.length, self.n_clusters)

    def _saved(self) -> io.Saved:
        typical = self.model.typicality(self.corpus.counts, self._per_document)
        return io.Saved(
            estimator="Clustering",
            parameters={},
            fitted={
                "converged": self.converged,
                "stop_reason": self.reason,
                "n_features_in": self.model.urn.beta.size,
                "learnt_from": "texts",
                "vectorizer": self.vectorizer.to_dict(),
                "notes": self.notes,
                "settings": [list(s) for s in self.settings],
                "agreement": self.agreement,
                "seconds": self.seconds,
                "column": None if self.rows.column is None else str(self.rows.column),
                "ids": self.rows.id_column,
            },
            model=self.model,
            per_row={
                "labels": self.labels,
                "outlier_score": self.outlier_score,
                "typicality": self.corpus.per_row(typical, math.nan),
                "length": self.corpus.per_row(self.corpus.counts.length, 0),
            },
            trace=self.trace,
            documents=self.rows.to_parquet(),
            corpus=self.corpus,
        )


def restore(saved: io.Saved, folder: Path) -> Clustering:
    """The clustering a folder holds."""
    fitted, documents = saved.fitted, folder / io.DOCUMENTS
    if saved.documents is None or saved.corpus is None:
        raise io.damaged(documents, "it is missing")
    try:
        rows = readers.from_parquet(saved.documents, fitted.get("column"), fitted.get("ids"))
    except ValueError as error:
        raise io.damaged(documents, str(error).rstrip(".")) from None
    if len(rows) != saved.per_row["labels"].size:
        raise io.damaged(documents, "it has another number of rows than the labels")
    try:
        return Clustering(
            rows=rows,
            vectorizer=Vectorizer.from_dict(fitted.get("vectorizer"), saved.model.words or []),
            model=saved.model,
            labels=saved.per_row["labels"],
            trace=saved.trace,
            notes=[str(note) for note in fitted["notes"]],
            settings=[Setting(*map(str, setting)) for setting in fitted["settings"]],
            agreement=float(fitted["agreement"]),
            converged=fitted["converged"],
            reason=fitted["stop_reason"],
            seconds=float(fitted["seconds"]),
            corpus=saved.corpus,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise io.damaged(folder / io.CONFIG, str(error).rstrip(".")) from None


def _texts(texts: Any) -> list[str]:
    if isinstance(texts, str | bytes | dict | set | frozenset) or not hasattr(texts, "__iter__"):
        raise InvalidInput(f"Pass a list of texts ([text] for one), not a {type(texts).__name__}.")
    if getattr(texts, "ndim", 1) != 1 or hasattr(texts, "columns"):
        raise InvalidInput("Pass one column of texts, not a table.")
    return [] if isinstance(texts, list | tuple) and not texts else readers.read(texts).texts


def _settings(
    cap: int, auto: bool, alpha: float, beta: float, run: sampler.Run, asked: int, seed: int
) -> list[Setting]:
    why_cap = "8 times the square root of the number of texts, 1000 at most" if auto else "as asked"
    stopped = "as many as allowed"
    if len(run.trace) < asked:
        stopped = "nothing got better any more" if run.converged else run.reason.split(";")[0]
    return [
        Setting("clusters at most", str(cap), f"{why_cap}; those not needed die out"),
        Setting("beta", f"{beta:g}", "how much two texts may differ: larger gives fewer clusters"),
        Setting("alpha", f"{alpha:g}", "how readily a text opens a cluster of its own"),
        Setting("sweeps", str(len(run.trace)), f"passes over all texts; {stopped}"),
        Setting("seed", str(seed), "the same seed gives the same clusters everywhere"),
    ]
