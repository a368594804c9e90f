"""Documents and their labels, wherever they are: what fitting and settling ask of them.

`LocalDocuments` are in memory or on disk, and are looked at a shard at a time; `remote.RemoteDocuments`
stay on the workers of a Dask cluster.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from coterie import sampler
from coterie.backends import get_backend
from coterie.counts import NO_VECTORS, Counts
from coterie.distributed.calls import OnDone
from coterie.distributed.layout import Bounds, cut, tally_parts
from coterie.distributed.tallying import Tally
from coterie.sample_start import uncounted
from coterie.urns import Urn

Labels = npt.NDArray[np.int32]


class Documents(Protocol):
    """All documents of a corpus, each with a label. Labels are replaced, never written to."""

    labels: Any
    probability: Any  # of the most probable cluster of each, as `place` found it
    on_done: OnDone | None  # told how many shards `place` has done, and how many there are

    def place(self, model: Any, slots: Labels) -> None:
        """Put every document into the slot of its most probable cluster."""

    def counted(self, n: int, located: bool) -> Tally:
        """What all documents add up to, with their labels as they are."""

    def agreement(self, before: Any) -> float:
        """The share of documents whose labels are what they were."""

    def n_in(self, n: int) -> npt.NDArray[np.int64]:
        """How many documents have each of n labels."""

    def keep(self, before: Any, clusters: npt.NDArray[np.int64]) -> None:
        """Give documents that were in these clusters their labels back."""

    def renumber(self, every: Labels) -> None:
        """Give all labels other numbers."""

    def sweep(self, urn: Urn, plan: sampler.Plan, n: int) -> sampler.Run:
        """Sample on from the labels, which are 0..n-1."""


class LocalDocuments:
    """See `Documents`; the corpus may lie on disk."""

    def __init__(
        self,
        counts: Counts,
        bounds: Bounds,
        n_jobs: int | None,
        with_probability: bool = True,
        precision: type = np.float32,
    ) -> None:
        self.counts, self.bounds, self.n_jobs = counts, bounds, n_jobs
        self.with_probability = with_probability
        self.on_done: OnDone | None = None
        self.labels: Labels = np.zeros(0, np.int32)
        self.probability: npt.NDArray[Any] = np.zeros(0, precision)

    def place(self, model: Any, slots: Labels) -> None:
        """Put every document into the slot of its most probable cluster."""
        self.labels = np.empty(self.counts.n_docs, np.int32)
        if self.with_probability:
            self.probability = np.empty(self.counts.n_docs, self.probability.dtype)
        for done, (first, end) in enumerate(self.bounds, 1):
            part = cut(self.counts, first, end)
            if self.with_probability:
                best, self.probability[first:end] = model.best(part, n_jobs=self.n_jobs)
            else:
                best = model.predict(part, n_jobs=self.n_jobs)
            self.labels[first:end] = slots[best]
            if self.on_done is not None:
                self.on_done(done, len(self.bounds))

    def counted(self, n: int, located: bool) -> Tally:
        """What all documents add up to, with their labels as they are."""
        counts = self.counts
        if not located:
            counts = counts._replace(vectors=NO_VECTORS)
        return tally_parts(counts, self.bounds, self.labels, n)

    def agreement(self, before: Labels) -> float:
        """The share of documents whose labels are what they were."""
        same = sum(
            int(self.counts.weight[a:b][self.labels[a:b] == before[a:b]].sum())
            for a, b in self.bounds
        )
        return same / max(int(self.counts.weight.sum()), 1)

    def n_in(self, n: int) -> npt.NDArray[np.int64]:
        """How many documents have each of n labels."""
        sizes = np.zeros(n, np.int64)
        for a, b in self.bounds:
            found = np.bincount(self.labels[a:b], self.counts.weight[a:b], n)
            sizes += found.astype(np.int64)
        return sizes

    def keep(self, before: Labels, clusters: npt.NDArray[np.int64]) -> None:
        """Give documents that were in these clusters their labels back."""
        kept = self.labels.copy()
        for a, b in self.bounds:
            kept[a:b] = np.where(np.isin(before[a:b], clusters), before[a:b], kept[a:b])
        self.labels = kept

    def renumber(self, every: Labels) -> None:
        """Give all labels other numbers."""
        self.labels = every[self.labels]

    def sweep(self, urn: Urn, plan: sampler.Plan, n: int) -> sampler.Run:
        """Sample on from the labels, which are 0..n-1."""
        start = uncounted(self.counts, urn, self.labels, n)
        run = sampler.run(self.counts, urn, plan._replace(init=start), get_backend("sharded"))
        self.labels = run.assignment.numbers[run.assignment.labels]
        return run
