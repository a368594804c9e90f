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
TABLE = 2**22  # numbers of documents or words whose worth is looked up, at most

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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


def columns(found: Tree, number: npt.NDArray[Any], n_seeds: int) -> dict[str, Any]:
    """The joins of a tree as columns of a table; `number` is that of the cluster in each slot."""
    of = number[found.slots].astype(np.int64)
    left = n_seeds + found.gain.size - np.arange(found.gain.size)
    gone, kept = of[found.gone], of[found.kept]
    return {"cluster": gone, "into": kept, "clusters": left, "gain": found.gain}


def tree(counts: Counts, urn: Urn, assignment: Assignment) -> Tree | None:
    """Join the best pair of clusters again and again; None where that cannot be done."""
    slots = assignment.open_slots[urn.seeds.weight.size :]  # seeds stay as they are
    if not 1 < slots.size <= MOST or not has_joint(urn):
        return None
    pairs = _Pairs(urn, *_clusters(counts, urn, assignment, slots))
    joined = np.array([pairs.join_best() for _ in range(slots.size - 1)])
    kept, gone = joined[:, :2].astype(np.int64).T
    return Tree(slots, kept, gone, joined[:, 2])


def _clusters(
    counts: Counts, urn: Urn, assignment: Assignment, slots: Ints
) -> tuple[Ints, Ints, Floats, _Words]:
    """Sizes, totals, sums of vectors and words of the clusters; the state they come from is let go."""
    state = from_assignment(counts, urn, assignment)
    words = _Words(urn, state, slots)
    return state.size[slots], state.total[slots], state.sums[slots], words


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

    def __init__(self, urn: Urn, size: Ints, total: Ints, sums: Floats, words: _Words) -> None:
        self.urn, self.size, self.total, self.words, n = urn, size, total, words, size.size
        self.worth = _Worth(urn, int(self.size.sum()), int(self.total.sum()), n * n)
        self.gram = sums @ sums.T if sums.shape[1] else np.zeros((0, 0))  # <S_i, S_j>
        self.norm = self.gram.diagonal().copy() if self.gram.size else np.zeros(n)
        self.own = self.worth(self.size, self.total, self.norm)
        self.open = np.ones(n, bool)
        self.gain = self.words.all_pairs()
        for i in range(n):
            self.gain[i, i + 1 :] += self._rest(i, slice(i + 1, n))
            self.gain[i, : i + 1] = -np.inf
        self.best = self.gain.argmax(axis=1)  # of each row: the cluster that it gains most with,
        self.most = self.gain[np.arange(n), self.best]  # and how much
        self.moved = np.zeros(n, np.int64)

    def join_best(self) -> tuple[int, int, float]:
        """Join the pair that gains most, or loses least; returns it, and what was gained."""
        i = int(self.most.argmax())
        j, gained = int(self.best[i]), float(self.most[i])
        self.open[j] = False
        others = np.flatnonzero(self.open)
        others = others[others != i]
        few, many = (i, j) if self.words.size[i] < self.words.size[j] else (j, i)
        row = np.empty(others.size)
        kernel.row_of(self.gain, many, others, row)
        row -= self._rest(many, others)  # what the words are worth that the larger one shares
        row += self.words.join(many, few, as_cluster=i)[others]
        for values in (self.size, self.total):
            values[i] += values[j]
        if self.gram.size:
            self.gram[i] += self.gram[j]
            self.gram[i, i] += self.gram[i, j]
            self.gram[:, i] = self.gram[i]
            self.norm[i] = self.gram[i, i]
        own = slice(i, i + 1)
        self.own[own] = self.worth(self.size[own], self.total[own], self.norm[own])
        row += self._rest(i, others)
        self.most[j] = -np.inf
        found = (row, self.best, self.most, self.moved)
        for k in self.moved[: kernel.replace_row(self.gain, i, j, others, *found)]:
            self.best[k] = self.gain[k].argmax()
            self.most[k] = self.gain[k, self.best[k]]
        return i, j, gained

    def _rest(self, i: int, others: Ints | slice) -> Floats:
        """The part of the gain that comes from totals, sizes and vectors."""
        norm = self.norm[i] + self.norm[others]
        if self.gram.size:
            norm += 2.0 * self.gram[i, others]
        size, total = self.size[i] + self.size[others], self.total[i] + self.total[others]
        return np.asarray(self.worth(size, total, norm) - self.own[i] - self.own[others])


