"""The CPU backend: exact Gibbs in numba, one thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from coterie import state as state_room
from coterie.backends.base import SweepStats
from coterie.counts import Counts
from coterie.kernels import gibbs, layout, summary
from coterie.kernels._slots import BLOCK
from coterie.state import State
from coterie.urns import Urn

CHUNK_WORDS = 2_000_000  # ask `should_stop` after about this many words: some tenths of a second
BASE_BYTES = 8 * 2**20  # memory for base terms kept per length
ROW_LIST = 4096  # rows multiplied in at once by a long document

log = logging.getLogger("coterie")


class Handle:
    """A state being sampled, with what is derived from it."""

    def __init__(self, counts: Counts, urn: Urn, state: State) -> None:
        self.counts, self.urn, self.state = counts, urn, state
        self.word_nats, self.is_long = _static(counts, urn)
        symmetric = urn.beta.size > 0 and bool((urn.beta == urn.beta[0]).all())
        self.table = np.zeros((summary.TABLE if symmetric else 0, 2))
        if symmetric:
            summary.fill_table(float(urn.beta[0]), urn.unit, self.table)
        chunks = max(1, int(counts.ptr[-1]) // CHUNK_WORDS)
        self.stops = np.linspace(0, counts.n_docs, chunks + 1).astype(np.int64)[1:]
        self.work = self._work()

    def relayout(self) -> None:
        """Lay the state anew, and derive everything from it again; the statistics go on."""
        stats = self.work.stats
        self.state = state_room.relayout(self.urn, self.state)
        self.work = self._work()
        self.work.stats[:] = stats

    def _work(self) -> gibbs.Work:
        counts, state = self.counts, self.state
        width = state.size.size
        any_long = bool(self.is_long.any())
        lengths = np.unique(counts.length[~self.is_long])
        base_row = np.full(int(lengths.max(initial=0)) + 1, -1, np.int32)
        if lengths.size * width * 8 > BASE_BYTES:
            lengths = lengths[:0]
        base_row[lengths] = np.arange(lengths.size)
        work = gibbs.Work(
            inv_beta=np.empty(counts.n_words),
            word_nats=self.word_nats,
            is_long=self.is_long,
            base_row=base_row,
            base=np.zeros((lengths.size, width)),
            log_weight=np.zeros(width if any_long else 0),
            log_total=np.zeros(width if any_long else 0),
            cum_weight=np.zeros(counts.n_docs + 1, np.int64),
            product=np.ones(width),
            scale=np.zeros(width),
            extra=np.zeros(width),
            weight=np.zeros(width + 1),
            partial=np.zeros(width // BLOCK + 1),
            touched=np.zeros(width + 1, np.int32),
            place=np.zeros(int(np.diff(counts.ptr).max(initial=0)), np.int64),
            row=np.zeros(max(ROW_LIST, base_row.size), np.int32),
            rate=np.zeros(max(ROW_LIST, base_row.size)),
            stats=np.zeros(4, np.int64),
        )
        gibbs.open_work(counts, self.urn, state, work)
        return work


class CpuBackend:
    """See `coterie.backends.base.Backend`."""

    name = "cpu"

    def supports(self, urn: Urn, sampler: str) -> str | None:
        """Every urn, by exact Gibbs."""
        if sampler in ("auto", "gibbs"):
            return None
        return f"sampler={sampler!r} does not exist; the CPU backend has 'gibbs' (and 'auto')."

    def open(self, counts: Counts, urn: Urn, state: State) -> Handle:
        """Take the state over."""
        announce_compilation()
        return Handle(counts, urn, state)

    def sweep(
        self, handle: Handle, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once, in order."""
        if sweep > 1 and state_room.wants_relayout(handle.state, sweep):
            handle.relayout()
        handle.work.stats[:] = 0
        done = 0
        for stop in handle.stops:
            while done < stop:
                done = gibbs.sweep(
                    handle.counts, handle.urn, handle.state, handle.work,
                    np.uint64(key), sweep, done, stop,
                )  # fmt: skip
                if done < stop:
                    handle.relayout()
            if should_stop is not None and stop < handle.counts.n_docs and should_stop():
                return None
        moved, refused, full_sums, touched_draws = (int(x) for x in handle.work.stats)
        return SweepStats(moved, refused, full_sums, touched_draws)

    def joint_terms(self, handle: Handle) -> tuple[float, float]:
        """Sums over all word counts, for the trace."""
        out = np.zeros(2)
        summary.word_terms(handle.urn, handle.state, handle.table, out)
        return float(out[0]), float(out[1])

    def fetch(self, handle: Handle) -> State:
        """The state as it is now."""
        return handle.state


BACKEND = CpuBackend()


def announce_compilation() -> None:
    """Say so when the kernels must be compiled now: the first fit on a machine waits for it."""
    if getattr(gibbs.sweep, "signatures", True):  # compiled already, or not compiled at all
        return
    cache = getattr(gibbs.sweep, "_cache", None)
    index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
    if index is None or not Path(index).exists():
        log.warning("coterie compiles its kernels, once on this machine: about ten seconds.")


def _static(counts: Counts, urn: Urn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Per word, the nats an occurrence may add; per document, whether it takes the long way.

    Bounds over every state: no cluster holds more of a word, or more words, than the corpus does.
    """
    held = np.zeros(counts.n_words)
    layout.word_totals(counts, held)
    np.add.at(held, urn.seed_word, urn.seed_count)
    nats = np.log1p(held * urn.unit / urn.beta)
    gain = np.empty(counts.n_docs)
    layout.document_sums(counts, nats, gain)
    words = float((counts.length * counts.weight).sum() + urn.seed_count.sum()) * urn.unit
    loss = counts.length * np.log1p(words / urn.beta_sum)
    longest = np.maximum(gain, loss)
    return nats, (longest > gibbs.SAFE_NATS) | (counts.weight > 1)
