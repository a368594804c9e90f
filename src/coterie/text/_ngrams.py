"""N-grams: pairs, triples, ... of neighbouring words. In and out: pointers, ids, words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def runs(
    ptr: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int32],
    words: list[str],
    shortest: int,
    longest: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], list[str]]:
    """N-grams of every length from `shortest` to `longest`, document after document."""
    doc = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    grams = ids.astype(np.int64)  # the gram of the current length that begins at each position
    all_words, names = [], words
    parts, docs = [], []
    offset = 0
    for n in range(1, longest + 1):
        if n > 1:
            same = doc[: -(n - 1) or None][: grams.size - 1] == doc[n - 1 :]
            keys = grams[:-1] * len(words) + ids[n - 1 :]
            distinct, grams = np.unique(keys, return_inverse=True)
            left, right = np.divmod(distinct, max(len(words), 1))
            names = [f"{names[a]} {words[b]}" for a, b in zip(left, right, strict=True)]
        else:
            same = np.ones(grams.size, bool)
        if n >= shortest:
            parts.append(grams[same] + offset)
            docs.append(doc[: grams.size][same])
            all_words += names
            offset += len(names)
        if grams.size < 2:
            break
    return _merged(parts, docs, all_words, ptr.size - 1)


def _merged(
    parts: list[npt.NDArray[np.int64]],
    docs: list[npt.NDArray[np.int64]],
    words: list[str],
    n_docs: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], list[str]]:
    """N-grams of all lengths by document; those that only span two documents are dropped."""
    grams = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    doc = np.concatenate(docs) if docs else np.zeros(0, np.int64)
    order = np.argsort(doc, kind="stable")
    used, ids = np.unique(grams[order], return_inverse=True)
    ptr = np.zeros(n_docs + 1, np.int64)
    np.cumsum(np.bincount(doc, minlength=n_docs), out=ptr[1:])
    return ptr, ids.astype(np.int32), [words[i] for i in used]
