"""From the counts of clusters to the state that kernels read: every cluster as if it were one document."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.counts import Counts
from coterie.kernels import layout
from coterie.state import State, from_labels
from coterie.urns import Urn


def as_documents(held: Any) -> tuple[Counts, Any]:
    """Clusters that hold words, a document each, and their numbers; `held` is clusters x words."""
    held = held.tocsr()
    if held.nnz and held.data.min() == 0:
        held = held.copy()
        held.eliminate_zeros()
    full = np.flatnonzero(np.diff(held.indptr)).astype(np.int32)
    ends = np.append(held.indptr[full], held.indptr[-1]).astype(np.int64)
    length = np.asarray(held.sum(axis=1)).ravel()[full].astype(np.int64)
    made = Counts(
        ends, held.indices.astype(np.int32, copy=False), held.data.astype(np.int32), length,
        np.ones(full.size, np.int64), held.shape[1],
    )  # fmt: skip
    return made, full


def laid_out(urn: Urn, held: Any, documents: Counts) -> State:
    """A state with these counts and the urn's own seeds, with room for documents to move in.

    Sizes, labels and vectors are left to the caller.
    """
    once, slots = as_documents(held)
    frequency = np.zeros(documents.n_words, np.int64)
    layout.document_frequency(documents, frequency)
    return from_labels(once, urn, slots, compact=False, spare=frequency)
