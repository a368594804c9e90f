"""What shards report of a sweep, put together. Knows no engine: plain arrays in, plain arrays out.

All counts are whole numbers (sums of vectors are exact, too), so the order of adding does not matter;
clusters that several shards opened are numbered in the order of the shards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.counts import Counts, vector_sums
from coterie.merging import merge
from coterie.state import from_labels
from coterie.urns import Urn, changed

Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
NONE = np.zeros(0, np.int64)
NO_DOCUMENTS = Counts(
    np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), NONE, NONE, 0
)  # fmt: skip


class Tally(NamedTuple):
    """What some documents add up to, cluster by cluster."""

    size: Ints  # (clusters,) documents, copies counted
    held: Any  # (clusters, words) sparse: occurrences
    sums: npt.NDArray[np.float64]  # (clusters, dimensions) of vectors

    def __add__(self, other: Any) -> Tally:
        return Tally(self.size + other.size, self.held + other.held, self.sums + other.sums)

    def __sub__(self, other: Any) -> Tally:
        return Tally(self.size - other.size, self.held - other.held, self.sums - other.sums)


class Delta(NamedTuple):
    """What a sweep changed in some shards."""

    known: Tally  # by how much the clusters changed that were there before
    opened: Tally  # the new clusters, in the order of the shards
    members: Counts  # the documents of the new clusters,
    member_of: Ints  # and which of them each is in


def tally(counts: Counts, labels: npt.NDArray[np.integer], n: int) -> Tally:
    """Count documents with labels 0..n-1; negative ones are left out."""
    known = np.flatnonzero(labels >= 0)
    weight = counts.weight[known]
    at = (labels[known].astype(np.int64), known)
    member = sparse.csr_matrix((weight, at), (n, counts.n_docs))
    words = sparse.csr_matrix(
        (counts.tally.astype(np.int64), counts.word, counts.ptr), (counts.n_docs, counts.n_words)
    )
    size = np.bincount(labels[known], weight, n).astype(np.int64)
    return Tally(size, member @ words, vector_sums(counts, labels, n))


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


def slim(delta: Delta) -> Delta:
    """The same changes in the smallest whole numbers that hold them, for the network."""
    return delta._replace(known=_slim(delta.known), opened=_slim(delta.opened))


def wide(delta: Delta) -> Delta:
    """The same changes in numbers that can be added up."""
    return delta._replace(known=_wide(delta.known), opened=_wide(delta.opened))


def _slim(tallied: Tally) -> Tally:
    held = sparse.csr_matrix(tallied.held)
    held.eliminate_zeros()
    return tallied._replace(
        size=tallied.size.astype(_smallest(tallied.size)), held=held.astype(_smallest(held.data))
    )


def _wide(tallied: Tally) -> Tally:
    return tallied._replace(size=tallied.size.astype(np.int64), held=tallied.held.astype(np.int64))


def _smallest(values: npt.NDArray[Any]) -> Any:
    least, most = int(values.min(initial=0)), int(values.max(initial=0))
    return np.min_scalar_type(min(least, -1 - most))


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
    """What a sweep changed, as shards are told it: a `Delta` in small numbers, and what became of it."""

    known: Tally
    opened: Tally
    twin: Ints  # the number of each new cluster
    n_seeds: int


def change_of(delta: Delta, twin: Ints, n_seeds: int) -> Change:
    """A change for the network."""
    small = slim(delta)
    return Change(small.known, small.opened, twin.astype(np.int32), n_seeds)


def changed_clusters(clusters: Tally, change: Change) -> Taken:
    """As `taken`, from what was told."""
    known, opened, twin, n_seeds = change
    return taken(clusters, Delta(_wide(known), _wide(opened), NO_DOCUMENTS, NONE), twin, n_seeds)


def in_corpus(labels: Labels, n: int, first: int) -> Labels:
    """The labels of a shard in the whole corpus.

    Those from n on are clusters that the shard opened; the first of them is `first` there.
    """
    return np.where(labels < n, labels, labels + (first - n))


def renumbered(labels: Labels, n: int, first: int, every: Labels) -> Labels:
    """The labels of a shard after a sweep: see `in_corpus`, and `Taken` about `every`."""
    return every[in_corpus(labels, n, first)]


def grouped(tallied: Tally, number: npt.NDArray[np.integer], n: int) -> Tally:
    """The same counts for clusters under other numbers, 0..n-1; equal numbers are added, -1 dropped."""
    old = np.flatnonzero(number >= 0)
    ones = np.ones(old.size, np.int64)
    turn = sparse.csr_matrix((ones, (number[old], old)), (n, number.size))
    sums = np.zeros((n, tallied.sums.shape[1]))
    np.add.at(sums, number[old], tallied.sums[old])
    size = np.bincount(number[old], tallied.size[old], n).astype(np.int64)
    return Tally(size, turn @ tallied.held, sums)


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
