"""Blocked draws on the GPU: the labels of the CPU's blocked chain, up to rounding in a draw.

The rule is in `coterie/_rng.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie.backends.base import SamplerOptions, SweepStats
from coterie.backends.cuda import _plan
from coterie.backends.cuda._counted import CountedChain
from coterie.backends.cuda._fast import WIDEST, Quick, is_usable
from coterie.backends.cuda._tables import Corpus, base_terms, count_open, launch_size
from coterie.counts import Counts
from coterie.state import Assignment, slots_wide, wants_renaming
from coterie.urns import Urn

SORT_AGAIN = 0.05  # of the documents have moved: they are sorted by cluster again
DOT_BYTES = 2 * 2**30  # products of vectors and clusters held at once
NULL = np.uint64(0)


class CudaChain(CountedChain):
    """Labels being sampled on a GPU, block by block."""

    kind = "cuda blocked"

    def __init__(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions, device: Any
    ) -> None:
        super().__init__(counts, urn, assignment, options, device)
        self.own_norm = _norms(device, self.corpus)
        self.all_lengths = _plan.Lengths.found_in(counts)
        self.most_held = _plan.most_held(counts, urn)
        self.n_copies = int(counts.weight.sum())
        self.blocks = _plan.blocks_of(counts.n_docs, options.block_size)
        self.ends = np.cumsum([0, *(block.size for block in self.blocks)])
        self.scan = self._given_order()
        self.counters = device.xp.zeros(1, np.int64)
        # documents listed for the exact draw, and openers
        self.tallies = device.xp.zeros(2, np.int32)
        self.quick: Quick | None = None
        self.share_moved, self.share_listed, self.n_moved = 0.0, 0.0, 0
        self.strayed = 0.0  # documents that moved since they were sorted by cluster, as a share
        self._begin(assignment)

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        if sweep > 1:
            self._close_gaps(sweep)
        if self.options.scan == "random":
            u = _rng.uniform(key, sweep, np.arange(self.counts.n_docs), _rng.DRAW_SCAN)
            self.scan = self.device.xp.asarray(np.argsort(u, kind="stable").astype(np.int32))
        self._seen = None
        self.tables.moved[:] = 0
        if self.promoted is not None:
            self.promoted.note_start(self.tables, self.prior)
        for i, (first, last) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
            if i and should_stop is not None and should_stop():
                return None
            self._block(key, sweep, int(first), int(last))
        moved = self.n_moved if self.sizes is not None else self.tables.take_moved()
        self.share_moved = moved / max(self.n_copies, 1)
        self.strayed += self.share_moved
        return SweepStats("blocked", moved)

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values, and the same words and seeds."""
        self.quick = None
        super().retune(urn)

    def _derive(self) -> None:
        """Room for what follows from urn and width; it is filled before every block."""
        super()._derive()
        self.sizes: npt.NDArray[np.int64] | None = None  # on the card, if the host has read them
        width, xp = self.tables.width, self.device.xp
        self.flush = _plan.flush_every(self.most_held, self.urn)
        lengths, rows = _plan.base_lengths(self.all_lengths, width)
        self.lengths, self.base_row = xp.asarray(lengths), xp.asarray(rows)
        self.base = xp.empty((max(lengths.size, 1), width), np.float64)

    def _given_order(self) -> Any:
        """The documents in the order of the blocks; None where that is their own."""
        order = np.concatenate(self.blocks)
        if (order[1:] > order[:-1]).all():
            return None
        return self.device.xp.asarray(order.astype(np.int32))

    def _block(self, key: int, sweep: int, first: int, last: int) -> None:
        """Draw a block, open what it opens, and move it."""
        count_open(self.device, self.tables, self.counters)
        base_terms(self.device, self.tables, self.lengths, self.base)
        step = last - first
        if self.n_dimensions:
            step = max(1, DOT_BYTES // (4 * self.tables.width))
        self.tallies[:] = 0
        if self._pays(first, last):
            self._draw_quickly(key, sweep)
        else:
            for at in range(first, last, step):
                self._draw(key, sweep, at, min(at + step, last) - at)
        before = None if self.promoted is None else self.tables.z.copy()
        places, size = (self.scan, first, last - first), self.tables.size.copy()
        self.tables.move(self.drawn, *places)
        if self._open(first, last, size):
            self.tables.move(self.drawn, *places)
        if self.promoted is not None:
            self.promoted.draw(self.tables, self.prior, before, *places, key, sweep)

    def _pays(self, first: int, last: int) -> bool:
        """Whether to draw quickly first: a block of everything, where not most documents are in motion."""
        whole = last - first == self.counts.n_docs and self.scan is None
        if not whole or not is_usable(self.counts, self.urn, self.n_dimensions):
            return False
        return self.tables.width <= WIDEST and (self.share_moved < 0.5 or self.share_listed < 0.5)

    def _draw_quickly(self, key: int, sweep: int) -> None:
        """Draw all documents with a bound on the error, then exactly those that are not certain."""
        tables, xp = self.tables, self.device.xp
        if self.quick is None:
            self.quick = Quick(self.device, self.corpus, self.urn, self.prior, tables)
            self.listed, self.strayed = xp.empty(self.counts.n_docs, np.int32), 0.0
        elif self.strayed > SORT_AGAIN:
            self.quick.sort(tables)
            self.strayed = 0.0
        where = (self.drawn, self.listed, self.tallies[:1])
        address = (key, sweep, _rng.DRAW_ONE)
        self.quick.draw(tables, self.base, self.base_row, self.counters, *address, *where)
        n = self.counts.n_docs
        self._launch(key, sweep, 0, n, self.drawn, self.listed, self.tallies, self.base, self.base)

    def _draw(self, key: int, sweep: int, first: int, n: int) -> None:
        """Draw n places of the scan, by the whole weights of every document."""
        dots, norm = self._dots(first, n)
        self._launch(key, sweep, first, n, self.drawn, None, None, dots, norm)

    def _launch(
        self, key: int, sweep: int, first: int, n: int, out: Any, chosen: Any, n_chosen: Any,
        dots: Any, norm: Any,
    ) -> None:  # fmt: skip
        tables, scan, device = self.tables, self.scan, self.device
        blocks, threads, shared = launch_size(device, tables.width, n)
        scratch = NULL if shared else device.xp.empty((blocks, tables.width), np.float64)
        listed = chosen is not None
        args = (
            *self.corpus.words, self.corpus.weight, *self.prior.arguments(self.urn),
            tables.held, np.int32(tables.width), tables.size, tables.total, tables.slot_prior, norm,
            self.base, self.base_row, dots, self.own_norm,
            tables.z, tables.z if scan is None else scan, np.int32(scan is not None),
            np.int64(first), np.int64(n), chosen if listed else tables.z, n_chosen if listed else tables.z,
            np.int32(listed), self.counters, *self._given(), np.uint64(key), np.uint64(sweep),
            np.uint64(_rng.DRAW_ONE), np.int32(self.flush), scratch, out, self.tallies[1:],
        )  # fmt: skip
        device.launch("draw_exact", blocks, threads, args, shared)

    def _given(self) -> tuple[Any, Any]:
        """What the documents promote, by entry and in all, where words promote others."""
        if self.promoted is None:
            return NULL, NULL
        return self.promoted.given, self.promoted.promoted

    def _dots(self, first: int, n: int) -> tuple[Any, Any]:
        """Products of these documents' vectors with the sum of every cluster, and |S_k|^2."""
        if not self.n_dimensions:
            return self.base, self.base
        vectors, sums = self.corpus.vectors, self.tables.sums
        if self.scan is None:
            mine = vectors[first : first + n]
        else:
            mine = vectors[self.scan[first : first + n]]
        return mine @ sums.astype(np.float32).T, (sums * sums).sum(axis=1)

    def _open(self, first: int, last: int, before: Any) -> bool:
        """Give every document that opens a cluster its slot: the lowest free first, in their order.

        The others have moved; `before` are the sizes before they did. False if nobody opens one.
        """
        xp = self.device.xp
        listed, n = self._read()
        if listed or self.share_moved < 0.5:
            self.share_listed = listed / max(last - first, 1)
        if not n:
            return False
        places = xp.flatnonzero(self.drawn[first:last] < 0)
        size = self.device.to_host(before)
        self._close(size)
        free = self._free_slots(size, n)
        if free.size < min(n, self.urn.sizes.cap - int((self.ids >= 0).sum())):
            self._widen(n)
            wider = np.zeros(self.tables.width, np.int64)
            wider[: size.size] = size
            free = self._free_slots(wider, n)
        slots = np.concatenate(
            [free, np.resize(free, n - free.size)]
        )  # full: the rest share in turn
        self.ids[free] = self.next_id + np.arange(free.size)
        self.next_id += free.size
        if self.promoted is not None:
            self.promoted.opened(free)
        self.drawn[first:last][places] = xp.asarray(slots.astype(np.int32))
        self.sizes = None
        return True

    def _read(self) -> tuple[int, int]:
        """Documents that were listed, and openers.

        Sizes and moves are read with them, because the host waits for the card at every readback.
        """
        tables, xp = self.tables, self.device.xp
        counted = self.tallies.view(np.int64), tables.moved.view(np.int64), tables.size
        read = self.device.to_host(xp.concatenate(counted))
        self.n_moved, self.sizes = int(read[1]), read[2:].copy()
        listed, n = map(int, read[:1].view(np.int32))
        return listed, n

    def _free_slots(self, size: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
        """At most n slots that may be opened, the lowest first."""
        is_open = size > 0
        is_open[: self.urn.seeds.weight.size] = True
        most = min(n, self.urn.sizes.cap - int(is_open.sum()))
        return np.flatnonzero(~is_open)[: max(most, 0)]

    def _close_gaps(self, sweep: int) -> None:
        """Rename the open slots to 0, 1, ... when it is time for that."""
        if self.sizes is None:
            self.sizes = self.device.to_host(self.tables.size)
        self._close(self.sizes)
        slots = np.flatnonzero(self.ids >= 0)
        high = int(slots.max(initial=-1)) + 1
        if not wants_renaming(slots.size, high, sweep):
            return
        width = slots_wide(slots.size, self.urn.sizes.cap)
        if high == slots.size and width == self.tables.width:
            return
        old = np.full(width, -1, np.int32)
        old[: slots.size] = slots
        self._resize(old)


def _norms(device: Any, corpus: Corpus) -> Any:
    """|e|^2 of each document's vector; exact in any order."""
    if not corpus.vectors.shape[1]:
        return device.xp.zeros(1, np.float64)
    return device.xp.einsum(
        "ij,ij->i", corpus.vectors.astype(np.float64), corpus.vectors.astype(np.float64)
    )
