"""GSDMM: the finite mixture of Yin & Wang (KDD 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import urns
from coterie._allowed import number, whole
from coterie.counts import Counts
from coterie.errors import InvalidInput
from coterie.estimators._base import BaseMixture
from coterie.estimators._values import LOCATION
from coterie.sample_start import is_large


class GSDMM(BaseMixture):
    """Dirichlet multinomial mixture with at most `n_clusters` clusters, by collapsed Gibbs sampling.

    Clusters that are not needed disappear, so `n_clusters` is a maximum: choose it larger than you expect.

    Parameters
    ----------
    n_clusters : int
        Maximum number of clusters (K in the paper).
    alpha : float
        Pseudo-documents in every cluster. With 0, an empty cluster is never used again.
    beta : float, or array with one value per word
        Pseudo-occurrences of every word in every cluster. Larger values give fewer, broader clusters.
    embedder : str, path or callable, optional
        Use vectors of the documents together with their words. "auto" is the table of token vectors that
        is installed with coterie; see `coterie.embedders.resolve` for the others. None: words only,
        unless vectors are passed to `fit` as `embeddings`.
    kappa : float or "auto"
        How much the vectors count. "auto" learns it in the first sweeps: the value under which the
        vectors alone predict the clusters best.
    split_merge : bool
        After every sweep, also propose to divide clusters and to join them, as valid steps of the chain
        (Jain and Neal 2004). It takes longer, and leaves clusters in which several subjects are stuck.
    n_sweeps : int
        Passes over the documents.
    init : "random", "one", "online", "sample", "auto", int or labels
        The start: documents assigned at random to all `n_clusters` clusters ("random"), all in one
        cluster ("one"), assigned in one pass in order ("online"), a tenth of them sampled first and the
        others placed after that ("sample"), assigned at random to this number of clusters, or these
        labels. "auto" is "sample" from 200,000 documents on, and "random" below.
    scan : "given" or "random"
        The order in which a sweep draws the documents: as given, or a new random order in each sweep.
    burstiness : bool
        True: repeated words count as in Eq. 4. False: the naive Bayes form of Eq. 3.
    tie_duplicates : bool
        Keep documents with identical words in the same cluster.
    sampler : "auto", "gibbs", "blocked", "metropolis", "uncollapsed" or "em"
        How documents are drawn. "gibbs": exactly, one after the other. "blocked": all documents of a
        block given the same counts, each leaving itself out, so that `n_jobs` threads can share the
        work. "metropolis": by proposals from saved probabilities, once few documents move.
        "uncollapsed": all at once, given word distributions. "em": Nigam's EM. For the last three, see
        `XDMM`. "auto" uses "gibbs", or "blocked" for large corpora; `trace_.notes` says which and why.
    block_size : int, optional
        Documents per block; None chooses it from their number. Labels depend on the block size.
    backend : "auto", "cpu", "cuda", "sharded" or "dask"
        Where the documents are drawn. "auto" is "cpu". "cuda" is an NVIDIA GPU (samplers "blocked" and
        "uncollapsed"; install `cupy-cuda12x` or `cupy-cuda13x`). "sharded" divides large corpora
        into parts that do not see each other within a sweep; "dask" gives these parts to the workers of a
        Dask cluster, with the same labels.
    n_jobs : int, optional
        Threads for predicting, and for the samplers "blocked", "uncollapsed" and "em"; exact Gibbs is
        sequential. The labels do not depend on it.
    tol : float, optional
        Stop early once the likelihood per word rises by less than this per sweep and the share of
        documents that move no longer falls. None: run all sweeps.
    max_time : float, optional
        Time limit in seconds; the current sweep is finished.
    random_state : int, optional
        The seed. The same seed, data, settings and version of coterie give the same labels, with any
        number of threads and after a resume.
    callbacks : list of callables, optional
        Called with an event after every sweep (see `event.record`); return True to stop the run.
    checkpoint : path, optional
        A file to which the state of the run is saved. If it exists, the run continues from it.
    checkpoint_every : int
        Sweeps between two checkpoints.

    Attributes
    ----------
    labels_ : array
        Cluster of each document, from the last sweep; clusters are numbered by size, largest first.
    n_clusters_, cluster_sizes_ : int, array
    trace_ : Trace
        A record of every sweep.
    converged_, stop_reason_ : bool, str
        Whether the run converged, and why it stopped.
    outlier_scores_ : array
    model_ : Model

    Examples
    --------
    >>> from coterie import GSDMM
    >>> texts = ["red apple pie", "apple pie recipe", "fast car race", "car race driver"]
    >>> model = GSDMM(n_clusters=10, random_state=1).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[1])
    True
    """

    _parameters = {
        "n_clusters": whole(1, 2**53),
        "alpha": number(0.0, inclusive=True, high=1e100),
        **LOCATION,
    }
    _starts = ("random", "one", "online", "sample", "auto")

    def __init__(
        self,
        n_clusters: int = 500,
        *,
        alpha: float = 0.1,
        beta: float | npt.ArrayLike = 0.1,
        embedder: Any = None,
        kappa: float | str = "auto",
        split_merge: bool = False,
        n_sweeps: int = 30,
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
        checkpoint_every: int = 1,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
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

    def _urn(self, counts: Counts, beta: npt.NDArray[np.float64]) -> urns.Urn:
        return urns.finite(int(self.n_clusters), self.alpha, beta, self.burstiness)

    def _init(self, corpus: Any) -> Any:
        init = super()._init(corpus)
        if isinstance(init, str):
            if init == "auto":
                return "sample" if is_large(corpus.counts) else "random"
            if init == "online" and self.alpha == 0:
                raise InvalidInput(
                    "init='online' of GSDMM needs alpha > 0: with alpha = 0, no cluster can be started."
                )
            return init
        started = np.unique(init).size if isinstance(init, np.ndarray) else int(init)
        if started > self.n_clusters:
            raise InvalidInput(
                f"init of GSDMM starts with {started} clusters, but n_clusters is {self.n_clusters}."
            )
        return init
