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
def add_surplus(surplus, width, k, amount):
    """Add an amount to every node above slot k, the top one left out."""
    node, level, n = np.int64(k), np.int64(0), np.int64(width)
    while n > FAN:
        node //= FAN
        surplus[level + node] += amount
        n = (n + FAN - 1) // FAN
        level += n


@inlined
def clear_surplus(surplus, width, k):
    """Make every node above slot k zero again."""
    node, level, n = np.int64(k), np.int64(0), np.int64(width)
    while n > FAN:
        node //= FAN
        surplus[level + node] = 0.0
        n = (n + FAN - 1) // FAN
        level += n


@inlined
def slot_in_order(derived, scratch, row, own, own_weight, x):
    """The slot in whose stretch of the cumulated weights x falls; -2 where rounding leaves none.

    A slot weighs its base term times its product; the slot `own` weighs `own_weight`. The nodes'
    surpluses say what that adds to the sums of base terms.
    """
    base, tree, surplus, product = (
        derived.base[row],
        scratch.tree[row],
        scratch.surplus,
        scratch.product,
    )
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
        child, last = node * FAN, np.int64(-2)
        end = min(child + FAN, n)
        while child < end:
            if up > 0:
                value = tree[start + child] + surplus[start + child]
            else:
                value = own_weight if child == own else base[child] * product[child]
            if value > 0.0:
                last = child  # rounding may run past the last one
                if x < value:
                    break
                x -= value
            child += 1
        if last < 0:
            return np.int64(-2)
        node = last
    return node
