"""Systems of the race beyond those of the harness, called in the same way.

What a system is not told, it chooses itself by its own defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness.data import glove
from ..harness.probe import Watch
from ..harness.systems import SYSTEMS, Fit, Fitted, topics
from .embed import embedding


def cluster(documents: Any, seed: int, watch: Watch, n_clusters: int | None = None) -> Fitted:
    """coterie.cluster() on the texts, with the number of clusters if it is known."""
    import coterie

    with watch():
        groups = coterie.cluster(documents, n_clusters=n_clusters, random_state=seed)
    return np.asarray(groups.labels), None


def cluster_vectors(documents: Any, seed: int, watch: Watch) -> Fitted:
    """coterie.cluster() on the texts, with these vectors instead of its own."""
    import coterie

    texts, vectors = zip(*documents, strict=True)
    rows = np.stack(vectors)
    with watch():
        groups = coterie.cluster(list(texts), embedder=lambda _: rows, random_state=seed)
    return np.asarray(groups.labels), None


def gpudmm(documents: Any, seed: int, watch: Watch, **settings: Any) -> Fitted:
    """GPU-DMM with GloVe vectors, at the threshold that its own benchmark found suitable."""
    import coterie

    vectors = glove()
    model = coterie.GPUDMM(word_vectors=vectors, threshold=0.7, random_state=seed, **settings)
    with watch():
        model.fit(documents)
    return model.labels_, None


def pt(documents: Any, seed: int, watch: Watch, n_clusters: int, n_sweeps: int) -> Fitted:
    import tomotopy

    return topics(tomotopy.PTModel(k=n_clusters, seed=seed), documents, watch, n_sweeps)


def hdp(documents: Any, seed: int, watch: Watch, n_sweeps: int) -> Fitted:
    import tomotopy

    return topics(tomotopy.HDPModel(seed=seed), documents, watch, n_sweeps)


def sklearn_lda(documents: Any, seed: int, watch: Watch, n_clusters: int) -> Fitted:
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    with watch():
        counts = CountVectorizer(analyzer=list).fit_transform(documents)
        model = LatentDirichletAllocation(n_clusters, random_state=seed)
        return np.argmax(model.fit_transform(counts), axis=1), None


def hdbscan(documents: Any, seed: int, watch: Watch) -> Fitted:
    from sklearn.cluster import HDBSCAN

    with watch():
        return HDBSCAN().fit(documents).labels_, None


def bertopic(documents: Any, seed: int, watch: Watch) -> Fitted:
    """Its defaults. UMAP gets no seed from it, and draws from NumPy's global generator."""
    from bertopic import BERTopic

    texts, vectors = zip(*documents, strict=True)
    np.random.seed(seed)  # noqa: NPY002
    with watch():
        labels, _ = BERTopic().fit_transform(list(texts), np.stack(vectors))
    return np.asarray(labels), None


_own = (embedding, cluster, cluster_vectors, gpudmm, pt, hdp, sklearn_lda, hdbscan, bertopic)
FITS: dict[str, Fit] = {**SYSTEMS, **{fit.__name__: fit for fit in _own}}
