"""What shards report of a sweep, put together. Knows no engine: plain arrays in, plain arrays out.

All counts are whole numbers (sums of vectors are exact, too), so the order of adding does not matter;
clusters that several shards opened are numbered in the order of the shards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.counts import Counts
from coterie.distributed.packing import Packed, packed, unpacked
from coterie.distributed.tallying import Tally, grouped
from coterie.merging import merge
from coterie.state import from_labels
from coterie.urns import Urn, changed

Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
NONE = np.zeros(0, np.int64)
NO_DOCUMENTS = Counts(
    np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), NONE, NONE, 0
)  # fmt: skip


class Delta(NamedTuple):
    """What a sweep changed in some shards."""

    known: Tally  # by how much the clusters changed that were there before
    opened: Tally  # the new clusters, in the order of the shards
    members: Counts  # the documents of the new clusters,
    member_of: Ints  # and which of them each is in


class SlimDelta(NamedTuple):
    """A `Delta` in few bytes."""

    known: Packed
    opened: Packed
    members: Counts
    member_of: Ints


def add(one: Delta, other: Delta) -> Delta:
    """The deltas of two neighbouring groups of shards as one."""
    return Delta(
        one.known + other.known,
        _stacked(one.opened, other.opened),
        _joined(one.members, other.members),
        np.concatenate([one.member_of, other.member_of + one.opened.size.size]),
    )


def twins(urn: Urn, delta: Delta) -> Ints:
    """The number of each new cluster, after those that are more probable as one were joined.

    Shards cannot see each other's new clusters, so a topic may have been opened in several.
    """
    n = delta.opened.size.size
    if n < 2:
        return np.arange(n)
    none = np.zeros(0, np.int32)
    bare = changed(urn, seed_weight=np.zeros(0), seed_ptr=np.zeros(1, np.int64), seed_word=none)
    bare = changed(bare, seed_count=none)
    labels = delta.member_of.astype(np.int32)
    merged = merge(
        delta.members, bare, from_labels(delta.members, bare, labels, compact=False).assignment
    )
    number = np.arange(n)
    if merged is not None:
        number[labels] = merged.labels
    return np.asarray(np.unique(number, return_inverse=True)[1].ravel())


def slim(delta: Delta) -> SlimDelta:
    """A delta for the network."""
    return SlimDelta(packed(delta.known), packed(delta.opened), *delta[2:])


def wide(small: SlimDelta) -> Delta:
    """A delta from the network."""
    return Delta(unpacked(small.known), unpacked(small.opened), *small[2:])


class Taken(NamedTuple):
    """The clusters after a sweep: twins joined, empty ones closed, the others numbered anew."""

    clusters: Tally
    every: npt.NDArray[np.int32]  # the new number of every cluster, old and opened; -1: closed
    keep: npt.NDArray[np.bool_]  # which of the old ones are left
    n_new: int


def taken(clusters: Tally, delta: Delta, twin: Ints, n_seeds: int) -> Taken:
    """Apply the changes of a sweep; `twin` is the number of each new cluster, seeds are never closed."""
    n = clusters.size.size
    known, n_new = clusters + delta.known, int(twin.max(initial=-1)) + 1
    keep = (known.size > 0) | (np.arange(n) < n_seeds)
    n_kept = int(keep.sum())
    number = np.full(n, -1, np.int64)
    number[keep] = np.arange(n_kept)
    total = n_kept + n_new
    opened = grouped(delta.opened, n_kept + twin, total)
    every = np.concatenate([number, n_kept + twin]).astype(np.int32)
    return Taken(grouped(known, number, total) + opened, every, keep, n_new)


class Change(NamedTuple):
    """What a sweep changed, as shards are told it, in few bytes."""

    known: Packed
    opened: Packed
    twin: Ints  # the number of each new cluster
    n_seeds: int


def change_of(delta: Delta, twin: Ints, n_seeds: int) -> Change:
    """A change for the network."""
    return Change(packed(delta.known), packed(delta.opened), twin.astype(np.int32), n_seeds)


def changed_clusters(clusters: Tally, change: Change) -> Taken:
    """As `taken`, from what was told."""
    known, opened, twin, n_seeds = change
    delta = Delta(unpacked(known), unpacked(opened), NO_DOCUMENTS, NONE)
    return taken(clusters, delta, twin, n_seeds)


def in_corpus(labels: Labels, n: int, first: int) -> Labels:
    """The labels of a shard in the whole corpus.

    Those from n on are clusters that the shard opened; the first of them is `first` there.
    """
    return np.where(labels < n, labels, labels + (first - n))


def renumbered(labels: Labels, n: int, first: int, every: Labels) -> Labels:
    """The labels of a shard after a sweep: see `in_corpus`, and `Taken` about `every`."""
    return every[in_corpus(labels, n, first)]


def _stacked(one: Tally, other: Tally) -> Tally:
    return Tally(
        np.concatenate([one.size, other.size]),
        sparse.vstack([one.held, other.held], format="csr"),
        np.concatenate([one.sums, other.sums]),
    )


def _joined(one: Counts, other: Counts) -> Counts:
    return Counts(
        np.concatenate([one.ptr, other.ptr[1:] + one.ptr[-1]]),
        np.concatenate([one.word, other.word]),
        np.concatenate([one.tally, other.tally]),
        np.concatenate([one.length, other.length]),
        np.concatenate([one.weight, other.weight]),
        one.n_words,
        np.concatenate([one.vectors, other.vectors]),
    )
