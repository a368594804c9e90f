"""Exact Gibbs on one thread, and what it derives from corpus, urn and state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie import state as state_room
from coterie.backends._chain import BaseChain
from coterie.backends.base import DEFAULT, How, SweepStats
from coterie.counts import Counts
from coterie.kernels import _promote, _tree, gibbs, layout
from coterie.kernels._slots import BLOCK
from coterie.kernels._work import Derived, Fixed, Scratch
from coterie.state import State
from coterie.urns import Urn

CHUNK_WORDS = 2_000_000  # ask `should_stop` after about this many words: some tenths of a second
BASE_BYTES = 32 * 2**20  # memory for base terms kept per length, the frequent ones first
ROW_LIST = 4096  # rows multiplied in at once by a long document
SCAN_DRAW = 2**40  # the address of a document's place in a random scan: no draw comes near


class GibbsChain(BaseChain):
    """A state being sampled by exact Gibbs, with what is derived from it."""

    def __init__(self, counts: Counts, urn: Urn, state: State, how: How = DEFAULT) -> None:
        super().__init__(counts, urn, state, how)
        self.is_random_scan = how.scan == "random"
        self.scan = np.zeros(0, np.int64)
        self.start = _no_start(urn, state)
        self.fixed = make_fixed(counts, urn, self.is_symmetric)
        chunks = max(1, int(counts.ptr[-1]) // CHUNK_WORDS)
        self.stops = np.linspace(0, counts.n_docs, chunks + 1).astype(np.int64)[1:]
        self.derived, self.scratch = self._derive()

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        self.begin(key, sweep)
        self.scratch.stats[:] = 0
        done = 0
        for stop in self.stops:
            while done < stop:
                done = gibbs.sweep(
                    self.counts, self.urn, self.state, self.fixed, self.derived, self.scratch,
                    np.uint64(key), sweep, done, stop,
                )  # fmt: skip
                if done < stop:
                    self.relayout()
            if should_stop is not None and stop < self.counts.n_docs and should_stop():
                return None
        return SweepStats("gibbs", *self.scratch.stats.tolist())

    def relayout(self, spare: int = 0) -> None:
        """Lay the state anew, and derive everything from it again; the statistics go on."""
        stats = self.scratch.stats
        before, self.state = self.state, state_room.relayout(self.urn, self.state, spare)
        self.start = _moved_start(self.urn, before, self.state, self.start)
        self.derived, self.scratch = self._derive()
        self.scratch.stats[:] = stats

    def begin(self, key: int, sweep: int) -> None:
        """What a sweep needs to know before its first draw."""
        if sweep > 1 and self.wants_relayout(sweep):
            self.relayout()
        if self.is_random_scan:
            u = _rng.uniform(key, sweep, np.arange(self.counts.n_docs), SCAN_DRAW)
            self.scan = np.argsort(u, kind="stable")
            self.derived = self.derived._replace(scan=self.scan)
        if self.urn.promotion:
            self.start = _new_start(self.urn, self.state)
            self.derived = self.derived._replace(start=self.start)

    def wants_relayout(self, sweep: int) -> bool:
        """Whether the state should be laid anew before this sweep."""
        return state_room.wants_relayout(self.state, sweep)

    def _derive(self) -> tuple[Derived, Scratch]:
        """What follows from the state as it is laid out now."""
        counts, state = self.counts, self.state
        derived = make_derived(counts, self.urn, state, self.fixed, self.scan, self.start)
        scratch = make_scratch(counts, self.urn, state, derived)
        gibbs.derive(counts, self.urn, state, derived, scratch)
        return derived, scratch


def make_fixed(counts: Counts, urn: Urn, symmetric: bool) -> Fixed:
    """What follows from corpus and urn alone."""
    word_nats, is_long = _static(counts, urn)
    fixed = Fixed(
        beta_stride=int(not symmetric),
        inv_beta=np.empty(counts.n_words),
        word_nats=word_nats,
        is_long=is_long,
        seed_ends=np.zeros(urn.seed_weight.size),
        cum_weight=np.zeros(counts.n_docs + 1, np.int64),
        pairs=_pairs(counts, urn),
    )
    gibbs.fill_fixed(counts, urn, fixed)
    return fixed


def make_derived(
    counts: Counts,
    urn: Urn,
    state: State,
    fixed: Fixed,
    scan: npt.NDArray[np.int64],
    start: _promote.Start,
) -> Derived:
    """Room for what follows from the state; `gibbs.derive` fills it."""
    width = state.size.size
    lengths, often = np.unique(counts.length[~fixed.is_long], return_counts=True)
    base_row = np.full(int(lengths.max(initial=0)) + 1, -1, np.int32)
    most = np.argsort(-often, kind="stable")[: BASE_BYTES // (8 * max(width, 1))]
    lengths = np.sort(lengths[most])
    base_row[lengths] = np.arange(lengths.size)
    any_long = bool(fixed.is_long.any())
    return Derived(
        base_row=base_row,
        base=np.zeros((lengths.size, width)),
        changed=np.zeros(width, np.int32),
        n_changed=np.zeros(1, np.int64),
        log_weight=np.zeros(width if any_long else 0),
        log_total=np.zeros(width if any_long else 0),
        scan=scan,
        promoted_by=np.zeros(counts.n_docs if urn.promotion else 0, np.int64),
        start=start,
    )


def make_scratch(counts: Counts, urn: Urn, state: State, derived: Derived) -> Scratch:
    """What one thread writes as it draws."""
    width, widest = state.size.size, int(np.diff(counts.ptr).max(initial=0))
    n_kept = derived.base.shape[0]
    n_rows = max(ROW_LIST, derived.base_row.size)
    return Scratch(
        tree=np.zeros((n_kept, _tree.size_for(width))),
        seen=np.full(n_kept, _tree.STALE, np.int64),
        product=np.ones(width),
        scale=np.zeros(width),
        extra=np.zeros(width),
        weight=np.zeros(width + 1),
        partial=np.zeros(width // BLOCK + 1),
        touched=np.zeros(width + 1, np.int32),
        place=np.zeros(widest, np.int64),
        row=np.zeros(n_rows, np.int32),
        rate=np.zeros(n_rows),
        given=np.zeros(widest if urn.promotion else 0, np.int64),
        stats=np.zeros(5, np.int64),
    )


def _static(counts: Counts, urn: Urn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Per word, the nats an occurrence may add; per document, whether it takes the long way.

    Bounds over every state: no cluster holds more of a word, or more words, than the corpus does.
    """
    held = np.zeros(counts.n_words)
    layout.word_totals(counts, held)
    held += np.bincount(urn.seed_word, urn.seed_count * urn.unit, counts.n_words)
    words = float((counts.length * counts.weight).sum()) + float(urn.seed_count.sum()) * urn.unit
    if urn.promotion:
        mu = urn.promotion * urn.unit
        given = np.bincount(urn.relate_word, np.repeat(held, np.diff(urn.relate_ptr)), held.size)
        held, words = held + mu * given, words + mu * float(given.sum())
    nats = np.log1p(held / urn.beta)
    gain = np.empty(counts.n_docs)
    layout.document_sums(counts, nats, gain)
    loss = counts.length * np.log1p(words / urn.beta_sum)
    longest = np.maximum(gain, loss)
    return nats, (longest > gibbs.SAFE_NATS) | (counts.weight > 1)


