"""X-DMM: the finite mixture with the fast samplers of Li et al. (AAAI 2019)."""

from __future__ import annotations

from typing import Any

from coterie._allowed import either, nothing, number, one_of, whole
from coterie.backends.base import SamplerOptions
from coterie.estimators.gsdmm import GSDMM


class XDMM(GSDMM):
    """Dirichlet multinomial mixture with X-DMM's samplers and symmetric prior.

    Parameters
    ----------
    n_clusters : int
        Maximum number of clusters (K in the paper).
    sampler : "metropolis", "uncollapsed", "em", "gibbs", "blocked" or "auto"
        "metropolis": exact Gibbs until few documents move; then each proposes a cluster from saved
        probabilities, which is accepted or rejected by the true ones. "uncollapsed": all documents at
        once, given drawn (or mean) word distributions (Algorithm 3). "em": Nigam's EM, which is not
        random after the start.
    steps : int
        Proposals per document and sweep ("metropolis").
    refresh : int, optional
        Number of sweeps after which the saved probabilities are computed again, as in the paper (there:
        about n_clusters). This makes the chain slightly biased, since it proposes from its own past.
        None never refreshes them, which is exact.
    phi : "mean" or "draw"
        Word distributions of "uncollapsed": their posterior mean, as in the paper, or drawn, which makes
        it a valid chain.

    The other parameters, the attributes and methods are those of `GSDMM`; beta must be a single number.

    Examples
    --------
    >>> from coterie import XDMM
    >>> texts = ["red apple pie", "apple pie recipe", "fast car race", "car race driver"]
    >>> model = XDMM(n_clusters=10, random_state=1).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[1])
    True
    """

    _parameters = {
        **GSDMM._parameters,
        "beta": number(1e-100, inclusive=True, high=1e9),
        "steps": whole(1, 1000),
        "refresh": either(nothing, whole(1)),
        "phi": one_of("mean", "draw"),
    }

    def __init__(
        self,
        n_clusters: int = 500,
        *,
        alpha: float = 0.1,
        beta: float = 0.1,
        n_sweeps: int = 30,
        init: Any = "random",
        scan: str = "given",
        burstiness: bool = True,
        tie_duplicates: bool = False,
        sampler: str = "metropolis",
        steps: int = 1,
        refresh: int | None = None,
        phi: str = "mean",
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
        super().__init__(
            n_clusters,
            alpha=alpha,
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
        self.steps = steps
        self.refresh = refresh
        self.phi = phi

    def _options(self) -> SamplerOptions:
        return (
            super()
            ._options()
            ._replace(
                steps=int(self.steps),
                refresh=None if self.refresh is None else int(self.refresh),
                phi=self.phi,
            )
        )
