"""Where the threads of one kernel meet: counters that several of them may change at once.

A `gate` is an array of int64. Threads take numbered pieces of work from one of its counters, and meet
when all have come. Who waits looks again and again, and after a while lets others run in between, so
that more threads than cores get on, too.
"""

from __future__ import annotations

import sys
import threading
import time

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from coterie.kernels._common import inlined

SIZE = 128  # of a gate; the counters lie in cache lines of their own
TAKEN, ARRIVED, LEFT, SAID, DONE = 16, 32, 48, 64, 80
PATIENCE = 2000  # looks before a waiting thread lets others run
_YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"


def _place(context, builder, signature, arguments):
    view = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(view.data, [arguments[1]])


def _add(typing_context, gate, index, amount):
    """gate[index] += amount at once; what it was before."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(gate, types.int64, types.int64), generate


def _look(typing_context, gate, index):
    """gate[index] as other threads left it, and all they wrote before."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(gate, types.int64), generate


def _give_way(typing_context):
    """Let another thread run."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(32), [])
        function = builder.module.globals.get(_YIELD) or ir.Function(builder.module, kind, _YIELD)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate


if numba.config.DISABLE_JIT:
    _LOCK = threading.Lock()

    def add(gate, index, amount):
        """See `_add`."""
        with _LOCK:
            before = gate[index]
            gate[index] += amount
            return before

    def look(gate, index):
        """See `_look`."""
        return gate[index]

    def give_way():
        """See `_give_way`."""
        time.sleep(0)
else:
    add, look, give_way = intrinsic(_add), intrinsic(_look), intrinsic(_give_way)


@inlined
def take(gate):
    """The number of the next piece of work."""
    return add(gate, np.int64(TAKEN), np.int64(1))


@inlined
def wait_for_all(gate, parts):
    """Wait until all have come here as often as this thread; False if one has left for good."""
    meeting = add(gate, np.int64(ARRIVED), np.int64(1)) // parts
    looks = np.int64(0)
    while look(gate, np.int64(ARRIVED)) < (meeting + 1) * parts:
        if look(gate, np.int64(LEFT)) > 0:
            return False
        looks += 1
        if looks > PATIENCE:
            give_way()
    return True
