"""Counts: whatever form the words come in, the bags are those a plain Counter finds."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from coterie import counts
from coterie.counts import INT32_MAX, Corpus
from coterie.errors import InvalidInput
from coterie.estimators import _read

OWNER = "a test"
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]

Entries = list[tuple[int, int]]  # (word, count) of one document, words in any order, repeated

N_WORDS = 6
documents = st.lists(
    st.lists(st.tuples(st.integers(0, N_WORDS - 1), st.integers(0, 4)), max_size=8),
    min_size=1,
    max_size=8,
)
token_lists = st.lists(st.lists(st.sampled_from(["a", "b", "", "é", "b "]), max_size=6), max_size=8)
weights = st.integers(0, 3)


def csr(rows: list[Entries], dtype: str = "int64", index: str = "int32", container: Any = None):
    """A CSR with exactly these entries: unsorted, repeated and zero ones too."""
    entries = [entry for row in rows for entry in row]
    container = container or sparse.csr_matrix
    matrix = container((len(rows), N_WORDS), dtype=dtype)
    matrix.data = np.array([count for _, count in entries], dtype)
    matrix.indices = np.array([word for word, _ in entries], index)
    matrix.indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(index)
    return matrix


def bags(corpus: Corpus, names: list[str] | None = None) -> list[Counter[Any]]:
    """The bag of each input row; empty for a row that became no document."""
    made = corpus.counts
    found = []
    for d in range(made.n_docs):
        entries = slice(made.ptr[d], made.ptr[d + 1])
        words = [names[w] if names is not None else int(w) for w in made.word[entries]]
        assert len(set(words)) == len(words), "a word comes twice in a document"
        found.append(Counter(dict(zip(words, made.tally[entries].tolist(), strict=True))))
    return [found[d] if d >= 0 else Counter() for d in corpus.doc_of_row]


def plain(rows: list[Entries]) -> list[Counter[int]]:
    return [+sum((Counter({word: count}) for word, count in row), Counter()) for row in rows]


def check_form(corpus: Corpus) -> None:
    """What every reader of Counts relies on."""
    made = corpus.counts
    assert [array.dtype for array in made[:5]] == [np.int64, np.int32, np.int32, np.int64, np.int64]
    assert made.ptr[0] == 0
    assert made.ptr[-1] == made.word.size == made.tally.size
    assert (np.diff(made.ptr) > 0).all(), "a document without words"
    assert (made.tally > 0).all()
    assert (made.weight > 0).all()
    assert (
        made.length.tolist()
        == [int(s.sum()) for s in np.split(made.tally, made.ptr[1:-1])][: made.n_docs]
    )
    assert all(array.flags.writeable and array.flags.c_contiguous for array in made[:5])


@given(
    documents,
    st.sampled_from(INTEGERS + FLOATS),
    st.sampled_from(["int32", "int64"]),
    st.sampled_from([sparse.csr_matrix, sparse.csr_array]),
)
@example([[(3, 1), (0, 2), (3, 1)], [], [(1, 0)]], "float32", "int64", sparse.csr_array)
def test_sparse_matrix_equals_a_counter(
    rows: list[Entries], dtype: str, index: str, container: Any
) -> None:
    corpus = counts.from_matrix(csr(rows, dtype, index, container), OWNER)
    check_form(corpus)
    assert bags(corpus) == plain(rows)
    assert corpus.counts.n_words == N_WORDS


@given(documents, st.sampled_from(["csc", "coo", "lil", "dok", "bsr"]))
def test_other_sparse_formats(rows: list[Entries], form: str) -> None:
    corpus = counts.from_matrix(csr(rows).asformat(form), OWNER)
    check_form(corpus)
    assert bags(corpus) == plain(rows)


@given(documents, st.sampled_from(INTEGERS + FLOATS), st.sampled_from("CF"))
def test_array_equals_a_counter(rows: list[Entries], dtype: str, order: Any) -> None:
    array = np.asarray(csr(rows).toarray(), dtype, order=order)
    corpus = counts.from_matrix(array, OWNER)
    check_form(corpus)
    assert bags(corpus) == plain(rows)


@given(documents)
def test_boolean_matrix_means_once(rows: list[Entries]) -> None:
    array = csr(rows).toarray() > 0
    expected = [Counter(dict.fromkeys(bag, 1)) for bag in plain(rows)]
    assert bags(counts.from_matrix(array, OWNER)) == expected
    assert bags(counts.from_matrix(sparse.csr_matrix(array), OWNER)) == expected


@given(token_lists)
def test_token_lists_equal_a_counter(docs: list[list[str]]) -> None:
    docs = [["known"], *docs]
    corpus, words = _read.learn("tokens", docs, OWNER, None, False)
    check_form(corpus)
    assert bags(corpus, words) == [Counter(doc) for doc in docs]
    assert words == list(dict.fromkeys(token for doc in docs for token in doc))


@given(token_lists)
def test_unknown_tokens_are_dropped(docs: list[list[str]]) -> None:
    corpus = _read.encode("tokens", docs, OWNER, ["b", "é"])
    check_form(corpus)
    assert bags(corpus, ["b", "é"]) == [Counter(t for t in doc if t in "bé" and t) for doc in docs]


@given(documents, st.booleans(), st.sampled_from(["int32", "float64"]))
def test_the_input_is_never_modified(rows: list[Entries], tie: bool, dtype: str) -> None:
    matrix = csr(rows, dtype)
    arrays = [matrix.data, matrix.indices, matrix.indptr]
    before = [array.copy() for array in arrays]
    counts.from_matrix(matrix, OWNER, tie=tie)
    after = [matrix.data, matrix.indices, matrix.indptr]
    assert all(new is array for new, array in zip(after, arrays, strict=True))
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


@given(documents, st.booleans())
def test_read_only_input(rows: list[Entries], tie: bool) -> None:
    matrix = csr(rows, "int32")
    array = matrix.toarray()
    for part in (matrix.data, matrix.indices, matrix.indptr, array):
        part.flags.writeable = False
    for X in (matrix, array):
        corpus = counts.from_matrix(X, OWNER, tie=tie)
        check_form(corpus)
        assert bags(corpus) == plain(rows)


@given(documents, st.data())
def test_tying_groups_exactly_the_identical_bags(rows: list[Entries], data: st.DataObject) -> None:
    rows = rows + [data.draw(st.permutations(row)) for row in rows]  # each twice, in other orders
    weight = data.draw(st.lists(weights, min_size=len(rows), max_size=len(rows)))
    corpus = counts.from_matrix(csr(rows), OWNER, sample_weight=weight, tie=True)
    check_form(corpus)
    expected: dict[Any, int] = {}  # in order of first use
    for bag, copies in zip(plain(rows), weight, strict=True):
        if bag and copies:
            expected[frozenset(bag.items())] = expected.get(frozenset(bag.items()), 0) + copies
    assert corpus.counts.weight.tolist() == list(expected.values())
    place = {bag: d for d, bag in enumerate(expected)}
    assert corpus.doc_of_row.tolist() == [
        place[frozenset(bag.items())] if bag and copies else -1
        for bag, copies in zip(plain(rows), weight, strict=True)
    ]


@given(documents, st.data())
def test_rows_without_words_or_weight_become_no_document(
    rows: list[Entries], data: st.DataObject
) -> None:
    weight = data.draw(st.lists(weights, min_size=len(rows), max_size=len(rows)))
    corpus = counts.from_matrix(csr(rows), OWNER, sample_weight=np.array(weight, float))
    check_form(corpus)
    used = [bool(bag) and copies > 0 for bag, copies in zip(plain(rows), weight, strict=True)]
    numbers = iter(range(len(rows)))
    assert corpus.doc_of_row.tolist() == [next(numbers) if use else -1 for use in used]
    assert corpus.counts.weight.tolist() == [w for w, use in zip(weight, used, strict=True) if use]
    assert bags(corpus) == [
        bag if use else Counter() for bag, use in zip(plain(rows), used, strict=True)
    ]


def test_per_row_spreads_values_over_the_rows() -> None:
    corpus = counts.from_matrix(np.array([[1, 0], [0, 0], [0, 2], [1, 0]]), OWNER, tie=True)
    assert corpus.per_row(np.array([7, 8]), -1).tolist() == [7, -1, 8, 7]


@pytest.mark.parametrize("tie", [False, True])
def test_only_empty_rows(tie: bool) -> None:
    corpus = counts.from_matrix(np.zeros((3, 2), int), OWNER, tie=tie)
    assert corpus.counts.n_docs == 0
    assert corpus.doc_of_row.tolist() == [-1, -1, -1]


class TestOverflow:
    @pytest.mark.parametrize("dtype", ["int64", "uint32", "uint64", "float32", "float64"])
    def test_a_count_beyond_int32_is_refused(self, dtype: str) -> None:
        with pytest.raises(InvalidInput, match="maximum is 2\\^31 - 1"):
            counts.from_matrix(np.array([[2**31, 1]], dtype), OWNER)

    @pytest.mark.parametrize("dtype", ["int64", "float64"])
    def test_the_largest_count_fits(self, dtype: str) -> None:
        made = counts.from_matrix(np.array([[INT32_MAX, 1]], dtype), OWNER).counts
        assert made.tally.tolist() == [INT32_MAX, 1]
        assert made.length.tolist() == [2**31]

    def test_repeated_entries_that_add_up_beyond_int32_are_refused(self) -> None:
        rows = [[(0, INT32_MAX), (0, 1)]]
        with pytest.raises(InvalidInput, match="maximum is 2\\^31 - 1"):
            counts.from_matrix(csr(rows, "int32"), OWNER)

    def test_a_word_that_occurs_too_often_in_all_is_refused(self) -> None:
        half = 2**30
        counts.from_matrix(np.array([[half, 0], [half - 1, 1]]), OWNER)
        with pytest.raises(InvalidInput, match="Word 0 of a test occurs 2147483648 times"):
            counts.from_matrix(np.array([[half, 0], [half, 1]]), OWNER)

    def test_weights_count_towards_that(self) -> None:
        X = np.array([[2, 1]])
        counts.from_matrix(X, OWNER, sample_weight=[2**30 - 1])
        with pytest.raises(InvalidInput, match="Word 0 of a test occurs 2147483648 times"):
            counts.from_matrix(X, OWNER, sample_weight=[2**30])

    def test_tied_copies_count_towards_that(self) -> None:
        with pytest.raises(InvalidInput, match="use smaller counts or weights"):
            counts.from_matrix(np.array([[2**30], [2**30]]), OWNER, tie=True)

    def test_too_many_columns_are_refused(self) -> None:
        X = sparse.csr_array((1, 2**31), dtype=np.int8)
        with pytest.raises(InvalidInput, match="2147483648 columns"):
            counts.from_matrix(X, OWNER)
