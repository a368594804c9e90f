"""Weighing documents against frozen clusters on the GPU: what `predict` and all scores come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends.cuda import _plan
from coterie.backends.cuda._tables import Corpus, Prior, launch_size
from coterie.counts import Counts
from coterie.frozen import Frozen, LeaveOut
from coterie.urns import Urn

CHUNK_BYTES = 512 * 2**20  # log weights held at once
NULL = np.uint64(0)


def score(
    device: Any,
    counts: Counts,
    urn: Urn,
    frozen: Frozen,
    take: Callable[[npt.NDArray[np.int64], npt.NDArray[np.float64]], None],
    leave_out: LeaveOut | None = None,
    at_mean: bool = False,
) -> None:
    """See `coterie.backends.base.Backend.score`."""
    xp, n_clusters = device.xp, frozen.size.size
    if not counts.n_docs or not n_clusters:
        return
    width = -(-n_clusters // 16) * 16
    _plan.check_memory(counts, width, counts.vectors.shape[1], device.free_bytes())
    corpus, prior = Corpus(device, counts), Prior(device, counts, urn)
    located = frozen.centre.shape[0] > 0 and counts.vectors.shape[1] > 0 and not at_mean
    tables = _frozen_tables(device, frozen, width)
    cluster = np.full(counts.n_docs, -1) if leave_out is None else leave_out.cluster
    own = xp.asarray(cluster.astype(np.int32))
    flush = np.int32(_plan.flush_every(float(frozen.held.max(initial=0)) * urn.words.unit, urn))
    words = urn.words
    own_norm = (corpus.vectors.astype(np.float64) ** 2).sum(axis=1) if located else tables["norm"]
    step = max(1, CHUNK_BYTES // (8 * width))
    for first in range(0, counts.n_docs, step):
        n = min(step, counts.n_docs - first)
        mine = corpus.vectors[first : first + n]
        dots = mine @ tables["centre"] if located else tables["norm"]
        blocks, threads, shared = launch_size(device, width, n)
        scratch = NULL if shared else xp.empty((blocks, width), np.float64)
        out = xp.empty((n, n_clusters), np.float64)
        args = (
            *corpus.words, prior.beta, prior.inv_beta, np.int32(prior.stride), np.float64(words.beta_sum),
            np.float64(words.unit), np.int32(words.one), np.int32(words.burstiness > 0),
            np.float64(urn.location.kappa if located else 0.0), np.float64(urn.location.rho),
            tables["held"], np.int32(width), tables["size"], tables["total"], tables["prior"],
            tables["norm"], dots, own_norm, own, np.int64(first), np.int64(n), np.int32(at_mean), flush,
            np.int32(n_clusters), scratch, out,
        )  # fmt: skip
        device.launch("score_documents", blocks, threads, args, shared)
        take(np.arange(first, first + n), device.to_host(out))


def _frozen_tables(device: Any, frozen: Frozen, width: int) -> dict[str, Any]:
    """The frozen clusters on the card, as wide as the kernels want them."""
    xp = device.xp
    n_words = frozen.ptr.size - 1
    held = xp.zeros((n_words, width), np.int32)
    word = xp.asarray(np.repeat(np.arange(n_words), np.diff(frozen.ptr)))
    held[word, xp.asarray(frozen.cluster)] = xp.asarray(frozen.held)
    centre = np.zeros((frozen.centre.shape[0], width), np.float32)
    centre[:, : frozen.centre.shape[1]] = frozen.centre

    def wide(values: npt.NDArray[Any], fill: float) -> Any:
        out = np.full(width, fill, values.dtype)
        out[: values.size] = values
        return xp.asarray(out)

    return {
        "held": held,
        "centre": xp.asarray(centre),
        "size": wide(frozen.size, 0),
        "total": wide(frozen.total, 0),
        "prior": wide(frozen.prior, 1.0),
        "norm": wide(frozen.norm, 0.0),
    }
