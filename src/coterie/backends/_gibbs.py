"""Exact Gibbs on one thread, and what it derives from corpus, urn and state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _rng, state
from coterie._arrays import aligned, squares
from coterie.backends._chain import BaseChain
from coterie.backends.base import DEFAULT, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.kernels import _location, _open, _promote, _tree, gibbs, layout
from coterie.kernels._slots import BLOCK
from coterie.kernels._work import Derived, Fixed, Scratch
from coterie.state import Assignment, Renaming, State
from coterie.urns import Urn, is_located

_LAYOUT = tuple(name for name in State._fields if name not in ("z", "flag", "id", "sums"))
CHUNK_WORDS = 2_000_000  # ask `should_stop` after about this many words: some tenths of a second
BASE_BYTES = 32 * 2**20  # memory for base terms kept per length, the frequent ones first
ROW_LIST = 4096  # rows multiplied in at once by a long document
LAYOUT = "layout."  # before the names of the arrays of the state that a checkpoint keeps


class GibbsChain(BaseChain):
    """A state being sampled by exact Gibbs, with what is derived from it."""

    def __init__(
        self, counts: Counts, urn: Urn, start: State, options: SamplerOptions = DEFAULT
    ) -> None:
        super().__init__(counts, urn, start, options)
        self.is_random_scan = options.scan == "random"
        self.scan = np.zeros(0, np.int64)
        self.start = _no_start(urn, start)
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

    def relayout(self, spare: int = 0, *, compact: bool = True) -> None:
        """Lay the state out again, and derive everything from it; the statistics go on."""
        stats = self.scratch.stats
        self.state, renaming = state.relayout(self.urn, self.state, spare, compact=compact)
        self.start = _moved_start(self.urn, renaming, self.state, self.start)
        self.derived, self.scratch = self._derive()
        self.scratch.stats[:] = stats
        self.rename(renaming)

    def rename(self, renaming: Renaming) -> None:
        """What else knows slots by their numbers: nothing here."""

    def begin(self, key: int, sweep: int) -> None:
        """What a sweep needs to know before its first draw."""
        if sweep > 1 and self.wants_relayout(sweep):
            self.relayout()
        if self.is_random_scan:
            u = _rng.uniform(key, sweep, np.arange(self.counts.n_docs), _rng.DRAW_SCAN)
            self.scan = np.argsort(u, kind="stable")
            self.derived = self.derived._replace(scan=self.scan)
        if self.urn.relations.promotion:
            self.start = _new_start(self.urn, self.state)
            self.derived = self.derived._replace(start=self.start)

    def wants_relayout(self, sweep: int) -> bool:
        """Whether the state should be laid out again before this sweep."""
        return state.wants_relayout(self.state, sweep)

    def retune(self, urn: Urn) -> None:
        """Go on with another urn: everything that follows from it is derived again."""
        if is_located(self.counts, urn) != is_located(self.counts, self.urn):
            self.state = state.from_assignment(self.counts, urn, self.state.assignment)
        super().retune(urn)
        self.fixed = make_fixed(self.counts, urn, self.is_symmetric)
        self.derived, self.scratch = self._derive()

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment: everything that follows from it is derived again."""
        super().replace(assignment)
        self._take_over()

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """How the state is laid out: the order of a word's postings is part of how a draw is made."""
        return {LAYOUT + name: getattr(self.state, name) for name in _LAYOUT}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up the layout that a checkpoint kept; False if it cannot be that of the labels."""
        if set(memory) != {LAYOUT + name for name in _LAYOUT}:
            return False
        kept = {name: memory[LAYOUT + name] for name in _LAYOUT}
        laid = self.state._replace(**kept)
        width = laid.order.size
        if any(array.shape[:1] != (width,) for array in (laid.size, laid.total)):
            return False
        ids, sums = _resized(self.state.id, width, -1), _resized(self.state.sums, width, 0)
        laid = laid._replace(id=ids, sums=sums)
        if not state.is_sound(self.counts, self.urn, laid):
            return False
        self.state = laid
        self._take_over()
        return True

    @property
    def lists(self) -> int:
        """How many likely clusters a document lists; 0: no lists are kept."""
        return 0

    def _take_over(self) -> None:
        """Make everything that belongs to `self.state`."""
        self.start = _no_start(self.urn, self.state)
        self.derived, self.scratch = self._derive()

    def _derive(self) -> tuple[Derived, Scratch]:
        """What follows from the state as it is laid out now."""
        counts, now = self.counts, self.state
        derived = make_derived(
            counts, self.urn, now, self.fixed, self.scan, self.start, lists=self.lists > 0
        )
        scratch = make_scratch(counts, self.urn, now, derived)
        gibbs.derive(counts, self.urn, now, derived, scratch)
        return derived, scratch


def make_fixed(counts: Counts, urn: Urn, symmetric: bool) -> Fixed:
    """What follows from corpus and urn alone."""
    word_nats, is_long = _static(counts, urn)
    fixed = Fixed(
        beta_stride=int(not symmetric),
        inv_beta=np.empty(counts.n_words),
        word_nats=word_nats,
        is_long=is_long,
        seed_ends=np.zeros(urn.seeds.weight.size),
        cum_weight=np.zeros(counts.n_docs + 1, np.int64),
        pairs=find_pairs(counts, urn),
        norm=squares(counts.vectors) if is_located(counts, urn) else np.zeros(0),
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
    *,
    lists: bool,
) -> Derived:
    """Room for what follows from the state; `gibbs.derive` fills it."""
    width = state.size.size
    lengths, often = np.unique(counts.length[~fixed.is_long], return_counts=True)
    base_row = np.full(int(lengths.max(initial=0)) + 1, -1, np.int32)
    most = np.argsort(-often, kind="stable")[: BASE_BYTES // (8 * max(width, 1))]
    lengths = np.sort(lengths[most])
    base_row[lengths] = np.arange(lengths.size)
    any_long, n_dimensions = bool(fixed.is_long.any()), state.sums.shape[1]
    return Derived(
        base_row=base_row,
        base=np.zeros((lengths.size, width)),
        changed=np.zeros(width, np.int32),
        n_changed=np.zeros(2, np.int64),
        log_weight=np.zeros(width if any_long else 0),
        log_total=np.zeros(width if any_long else 0),
        scan=scan,
        promoted_by=np.zeros(counts.n_docs if urn.relations.promotion else 0, np.int64),
        start=start,
        centre=aligned((n_dimensions, width if n_dimensions else 0), np.float32),
        norm=np.zeros(width if n_dimensions else 0),
        root=np.zeros(width if n_dimensions else 0),
        sums=aligned((width if lists else 0, n_dimensions), np.float32),
    )


def make_scratch(counts: Counts, urn: Urn, state: State, derived: Derived) -> Scratch:
    """What one thread writes as it draws."""
    width, widest = state.size.size, int(np.diff(counts.ptr).max(initial=0))
    n_kept = derived.base.shape[0]
    n_rows = max(ROW_LIST, derived.base_row.size)
    n_dimensions, rows = state.sums.shape[1], _location.TOGETHER
    return Scratch(
        tree=np.zeros((n_kept, _tree.size_for(width))),
        seen=np.full(n_kept, _tree.STALE, np.int64),
        surplus=np.zeros(width // (_tree.FAN if width <= _tree.FEW else _tree.SPAN) + 1),
        product=np.ones(width),
        scale=np.zeros(width),
        extra=np.zeros(width),
        weight=np.zeros(width + 1),
        partial=np.zeros(max(width // BLOCK + 1, _tree.FAN)),
        touched=np.zeros(width + 1, np.int32),
        place=np.zeros(widest, np.int64),
        row=np.zeros(n_rows, np.int32),
        rate=np.zeros(n_rows),
        given=np.zeros(widest if urn.relations.promotion else 0, np.int64),
        piece=np.zeros(6, np.int64),
        vector=np.zeros((rows, n_dimensions), np.float32),
        dot=np.zeros((rows, width if n_dimensions else 0), np.float32),
        nats=np.zeros(width if state.sums.shape[1] else 0),
        stats=np.zeros(5, np.int64),
    )


def _static(counts: Counts, urn: Urn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Per word, the nats an occurrence may add; per document, whether it takes the long way.

    Bounds over every state: no cluster holds more of a word, or more words, than the corpus does.
    """
    held = np.zeros(counts.n_words)
    layout.word_totals(counts, held)
    held += np.bincount(urn.seeds.word, urn.seeds.tally * urn.words.unit, counts.n_words)
    words = (
        float((counts.length * counts.weight).sum()) + float(urn.seeds.tally.sum()) * urn.words.unit
    )
    if urn.relations.promotion:
        mu = urn.relations.promotion * urn.words.unit
        given = np.bincount(
            urn.relations.word, np.repeat(held, np.diff(urn.relations.ptr)), held.size
        )
        held, words = held + mu * given, words + mu * float(given.sum())
    nats = np.log1p(held / urn.words.beta)
    gain = np.empty(counts.n_docs)
    layout.document_sums(counts, nats, gain)
    loss = counts.length * np.log1p(words / urn.words.beta_sum)
    longest = np.maximum(gain, loss)
    if is_located(counts, urn):
        longest += 2.0 * urn.location.kappa * counts.weight
    return nats, (longest > _open.SAFE_NATS) | (counts.weight > 1)


