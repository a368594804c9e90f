"""A vector per word, from a file: a document is the plain mean of its words' vectors.

The words are those of coterie's own tokenizer, in lower case and without a language, so that what a
text is made of does not depend on the texts around it. Only the vectors that were asked for are in
memory; the file is read again when there are new words.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import _disk
from coterie.embedders import _files
from coterie.embedders._base import Progress, Vectors, about, batches, checked_texts, wellformed
from coterie.embeddings._sources import read_dimensions, read_file
from coterie.text.tokenize import Tokenizer

OWNER = "embedder"
_TOKENIZER = Tokenizer(language=None, segmenter="bigrams", stop_words=None)


class WordVectors:
    """An embedder that averages the vectors of a text's words, from word2vec, GloVe, fastText or .npz."""

    def __init__(self, path: Path, spec: str) -> None:
        self.spec: str | None = spec
        self.name = path.name
        self.version = ""
        self.checksum = _files.digest_of_files([path])
        self.n_dimensions = read_dimensions(path, OWNER)
        self._path = path
        self._lock = threading.Lock()
        self._row_of: dict[str, int] = {}  # -1 for a word that the file does not have
        self._table = np.zeros((0, self.n_dimensions), np.float32)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """The mean vector of each text's words; zeros where the file has none of them."""
        texts = checked_texts(texts)
        vectors = np.zeros((len(texts), self.n_dimensions), np.float32)
        cut = []
        words: dict[str, None] = {}
        for start, some in batches(texts):
            ptr, ids, found = _TOKENIZER.count([wellformed(text) for text in some])
            words |= dict.fromkeys(found)
            cut.append((start, ptr, ids, found))
        row_of, table = self._look_up(words)
        for start, ptr, ids, found in cut:
            rows = np.fromiter((row_of[word] for word in found), np.int64, len(found))
            vectors[start : start + ptr.size - 1] = _means(ptr, rows[ids], table)
            if progress is not None:
                progress(start + ptr.size - 1, len(texts))
        return vectors

    def _look_up(self, words: dict[str, None]) -> tuple[dict[str, int], npt.NDArray[np.float32]]:
        """The row of each word, and the rows; reads the file if a word has not come up before."""
        with self._lock:
            fresh = [word for word in words if word not in self._row_of]
            if fresh:
                rows = self._read(fresh)
                have = [word for word in fresh if word in rows]
                row_of = dict.fromkeys(fresh, -1)
                row_of |= {word: len(self._table) + i for i, word in enumerate(have)}
                more = [self._table, *(rows[word][None] for word in have)]
                self._table = np.concatenate(more)
                self._row_of = {**self._row_of, **row_of}  # others may be reading the old one
            return self._row_of, self._table

    def _read(self, words: list[str]) -> dict[str, npt.NDArray[np.float32]]:
        try:
            _disk.check_regular(self._path)  # a pipe would wait forever
        except OSError as error:
            raise about(str(self._path), f"cannot be read: {error.strerror}") from None
        rows = {}
        for word, raw in read_file(self._path, words, OWNER).rows.items():
            with np.errstate(over="ignore"):
                row = np.asarray(raw, np.float32)
            if row.shape != (self.n_dimensions,) or not np.isfinite(row).all():
                what = "holds NaN or infinity" if row.shape == (self.n_dimensions,) else "is odd"
                raise about(str(self._path), f"is damaged: the vector of {word!r} {what}")
            rows[word] = row
        return rows


def _means(
    ptr: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], table: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """The mean of the rows from ptr[i] to ptr[i + 1], without those that are -1."""
    known = rows >= 0
    ptr = np.concatenate([[0], np.cumsum(known)])[ptr]
    used, column = np.unique(rows[known], return_inverse=True)
    chosen = sparse.csr_matrix(
        (np.ones(column.size), column.astype(np.int32), ptr), (ptr.size - 1, used.size)
    )
    sums = chosen @ table[used].astype(np.float64)
    means: npt.NDArray[np.float64] = sums / np.maximum(np.diff(ptr), 1)[:, None]
    return means
