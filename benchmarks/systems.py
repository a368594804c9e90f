"""The systems under test: (documents, settings, watch) -> (labels, model). Each times its fit only.

Heavy imports stand inside: a worker loads only the system it measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .probe import Watch


class Settings(NamedTuple):
    """One fit. `n_clusters` None means the Dirichlet process, `alpha` None 0.1 D, no sweeps the
    system's own number."""

    seed: int
    n_sweeps: int = 0
    n_clusters: int | None = None
    alpha: float | None = None
    beta: float = 0.02


Fit = Callable[[Any, Settings, Watch], tuple[np.ndarray, Any]]


def coterie(documents: Any, ask: Settings, watch: Watch) -> tuple[np.ndarray, Any]:
    import coterie

    common: dict[str, Any] = dict(beta=ask.beta, n_sweeps=ask.n_sweeps, random_state=ask.seed)
    if ask.n_clusters is None:
        model = coterie.GSDPMM(alpha="auto" if ask.alpha is None else ask.alpha, **common)
    else:
        model = coterie.GSDMM(n_clusters=ask.n_clusters, alpha=ask.alpha, **common)
    with watch():
        model.fit(documents)
    return model.labels_, model


def reference(documents: Any, ask: Settings, watch: Watch) -> tuple[np.ndarray, Any]:
    from . import reference_gsdmm

    alpha = 0.1 * len(documents) if ask.alpha is None else ask.alpha
    settings = ask._replace(alpha=alpha)._asdict()
    with watch():
        labels = reference_gsdmm.fit(documents, **settings)
    return labels, None


def topica(documents: Any, ask: Settings, watch: Watch) -> tuple[np.ndarray, Any]:
    import topica

    model = topica.GSDMM(ask.n_clusters, alpha=ask.alpha, beta=ask.beta, seed=ask.seed)
    with watch():
        model.fit(documents, iters=ask.n_sweeps)  # its trace is on: a point a sweep
    return np.asarray(model.doc_cluster), None


def tomotopy(documents: Any, ask: Settings, watch: Watch) -> tuple[np.ndarray, Any]:
    """LDA, another model; a document's label is its largest topic. Give it the true number."""
    import tomotopy

    model = tomotopy.LDAModel(k=ask.n_clusters, alpha=ask.alpha, eta=ask.beta, seed=ask.seed)
    return largest_topics(model, documents, ask, watch), None


def largest_topics(model: Any, documents: Any, ask: Settings, watch: Watch) -> np.ndarray:
    """Train a model of tomotopy; the largest topic of each document."""
    with watch():
        for doc in documents:
            model.add_doc(doc)
        model.train(ask.n_sweeps, workers=1)
    return np.array([np.argmax(doc.get_topic_dist()) for doc in model.docs])


def bitermplus(documents: Any, ask: Settings, watch: Watch) -> tuple[np.ndarray, Any]:
    """The biterm topic model with its own default priors. Give it the true number."""
    import bitermplus
    import pandas  # noqa: F401  bitermplus imports it late; it must not count as memory of the fit

    texts = [" ".join(doc) for doc in documents]
    with watch():
        matrix, vocabulary, _ = bitermplus.get_words_freqs(texts, token_pattern=r"\S+")
        numbered = bitermplus.get_vectorized_docs(texts, vocabulary, analyzer=str.split)
        biterms = bitermplus.get_biterms(numbered)
        model = bitermplus.BTM(matrix, vocabulary, T=ask.n_clusters, seed=ask.seed)
        model.fit(biterms, iterations=ask.n_sweeps, verbose=False)
    return np.argmax(model.transform(numbered, verbose=False), axis=1), None


SYSTEMS: dict[str, Fit] = {
    "coterie": coterie,
    "reference": reference,
    "topica": topica,
    "tomotopy": tomotopy,
    "bitermplus": bitermplus,
}
