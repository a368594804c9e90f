"""The promoted urn on the card: which words promote their relatives, and what that adds to the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie.backends._gibbs import find_pairs
from coterie.backends.cuda._tables import Corpus, Prior, Tables, rename_slots
from coterie.counts import Counts
from coterie.kernels._promote import OPENED
from coterie.urns import Urn

WARPS = 8  # per block; a warp takes a document
NULL = np.uint64(0)


class Promoted:
    """Flags of the documents' words, with what follows from them."""

    def __init__(
        self,
        device: Any,
        corpus: Corpus,
        counts: Counts,
        urn: Urn,
        flag: npt.NDArray[np.uint8],
    ) -> None:
        xp = device.xp
        self.device, self.corpus, self.urn = device, corpus, urn
        relations, pairs = urn.relations, find_pairs(counts, urn)
        self.relations = (
            xp.asarray(relations.ptr, np.int64), xp.asarray(relations.word, np.int32),
            np.int32(relations.promotion),
        )  # fmt: skip
        self.pairs = tuple(map(xp.asarray, pairs))
        self.flag = xp.asarray(flag)
        self.given = xp.zeros(max(flag.size, 1), np.int32)
        self.promoted = xp.zeros(counts.n_docs, np.int64)
        self.late = xp.zeros(counts.n_docs, np.uint8)
        self.n_late = xp.zeros(1, np.int32)

    def fill(self, tables: Tables | None = None) -> None:
        """What follows from the flags; with `tables`, also add it to the counts of the clusters.

        Without, one copy of each document is meant.
        """
        corpus, device = self.corpus, self.device
        weight = NULL if tables is None else corpus.weight
        counted = (NULL, np.int32(0), NULL, NULL)
        if tables is not None:
            counted = (tables.z, np.int32(tables.width), tables.held, tables.total)
        args = (
            *corpus.words[:3], weight, np.int64(corpus.n_docs), *self.relations, *self.pairs, self.flag,
            self.given, self.promoted, *counted,
        )  # fmt: skip
        device.launch("restore_promoted", self._blocks(corpus.n_docs), 32 * WARPS, args)

    def note_start(self, tables: Tables, prior: Prior) -> None:
        """The counts that decide the flags of this sweep."""
        xp, sizes, words = self.device.xp, self.urn.sizes, self.urn.words
        size, total, weight = map(
            self.device.to_host, (tables.size, tables.total, tables.slot_prior)
        )
        is_open = (size > 0) | (np.arange(size.size) < self.urn.seeds.weight.size)
        rate = np.where(is_open, (size + weight) / (total * words.unit + words.beta_sum), OPENED)
        highest = max(0.0, float(rate.max(initial=0.0)))
        if sizes.prior > 0.0 and sizes.cap > int(is_open.sum()):
            highest = max(highest, sizes.prior / words.beta_sum)
        self.rate, self.start = xp.asarray(rate), tables.held.copy()
        self.best = xp.empty(self.corpus.n_words, np.float64)
        args = (
            tables.held, np.int32(tables.width), np.int64(self.corpus.n_words), prior.beta,
            np.int32(prior.stride), np.float64(words.unit), self.rate, np.float64(highest), self.best,
        )  # fmt: skip
        self.device.launch("note_best", self._blocks(self.corpus.n_words), 32 * WARPS, args)

    def opened(self, slots: npt.NDArray[np.int64]) -> None:
        """These slots were opened since the sweep began."""
        self.rate[self.device.xp.asarray(slots)] = OPENED

    def draw(
        self, tables: Tables, prior: Prior, before: Any, scan: Any, first: int, n: int, key: int, sweep: int
    ) -> None:  # fmt: skip
        """Draw the flags of the documents at these places of the scan, which have moved."""
        self.late[:] = 0
        self.n_late[:] = 0
        where, address = (tables, prior, before, scan, first), (key, sweep)
        self._launch(*where, n, *address, None, None)
        if not int(self.device.to_host(self.n_late)[0]):
            return
        xp = self.device.xp
        places = xp.flatnonzero(self.late[:n])
        documents = first + places if scan is None else scan[first + places]
        slots = tables.z[documents].astype(np.int64)
        order = xp.argsort(slots * n + places)
        slots = slots[order]
        begins = xp.flatnonzero(slots[1:] != slots[:-1]) + 1
        ends = xp.asarray([slots.size])
        starts = xp.concatenate([xp.zeros(1, np.int64), begins, ends]).astype(np.int64)
        self._launch(*where, starts.size - 1, *address, places[order], starts)

    def resize(self, old: npt.NDArray[np.int32]) -> None:
        """Slots under new numbers, within a sweep."""
        if not hasattr(self, "rate"):
            return
        rate, xp = np.full(old.size, OPENED), self.device.xp
        before = self.device.to_host(self.rate)
        rate[old >= 0] = before[old[old >= 0]]
        self.rate = xp.asarray(rate)
        self.start = rename_slots(self.device, self.start, old)

    def _launch(
        self, tables: Tables, prior: Prior, before: Any, scan: Any, first: int, n: int, key: int,
        sweep: int, listed: Any, starts: Any,
    ) -> None:  # fmt: skip
        words, in_order, scanned = self.urn.words, listed is not None, scan is not None
        args = (
            *self.corpus.words, self.corpus.weight, prior.beta, np.int32(prior.stride),
            np.float64(words.beta_sum), np.float64(words.unit), np.int32(words.one),
            np.int32(self.urn.seeds.weight.size), tables.slot_prior, *self.relations, *self.pairs,
            scan if scanned else tables.z, np.int32(scanned), np.int64(first), np.int64(n), before,
            tables.z, np.int32(tables.width), tables.held, tables.size, tables.total, self.rate, self.best,
            self.start, self.flag, self.given, self.promoted, np.uint64(key), np.uint64(sweep),
            np.uint64(_rng.DRAW_FLAG), listed if in_order else NULL,
            starts if in_order else NULL, np.int32(in_order), self.late,
            self.n_late,
        )  # fmt: skip
        self.device.launch("promote_documents", self._blocks(n), 32 * WARPS, args)

    def _blocks(self, n: int) -> int:
        return int(max(1, min(-(-n // WARPS), self.device.n_processors * 16)))
