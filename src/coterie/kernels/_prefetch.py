"""Asking for memory before it is needed: `prefetch(array, i)` starts loading array[i] and goes on.

What a document touches is known two documents ahead, and with many clusters nearly every look-up
would wait for main memory. Prefetching changes no result.
"""

from __future__ import annotations

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from coterie.kernels._common import inlined

NEAR = 2**18  # postings, two megabytes: a core's own cache holds them, and asking costs a tenth


def _prefetch(typing_context, array, index):
    """Start loading array[index] (the whole row of a 2-D array begins there)."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, view.strides)[0]
        byte = ir.IntType(8).as_pointer()
        offset = builder.mul(builder.sext(arguments[1], stride.type), stride)
        place = builder.gep(builder.bitcast(view.data, byte), [offset])
        kinds = [byte, ir.IntType(32), ir.IntType(32), ir.IntType(32)]
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), kinds)
        )
        read, keep, data = (ir.Constant(ir.IntType(32), n) for n in (0, 3, 1))
        builder.call(ask, [place, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


if numba.config.DISABLE_JIT:

    def prefetch(array, index):
        """Nothing to do in plain Python."""
else:
    prefetch = intrinsic(_prefetch)


@inlined
def look_ahead(counts, state, derived, i, last):
    """Start loading what the next documents of the scan will touch, unless all of it is near anyway."""
    if state.post.shape[0] < NEAR:
        return
    if i + 2 < last:
        d = derived.scan[i + 2] if derived.scan.size else i + 2
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            w = counts.word[e]
            prefetch(state.row_of, w)
            prefetch(state.post_len, w)
            prefetch(state.post_ptr, w)
    if i + 1 < last:
        d = derived.scan[i + 1] if derived.scan.size else i + 1
        for e in range(counts.ptr[d], counts.ptr[d + 1]):
            prefetch(state.post, state.post_ptr[counts.word[e]])
