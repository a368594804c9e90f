"""Vectors of documents: means of token vectors, and rows centred and scaled to length 1.

Every sum is taken from left to right, so it is the same number on every machine.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import kernel

BITS = 2.0**24  # per part of a number, in `add_up`: whole numbers add up exactly to 2**53


@kernel
def means(ptr, ids, table, sums, out):
    """Equivalent to: out[d] = table[ids[ptr[d]:ptr[d + 1]]].mean(axis=0), zeros where there are no ids.

    `sums` (float64) is scratch, a number per column of the table.
    """
    for d in range(ptr.size - 1):
        sums[:] = 0.0
        for i in range(ptr[d], ptr[d + 1]):
            row = ids[i]
            for j in range(sums.size):
                sums[j] += table[row, j]
        n = np.float64(max(ptr[d + 1] - ptr[d], 1))
        for j in range(sums.size):
            out[d, j] = sums[j] / n


@kernel
def add_up(rows, inverse, high, low):
    """Add rows, times `inverse` (a power of 2), to `high` as whole numbers and to `low` what is left.

    Returns (rows that are not zero, the greatest absolute value). Whole numbers add up exactly, so the
    order does not matter.
    """
    n = 0
    top = np.float32(0.0)
    for d in range(rows.shape[0]):
        greatest = np.float32(0.0)
        for j in range(rows.shape[1]):
            greatest = max(greatest, abs(rows[d, j]))
        if greatest == 0.0:
            continue
        n += 1
        top = max(top, greatest)
        for j in range(rows.shape[1]):
            value = rows[d, j] * inverse
            whole = np.rint(value)
            high[j] += whole
            low[j] += np.rint((value - whole) * BITS)
    return n, top


@kernel
def centre(rows, mean, length, same, most, out):
    """Equivalent to: out = clip(rint((rows - mean) * length / |rows - mean|), -most, most).

    A row of zeros stays one, and a row that is closer to the mean than `same` of its length becomes one.
    Returns whether a number was cut to `most`.
    """
    cut = False
    for d in range(rows.shape[0]):
        square = 0.0
        centred = 0.0
        for j in range(mean.size):
            value = np.float64(rows[d, j])
            square += value * value
            value -= mean[j]
            centred += value * value
        size = np.sqrt(centred)
        whole = np.sqrt(square)
        factor = length / size if whole > 0.0 and size > same * whole else 0.0
        for j in range(mean.size):
            value = np.rint((rows[d, j] - mean[j]) * factor)
            cut |= abs(value) > most
            out[d, j] = min(max(value, -most), most)
    return cut
