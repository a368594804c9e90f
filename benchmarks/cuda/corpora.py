"""Synthetic corpora of a given size, drawn with NumPy or on the card: planted topics over a background."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.counts import Counts

SHARE = 0.5  # of the words that come from the background, which all topics share
TOPIC_WORDS = 4000  # words that a topic prefers


def planted(
    n_docs: int,
    n_words: int,
    n_topics: int,
    mean_length: float,
    xp: Any = np,
    spread: float = 0.6,
    steep: float = 1.0,
    seed: int = 1,
) -> tuple[Counts, npt.NDArray[np.int32]]:
    """Counts, and the topic of each document.

    Lengths are log-normal (`spread`, of their logarithm) and at least 2. A word has rank r with a
    probability about 1 / r^`steep`, over the vocabulary or over the words of the topic.
    """
    random = xp.random.RandomState(seed)
    topic = random.randint(0, n_topics, n_docs).astype(np.int32)
    length = xp.exp(random.standard_normal(n_docs) * spread - spread**2 / 2) * mean_length
    length = xp.maximum(length, 2).astype(np.int64)
    total = int(length.sum())
    ends = xp.cumsum(length)
    doc = xp.zeros(total, np.int32)
    doc[ends[:-1]] = 1
    doc = xp.cumsum(doc, dtype=np.int32)
    rank = _ranks(random, xp, total, n_words, steep)
    own = _ranks(random, xp, total, TOPIC_WORDS, steep)
    mine = (topic[doc].astype(np.int64) * 7_919_317 + own.astype(np.int64) * 104_729) % n_words
    word = xp.where(random.random_sample(total) < SHARE, rank.astype(np.int64), mine)
    pair = xp.sort(doc.astype(np.int64) * n_words + word)
    del doc, rank, own, mine, word
    fresh = xp.ones(total, bool)
    fresh[1:] = pair[1:] != pair[:-1]
    at = xp.flatnonzero(fresh)
    tally = xp.diff(xp.append(at, total)).astype(np.int32)
    pair = pair[at]
    ptr = xp.searchsorted(pair, xp.arange(n_docs + 1, dtype=np.int64) * n_words)
    given = (ptr.astype(np.int64), (pair % n_words).astype(np.int32), tally, length)
    ptr, word, tally, length = (_host(xp, array) for array in given)
    counts = Counts(ptr, word, tally, length, np.ones(n_docs, np.int64), n_words)
    return counts, _host(xp, topic)


def vectors_for(topic: npt.NDArray[np.int32], n_dimensions: int, xp: Any = np) -> Any:
    """A unit vector for each document, near its topic's, as whole numbers of 2^-14."""
    random = xp.random.RandomState(7)
    centre = random.standard_normal((int(topic.max()) + 1, n_dimensions)).astype(np.float32)
    own = centre[xp.asarray(topic)] + 1.5 * random.standard_normal(
        (topic.size, n_dimensions)
    ).astype(np.float32)
    own /= xp.sqrt((own * own).sum(axis=1, keepdims=True))
    return _host(xp, xp.rint(own * 2.0**14).astype(np.int16))


def _ranks(random: Any, xp: Any, n: int, n_words: int, steep: float) -> Any:
    """Ranks 0..n_words-1 by the inverse of a power law."""
    u = random.random_sample(n)
    shift = 3.0
    if steep == 1.0:
        r = shift * ((n_words + shift) / shift) ** u - shift
    else:
        low, high = shift ** (1 - steep), (n_words + shift) ** (1 - steep)
        r = (low + u * (high - low)) ** (1 / (1 - steep)) - shift
    return xp.minimum(r.astype(np.int32), n_words - 1)


def _host(xp: Any, array: Any) -> Any:
    return array if xp is np else xp.asnumpy(array)
