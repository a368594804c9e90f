"""One fit of one system, scored: what the tables and figures of GSDMM and GSDPMM are made of.

An `Ask` names corpus, system, seed and settings; `measure` gives its row. Nothing here is timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..data import Corpus, load
from ..scores import full_score
from ..store import Row, say

THRESHOLDS = (1, 3)  # clusters of more documents than this are counted apart
Labels = Sequence[int]
Watch = Callable[[int, Labels], None]  # told the labels after a sweep


class Ask(NamedTuple):
    """One fit. `settings` are the system's own; `curve` scores these sweeps too; `brief` keeps
    only what a figure shows."""

    corpus: str
    system: str
    seed: int
    settings: Mapping[str, Any] = {}
    curve: tuple[int, ...] = ()
    limit: int | None = None
    brief: bool = False


class Curve:
    """Scores after some of the sweeps, as columns."""

    def __init__(self, classes: Sequence[str], sweeps: tuple[int, ...]) -> None:
        self.columns: dict[str, list[float]] = {}
        self._classes, self._sweeps = classes, sweeps

    def __call__(self, sweep: int, labels: Labels) -> None:
        if sweep in self._sweeps:
            found = {"sweep": sweep, **_scores(self._classes, labels, brief=True)}
            for name, value in found.items():
                self.columns.setdefault(name, []).append(value)


def measure(ask: Ask) -> Row:
    """The scores of one fit, and of the sweeps asked for under `curve`."""
    corpus = corpus_of(ask.corpus, ask.limit)
    curve = Curve(corpus.classes, ask.curve)
    labels = SYSTEMS[ask.system](corpus, ask.seed, curve, **ask.settings)
    row: Row = _scores(corpus.classes, labels, ask.brief)
    if curve.columns:
        row["curve"] = curve.columns
    return row


@lru_cache(maxsize=2)
def corpus_of(name: str, limit: int | None = None) -> Corpus:
    """A corpus of the data folder; of a limited one every so-manieth document."""
    corpus = load(name)
    if limit is None or corpus.n_docs <= limit:
        return corpus
    step = corpus.n_docs // limit
    return Corpus(corpus.documents[::step], corpus.classes[::step])


def _scores(classes: Sequence[str], labels: Labels, brief: bool = False) -> dict[str, float]:
    sizes = Counter(labels).values()
    above = {f"above_{n}": sum(size > n for size in sizes) for n in THRESHOLDS}
    found = {**full_score(classes, labels, brief=brief), **above}
    return {name: round(float(value), 5) for name, value in found.items()}


def gsdmm(corpus: Corpus, seed: int, watch: Watch, **settings: Any) -> Labels:
    import coterie

    return _coterie(coterie.GSDMM(random_state=seed, **settings), corpus, watch)


def gsdpmm(
    corpus: Corpus, seed: int, watch: Watch, alpha_per_doc: float, **settings: Any
) -> Labels:
    """alpha is given as a share of the number of documents, as in the paper; starts as one cluster."""
    import coterie

    alpha = alpha_per_doc * corpus.n_docs
    model = coterie.GSDPMM(alpha=alpha, init="one", random_state=seed, **settings)
    return _coterie(model, corpus, watch)


def _coterie(model: Any, corpus: Corpus, watch: Watch) -> Labels:
    def after(event: Any) -> None:
        watch(event.record.sweep, event.state.z.tolist())

    model.set_params(callbacks=[after]).fit(corpus.documents)
    return _list(model.labels_)


def subset(corpus: Corpus, seed: int, watch: Watch, share: float, **settings: Any) -> Labels:
    """GSDMM 3.2 and 4.8: cluster a share of the documents, classify the others by it."""
    import coterie

    chosen = np.random.default_rng(seed).random(corpus.n_docs) < share
    some = [doc for doc, here in zip(corpus.documents, chosen, strict=True) if here]
    model = coterie.GSDMM(random_state=seed, **settings).fit(some)
    labels = model.predict(corpus.documents)
    labels[chosen] = model.labels_
    return _list(labels)


def kmeans(corpus: Corpus, seed: int, watch: Watch, **settings: Any) -> Labels:
    from sklearn.cluster import KMeans

    return _list(KMeans(random_state=seed, **settings).fit(tfidf(corpus)).labels_)


def kmeans_steps(corpus: Corpus, seed: int, watch: Watch, n_clusters: int, n_steps: int) -> Labels:
    """One start of k-means, looked at after every iteration."""
    from sklearn.cluster import KMeans, kmeans_plusplus

    rows = tfidf(corpus)
    centers, _ = kmeans_plusplus(rows, n_clusters, random_state=seed)
    for step in range(1, n_steps + 1):
        found = KMeans(n_clusters, init=centers, n_init=1, max_iter=1, tol=0.0).fit(rows)
        centers = found.cluster_centers_
        watch(step, _list(found.labels_))
    return _list(found.labels_)


def lda(
    corpus: Corpus,
    seed: int,
    watch: Watch,
    n_clusters: int,
    alpha: float,
    eta: float,
    n_sweeps: int,
    step: int = 10,
) -> Labels:
    """LDA by tomotopy's collapsed Gibbs, priors held fixed; a document's label is its largest topic."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_clusters, alpha=alpha, eta=eta, seed=seed)
    model.optim_interval = 0
    for doc in corpus.documents:
        model.add_doc(doc)
    labels: Labels = []
    for sweep in range(step, n_sweeps + 1, step):
        model.train(step, workers=1)
        labels = largest_topics(model)
        watch(sweep, labels)
    return labels


