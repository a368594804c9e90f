"""State: the labels and what is counted from them, as the CPU's kernels lay it out.

Only kernels, `start` and this file write it. A cluster in use has a *slot*. Slots are renumbered
between sweeps to stay dense, so a slot is no name for a cluster; its id is. What everybody else sees of a
state is its `Assignment`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.counts import Counts
from coterie.kernels import layout
from coterie.kernels._slots import HIGH, NEXT_ID, OPEN
from coterie.urns import Urn, is_located

Renaming = npt.NDArray[
    np.int32
]  # (slots + 1,) the new slot of each, -1 for closed ones and at the end

ROW_BYTES = 128 * 2**20  # memory for dense rows, at most
ROW_COST = 5.0  # a row pays when a word is in more than one of this many open clusters
PROMOTED_ROWS = 2.5  # and so much earlier on the promoted urn, which looks single counts up


class Assignment(NamedTuple):
    """Which document is in which cluster: all that trace, callbacks, model and checkpoint see."""

    labels: npt.NDArray[np.int32]  # (documents,) the slot of each document
    size: npt.NDArray[np.int64]  # (slots,) m_k, documents
    total: npt.NDArray[np.int64]  # (slots,) n_k, words, in units of `urn.words.unit`
    flag: npt.NDArray[
        np.uint8
    ]  # (entries,) whether a word promotes its relatives; promoted urn only
    id: npt.NDArray[np.int64]  # (slots,) given when the cluster opened, never reused; -1: closed
    next_id: int

    @property
    def open_slots(self) -> npt.NDArray[np.int64]:
        """The slots in use, and those of seeds, ascending."""
        return np.flatnonzero(self.id >= 0)

    @property
    def numbers(self) -> npt.NDArray[np.int32]:
        """(slots,) the number of each when closed ones are left out, -1 for those."""
        is_open = self.id >= 0
        return np.where(is_open, np.cumsum(is_open) - 1, -1).astype(np.int32)


class State(NamedTuple):
    """Labels, sizes and word counts. All counts are in units of `urn.words.unit`."""

    z: npt.NDArray[np.int32]  # (documents,) slot of each document
    size: npt.NDArray[np.int64]  # (width,) m_k, documents in each slot
    total: npt.NDArray[np.int64]  # (width,) n_k, words in each slot
    order: npt.NDArray[np.int32]  # (width,) all slots, open ones first
    place: npt.NDArray[np.int32]  # (width,) where each slot is in `order`
    counters: npt.NDArray[np.int64]  # (3,) open slots, highest slot used + 1, the next new id
    id: npt.NDArray[np.int64]  # (width,) id of the cluster in each slot, -1 where closed
    post_ptr: npt.NDArray[np.int64]  # (words + 1,) room for each word's postings
    post_len: npt.NDArray[np.int32]  # (words,) postings in use, 0 where the word has a row
    post: npt.NDArray[np.int32]  # (room, 2) slot, n_kw
    row_of: npt.NDArray[np.int32]  # (words,) row of each word, or -1
    rows: npt.NDArray[np.int32]  # (rows, width) n_kw of heavy words
    flag: npt.NDArray[
        np.uint8
    ]  # (entries,) whether a word promotes its relatives; promoted urn only
    # (width, dimensions) sums of vectors; no dimensions where vectors do not count
    sums: npt.NDArray[np.float64]

    @property
    def n_open(self) -> int:
        """Open slots: clusters in use, and seeds."""
        return int(self.counters[OPEN])

    @property
    def high(self) -> int:
        """The highest slot in use, plus one."""
        return int(self.counters[HIGH])

    @property
    def assignment(self) -> Assignment:
        """What everybody else sees (shared, not copied)."""
        return Assignment(
            self.z, self.size, self.total, self.flag, self.id, int(self.counters[NEXT_ID])
        )


def from_labels(
    counts: Counts,
    urn: Urn,
    labels: npt.NDArray[np.int32],
    flag: npt.NDArray[np.uint8] | None = None,
    *,
    compact: bool = True,
    spare: npt.NDArray[np.int64] | None = None,
) -> State:
    """Count everything from labels (slots 0..max; seeds are the first slots) and flags, if any.

    Gaps between the slots are closed, unless `compact` is False. Ids are given in the order of slots.
    `spare`: (words,) postings that each word may need beyond those of these documents.
    """
    n_seeds = urn.seeds.weight.size
    width = slots_wide(max(int(labels.max(initial=-1)) + 1, n_seeds), urn.sizes.cap)
    post_ptr = np.append(0, np.cumsum(_room(counts, urn) + (0 if spare is None else spare)))
    state = _sized(
        z=labels.astype(np.int32, copy=True),
        post_ptr=post_ptr,
        post_len=np.zeros(counts.n_words, np.int32),
        post=np.empty((int(post_ptr[-1]), 2), np.int32),
        row_of=np.full(counts.n_words, -1, np.int32),
        flag=no_flags(counts, urn) if flag is None else flag.copy(),
        width=width,
        n_dimensions=counts.vectors.shape[1] if is_located(counts, urn) else 0,
    )
    layout.fill(counts, urn, state, np.empty(width, np.int64), np.empty(width, np.int64))
    return relayout(urn, state, compact=compact)[0]


def assigned(counts: Counts, urn: Urn, labels: npt.NDArray[np.int32]) -> Assignment:
    """As `from_labels(counts, urn, labels).assignment`, without counting words: for any backend."""
    n_seeds = urn.seeds.weight.size
    used = np.zeros(max(int(labels.max(initial=-1)) + 1, n_seeds), bool)
    used[labels] = True
    used[:n_seeds] = True
    labels = (np.cumsum(used) - 1)[labels].astype(np.int32)
    n_open = int(used.sum())
    width = slots_wide(n_open, urn.sizes.cap)
    words = counts.length * counts.weight * urn.words.one
    total = np.bincount(labels, words, width).astype(np.int64)
    of_seeds = np.repeat(np.arange(n_seeds), np.diff(urn.seeds.ptr))
    total += np.bincount(of_seeds, urn.seeds.tally, width).astype(np.int64)
    size = np.bincount(labels, counts.weight, width).astype(np.int64)
    ids = np.where(np.arange(width) < n_open, np.arange(width), -1)
    return Assignment(labels, size, total, no_flags(counts, urn), ids, n_open)


def from_assignment(counts: Counts, urn: Urn, given: Assignment) -> State:
    """Count everything from an assignment; slots and ids stay as they are."""
    state = from_labels(counts, urn, given.labels, given.flag, compact=False)
    slots = given.open_slots
    state.id[:] = -1
    state.id[slots] = given.id[slots]
    state.counters[NEXT_ID] = given.next_id
    return state


def with_ids(state: State, ids: npt.NDArray[np.integer], next_id: int) -> State:
    """The same state with these ids for its open slots, in their order."""
    state.id[state.assignment.open_slots] = ids
    state.counters[NEXT_ID] = next_id
    return state


def no_flags(counts: Counts, urn: Urn) -> npt.NDArray[np.uint8]:
    """Flags that promote nothing: one per entry on the promoted urn, else none at all."""
    return np.zeros(counts.word.size if urn.relations.promotion else 0, np.uint8)


def _room(counts: Counts, urn: Urn) -> npt.NDArray[np.int64]:
    """Postings each word may need: a document, seed or promoting relative of a document each."""
    frequency = np.zeros(counts.n_words, np.int64)
    layout.document_frequency(counts, frequency)
    room = frequency + np.bincount(urn.seeds.word, minlength=counts.n_words)
    if urn.relations.promotion:
        by_word = np.repeat(frequency, np.diff(urn.relations.ptr))
        related = np.bincount(urn.relations.word, by_word, counts.n_words).astype(np.int64)
        room += np.minimum(related, min(urn.sizes.cap, counts.n_docs))
    return room


def relayout(
    urn: Urn, state: State, spare: int = 0, row_bytes: int = ROW_BYTES, *, compact: bool = True
) -> tuple[State, Renaming]:
    """Close the gaps between open slots, leave some room, and choose again which words get rows.

    At least `spare` free slots are left, if the cap allows. Without `compact` the gaps stay, and every
    slot keeps its number. Returns the state and the new number of every slot.
    """
    renaming = renamed(state) if compact else _unchanged(state)
    layout.rows_to_postings(state)
    old = np.flatnonzero(renaming[:-1] >= 0)
    slots = renaming[old]
    n_used = int(slots[-1]) + 1 if old.size else 0
    width = slots_wide(n_used, urn.sizes.cap, spare)
    kept = state.z, state.post_ptr, state.post_len, state.post, state.row_of, state.flag
    new = _sized(*kept, width, state.sums.shape[1])
    for now, before in ((new.size, state.size), (new.total, state.total), (new.id, state.id)):
        now[slots] = before[old]
    new.sums[slots] = state.sums[old]
    new.counters[NEXT_ID] = state.counters[NEXT_ID]
    if old.size and old[-1] != slots[-1]:
        layout.renumber(new, renaming)
    layout.order_slots(urn, new)
    row_cost = ROW_COST * (
        PROMOTED_ROWS if urn.relations.promotion and urn.relations.word.size else 1.0
    )
    heavy = np.flatnonzero(new.post_len * row_cost > max(old.size, 16))
    n_rows = min(heavy.size, row_bytes // (4 * width))
    if n_rows < heavy.size:
        by_use = np.argsort(-new.post_len[heavy], kind="stable")[:n_rows]
        heavy = np.sort(heavy[by_use])
    new.row_of[heavy] = np.arange(n_rows, dtype=np.int32)
    new = new._replace(rows=np.zeros((n_rows, width), np.int32))
    layout.postings_to_rows(new)
    return new, renaming


def renamed(state: State) -> Renaming:
    """The slot each slot becomes when the gaps are closed; -1 for closed ones, and for -1 itself."""
    n_open = state.n_open
    new_slot = np.full(state.size.size + 1, -1, np.int32)  # the last one is found by -1
    new_slot[np.sort(state.order[:n_open])] = np.arange(n_open, dtype=np.int32)
    return new_slot


def _unchanged(state: State) -> Renaming:
    """As `renamed`, where every open slot keeps its number."""
    slot = np.full(state.size.size + 1, -1, np.int32)
    kept = state.order[: state.n_open]
    slot[kept] = kept
    return slot


def dense(labels: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Labels renamed to 0, 1, ... in ascending order."""
    return np.asarray(np.unique(labels, return_inverse=True)[1].ravel(), np.int32)


