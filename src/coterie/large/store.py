"""Documents on disk: written batch by batch, then read as `Counts` whose arrays are files.

The arrays are memory-mapped, so the rest of coterie reads them as any others, and the system keeps in
memory what is being read. Row by row, the store also keeps which document a row became and how many
words it has.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.counts import Corpus, Counts
from coterie.errors import InvalidInput
from coterie.text.frequencies import SplitTexts

ARRAYS = {"word": "<i4", "tally": "<i4", "length": "<i8", "weight": "<i8"}  # of `Counts`


class Stretch(NamedTuple):
    """The rows and the documents of a batch."""

    first_row: int
    end_row: int
    first_doc: int
    end_doc: int


class Store:
    """Files in a folder of our own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stretches: list[Stretch] = []
        self.digests: list[bytes] = []  # of the texts of each batch
        self.vector_type = "<i2"  # and "<i1" for vectors of 8 bits
        self._end = 0  # entries so far

    # ---------------------------------------------------------------- words, before the vocabulary
    def keep_split(self, found: SplitTexts) -> None:
        """Keep the words of a batch, until the vocabulary is known."""
        with _room(self.folder):
            np.savez(
                self._split_path(len(self.digests)),
                ptr=found.ptr,
                ids=found.ids,
                words=np.frombuffer("\n".join(found.words).encode(), np.uint8),
            )
        self.digests.append(found.digest)

    def splits(self) -> Iterator[SplitTexts]:
        """The words of each batch, in order; they are removed once they were read."""
        for number, digest in enumerate(self.digests):
            path = self._split_path(number)
            with np.load(path) as saved:
                text = saved["words"].tobytes().decode()
                words = text.split("\n") if text else []
                df = np.zeros(0, np.int64)
                found = SplitTexts(saved["ptr"], saved["ids"], words, df, digest)
            path.unlink()
            yield found

    def _split_path(self, number: int) -> Path:
        return self.folder / f"split-{number:06d}.npz"

    # ---------------------------------------------------------------- documents
    def append(self, corpus: Corpus, n_words: npt.NDArray[np.int64]) -> None:
        """Write the documents of a batch; `n_words` are all words of each row."""
        counts = corpus.counts
        docs = self.stretches[-1].end_doc if self.stretches else 0
        rows = self.stretches[-1].end_row if self.stretches else 0
        doc_of_row = np.where(corpus.doc_of_row < 0, -1, corpus.doc_of_row + docs)
        with _room(self.folder):
            for name in ARRAYS:
                self._write(name, getattr(counts, name), ARRAYS[name])
            if counts.vectors.shape[1]:
                self.vector_type = f"<i{counts.vectors.itemsize}"
                self._write("vectors", counts.vectors, self.vector_type)
            if not self.stretches:
                self._write("ptr", np.zeros(1), "<i8")
            self._write("ptr", counts.ptr[1:] + self._end, "<i8")
            self._write("doc_of_row", doc_of_row, "<i8")
            self._write("n_words", n_words, "<i4")
        self._end += int(counts.ptr[-1])
        self.stretches.append(Stretch(rows, rows + doc_of_row.size, docs, docs + counts.n_docs))

    def counts(self, n_words: int, n_dimensions: int) -> Counts:
        """All documents; the arrays are files."""
        arrays = {name: self._mapped(name, dtype) for name, dtype in ARRAYS.items()}
        counts = Counts(ptr=self._mapped("ptr", "<i8"), n_words=n_words, **arrays)
        if not n_dimensions:
            return counts
        vectors = self._mapped("vectors", self.vector_type).reshape(-1, n_dimensions)
        return counts._replace(vectors=vectors)

    def rows(self, stretch: Stretch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The document of each row of a batch (-1: no words), and how many words each row has."""
        some = slice(stretch.first_row, stretch.end_row)
        n_words = self._mapped("n_words", "<i4")[some]
        return self._mapped("doc_of_row", "<i8")[some], n_words.astype(np.int64)

    def document_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The document of some rows; -1: no words."""
        return np.asarray(self._mapped("doc_of_row", "<i8")[rows])

    def _write(self, name: str, values: npt.NDArray[Any], dtype: str) -> None:
        with open(self.folder / name, "ab") as file:
            file.write(np.ascontiguousarray(values, dtype).data)

    def _mapped(self, name: str, dtype: str) -> npt.NDArray[Any]:
        path = self.folder / name
        if not path.exists() or path.stat().st_size == 0:
            return np.zeros(0, dtype)
        # a mapping that may be written to: kernels are compiled for such arrays, and write to none
        return np.asarray(np.memmap(path, dtype, "r+"))


@contextmanager
def _room(folder: Path) -> Iterator[None]:
    """A full disk in one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise InvalidInput(
            f"The disk of {folder.parent.parent} is full. Clustering in parts keeps the words of all texts,"
            " and their vectors if there are any, in files beside the output: choose an output on a larger"
            " disk."
        ) from None
