"""Merging clusters while the joint rises.

After a chain has settled, some pairs of clusters would be more probable as one: a Gibbs sampler moves
one document at a time, and has to pass through less probable states to join them. `merge` joins the
best pair by the exact change of the log joint, again and again, until no pair is left whose union is
more probable. `tree` goes on until one is left. Promoted urns have no joint, so nothing is merged
there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import gammaln

from coterie.counts import Counts
from coterie.kernels import merging as kernel
from coterie.kernels import summary
from coterie.state import Assignment, State, from_assignment, word_counts
from coterie.steps import Change, Learned, Moment
from coterie.trace import log_rising
from coterie.urns import Urn, has_joint, is_symmetric, potential

MOST = 5000  # clusters; beyond, a table of all pairs is too large

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


class Tree(NamedTuple):
    """All clusters joined pair by pair, the best pair first, until one is left."""

    slots: npt.NDArray[np.int64]  # (leaves,) the clusters it began with
    kept: npt.NDArray[np.int64]  # (leaves - 1,) of each pair the leaf whose number stays,
    gone: npt.NDArray[np.int64]  # and the one that joins it
    gain: Floats  # (leaves - 1,) by how much the log joint changes

    def cut(self, n: int) -> npt.NDArray[np.int64]:
        """The group of each leaf when n groups are left, named by the leaf whose number stays."""
        group = np.arange(self.slots.size)
        for kept, gone in zip(self.kept[: group.size - n], self.gone, strict=False):
            group[group == gone] = kept
        return group

    def labels(self, assignment: Assignment, n: int) -> npt.NDArray[np.int32]:
        """The slots of the documents when n groups are left; those in seeds stay there."""
        slot_of = np.arange(assignment.id.size, dtype=np.int32)
        slot_of[self.slots] = self.slots[self.cut(n)]
        return slot_of[assignment.labels]


def tree(counts: Counts, urn: Urn, assignment: Assignment) -> Tree | None:
    """Join the best pair of clusters again and again; None where that cannot be done."""
    slots = assignment.open_slots[urn.seeds.weight.size :]  # seeds stay as they are
    if not 1 < slots.size <= MOST or not has_joint(urn):
        return None
    pairs = _Pairs(urn, from_assignment(counts, urn, assignment), slots)
    joined = np.array([pairs.join_best() for _ in range(slots.size - 1)])
    kept, gone = joined[:, :2].astype(np.int64).T
    return Tree(slots, kept, gone, joined[:, 2])


def merge(counts: Counts, urn: Urn, assignment: Assignment) -> Assignment | None:
    """Join pairs of clusters while the joint rises; None if no pair is better as one."""
    found = tree(counts, urn, assignment)
    n = 0 if found is None else int(np.append(found.gain <= 0.0, True).argmax())
    if found is None or n == 0:
        return None
    ids = assignment.id.copy()
    ids[found.slots[found.gone[:n]]] = -1
    return assignment._replace(labels=found.labels(assignment, found.slots.size - n), id=ids)


class _Pairs:
    """All pairs of clusters, and what the log joint gains when a pair becomes one."""

    def __init__(self, urn: Urn, state: State, slots: npt.NDArray[np.int64]) -> None:
        self.urn, n = urn, slots.size
        self.size = state.size[slots].astype(np.float64)
        self.total = state.total[slots] * urn.words.unit
        sums = state.sums[slots]
        self.gram = sums @ sums.T if sums.shape[1] else np.zeros((0, 0))  # <S_i, S_j>
        self.own = self._alone()
        self.open = np.ones(n, bool)
        number = np.full(state.size.size, -1, np.int32)
        number[slots] = np.arange(n)
        ptr, cluster, held = _known(*word_counts(state, number))
        self.held = sparse.csr_matrix((held, cluster, ptr), (ptr.size - 1, n))
        self.words = np.split(*_by_cluster(self.held))
        self.group, self.stale = np.arange(n), 0
        beta = urn.words.beta
        table = np.zeros((summary.TABLE if is_symmetric(urn) else 0, 2))
        if len(table):
            summary.fill_table(float(beta[0]), urn.words.unit, table)
        self.table = table[:, 0].copy()
        self.gain = np.zeros((n, n))
        kernel.all_pairs(*self._csr, beta, urn.words.unit, self.table, self.gain)
        for i in range(n):
            self.gain[i, i + 1 :] += self._rest(i, np.arange(i + 1, n))
            self.gain[i, : i + 1] = -np.inf
        self.best = self.gain.argmax(axis=1)  # of each row: the cluster that it gains most with,
        self.most = self.gain[np.arange(n), self.best]  # and how much
        self.scratch = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.mark = np.zeros(urn.words.beta.size, bool)

    def join_best(self) -> tuple[int, int, float]:
        """Join the pair that gains most, or loses least; returns it, and what was gained."""
        i = int(self.most.argmax())
        j, gained = int(self.best[i]), float(self.most[i])
        self.open[j] = False
        others = np.flatnonzero(self.open)
        others = others[others != i]
        shared = self._shared(i, j, others)
        self.group[self.group == j] = i
        self.words[i] = self._union(self.words[i], self.words[j])
        for values in (self.size, self.total, self.gram):
            if values.size:
                values[i] += values[j]
        if self.gram.size:
            self.gram[:, i] += self.gram[:, j]
        self.own[i] = self._alone(slice(i, i + 1))[0]
        self.gain[j, :] = self.gain[:, j] = self.most[j] = -np.inf
        value = shared + self._rest(i, others)
        self.gain[np.minimum(i, others), np.maximum(i, others)] = value
        moved = np.append(others[(self.best[others] == i) | (self.best[others] == j)], i)
        self.best[moved] = self.gain[moved].argmax(axis=1)
        self.most[moved] = self.gain[moved, self.best[moved]]
        better = others[(others < i) & (self.gain[others, i] > self.most[others])]
        self.best[better], self.most[better] = i, self.gain[better, i]
        self._gather()
        return i, j, gained

    @property
    def _csr(self) -> tuple[Any, ...]:
        return self.held.indptr.astype(np.int64), self.held.indices, self.held.data

    def _shared(self, i: int, j: int, others: npt.NDArray[np.int64]) -> Floats:
        """What the words that i and j together share with each other cluster are worth.

        It is known for each of the two; only the words of the one that has fewer of them add to it.
        """
        if self.words[i].size < self.words[j].size:
            i, j = j, i
        known = self.gain[np.minimum(i, others), np.maximum(i, others)] - self._rest(i, others)
        row, words = np.zeros(self.size.size), self.urn.words
        group = (self.words[j], self.group, i, j)
        kernel.one_row(*self._csr, *group, words.beta, words.unit, self.table, *self.scratch, row)
        return np.asarray(known + row[others])

    def _union(self, one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        self.mark[one] = self.mark[other] = True
        both = np.flatnonzero(self.mark).astype(np.int32)
        self.mark[both] = False
        return both

    def _gather(self) -> None:
        """Now and then, add up the counts of clusters that were joined."""
        self.stale += 1
        if 2 * self.stale < self.open.sum():
            return
        self.stale = 0
        n = self.size.size
        joined = sparse.csr_matrix((np.ones(n, np.int32), (np.arange(n), self.group)), (n, n))
        self.held = (self.held @ joined).tocsr()
        self.group = np.arange(n)

    def _rest(self, i: int, others: npt.NDArray[np.int64]) -> Floats:
        """The part of the gain that comes from totals, sizes and vectors."""
        norm = None
        if self.gram.size:
            norm = self.gram[i, i] + self.gram.diagonal()[others] + 2.0 * self.gram[i, others]
        both = self._worth(
            self.size[i] + self.size[others], self.total[i] + self.total[others], norm
        )
        return np.asarray(both - self.own[i] - self.own[others])

    def _alone(self, which: slice = slice(None)) -> Floats:
        """What totals, sizes and vectors of these clusters are worth, each on its own."""
        norm = self.gram.diagonal()[which] if self.gram.size else None
        return self._worth(self.size[which], self.total[which], norm)

    def _worth(self, size: Floats, total: Any, norm: Floats | None) -> Floats:
        urn = self.urn
        worth = -log_rising(urn.words.beta_sum, total)
        if urn.sizes.prior > 0.0:
            worth += log_rising(urn.sizes.prior, size)
        else:
            worth += np.log(urn.sizes.open_weight) + gammaln(size)
        return worth if norm is None else worth + potential(urn, norm)


def _by_cluster(held: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The words of all clusters, cluster by cluster, and where each but the first begins."""
    turned = held.tocsc()
    return turned.indices, turned.indptr[1:-1]


def _known(
    ptr: npt.NDArray[np.int64], cluster: npt.NDArray[np.int32], held: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Word counts without those of clusters that have no number: the seeds."""
    known = cluster >= 0
    before = np.append(0, np.cumsum(known))
    return before[ptr], cluster[known], held[known]
