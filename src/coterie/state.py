"""State: the labels and what is counted from them. Only kernels, `start` and this file write it.

A cluster in use has a *slot*. Slots are renumbered between sweeps to stay dense, so a slot is no
name for a cluster; `Model` gives names at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.counts import Counts
from coterie.kernels import layout
from coterie.urns import Urn

ROW_BYTES = 128 * 2**20  # memory for dense rows, at most
ROW_COST = 5.0  # a row pays when a word is in more than one of this many open clusters
PROMOTED_ROWS = 2.5  # and so much earlier on the promoted urn, which looks single counts up


class State(NamedTuple):
    """Labels, sizes and word counts. All counts are in units of `urn.unit`."""

    z: npt.NDArray[np.int32]  # (documents,) slot of each document
    size: npt.NDArray[np.int64]  # (width,) m_k, documents in each slot
    total: npt.NDArray[np.int64]  # (width,) n_k, words in each slot
    order: npt.NDArray[np.int32]  # (width,) all slots, open ones first
    place: npt.NDArray[np.int32]  # (width,) where each slot is in `order`
    head: npt.NDArray[np.int64]  # (2,) number of open slots, highest slot ever used + 1
    post_ptr: npt.NDArray[np.int64]  # (words + 1,) room for each word's postings
    post_len: npt.NDArray[np.int32]  # (words,) postings in use, 0 where the word has a row
    post: npt.NDArray[np.int32]  # (room, 2) slot, n_kw
    row_of: npt.NDArray[np.int32]  # (words,) row of each word, or -1
    rows: npt.NDArray[np.int32]  # (rows, width) n_kw of heavy words
    flag: npt.NDArray[
        np.uint8
    ]  # (entries,) whether a word promotes its relatives; promoted urn only


def from_labels(
    counts: Counts,
    urn: Urn,
    labels: npt.NDArray[np.int32],
    flag: npt.NDArray[np.uint8] | None = None,
) -> State:
    """Count everything from labels (slots 0..max; seeds are the first slots) and flags, if any."""
    n_seeds = urn.seed_weight.size
    width = _width(max(int(labels.max(initial=-1)) + 1, n_seeds), urn.cap)
    room = _room(counts, urn)
    post_ptr = np.zeros(counts.n_words + 1, np.int64)
    np.cumsum(room, out=post_ptr[1:])
    state = _sized(
        z=labels.astype(np.int32, copy=True),
        post_ptr=post_ptr,
        post_len=np.zeros(counts.n_words, np.int32),
        post=np.empty((int(post_ptr[-1]), 2), np.int32),
        row_of=np.full(counts.n_words, -1, np.int32),
        flag=no_flags(counts, urn) if flag is None else flag.copy(),
        width=width,
    )
    layout.fill(counts, urn, state, np.empty(width, np.int64), np.empty(width, np.int64))
    return relayout(urn, state)


def no_flags(counts: Counts, urn: Urn) -> npt.NDArray[np.uint8]:
    """Flags that promote nothing: one an entry on the promoted urn, else none at all."""
    return np.zeros(counts.word.size if urn.promotion else 0, np.uint8)


def _room(counts: Counts, urn: Urn) -> npt.NDArray[np.int64]:
    """Postings each word may need: a document, seed or promoting relative of a document each."""
    frequency = np.zeros(counts.n_words, np.int64)
    layout.document_frequency(counts, frequency)
    room = frequency + np.bincount(urn.seed_word, minlength=counts.n_words)
    if urn.promotion:
        by_word = np.repeat(frequency, np.diff(urn.relate_ptr))
        related = np.bincount(urn.relate_word, by_word, counts.n_words).astype(np.int64)
        room += np.minimum(related, min(urn.cap, counts.n_docs))
    return room


def relayout(urn: Urn, state: State, spare: int = 0, row_bytes: int = ROW_BYTES) -> State:
    """Close the gaps between open slots, leave some room, and choose anew which words get rows.

    `spare` free slots are left at least, if the cap allows.
    """
    layout.rows_to_postings(state)
    n_open = int(state.head[0])
    old = np.sort(state.order[:n_open])
    width = _width(n_open, urn.cap, spare)
    new = _sized(
        state.z, state.post_ptr, state.post_len, state.post, state.row_of, state.flag, width
    )
    new.size[:n_open] = state.size[old]
    new.total[:n_open] = state.total[old]
    if n_open and old[-1] != n_open - 1:
        layout.renumber(new, renamed(state))
    layout.order_slots(urn, new)
    row_cost = ROW_COST * (PROMOTED_ROWS if urn.promotion and urn.relate_word.size else 1.0)
    heavy = np.flatnonzero(new.post_len * row_cost > max(n_open, 16))
    n_rows = min(heavy.size, row_bytes // (4 * width))
    if n_rows < heavy.size:
        by_use = np.argsort(-new.post_len[heavy], kind="stable")[:n_rows]
        heavy = np.sort(heavy[by_use])
    new.row_of[heavy] = np.arange(n_rows, dtype=np.int32)
    new = new._replace(rows=np.zeros((n_rows, width), np.int32))
    layout.postings_to_rows(new)
    return new


def renamed(state: State) -> npt.NDArray[np.int32]:
    """The slot each slot becomes when the state is laid anew; -1 for closed ones, and for -1 itself."""
    n_open = int(state.head[0])
    new_slot = np.full(state.size.size + 1, -1, np.int32)  # the last one is found by -1
    new_slot[np.sort(state.order[:n_open])] = np.arange(n_open, dtype=np.int32)
    return new_slot


def dense(labels: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Labels renamed to 0, 1, ... in ascending order."""
    return np.asarray(np.unique(labels, return_inverse=True)[1].ravel(), np.int32)


