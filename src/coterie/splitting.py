"""Splitting and merging clusters as valid steps of the chain, between sweeps.

A Gibbs sweep moves one document at a time. Where two subjects sit in one cluster, dividing it would pass
through many less probable states. `SplitMerge` proposes whole divisions and unions, and accepts them with
the probability that keeps the posterior (Jain and Neal 2004).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._arrays import squares
from coterie.counts import NO_VECTORS, Counts
from coterie.kernels import splitting as kernel
from coterie.state import Assignment, from_assignment
from coterie.steps import Change, Learned, Moment
from coterie.urns import NO_CAP, Urn, has_joint, is_located, is_symmetric

SHARE, FEWEST = 20, 20  # proposals per sweep: one for so many short documents, and at least so many
SHORT = 10  # distinct words; longer documents are proposed less often, for the same time
SCANS = 3
VISITS = (
    10_000_000,
    4,
)  # documents drawn after a sweep: at most so many, or so many times all of them
LOGS = 2**14  # counts whose logarithm is looked up
LOOKS = 500  # documents whose label is looked up in the time in which one is drawn


class Work(NamedTuple):
    """Scratch of the kernel."""

    members: npt.NDArray[np.int64]
    side: npt.NDArray[np.int8]
    words: npt.NDArray[np.int64]  # (words, 2) all 0 between proposals
    total: npt.NDArray[np.int64]  # (2,)
    mass: npt.NDArray[np.int64]  # (2,)
    logs: npt.NDArray[np.float64]  # ln(n + beta), if beta is the same for all words
    sums: npt.NDArray[np.float64]  # (2, dimensions)
    square: npt.NDArray[np.float64]  # (2,) |S|^2 of these sums
    without: npt.NDArray[np.float64]  # (2,) the same without the document that is drawn
    within: npt.NDArray[np.float64]  # (2,) and with it
    parts: npt.NDArray[np.float64]  # (dimensions / 4,)
    square_of: npt.NDArray[np.float64]  # (documents,) |e|^2
    seen: npt.NDArray[np.int8]  # (words,) all -1 between proposals
    visits: npt.NDArray[np.int64]  # (1,) documents drawn so far


class SplitMerge:
    """A step that proposes splits and merges, after every sweep or after these."""

    learns = False

    def __init__(
        self,
        sweeps: tuple[int, ...] | None = None,
        proposals: int | None = None,
        scans: int = SCANS,
    ) -> None:
        self.sweeps, self.proposals, self.scans = sweeps, proposals, scans
        when = "every sweep" if sweeps is None else f"sweeps {sweeps}"
        self.name = f"split and merge after {when}, {proposals or 'auto'} proposals, {scans} scans"

    def __call__(self, moment: Moment) -> Change | None:
        """The assignment after the proposals, if any was accepted."""
        due = self.sweeps is None or moment.sweep in self.sweeps
        if not due or not can_propose(moment.urn):
            return None
        n = self.proposals or n_proposals(moment.counts)
        given = (moment.key, moment.sweep, n, self.scans)
        found = split_merge(moment.counts, moment.urn, moment.assignment, *given)
        return None if found is None else Change(assignment=found)

    def restore(self, urn: Urn, learned: Learned) -> Urn:
        """Nothing is learned."""
        return urn


def n_proposals(counts: Counts) -> int:
    """Proposals after a sweep, from the data alone."""
    words = max(SHORT, counts.word.size / max(counts.n_docs, 1))
    return max(FEWEST, round(counts.n_docs / SHARE * SHORT / words))


def can_propose(urn: Urn) -> bool:
    """Whether there is a joint to propose from; with Eq. 3 it is another one."""
    return has_joint(urn) and urn.words.burstiness == 1.0


def split_merge(
    counts: Counts, urn: Urn, now: Assignment, key: int, sweep: int, proposals: int, scans: int
) -> Assignment | None:
    """Make so many proposals, or fewer if they take too long; None if all were refused."""
    most = counts.n_docs + urn.seeds.weight.size
    room = most if urn.sizes.cap == NO_CAP else min(most, urn.sizes.cap)
    width = max(now.id.size, room)
    z = now.labels.copy()
    docs_in = np.bincount(z, minlength=width)
    work = _work(counts, urn)
    n_open, accepted = int(now.open_slots.size), 0
    allowed = max(VISITS[0], VISITS[1] * counts.n_docs)
    for number in range(proposals):
        if work.visits[0] + number * (counts.n_docs // LOOKS) > allowed:
            break
        change = kernel.propose(
            counts, urn, np.uint64(key), sweep, number, scans, z, docs_in, n_open, work
        )
        n_open += change
        accepted += abs(change)
    return _renamed(counts, urn, now, z, width) if accepted else None


def _renamed(
    counts: Counts, urn: Urn, now: Assignment, z: npt.NDArray[np.int32], width: int
) -> Assignment:
    """The assignment with these slots; clusters that opened get new ids."""
    ids = np.full(width, -1, np.int64)
    ids[: now.id.size] = now.id
    held = np.zeros(width, bool)
    held[z] = True
    held[: urn.seeds.weight.size] = True
    ids[~held] = -1
    fresh = np.flatnonzero(held & (ids < 0))
    ids[fresh] = now.next_id + np.arange(fresh.size)
    last = int(np.flatnonzero(held)[-1]) + 1
    found = now._replace(labels=z, id=ids[:last], next_id=now.next_id + fresh.size)
    return from_assignment(counts, urn, found).assignment


def _work(counts: Counts, urn: Urn) -> Work:
    located = is_located(counts, urn)
    vectors = counts.vectors if located else NO_VECTORS
    logs = np.zeros(LOGS if is_symmetric(urn) else 0)
    if logs.size:
        kernel.fill_logs(float(urn.words.beta[0]), logs)
    return Work(
        members=np.empty(counts.n_docs, np.int64),
        side=np.zeros(counts.n_docs, np.int8),
        words=np.zeros((counts.n_words, 2), np.int64),
        total=np.zeros(2, np.int64),
        mass=np.zeros(2, np.int64),
        logs=logs,
        sums=np.zeros((2, vectors.shape[1])),
        square=np.zeros(2),
        without=np.zeros(2),
        within=np.zeros(2),
        parts=np.zeros(vectors.shape[1] // 4),
        square_of=squares(vectors),
        seen=np.full(counts.n_words, -1, np.int8),
        visits=np.zeros(1, np.int64),
    )
