"""The product of two vectors in single precision, summed in the same order on every CPU.

numba adds up the numbers of a loop one by one unless any order will do. Here thirty-two sums go side by
side, as vectors of the compiler, and are then added in pairs.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from coterie.kernels._common import inlined

LANES = 32


def _whole(typing_context, a, b):
    """The product of the first numbers of a and b, as many as there are whole groups of LANES."""

    def generate(context, builder, signature, arguments):
        views = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        lanes = ir.VectorType(ir.FloatType(), LANES)
        places = [builder.bitcast(view.data, lanes.as_pointer()) for view in views]
        size = cgutils.unpack_tuple(builder, views[0].shape)[0]
        sums = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES))
        groups = builder.udiv(size, ir.Constant(size.type, LANES))
        with cgutils.for_range(builder, groups) as loop:
            left, right = (
                builder.load(builder.gep(place, [loop.index]), align=4) for place in places
            )
            builder.store(builder.fadd(builder.load(sums), builder.fmul(left, right)), sums)
        total, width = builder.load(sums), LANES
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(
                    total, ir.Constant(total.type, ir.Undefined), _places(at, width)
                )
                for at in (0, width)
            ]
            total = builder.fadd(*halves)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float32(a, b), generate


def _places(first, n):
    return ir.Constant(ir.VectorType(ir.IntType(32), n), list(range(first, first + n)))


if numba.config.DISABLE_JIT:

    def whole(a, b):
        """As `_whole`, in numpy."""
        sums = np.zeros(LANES, np.float32)
        for j in range(0, a.size - LANES + 1, LANES):
            sums += a[j : j + LANES] * b[j : j + LANES]
        while sums.size > 1:
            sums = sums[: sums.size // 2] + sums[sums.size // 2 :]
        return sums[0]
else:
    whole = intrinsic(_whole)


@inlined
def dot(a, b):
    """<a, b>, of two arrays of the same length, without gaps."""
    value = whole(a, b)
    for j in range(a.size // LANES * LANES, a.size):
        value += a[j] * b[j]
    return value
