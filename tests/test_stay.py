"""Documents that surely stay: what the bounds say is what the full draw does."""

import numba
import numpy as np
import pytest

from coterie._arrays import STEP
from coterie.kernels import _stay
from coterie.kernels._slots import BLOCK

WIDTH, DIMENSIONS, RHO = 3 * BLOCK, 24, 3.0


@numba.njit
def says(
    steps, own_norm, kappa, sums, norm, root, weight, partial, own, own_weight, fresh, u, ordered
):
    """`bounds_show` for a document that is alone in the world of numba."""
    looked, held = np.zeros(WIDTH, np.int32), np.zeros(WIDTH)
    return _stay.bounds_show(
        steps, own_norm, kappa, RHO, sums, norm, root, weight, partial, looked, held, own,
        own_weight, fresh, u, WIDTH, ordered,
    )  # fmt: skip


class Draw:
    """A document, the clusters' weights by its words, and the sums of their vectors."""

    def __init__(self, seed: int, kappa: float = 20.0, fits: bool = False) -> None:
        draw = np.random.default_rng(seed)
        self.kappa, self.own, self.fresh = kappa, int(draw.integers(WIDTH)), 0.1
        self.vector = self._unit(draw.normal(size=DIMENSIONS))
        self.sums = draw.normal(size=(WIDTH, DIMENSIONS)) * draw.uniform(0.1, 30, (WIDTH, 1))
        self.sums[self.own] += 8.0 * self.vector
        if fits:
            self.sums[self.own] = 20.0 * self.vector
        self.words = np.exp(draw.uniform(-12.0, 0.0, WIDTH))
        self.words[draw.integers(0, WIDTH, 5)] = 0.0  # closed slots

    def _unit(self, raw: np.ndarray) -> np.ndarray:
        return np.rint(raw / np.linalg.norm(raw) / STEP) * STEP

    def weights(self) -> np.ndarray:
        """All weights, the document left out of its own cluster."""
        e, sums = self.vector, self.sums.copy()
        sums[self.own] -= e
        before, after, alone = (
            np.sqrt(RHO**2 + (s**2).sum(axis=-1)) for s in (sums, sums + e, e[None])
        )
        return self.words * np.exp(self.kappa * (after - before - (alone - RHO)))

    def says(self, u: float, ordered: bool) -> bool:
        others = self.words.copy()
        others[self.own] = 0.0
        norm = (self.sums**2).sum(axis=1)
        steps, own_norm = (self.vector / STEP).astype(np.int16), self.vector @ self.vector
        return says(
            steps, own_norm, self.kappa, self.sums, norm, np.sqrt(RHO**2 + norm), others,
            others.reshape(-1, BLOCK).sum(axis=1), self.own, self.words[self.own], self.fresh, u,
            ordered,
        )  # fmt: skip

    def stretch(self, ordered: bool) -> tuple[float, float]:
        """The numbers that draw the own cluster."""
        weight = self.weights()
        first = weight[: self.own].sum() if ordered else 0.0
        return first / (weight.sum() + self.fresh), (first + weight[self.own]) / (
            weight.sum() + self.fresh
        )


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("kappa", [1.0, 20.0, 90.0])
def test_no_number_beside_the_own_stretch_stays(kappa: float, ordered: bool) -> None:
    for seed in range(150):
        one = Draw(seed, kappa)
        low, high = one.stretch(ordered)
        beside = [high, high * (1 + 1e-6), high + (1 - high) / 2, 1.0 - 2.0**-53]
        beside += [low * 0.5, low * (1 - 1e-6)] if low > 0.0 else []
        assert not any(one.says(u, ordered) for u in beside if u < 1.0)


@pytest.mark.parametrize("ordered", [False, True])
def test_words_that_decide_are_enough(ordered: bool) -> None:
    for seed in range(60):
        one = Draw(seed, fits=True)
        one.words[one.own] = 1e9
        assert all(one.says(u, ordered) for u in (0.01, 0.5, 0.99))


def test_a_few_clusters_in_the_way_are_looked_at() -> None:
    one = Draw(3, fits=True)
    others = [k for k in range(WIDTH) if k != one.own][: _stay.LOOKS + 1]
    one.words[:] = 1e-9
    one.words[one.own] = 1.0
    one.fresh = 0.0
    one.sums[others] = -5.0 * one.vector  # the words may be the same, the vectors are not
    for n in range(1, _stay.LOOKS + 2):
        one.words[others[:n]] = 1.0
        assert one.stretch(False)[1] > 0.9
        assert one.says(0.5, False) == (n <= _stay.LOOKS)


def test_an_own_cluster_without_weight_is_left() -> None:
    one = Draw(4, fits=True)
    one.words[one.own] = 0.0
    assert not one.says(0.5, False)
    one.fresh, one.words[:] = 0.0, 0.0
    assert not one.says(0.0, True)