class _Worth:
    """What totals, sizes and vectors of a cluster are worth.

    Totals and sizes are whole numbers: where more is asked than there are of them, it is looked up.
    """

    def __init__(self, urn: Urn, size: int, total: int, asked: int) -> None:
        self.urn, most = urn, min(asked, TABLE)
        self.sizes = self._of_size(np.arange(size + 1)) if size <= most else None
        self.totals = self._of_total(np.arange(total + 1)) if total <= most else None

    def __call__(self, size: Ints, total: Ints, norm: Floats) -> Floats:
        """For clusters of so many documents and words, whose sum of vectors has this square."""
        words = self._of_total(total) if self.totals is None else self.totals[total]
        sizes = self._of_size(size) if self.sizes is None else self.sizes[size]
        return words + sizes + (potential(self.urn, norm) if self.urn.location.kappa else 0.0)

    def _of_size(self, size: Ints) -> Floats:
        sizes = self.urn.sizes
        if sizes.prior > 0.0:
            return log_rising(sizes.prior, size)
        with np.errstate(divide="ignore"):  # no cluster is empty
            return np.asarray(np.log(sizes.open_weight) + gammaln(size))

    def _of_total(self, total: Ints) -> Floats:
        words = self.urn.words
        return -log_rising(words.beta_sum, total * words.unit)


class _Words:
    """The words of all clusters: which clusters hold a word, and how often."""

    def __init__(self, urn: Urn, state: State, slots: npt.NDArray[np.int64]) -> None:
        n = slots.size
        number = np.full(state.size.size, -1, np.int32)
        number[slots] = np.arange(n)
        self.ptr, self.cluster, self.held = _known(*word_counts(state, number))
        self.length = np.diff(self.ptr)
        turned = sparse.csr_matrix(
            (self.held, self.cluster, self.ptr), (self.length.size, n)
        ).tocsc()
        self.first = turned.indptr.astype(np.int64)
        self.size = np.diff(self.first)  # of each cluster, how many words it holds
        self.parts = [[part] for part in np.split(turned.indices, self.first[1:-1])]  # and which
        self.name = np.arange(n)  # of each cluster, under which number it is in the postings
        table = np.zeros((summary.TABLE if is_symmetric(urn) else 0, 2))
        if len(table):
            summary.fill_table(float(urn.words.beta[0]), urn.words.unit, table)
        self.terms = urn.words.beta, urn.words.unit, table[:, 0].copy()
        self.scratch = np.zeros(kernel.CACHED)

    def all_pairs(self) -> Floats:
        """What the words that each pair shares are worth in one cluster, above the diagonal."""
        gain = np.zeros((self.size.size, self.size.size))
        word = np.concatenate([part for (part,) in self.parts])
        held = (self.ptr, self.cluster, self.held, self.first, word)
        kernel.all_pairs(*held, *self.terms, self.ptr.copy(), self.scratch, gain)
        return gain

    def join(self, many: int, few: int, as_cluster: int) -> Floats:
        """Give one cluster the words of another; return what it shares more with each cluster then."""
        words, row = self.parts[few][0], np.zeros(self.size.size)
        if len(self.parts[few]) > 1:
            words = np.unique(np.concatenate(self.parts[few]))
        at, gone = self.name[many], self.name[few]
        held = (self.ptr, self.length, self.cluster, self.held)
        new = kernel.join_words(*held, words, at, gone, *self.terms, self.scratch, row)
        row = row[self.name]
        parts = [*self.parts[many], words]
        self.parts[many] = self.parts[few] = []
        self.parts[as_cluster] = parts
        self.size[as_cluster] = self.size[many] + new
        self.name[as_cluster] = at
        return row


def _known(
    ptr: npt.NDArray[np.int64], cluster: npt.NDArray[np.int32], held: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Word counts without those of clusters that have no number: the seeds."""
    known = cluster >= 0
    if known.all():  # the usual case; copies would be most of the memory here
        return ptr, cluster, held
    before = np.append(0, np.cumsum(known))
    return before[ptr], cluster[known], held[known]
