"""GSDPMM: the Dirichlet process mixture of Yin & Wang (ICDE 2016), with optional prior knowledge."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from coterie import urns
from coterie._allowed import either, number, one_of
from coterie.counts import Counts
from coterie.errors import InvalidInput
from coterie.estimators import _prior_knowledge
from coterie.estimators._base import LOCATION, BaseMixture
from coterie.sample_start import is_large
from coterie.seeds.report import SeedReport, seed_report

AUTO_ALPHA = 0.1  # times the number of documents, as in the paper


class GSDPMM(BaseMixture):
    """Dirichlet process multinomial mixture, without a maximum number of clusters.

    Parameters
    ----------
    alpha : float or "auto"
        Weight of a new cluster; "auto" is 0.1 times the number of documents, as in the paper.
    beta : float, or array with one value per word
        Pseudo-occurrences of every word in every cluster. Larger values give fewer, broader clusters.
    init : "auto", "one", "online", "sample", "anchored", "seeds", int or labels
        The start: all documents in one cluster, as in the paper ("one"); assigned in one pass in order
        ("online"); a tenth of them sampled first, the others placed after that ("sample"); documents
        that share words with seeds in the best seed, all others in one cluster ("anchored"); assigned
        to the seeds at random ("seeds"); assigned at random to this number of clusters; or these
        labels. "auto" is "sample" from 200,000 documents on; below, "anchored" with seeds and "one"
        without.
    seeds : dict, path, fitted model or Seeds, optional
        Topics you expect, as in `TSDPMM`.
    seed_weight, seed_repeat
        As in `TSDPMM`.
    word_vectors, promotion, threshold, max_related
        As in `GPUDMM`. With word_vectors=None, words are not related.
    embedder, kappa, split_merge
        As in `GSDMM`: document vectors together with words; splits and merges after every sweep.

    The other parameters, the attributes and methods are those of `GSDMM`.

    Examples
    --------
    >>> from coterie import GSDPMM
    >>> texts = ["red apple pie", "apple pie recipe", "fast car race", "car race driver"]
    >>> int(GSDPMM(random_state=1).fit(texts).labels_.min())
    0
    """

    _parameters = {
        "alpha": either(one_of("auto"), number(0.0, inclusive=False, high=1e100)),
        **_prior_knowledge.SEEDS,
        **_prior_knowledge.VECTORS,
        **LOCATION,
    }
    _starts: tuple[str, ...] = ("auto", "one", "online", "sample", "anchored", "seeds")

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        beta: float | npt.ArrayLike = 0.02,
        seeds: Any = None,
        seed_weight: Any = 1.0,
        seed_repeat: int = 10,
        word_vectors: Any = None,
        promotion: float = 0.3,
        threshold: float = 0.5,
        max_related: int = 20,
        embedder: Any = None,
        kappa: float | str = "auto",
        split_merge: bool = False,
        n_sweeps: int = 10,
        init: Any = "auto",
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
        checkpoint_every: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.seeds = seeds
        self.seed_weight = seed_weight
        self.seed_repeat = seed_repeat
        self.word_vectors = word_vectors
        self.promotion = promotion
        self.threshold = threshold
        self.max_related = max_related
        self.embedder = embedder
        self.kappa = kappa
        self.split_merge = split_merge
        self.n_sweeps = n_sweeps
        self.init = init
        self.scan = scan
        self.burstiness = burstiness
        self.tie_duplicates = tie_duplicates
        self.sampler = sampler
        self.block_size = block_size
        self.backend = backend
        self.n_jobs = n_jobs
        self.tol = tol
        self.max_time = max_time
        self.random_state = random_state
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def seed_report(self) -> SeedReport:
        """Report what became of each seed: its documents, words gained and lost, and the new clusters."""
        check_is_fitted(self)
        if self.model_.seeds is None:
            raise InvalidInput(
                f"This {type(self).__name__} was fitted without seeds, so there is nothing to report."
                " Pass seeds= and fit again."
            )
        return seed_report(self.model_)

    def _urn(self, counts: Counts, beta: npt.NDArray[np.float64]) -> urns.Urn:
        auto = isinstance(self.alpha, str)
        alpha = AUTO_ALPHA * float(counts.weight.sum()) if auto else float(self.alpha)
        return urns.process(alpha, beta, self.burstiness)

    def _init(self, corpus: Any) -> Any:
        init = super()._init(corpus)
        if isinstance(init, str) and init == "auto":
            if is_large(corpus.counts):
                return "sample"
            return "one" if self.seeds is None else "anchored"
        if isinstance(init, str) and init in ("anchored", "seeds") and self.seeds is None:
            raise InvalidInput(
                f"init={init!r} of {type(self).__name__} needs seeds. Pass seeds=, or use another init."
            )
        return init
