"""Corpus and counts on the card, and the kernels that change them; host arrays in, host arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._arrays import step_of
from coterie.backends.cuda import _plan
from coterie.counts import Counts
from coterie.urns import Urn, is_located, is_symmetric

WARPS = 8  # per block, where a warp takes a document
SUM_BLOCKS = 1024  # blocks of a sum: fixed, so that it is the same every time


class Corpus:
    """The documents on the card: they never change."""

    def __init__(self, device: Any, counts: Counts) -> None:
        xp = device.xp
        self.n_docs, self.n_words = counts.n_docs, counts.n_words
        self.ptr = xp.asarray(counts.ptr, np.int64)
        self.word = xp.asarray(counts.word, np.int32)
        self.tally = xp.asarray(counts.tally, np.int32)
        self.length = xp.asarray(counts.length.astype(np.int32))
        self.weight = xp.asarray(counts.weight.astype(np.int32))
        step = np.float32(step_of(counts.vectors))
        self.vectors = xp.asarray(counts.vectors).astype(np.float32) * step

    @property
    def words(self) -> tuple[Any, ...]:
        """The first arguments of most kernels."""
        return self.ptr, self.word, self.tally, self.length


class Prior:
    """The urn's values on the card."""

    def __init__(self, device: Any, counts: Counts, urn: Urn) -> None:
        xp, words = device.xp, urn.words
        self.stride = int(not is_symmetric(urn))
        beta = words.beta if self.stride else words.beta[:1]
        self.beta, self.inv_beta = xp.asarray(beta), xp.asarray(1.0 / beta)
        self.located = is_located(counts, urn)
        self.kappa = urn.location.kappa if self.located else 0.0

    def arguments(self, urn: Urn) -> tuple[Any, ...]:
        """As the draw takes them."""
        words, sizes = urn.words, urn.sizes
        return (
            self.beta, self.inv_beta, np.int32(self.stride), np.float64(words.beta_sum),
            np.float64(words.unit), np.int32(words.one), np.int32(words.burstiness > 0),
            np.int32(urn.seeds.weight.size), np.float64(sizes.prior), np.float64(sizes.open_weight),
            np.float64(sizes.cap), np.float64(self.kappa), np.float64(urn.location.rho),
        )  # fmt: skip


