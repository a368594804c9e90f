"""EM for the same mixture (EM-DMM of Nigam et al., 2000): nothing is drawn after the start.

A sweep is an E-step, each document's share in every cluster, and the M-step from these shares:
theta_k = (m_k + alpha) / (D + K alpha), phi_kw = (n_kw + b_w) / (n_k + Vb), where m and n are sums of
shares. That climbs `objective`, the likelihood times a prior Dirichlet(1 + alpha) x Dirichlet(1 + beta),
and never falls. A document's label is the cluster with its largest share. g copies of a document
are g documents: all have the same shares, so they stay together by themselves. As phi is fixed within
a sweep, the urn's `burstiness` says nothing here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends._chain import BaseChain
from coterie.backends._team import Team
from coterie.backends._uncollapsed import (
    SCRATCH_BYTES,
    Floats,
    ShouldStop,
    check_memory,
    refusal,
    shares,
    take_logs,
)
from coterie.backends.base import DEFAULT, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.kernels import uncollapsed
from coterie.state import Assignment, State, dense, from_labels, with_ids
from coterie.urns import Urn

SHARE_BYTES = 16 * 2**20  # documents x clusters held at once
LINE = 8  # clusters in a cache line: no two threads sum in the same one


class EMChain(BaseChain):
    """Theta and phi being improved; the state holds the labels that follow from them."""

    def __init__(
        self, counts: Counts, urn: Urn, state: State, options: SamplerOptions = DEFAULT
    ) -> None:
        check_memory("em", counts.n_words, urn.sizes.cap, tables=2)
        super().__init__(counts, urn, state, options)
        self.team = Team(options.n_jobs)
        self.best = state.z
        self.objective = np.nan  # of theta and phi as the last sweep found them
        at_once = max(1, min(counts.n_docs, SHARE_BYTES // (8 * urn.sizes.cap)))
        self.share = np.zeros((at_once, urn.sizes.cap))
        self.top = np.empty(counts.n_docs)
        self.log_theta = np.empty(urn.sizes.cap)
        self.log_phi = np.empty((counts.n_words, urn.sizes.cap))
        self.words = np.empty_like(self.log_phi)  # n_kw, then the next phi
        self._begin()

    refusal = staticmethod(refusal)

    def sweep(self, key: int, sweep: int, should_stop: ShouldStop = None) -> SweepStats | None:
        """One step of EM; None, and nothing changed, if `should_stop` said yes on the way."""
        counts = self.counts
        best, fit = np.empty(counts.n_docs, np.int32), np.empty(counts.n_docs)
        size = np.zeros(self.urn.sizes.cap)
        self.words[:] = 0.0
        for first in range(0, counts.n_docs, len(self.share)):
            if first and should_stop is not None and should_stop():
                return None
            last = min(first + len(self.share), counts.n_docs)
            self._respond(first, last, best, fit)
            self._gather(first, last, size)
        self.objective = float(counts.weight @ fit) + self._log_prior()
        self._maximise(size)
        moved = int(counts.weight[best != self.best].sum())
        self.best = best
        self.state = with_ids(
            from_labels(counts, self.urn, dense(best)), np.unique(best), self.urn.sizes.cap
        )
        return SweepStats("em", moved)

    def replace(self, assignment: Assignment) -> None:
        """Go on from other labels, every document wholly in its cluster."""
        super().replace(assignment)
        self._begin()

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """What the labels do not tell, and a resumed run needs (shared, not copied)."""
        return {"em_best": self.best, "em_log_theta": self.log_theta, "em_log_phi": self.log_phi}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Go on from a `memory()` that was read from a file, together with its state."""
        mine, arrays = self.memory(), memory
        fits = set(arrays) == set(mine) and all(
            arrays[name].shape == array.shape and arrays[name].dtype == array.dtype
            for name, array in mine.items()
        )
        if not fits or not self._is_sound(*(arrays[name] for name in mine)):
            return False
        for name, array in mine.items():
            array[:] = arrays[name]
        self.state = with_ids(self.state, np.unique(self.best), self.urn.sizes.cap)
        return True

    def _is_sound(self, best: npt.NDArray[np.int32], log_theta: Floats, log_phi: Floats) -> bool:
        """Whether these are labels of the state, and logs of distributions."""
        alpha = self.urn.sizes.prior
        return bool(
            ((best >= 0) & (best < self.urn.sizes.cap)).all()
            and (dense(best) == self.state.z).all()
            and (log_theta <= 0.0).all()  # which nan is not
            and (log_phi <= 0.0).all()
            and (alpha == 0.0 or np.isfinite(log_theta).all())
            and np.isfinite(log_phi).all()
            and np.allclose(np.exp(log_theta).sum(), 1.0, atol=1e-6)
            and np.allclose(np.exp(log_phi).sum(axis=0), 1.0, atol=1e-6)
        )

    def _begin(self) -> None:
        """Theta and phi from the state's labels, every document wholly in its cluster."""
        self.best = dense(
            self.state.z
        )  # the component of each document, which is also its cluster's id
        slots = np.unique(self.best)
        self.state = with_ids(
            from_labels(self.counts, self.urn, self.best), slots, self.urn.sizes.cap
        )
        size = np.zeros(self.urn.sizes.cap)
        self.words[:] = 0.0
        for first in range(0, self.counts.n_docs, len(self.share)):
            last = min(first + len(self.share), self.counts.n_docs)
            self.share[:] = 0.0
            self.share[np.arange(last - first), self.best[first:last]] = 1.0
            self._gather(first, last, size)
        self._maximise(size)

    def _respond(self, first: int, last: int, best: npt.NDArray[np.int32], fit: Floats) -> None:
        """The E-step: how much of each document every cluster has."""
        ends = shares(self.counts.ptr, first, last, self.team.n)
        tables = self.counts, self.log_theta, self.log_phi, 1, False
        step = max(1, SCRATCH_BYTES // (8 * self.urn.sizes.cap))

        def respond(part: int) -> None:
            for at in range(ends[part], ends[part + 1], step):
                end = min(at + step, ends[part + 1])
                weight = self.share[at - first : end - first]
                uncollapsed.score(*tables, at, end, weight, best, self.top)
                np.exp(weight, out=weight)
                uncollapsed.normalise(weight, self.top, at, fit)

        self.team.run(respond)

    def _gather(self, first: int, last: int, size: Floats) -> None:
        """Sums over these documents, every thread those of its own clusters."""
        lines = np.linspace(0, -(-self.urn.sizes.cap // LINE), self.team.n + 1).astype(np.int64)
        ends = np.minimum(lines * LINE, self.urn.sizes.cap)

        def gather(part: int) -> None:
            where = first, last, ends[part], ends[part + 1]
            uncollapsed.gather(self.counts, self.share, *where, size, self.words)

        self.team.run(gather)

    def _maximise(self, size: Floats) -> None:
        """The M-step: new theta and phi from the sums in `size` and `self.words`."""
        weight = size + self.urn.sizes.prior
        with np.errstate(divide="ignore"):  # alpha = 0: a cluster may have died out
            self.log_theta = np.log(weight / weight.sum())
        log_total = np.log(self.words.sum(axis=0) + self.urn.words.beta_sum)
        take_logs(self.team, self.urn.words.beta, log_total, self.words)
        self.log_phi, self.words = self.words, self.log_phi

    def _log_prior(self) -> float:
        """alpha sum_k ln theta_k + sum_kw b_w ln phi_kw."""
        alpha = self.urn.sizes.prior
        sizes = alpha * float(self.log_theta.sum()) if alpha > 0.0 else 0.0
        return sizes + float(self.urn.words.beta @ self.log_phi.sum(axis=1))