def is_possible(counts: Counts, urn: Urn, given: Assignment) -> bool:
    """Whether an assignment read from a file is one of this corpus and urn."""
    n_slots, n_seeds = given.id.size, urn.seeds.weight.size
    if not (
        [(a.dtype, a.shape) for a in (given.labels, given.flag)]
        == [(np.dtype(np.int32), (counts.n_docs,)), (np.uint8, no_flags(counts, urn).shape)]
        and given.id.dtype == np.int64
        and given.id.ndim == 1
        and n_seeds <= n_slots <= slots_wide(counts.n_docs + n_seeds, urn.sizes.cap)
        and _within(given.labels, 0, n_slots)
        and _within(given.flag, 0, 2)
        and _within(given.id, -1, given.next_id)
        and 0 <= given.next_id < 2**62
    ):
        return False
    used = np.zeros(n_slots, bool)
    used[given.labels] = True
    used[:n_seeds] = True
    ids = given.id[given.open_slots]
    return bool(
        np.array_equal(used, given.id >= 0)
        and ids.size <= urn.sizes.cap
        and np.unique(ids).size == ids.size
    )


def is_sound(counts: Counts, urn: Urn, state: State) -> bool:
    """Whether a state whose layout was read from a file is one of this corpus: the counts that its
    labels give, each in the slot that its label names.

    Shapes and ranges come first, so that nothing here leaves an array either.
    """
    width, n_words = state.size.size, counts.n_words
    like = _sized(
        z=np.zeros(0, np.int32),
        post_ptr=np.zeros(0, np.int64),
        post_len=np.zeros(0, np.int32),
        post=np.zeros((0, 2), np.int32),
        row_of=np.zeros(0, np.int32),
        flag=np.zeros(0, np.uint8),
        width=0,
    )
    fits = (
        [(a.dtype, a.ndim) for a in _arrays(state)] == [(a.dtype, a.ndim) for a in _arrays(like)]
        and width % 16 == 0
        and state.total.shape == state.order.shape == state.place.shape == (width,)
        and state.counters.shape == (3,)
        and state.post_len.shape == state.row_of.shape == (n_words,)
        and state.rows.shape[1] == width
        and _within(state.z, 0, width)
        and _within(state.row_of, -1, len(state.rows))
        and is_possible(counts, urn, state.assignment)
    )
    if not fits:
        return False
    again = from_assignment(counts, urn, state.assignment)
    n_open, n_slots = again.n_open, min(width, again.size.size)
    slots, with_row = np.arange(width, dtype=np.int32), state.row_of[state.row_of >= 0]
    fits = (
        np.array_equal(state.post_ptr, again.post_ptr)
        and state.post.shape == again.post.shape
        and _within(state.post_len, 0, np.diff(state.post_ptr) + 1)
        and not state.post_len[state.row_of >= 0].any()
        and np.array_equal(with_row, np.arange(len(state.rows)))
        and _within(state.post[_used(state), 0], 0, width)
        and np.array_equal(np.sort(state.order), slots)
        and np.array_equal(state.place[state.order], slots)
        and state.n_open == n_open <= width
        and np.array_equal(np.sort(state.order[:n_open]), state.assignment.open_slots)
        and again.high <= state.high <= width
        and np.array_equal(
            state.sums[state.assignment.open_slots], again.sums[state.assignment.open_slots]
        )
    )
    if not fits:
        return False
    same = (
        np.array_equal(state.size[:n_slots], again.size[:n_slots])
        and np.array_equal(state.total[:n_slots], again.total[:n_slots])
        and not state.size[n_slots:].any()
        and not state.total[n_slots:].any()
    )
    pairs: list[tuple[Any, Any]] = list(zip(word_counts(state), word_counts(again), strict=True))
    return same and all(np.array_equal(ours, theirs) for ours, theirs in pairs)


