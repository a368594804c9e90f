"""Blocked draws on several threads: the same labels for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._arrays import aligned
from coterie.backends._gibbs import CHUNK_WORDS, GibbsChain
from coterie.backends._team import Team
from coterie.backends.base import DEFAULT, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.kernels import _gate, _listed, blocked
from coterie.kernels._work import Scratch, read_only
from coterie.state import Assignment, Renaming, State
from coterie.urns import Urn, is_located

MIN_BLOCK, MAX_BLOCK, BLOCKS = 64, 8192, 32
WINDOWS = 8
MOST_LISTED = 2**15  # slots whose numbers fit into the lists
LISTED = "listed"  # the name of the lists in a checkpoint
FEW = 20_000  # words that one thread moves sooner than all could meet again


def default_block(n_docs: int) -> int:
    """Documents drawn against the same counts: a thirty-second of them, within bounds."""
    return max(MIN_BLOCK, min(MAX_BLOCK, -(-n_docs // BLOCKS)))


def deal(n_docs: int, size: int) -> list[npt.NDArray[np.int64]]:
    """The documents of each block: about in the order given, but neighbours in different blocks.

    Neighbours are often alike, and must see each other's moves; yet an order that was given, in time
    say, is worth something, so blocks are dealt out of an eighth of the documents at a time.
    """
    n_blocks = -(-n_docs // size)
    hands = max(2, -(-n_blocks // WINDOWS)) if 1 < size < n_docs else 1
    blocks = [
        np.arange(start + hand, min(start + hands * size, n_docs), hands, dtype=np.int64)
        for start in range(0, n_docs, hands * size)
        for hand in range(hands)
    ]
    return [block for block in blocks if block.size] or [np.zeros(0, np.int64)]


class BlockedChain(GibbsChain):
    """A state being sampled block by block."""

    def __init__(
        self, counts: Counts, urn: Urn, state: State, options: SamplerOptions = DEFAULT
    ) -> None:
        super().__init__(counts, urn, state, options)
        blocks = deal(counts.n_docs, options.block_size or default_block(counts.n_docs))
        if not self.is_random_scan:
            self.scan = np.concatenate(blocks)
            self.derived = self.derived._replace(scan=self.scan)
        sizes = [block.size for block in blocks]
        self.blocks = np.cumsum([0, *sizes], dtype=np.int64)
        n_blocks = len(blocks)
        chunks = max(1, int(counts.ptr[-1]) // CHUNK_WORDS)
        self.stops = np.unique(np.linspace(0, n_blocks, chunks + 1).astype(np.int64)[1:])
        self.drawn = _apart(np.zeros(counts.n_docs, np.int32))
        self.listed = _no_lists(counts, self.lists)
        self.team = Team(max(1, min(options.n_jobs, -(-max(sizes) // blocked.PIECE))))
        self.scratches: list[Scratch] = []
        self.scratches_of: Scratch | None = None  # what they were made of

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        self.begin(key, sweep)
        scratches = self._scratches()
        done, is_drawn = 0, False
        for stop in self.stops.tolist():
            while done < stop:
                done = self._blocks(scratches, np.uint64(key), sweep, done, stop, is_drawn)
                is_drawn = done < stop
                if is_drawn:
                    stats = _stats(scratches)
                    self._widen(done)
                    scratches = self._scratches()
                    scratches[0].stats[:] = stats
            if should_stop is not None and stop < self.stops[-1] and should_stop():
                return None
        return SweepStats("blocked", *_stats(scratches).tolist())

    def _blocks(
        self,
        scratches: list[Scratch],
        key: np.uint64,
        sweep: int,
        begin: int,
        end: int,
        ready: bool,
    ) -> int:
        """Draw these blocks on all threads; return the next one to do."""
        counts, urn, state, fixed, derived = (
            self.counts, self.urn, self.state, self.fixed, self.derived,
        )  # fmt: skip
        shared_state, shared_derived = read_only(state), read_only(derived)
        gate = np.zeros(_gate.SIZE, np.int64)

        def draw(part: int) -> None:
            blocked.sweep(
                counts, urn, state, fixed, derived, shared_state, shared_derived, scratches[part],
                key, sweep, self.blocks, begin, end, ready, self.drawn, self.listed, FEW, part,
                self.team.n, gate,
            )  # fmt: skip

        def leave() -> None:
            gate[_gate.LEFT] = 1  # nobody waits for a thread that failed

        self.team.run(draw, leave)
        return int(gate[_gate.DONE])

    @property
    def lists(self) -> int:
        """How many likely clusters a document lists; 0: no lists are kept."""
        fits = is_located(self.counts, self.urn) and not self.urn.relations.promotion
        return self.options.listed if fits and self.state.size.size <= MOST_LISTED else 0

    def rename(self, renaming: Renaming) -> None:
        """Give the clusters on the lists their new slots."""
        self._fit_lists()
        if self.lists:
            seen = np.full(self.state.size.size, -1, np.int64)
            _listed.rename(self.listed, renaming, seen)

    def _fit_lists(self) -> None:
        """Keep lists where the urn and the number of slots allow it, and only there."""
        if self.listed.shape[1] != self.lists:
            self.listed = _no_lists(self.counts, self.lists)

    def retune(self, urn: Urn) -> None:
        """Go on with another urn: everything that follows from it is derived again."""
        super().retune(urn)
        self._fit_lists()

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment; a cluster on a list becomes the one that its documents are in."""
        before, width = self.state.z, self.state.size.size
        super().replace(assignment)
        renaming = np.full(width + 1, -1, np.int32)
        renaming[before] = self.state.z
        self.rename(renaming)

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """How the state is laid out, and the lists."""
        lists = {LISTED: self.listed} if self.lists else {}
        return super().memory() | lists

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if it cannot be that of the labels."""
        memory = dict(memory)
        listed = memory.pop(LISTED, _no_lists(self.counts, 0))
        if not super().recall(memory):
            return False
        like = _no_lists(self.counts, self.lists)
        if (listed.dtype, listed.shape) != (like.dtype, like.shape):
            return False
        self.listed = listed
        return bool((listed >= -1).all() and (listed < self.state.size.size).all())

    def _share(self, task: Callable[[int, int], Any]) -> None:
        """Do all parts of a task, a part on every thread."""
        self.team.run(lambda part: task(part, self.team.n))

    def _widen(self, block: int) -> None:
        """More slots; the open ones keep their numbers."""
        drawn = self.drawn[self.blocks[block] : self.blocks[block + 1]]
        self.relayout(spare=int((drawn < 0).sum()), compact=False)

    def _scratches(self) -> list[Scratch]:
        """Scratch of its own for every thread, away from everybody else's."""
        if self.scratches_of is not self.scratch:
            self.scratches_of = self.scratch
            arrays: list[Any] = list(self.scratch)
            self.scratches = [Scratch(*map(_apart, arrays)) for _ in range(self.team.n)]
        for scratch in self.scratches:
            scratch.stats[:] = 0
        return self.scratches


def _no_lists(counts: Counts, n: int) -> npt.NDArray[np.int16]:
    """Room for the lists of all documents, n clusters each: none is listed yet."""
    listed = aligned((counts.n_docs, n), np.int16)
    listed[:] = -1
    return listed


def _stats(scratches: list[Scratch]) -> npt.NDArray[np.int64]:
    return np.asarray(np.sum([scratch.stats for scratch in scratches], axis=0))


def _apart(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy that begins a cache line, and shares none with what another thread writes."""
    copy = aligned(array.shape, array.dtype)
    copy[...] = array
    return copy
