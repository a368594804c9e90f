"""Addressed random numbers: fixed values, one compiled twin, and no pattern along any axis."""

import ast
import itertools
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from chance import LUCK, SIGMAS, moved, surprise, uniform

from coterie import _rng
from coterie.kernels import _common, _envelope

pytestmark = pytest.mark.chance
VECTORS = _rng.TEST_VECTORS
AXES = ["key", "sweep", "document", "draw"]
N = 50_000
EVENLY = np.full(256, 1 / 256)


def spelled_out(key: int, *parts: int) -> float:
    """The specification in whole numbers of any size."""

    def mix(x: int) -> int:
        x = (x ^ (x >> 30)) * _rng.MIX_1 % 2**64
        x = (x ^ (x >> 27)) * _rng.MIX_2 % 2**64
        return x ^ (x >> 31)

    state = mix((key + _rng.GOLDEN) % 2**64)
    for part in parts:
        state = mix((state + (part + 1) * _rng.GOLDEN) % 2**64)
    return (state >> 11) * 2.0**-53


@numba.njit
def compiled(key, sweep, document, draw, out):
    for i in range(out.size):
        address = _common.address(key[i], sweep[i], document[i])
        out[i] = _common.uniform(address, draw[i])


def along(axis: str, n: int = N, origin: tuple[int, int, int, int] = (3, 1, 4, 1)) -> np.ndarray:
    """The numbers at n neighbouring addresses (by the compiled twin: `key` takes no arrays)."""
    parts = [np.full(n, part) for part in (moved(origin[0]), *origin[1:])]
    parts[AXES.index(axis)] += np.arange(n)
    out = np.empty(n)
    compiled(parts[0].astype(np.uint64), *parts[1:], out)
    return out


@pytest.mark.parametrize("address", VECTORS)
def test_fixed_values(address):
    assert _rng.uniform(*address).tolist() == [VECTORS[address]]
    assert spelled_out(*address) == VECTORS[address]


def test_compiled_twin_is_equal_bit_for_bit():
    random = np.random.default_rng(0)
    key = random.integers(0, 2**64, 2000, np.uint64, endpoint=False)
    rest = random.integers(0, 2**62, (3, 2000))
    rest[:, :1000] >>= 45  # small numbers too: those are the ones in use
    out = np.empty(2000)
    compiled(key, *rest, out)
    numpy = [_rng.uniform(int(k), *parts)[0] for k, *parts in zip(key, *rest, strict=True)]
    assert out.tolist() == numpy


def test_parts_broadcast():
    table = _rng.uniform(9, 2, np.arange(5)[:, None], np.arange(3))
    assert table.shape == (5, 3)
    assert table[4, 2] == _rng.uniform(9, 2, 4, 2)[0]


def test_range_is_half_open():
    assert 2.0**-53 * (2**53 - 1) < 1.0
    u = along("document", 10 * N)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert ((u * 2.0**53) % 1.0 == 0.0).all()


def test_a_seed_becomes_a_64_bit_key():
    keys = [_rng.key_from_seed(seed) for seed in (0, 1, 2, 2**70)]
    assert len(set(keys)) == 4
    assert all(0 <= key < 2**64 for key in keys)
    assert _rng.key_from_seed(1) == keys[1]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("origin", [(0, 0, 0, 0), (3, 1, 4, 1), (2**40, 2**20, 2**30, 0)], ids=str)
def test_uniform_along(axis, origin):
    u = along(axis, origin=origin)
    assert uniform(u) > LUCK
    for bits in (u * 256, u * 2.0**45):  # the top eight bits, and the last eight
        cells = np.bincount(bits.astype(np.int64) % 256, minlength=256)
        assert surprise(cells, EVENLY) > LUCK


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("lag", [1, 2, 64])
def test_neighbours_are_independent(axis, lag):
    u = along(axis)
    first = np.flatnonzero(np.arange(u.size - lag) // lag % 2 == 0)  # no number is in two pairs
    a, b = u[first], u[first + lag]
    assert abs(np.corrcoef(a, b)[0, 1]) < SIGMAS / np.sqrt(a.size)
    pairs = np.bincount((a * 16).astype(np.int64) * 16 + (b * 16).astype(np.int64), minlength=256)
    assert surprise(pairs, EVENLY) > LUCK


@pytest.mark.parametrize("axis", AXES)
def test_every_bit_flips_half_the_time_between_neighbours(axis):
    whole = (along(axis) * 2.0**53).astype(np.int64)
    flipped = whole[:-1] ^ whole[1:]
    share = np.array([((flipped >> bit) & 1).mean() for bit in range(53)])
    assert np.abs(share - 0.5).max() < 7.0 * 0.5 / np.sqrt(flipped.size)  # 53 of them: 1e-10


@pytest.mark.parametrize(("one", "other"), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
def test_axes_do_not_stand_for_each_other(one, other):
    """(a + i, b) and (a, b + i) are different questions."""
    u, v = along(AXES[one], 20_000), along(AXES[other], 20_000)
    assert (u[1:] != v[1:]).all()
    assert abs(np.corrcoef(u[1:], v[1:])[0, 1]) < SIGMAS / np.sqrt(u.size)


def test_no_two_addresses_share_a_number():
    block = [
        _rng.uniform(key, np.arange(30)[:, None, None], np.arange(300)[:, None], np.arange(20))
        for key in map(moved, range(3))
    ]
    numbers = 3 * 30 * 300 * 20  # of 2**53: one meets another once in 60,000 blocks,
    assert np.unique(block).size >= numbers - 1  # and two pairs do once in 7 * 10**9


@pytest.mark.parametrize("draws", [_rng.DRAWS, _rng.STEP_DRAWS], ids=["document", "step"])
def test_no_two_uses_share_an_address(draws):
    ends = sorted((use.first, use.first + use.n) for use in draws)
    assert all(first < end for first, end in ends)
    assert all(end <= first for (_, end), (first, _) in itertools.pairwise(ends))


def test_every_number_is_drawn_at_a_registered_address():
    """In the sources: the last argument of `uniform` begins with a name that `_rng.py` gives."""
    names = {name for name in vars(_rng) if name.startswith(("DRAW_", "STEP_", "SPLIT_"))}
    found = set()
    for path in sorted(Path(_rng.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) not in (
                "uniform",
                "_rng.uniform",
                "log_gammas",  # which hands its address on
            ):
                continue
            if path.name == "gammas.py":
                continue
            where = ast.unparse(call.args[-1])
            used = {name for name in names if re.search(rf"\b{name}\b", where)}
            allowed = path.name == "reference.py" and where == "0"  # its Gibbs is no kernel's twin
            assert len(used) == 1 or allowed, (path.name, where)
            found |= used
    assert found >= {"DRAW_TRY", "DRAW_ONE", "DRAW_FLAG", "DRAW_TREE", "DRAW_SCAN", "STEP_ENTRY"}
    assert found >= {"DRAW_PHI", "DRAW_THETA"}


def test_the_tries_of_the_envelope_and_the_tree_fit_their_addresses():
    of = {use.first: use.n for use in _rng.DRAWS}
    assert of[_rng.DRAW_TRY] >= 2 * _envelope.TRIES
    assert of[_rng.DRAW_TREE] >= _envelope.TREE_TRIES
