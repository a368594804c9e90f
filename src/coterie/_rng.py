"""Randomness has an address: the layout of random numbers, once, in plain NumPy.

`uniform(key, sweep, document, draw)` is a pure function of its address, so one thread, sixteen
threads, a resumed run and another machine all see the same numbers. Each part of the address is
folded in by one round of a 64-bit finaliser (Stafford's variant 13, the one of SplitMix64); the
top 53 bits make a float64 in [0, 1).

    h0 = mix(key   + GOLDEN)
    h1 = mix(h0 + (sweep    + 1) * GOLDEN)
    h2 = mix(h1 + (document + 1) * GOLDEN)
    h3 = mix(h2 + (draw     + 1) * GOLDEN)      u = (h3 >> 11) * 2**-53

`kernels/_common.py` holds the compiled twin; a test compares the two bit for bit.
Sweep 0 is the start (the first assignment); sampling sweeps count from 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB

# (key, sweep, document, draw) -> uniform; any implementation must reproduce these exactly.
TEST_VECTORS: dict[tuple[int, int, int, int], float] = {
    (0, 0, 0, 0): 0.1296456182997474,
    (1, 0, 0, 0): 0.8847898165349132,
    (0, 1, 0, 0): 0.40888044555588665,
    (0, 0, 1, 0): 0.591449498199162,
    (0, 0, 0, 1): 0.049920065672091285,
    (20140824, 30, 11108, 64): 0.4681572462140823,
    (2**64 - 1, 2**31, 2**40, 65): 0.9002284785192045,
}


def mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64's finaliser, elementwise modulo 2**64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(MIX_1)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(MIX_2)
    return x ^ (x >> np.uint64(31))


def uniform(
    key: int, sweep: npt.ArrayLike, document: npt.ArrayLike, draw: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the uniforms in [0, 1) at these addresses; the parts broadcast against each other."""
    golden = np.uint64(GOLDEN)
    state = mix(np.array([np.uint64(key)]) + golden)
    for part in (sweep, document, draw):
        step = np.atleast_1d(np.asarray(part)).astype(np.uint64) + np.uint64(1)
        state = mix(state + step * golden)
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def key_from_seed(seed: int) -> int:
    """Turn a user's seed (any non-negative whole number) into a 64-bit key."""
    words = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return int(words[0])
