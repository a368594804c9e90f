"""Counts of clusters for the network: what is unpacked is what was packed, in few bytes."""

from __future__ import annotations

import pickle

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from tiny import random_corpus, random_labels

from coterie.counts import INT32_MAX
from coterie.distributed.packing import packed, unpacked
from coterie.distributed.tallying import Tally, tally

NO_SUMS = np.zeros((3, 0))


def held(*entries: tuple[int, int, int], n: int = 3, n_words: int = 200_000) -> sparse.csr_matrix:
    row, word, value = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csr_matrix((np.array(value, np.int64), (row, word)), (n, n_words))


def same(one: Tally, other: Tally) -> None:
    np.testing.assert_array_equal(one.size, other.size, strict=True)
    np.testing.assert_array_equal(one.sums, other.sums, strict=True)
    assert one.held.shape == other.held.shape
    assert one.held.dtype == other.held.dtype
    assert (one.held != other.held).nnz == 0
    assert other.held.has_canonical_format


@pytest.mark.parametrize(
    "table",
    [
        held(),
        held((0, 0, 1)),
        held((2, 199_999, -1)),
        held((0, 0, -128), (0, 65_535, 127), (0, 131_071, 128), (2, 0, 1)),  # steps around 2**16
        held((0, 5, 2**40), (1, 5, -(2**40))),
        held((1, 7, 1), n_words=8),
        held((0, 1, 3), (2, INT32_MAX - 1, 4), n_words=INT32_MAX),  # beyond 32 bits in one line
    ],
    ids=str,
)
def test_counts_come_out_as_they_went_in(table: sparse.csr_matrix) -> None:
    given = Tally(np.array([0, -3, 2**33]), table, NO_SUMS)
    same(given, unpacked(packed(given)))


def test_a_table_without_clusters_or_words() -> None:
    for shape in ((0, 8), (2, 0), (0, 0)):
        nothing = sparse.csr_matrix(shape, dtype=np.int64)
        given = Tally(np.zeros(shape[0], np.int64), nothing, np.zeros((shape[0], 4)))
        same(given, unpacked(packed(given)))


def test_zeros_and_words_out_of_order_are_put_right() -> None:
    raw = np.array([1, 0, 2, 3]), np.array([4, 1, 0, 2]), np.array([0, 3, 3, 4])
    given = Tally(np.array([1, 0, 1]), sparse.csr_matrix(raw, (3, 5)), NO_SUMS)
    small = packed(given)
    assert small.value.tolist() == [2, 1, 3]
    np.testing.assert_array_equal(
        unpacked(small).held.toarray(), [[2, 0, 0, 0, 1], [0] * 5, [0, 0, 3, 0, 0]]
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[0.5, -1.0], [0.0, 0.0], [3.0, 2.0**-7]], np.float16),
        ([[0.5, 1 + 2.0**-14], [0.0, 0.0], [0.0, 0.0]], np.float32),
        ([[70_000.0, 2.0**-7], [0.0, 0.0], [1e300, 0.0]], np.float64),
        ([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], np.float16),
    ],
    ids=["half", "single", "double", "nothing"],
)
def test_sums_of_vectors_are_exact(values: list[list[float]], kind: type) -> None:
    given = Tally(np.array([1, 0, 2]), held(), np.array(values))
    small = packed(given)
    assert small.sums.dtype == kind
    assert len(small.sums) == np.array(values).any(axis=1).sum()
    same(given, unpacked(small))


@pytest.mark.parametrize("n_words", [300, 60_000, 3_000_000])
def test_what_moved_takes_little_more_than_three_bytes_per_entry(n_words: int) -> None:
    """Two entries per word of a moved document: it leaves a cluster and enters another."""
    counts = random_corpus(400, 40, 9, seed=4, topics=5)
    spread: npt.NDArray[np.int32] = (np.arange(40) * (n_words // 40)).astype(np.int32)
    counts = counts._replace(word=spread[counts.word], n_words=n_words)
    before, after = random_labels(400, 300, 1), random_labels(400, 300, 2)
    given = tally(counts, after, 300) - tally(counts, before, 300)
    entries = int((given.held.data != 0).sum())
    assert len(pickle.dumps(packed(given))) < 3 * entries + 5 * (n_words > 2**16) * entries + 1500
    same(given, unpacked(packed(given)))


def test_what_moved_takes_less_than_its_documents() -> None:
    """Ten words a document, 400 clusters: two entries a word take less than one id and one count of it."""
    counts = random_corpus(1000, 20_000, 10, seed=4)
    before, after = random_labels(1000, 400, 1), random_labels(1000, 400, 2)
    given = tally(counts, after, 400) - tally(counts, before, 400)
    assert len(pickle.dumps(packed(given))) < 8 * counts.word.size + 8 * counts.n_docs
