"""The systems under test. Each is called `fit(documents, seed, watch, **settings) -> labels, model`.

`watch` times the fit; `watch.look(sweep, labels)` sees the labels after a sweep, where a system can
show them. Heavy imports are inside the functions: a worker loads only the system that it measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .probe import Watch

Fitted = tuple[Any, Any]  # labels, and the model if there is more to ask of it
Fit = Callable[..., Fitted]


def gsdmm(documents: Any, seed: int, watch: Watch, **settings: Any) -> Fitted:
    import coterie

    return _coterie(coterie.GSDMM(random_state=seed, **settings), documents, watch)


def gsdpmm(
    documents: Any, seed: int, watch: Watch, alpha_per_doc: float | None = None, **settings: Any
) -> Fitted:
    """Starts with one cluster. alpha is given per document, as in the paper; its 0.1 if not given."""
    import coterie

    alpha = "auto" if alpha_per_doc is None else alpha_per_doc * len(documents)
    model = coterie.GSDPMM(alpha=alpha, init="one", random_state=seed, **settings)
    return _coterie(model, documents, watch)


def xdmm(documents: Any, seed: int, watch: Watch, **settings: Any) -> Fitted:
    import coterie

    return _coterie(coterie.XDMM(random_state=seed, **settings), documents, watch)


def _coterie(model: Any, documents: Any, watch: Watch) -> Fitted:
    look = watch.look
    if look:

        def after(event: Any) -> None:
            look(event.record.sweep, event.assignment.labels.tolist())

        model.set_params(callbacks=[after])
    with watch():
        model.fit(documents)
    return model.labels_, model


def subset(documents: Any, seed: int, watch: Watch, share: float, **settings: Any) -> Fitted:
    """GSDMM 3.2 and 4.8: cluster a share of the documents, then classify the others."""
    import coterie

    chosen = np.random.default_rng(seed).random(len(documents)) < share
    some = [doc for doc, here in zip(documents, chosen, strict=True) if here]
    model = coterie.GSDMM(random_state=seed, **settings).fit(some)
    labels = model.predict(documents)
    labels[chosen] = model.labels_
    return labels, model


def topica(
    documents: Any, seed: int, watch: Watch, n_clusters: int, n_sweeps: int, **priors: Any
) -> Fitted:
    import topica

    model = topica.GSDMM(n_clusters, seed=seed, **priors)
    with watch():
        model.fit(documents, iters=n_sweeps)  # its trace is on, with a point per sweep
    return np.asarray(model.doc_cluster), None


def lda(
    documents: Any, seed: int, watch: Watch, n_sweeps: int, step: int | None = None, **settings: Any
) -> Fitted:
    """LDA by tomotopy; `step` is how often `look` is called."""
    return topics(lda_model(seed, **settings), documents, watch, n_sweeps, step)


def lda_model(seed: int, n_clusters: int, alpha: float, beta: float, fixed: bool = True) -> Any:
    """A model of tomotopy without documents; `fixed` keeps its priors as they are."""
    import tomotopy

    model = tomotopy.LDAModel(k=n_clusters, alpha=alpha, eta=beta, seed=seed)
    if fixed:
        model.optim_interval = 0
    return model


def topics(
    model: Any, documents: Any, watch: Watch, n_sweeps: int, step: int | None = None
) -> Fitted:
    """Train a topic model of tomotopy; the label of a document is its largest topic."""
    step = step or n_sweeps
    with watch():
        for doc in documents:
            model.add_doc(doc)
        for sweep in range(step, n_sweeps + 1, step):
            model.train(step, workers=1)
            if watch.look:
                watch.look(sweep, largest_topics(model))
    return np.array(largest_topics(model)), None


def largest_topics(model: Any) -> list[int]:
    return [int(np.argmax(doc.get_topic_dist())) for doc in model.docs]


def bitermplus(
    documents: Any, seed: int, watch: Watch, n_clusters: int, n_sweeps: int, **_: Any
) -> Fitted:
    """The biterm topic model with its own default priors."""
    import bitermplus
    import pandas  # noqa: F401  bitermplus imports it late; it must not count as memory of the fit

    texts = [" ".join(doc) for doc in documents]
    with watch():
        matrix, vocabulary, _ = bitermplus.get_words_freqs(texts, token_pattern=r"\S+")
        numbered = bitermplus.get_vectorized_docs(texts, vocabulary, analyzer=str.split)
        biterms = bitermplus.get_biterms(numbered)
        model = bitermplus.BTM(matrix, vocabulary, T=n_clusters, seed=seed)
        model.fit(biterms, iterations=n_sweeps, verbose=False)
    return np.argmax(model.transform(numbered, verbose=False), axis=1), None


def kmeans(documents: Any, seed: int, watch: Watch, **settings: Any) -> Fitted:
    """k-means of scikit-learn on tf-idf, or on the rows themselves if they are given as a matrix."""
    from sklearn.cluster import KMeans

    with watch():
        return KMeans(random_state=seed, **settings).fit(as_rows(documents)).labels_, None


def minibatch(documents: Any, seed: int, watch: Watch, **settings: Any) -> Fitted:
    from sklearn.cluster import MiniBatchKMeans

    with watch():
        return MiniBatchKMeans(random_state=seed, **settings).fit(as_rows(documents)).labels_, None


def kmeans_steps(documents: Any, seed: int, watch: Watch, n_clusters: int, n_steps: int) -> Fitted:
    """One start of k-means, looked at after every iteration."""
    from sklearn.cluster import KMeans, kmeans_plusplus

    rows = as_rows(documents)
    centers, _ = kmeans_plusplus(rows, n_clusters, random_state=seed)
    for step in range(1, n_steps + 1):
        found = KMeans(n_clusters, init=centers, n_init=1, max_iter=1, tol=0.0).fit(rows)
        centers = found.cluster_centers_
        if watch.look:
            watch.look(step, found.labels_.tolist())
    return found.labels_, None


def hac(documents: Any, seed: int, watch: Watch, n_clusters: int, linkage: str) -> Fitted:
    """Hierarchical clustering on cosine distances (Ward: Euclidean), cut at the number given."""
    from scipy.cluster import hierarchy

    with watch():
        distances = cosine_distances(as_rows(documents))
        if linkage == "ward":
            np.sqrt(2 * distances, out=distances)  # rows of length 1
        return cut_tree(hierarchy.linkage(distances, linkage), n_clusters), None


def cut_tree(tree: np.ndarray, n_clusters: int) -> np.ndarray:
    """The label of each leaf when exactly so many clusters are left.

    A cut by height leaves fewer of them when merges tie."""
    n = len(tree) + 1
    above = np.arange(2 * n - n_clusters)
    for i, pair in enumerate(tree[: n - n_clusters, :2].astype(np.int64)):
        above[pair] = n + i
    for node in range(above.size - 1, -1, -1):  # a parent comes after its children
        above[node] = above[above[node]]
    return above[:n]


def as_rows(documents: Any) -> Any:
    """tf-idf rows of length 1, so that Euclidean distances follow the cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if sp.issparse(documents) or isinstance(documents, np.ndarray):
        return documents
    return TfidfVectorizer(analyzer=list).fit_transform(documents)  # the words are cut already


def cosine_distances(rows: Any) -> np.ndarray:
    """The upper triangle, in blocks of rows: the full table would not fit in memory twice."""
    n, at = rows.shape[0], 0
    found = np.empty(n * (n - 1) // 2)
    for start in range(0, n, 500):
        block = (rows[start : start + 500] @ rows.T).toarray()
        for i, row in enumerate(block, start):
            part = row[i + 1 :]
            found[at : at + part.size] = np.maximum(1 - part, 0)
            at += part.size
    return found


_all = (gsdmm, gsdpmm, xdmm, subset, topica, lda, bitermplus, kmeans, minibatch, kmeans_steps, hac)
SYSTEMS: dict[str, Fit] = {fit.__name__: fit for fit in _all}
