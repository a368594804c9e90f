"""One sweep of one shard: a pure function, so that a repeated task gives the same result.

To the kernels the rest of the corpus is a set of seeds: their weight is the size elsewhere, their words
are the counts elsewhere. Clusters that only this shard holds are its own. So a shard sees all clusters
as they were when the sweep began, and its own moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import _rng
from coterie.backends.base import SamplerOptions
from coterie.backends.cpu import BACKEND
from coterie.counts import INT32_MAX, NO_VECTORS, Counts, subset
from coterie.distributed.laying import laid_out
from coterie.distributed.merge import Delta
from coterie.distributed.tallying import Tally, tally
from coterie.kernels import layout
from coterie.state import Assignment, State
from coterie.urns import NO_CAP, Urn, changed, is_located

KEYS = 2**64


class Order(NamedTuple):
    """What all shards of a sweep are told."""

    urn: Urn
    clusters: Tally  # of the whole corpus, as the sweep begins
    options: SamplerOptions
    key: int
    sweep: int
    n_shards: int


class Moves(NamedTuple):
    """Documents of a shard that changed their cluster, and where they went.

    A label from the number of clusters on is the first, second, ... that this shard opened.
    """

    documents: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]
    moved: int  # copies counted
    n_opened: int


def sweep_shard(
    counts: Counts, labels: npt.NDArray[np.int32], shard: int, order: Order
) -> tuple[Moves, Delta]:
    """Draw every document of a shard once."""
    n = order.clusters.size.size
    if not is_located(counts, order.urn):
        counts = counts._replace(vectors=NO_VECTORS)
    own = np.bincount(labels, counts.weight, n).astype(np.int64)
    elsewhere = order.clusters.size - own
    is_seed = (elsewhere > 0) | (np.arange(n) < order.urn.seeds.weight.size)
    slots = np.concatenate([np.flatnonzero(is_seed), np.flatnonzero(~is_seed)])  # -> cluster
    slot_of = np.empty(n, np.int32)
    slot_of[slots] = np.arange(n, dtype=np.int32)
    urn = _surrounded(order, counts, elsewhere[slots[: int(is_seed.sum())]], shard)
    state = _laid(order, counts, slot_of[labels], own, slots)
    chain = BACKEND.chain(counts, urn, state, order.options)
    stats = chain.sweep(_rng.key_from_seed(order.key + KEYS * (1 + shard)), order.sweep)
    assert stats is not None  # nobody asked it to stop
    return _report(counts, labels, _clusters_of(chain.assignment(), n), n, stats.moved)


def _surrounded(order: Order, counts: Counts, elsewhere: npt.NDArray[np.int64], shard: int) -> Urn:
    """The urn of a shard: clusters that others hold, too, are seeds that weigh what they have there.

    The words of all seeds lie with the first of them. A state would count them, but this one is laid
    out from the clusters; what else is asked of them, bounds that hold for every state, needs only sums.
    """
    urn, n = order.urn, order.clusters.size.size
    prior = np.full(elsewhere.size, urn.sizes.prior)
    prior[: urn.seeds.weight.size] = urn.seeds.weight
    cap = urn.sizes.cap
    if cap < NO_CAP:  # what may be opened in all is shared out, so that the cap holds
        room = cap - n
        cap = n + room // order.n_shards + (shard < room % order.n_shards)
    word, amount = _words_elsewhere(order, counts)
    ptr = np.full(elsewhere.size + 1, word.size, np.int64)
    ptr[0] = 0
    return changed(
        urn,
        cap=cap,
        seed_weight=elsewhere + prior,
        seed_ptr=ptr,
        seed_word=word,
        seed_count=amount,
    )


def _words_elsewhere(
    order: Order, counts: Counts
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Words that other shards and the urn's own seeds hold, and how often, in units: at least so often."""
    urn, own = order.urn, np.zeros(counts.n_words)
    layout.word_totals(counts, own)
    every = np.asarray(order.clusters.held.sum(axis=0)).ravel()
    held = (every - own.astype(np.int64)) * urn.words.one
    held += np.bincount(urn.seeds.word, urn.seeds.tally, held.size).astype(np.int64)
    word = np.flatnonzero(held)
    times = -(-held[word] // INT32_MAX)  # more than a number of 32 bits are several
    amount = np.minimum(held[word], INT32_MAX).astype(np.int32)
    return np.repeat(word, times).astype(np.int32), np.repeat(amount, times)


def _laid(
    order: Order,
    counts: Counts,
    labels: npt.NDArray[np.int32],
    own: npt.NDArray[np.int64],
    slots: npt.NDArray[np.int64],
) -> State:
    """The state of a shard: words and vectors of all documents, sizes and labels of its own.

    It is laid out from the counts of the clusters, so what it costs does not grow with the documents.
    """
    whole, n = order.clusters, slots.size
    moved = bool((slots != np.arange(n)).any())
    state = laid_out(order.urn, whole.held[slots] if moved else whole.held, counts)
    sums = np.zeros((state.size.size, whole.sums.shape[1]))
    sums[:n] = whole.sums[slots]
    state.size[:n] = own[slots]
    state.id[:n] = slots
    return state._replace(z=labels, sums=sums)


def seed_words(urn: Urn, n: int) -> Any:
    """The pseudo-counts of the urn's own seeds, as rows of n clusters."""
    ends = np.append(urn.seeds.ptr, np.full(n - urn.seeds.weight.size, urn.seeds.ptr[-1]))
    given = urn.seeds.tally.astype(np.int64), urn.seeds.word, ends
    return sparse.csr_matrix(given, (n, urn.words.beta.size))


def _clusters_of(now: Assignment, n: int) -> npt.NDArray[np.int32]:
    """The cluster of each document; those that were opened follow the n known ones, in order."""
    new = np.flatnonzero(now.id >= n)
    number = now.id.astype(np.int32)
    number[new[np.argsort(now.id[new], kind="stable")]] = n + np.arange(new.size, dtype=np.int32)
    return np.asarray(number[now.labels])


def _report(
    counts: Counts,
    before: npt.NDArray[np.int32],
    after: npt.NDArray[np.int32],
    n: int,
    moved: int,
) -> tuple[Moves, Delta]:
    documents = np.flatnonzero(before != after)
    went = after[documents]
    some = subset(counts, documents)
    n_opened = max(0, int(after.max(initial=-1)) + 1 - n)
    gained = tally(some, np.where(went < n, went, -1), n)
    new = went >= n
    members = subset(some, np.flatnonzero(new))
    member_of = (went[new] - n).astype(np.int64)
    opened = tally(members, member_of, n_opened)
    delta = Delta(gained - tally(some, before[documents], n), opened, members, member_of)
    return Moves(documents, went, moved, n_opened), delta
