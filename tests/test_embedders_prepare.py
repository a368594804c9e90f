"""Raw vectors made ready for an urn: centred, of length 1, exact to add up, or refused."""

from typing import Any

import numpy as np
import pytest
from embedder_cases import refused

from coterie._arrays import STEP
from coterie.embedders import prepare
from coterie.embedders._prepare import prepare_rows
from coterie.embedders._rows import ArrayRows
from coterie.errors import InvalidInput


def by_numpy(raw: Any) -> tuple[Any, Any]:
    """The same numbers in a few sentences; sums are whole numbers, or go from left to right."""
    rows = np.asarray(raw, np.float64)
    scale = 2.0 ** (int(np.frexp(np.abs(rows).max())[1]) - 24)
    whole = np.rint(rows / scale)
    rest = np.rint((rows / scale - whole) * 2.0**24)
    mean = (whole.sum(axis=0) + rest.sum(axis=0) / 2.0**24) / rows.any(axis=1).sum() * scale
    centred = rows - mean
    lengths = [np.sqrt(np.add.accumulate(a * a, axis=1)[:, -1:]) for a in (rows, centred)]
    means = (lengths[0] > 0) & (lengths[1] > 2.0**-20 * lengths[0])
    factor = np.divide(1 / STEP, lengths[1], out=np.zeros_like(lengths[1]), where=means)
    return np.rint(centred * factor), mean


class TestPrepare:
    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_is_what_numpy_says_to_the_last_bit(self, any_seed: int, n_threads: int) -> None:
        rng = np.random.default_rng(any_seed)
        raw = (rng.normal(1, 1, (9000, 33)) * rng.choice([0, 1, 1e-3], (9000, 1))).astype("f4")
        raw[0] = 1.0
        raw[8999, 5] = 1e6  # in no block that is looked at first
        for rows in (raw, raw[:700], raw[:1], raw[:, :1]):
            wanted, mean = by_numpy(rows)
            vectors, same = prepare_rows(ArrayRows(rows), n_threads=n_threads)
            np.testing.assert_array_equal(same, mean)
            np.testing.assert_array_equal(vectors, wanted)

    def test_centred_length_one_and_multiples(self) -> None:
        raw = np.random.default_rng(0).normal(2, 1, (5000, 37)).astype(np.float32)
        vectors, mean = prepare(raw)
        assert vectors.dtype == np.int16
        assert mean.dtype == np.float64
        np.testing.assert_allclose(mean, raw.mean(axis=0, dtype=np.float64), rtol=1e-12)
        wanted = raw.astype(np.float64) - mean
        wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
        found = vectors * STEP
        assert np.abs(found - wanted).max() <= STEP / 2 + 1e-12
        assert np.abs(found).max() <= 1
        assert np.linalg.norm(found, axis=1).max() <= 1 + np.sqrt(37) * STEP / 2

    def test_rows_of_zeros_say_nothing(self) -> None:
        vectors, mean = prepare([[0, 0], [3, 1], [1, 1], [0, 0]])
        assert mean.tolist() == [2, 1]
        assert (vectors * STEP).tolist() == [[0, 0], [1, 0], [-1, 0], [0, 0]]

    @pytest.mark.parametrize("n", [1, 2, 3, 7, 10_000])
    def test_a_row_that_is_the_mean_is_zero(self, n: int) -> None:
        """Not the direction of a rounding error."""
        row = np.random.default_rng(1).normal(size=50).astype(np.float32)
        vectors, _ = prepare(np.tile(row, (n, 1)))
        assert not vectors.any()

    def test_rows_that_differ_by_rounding_alone_are_zero(self, any_seed: int) -> None:
        rng = np.random.default_rng(any_seed)
        rows = np.tile(rng.normal(size=50), (100, 1)).astype(np.float32)
        vectors, _ = prepare(np.nextafter(rows, rng.choice([-9, 9], rows.shape), dtype=np.float32))
        assert not vectors.any()

    def test_the_mean_does_not_depend_on_the_order(self, any_seed: int) -> None:
        rng = np.random.default_rng(any_seed)
        raw = (rng.normal(size=(9000, 5)) * 10 ** rng.uniform(-4, 4, (9000, 1))).astype(np.float32)
        order = rng.permutation(len(raw))
        vectors, mean = prepare(raw)
        other, same = prepare(raw[order])
        np.testing.assert_array_equal(mean, same)
        np.testing.assert_array_equal(vectors[order], other)

    def test_the_mean_of_a_corpus_serves_its_rows_one_by_one(self) -> None:
        raw = np.random.default_rng(2).normal(size=(5000, 20)).astype(np.float32)
        vectors, mean = prepare(raw)
        for i in (0, 17, 4096, 4999):
            alone, same = prepare(raw[i : i + 1], mean)
            np.testing.assert_array_equal(alone[0], vectors[i])
            np.testing.assert_array_equal(same, mean)

    def test_one_great_number_does_not_spoil_the_mean(self) -> None:
        raw = np.full((1001, 2), 0.125, np.float32)
        raw[500, 0] = 2**20
        _, mean = prepare(raw)
        np.testing.assert_allclose(mean, [(125 + 2**20) / 1001, 0.125], rtol=1e-9)

    def test_keeps_what_it_was_given(self) -> None:
        raw = np.random.default_rng(3).normal(size=(100, 4)).astype(np.float32)
        before = raw.copy()
        before.flags.writeable = False
        vectors, _ = prepare(raw)
        np.testing.assert_array_equal(raw, before)
        np.testing.assert_array_equal(prepare(before)[0], vectors)

    def test_no_rows(self) -> None:
        vectors, mean = prepare(np.zeros((0, 3)))
        assert vectors.shape == (0, 3)
        assert mean.tolist() == [0, 0, 0]

    @pytest.mark.parametrize(
        ("raw", "said"),
        [
            ([1.0, 2.0], "2 dimensions"),
            (3.0, "2 dimensions"),
            (np.zeros((2, 2, 2)), "2 dimensions"),
            ([[1.0, np.nan], [0, 0], [0, 0]], "row 0 holds NaN"),
            ([[1.0, 0], [0, -np.inf], [0, 0]], "row 1 holds infinity"),
            ([[1.0, 0], [0, 0], [1e300, 0]], "too large for float32"),
            (np.zeros((3, 2), complex), "complex128"),
            (np.array([["a", 1], ["b", 2], ["c", 3]], object), "objects"),
            ([["a", "b"]] * 3, "real numbers"),
            ([[1], [2, 3], [4]], "differ in length"),
            (np.zeros((3, 0)), "at least one number"),
            (np.zeros((2, 5)), "each of the 3 documents; got 2 rows"),
            ("words", "got a text"),
            (np.zeros((3, 2), bool), "bool"),
            (np.ma.masked_equal([[1, 2]] * 3, 2), "masked"),
        ],
    )
    def test_what_is_no_matrix_of_vectors(self, raw: Any, said: str) -> None:
        with pytest.raises(InvalidInput, match="embeddings"):
            prepare(raw, n_rows=3)
        assert said in refused(lambda: prepare(raw, n_rows=3))

    def test_a_sparse_matrix(self) -> None:
        from scipy import sparse

        assert "sparse" in refused(lambda: prepare(sparse.eye(3)))

    @pytest.mark.parametrize("mean", [np.zeros(3), np.zeros((1, 2)), np.array([np.nan, 0])])
    def test_a_mean_of_something_else(self, mean: Any) -> None:
        assert "the mean of the corpus" in refused(lambda: prepare([[1.0, 2.0]], mean))
