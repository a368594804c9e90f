"""What the CUDA backend decides without a GPU: what it takes, blocks, sizes of launches, memory."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.backends import _uncollapsed
from coterie.backends._blocked import deal, default_block
from coterie.backends.base import SAMPLERS, SamplerOptions
from coterie.counts import Counts
from coterie.errors import Unsupported
from coterie.urns import Urn

WHOLE = 65_536  # from so many documents on, all of them are one block
SLOTS_PER_THREAD = 4
MAX_THREADS = 256
BASE_BYTES = 256 * 2**20  # for base terms kept per length, the frequent ones first
SPARE_BYTES = 512 * 2**20  # left free on the card: libraries, other programs
RANGE_NATS = 700.0  # a product may grow so far between two looks at it: e**709 is too large
MAX_FLUSH = 64
QUICK = 4096  # documents from which a block is drawn quickly first
PRODUCTS = (0, 256, 512, 1024, 2048, 4096)  # columns of the matrix product to choose from
MAX_LENGTHS = 60_000  # a launch has no more rows


def refusal(urn: Urn, options: SamplerOptions) -> str | None:
    """Why the GPU cannot take this urn and these settings, in a sentence; None if it can."""
    if options.sampler not in SAMPLERS:
        return (
            f"There is no sampler {options.sampler!r}; choose one of {', '.join(SAMPLERS)}, auto."
        )
    if options.sampler == "uncollapsed":
        return _uncollapsed.refusal(urn, options, "'blocked'")
    if options.sampler != "blocked":
        return (
            "backend='cuda' draws with sampler='blocked' or 'uncollapsed', not"
            f" {options.sampler!r}; use one of these, or backend='cpu'."
        )
    return None


def blocks_of(n_docs: int, block_size: int | None) -> list[npt.NDArray[np.int64]]:
    """The documents of each block: those of the CPU, but large corpora are one block unless told."""
    whole = n_docs >= WHOLE
    return deal(n_docs, block_size or (n_docs if whole else default_block(n_docs)))


def threads_for(width: int) -> int:
    """Threads that weigh one document: whole warps, four slots each."""
    wanted = -(-width // (32 * SLOTS_PER_THREAD)) * 32
    return min(max(wanted, 32), MAX_THREADS)


def flush_every(most: float, urn: Urn) -> int:
    """Factors 1 + n / b, for n up to `most`, that a product takes before its exponent is put aside."""
    nats = math.log1p(most / float(urn.words.beta.min(initial=1.0)))
    return int(max(1, min(MAX_FLUSH, RANGE_NATS // max(nats, 1e-9))))


def most_held(counts: Counts, urn: Urn) -> float:
    """More than any cluster can hold of a word."""
    words = float(counts.length @ counts.weight)
    promoted = max(1.0, urn.relations.promotion * urn.words.unit)
    return words * promoted + float(urn.seeds.tally.max(initial=0)) * urn.words.unit


class Lengths(NamedTuple):
    """The lengths of single documents, ascending, how often each comes, and each document's place."""

    value: npt.NDArray[np.int64]
    often: npt.NDArray[np.int64]
    of: npt.NDArray[np.int64]  # (documents,) -1: several copies tied together

    @classmethod
    def found_in(cls, counts: Counts) -> Lengths:
        single = counts.weight == 1
        often = np.bincount(counts.length[single]) if counts.length.max(initial=0) < 2**24 else None
        if often is None:
            value, often = np.unique(counts.length[single], return_counts=True)
            return cls(value, often, np.where(single, np.searchsorted(value, counts.length), -1))
        value = np.flatnonzero(often)
        place = np.full(int(counts.length.max(initial=0)) + 1, -1)
        place[value] = np.arange(value.size)
        return cls(value, often[value], np.where(single, place[counts.length], -1))


def base_lengths(
    lengths: Lengths, width: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Lengths whose base terms are kept, and for each document its length's place among them, or -1."""
    n = max(1, min(BASE_BYTES // (8 * width), MAX_LENGTHS))
    kept = np.sort(np.argsort(-lengths.often, kind="stable")[:n])
    row = np.full(lengths.value.size + 1, -1, np.int32)  # the last is found by -1
    row[kept] = np.arange(kept.size)
    return lengths.value[kept].astype(np.int32), row[lengths.of]


def needed_bytes(counts: Counts, width: int, n_dimensions: int) -> int:
    """Device memory of a chain: corpus, counts (four tables: renamed, by cluster, in rows), vectors."""
    corpus = counts.ptr.size * 8 + counts.word.size * 24 + counts.n_docs * 40
    tables = 4 * counts.n_words * width * 4 + min(BASE_BYTES, 8 * width * counts.n_docs)
    vectors = counts.n_docs * n_dimensions * 4 + 2 * width * n_dimensions * 12
    return int(corpus + tables + vectors)


def check_memory(counts: Counts, width: int, n_dimensions: int, free: int) -> None:
    """Refuse what does not fit the card, before it is made."""
    need = needed_bytes(counts, width, n_dimensions) + SPARE_BYTES
    if need <= free:
        return
    fixed = needed_bytes(counts, 0, n_dimensions) + SPARE_BYTES
    each = max(needed_bytes(counts, 1024, n_dimensions) + SPARE_BYTES - fixed, 1) / 1024
    fits = max(0, math.floor((free - fixed) / each / 1.13) // 16 * 16)
    cure = f"At most {fits} clusters fit" if fits else "The documents alone do not fit"
    raise Unsupported(
        f"backend='cuda' keeps a table of {counts.n_words} words x {width} clusters, which takes"
        f" {need / 2**30:.1f} GiB with the documents; the GPU has {free / 2**30:.1f} GiB free. {cure}:"
        " allow fewer clusters, leave out rare words, or use backend='cpu'."
    )


def check_phi(counts: Counts, n_clusters: int, phi: str, free: int) -> None:
    """Refuse a table of word distributions that does not fit the card, before it is made."""
    each = (
        16 if phi == "draw" else 8
    )  # in double precision, in single, and counts under new numbers
    need = counts.n_words * n_clusters * each + SPARE_BYTES
    if need <= free:
        return
    fits = max(0, (free - SPARE_BYTES) // (each * max(counts.n_words, 1)) // 16 * 16)
    cure = f"At most {fits} clusters fit: allow fewer" if fits else "Allow fewer clusters"
    raise Unsupported(
        f"sampler='uncollapsed' keeps a table of {counts.n_words} words x {n_clusters} clusters, which"
        f" takes {need / 2**30:.1f} GiB; the GPU has {free / 2**30:.1f} GiB free. {cure}, leave out rare"
        " words, or use sampler='blocked'."
    )


def product_columns(running: npt.NDArray[np.int64], n_docs: int, width: int, free: int) -> int:
    """Frequent columns that are worth a matrix product; `running`: uses of columns, summed, falling.

    In bytes and operations of an H200: 4 TB/s from memory, 6 TB/s from its cache, 500 TFLOP/s. What is
    chosen changes the time alone.
    """

    def seconds(n: int) -> float:
        left = int(running[-1]) - (int(running[n - 1]) if n else 0)
        row = width if width <= 256 else width * 1.2
        product = n_docs * (2 * n / 4e12 + 2 * n * width / 5e14 + (8 * width / 4e12 if n else 0.0))
        return product + left * row / 6e12

    fits = [n for n in PRODUCTS if n <= running.size and n_docs * (2 * n + 4 * width) < free // 3]
    return min(fits or [0], key=seconds)
