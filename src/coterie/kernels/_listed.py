"""Lists of likely clusters: a document whose vector counts is drawn among the few that suit it.

With vectors, a draw looks at every cluster. So a document that was drawn among all of them keeps a list of
those that weighed most, and is drawn among these in later sweeps: a Gibbs step within a fixed set of
choices, to which its own cluster belongs. Clusters that became likely since then are not found. A document
that is alone in its cluster, or whose cluster is not on its list, is drawn among all, and listed again.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.kernels._common import inlined, kernel
from coterie.kernels._location import gain_of, loss_of, read_vector
from coterie.kernels._open import base_of_slot
from coterie.kernels._slots import BLOCK
from coterie.kernels._vector import dot


@inlined
def is_listed(listed, own):
    """Whether a document's own cluster is on its list."""
    found = False
    for i in range(listed.size):
        found |= listed[i] == own
    return found and own >= 0


@inlined
def draw_listed(counts, urn, state, fixed, derived, scratch, d, u, own_weight, listed):
    """Draw a cluster of the list, in its order, from the products of words; leaves these as they are."""
    own = np.int64(state.z[d])
    vector = scratch.vector[0]
    read_vector(counts.vectors, d, vector)
    kappa, rho, norm = urn.location.kappa, urn.location.rho, fixed.norm[d]
    empty = norm / (math.sqrt(rho * rho + norm) + rho)
    total = 0.0
    for i in range(listed.size):
        k = np.int64(listed[i])
        if k >= 0:
            along = 2.0 * dot(vector, derived.sums[k])
            if k == own:
                weight = own_weight
                gain = loss_of(rho, derived.norm[k], derived.root[k], along - norm)
            else:
                weight = scratch.product[k] * base_of_slot(urn, state, derived, counts.length[d], k)
                gain = gain_of(rho, derived.norm[k], derived.root[k], along + norm)
            total += weight * math.exp(kappa * (gain - empty))
        scratch.weight[i] = total
    x = u * total
    for i in range(listed.size):
        if x < scratch.weight[i]:
            return np.int64(listed[i])
    return own


@inlined
def list_likely(scratch, width, drawn, listed):
    """Write the clusters that weigh most in `scratch.weight`, in slot order, the one drawn among them."""
    weight = scratch.weight
    n = 0  # how many are listed
    least, at = 0.0, 0  # of a full list: the least weight, and where it is
    listed[:] = -1
    for block in range(width // BLOCK):
        if not scratch.partial[block] > least:
            continue
        for k in range(block * BLOCK, block * BLOCK + BLOCK):
            if not weight[k] > least:
                continue
            if n < listed.size:
                listed[n] = k
                n += 1
            else:
                listed[at] = k
            if n == listed.size:
                at = 0
                for i in range(1, n):
                    at = i if weight[listed[i]] < weight[listed[at]] else at
                least = weight[listed[at]]
    if drawn >= 0 and not is_listed(listed, drawn):
        at = n if n < listed.size else at
        listed[at] = drawn
        n = max(n, at + 1)
    for i in range(1, n):
        k, j = listed[i], i
        while j > 0 and listed[j - 1] > k:
            listed[j] = listed[j - 1]
            j -= 1
        listed[j] = k


@kernel
def rename(listed, renaming, seen):
    """Give the listed slots their new numbers; -1 for those that are gone, or are listed already.

    `seen` is scratch: an entry for each new slot, all -1.
    """
    for d in range(listed.shape[0]):
        for i in range(listed.shape[1]):
            k = np.int64(renaming[listed[d, i]]) if listed[d, i] >= 0 else np.int64(-1)
            if k >= 0 and seen[k] == d:
                k = np.int64(-1)
            if k >= 0:
                seen[k] = d
            listed[d, i] = k
