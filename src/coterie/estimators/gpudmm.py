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

AUTO_ALPHA = 50.0  # divided by the number of clusters, as in the paper


class GPUDMM(GSDMM):
    """Dirichlet multinomial mixture that uses word vectors to relate words.

    When a word joins a cluster to which it is strongly related, its related words (with similar
    vectors) gain `promotion` there, too. (GPU stands for generalized Pólya urn; no graphics card is
    needed.)

    Parameters
    ----------
    n_clusters : int
        Maximum number of clusters (K in the paper).
    word_vectors : dict, path, (words, matrix), gensim KeyedVectors or callable, optional
        Vectors of words; words without a vector have no related words. A path may be a word2vec (text
        or binary) or GloVe file, or an .npz file with `words` and `vectors`. None: no related words.
    promotion : float
        How much an occurrence of a word adds to each related word (mu); rounded to a fraction with a
        denominator of at most 1,000, so that counts stay exact.
    threshold : float, from -1 to 1
        Words are related if the cosine of their vectors is above this.
    max_related : int
        Words with more related words than this, counting themselves, promote none (often names, places,
        numbers).
    alpha : float or "auto"
        Pseudo-documents in every cluster; "auto" is 50 / n_clusters, as in the paper.
    beta : float, or array with one value per word
        Pseudo-occurrences of every word in every cluster.

    The other parameters, the attributes and methods are those of `GSDMM`; `related_` contains the
    related words. The trace has no joint probability, since the order of draws matters in this model.

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
