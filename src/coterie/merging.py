"""Merging clusters while the joint rises.

After a chain has settled, some pairs of clusters would be more probable as one: a Gibbs sampler moves
one document at a time, and has to pass through less probable states to join them. `merge` joins the
best pair by the exact change of the log joint, again and again, until no pair is left whose union is
more probable. Promoted urns have no joint, so nothing is merged there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from coterie.counts import Counts
from coterie.kernels import merging as kernel
from coterie.kernels import summary
from coterie.state import Assignment, State, from_assignment, word_counts
from coterie.steps import Change, Learned, Moment
from coterie.trace import log_rising
from coterie.urns import Urn, is_symmetric, potential

MOST = 2000  # clusters; beyond, a table of all pairs is too large

Floats = npt.NDArray[np.float64]


class MergeClusters:
    """A step that merges clusters while the joint rises, after some sweeps."""

    learns = False

    def __init__(self, sweeps: tuple[int, ...]) -> None:
        self.sweeps = sweeps
        self.name = f"merge clusters after sweeps {sweeps}"

    def __call__(self, moment: Moment) -> Change | None:
        """The assignment with fewer clusters, if any pair is better as one."""
        if moment.sweep not in self.sweeps:
            return None
        merged = merge(moment.counts, moment.urn, moment.assignment)
        return None if merged is None else Change(assignment=merged)

    def restore(self, urn: Urn, learned: Learned) -> Urn:
        """Nothing is learned."""
        return urn


def merge(counts: Counts, urn: Urn, assignment: Assignment) -> Assignment | None:
    """Join pairs of clusters while the joint rises; None if no pair is better as one."""
    slots = assignment.open_slots[urn.seeds.weight.size :]  # seeds stay as they are
    if urn.relations.promotion or not 1 < slots.size <= MOST or not _has_joint(urn):
        return None
    pairs = _Pairs(counts, urn, from_assignment(counts, urn, assignment), slots)
    while pairs.join_best():
        pass
    if (pairs.group == np.arange(slots.size)).all():
        return None
    slot_of = np.arange(assignment.id.size, dtype=np.int32)
    slot_of[slots] = slots[pairs.group]
    ids = assignment.id.copy()
    ids[slots[pairs.group != np.arange(slots.size)]] = -1
    return assignment._replace(labels=slot_of[assignment.labels], id=ids)


def _has_joint(urn: Urn) -> bool:
    return urn.sizes.prior > 0.0 or urn.sizes.open_weight > 0.0


class _Pairs:
    """All pairs of clusters, and what the log joint gains when a pair becomes one."""

    def __init__(
        self, counts: Counts, urn: Urn, state: State, slots: npt.NDArray[np.int64]
    ) -> None:
        self.urn, n = urn, slots.size
        self.size = state.size[slots].astype(np.float64)
        self.total = state.total[slots] * urn.words.unit
        self.sums = state.sums[slots]
        self.group = np.arange(n)
        number = np.full(state.size.size, -1, np.int32)
        number[slots] = np.arange(n)
        self.csr: tuple[Any, ...] = _known(*word_counts(state, number))
        beta = urn.words.beta
        table = np.zeros((summary.TABLE if is_symmetric(urn) else 0, 2))
        if len(table):
            summary.fill_table(float(beta[0]), urn.words.unit, table)
        self.table = table[:, 0].copy()
        self.gain = np.zeros((n, n))
        kernel.all_pairs(*self.csr, beta, urn.words.unit, self.table, self.gain)
        for i in range(n - 1):
            self.gain[i, i + 1 :] += self._rest(i, np.arange(i + 1, n))
        self.gain[np.tril_indices(n)] = -np.inf
        self.scratch = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def join_best(self) -> bool:
        """Join the pair that gains most; False if none gains anything."""
        i, j = divmod(int(self.gain.argmax()), self.size.size)
        if not self.gain[i, j] > 0.0:
            return False
        self.group[self.group == j] = i
        self.size[i] += self.size[j]
        self.total[i] += self.total[j]
        self.sums[i] += self.sums[j]
        self.gain[j, :] = self.gain[:, j] = -np.inf
        others = np.unique(self.group)
        others = others[others != i]
        row = np.empty(self.size.size)
        words, unit = self.urn.words, self.urn.words.unit
        kernel.one_row(*self.csr, self.group, i, words.beta, unit, self.table, *self.scratch, row)
        value = row[others] + self._rest(i, others)
        self.gain[np.minimum(i, others), np.maximum(i, others)] = value
        return True

    def _rest(self, i: int, others: npt.NDArray[np.int64]) -> Floats:
        """The part of the gain that comes from totals, sizes and vectors."""
        urn, both = self.urn, self.size[i] + self.size[others]
        beta_sum = urn.words.beta_sum
        gain = -_change(beta_sum, self.total[i], self.total[others])
        if urn.sizes.prior > 0.0:
            gain += _change(urn.sizes.prior, self.size[i], self.size[others])
        else:
            gain += gammaln(both) - gammaln(self.size[i]) - gammaln(self.size[others])
            gain -= np.log(urn.sizes.open_weight)
        if self.sums.shape[1]:
            gain += potential(urn, self.sums[i] + self.sums[others])
            gain -= potential(urn, self.sums[i]) + potential(urn, self.sums[others])
        return np.asarray(gain)


def _known(
    ptr: npt.NDArray[np.int64], cluster: npt.NDArray[np.int32], held: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Word counts without those of clusters that have no number: the seeds."""
    known = cluster >= 0
    before = np.append(0, np.cumsum(known))
    return before[ptr], cluster[known], held[known]


def _change(x: float, one: float, other: Any) -> Floats:
    """ln rising(x, one + other) - ln rising(x, one) - ln rising(x, other)."""
    return log_rising(x, one + other) - log_rising(x, one) - log_rising(x, other)
