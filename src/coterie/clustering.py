"""Clustering: the result of `cluster()`: a table, the clusters, predictions and explanations."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _allowed, _records, in_words, io, keeping, metrics, naming, nesting, unusual
from coterie._allowed import whole
from coterie._cooccurrence import in_documents
from coterie._disk import write_atomically
from coterie._sentence import counted
from coterie.counts import Corpus
from coterie.describing import most_typical
from coterie.errors import InvalidInput
from coterie.in_words import Explanation
from coterie.keeping import Setting
from coterie.levels import Level
from coterie.locating import Embedding
from coterie.model import Model
from coterie.sampler import Stop
from coterie.seeds.report import SeedReport, seed_report
from coterie.text import readers
from coterie.text.vectorize import Vectorizer
from coterie.trace import Trace
from coterie.using import Uses

ADDED = ("cluster", "name", "probability", "outlier_score", "trust")  # columns of the table
N_WORDS, N_EXAMPLES = 10, 3

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(eq=False)
class Clustering(Uses):
    """The result of `cluster()`: your table with clusters, and methods to explore and reuse them."""

    rows: readers.Rows = field(repr=False)
    vectorizer: Vectorizer = field(repr=False)
    model: Model = field(repr=False)
    labels: Labels = field(repr=False)  # (rows,) -1: the row has no words
    trace: Trace = field(repr=False)
    notes: list[str]
    settings: list[Setting]
    agreement: float
    converged: bool
    reason: str
    seconds: float
    corpus: Corpus = field(repr=False)
    promoting: Any = field(default=None, repr=False)  # rows x words, sparse: which promote others
    embedding: Embedding | None = field(default=None, repr=False)  # None: words only
    stop: Stop | None = field(default=None, repr=False)  # None: loaded from a folder
    finest: Labels | None = field(default=None, repr=False)  # (rows,) the clusters before any cut
    level_rows: list[Level] = field(default_factory=list, repr=False)  # few clusters first
    trust: Floats | None = field(default=None, repr=False)  # (rows,) how well several runs agree
    key: int = field(default=0, repr=False)  # of the run's random numbers
    outlier_share: float | None = field(default=None, repr=False)  # None: those clearly apart
    apart: str = field(default="", repr=False)  # name of the cluster of all outliers, if any
    of_sample: bool = field(default=False, repr=False)  # the rows are a sample of those fitted
    # makes `table` where the rows are a sample of a Dask DataFrame
    table_of_all: Callable[[Clustering], Any] | None = field(default=None, repr=False)
    n_jobs: int | None = field(default=None, repr=False)  # threads
    read_from: tuple[Path | int, ...] = field(default=(), repr=False)  # what nothing may replace
    created: str = field(default_factory=_records.now, repr=False)  # UTC
    given_names: list[str] | None = field(default=None, repr=False)  # saved, or chosen by the user
    edits: list[str] = field(default_factory=list, repr=False)  # what was changed by hand
    history: list[dict[str, Any]] = field(default_factory=list, init=False, repr=False)  # for undo

    @property
    def n_clusters(self) -> int:
        """Number of clusters, including seeds that found no text."""
        return self.model.n_clusters

    @property
    def n_texts(self) -> int:
        """Number of texts; where the rows are a sample, of all texts with words that were clustered."""
        return int(self.model.frozen.size.sum()) if self.of_sample else len(self.rows)

    @property
    def n_missing(self) -> int:
        """Number of seeds that found no text."""
        return int((self.model.frozen.size == 0).sum())

    @cached_property
    def table(self) -> Any:
        """Your rows with cluster, name, probability, outlier_score and trust, as the same type of table."""
        if self.table_of_all is not None:
            return self.table_of_all(self)
        return self.rows.with_columns(self.added)

    @property
    def added(self) -> dict[str, Any]:
        """The columns that the table adds to your rows."""
        trust = np.full(self.labels.size, np.nan) if self.trust is None else self.trust
        return added_columns(self.names, self.labels, self.probability, self.outlier_score, trust)

    def added_to(self, texts: Sequence[str]) -> dict[str, Any]:
        """The same columns for new texts; their trust is that of their cluster."""
        texts = _texts(texts)
        corpus, n_words = self.vectorizer.encode_and_count(texts, self._vectors_of(texts))
        best, likely = self.model.best(corpus.counts)
        labels, probability = corpus.per_row(best, -1), corpus.per_row(likely, 0.0)
        score = corpus.per_row(self._unusual(corpus, best, n_words), np.nan)
        trust = np.append(self.cluster_trust, np.nan)[labels]
        return added_columns(self.names, labels, probability, score, trust)

    @cached_property
    def probability(self) -> Floats:
        """Probability of each row's cluster, p(cluster | text); 0 for rows without words."""
        found = self.model.best_probability(self.corpus.counts, self.n_jobs)
        return self.corpus.per_row(found, 0.0)

    @cached_property
    def outlier_score(self) -> Floats:
        """How unusual each row is: the share of rows that are less unusual; NaN without words.

        Outliers have a score of at least `unusual.LINE`, 0.98.
        """
        self._scale, scores = self._calibrated()
        return self.corpus.per_row(scores, np.nan)

    @cached_property
    def outliers(self) -> npt.NDArray[np.bool_]:
        """Which rows fit nowhere: far from the others of their cluster, or alone in one.

        With `outliers=0.03` of `cluster()`, these are the 3% most unusual rows; with "own", those in
        the cluster of all outliers.
        """
        if self.apart in self.names and self.apart:
            return np.asarray(self.labels == self.names.index(self.apart))
        if self.outlier_share is None:
            return np.asarray(self.outlier_score >= unusual.LINE)
        known = np.flatnonzero(np.isfinite(self.outlier_score))
        ranked = known[np.argsort(-self.outlier_score[known], kind="stable")]
        marked = np.zeros(self.labels.size, bool)
        marked[ranked[: round(self.outlier_share * known.size)]] = True
        return marked

    @cached_property
    def _scale(self) -> unusual.Scale:
        return self._calibrated()[0]

    def _calibrated(self) -> tuple[unusual.Scale, Floats]:
        return unusual.of_fit(self.model, self.corpus.counts, self._per_document)

    def _unusual(self, corpus: Corpus, labels: Labels, n_words: Labels) -> Floats:
        """The outlier scores of new documents in these clusters, on the scale of the fit."""
        scale, counts = self._scale, corpus.counts
        none = np.zeros(counts.word.size, bool)
        unknown = np.maximum(n_words[corpus.doc_of_row >= 0] - counts.length, 0)
        return scale.scores(
            unusual.measured(self.model, counts, labels, none, scale.share_new, unknown=unknown)
        )

    @cached_property
    def names(self) -> list[str]:
        """A unique name for each cluster: the name of its seed, or its most telling phrase."""
        return naming.names_of(self) if self.given_names is None else naming.Names(self.given_names)

    @cached_property
    def coherence(self) -> list[float]:
        """NPMI of each cluster's top ten words in these texts; near 1, they often occur together."""
        top = [[w for w, _ in row] for row in self.model.top_words(N_WORDS, "distinct")]
        seen = in_documents(self.corpus.counts, top)
        return [float(v) for v in metrics.coherence(top, seen, measure="npmi").per_cluster]

    @cached_property
    def cluster_trust(self) -> Floats:
        """How far each cluster can be trusted: its share in common with its like in other runs."""
        if self.trust is None:
            return np.full(self.n_clusters, np.nan)
        held = (self.labels >= 0) & np.isfinite(self.trust)
        own, n = self.labels[held], self.n_clusters
        size = np.bincount(own, minlength=n)
        total = np.bincount(own, self.trust[held], n)
        return np.where(size > 0, total / np.maximum(size, 1), np.nan)

    @cached_property
    def clusters(self) -> Any:
        """A polars table with one row per cluster: name, size, share, words, coherence, trust, examples."""
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
                "trust": self.cluster_trust,
                "examples": [[self.rows.texts[i] for i in rows] for rows in examples],
            },
            schema_overrides={"words": pl.List(pl.String), "examples": pl.List(pl.String)},
        )

    @cached_property
    def levels(self) -> Any:
        """A polars table of numbers of clusters: log joint, agreement of several runs, names.

        `stop` marks the numbers on which the runs agree better than on those next to them, and
        `chosen` the present one. Any other number can be had with `at` as well.
        """
        import polars as pl

        types = {"clusters": pl.Int64(), "names": pl.List(pl.String)}
        return pl.DataFrame(nesting.table(self), schema_overrides=types)

    def at(self, n: int) -> Clustering:
        """Return exactly n clusters: the finest ones joined, and a few passes over the texts."""
        return nesting.at(self, n)

    @cached_property
    def tree(self) -> Any:
        """A polars table of all joins, from the finest clusters to one.

        `cluster` joins `into`, which leaves `clusters` of them; `gain` is the change of the log joint.
        Numbers are those of `groups.ids`: a join keeps the number of the first of the two, so that a
        number means the same branch at every level.
        """
        return table_of(nesting.joins(self))

    @cached_property
    def ids(self) -> Labels:
        """The number of each cluster in the tree; the same branch has the same one at every level."""
        return nesting.ids(self)

    def top_words(self, n: int = N_WORDS) -> list[list[tuple[str, float]]]:
        """Return the most distinctive words of each cluster, with their scores."""
        _allowed.check("top_words", {"n": whole(0, 2**53)}, {"n": n})
        words = self.vectorizer.words
        return [[(words[w], v) for w, v in row] for row in self.model.top_words(int(n), "distinct")]

    def representatives(self, cluster: int, n: int = N_EXAMPLES) -> list[int]:
        """Return the row numbers of the n most typical texts of a cluster, no two with the same words."""
        _allowed.check("representatives", {"n": whole(0)}, {"n": n})
        if whole(0, self.n_clusters - 1)(cluster) is not None:
            raise InvalidInput(
                f"There is no cluster {cluster!r}. Clusters are numbered 0 to {self.n_clusters - 1}."
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
        """Return the cluster of each new text; -1 if the model knows none of its words."""
        corpus = self.encode(_texts(texts))
        return corpus.per_row(self.model.predict(corpus.counts), -1)

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Return p(cluster | text), texts x clusters; all 0 for texts without known words."""
        corpus = self.encode(_texts(texts))
        out = np.zeros((corpus.doc_of_row.size, self.n_clusters))
        out[corpus.doc_of_row >= 0] = self.model.probabilities(corpus.counts)
        return out

    def explain(self, row: int | str) -> Explanation:
        """Explain which words put a row (by number) or a new text into its cluster."""
        return in_words.explain(self, row)

    def encode(self, texts: list[str]) -> Corpus:
        """New texts as the model knows them: words, and vectors if it has any."""
        return self.vectorizer.encode(texts, vectors=self._vectors_of(texts))

    def _vectors_of(self, texts: list[str]) -> Any:
        if self.embedding is None or not self.model.n_dimensions:
            return None
        return self.embedding.again(texts, None, len(texts), "predict", self.n_jobs)

    def seed_report(self) -> SeedReport:
        """Report what became of each seed: its texts, words gained and lost, and the new clusters."""
        if self.model.seeds is None:
            raise InvalidInput(
                "These texts were clustered without seeds. Pass seeds= to cluster()."
            )
        return seed_report(self.model)

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        *,
        texts: bool = True,
        by: Sequence[str] | str | None = None,
        over: str | None = None,
        columns: Sequence[str] | str | None = None,
    ) -> Path:
        """Write the report, a single HTML page that works offline, and return its path.

        With `texts=False`, the page has names, words and figures, but no text. `by` and `over` are
        columns of your table: the page shows the clusters in each of their values, and over time.
        `columns` are shown beside each text; nothing of the others is in the page.
        """
        from coterie.report import data, html

        target = Path(path)
        made = data.whole(self, title, with_texts=texts, by=by, over=over, columns=columns)
        content = html.render(made).encode("utf-8", "replace")
        write_atomically(target, content, self.read_from)
        return target

    def plot(
        self,
        kind: str | None = None,
        column: str | None = None,
        *,
        every: str | None = None,
        ax: Any = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Draw a figure: "map", "sizes", "tree", or "over" a column with times, as a matplotlib Figure.

        `path` writes it to a .png, .pdf or .svg file, `ax` draws into axes of your own, and `every` is
        the period of "over". Without a kind, the report's map is returned as an SVG picture, which needs
        no matplotlib: shown in a notebook, or written with `.save(path)`.
        """
        from coterie import plotting

        return plotting.draw(self, kind, column, every, ax, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything to a folder that `coterie.load` opens. It contains no code and no pickle."""
        io.save(path, keeping.saved(self), self.read_from)

    def summary(self) -> str:
        """Describe the result in a few sentences."""
        return in_words.summary(self)

    def __repr__(self) -> str:
        """Describe the result in one line."""
        return f"Clustering({counted(self.n_texts, 'text')}, {counted(self.n_clusters, 'cluster')})"

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
        """The documents of each cluster, most typical first."""
        lengths = self.corpus.counts.length
        return most_typical(self._per_document, self._typicality, lengths, self.n_clusters)

    @cached_property
    def _typicality(self) -> Floats:
        return self.model.typicality(self.corpus.counts, self._per_document)


def added_columns(names: Sequence[str], labels: Labels, *others: Floats) -> dict[str, Any]:
    """The columns that are added to rows; `others` are probability, outlier score and trust."""
    of_rows = np.array([*names, ""], object)[labels]  # -1, a row without words, is the last
    return dict(zip(ADDED, (labels, of_rows.tolist(), *others), strict=True))


def table_of(columns: dict[str, Any]) -> Any:
    """A polars DataFrame."""
    import polars as pl

    return pl.DataFrame(columns)


def restore(saved: io.Saved, folder: Path) -> Clustering:
    """Rebuild a clustering from the contents of a folder."""
    made = Clustering(**keeping.fields(saved, folder), read_from=(folder.absolute(),))
    if "finest" in saved.per_row:  # not measured again, which takes a pass over all texts
        made.__dict__["outlier_score"] = saved.per_row["outlier_score"]
    return made


def _texts(texts: Any) -> list[str]:
    if isinstance(texts, str | bytes | dict | set | frozenset) or not hasattr(texts, "__iter__"):
        raise InvalidInput(
            f"Pass a list of texts ([text] for a single one), not a {type(texts).__name__}."
        )
    if getattr(texts, "ndim", 1) != 1 or hasattr(texts, "columns"):
        raise InvalidInput("Pass one column of texts, not a table.")
    return [] if isinstance(texts, list | tuple) and not texts else list(readers.read(texts).texts)
