"""What an embedder is: a name, an identity, and a function from texts to rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from coterie._sentence import Sentence, parameter
from coterie.errors import InvalidInput

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]  # called with the number of texts done and of all texts

# what is embedded at a time: enough texts that the calls cost nothing, few enough characters that
# what is known of them fits into a few dozen megabytes
BATCH_TEXTS = 8192
BATCH_CHARACTERS = 2_000_000
BLOCK = 512  # rows of vectors at a time: they fit into the cache of a core


@runtime_checkable
class Embedder(Protocol):
    """One vector per text. The first five attributes are the identity that a model is saved with.

    `embed` gives a row per text as float32, neither centred nor scaled; a text without any known
    token gets zeros. The row of a text does not depend on the texts that come with it.
    """

    spec: str | None  # what `resolve` takes to find it again; None for a function
    name: str
    version: str  # of the package it came with; "" if it came from a path or a function
    checksum: str  # of everything its vectors follow from; "" for a function
    n_dimensions: int  # 0 while a function has not been called yet

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """The vectors of texts, as (n, n_dimensions)."""
        ...


class Rows(Protocol):
    """Vectors of texts that are made when they are read, so that not all are in memory at once."""

    shape: tuple[int, int]  # texts, numbers per text
    blocks: list[slice]  # consecutive rows; together all of them

    def read(self, i: int) -> Vectors:
        """The rows of block i; several threads may read at once."""
        ...


def slices(start: int, stop: int, size: int = BLOCK) -> list[slice]:
    """Cut a range of rows into blocks."""
    return [slice(i, min(i + size, stop)) for i in range(start, stop, size)]


def batches(texts: Sequence[str], times: int = 1) -> Iterator[tuple[int, Sequence[str]]]:
    """(position of the first, some consecutive texts), until all have been; `times` as many as usual."""
    upto = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    start = 0
    while start < len(texts):
        most = times * BATCH_CHARACTERS + (int(upto[start - 1]) if start else 0)
        stop = min(int(np.searchsorted(upto, most, side="right")), start + times * BATCH_TEXTS)
        stop = max(stop, start + 1)
        yield start, texts[start:stop]
        start = stop


def checked_texts(texts: Any) -> Sequence[str]:
    """A list of texts, or a refusal that says what is not one."""
    if isinstance(texts, str | bytes):
        raise InvalidInput("embed takes a list of texts; got a single text: put it into a list.")
    if not isinstance(texts, list | tuple):
        texts = list(texts)
    odd = enumerate(texts) if set(map(type, texts)) != {str} else ()
    for i, text in odd:
        if not isinstance(text, str):
            raise InvalidInput(
                f"embed takes a list of texts; number {i} of them is {type(text).__name__}, not a"
                " string."
            )
    checked: Sequence[str] = texts
    return checked


def wellformed(text: str) -> str:
    """The text with every half of a surrogate pair replaced, which UTF-8 cannot hold."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def about(subject: str, problem: str) -> InvalidInput:
    """The refusal of a file or folder that was given as embedder."""
    return InvalidInput(Sentence(parameter("embedder"), f": {subject} {problem}."))
