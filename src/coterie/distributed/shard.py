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
from coterie.counts import Counts, subset
from coterie.distributed.merge import Delta, Tally, tally
from coterie.state import Assignment, from_assignment, no_flags
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
        counts = counts._replace(vectors=np.zeros((0, 0), np.float32))
    whole = order.clusters
    own = whole if order.n_shards == 1 else tally(counts, labels, n)
    elsewhere = whole - own
    is_seed = (elsewhere.size > 0) | (np.arange(n) < order.urn.seeds.weight.size)
    slots = np.concatenate([np.flatnonzero(is_seed), np.flatnonzero(~is_seed)])  # -> cluster
    slot_of = np.empty(n, np.int32)
    slot_of[slots] = np.arange(n, dtype=np.int32)
    n_seeds = int(is_seed.sum())
    urn = _surrounded(order, elsewhere, slots[:n_seeds], shard)
    none, flag = np.zeros(n, np.int64), no_flags(counts, urn)
    state = from_assignment(counts, urn, Assignment(slot_of[labels], none, none, flag, slots, n))
    state.sums[:n_seeds] += elsewhere.sums[slots[:n_seeds]]
    chain = BACKEND.chain(counts, urn, state, order.options)
    stats = chain.sweep(_rng.key_from_seed(order.key + KEYS * (1 + shard)), order.sweep)
    assert stats is not None  # nobody asked it to stop
    return _report(counts, labels, _clusters_of(chain.assignment(), n), n, stats.moved)


def _surrounded(order: Order, elsewhere: Tally, seeds: npt.NDArray[np.int64], shard: int) -> Urn:
    """The urn of a shard: clusters that others hold, too, are seeds with what they hold elsewhere."""
    urn, n_own, n = order.urn, order.urn.seeds.weight.size, elsewhere.size.size
    held = elsewhere.held[seeds] * urn.words.one
    prior = np.full(seeds.size, urn.sizes.prior)
    if n_own:
        prior[:n_own] = urn.seeds.weight
        held = held + seed_words(urn, seeds.size)
    held = held.tocsr()
    held.eliminate_zeros()
    held.sort_indices()
    cap = urn.sizes.cap
    if cap < NO_CAP:  # what may be opened in all is shared out, so that the cap holds
        room = cap - n
        cap = n + room // order.n_shards + (shard < room % order.n_shards)
    return changed(
        urn,
        cap=cap,
        seed_weight=elsewhere.size[seeds] + prior,
        seed_ptr=held.indptr.astype(np.int64),
        seed_word=held.indices.astype(np.int32),
        seed_count=held.data.astype(np.int32),
    )


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
