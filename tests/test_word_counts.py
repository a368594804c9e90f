"""The words of all clusters as one CSR matrix, from a state of any layout."""

import numpy as np
import numpy.typing as npt
import pytest
from tiny import random_corpus, random_labels, seeded

from coterie import urns
from coterie.counts import Counts
from coterie.kernels import layout
from coterie.state import State, from_labels, relayout, word_counts
from coterie.urns import Urn

V = 40
COUNTS = random_corpus(3_000, V, 12, 5, 2, topics=4)
URNS = {
    "finite": urns.finite(400, 0.1, urns.per_word(0.1, V)),
    "seeded": seeded(urns.process(1.0, urns.per_word(0.1, V)), aabc=3.0),
}


def table(counts: Counts, urn: Urn, state: State) -> npt.NDArray[np.int64]:
    """How often each slot holds each word, counted document by document."""
    found = np.zeros((state.size.size, counts.n_words), np.int64)
    document = np.repeat(np.arange(counts.n_docs), np.diff(counts.ptr))
    np.add.at(found, (state.z[document], counts.word), counts.tally * counts.weight[document])
    of_seed = np.repeat(np.arange(urn.seeds.weight.size), np.diff(urn.seeds.ptr))
    np.add.at(found, (of_seed, urn.seeds.word), urn.seeds.tally)
    return found * urn.words.one


@pytest.mark.parametrize("row_bytes", [0, 2**12, 2**27])
@pytest.mark.parametrize("name", URNS)
def test_words_are_counted_under_any_names(name: str, row_bytes: int) -> None:
    """In postings, in dense rows, and in both; clusters may be renamed in any order."""
    urn = URNS[name]
    labels = urn.seeds.weight.size + random_labels(COUNTS.n_docs, 300, 2)
    state = relayout(urn, from_labels(COUNTS, urn, labels), row_bytes=row_bytes)[0]
    assert bool(len(state.rows)) == (row_bytes > 0)
    wanted = table(COUNTS, urn, state)
    width = state.size.size
    for rename in (None, np.random.default_rng(3).permutation(width).astype(np.int32)):
        ptr, slot, held = word_counts(state, rename)
        renamed = wanted if rename is None else wanted[np.argsort(rename)]
        word, where = np.nonzero(renamed.T)
        np.testing.assert_array_equal(ptr, np.searchsorted(word, np.arange(V + 1)))
        np.testing.assert_array_equal(slot, where)
        np.testing.assert_array_equal(held, renamed[where, word])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 40, 1_000])
def test_pairs_are_sorted_in_their_place(n: int) -> None:
    generator = np.random.default_rng(n)
    key = generator.integers(-1, 2 * n + 1, n + 6).astype(np.int32)
    value = np.arange(key.size, dtype=np.int32)
    before = key.copy()
    layout.sort_pairs.py_func(key, value, 3, 3 + n)  # compiled, it has no way in from Python
    np.testing.assert_array_equal(key, before[value])  # pairs stay together
    np.testing.assert_array_equal(key[3 : 3 + n], np.sort(before[3 : 3 + n]))
    np.testing.assert_array_equal(np.sort(value), np.arange(key.size))
    np.testing.assert_array_equal(
        value[[0, 1, 2, -3, -2, -1]], np.arange(key.size)[[0, 1, 2, -3, -2, -1]]
    )
