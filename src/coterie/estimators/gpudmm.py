"""GPU-DMM: the finite mixture on a generalized Pólya urn of Li et al. (SIGIR 2016)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import urns
from coterie._allowed import either, number, one_of
from coterie.counts import Counts
from coterie.estimators import _prior_knowledge
from coterie.estimators.gsdmm import GSDMM

AUTO_ALPHA = 50.0  # over the number of clusters: the paper's setting


class GPUDMM(GSDMM):
    """Dirichlet multinomial mixture in which word vectors help: related words join a cluster together.

    When a word joins a cluster, the words its vector is near gain `promotion` there too, if the word
    has strong ties with that cluster. (GPU is the generalized Pólya urn; it needs no graphics card.)

    Parameters
    ----------
    n_clusters : int
        Clusters at most (K in the paper).
    word_vectors : dict, path, (words, matrix), gensim KeyedVectors or callable, optional
        Vectors of words; words without one have no relations. A path is a word2vec (text or binary)
        or GloVe file, or an .npz with `words` and `vectors`. None: the plain mixture.
    promotion : float
        What an occurrence of a word adds to each related word (mu); rounded to a fraction with a
        denominator of at most 1,000, so that counts stay exact.
    threshold : float, from -1 to 1
        Words whose vectors have a larger cosine are related.
    max_related : int
        A word with more relatives than this, itself counted, promotes none: names, places, numbers.
    alpha : float or "auto"
        Pseudo-documents in every cluster; "auto" is 50 / n_clusters, as in the paper.
    beta : float or array, one a word
        Pseudo-occurrences of every word in every cluster.

    The other parameters, the attributes and methods are those of `GSDMM`; `related_` says which words
    are related. The trace has no joint probability: the order of draws matters in such an urn.

    Examples
    --------
    >>> from coterie import GPUDMM
    >>> vectors = {"apple": [1, 0], "pear": [0.9, 0.1], "car": [0, 1], "truck": [0.1, 0.9]}
    >>> texts = ["apple pie", "pear tart", "fast car", "red truck"]
    >>> model = GPUDMM(5, word_vectors=vectors, n_sweeps=20, random_state=1).fit(texts)
    >>> model.related_.n_vectors
    4
    """

    _parameters = {
        **GSDMM._parameters,
        "alpha": either(one_of("auto"), number(0.0, inclusive=True, high=1e100)),
        **_prior_knowledge.VECTORS,
    }

    def __init__(
        self,
        n_clusters: int = 40,
        *,
        word_vectors: Any = None,
        promotion: float = 0.3,
        threshold: float = 0.5,
        max_related: int = 20,
        alpha: float | str = "auto",
        beta: float | npt.ArrayLike = 0.01,
        n_sweeps: int = 1000,
        init: Any = "random",
        scan: str = "given",
        burstiness: bool = True,
        tie_duplicates: bool = False,
        sampler: str = "auto",
        block_size: int | None = None,
        backend: str = "auto",
        n_jobs: int | None = None,
        tol: float | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
    ) -> None:
        super().__init__(
            n_clusters,
            alpha=alpha,  # type: ignore[arg-type]
            beta=beta,
            n_sweeps=n_sweeps,
            init=init,
            scan=scan,
            burstiness=burstiness,
            tie_duplicates=tie_duplicates,
            sampler=sampler,
            block_size=block_size,
            backend=backend,
            n_jobs=n_jobs,
            tol=tol,
            max_time=max_time,
            random_state=random_state,
            callbacks=callbacks,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )
        self.word_vectors = word_vectors
        self.promotion = promotion
        self.threshold = threshold
        self.max_related = max_related

    def _urn(self, counts: Counts, beta: npt.NDArray[np.float64]) -> urns.Urn:
        auto = isinstance(self.alpha, str)
        alpha = AUTO_ALPHA / int(self.n_clusters) if auto else float(self.alpha)
        return urns.finite(int(self.n_clusters), alpha, beta, self.burstiness)
