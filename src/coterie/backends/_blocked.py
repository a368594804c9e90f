"""Blocked draws on several threads: the same labels for any number of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from coterie.backends._gibbs import Handle
from coterie.backends._team import Team
from coterie.backends.base import DEFAULT, How, SweepStats
from coterie.counts import Counts
from coterie.kernels import blocked, gibbs
from coterie.kernels._tree import STALE
from coterie.state import State, renamed
from coterie.urns import Urn

MIN_BLOCK, MAX_BLOCK, BLOCKS = 64, 8192, 8
_SCRATCH = (
    "product", "scale", "extra", "weight", "partial", "touched", "place", "row", "rate", "given",
    "tree", "seen", "stats",
)  # fmt: skip


def default_block(n_docs: int) -> int:
    """Documents drawn against the same counts: an eighth of them, within bounds."""
    return max(MIN_BLOCK, min(MAX_BLOCK, -(-n_docs // BLOCKS)))


class BlockedHandle(Handle):
    """A state being sampled block by block."""

    def __init__(self, counts: Counts, urn: Urn, state: State, how: How = DEFAULT) -> None:
        super().__init__(counts, urn, state, how)
        size = how.block_size or default_block(counts.n_docs)
        n_blocks = -(-counts.n_docs // size)
        if not self.is_random_scan:  # neighbours are often alike, and must see each other's moves
            every = [np.arange(b, counts.n_docs, n_blocks) for b in range(n_blocks)]
            self.scan = np.concatenate(every) if n_blocks < counts.n_docs else self.scan
            self.work = self.work._replace(scan=self.scan)
        sizes = np.full(n_blocks, counts.n_docs // n_blocks)
        sizes[: counts.n_docs % n_blocks] += 1
        self.blocks = np.concatenate([[0], np.cumsum(sizes)])
        self.drawn = np.zeros(counts.n_docs, np.int32)
        self.team = Team(how.n_jobs)

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        self.begin(key, sweep)
        stats = np.zeros_like(self.work.stats)
        works = self._works()
        for first, last in zip(self.blocks[:-1], self.blocks[1:], strict=True):
            if first and should_stop is not None and should_stop():
                return None
            for work in works:
                work.stats[:] = 0
                work.seen[:] = STALE
            self.work.n_changed[0] = 0
            before = self.state
            self._block(works, np.uint64(key), sweep, int(first), int(last))
            stats += sum(work.stats for work in (self.work, *works[1:]))
            if self.state is not before:
                works = self._works()
        return SweepStats("blocked", *stats.tolist())

    def _block(
        self, works: list[gibbs.Work], key: np.uint64, sweep: int, first: int, last: int
    ) -> None:
        counts, urn, drawn, n = self.counts, self.urn, self.drawn, self.team.n
        ends = self._shares(first, last)
        state = self.state

        def propose(part: int) -> None:
            share = ends[part], ends[part + 1]
            blocked.propose(counts, urn, state, works[part], key, sweep, *share, drawn)

        self.team.run(propose)
        openers = int((drawn[first:last] < 0).sum())
        if openers > state.size.size - state.head[0] and urn.cap > state.size.size:
            self._widen(openers, first, last)
            state = self.state
        work = self.work
        blocked.open_slots(urn, state, work, first, last, drawn)

        def move(part: int) -> None:
            blocked.move_words(counts, urn, state, work, first, last, drawn, part, n)

        self.team.run(move)
        blocked.finish(counts, urn, state, work, key, sweep, first, last, drawn)

    def _widen(self, openers: int, first: int, last: int) -> None:
        """More slots; the open ones get new numbers, and so does what was drawn."""
        self.drawn[first:last] = renamed(self.state)[self.drawn[first:last]]
        self.relayout(spare=openers)

    def _shares(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Where the threads' shares of a block begin: as many words each."""
        place = self.work.scan[first:last] if self.work.scan.size else slice(first, last)
        entries = np.cumsum(np.diff(self.counts.ptr)[place])
        wanted = entries[-1] * np.arange(1, self.team.n) / self.team.n
        inner = first + np.searchsorted(entries, wanted)
        return np.concatenate([[first], inner, [last]]).astype(np.int64)

    def _works(self) -> list[gibbs.Work]:
        """What was derived from the state, with scratch of its own for every thread."""
        works = [self.work]
        for _ in range(1, self.team.n):
            own = {name: getattr(self.work, name).copy() for name in _SCRATCH}
            works.append(self.work._replace(**own))
        return works
