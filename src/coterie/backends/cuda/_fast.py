"""The quick draw of large blocks: most documents are certain, the others are drawn exactly.

The i-th occurrence of a word in a document is a column; its row is what it adds to every cluster. Rows
are kept in few bits, frequent columns are a matrix product on tensor cores, and columns that hardly
any document uses are left out. Every document has a bound on the error that this makes: where the draw
could come out differently, the document is listed for the exact draw. So labels do not depend on any of
this, and neither on when it is used.

Up to NARROW slots, rows are cut to bytes after a random number (that of the row) was added: errors are then
independent and uniform whatever the counts are. Such a sum has the tails of a normal distribution at
most, so DEVIATIONS of its standard deviation are exceeded less than once in 2 x 10^10 weights. The upper
halves of these bytes are read first, and the lower ones where a document is still uncertain.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from coterie.backends.cuda import _plan
from coterie.backends.cuda._tables import Corpus, Prior, Tables
from coterie.counts import Counts
from coterie.urns import Urn

NARROW = 256  # slots that a warp holds in its registers
WIDEST = 6144  # slots that a warp holds in shared memory
# a repetition used by fewer documents is left out: with few slots the first of these that keeps ...
RARE_USES = (1, 2, 4, 8, 16)
MANY_COLUMNS = 4  # ... at most so many columns for each word
RARE_WIDE = 2  # the same with many slots
HALF = 2.0**-11  # the rounding of a number in half precision, relative
SORTED_AT_ONCE = 2**22  # pairs of a document and a word
THREADS = 256
BLOCKS = 8, 32  # of threads, per processor: with many slots, with few
DEVIATIONS = 7.0  # of a sum of dithered rows: it is further off once in 2 x 10^10 times
HALVES = 14  # steps of upper halves in the largest row; dithering adds less than one
FINE = 16  # steps of the lower half in one of the upper
MANY_ROWS = 4096  # of a document: above, upper and lower halves are summed before it is drawn


def is_usable(counts: Counts, urn: Urn, n_dimensions: int) -> bool:
    """Whether the quick draw knows this urn and pays for this corpus."""
    plain = urn.words.one == 1 and not urn.relations.promotion and not n_dimensions
    return plain and counts.n_docs >= _plan.QUICK


class OfSweep(NamedTuple):
    """What the draws of a sweep have in common."""

    tables: Tables
    base: Any
    base_row: Any
    n_open: Any
    product: Any
    by_slot: Any
    address: tuple[int, int, int]
    drawn: Any


class Rows(NamedTuple):
    """What the columns outside the product add, and the kernel that reads it so."""

    arrays: tuple[Any, ...]
    error: tuple[Any, ...]  # per document
    step: float
    kernel: str
    threads: int = THREADS
    shared: int = 0  # bytes of shared memory


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
        rare = (times > 0) & (uses < self._rare_uses(uses, times, tables.width))
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
        self._rank(uses[offset])
        self.sort(tables)
        self.top_row = float(gains[kept].max()) if kept.size else 0.0
        self._list(offset, place, gains.astype(np.float32), n_product, tables.width)

    def draw(
        self, tables: Tables, base: Any, base_row: Any, n_open: Any, key: int, sweep: int, draw: int,
        drawn: Any, listed: Any, n_listed: Any,
    ) -> None:  # fmt: skip
        """Draw all documents; those that are not certain are listed."""
        if (tables.width <= NARROW) != self.narrow:
            self._list(*self.listing, tables.width)
        given = (tables, base.astype(np.float32), base_row, n_open, self._multiply(tables))
        of = OfSweep(*given, self._by_slot(tables), (key, sweep, draw), drawn)
        rows = self._halves(tables) if self.narrow else self._lists(tables)
        self._launch(of, rows, listed, n_listed)

    def _launch(self, of: OfSweep, rows: Rows, listed: Any, n_listed: Any) -> None:
        device, urn, tables, prior = self.device, self.urn, of.tables, self.prior
        words, sizes, width = urn.words, urn.sizes, of.tables.width
        args = (
            self.corpus.ptr, self.pairs, self.corpus.length, self.beta, np.int32(prior.stride),
            np.float64(words.beta_sum), self.burstiness, np.int32(urn.seeds.weight.size),
            np.float64(sizes.prior), np.float64(sizes.open_weight), np.float64(sizes.cap), of.by_slot,
            np.int64(self.corpus.n_words), np.int32(width), tables.size, tables.total, tables.slot_prior,
            of.n_open, of.base, of.base_row, of.product, np.int32(width if self.product_word.size else 0),
            self.row_ptr, self.row_of, *rows.error, *rows.arrays, np.float32(rows.step), tables.z,
            self.order, np.int32(device.n_processors), np.int64(self.corpus.n_docs),
            *map(np.uint64, of.address), of.drawn, listed, n_listed,
        )  # fmt: skip
        at_once = BLOCKS[self.narrow]
        if rows.shared:
            at_once = max(1, min(at_once, device.max_shared // (rows.shared + 1024)))
        blocks = device.n_processors * at_once
        device.launch(rows.kernel, blocks, rows.threads, args, rows.shared)

    def sort(self, tables: Tables) -> None:
        """Put documents of a cluster next to each other, so that they find the same counts in a cache."""
        self.order = self.device.xp.argsort(tables.z).astype(np.int32)

    def _rare_uses(self, uses: Any, times: Any, width: int) -> int:
        """How many documents must use a repetition for it to have a row."""
        if width > NARROW:
            return RARE_WIDE
        most = MANY_COLUMNS * self.corpus.n_words
        kept = (n for n in RARE_USES if int(((uses >= n) | (times == 0)).sum()) <= most)
        return next(kept, RARE_USES[-1])

    def _rank(self, uses: Any) -> None:
        """Number the words by how many documents use them, and sort each document's words so.

        Counts of a cluster that are asked for together then lie together.
        """
        xp, corpus = self.device.xp, self.corpus
        self.word_at = xp.argsort(-uses).astype(np.int32)
        rank = xp.empty(corpus.n_words, np.int64)
        rank[self.word_at] = xp.arange(corpus.n_words)
        n = corpus.word.size
        self.pairs = xp.empty((n, 2), np.int32)
        starts = xp.searchsorted(corpus.ptr, xp.arange(0, n, SORTED_AT_ONCE))
        ends = sorted({*self.device.to_host(corpus.ptr[starts]).tolist(), n})
        for first, last in pairwise(ends):
            key = xp.searchsorted(corpus.ptr, xp.arange(first, last), side="right")
            key = key * corpus.n_words + rank[corpus.word[first:last]]
            order = xp.argsort(key)
            self.pairs[first:last, 0] = key[order] % corpus.n_words
            self.pairs[first:last, 1] = corpus.tally[first:last][order]
        beta = self.prior.beta
        self.beta = beta[self.word_at] if self.prior.stride else beta

    def _by_slot(self, tables: Tables) -> Any:
        """n_kw in 16 bits, slots x ranks."""
        xp, n_words, width = self.device.xp, self.corpus.n_words, tables.width
        out = xp.empty((width, n_words), np.uint16)
        grid = (-(-n_words // 32), -(-width // 32))
        args = (tables.held, np.int32(width), self.word_at, np.int64(n_words), out)
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
        self.step = max(self.top_row, 1e-6) / (HALVES * FINE if self.narrow else 65535)
        blocks = self.device.n_processors * 8
        n_rows = xp.empty(n, np.int64)
        squares, known, self.shift = (xp.empty(n, np.float32) for _ in range(3))
        docs = (corpus.ptr, corpus.word, corpus.tally)
        args = (
            *docs, corpus.length, np.int64(n), offset, self.burstiness, place,
            np.float32(HALF), gains, n_rows, squares, known, self.shift,
        )  # fmt: skip
        self.device.launch("count_rows", blocks, THREADS, args)
        if self.narrow:
            steps = (self.step, self.step * FINE)
            self.error = tuple(_dithered(xp, known, n_rows, squares, step) for step in steps)
            self.error[1][n_rows > MANY_ROWS] = 1e9
        else:
            self.error = ((known + n_rows * np.float32(self.step / 2)).astype(np.float32),)
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

    def _halves(self, tables: Tables) -> Rows:
        """Rows of bytes, the upper halves of all rows before the lower ones."""
        row_bytes = -(-tables.width // 32) * 16
        rows = self.device.xp.empty((2, self.row_word.size, row_bytes), np.uint8)
        args = (*self._counted(tables, self.step * FINE), np.int32(row_bytes), rows)
        self.device.launch("fill_halves", self.device.n_processors * 8, THREADS, args)
        arrays = (rows[0], rows[1], np.int32(row_bytes), self.shift)
        return Rows(arrays, self.error, self.step, "draw_narrow")

    def _counted(self, tables: Tables, step: float) -> tuple[Any, ...]:
        return (
            tables.held, np.int32(tables.width), self.row_word, self.row_times,
            np.int64(self.row_word.size), self.prior.beta, np.int32(self.prior.stride),
            np.float32(1.0 / step),
        )  # fmt: skip

    def _lists(self, tables: Tables) -> Rows:
        """Rows that are lists, or whole, of 16-bit numbers: for more slots."""
        xp, width, n = self.device.xp, tables.width, self.row_word.size
        blocks = self.device.n_processors * 8
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
        counted = self._counted(tables, self.step)
        self.device.launch("fill_lists", blocks, THREADS, (*counted, where, self.store))
        warps = int(max(1, min(8, (96 * 2**10) // ((width + 4) * 4))))
        shared = warps * (width + 4) * 4
        return Rows((where, self.store), self.error, self.step, name, 32 * warps, shared)


def _dithered(xp: Any, known: Any, n_rows: Any, squares: Any, step: float) -> Any:
    """The bound on the error of sums of rows in steps: the largest there is, or DEVIATIONS of them.

    `squares` is the sum of squares of how often a document has each row. Logarithms of a row are off by
    1e-5 nats at most.
    """
    likely = DEVIATIONS * step * xp.sqrt(squares / 12)
    return (known + n_rows * 1e-5 + xp.minimum(n_rows * (step / 2), likely)).astype(np.float32)