def is_sound(counts: Counts, urn: Urn, state: State) -> bool:
    """Whether a state read from a file is one of this corpus: the counts that its labels give, each
    in the slot that its label names.

    Shapes and ranges come first, so that nothing here leaves an array either.
    """
    width, n_words = state.size.size, counts.n_words
    model = _sized(
        z=np.zeros(0, np.int32),
        post_ptr=np.zeros(0, np.int64),
        post_len=np.zeros(0, np.int32),
        post=np.zeros((0, 2), np.int32),
        row_of=np.zeros(0, np.int32),
        flag=np.zeros(0, np.uint8),
        width=width,
    )
    fits = (
        [(a.dtype, a.ndim) for a in _arrays(state)] == [(a.dtype, a.ndim) for a in _arrays(model)]
        and width % 16 == 0
        and state.z.shape == (counts.n_docs,)
        and state.total.shape == state.order.shape == state.place.shape == (width,)
        and state.post_len.shape == state.row_of.shape == (n_words,)
        and state.head.shape == (2,)
        and state.rows.shape[1] == width
        and _within(state.z, 0, width)
        and _within(state.row_of, -1, len(state.rows))
        and state.flag.shape == no_flags(counts, urn).shape
        and _within(state.flag, 0, 2)
    )
    if not fits:
        return False
    again = from_labels(counts, urn, state.z, state.flag)
    n_open, slots = int(again.head[0]), np.arange(width, dtype=np.int32)
    with_row = state.row_of[state.row_of >= 0]
    fits = (
        np.array_equal(state.post_ptr, again.post_ptr)
        and state.post.shape == again.post.shape
        and _within(state.post_len, 0, np.diff(state.post_ptr) + 1)
        and not state.post_len[state.row_of >= 0].any()
        and np.array_equal(with_row, np.arange(len(state.rows)))
        and _within(state.post[_used(state), 0], 0, width)
        and np.array_equal(np.sort(state.order), slots)
        and np.array_equal(state.place[state.order], slots)
        and state.head[0] == n_open <= width
    )
    if not fits:
        return False
    rename = renamed(state)
    used, closed = np.flatnonzero(rename[:-1] >= 0), np.flatnonzero(rename[:-1] < 0)
    n_seeds = urn.seed_weight.size
    ours: list[npt.NDArray[Any]] = [
        used[:n_seeds],
        rename[state.z],
        state.size[used],
        state.total[used],
        state.size[closed],
        state.total[closed],
        *word_counts(state, rename),
    ]
    nothing = np.zeros(closed.size, np.int64)
    theirs: list[npt.NDArray[Any]] = [
        np.arange(n_seeds),
        again.z,
        again.size[:n_open],
        again.total[:n_open],
        nothing,
        nothing,
        *word_counts(again),
    ]
    same = all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    return same and int(used.max(initial=-1)) < state.head[1] <= width


def _arrays(state: State) -> list[npt.NDArray[Any]]:
    return [getattr(state, name) for name in State._fields]


def _within(array: npt.NDArray[Any], low: int, high: Any) -> bool:
    return bool(((array >= low) & (array < high)).all())


def wants_relayout(state: State, sweep: int) -> bool:
    """Whether to re-lay before this sweep: early on, now and then, and when many slots are empty.

    Decided from state and sweep number alone: the layout is part of how a number becomes a draw.
    """
    return sweep <= 4 or sweep % 8 == 0 or state.head[0] < 0.8 * state.head[1]


def word_counts(
    state: State, rename: npt.NDArray[np.int32] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """All n_kw > 0 as a CSR over words: pointers, slots (renamed if asked, ascending), counts."""
    n_words = state.row_of.size
    with_row = np.flatnonzero(state.row_of >= 0)
    at, in_row = np.nonzero(state.rows)  # rows are numbered in the order of their words
    used = _used(state)
    word = np.concatenate((with_row[at], np.repeat(np.arange(n_words), state.post_len)))
    held = np.concatenate((state.rows[at, in_row], state.post[used, 1]))
    slot = np.concatenate((in_row.astype(np.int32), state.post[used, 0]))
    slot = slot if rename is None else rename[slot]
    sort = np.lexsort((slot, word))
    ptr = np.zeros(n_words + 1, np.int64)
    np.cumsum(np.bincount(word, minlength=n_words), out=ptr[1:])
    return ptr, slot[sort], held[sort]


def _used(state: State) -> npt.NDArray[np.int64]:
    """Places of the postings in use."""
    return np.repeat(state.post_ptr[:-1], state.post_len) + _ranges(state.post_len)


def _ranges(lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """0..n-1 for each n, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - lengths, lengths)


def _width(n_open: int, cap: int, spare: int = 0) -> int:
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
) -> State:
    return State(
        z=z,
        size=np.zeros(width, np.int64),
        total=np.zeros(width, np.int64),
        order=np.arange(width, dtype=np.int32),
        place=np.arange(width, dtype=np.int32),
        head=np.zeros(2, np.int64),
        post_ptr=post_ptr,
        post_len=post_len,
        post=post,
        row_of=row_of,
        rows=np.zeros((0, width), np.int32),
        flag=flag,
    )
