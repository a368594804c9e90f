"""Small corpora and urns for the tests of the sampler: a letter is a word, a string a document."""

import string
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from coterie import _rng, urns
from coterie.counts import Counts, from_ids
from coterie.urns import Urn


def corpus(*documents: str, n_words: int = 8, weight: Sequence[int] | None = None) -> Counts:
    """corpus("ab", "aac"): documents over the words a, b, c, ...; weight ties copies."""
    bags = [[string.ascii_lowercase.index(letter) for letter in text] for text in documents]
    return from_bags(bags, n_words, weight)


def from_bags(
    bags: Sequence[Sequence[int]], n_words: int, weight: npt.ArrayLike | None = None
) -> Counts:
    """Documents as lists of word ids."""
    ptr = np.cumsum([0, *map(len, bags)])
    ids = np.concatenate([np.asarray(bag, np.int32) for bag in bags])
    return from_ids(ptr, ids, n_words, "a test", weight).counts


def seeded(urn: Urn, **weight_of: float) -> Urn:
    """seeded(urn, aab=0.5): an urn with a seed that weighs 0.5 and holds a twice and b once."""
    ids = [[string.ascii_lowercase.index(letter) for letter in words] for words in weight_of]
    bags = [np.unique(seed, return_counts=True) for seed in ids]
    return urns.changed(
        urn,
        seed_weight=np.array(list(weight_of.values())),
        seed_ptr=np.cumsum([0, *(word.size for word, _ in bags)]),
        seed_word=np.concatenate([word for word, _ in bags]).astype(np.int32),
        seed_count=np.concatenate([amount for _, amount in bags]).astype(np.int32),
    )


def promoted(urn: Urn, amount: float, *related: str) -> Urn:
    """promoted(urn, 0.3, "abc"): an urn on which a promotes b and c by 0.3 each; b and c nothing."""
    of = {string.ascii_lowercase.index(word): words for word, *words in related}
    rows = [
        sorted(string.ascii_lowercase.index(w) for w in of.get(i, []))
        for i in range(urn.words.beta.size)
    ]
    ptr = np.cumsum([0, *map(len, rows)])
    return urns.promoted(urn, amount, ptr, np.concatenate([np.zeros(0), *rows]))


def random_ids(n: int, n_words: int, seed: int) -> npt.NDArray[np.int32]:
    """Word ids, low ones common. The same on any machine: no pow(), no library's generator."""
    u = _rng.uniform(seed, 2, np.arange(n), 0)
    return _whole(u * u * u, n_words).astype(np.int32)


def random_corpus(
    n_docs: int, n_words: int, longest: int, seed: int, heaviest: int = 1, topics: int = 1
) -> Counts:
    """Documents of 1..longest words, most of them short, with weights 1..heaviest.

    Every topic has other common words.
    """
    doc = np.arange(n_docs)
    u = _rng.uniform(seed, 1, doc, 0)
    length = 1 + _whole(u * u * u, longest)
    ptr = np.concatenate([[0], np.cumsum(length)])
    shift = doc % topics * (n_words // topics)
    ids = (random_ids(int(ptr[-1]), n_words, seed) + np.repeat(shift, length)) % n_words
    weight = 1 + _whole(_rng.uniform(seed, 3, doc, 0), heaviest)
    return from_ids(ptr, ids.astype(np.int32), n_words, "a test", weight).counts


def random_labels(n_docs: int, n_clusters: int, seed: int) -> npt.NDArray[np.int32]:
    return _whole(_rng.uniform(seed, 4, np.arange(n_docs), 0), n_clusters).astype(np.int32)


def first_seen(z: npt.NDArray[np.integer], n_seeds: int = 0) -> tuple[int, ...]:
    """Labels renamed in order of appearance, seeds kept: equal for equal partitions."""
    names: dict[int, int] = {}
    return tuple(
        int(k) if k < n_seeds else names.setdefault(int(k), n_seeds + len(names)) for k in z
    )


def _whole(u: npt.NDArray[np.float64], below: int) -> npt.NDArray[np.int64]:
    return (u * below).astype(np.int64)