def find_pairs(counts: Counts, urn: Urn) -> _promote.RelatedPairs:
    """Words of one document that promote each other: found once, not again in every draw."""
    ptr, none = (
        np.zeros(counts.n_docs + 1 if urn.relations.promotion else 0, np.int64),
        np.zeros(0, np.int32),
    )
    pairs = _promote.RelatedPairs(ptr, none, none)
    if urn.relations.promotion:
        _promote.find_pairs(counts, urn, np.full(counts.n_words, -1, np.int64), pairs)
        n_pairs = int(ptr[-1])
        pairs = _promote.RelatedPairs(ptr, np.zeros(n_pairs, np.int32), np.zeros(n_pairs, np.int32))
        _promote.find_pairs(counts, urn, np.full(counts.n_words, -1, np.int64), pairs)
    return pairs


def _no_start(urn: Urn, state: State) -> _promote.Start:
    """Room for the counts a sweep of the promoted urn begins with; none for other urns."""
    n = urn.words.beta.size if urn.relations.promotion else 0
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


def _moved_start(
    urn: Urn, renaming: Renaming, after: State, start: _promote.Start
) -> _promote.Start:
    """The same counts under the slots' new numbers, when they were renamed within a sweep."""
    if not urn.relations.promotion or not start.rate.size:
        return start
    old = np.flatnonzero(renaming[:-1] >= 0)
    new = renaming[old]
    moved = _no_start(urn, after)._replace(
        best=start.best,
        row_of=start.row_of,
        rows=np.zeros((len(start.rows), after.size.size), np.int32),
        post_len=start.post_len,
        post=start.post.copy(),
    )
    moved.rate[new] = start.rate[old]
    moved.rows[:, new] = start.rows[:, old]
    moved.post[:, 0] = renaming[start.post[:, 0]]
    return moved


def _resized(array: npt.NDArray[Any], size: int, fill: int) -> npt.NDArray[Any]:
    """The first values of an array; where it is shorter, all of them and then others."""
    more = np.full((max(0, size - len(array)), *array.shape[1:]), fill, array.dtype)
    return np.concatenate([array[:size], more])
