"""What a sweep works with, beside the corpus, the urn and the state: three types, by who may write them.

    Fixed    follows from corpus and urn; written once, before the first sweep
    Derived  follows from the state; written between draws, by whoever moves documents
    Scratch  what a draw writes: every thread has its own

Threads that draw at the same time get the state and `Derived` as arrays that cannot be written
(`read_only`), so that a kernel which writes what others read does not compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from coterie.kernels._promote import RelatedPairs, Start

MOVED, REFUSED, FULL_SUMS, TOUCHED_DRAWS, TREE_DRAWS = range(5)  # places in Scratch.stats

Tuple = TypeVar("Tuple", bound=tuple[Any, ...])


class Fixed(NamedTuple):
    """What follows from corpus and urn alone."""

    beta_stride: (
        int  # 1 if words differ in beta; 0: every word finds the first, which stays in cache
    )
    inv_beta: npt.NDArray[np.float64]  # unit / b_w
    word_nats: npt.NDArray[np.float64]  # the most one occurrence of w can add, in nats
    is_long: npt.NDArray[np.bool_]  # documents that need scaled products
    seed_ends: npt.NDArray[np.float64]  # cumulated seed weights
    cum_weight: npt.NDArray[np.int64]  # cumulated document weights, to pick one at random
    pairs: RelatedPairs  # words of one document that promote each other; promoted urn only
    norm: npt.NDArray[np.float64]  # (documents,) |e|^2; only where vectors count


class Derived(NamedTuple):
    """What follows from the state, and the order of the present sweep."""

    base_row: npt.NDArray[np.int32]  # length -> row of `base`, or -1
    base: npt.NDArray[np.float64]  # (m_k + prior_k) * base_k(L), 0 for closed slots
    changed: npt.NDArray[np.int32]  # slots whose base terms changed, see _tree.py
    n_changed: npt.NDArray[np.int64]  # (2,) how many are listed; how often the list was begun again
    log_weight: npt.NDArray[np.float64]  # ln(m_k + prior_k)      kept only if a document is long
    log_total: npt.NDArray[np.float64]  # ln(n_k + Vb)           likewise
    scan: npt.NDArray[np.int64]  # the order of this sweep; empty: as they come
    promoted_by: npt.NDArray[
        np.int64
    ]  # per document, all that its words promote; promoted urn only
    start: Start  # the counts that the sweep began with; promoted urn only
    centre: npt.NDArray[np.float32]  # (dimensions, width) sums of vectors; only where they count
    norm: npt.NDArray[np.float64]  # (width,) |S_k|^2                      likewise
    root: npt.NDArray[np.float64]  # (width,) sqrt(rho^2 + |S_k|^2)        likewise
    sums: npt.NDArray[np.float32]  # (width, dimensions) as `centre`; only where lists are kept


class Scratch(NamedTuple):
    """What one thread writes as it draws."""

    tree: npt.NDArray[np.float64]  # sums of Derived.base, brought up to date when asked
    seen: npt.NDArray[np.int64]  # how much of Derived.changed a row of the tree knows
    surplus: npt.NDArray[np.float64]  # per FAN or SPAN slots, see _tree.py; blocked only
    product: npt.NDArray[np.float64]  # per slot, all ones between documents
    scale: npt.NDArray[np.float64]  # per slot, how often BIG was divided out
    extra: npt.NDArray[np.float64]  # per slot, nats from large counts
    weight: npt.NDArray[np.float64]  # per slot or per touched cluster
    partial: npt.NDArray[np.float64]  # per block of slots
    touched: npt.NDArray[np.int32]
    place: npt.NDArray[np.int64]  # where the own posting of each word of the document is
    row: npt.NDArray[np.int32]  # rows to multiply in
    rate: npt.NDArray[np.float64]  # and their unit / (b_w + j)
    given: npt.NDArray[np.int64]  # per place in the document, what its other words gave the word
    piece: npt.NDArray[np.int64]  # which products are in `dot`, see _location.py
    vector: npt.NDArray[np.float32]  # per document of a piece, its vector; only where vectors count
    dot: npt.NDArray[np.float32]  # likewise, and per slot: <e, S_k>
    nats: npt.NDArray[np.float64]  # per slot, what vectors add     likewise
    stats: npt.NDArray[np.int64]  # see MOVED and those after it


def read_only(parts: Tuple) -> Tuple:
    """The same arrays under a type that no kernel can write to."""
    made: list[Any] = []
    for part in parts:
        if isinstance(part, tuple):
            part = read_only(part)
        elif isinstance(part, np.ndarray):
            part = part.view()
            part.flags.writeable = False
        made.append(part)
    return type(parts)(*made)