def largest_topics(model: Any) -> list[int]:
    """LDA's topics as clusters: of each document the largest."""
    return [int(np.argmax(doc.get_topic_dist())) for doc in model.docs]


def hac(corpus: Corpus, seed: int, watch: Watch, n_clusters: int, linkage: str) -> Labels:
    """Bottom up on cosine distances (Ward: Euclidean), cut at the number of clusters."""
    from scipy.cluster import hierarchy

    distances = _cosine_distances(tfidf(corpus))
    if linkage == "ward":
        np.sqrt(2 * distances, out=distances)  # rows of length 1
    return _list(_cut(hierarchy.linkage(distances, linkage), n_clusters))


def _cut(tree: np.ndarray, n_clusters: int) -> np.ndarray:
    """The label of each leaf after all merges but the last few: exactly so many clusters, where
    a cut by height leaves fewer when merges tie."""
    n = len(tree) + 1
    above = np.arange(2 * n - n_clusters)
    for i, pair in enumerate(tree[: n - n_clusters, :2].astype(np.int64)):
        above[pair] = n + i
    for node in range(above.size - 1, -1, -1):  # a parent comes after its children
        above[node] = above[above[node]]
    return above[:n]


def tfidf(corpus: Corpus) -> Any:
    """Rows of length 1, so that Euclidean k-means goes by the cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=list).fit_transform(corpus.documents)


def _cosine_distances(rows: Any) -> np.ndarray:
    """The upper triangle, row by row, a block at a time: a full table would not fit twice."""
    n, at = rows.shape[0], 0
    found = np.empty(n * (n - 1) // 2)
    for start in range(0, n, 500):
        block = (rows[start : start + 500] @ rows.T).toarray()
        for i, row in enumerate(block, start):
            part = row[i + 1 :]
            found[at : at + part.size] = np.maximum(1 - part, 0)
            at += part.size
    return found


def _list(labels: Any) -> list[int]:
    return list(np.asarray(labels).tolist())


SYSTEMS: dict[str, Callable[..., Labels]] = {
    "gsdmm": gsdmm,
    "gsdpmm": gsdpmm,
    "subset": subset,
    "kmeans": kmeans,
    "kmeans_steps": kmeans_steps,
    "lda": lda,
    "hac": hac,
}
NEEDS = {"lda": "tomotopy"}


class _Task(Protocol):
    @property
    def system(self) -> str: ...


Task = TypeVar("Task", bound=_Task)


def possible(tasks: Mapping[str, Task]) -> dict[str, Task]:
    """The tasks less those whose package is not installed, which is said."""
    missing = {
        package
        for task in tasks.values()
        if (package := NEEDS.get(task.system)) and find_spec(package) is None
    }
    for package in sorted(missing):
        say(f'left out: {package} is not installed. Try: pip install "coterie[bench]"')
    return {key: task for key, task in tasks.items() if NEEDS.get(task.system) not in missing}