def _pairs(counts: Counts, urn: Urn) -> _promote.RelatedPairs:
    """Words of one document that promote each other: found once, not again in every draw."""
    ptr, none = np.zeros(counts.n_docs + 1 if urn.promotion else 0, np.int64), np.zeros(0, np.int32)
    pairs = _promote.RelatedPairs(ptr, none, none)
    if urn.promotion:
        _promote.find_pairs(counts, urn, np.full(counts.n_words, -1, np.int64), pairs)
        n_pairs = int(ptr[-1])
        pairs = _promote.RelatedPairs(ptr, np.zeros(n_pairs, np.int32), np.zeros(n_pairs, np.int32))
        _promote.find_pairs(counts, urn, np.full(counts.n_words, -1, np.int64), pairs)
    return pairs


def _no_start(urn: Urn, state: State) -> _promote.Start:
    """Room for the counts a sweep of the promoted urn begins with; none for other urns."""
    n = urn.beta.size if urn.promotion else 0
    return _promote.Start(
        rate=np.full(state.size.size if n else 0, _promote.OPENED),
        best=np.zeros(n),
        row_of=np.full(n, -1, np.int32),
        rows=np.zeros(state.rows.shape if n else (0, 0), np.int32),
        post_len=np.zeros(n, np.int32),
        post=np.zeros(state.post.shape if n else (0, 2), np.int32),
    )


def _new_start(urn: Urn, state: State) -> _promote.Start:
    start = _no_start(urn, state)
    _promote.note_start(urn, state, start)
    return start


def _moved_start(urn: Urn, before: State, after: State, start: _promote.Start) -> _promote.Start:
    """The same counts under the slots' new numbers, when the state was re-laid within a sweep."""
    if not urn.promotion:
        return start
    n_open = int(after.head[0])
    old = np.sort(before.order[:n_open])
    moved = _no_start(urn, after)._replace(
        best=start.best,
        row_of=start.row_of,
        rows=np.zeros((len(start.rows), after.size.size), np.int32),
        post_len=start.post_len,
        post=start.post.copy(),
    )
    moved.rate[:n_open] = start.rate[old]
    moved.rows[:, :n_open] = start.rows[:, old]
    moved.post[:, 0] = state_room.renamed(before)[start.post[:, 0]]
    return moved
