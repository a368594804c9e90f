"""Blocked draws on the GPU: the labels of the CPU's blocked chain, up to rounding in a draw.

The rule is in `coterie/_rng.py`. The card draws and counts; the host only gives slots to new clusters
and renames slots between sweeps, which needs the sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie.backends.base import SamplerOptions, SweepStats
from coterie.backends.cuda import _plan
from coterie.backends.cuda._fast import WIDEST, Quick, is_usable
from coterie.backends.cuda._tables import (
    Corpus,
    Prior,
    Tables,
    base_terms,
    count_open,
    launch_size,
    retuned,
)
from coterie.counts import Counts
from coterie.state import Assignment, no_flags, slots_wide, wants_renaming
from coterie.urns import Urn, is_located, potential

SORT_AGAIN = 0.05  # of the documents have moved: they are sorted by cluster again
DOT_BYTES = 2 * 2**30  # products of vectors and clusters held at once
NULL = np.uint64(0)


class CudaChain:
    """Labels being sampled on a GPU. See `coterie.backends.base.Chain`."""

    kind = "cuda blocked"

    def __init__(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions, device: Any
    ) -> None:
        self.counts, self.urn, self.options, self.device = counts, urn, options, device
        self._seen: Assignment | None = None
        self.n_dimensions = counts.vectors.shape[1] if is_located(counts, urn) else 0
        width = slots_wide(int(assignment.open_slots.max(initial=-1)) + 1, urn.sizes.cap)
        _plan.check_memory(counts, width, self.n_dimensions, device.free_bytes())
        self.corpus = Corpus(device, counts)
        self.own_norm = _norms(device, self.corpus)
        self.all_lengths = _plan.Lengths.found_in(counts)
        self.most_held = _plan.most_held(counts, urn)
        self.n_copies = int(counts.weight.sum())
        self.blocks = _plan.blocks_of(counts.n_docs, options.block_size)
        self.ends = np.cumsum([0, *(block.size for block in self.blocks)])
        self.scan = self._given_order()
        self.drawn = device.xp.empty(counts.n_docs, np.int32)
        self.counters = device.xp.zeros(1, np.int64)
        self.tallies = device.xp.zeros(
            2, np.int32
        )  # documents listed for the exact draw, and openers
        self.quick: Quick | None = None
        self.share_moved, self.share_listed = 0.0, 0.0
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
        for i, (first, last) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
            if i and should_stop is not None and should_stop():
                return None
            self._block(key, sweep, int(first), int(last))
        moved = self.tables.take_moved()
        self.share_moved = moved / max(self.n_copies, 1)
        self.strayed += self.share_moved
        return SweepStats("blocked", moved)

    def assignment(self) -> Assignment:
        """The assignment as it is now, on the host."""
        if self._seen is None:
            to_host, tables = self.device.to_host, self.tables
            size = to_host(tables.size)
            self._close(size)
            flags = no_flags(self.counts, self.urn)
            held = (to_host(tables.z), size, to_host(tables.total), flags)
            self._seen = Assignment(*held, self.ids.copy(), self.next_id)
        return self._seen

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values, and the same words and seeds."""
        if is_located(self.counts, urn) != is_located(self.counts, self.urn):
            now = self.assignment()
            self.n_dimensions = self.counts.vectors.shape[1] if is_located(self.counts, urn) else 0
            self.urn = urn
            self._begin(now)
            return
        self.urn = urn
        self.quick = None
        retuned(self.tables, urn)
        self._derive()

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment of the same documents."""
        self._begin(assignment)

    def joint_terms(self) -> tuple[float, float]:
        """Sums over all word counts, for the trace."""
        urn, tables = self.urn, self.tables
        joint, given = tables.word_terms(self.prior)
        if self.n_dimensions:
            sums = self.device.to_host(tables.sums)
            joint += float(potential(urn, (sums**2).sum(axis=1)).sum())
        if urn.seeds.weight.size:
            return joint, tables.words_given_labels(self.prior)
        held = self.assignment().total
        total = held[held > 0] * urn.words.unit
        return joint, given - float(total @ np.log(total + urn.words.beta_sum))

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """Nothing beyond the assignment."""
        return {}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if that cannot be this chain's."""
        return not memory

    def _begin(self, assignment: Assignment) -> None:
        """Count everything from an assignment; slots and ids stay as they are."""
        slots = assignment.open_slots
        width = slots_wide(int(slots.max(initial=-1)) + 1, self.urn.sizes.cap)
        self.tables: Any = None  # its memory first
        self.ids = np.full(width, -1, np.int64)
        self.ids[slots] = assignment.id[slots]
        self.next_id = assignment.next_id
        given = self.device, self.corpus, self.urn
        self.tables = Tables(*given, assignment.labels, width, self.n_dimensions)
        self.tables.take_moved()
        self._seen = None
        self._derive()

    def _derive(self) -> None:
        """Room for what follows from urn and width; it is filled before every block."""
        width, xp = self.tables.width, self.device.xp
        self.prior = Prior(self.device, self.counts, self.urn)
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
        self._open(first, last)
        self.tables.move(self.drawn, self.scan, first, last - first)

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
            self.listed = xp.empty(self.counts.n_docs, np.int32)
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
            tables.held, np.int32(tables.width), tables.size, tables.total, tables.prior, norm,
            self.base, self.base_row, dots, self.own_norm,
            tables.z, tables.z if scan is None else scan, np.int32(scan is not None),
            np.int64(first), np.int64(n), chosen if listed else tables.z, n_chosen if listed else tables.z,
            np.int32(listed), self.counters, np.uint64(key), np.uint64(sweep), np.uint64(_rng.DRAW_ONE),
            np.int32(self.flush), scratch, out, self.tallies[1:],
        )  # fmt: skip
        device.launch("draw_exact", blocks, threads, args, shared)

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

    def _open(self, first: int, last: int) -> None:
        """Give every document that opens a cluster its slot: the lowest free first, in their order."""
        xp = self.device.xp
        listed, n = (int(tally) for tally in self.device.to_host(self.tallies))
        if listed or self.share_moved < 0.5:
            self.share_listed = listed / max(last - first, 1)
        if not n:
            return
        places = xp.flatnonzero(self.drawn[first:last] < 0)
        size = self.device.to_host(self.tables.size)
        self._close(size)
        free = self._free_slots(size, n)
        if free.size < min(n, self.urn.sizes.cap - int((self.ids >= 0).sum())):
            self._widen(n)
            free = self._free_slots(self.device.to_host(self.tables.size), n)
        slots = np.concatenate(
            [free, np.resize(free, n - free.size)]
        )  # full: the rest share in turn
        self.ids[free] = self.next_id + np.arange(free.size)
        self.next_id += free.size
        self.drawn[first:last][places] = xp.asarray(slots.astype(np.int32))

    def _free_slots(self, size: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
        """At most n slots that may be opened, the lowest first."""
        is_open = size > 0
        is_open[: self.urn.seeds.weight.size] = True
        most = min(n, self.urn.sizes.cap - int(is_open.sum()))
        return np.flatnonzero(~is_open)[: max(most, 0)]

    def _close(self, size: npt.NDArray[np.int64]) -> None:
        """Forget the ids of slots without documents."""
        empty = size == 0
        empty[: self.urn.seeds.weight.size] = False
        self.ids[empty] = -1

    def _close_gaps(self, sweep: int) -> None:
        """Rename the open slots to 0, 1, ... when it is time for that."""
        size = self.device.to_host(self.tables.size)
        self._close(size)
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

    def _widen(self, spare: int) -> None:
        """More slots; the open ones keep their numbers."""
        width = slots_wide(self.tables.width, self.urn.sizes.cap, spare)
        _plan.check_memory(self.counts, width, self.n_dimensions, self.device.free_bytes())
        old = np.full(width, -1, np.int32)
        slots = np.flatnonzero(self.ids >= 0)
        old[slots] = slots
        self._resize(old)

    def _resize(self, old: npt.NDArray[np.int32]) -> None:
        used = old >= 0
        ids = np.full(old.size, -1, np.int64)
        ids[used] = self.ids[old[used]]
        self.ids = ids
        self.tables.resize(old)
        self._derive()


def _norms(device: Any, corpus: Corpus) -> Any:
    """|e|^2 of each document's vector; exact in any order."""
    if not corpus.vectors.shape[1]:
        return device.xp.zeros(1, np.float64)
    return device.xp.einsum(
        "ij,ij->i", corpus.vectors.astype(np.float64), corpus.vectors.astype(np.float64)
    )
