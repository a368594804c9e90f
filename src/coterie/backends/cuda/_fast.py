"""The quick draw of large blocks: most documents are certain, the others are drawn exactly.

The i-th occurrence of a word in a document is a column; its row is what it adds to every cluster. Rows
are kept in few bits, frequent columns are a matrix product on tensor cores, and columns that hardly
any document uses are left out. Every document has a bound on the error that this makes: where the draw
could come out differently, the document is listed for the exact draw. So labels do not depend on any of
this, and neither on when it is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.backends.cuda import _plan
from coterie.backends.cuda._tables import Corpus, Prior, Tables
from coterie.counts import Counts
from coterie.urns import Urn

NARROW = 256  # slots that a warp holds in its registers
WIDEST = 6144  # slots that a warp holds in shared memory
RARE_USES = 16, 2  # a repetition used by fewer documents is left out: with few slots, with many
HALF = 2.0**-11  # the rounding of a number in half precision, relative
THREADS = 256


def is_usable(counts: Counts, urn: Urn, n_dimensions: int) -> bool:
    """Whether the quick draw knows this urn and pays for this corpus."""
    return urn.words.one == 1 and not n_dimensions and counts.n_docs >= _plan.QUICK


class Quick:
    """Columns of the corpus, and rows of gains for the counts of a sweep."""

    def __init__(self, device: Any, corpus: Corpus, urn: Urn, prior: Prior, tables: Tables) -> None:
        self.device, self.corpus, self.prior, self.urn = device, corpus, prior, urn
        xp = device.xp
        self.store: Any = None
        self.burstiness = np.int32(urn.words.burstiness > 0)
        offset, uses, word, times = self._columns()
        beta = prior.beta[word if prior.stride else xp.zeros(1, np.int64)]
        total = tables.held.sum(axis=1, dtype=np.int64)[word]
        gains = xp.log1p(total / (beta + times))
        free = device.free_bytes() - tables.held.nbytes
        by_use = xp.argsort(-uses)
        running = device.to_host(xp.cumsum(uses[by_use].astype(np.int64)))
        n_product = _plan.product_columns(running, corpus.n_docs, tables.width, free)
        rare = (times > 0) & (uses < RARE_USES[tables.width > NARROW])
        place = xp.zeros(uses.size, np.int32)
        place[rare] = -1
        place[by_use[:n_product]] = -2 - xp.arange(n_product, dtype=np.int32)
        kept = xp.flatnonzero(place == 0)
        place[kept] = 1 + xp.arange(kept.size, dtype=np.int32)
        first = xp.zeros(1, np.int32)
        self.row_word = xp.concatenate([first, word[kept].astype(np.int32)])
        self.row_times = xp.concatenate([first, times[kept].astype(np.int32)])
        self.product_word = word[by_use[:n_product]].astype(np.int32)
        self.product_times = times[by_use[:n_product]].astype(np.int32)
        self.sort(tables)
        self.top_row, self.top_product = (_top(gains[part]) for part in (kept, by_use[:n_product]))
        self._list(offset, place, gains.astype(np.float32), n_product, tables.width)

    def draw(
        self, tables: Tables, base: Any, base_row: Any, n_open: Any, key: int, sweep: int, draw: int,
        drawn: Any, listed: Any, n_listed: Any,
    ) -> None:  # fmt: skip
        """Draw all documents; those that are not certain are listed."""
        device, urn, width = self.device, self.urn, tables.width
        if (width <= NARROW) != self.narrow:
            self._list(*self.listing, width)
        product = self._multiply(tables)
        by_slot = self._by_slot(tables)
        rows, step, name, threads, shared = self._rows(tables)
        words, sizes = urn.words, urn.sizes
        args = (
            *self.corpus.words, self.prior.beta, np.int32(self.prior.stride), np.float64(words.beta_sum),
            self.burstiness, np.int32(urn.seeds.weight.size), np.float64(sizes.prior),
            np.float64(sizes.open_weight), np.float64(sizes.cap), by_slot, np.int64(self.corpus.n_words),
            np.int32(width), tables.size, tables.total, tables.prior, n_open, base.astype(np.float32),
            base_row, product, np.int32(width if self.product_word.size else 0), self.row_ptr, self.row_of,
            self.error, *rows, np.float32(step), tables.z, self.order, np.int32(device.n_processors),
            np.int64(self.corpus.n_docs), np.uint64(key), np.uint64(sweep), np.uint64(draw), drawn, listed,
            n_listed,
        )  # fmt: skip
        per_processor = 8 if not shared else max(1, min(8, device.max_shared // (shared + 1024)))
        device.launch(name, device.n_processors * per_processor, threads, args, shared)

    def sort(self, tables: Tables) -> None:
        """Put documents of a cluster next to each other, so that they find the same counts in a cache."""
        self.order = self.device.xp.argsort(tables.z).astype(np.int32)

    def _by_slot(self, tables: Tables) -> Any:
        """n_kw 2^-13, slots x words, in half precision."""
        xp, n_words, width = self.device.xp, self.corpus.n_words, tables.width
        out = xp.empty((width, n_words), np.uint16)
        grid = (-(-n_words // 32), -(-width // 32))
        args = (tables.held, np.int32(width), np.int64(n_words), out)
        self.device.launch("transpose_counts", grid, THREADS, args)
        return out

    def _columns(self) -> tuple[Any, Any, Any, Any]:
        """For each word the place of its first column; for each column its uses, word and occurrence."""
        xp, corpus = self.device.xp, self.corpus
        n, blocks = np.int64(corpus.word.size), self.device.n_processors * 8
        most = xp.ones(corpus.n_words, np.int32)
        if self.burstiness:
            self.device.launch("max_tally", blocks, THREADS, (corpus.word, corpus.tally, n, most))
        ends = xp.cumsum(most.astype(np.int64))
        offset = (ends - most).astype(np.int32)
        n_columns = int(ends[-1])
        uses = xp.zeros(n_columns, np.int32)
        args = (corpus.word, corpus.tally, n, offset, self.burstiness, uses)
        self.device.launch("count_columns", blocks, THREADS, args)
        starts = xp.zeros(n_columns, np.int32)
        starts[offset[1:]] = 1
        word = xp.cumsum(starts, dtype=np.int64)
        return offset, uses, word, xp.arange(n_columns, dtype=np.int64) - offset[word]

    def _list(self, offset: Any, place: Any, gains: Any, n_product: int, width: int) -> None:
        """Each document's rows and columns of the product, and the bound on its error."""
        xp, corpus, n = self.device.xp, self.corpus, self.corpus.n_docs
        self.listing, self.narrow = (offset, place, gains, n_product), width <= NARROW
        self.step = max(self.top_row, 1e-6) / (255 if self.narrow else 65535)
        blocks = self.device.n_processors * 8
        n_rows, self.error = xp.empty(n, np.int64), xp.empty(n, np.float32)
        docs = (corpus.ptr, corpus.word, corpus.tally)
        args = (
            *docs, corpus.length, np.int64(n), offset, self.burstiness, place, np.float32(self.step / 2),
            np.float32(self.top_product * HALF), gains, n_rows, self.error,
        )  # fmt: skip
        self.device.launch("count_rows", blocks, THREADS, args)
        self.row_ptr = xp.zeros(n + 1, np.int64)
        self.row_ptr[1:] = xp.cumsum(n_rows)
        self.row_of = xp.empty(max(int(self.row_ptr[-1]), 1), np.int32)
        self.ones = xp.zeros((n if n_product else 1, max(n_product, 1)), np.uint16)
        listed = (
            *docs, np.int64(n), offset, self.burstiness, place, self.row_ptr, self.row_of, self.ones,
            np.int32(n_product),
        )  # fmt: skip
        self.device.launch("list_rows", blocks, THREADS, listed)

    def _multiply(self, tables: Tables) -> Any:
        """What the frequent columns add, documents x slots."""
        xp, n = self.device.xp, self.product_word.size
        if not n:
            return xp.zeros(1, np.float32)
        right = xp.empty((n, tables.width), np.uint16)
        args = (
            tables.held, np.int32(tables.width), self.product_word, self.product_times, np.int64(n),
            self.prior.beta, np.int32(self.prior.stride), right,
        )  # fmt: skip
        self.device.launch("fill_product", self.device.n_processors * 4, THREADS, args)
        out = xp.empty((self.corpus.n_docs, tables.width), np.float32)
        self.device.multiply(self.ones, right, out)
        return out

    def _rows(self, tables: Tables) -> tuple[tuple[Any, ...], float, str, int, int]:
        """The rows as a kernel takes them, its step, its name, its threads and its shared memory."""
        xp, width, n = self.device.xp, tables.width, self.row_word.size
        counted = (
            tables.held, np.int32(width), self.row_word, self.row_times, np.int64(n), self.prior.beta,
            np.int32(self.prior.stride), np.float32(1.0 / self.step),
        )  # fmt: skip
        blocks = self.device.n_processors * 8
        if self.narrow:
            rows = xp.empty((n, width), np.uint8)
            self.device.launch("fill_bytes", blocks, THREADS, (*counted, np.int32(width), rows))
            return (rows, np.int32(width)), self.step, "draw_narrow", THREADS, 0
        pieces = xp.empty(n, np.int32)
        name, whole = ("draw_wide_1024", width // 8) if width <= 1024 else ("draw_wide", 0)
        args = (tables.held, np.int32(width), self.row_word, np.int64(n), np.int32(whole), pieces)
        self.device.launch("measure_rows", blocks, THREADS, args)
        where = xp.empty((n, 2), np.int32)
        ends = xp.cumsum(abs(pieces).astype(np.int64))
        where[:, 0], where[:, 1] = ends - abs(pieces), pieces
        if self.store is None or int(ends[-1]) >= len(
            self.store
        ):  # a new one of each size costs more
            self.store = xp.empty((int(ends[-1]) * 5 // 4 + 1, 4), np.int32)
        self.device.launch("fill_lists", blocks, THREADS, (*counted, where, self.store))
        warps = int(max(1, min(8, (96 * 2**10) // ((width + 4) * 4))))
        return (where, self.store), self.step, name, 32 * warps, warps * (width + 4) * 4


def _top(values: Any) -> float:
    return float(values.max()) if values.size else 0.0
