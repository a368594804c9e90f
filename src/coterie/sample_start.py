"""A start for large corpora: fit a sample, then place the others, each given those placed before.

The first sweeps after a random start are the slowest, because every cluster holds a bit of everything.
On a sample they cost a tenth or less. In: corpus, urn, key and a way to fit the sample. Out: an
assignment of all documents, and what was learned on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _rng
from coterie._arrays import MANY
from coterie.backends.base import DEFAULT, Backend, SamplerOptions
from coterie.counts import Counts, subset
from coterie.state import Assignment, from_labels, no_flags
from coterie.steps import Learned
from coterie.urns import NO_CAP, Urn, changed

START_SWEEP = 0  # the address of what is drawn here
SHARE = 0.1  # of the documents,
FEWEST = 2000  # of them, and at most as many as `Sampling` says
LARGE = MANY  # documents from which init="auto" starts from a sample


class Sampling(NamedTuple):
    """How a sample is fitted."""

    sweeps: int = 12
    most: int = 200_000  # documents


class Started(NamedTuple):
    """Where a run begins."""

    assignment: Assignment
    learned: Mapping[str, Learned] = {}  # by the name of the step
    note: str = ""  # for the trace


Fit = Callable[[Counts, Urn, str, int], Started]  # corpus, urn, start and key


def is_large(counts: Counts) -> bool:
    """Whether a corpus has so many documents that a sample of them is worth fitting first."""
    return counts.n_docs >= LARGE


def sample_start(
    counts: Counts,
    urn: Urn,
    key: int,
    backend: Backend,
    fit: Fit,
    options: SamplerOptions,
    most: int,
) -> Started:
    """Fit a sample with `fit`, then draw every document once, given the sample and those placed before.

    In blocks, these are the documents of earlier blocks.
    `most`: documents in the sample. No word promotes others before the first sweep, as in all starts.
    """
    quiet = changed(urn, promotion=0)
    rows = sample_of(counts.n_docs, key, most)
    share = rows.size / max(counts.n_docs, 1)
    inner = _rng.key_from_seed(key)  # no number is drawn twice
    fitted, learned, _ = fit(subset(counts, rows), thinned(quiet, share), _plain_start(urn), inner)
    labels = np.full(counts.n_docs, -1, np.int32)
    labels[rows] = fitted.numbers[fitted.labels]
    n_open = fitted.open_slots.size
    start = uncounted(counts, quiet, labels, n_open)
    in_blocks = options.sampler == "blocked"
    how = options._replace(listed=0) if in_blocks else DEFAULT  # what is likely is not known yet
    chain = backend.open(counts, quiet, start, how)
    chain.sweep(key, START_SWEEP)
    placed = chain.assignment()
    if urn.relations.promotion:
        placed = from_labels(counts, urn, placed.labels).assignment
    note = f"Start: {rows.size:,} of {counts.n_docs:,} documents, sampled first; the others placed."
    return Started(placed, learned, note)


def sample_of(n_docs: int, key: int, most: int) -> npt.NDArray[np.int64]:
    """The documents of the sample, ascending: a number at each document's own address decides."""
    share = min(max(SHARE * n_docs, FEWEST), most) / max(n_docs, 1)
    u = _rng.uniform(key, START_SWEEP, np.arange(n_docs), _rng.DRAW_SCAN)
    return np.flatnonzero(u < share)


def thinned(urn: Urn, share: float) -> Urn:
    """The urn of a sample: its priors are worth the same share of the counts as in the whole corpus.

    With the full beta, clusters of a tenth of the size would be merged that the corpus keeps apart.
    """
    return changed(
        urn,
        beta=urn.words.beta * share,
        beta_sum=urn.words.beta_sum * share,
        size_prior=urn.sizes.prior * share,
        open_weight=urn.sizes.open_weight * share,
        seed_weight=urn.seeds.weight * share,
    )


def _plain_start(urn: Urn) -> str:
    """How the sample itself starts."""
    if urn.seeds.weight.size:
        return "anchored"
    return "one" if urn.sizes.cap == NO_CAP else "random"


def uncounted(counts: Counts, urn: Urn, labels: npt.NDArray[np.int32], n: int) -> Assignment:
    """An assignment to open a chain with, which counts by itself; labels are 0..n-1, or -1: not placed."""
    used = np.zeros(n + 1, bool)
    for first in range(
        0, labels.size, 2**20
    ):  # the index of all of them would take eight bytes each
        used[labels[first : first + 2**20]] = True
    used[: urn.seeds.weight.size] = True
    used = used[:n]
    none = np.zeros(n, np.int64)
    ids = np.where(used, np.cumsum(used) - 1, -1)
    return Assignment(labels, none, none, no_flags(counts, urn), ids, int(used.sum()))
