"""Sums of sums of the clusters' base terms: draws from all clusters without looking at each.

For every kept length a row of `tree` holds the sums of 16 neighbouring base terms, then of 16 such
sums, and so on up to one. It is brought up to date only when it is asked: `changed` lists the slots
whose base terms changed, `n_changed` how many they are and how often the list was begun again, and
`seen` how much of it a row knows. Threads have trees of their own and share the list. A sum is always
taken over its 16 parts in order, so a tree is a function of the base terms, whenever it was made.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import inlined

FAN = 16
SPAN = FAN * FAN
FEW = 1024  # slots up to which the surpluses of all nodes of FAN slots are summed
STALE = -1  # in `seen`: nothing of the row is known


def size_for(width: int) -> int:
    """Numbers in a row of the tree of so many slots."""
    total, n = 0, width
    while n > 1:
        n = (n + FAN - 1) // FAN
        total += n
    return total


@inlined
def note_change(derived, k):
    """The base terms of slot k have changed."""
    n = derived.n_changed[0]
    if n == derived.changed.size:
        derived.n_changed[1] += 1
        n = 0
    derived.changed[n] = k
    derived.n_changed[0] = n + 1


@inlined
def sum_of(values, start, n, node):
    """The sum of the FAN parts of a node: values[start + 16 node ...], of n there."""
    total = 0.0
    first = node * FAN
    for i in range(first, min(first + FAN, n)):
        total += values[start + i]
    return total


@inlined
def update(derived, scratch, row):
    """Bring a row's tree up to date; return the sum of all its base terms."""
    base, tree = derived.base[row], scratch.tree[row]
    n_changed, begun = derived.n_changed[0], derived.n_changed[1] << 32
    known = scratch.seen[row] - begun
    stale = known < 0 or (n_changed - known) * FAN > base.size
    n, below, level = base.size, np.int64(0), np.int64(0)
    depth = np.int64(0)
    while n > 1:
        n_up = (n + FAN - 1) // FAN
        if stale:
            for node in range(n_up):
                if depth == 0:
                    tree[level + node] = sum_of(base, 0, n, node)
                else:
                    tree[level + node] = sum_of(tree, below, n, node)
        else:
            for i in range(known, n_changed):
                node = np.int64(derived.changed[i])
                for _ in range(depth + 1):
                    node //= FAN
                if depth == 0:
                    tree[level + node] = sum_of(base, 0, n, node)
                else:
                    tree[level + node] = sum_of(tree, below, n, node)
        below, level, n = level, level + n_up, n_up
        depth += 1
    scratch.seen[row] = begun + n_changed
    return tree[below]


@inlined
def slot_at(derived, scratch, row, x):
    """The slot in whose stretch of the cumulated base terms x falls."""
    base, tree = derived.base[row], scratch.tree[row]
    depth = np.int64(0)
    n = base.size
    while n > 1:
        n = (n + FAN - 1) // FAN
        depth += 1
    node = np.int64(0)
    for up in range(depth - 1, -1, -1):  # from the children of the top down to the slots
        start, n = np.int64(0), base.size
        for level in range(up):
            start += n if level > 0 else 0
            n = (n + FAN - 1) // FAN
        child, last = node * FAN, np.int64(-1)
        end = min(child + FAN, n)
        while child < end:
            value = base[child] if up == 0 else tree[start + child]
            if value > 0.0:
                last = child  # rounding may run past the last one
                if x < value:
                    break
                x -= value
            child += 1
        if last < 0:
            return np.int64(-1)
        node = last
    return node


@inlined
def slot_in_order(derived, scratch, row, n_touched, own, own_weight, x):
    """The slot in whose stretch of the cumulated weights x falls; -2 where rounding leaves none.

    A slot weighs its base term times its product; the slot `own` weighs `own_weight`. What that adds to
    the base term of slot scratch.touched[i] is in scratch.weight[i], and summed over every SPAN slots in
    scratch.surplus. So stretches of SPAN slots are passed first, then of FAN, then single ones. Up to
    FEW slots, the surpluses are those of FAN slots, and stretches of SPAN are left out.
    """
    base, tree, product = derived.base[row], scratch.tree[row], scratch.product
    n_fans = (base.size + FAN - 1) // FAN
    n_spans = (base.size + SPAN - 1) // SPAN
    first = np.int64(0)  # of the nodes of FAN slots
    if base.size <= FEW:
        fan, x = pass_sums(tree, 0, scratch.surplus, n_fans, x)
    else:
        span, x = pass_sums(tree, n_fans, scratch.surplus, n_spans, x)
        if span < 0:
            return np.int64(-2)
        first = span * FAN
        surplus = scratch.partial
        for i in range(FAN):
            surplus[i] = 0.0
        for i in range(n_touched):
            below = (np.int64(scratch.touched[i]) >> 4) - first
            if 0 <= below < FAN:
                surplus[below] += scratch.weight[i]
        fan, x = pass_sums(tree, first, surplus, min(np.int64(FAN), n_fans - first), x)
    if fan < 0:
        return np.int64(-2)
    last = np.int64(-2)
    for k in range((first + fan) * FAN, min((first + fan + 1) * FAN, base.size)):
        value = own_weight if k == own else base[k] * product[k]
        if value > 0.0:
            last = np.int64(k)  # rounding may run past the last one
            if x < value:
                return last
            x -= value
    return last


@inlined
def pass_sums(tree, start, surplus, n, x):
    """The node, of n from tree[start] on, in whose stretch x falls, and what is left of x there."""
    last, before = np.int64(-1), 0.0
    for i in range(n):
        value = tree[start + i] + surplus[i]
        if value > 0.0:
            last, before = np.int64(i), value  # rounding may run past the last one
            if x < value:
                return last, x
            x -= value
    return last, x + before
