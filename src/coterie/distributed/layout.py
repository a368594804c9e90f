"""How a corpus is divided into shards: by its size and the settings, never by threads or workers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coterie.counts import Counts
from coterie.distributed.tallying import Tally, tally

Bounds = list[tuple[int, int]]  # first document and end of each shard
SHARD_WORDS = 5_000_000  # entries (distinct words of documents) per shard


def shard_bounds(counts: Counts, asked: int | None) -> Bounds:
    """The documents of each shard: stretches that hold about as many words each."""
    n_words = int(counts.ptr[-1])
    n_shards = -(-n_words // SHARD_WORDS) if asked is None else asked
    n_shards = max(1, min(n_shards, counts.n_docs))
    ends = [0]
    for shard in range(1, n_shards):
        at = int(counts.ptr.searchsorted(n_words * shard // n_shards))
        ends.append(min(max(at, ends[-1] + 1), counts.n_docs - n_shards + shard))
    ends.append(counts.n_docs)
    return list(pairwise(ends))


def cut(counts: Counts, first: int, end: int) -> Counts:
    """The documents first..end-1 as a corpus of their own; arrays are shared, not copied."""
    begin, stop = int(counts.ptr[first]), int(counts.ptr[end])
    part = counts._replace(
        ptr=counts.ptr[first : end + 1] - begin,
        word=counts.word[begin:stop],
        tally=counts.tally[begin:stop],
        length=counts.length[first:end],
        weight=counts.weight[first:end],
    )
    return part._replace(vectors=counts.vectors[first:end]) if counts.vectors.shape[1] else part


def tally_parts(counts: Counts, bounds: Bounds, labels: npt.NDArray[np.integer], n: int) -> Tally:
    """As `tally`, shard by shard, so that a corpus on disk is never in memory as a whole."""
    first, *others = bounds
    total = tally(cut(counts, *first), labels[slice(*first)], n)
    for bound in others:
        total += tally(cut(counts, *bound), labels[slice(*bound)], n)
    return total
