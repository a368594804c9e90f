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

Every use of a random number is registered below, in `DRAWS`, and no two uses share an address.

How a number becomes a cluster under `sampler="blocked"`, the same on every backend:

1. A cluster has a slot: 0, 1, ... The seeds are the first. The documents of a block are weighed
   against the counts at the block's start, each with itself taken out.
2. Cumulate the weights over the slots in ascending order; the weight of a new cluster (all empty ones
   together) comes last. The cluster drawn is the first whose cumulated weight is above u times the
   total, where u is the document's one number, at `DRAW_ONE`.
3. A document that is alone in its cluster and draws a new one stays. Every other document that draws
   a new one opens the lowest free slot, in the order of the scan. Where a finite urn has none left,
   these documents share the slots that the block opened, in turn.
4. Then all documents move, and slots without documents become free (never those of seeds).
5. Slots are renamed only before a sweep: when `state.wants_relayout` says so (sweeps 2, 3 and 4, every
   eighth, and when fewer than four fifths of the slots up to the highest are open), the open ones become
   0, 1, ... in their order.
6. Which documents form a block, and their order, follows from their number (`backends/_blocked.py`).
"""

from __future__ import annotations

from typing import NamedTuple

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


class Draws(NamedTuple):
    """A use of random numbers: the addresses it takes within (key, sweep, document)."""

    first: int
    n: int
    use: str


DRAW_TRY = 0
DRAW_ONE = 64
DRAW_FLAG = 65
DRAW_TREE = 2**32
DRAW_STEP = 2**33
DRAW_SCAN = 2**40
DRAW_SPLIT = 2**40 + 1
DRAW_WRITE = 2**40 + 2

DRAWS = (
    Draws(DRAW_TRY, 64, "gibbs: two numbers for each try of the envelope; start: the first labels"),
    Draws(DRAW_ONE, 1, "the one number of a sum over all clusters: blocked, uncollapsed, gibbs"),
    Draws(DRAW_FLAG, 2**32 - 65, "promoted urn: one number per distinct word of the document"),
    Draws(DRAW_TREE, 32, "gibbs: one number for each try of the tree"),
    Draws(
        DRAW_STEP, 2**33, "metropolis: a step, which folds the numbers of STEP_DRAWS in after this"
    ),
    Draws(DRAW_SCAN, 1, 'scan="random": the place of the document in the order of the sweep'),
    Draws(
        DRAW_SPLIT,
        1,
        "split and merge: a proposal (its number in the place of the document), which"
        " folds the draws of its scans in after this",
    ),
    Draws(DRAW_WRITE, 1, "datasets: a choice, with its number in the place of the sweep"),
)
STEP_ENTRY, STEP_ACCEPT = 65, 66
STEP_DRAWS = (
    *(draws for draws in DRAWS if draws.first in (DRAW_TRY, DRAW_ONE, DRAW_TREE)),
    Draws(STEP_ENTRY, 1, "metropolis: which entry of the proposal"),
    Draws(STEP_ACCEPT, 1, "metropolis: whether it is accepted"),
)
SPLIT_KIND, SPLIT_FIRST, SPLIT_SECOND, SPLIT_ACCEPT = 0, 1, 2, 3
SPLIT_SCAN = 4  # and those of further scans; a scan folds one number per document in after it
SPLIT_MEMBER = 0
# Gammas come from NumPy's Philox, whose key is (key, one of these) and whose counter begins at
# (0, 0, cluster, sweep).
PHILOX_PHI, PHILOX_THETA = 0, 1


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
