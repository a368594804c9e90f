"""Whether a document with a vector surely stays in its cluster, without a look at all the others.

Near convergence most documents do. What a vector adds is bounded: a document e raises the potential of no
cluster by more than |e|. So the words alone, which are cheap, often show that the number of the document
falls on its own cluster, whatever its vector says of the others. Where a few clusters are in the way,
their vectors are looked at. A document that passes would have drawn its own cluster in the full draw, too:
all bounds leave room for the rounding there, so labels are the same with and without this file.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import called, inlined, unordered
from coterie.kernels._location import gain_of, loss_of, unit_of
from coterie.kernels._open import fresh_weight, sum_weights
from coterie.kernels._slots import BLOCK

LOOKS = 2  # clusters whose vectors are looked at before those of all are
ROUNDING = 2.0**-22  # four times that of a float32, for each of the numbers that are added up
SURE = 1.0 - 1e-9  # for the rounding of sums in float64


@inlined
def surely_stays(
    counts, urn, state, fixed, derived, scratch, d, u, own_weight, alone, width, ordered
):
    """Whether the number u of d draws its own cluster; `own_weight` and the products are of words alone.

    `ordered`: weights are cumulated in slot order; else the own cluster comes first. Writes scratch, but
    leaves the products as they are.
    """
    own = np.int64(state.z[d])
    if own < 0 or own_weight == 0.0:
        return False
    words = scratch.product[own]
    sum_weights(counts, urn, state, derived, scratch, d, width)
    scratch.product[own] = words
    return bounds_show(
        counts.vectors[d], fixed.norm[d], urn.location.kappa, urn.location.rho, state.sums,
        derived.norm, derived.root, scratch.weight, scratch.partial, scratch.touched, scratch.nats,
        own, own_weight, fresh_weight(urn, state, alone), u, width, ordered,
    )  # fmt: skip


@called
def bounds_show(
    vector, own_norm, kappa, rho, sums, norm, root, weight, partial, looked, held, own, own_weight,
    fresh, u, width, ordered,
):  # fmt: skip
    """As `surely_stays`, from the clusters' weights by words in `weight`, their sums in `partial`.

    `looked` and `held` are scratch, as `weight` and `partial` are afterwards.
    """
    slack = kappa * ROUNDING * (16.0 + vector.size) * (1.0 + 1.0 / rho)
    empty = own_norm / (math.sqrt(rho * rho + own_norm) + rho)
    shrunk = 2.0 * dot(vector, sums[own]) - own_norm
    gain = loss_of(rho, norm[own], root[own], shrunk)
    least = own_weight * math.exp(kappa * (gain - empty) - slack)
    room = least * SURE / u - least - fresh  # what the others may weigh, so that u falls on its own
    if ordered:
        room = min(room, least * SURE * u)
    most = math.exp(kappa * (math.sqrt(own_norm) - empty) + slack)
    n = 0
    rest, block = sum_of_blocks(partial, width)
    while not rest * most < room:
        if n == LOOKS:
            return False
        k = block * BLOCK
        for i in range(k + 1, k + BLOCK):
            k = i if weight[i] > weight[k] else k
        looked[n], held[n] = k, weight[k]
        n += 1
        weight[k] = 0.0
        partial[block] = 0.0
        for i in range(block * BLOCK, block * BLOCK + BLOCK):
            partial[block] += weight[i]
        rest, block = sum_of_blocks(partial, width)
    others = rest * most
    for i in range(n):
        k = looked[i]
        grown = 2.0 * dot(vector, sums[k]) + own_norm
        gain = gain_of(rho, norm[k], root[k], grown)
        others += held[i] * math.exp(kappa * (gain - empty) + slack)
    return others < room


@inlined
def sum_of_blocks(partial, width):
    """The sum of all blocks, and the largest of them."""
    total, largest = 0.0, 0
    for block in range(width // BLOCK):
        total += partial[block]
        largest = block if partial[block] > partial[largest] else largest
    return total, largest


@unordered
def dot(vector, total):
    """<vector, total>, the vector in steps: bounds have room for any order of summing."""
    value = 0.0
    for j in range(vector.size):
        value += vector[j] * total[j]
    return value * unit_of(vector)
