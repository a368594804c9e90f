"""The systems of the race beyond those of `systems`: (documents, settings, watch) -> (labels, model).

What a system is not told it chooses itself: its own defaults. Labels of topic models are the largest
topic of each text.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..data import Corpus
from ..papers import fits as papers
from ..probe import Watch
from ..systems import Fit, Settings, largest_topics
from .embed import embedding

Labels = tuple[np.ndarray, Any]


def cluster(documents: Any, ask: Settings, watch: Watch) -> Labels:
    """coterie's front door, from texts, with no parameter but the seed."""
    import coterie

    with watch():
        groups = coterie.cluster(documents, random_state=ask.seed)
    return np.asarray(groups.labels), None


def xdmm(documents: Any, ask: Settings, watch: Watch, sampler: str = "metropolis") -> Labels:
    """X-DMM's sampler, or another of the same mixture."""
    import coterie

    assert ask.n_clusters is not None
    model = coterie.XDMM(
        ask.n_clusters,
        alpha=ask.alpha or 0.1,
        beta=ask.beta,
        n_sweeps=ask.n_sweeps,
        sampler=sampler,
        random_state=ask.seed,
    )
    with watch():
        model.fit(documents)
    return model.labels_, None


def gpudmm(documents: Any, ask: Settings, watch: Watch) -> Labels:
    """GPU-DMM with GloVe vectors at the threshold that its own benchmark found apt for them."""
    import coterie

    from ..gpudmm import MODELS
    from ..vectors import SOURCES

    kind = MODELS["GloVe .7"]
    assert kind.vectors
    assert ask.n_clusters is not None
    model = coterie.GPUDMM(
        ask.n_clusters,
        word_vectors=SOURCES[kind.vectors](),
        threshold=kind.threshold,
        n_sweeps=ask.n_sweeps,
        random_state=ask.seed,
    )
    with watch():
        model.fit(documents)
    return model.labels_, None


def pt(documents: Any, ask: Settings, watch: Watch) -> Labels:
    import tomotopy

    model = tomotopy.PTModel(k=ask.n_clusters, seed=ask.seed)
    return largest_topics(model, documents, ask, watch), None


def hdp(documents: Any, ask: Settings, watch: Watch) -> Labels:
    import tomotopy

    return largest_topics(tomotopy.HDPModel(seed=ask.seed), documents, ask, watch), None


def kmeans(documents: Any, ask: Settings, watch: Watch) -> Labels:
    from sklearn.cluster import KMeans

    with watch():
        rows = papers.tfidf(Corpus(documents, []))
        labels = KMeans(ask.n_clusters, random_state=ask.seed).fit(rows).labels_
    return labels, None


def minibatch(documents: Any, ask: Settings, watch: Watch) -> Labels:
    from sklearn.cluster import MiniBatchKMeans

    with watch():
        rows = papers.tfidf(Corpus(documents, []))
        labels = MiniBatchKMeans(ask.n_clusters, random_state=ask.seed).fit(rows).labels_
    return labels, None


def sklearn_lda(documents: Any, ask: Settings, watch: Watch) -> Labels:
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    with watch():
        counts = CountVectorizer(analyzer=list).fit_transform(documents)
        model = LatentDirichletAllocation(ask.n_clusters, random_state=ask.seed)
        labels = np.argmax(model.fit_transform(counts), axis=1)
    return labels, None


def hac(documents: Any, ask: Settings, watch: Watch, linkage: str) -> Labels:
    """From the distances of pairs: no dense rows."""
    corpus, settings = Corpus(documents, []), dict(n_clusters=ask.n_clusters, linkage=linkage)
    with watch():
        labels = papers.hac(corpus, ask.seed, papers.Curve([], ()), **settings)
    return np.asarray(labels), None


def embedded_kmeans(documents: Any, ask: Settings, watch: Watch) -> Labels:
    from sklearn.cluster import KMeans

    with watch():
        labels = KMeans(ask.n_clusters, random_state=ask.seed).fit(documents).labels_
    return labels, None


def hdbscan(documents: Any, ask: Settings, watch: Watch) -> Labels:
    from sklearn.cluster import HDBSCAN

    with watch():
        labels = HDBSCAN().fit(documents).labels_
    return labels, None


def bertopic(documents: Any, ask: Settings, watch: Watch) -> Labels:
    """Its default; UMAP, which has no seed there, draws from NumPy's global generator."""
    from bertopic import BERTopic

    texts, vectors = zip(*documents, strict=True)
    np.random.seed(ask.seed)  # noqa: NPY002
    with watch():
        labels, _ = BERTopic().fit_transform(list(texts), np.stack(vectors))
    return np.asarray(labels), None


FITS: dict[str, Fit] = {
    "embedding": embedding,
    "cluster": cluster,
    "xdmm": xdmm,
    "em": partial(xdmm, sampler="em"),
    "gpudmm": gpudmm,
    "pt": pt,
    "hdp": hdp,
    "kmeans": kmeans,
    "minibatch": minibatch,
    "sklearn_lda": sklearn_lda,
    "hac": partial(hac, linkage="ward"),
    "hac_average": partial(hac, linkage="average"),
    "embedded_kmeans": embedded_kmeans,
    "hdbscan": hdbscan,
    "bertopic": bertopic,
}