def _arrays(state: State) -> list[npt.NDArray[Any]]:
    return [getattr(state, name) for name in State._fields]


def _within(array: npt.NDArray[Any], low: int, high: Any) -> bool:
    return bool(((array >= low) & (array < high)).all())


def wants_relayout(state: State, sweep: int) -> bool:
    """Whether to close the gaps before this sweep: early on, now and then, and when many slots are empty.

    Decided from state and sweep number alone: slots are part of how a number becomes a draw.
    """
    return wants_renaming(state.n_open, state.high, sweep)


def wants_renaming(n_open: int, high: int, sweep: int) -> bool:
    """The rule of `wants_relayout`, for open slots of which the highest is below `high`."""
    return sweep <= 4 or sweep % 8 == 0 or n_open < 0.8 * high


def word_counts(
    state: State, rename: npt.NDArray[np.int32] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """All n_kw > 0 as a CSR over words: pointers, slots (renamed if asked, ascending), counts."""
    if rename is None:
        rename = np.arange(state.size.size, dtype=np.int32)
    ptr = np.zeros(state.row_of.size + 1, np.int64)
    layout.word_lengths(state, ptr)
    slot, held = np.empty(int(ptr[-1]), np.int32), np.empty(int(ptr[-1]), np.int32)
    layout.word_counts(state, rename, ptr, slot, held)
    return ptr, slot, held


def _used(state: State) -> npt.NDArray[np.int64]:
    """Places of the postings in use."""
    return np.repeat(state.post_ptr[:-1], state.post_len) + _ranges(state.post_len)


def _ranges(lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """0..n-1 for each n, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - lengths, lengths)


def slots_wide(n_open: int, cap: int, spare: int = 0) -> int:
    """Slots to keep: the open ones and an eighth more, never above the cap, in whole blocks."""
    wanted = min(n_open + max(32, n_open // 8, spare), cap)
    return -(-max(wanted, 1) // 16) * 16


def _sized(
    z: npt.NDArray[np.int32],
    post_ptr: npt.NDArray[np.int64],
    post_len: npt.NDArray[np.int32],
    post: npt.NDArray[np.int32],
    row_of: npt.NDArray[np.int32],
    flag: npt.NDArray[np.uint8],
    width: int,
    n_dimensions: int = 0,
) -> State:
    return State(
        z=z,
        size=np.zeros(width, np.int64),
        total=np.zeros(width, np.int64),
        order=np.arange(width, dtype=np.int32),
        place=np.arange(width, dtype=np.int32),
        counters=np.zeros(3, np.int64),
        id=np.full(width, -1, np.int64),
        post_ptr=post_ptr,
        post_len=post_len,
        post=post,
        row_of=row_of,
        rows=np.zeros((0, width), np.int32),
        flag=flag,
        sums=np.zeros((width, n_dimensions)),
    )
