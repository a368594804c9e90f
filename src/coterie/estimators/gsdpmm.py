"""GSDPMM: the Dirichlet process mixture of Yin & Wang (ICDE 2016)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import urns
from coterie._allowed import either, number, one_of
from coterie.counts import Counts
from coterie.estimators._base import BaseMixture

AUTO_ALPHA = 0.1  # of the number of documents: the paper's setting


class GSDPMM(BaseMixture):
    """Dirichlet process multinomial mixture: no cap on the clusters; loners become outliers.

    Parameters
    ----------
    alpha : float or "auto"
        Weight of a new cluster; "auto" is 0.1 times the number of documents, as in the paper.
    beta : float or array, one a word
        Pseudo-occurrences of every word in every cluster. Larger: fewer, broader clusters.
    init : "one", "online", int or labels
        Where to start: all in one cluster (the paper's), one pass in order, that many random
        clusters, or these labels.

    The other parameters, the attributes and methods are those of `GSDMM`.

    Examples
    --------
    >>> from coterie import GSDPMM
    >>> texts = ["red apple pie", "apple pie recipe", "fast car race", "car race driver"]
    >>> int(GSDPMM(random_state=1).fit(texts).labels_.min())
    0
    """

    _parameters = {"alpha": either(one_of("auto"), number(0.0, inclusive=False, high=1e100))}
    _starts = ("one", "online")

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        beta: float | npt.ArrayLike = 0.02,
        n_sweeps: int = 10,
        init: Any = "one",
        burstiness: bool = True,
        tie_duplicates: bool = False,
        sampler: str = "auto",
        backend: str = "auto",
        n_jobs: int | None = None,
        tol: float | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.n_sweeps = n_sweeps
        self.init = init
        self.burstiness = burstiness
        self.tie_duplicates = tie_duplicates
        self.sampler = sampler
        self.backend = backend
        self.n_jobs = n_jobs
        self.tol = tol
        self.max_time = max_time
        self.random_state = random_state
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def _urn(self, counts: Counts, beta: npt.NDArray[np.float64]) -> urns.Urn:
        auto = isinstance(self.alpha, str)
        alpha = AUTO_ALPHA * float(counts.weight.sum()) if auto else float(self.alpha)
        return urns.process(alpha, beta, self.burstiness)