class Tables:
    """What is counted from the labels: n_kw, m_k, n_k, and the sums of vectors."""

    def __init__(
        self, device: Any, corpus: Corpus, urn: Urn, labels: npt.NDArray[np.int32], width: int,
        n_dimensions: int,
    ) -> None:  # fmt: skip
        self.device, self.corpus, self.urn, self.width = device, corpus, urn, width
        self.n_dimensions = n_dimensions
        xp = device.xp
        self.z = xp.full(labels.size, -1, np.int32)
        self.moved = xp.zeros(1, np.uint64)
        self.held = xp.zeros((corpus.n_words, width), np.int32)
        self.size = xp.zeros(width, np.int64)
        self.total = xp.zeros(width, np.int64)
        self.sums = xp.zeros((width, n_dimensions), np.float64)
        self.slot_prior = self._slot_prior()
        self._add_seeds()
        self.move(xp.asarray(labels), None, 0, labels.size)

    def move(self, drawn: Any, scan: Any, first: int, n: int) -> None:
        """Let the documents at these places of the scan go where they were drawn to."""
        corpus, urn = self.corpus, self.urn
        scanned = scan is not None
        args = (
            *corpus.words, corpus.weight, np.int32(urn.words.one), scan if scanned else self.z,
            np.int32(scanned), np.int64(first), np.int64(n), drawn, self.z, np.int32(self.width), self.held,
            self.size, self.total, self.moved, corpus.vectors, np.int32(self.n_dimensions), self.sums,
        )  # fmt: skip
        blocks = max(1, min(-(-n // WARPS), self.device.n_processors * 16))
        self.device.launch("move_documents", blocks, 32 * WARPS, args)

    def take_moved(self) -> int:
        """Copies of documents that moved since the last question."""
        moved = int(self.device.to_host(self.moved)[0])
        self.moved[:] = 0
        return moved

    def resize(self, old: npt.NDArray[np.int32]) -> None:
        """Slots under new numbers: slot k is what old[k] was (-1: empty). Labels are renamed, too."""
        xp, width = self.device.xp, old.size
        held = rename_slots(self.device, self.held, old)
        used = np.flatnonzero(old >= 0)
        rename = np.full(self.width, -1, np.int32)
        rename[old[used]] = used
        if (rename[old[used]] != old[used]).any():
            self.z = xp.asarray(rename)[self.z]
        for name in ("size", "total", "sums"):
            before = getattr(self, name)
            after = xp.zeros((width, *before.shape[1:]), before.dtype)
            after[used] = before[old[used]]
            setattr(self, name, after)
        self.held, self.width = held, width
        self.slot_prior = self._slot_prior()

    def word_terms(self, prior: Prior) -> tuple[float, float]:
        """As `coterie.kernels.summary.word_terms`, over all words."""
        out = self.device.xp.zeros((SUM_BLOCKS, 2), np.float64)
        args = (
            self.held, np.int32(self.width), np.int64(self.corpus.n_words), prior.beta,
            np.int32(prior.stride), np.float64(self.urn.words.unit), out,
        )  # fmt: skip
        self.device.launch("word_terms", SUM_BLOCKS, 256, args)
        joint, given = self.device.to_host(out).sum(axis=0)
        return float(joint), float(given)

    def words_given_labels(self, prior: Prior) -> float:
        """As `coterie.kernels.summary.words_given_labels`."""
        out, words = self.device.xp.zeros(SUM_BLOCKS, np.float64), self.urn.words
        args = (
            *self.corpus.words, self.corpus.weight, self.z, prior.beta, np.int32(prior.stride),
            np.float64(words.beta_sum), np.float64(words.unit), self.held, np.int32(self.width), self.total,
            np.int64(self.corpus.n_docs), out,
        )  # fmt: skip
        self.device.launch("words_given_labels", SUM_BLOCKS, 256, args)
        return float(self.device.to_host(out).sum())

    def _slot_prior(self) -> Any:
        value = np.full(self.width, self.urn.sizes.prior)
        value[: self.urn.seeds.weight.size] = self.urn.seeds.weight
        return self.device.xp.asarray(value)

    def _add_seeds(self) -> None:
        seeds, xp = self.urn.seeds, self.device.xp
        if not seeds.weight.size:
            return
        slot = np.repeat(np.arange(seeds.weight.size), np.diff(seeds.ptr))
        self.held[xp.asarray(seeds.word), xp.asarray(slot)] = xp.asarray(seeds.tally)
        total = np.bincount(slot, seeds.tally, self.width).astype(np.int64)
        self.total[:] = xp.asarray(total)


def rename_slots(device: Any, held: Any, old: npt.NDArray[np.int32]) -> Any:
    """A table of words x slots with slot k what old[k] was (-1: nothing)."""
    xp, (n_words, before), width = device.xp, held.shape, old.size
    out = xp.empty((n_words, width), np.int32)
    args = (held, np.int32(before), xp.asarray(old), out, np.int32(width), np.int64(n_words))
    device.launch("rename_slots", device.n_processors * 16, 256, args)
    return out


def retuned(tables: Tables, urn: Urn) -> None:
    """Go on with an urn that has other values, and the same words and seeds."""
    tables.urn = urn
    tables.slot_prior = tables._slot_prior()


def base_terms(device: Any, tables: Tables, lengths: Any, out: Any) -> None:
    """Fill the base terms of these lengths for the sizes and totals as they are."""
    urn, width = tables.urn, tables.width
    args = (
        lengths, tables.size, tables.total, tables.slot_prior, np.int32(width),
        np.int32(urn.seeds.weight.size), np.float64(urn.words.beta_sum), np.float64(urn.words.unit), out,
    )  # fmt: skip
    if lengths.size:
        device.launch("fill_base", (-(-width // 128), int(lengths.size)), 128, args)


def count_open(device: Any, tables: Tables, counters: Any) -> None:
    """counters[0] = open slots."""
    args = (tables.size, np.int32(tables.width), np.int32(tables.urn.seeds.weight.size), counters)
    device.launch("count_open", 1, 256, args)


def launch_size(device: Any, width: int, n: int) -> tuple[int, int, int]:
    """Blocks, threads and shared memory (0: too wide for it) to weigh n documents, one per block."""
    threads, shared = _plan.threads_for(width), width * 8
    shared = 0 if shared > device.max_shared - 4096 else shared
    at_once = device.n_processors * (2 if not shared else max(2, min(2048 // threads, 32)))
    return max(1, min(n, at_once)), threads, shared
