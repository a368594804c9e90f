"""The uncollapsed sampler (X-DMM's Algorithm 3): draw theta and phi, then every document given them.

phi="draw" is a Gibbs sampler of the same posterior as the collapsed one, but slower to get there: a
document is drawn against word distributions it helped to make. phi="mean" takes theta and phi at
their posterior means, as the paper does in practice; it settles earlier, but what it settles on is not
the posterior. A document's words do not change phi within a sweep, so Eq. 3 and Eq. 4 (the
urn's `burstiness`) are the same thing here, and so is any order of the scan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from coterie._rng import DRAW_PHI, DRAW_THETA
from coterie.backends._chain import BaseChain
from coterie.backends._team import Team
from coterie.backends.base import DEFAULT, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.errors import Unsupported
from coterie.kernels import gammas, uncollapsed
from coterie.state import Assignment, State, dense, from_labels, relayout, with_ids, word_counts
from coterie.urns import NO_CAP, Urn

MAX_BYTES = 4 * 2**30  # memory for tables of words x clusters, at most
CHUNK_ADDS = 400_000_000  # ask `should_stop` after so many additions: some tenths of a second
CHUNK_GAMMAS = 4_000_000  # likewise, for each thread
SCRATCH_BYTES = 512 * 2**10  # documents x clusters that a thread scores at once, in its cache
TOGETHER = 8  # clusters drawn together: their words then fill whole cache lines of the table

ShouldStop = Callable[[], bool] | None
Floats = npt.NDArray[np.float64]


def refusal(urn: Urn, options: SamplerOptions, others: str = "'gibbs' or 'blocked'") -> str | None:
    """Why this sampler (or EM) cannot take this urn, in a sentence that names others; None if it can."""
    if urn.sizes.cap == NO_CAP or urn.seeds.weight.size or urn.relations.promotion:
        return (
            f"sampler={options.sampler!r} takes the finite urn alone: a fixed number of clusters,"
            f" neither seeds nor word vectors; use sampler={others}."
        )
    if urn.location.kappa:
        return f"sampler={options.sampler!r} cannot use document vectors; use sampler={others}."
    if options.phi not in ("draw", "mean"):
        return f"phi must be 'draw' or 'mean'; got {options.phi!r}."
    return None


class UncollapsedChain(BaseChain):
    """A state being sampled with theta and phi; both are forgotten after every sweep."""

    def __init__(
        self, counts: Counts, urn: Urn, state: State, options: SamplerOptions = DEFAULT
    ) -> None:
        most = urn.sizes.cap if options.phi == "draw" else min(urn.sizes.cap, counts.n_docs + 1)
        check_memory(options.sampler, counts.n_words, most, tables=1)
        super().__init__(counts, urn, relayout(urn, state)[0], options)
        self.room = np.empty(counts.n_words * most)
        self.weights = np.empty((options.n_jobs, max(SCRATCH_BYTES // 8, most)))
        self.drawn = np.empty(counts.n_docs, np.int64)
        self.top = np.empty(counts.n_docs)
        self.team = Team(options.n_jobs)

    refusal = staticmethod(refusal)

    def sweep(self, key: int, sweep: int, should_stop: ShouldStop = None) -> SweepStats | None:
        """Draw theta, phi and every document once; None if `should_stop` said yes on the way."""
        n_open = self.state.n_open
        if self.options.phi == "mean":
            log_theta, log_phi, many = self._means(n_open)
        else:
            log_theta, many = drawn_theta(self.urn, self.state.size[:n_open], key, sweep), 1
            log_phi = self._table(log_theta.size)
            if not self._draw_phi(log_phi, key, sweep, should_stop):
                return None
        counts, drawn, top, n = self.counts, self.drawn, self.top, log_theta.size

        def draw(part: int) -> None:
            weights = self.weights[part, : self.weights.shape[1] // n * n].reshape(-1, n)
            for first in range(ends[part], ends[part + 1], len(weights)):
                last = min(first + len(weights), ends[part + 1])
                weight = weights[: last - first]
                tables = counts, log_theta, log_phi, many, True
                uncollapsed.score(*tables, first, last, weight, drawn, top)
                np.exp(weight, out=weight)
                uncollapsed.pick(weight, many, np.uint64(key), sweep, first, drawn)

        for first, last in chunks(counts, n):
            if first and should_stop is not None and should_stop():
                return None
            ends = shares(counts.ptr, first, last, self.team.n)
            self.team.run(draw)
        moved = int(counts.weight[drawn != self.state.z].sum())
        self._take(drawn)
        return SweepStats("uncollapsed", moved)

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment."""
        super().replace(assignment)
        self.state = relayout(self.urn, self.state)[0]

    def _take(self, drawn: npt.NDArray[np.int64]) -> None:
        """The state of what was drawn: clusters that were open keep their ids, others get new ones."""
        before, slots = self.state.assignment, np.unique(drawn)
        n_open = self.state.n_open
        ids = np.append(before.id[:n_open], before.next_id + np.arange(slots.size))[
            np.where(slots < n_open, slots, n_open + np.cumsum(slots >= n_open) - 1)
        ]
        next_id = before.next_id + int((slots >= n_open).sum())
        self.state = with_ids(from_labels(self.counts, self.urn, dense(drawn)), ids, next_id)

    def _draw_phi(self, log_phi: Floats, key: int, sweep: int, should_stop: ShouldStop) -> bool:
        """ln phi_k ~ Dirichlet(n_k + beta), a column each, those of empty clusters from the prior.

        False if `should_stop` said yes on the way.
        """
        n_words, n = log_phi.shape
        ptr, slot, held = word_counts(self.state)
        word = np.repeat(np.arange(n_words), np.diff(ptr))
        by_cluster = np.argsort(slot, kind="stable")
        ends = np.searchsorted(slot[by_cluster], np.arange(n + 1))

        def log_phi_of(k: int) -> Floats:
            mine = by_cluster[ends[k] : ends[k + 1]]
            shape = self.urn.words.beta.copy()
            shape[word[mine]] += held[mine]
            value = log_gammas(shape, key, sweep, k, DRAW_PHI)
            value -= value.max()
            value -= math.log(np.exp(np.maximum(value, uncollapsed.FAINT)).sum())
            return value

        def draw(part: int) -> None:
            for first in starts[part :: self.team.n]:
                some = range(first, min(first + TOGETHER, n))
                columns = [log_phi_of(k) for k in some]
                log_phi[:, first : first + TOGETHER] = np.stack(columns, axis=1)

        at_once = max(1, CHUNK_GAMMAS // (TOGETHER * n_words)) * TOGETHER * self.team.n
        for at in range(0, n, at_once):
            if at and should_stop is not None and should_stop():
                return False
            starts = range(at, min(at + at_once, n), TOGETHER)
            self.team.run(draw)
        return True

    def _means(self, n_open: int) -> tuple[Floats, Floats, int]:
        """ln theta (up to a constant) and ln phi at their means, and how many clusters are empty.

        These are all alike: one column, the last, stands for them.
        """
        urn, state = self.urn, self.state
        log_theta, many = mean_theta(urn, state.size[:n_open])
        n = log_theta.size
        log_total = np.log(np.append(state.total[:n_open], 0)[:n] + urn.words.beta_sum)
        log_phi = self._table(n)
        log_phi[:] = 0.0
        ptr, slot, held = word_counts(state)
        log_phi[np.repeat(np.arange(ptr.size - 1), np.diff(ptr)), slot] = held
        take_logs(self.team, urn.words.beta, log_total, log_phi)
        return log_theta, log_phi, many

    def _table(self, n: int) -> Floats:
        return self.room[: self.counts.n_words * n].reshape(-1, n)


def drawn_theta(urn: Urn, size: npt.NDArray[np.int64], key: int, sweep: int) -> Floats:
    """ln theta ~ Dirichlet(m + alpha), up to a constant; with alpha = 0 of the open clusters only."""
    alpha = urn.sizes.prior
    n_empty = urn.sizes.cap - size.size if alpha > 0.0 else 0
    shape = np.append(size + alpha, np.full(n_empty, alpha))
    return log_gammas(shape, key, sweep, 0, DRAW_THETA)


def mean_theta(urn: Urn, size: npt.NDArray[np.int64]) -> tuple[Floats, int]:
    """ln theta at its mean, up to a constant, and how many clusters the last column stands for.

    The empty ones are all alike: one column for all of them.
    """
    n_empty = urn.sizes.cap - size.size if urn.sizes.prior > 0.0 else 0
    sizes = np.append(size, 0) if n_empty else size
    return np.log(sizes + urn.sizes.prior), max(n_empty, 1)


def log_gammas(shape: Floats, key: int, sweep: int, cluster: int, first: int) -> Floats:
    """ln of Gamma(shape) variates, from the numbers at an address."""
    value = np.empty(shape.size)
    gammas.fill(shape, np.uint64(key), sweep, cluster, first, value)
    return value


def take_logs(team: Team, beta: Floats, log_total: Floats, words: Floats) -> None:
    """Turn n_kw into ln((n_kw + b_w) / (n_k + Vb)), in place; `log_total` is ln(n_k + Vb)."""
    step = max(1, SCRATCH_BYTES // (8 * log_total.size))  # words that stay in the cache

    def log(part: int) -> None:
        for first in range(part * step, len(words), step * team.n):
            some = words[first : first + step]
            some += beta[first : first + step, None]
            np.log(some, out=some)
            some -= log_total

    team.run(log)


def chunks(counts: Counts, width: int) -> Iterator[tuple[int, int]]:
    """Documents between two questions whether to stop."""
    n = max(1, int(counts.ptr[-1]) * width // CHUNK_ADDS)
    ends = np.unique(shares(counts.ptr, 0, counts.n_docs, n))
    yield from zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)


def shares(ptr: npt.NDArray[np.int64], first: int, last: int, n: int) -> npt.NDArray[np.int64]:
    """Where n shares of the documents first..last-1 begin, and the last one's end: as many words each."""
    wanted = np.linspace(ptr[first], ptr[last], n + 1)[1:-1]
    inner = first + np.searchsorted(ptr[first:last], wanted)
    return np.concatenate([[first], inner, [last]]).astype(np.int64)


def check_memory(sampler: str, n_words: int, n_clusters: int, tables: int) -> None:
    """Refuse tables that would not fit, before they are made."""
    need = n_words * n_clusters * 8 * tables
    if need > MAX_BYTES:
        raise Unsupported(
            f"sampler={sampler!r} keeps tables of {n_words} words x {n_clusters} clusters, which take"
            f" {need / 2**30:.1f} GiB, above its limit of {MAX_BYTES / 2**30:.1f}; use sampler='blocked',"
            " allow fewer clusters, or leave out rare words."
        )
