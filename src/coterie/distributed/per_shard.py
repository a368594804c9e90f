"""What Dask workers do with a shard of documents that stays with them: pure functions of parcels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.checkpoint import digest_of
from coterie.counts import NO_VECTORS, Corpus
from coterie.distributed import merge, tallying
from coterie.distributed.calls import Parcel
from coterie.distributed.shard import Order, sweep_shard


class Size(NamedTuple):
    """What the client knows of a shard."""

    n_docs: int  # copies counted
    n_entries: int
    n_words: int
    n_labels: int  # copies not counted


def size(docs: Parcel) -> Parcel:
    """What the client knows of a shard."""
    corpus: Corpus = docs.content[0]
    counts = corpus.counts
    words = int(counts.length @ counts.weight)
    n_docs = int(counts.weight.sum())
    return Parcel(Size(n_docs, counts.word.size, words, counts.n_docs))


def digest(docs: Parcel) -> Parcel:
    """Of the documents of a shard."""
    return Parcel(digest_of(docs.content[0].counts._asdict()))


def best(docs: Parcel, told: Parcel) -> Parcel:
    """The most probable slots, and their probabilities."""
    model, slots = told.content
    best, probability = model.best(docs.content[0].counts)
    return Parcel((slots[best], probability.astype(np.float32)))


def first(found: Parcel) -> Parcel:
    """The first of several results."""
    return Parcel(found.content[0])


def second(found: Parcel) -> Parcel:
    """The second of several results."""
    return Parcel(found.content[1])


def third(found: Parcel) -> Parcel:
    """The third of several results."""
    return Parcel(found.content[2])


def tally(docs: Parcel, labels: Parcel, n: int, located: bool) -> Parcel:
    """What the documents of a shard add up to."""
    counts = docs.content[0].counts
    if not located:
        counts = counts._replace(vectors=NO_VECTORS)
    return Parcel(tallying.tally(counts, labels.content, n))


def join(one: Parcel, other: Parcel) -> Parcel:
    """The sum of two tallies."""
    return Parcel(one.content + other.content)


def add(one: Parcel, other: Parcel) -> Parcel:
    """The sum of two deltas."""
    return Parcel(merge.slim(merge.add(merge.wide(one.content), merge.wide(other.content))))


def same(docs: Parcel, labels: Parcel, before: Parcel) -> Parcel:
    """How many documents have the labels that they had."""
    return Parcel(int(docs.content[0].counts.weight[labels.content == before.content].sum()))


def sizes(docs: Parcel, labels: Parcel, n: int) -> Parcel:
    """How many documents have each of n labels."""
    weight = docs.content[0].counts.weight
    return Parcel(np.bincount(labels.content, weight, n).astype(np.int64))


def kept(labels: Parcel, before: Parcel, told: Parcel) -> Parcel:
    """Labels, where some clusters get those back that they had."""
    return Parcel(np.where(np.isin(before.content, told.content), before.content, labels.content))


def sweep(
    docs: Parcel, labels: Parcel, table: Parcel, shard: int, told: Parcel, sweep: int
) -> Parcel:
    """Returns (labels, where new clusters follow the known ones; what changed; moved and opened)."""
    order: Order = told.content._replace(clusters=table.content.clusters, sweep=sweep)
    moves, delta = sweep_shard(docs.content[0].counts, labels.content, shard, order)
    after = labels.content.copy()
    after[moves.documents] = moves.labels
    return Parcel((after, merge.slim(delta), (moves.moved, moves.n_opened)))


def advanced(table: Parcel, change: Parcel) -> Parcel:
    """The clusters after a sweep, and what each is called now."""
    return Parcel(merge.changed_clusters(table.content.clusters, change.content))


def relabelled(done: Parcel, table: Parcel, n: int, first: int) -> Parcel:
    """The labels after a sweep, in the numbers that follow it."""
    return Parcel(merge.renumbered(done.content[0], n, first, table.content.every))


def renumber(labels: Parcel, every: Parcel) -> Parcel:
    """The labels in other numbers."""
    return Parcel(every.content[labels.content])
