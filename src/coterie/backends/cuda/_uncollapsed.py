"""Algorithm 3 of X-DMM on the GPU: the labels of the CPU's uncollapsed chain, up to rounding in a draw.

theta is drawn on the host, from the sizes alone; phi, with a number for each word and cluster, on the card.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie.backends._uncollapsed import drawn_theta, mean_theta
from coterie.backends.base import SamplerOptions, SweepStats
from coterie.backends.cuda import _plan
from coterie.backends.cuda._counted import CountedChain
from coterie.backends.cuda._tables import launch_size
from coterie.counts import Counts
from coterie.state import Assignment, slots_wide
from coterie.urns import Urn

PART = 1024  # words that are summed at a time
THREADS = 256
NULL = np.uint64(0)


class CudaUncollapsed(CountedChain):
    """Labels being sampled with theta and phi; both are forgotten after every sweep."""

    kind = "cuda uncollapsed"

    def __init__(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions, device: Any
    ) -> None:
        super().__init__(counts, urn, assignment, options, device)
        self.column = device.xp.empty(counts.n_docs, np.int64)
        self._begin(assignment)
        most = urn.sizes.cap if options.phi == "draw" else min(urn.sizes.cap, counts.n_docs + 1)
        _plan.check_phi(counts, most, options.phi, device.free_bytes())
        self._close_gaps()

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment of the same documents."""
        super().replace(assignment)
        self._close_gaps()

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw theta, phi and every document once; None if `should_stop` said yes on the way."""
        size = self.device.to_host(self.tables.size)
        size = size[: int((size > 0).sum())]
        if self.options.phi == "mean":
            log_theta, many = mean_theta(self.urn, size)
            log_phi = self._mean_phi(log_theta.size)
        else:
            log_theta, many = drawn_theta(self.urn, size, key, sweep), 1
            log_phi = self._drawn_phi(log_theta.size, key, sweep)
        if should_stop is not None and should_stop():
            return None
        self._draw(log_theta, log_phi, many, key, sweep)
        del log_phi
        self._seen = None
        self._take(size.size)
        return SweepStats("uncollapsed", self.tables.take_moved())

    def _draw(
        self, log_theta: npt.NDArray[np.float64], log_phi: Any, many: int, key: int, sweep: int
    ) -> None:
        """Draw a column for every document."""
        device, corpus, width = self.device, self.corpus, log_phi.shape[1]
        blocks, threads, shared = launch_size(device, width, corpus.n_docs)
        scratch = NULL if shared else device.xp.empty((blocks, width), np.float64)
        args = (
            *corpus.words[:3], corpus.weight, device.xp.asarray(log_theta), log_phi, np.int32(width),
            np.int32(log_theta.size), np.int64(many), np.int64(corpus.n_docs), np.uint64(key),
            np.uint64(sweep), np.uint64(_rng.DRAW_ONE), scratch, self.column,
        )  # fmt: skip
        device.launch("draw_given", blocks, threads, args, shared)

    def _take(self, n_open: int) -> None:
        """Let the documents move: clusters that were open keep their ids, others get new ones."""
        xp = self.device.xp
        columns = self.device.to_host(xp.unique(self.column))
        is_new = columns >= n_open
        slots = np.where(is_new, n_open + np.cumsum(is_new) - 1, columns)
        n_new = int(is_new.sum())
        if n_open + n_new > self.tables.width:
            self._widen(n_new)
        self.ids[n_open : n_open + n_new] = self.next_id + np.arange(n_new)
        self.next_id += n_new
        place = xp.searchsorted(xp.asarray(columns), self.column)
        self.drawn[:] = xp.asarray(slots.astype(np.int32))[place]
        self.tables.move(self.drawn, None, 0, self.counts.n_docs)
        self._close_gaps()

    def _close_gaps(self) -> None:
        """Rename the open slots to 0, 1, ..., in their order."""
        size = self.device.to_host(self.tables.size)
        self._close(size)
        slots = np.flatnonzero(size > 0)
        if slots.size == int(slots.max(initial=-1)) + 1:
            return
        old = np.full(slots_wide(slots.size, self.urn.sizes.cap), -1, np.int32)
        old[: slots.size] = slots
        self._resize(old)

    def _mean_phi(self, n: int) -> Any:
        """ln phi at its mean; a column that is no slot is an empty cluster."""
        tables, words = self.tables, self.urn.words
        total = np.zeros(_wide(n))
        held = self.device.to_host(tables.total)[:n]
        total[: held.size] = held
        norm = self.device.xp.asarray(np.log(total + words.beta_sum))
        log_phi = self._table(n)
        args = (*self._held(), norm, np.int32(_wide(n)), np.int64(self.corpus.n_words), log_phi)
        self.device.launch("fill_means", self.device.n_processors * 8, THREADS, args)
        return log_phi

    def _drawn_phi(self, n: int, key: int, sweep: int) -> Any:
        """ln phi_k ~ Dirichlet(n_k + beta), those of empty clusters from the prior."""
        device, xp, width, n_words = self.device, self.device.xp, _wide(n), self.corpus.n_words
        value = xp.empty((n_words, width), np.float64)
        address = (np.uint64(key), np.uint64(sweep), np.uint64(_rng.DRAW_PHI))
        blocks, size = device.n_processors * 8, (np.int32(width), np.int64(n_words))
        args = (*self._held(), np.int64(n_words), np.int32(width), *address, value)
        device.launch("draw_gammas", blocks, THREADS, args)
        parts = -(-n_words // PART)
        top, total = (xp.empty((parts, width), np.float64) for _ in range(2))
        summed = (value, *size, np.int64(PART), top, total)
        device.launch("sum_columns", (-(-width // 32), parts), THREADS, summed)
        high = top.max(axis=0)
        norm = high + xp.log((total * xp.exp(top - high)).sum(axis=0))
        log_phi = self._table(n)
        device.launch("fill_phi", blocks, THREADS, (value, norm, *size, log_phi))
        return log_phi

    def _held(self) -> tuple[Any, ...]:
        tables, prior = self.tables, self.prior
        return tables.held, np.int32(tables.width), prior.beta, np.int32(prior.stride)

    def _table(self, n: int) -> Any:
        return self.device.xp.empty((self.corpus.n_words, _wide(n)), np.float32)


def _wide(n: int) -> int:
    """Columns for n clusters, as the kernels want them."""
    return -(-n // 16) * 16
