"""Words to ids and back. A fitted vocabulary never grows: unknown words are dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, count, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.errors import InvalidInput

Ids = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]  # pointers, ids document after document


def learn(documents: Sequence[Sequence[str]], owner: str) -> tuple[Ids, list[str]]:
    """Assign ids to words in order of first use."""
    ids_of: defaultdict[str, int] = defaultdict(count().__next__)
    ids = _encode(documents, map(ids_of.__getitem__, chain.from_iterable(documents)), owner)
    words = list(ids_of)
    for word in words:
        if not isinstance(word, str):
            raise InvalidInput(
                f"The token lists of {owner} contain {word!r}, a {type(word).__name__}. Tokens must be"
                " strings."
            )
    return ids, words


def encode(documents: Sequence[Sequence[str]], words: Sequence[str], owner: str) -> Ids:
    """Return the ids of known words, and -1 for other words."""
    kinds = set(map(type, chain.from_iterable(documents)))
    if any(not issubclass(kind, str) for kind in kinds):
        raise InvalidInput(f"The token lists of {owner} contain something that is not a string.")
    ids_of = {word: i for i, word in enumerate(words)}
    return _encode(documents, map(ids_of.get, chain.from_iterable(documents), repeat(-1)), owner)


def count_texts(texts: Sequence[str], words: Sequence[str] | None) -> tuple[Any, list[str]]:
    """Count the words of texts: (sparse matrix, vocabulary, given or learnt)."""
    vectorizer = _vectorizer(words)
    if words is not None:
        return vectorizer.transform(texts), list(words)
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise InvalidInput(
            "No text contains a word of two or more letters or digits, so there is nothing to cluster."
        ) from None
    return matrix, list(vectorizer.get_feature_names_out())


def split_text(text: str) -> list[str]:
    """Return all words of a text, with repeats, in the same way as `count_texts`."""
    return list(_analyzer()(text))


@cache
def _analyzer() -> Callable[[str], Sequence[str]]:
    analyzer: Callable[[str], Sequence[str]] = _vectorizer(None).build_analyzer()
    return analyzer


def _vectorizer(words: Sequence[str] | None) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(vocabulary=words, dtype=np.int32)


def _encode(documents: Sequence[Sequence[str]], stream: Any, owner: str) -> Ids:
    lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    ptr = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=ptr[1:])
    try:
        ids = np.fromiter(stream, np.int32, int(ptr[-1]))
    except TypeError:
        raise InvalidInput(
            f"The token lists of {owner} contain something that is not a string."
        ) from None
    return ptr, ids
