"""What every chain on the GPU has: the corpus and its counts on the card, and the ids of the slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends.base import SamplerOptions, SweepStats
from coterie.backends.cuda import _plan
from coterie.backends.cuda._promoted import Promoted
from coterie.backends.cuda._tables import Corpus, Prior, Tables, retuned
from coterie.counts import Counts
from coterie.state import Assignment, no_flags, slots_wide
from coterie.urns import Urn, is_located, potential


class CountedChain:
    """Labels on a GPU with what is counted from them; a sampler adds `sweep`.

    See `coterie.backends.base.Chain`. The host only gives slots to new clusters and renames slots, which
    needs the sizes alone.
    """

    kind = "cuda"

    def __init__(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions, device: Any
    ) -> None:
        self.counts, self.urn, self.options, self.device = counts, urn, options, device
        self._seen: Assignment | None = None
        self.n_dimensions = counts.vectors.shape[1] if is_located(counts, urn) else 0
        width = slots_wide(int(assignment.open_slots.max(initial=-1)) + 1, urn.sizes.cap)
        _plan.check_memory(counts, width, self.n_dimensions, device.free_bytes())
        self.corpus = Corpus(device, counts)
        self.drawn = device.xp.empty(counts.n_docs, np.int32)

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        raise NotImplementedError

    def assignment(self) -> Assignment:
        """The assignment as it is now, on the host."""
        if self._seen is None:
            to_host, tables = self.device.to_host, self.tables
            size = to_host(tables.size)
            self._close(size)
            flags = no_flags(self.counts, self.urn)
            if self.promoted is not None:
                flags = to_host(self.promoted.flag)
            held = (to_host(tables.z), size, to_host(tables.total), flags)
            self._seen = Assignment(*held, self.ids.copy(), self.next_id)
        return self._seen

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values, and the same words and seeds."""
        if is_located(self.counts, urn) != is_located(self.counts, self.urn):
            now = self.assignment()
            self.n_dimensions = self.counts.vectors.shape[1] if is_located(self.counts, urn) else 0
            self.urn = urn
            self._begin(now)
            return
        self.urn = urn
        if self.promoted is not None:
            self.promoted.urn = urn
        retuned(self.tables, urn)
        self._derive()

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment of the same documents."""
        self._begin(assignment)

    def joint_terms(self) -> tuple[float, float]:
        """Sums over all word counts, for the trace."""
        urn, tables = self.urn, self.tables
        joint, given = (np.nan, np.nan) if self.promoted else tables.word_terms(self.prior)
        if self.n_dimensions:
            sums = self.device.to_host(tables.sums)
            joint += float(potential(urn, (sums**2).sum(axis=1)).sum())
        if self.promoted or urn.seeds.weight.size:
            return joint, tables.words_given_labels(self.prior)
        held = self.assignment().total
        total = held[held > 0] * urn.words.unit
        return joint, given - float(total @ np.log(total + urn.words.beta_sum))

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """Nothing beyond the assignment."""
        return {}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if that cannot be this chain's."""
        return not memory

    def _begin(self, assignment: Assignment) -> None:
        """Count everything from an assignment; slots and ids stay as they are."""
        slots = assignment.open_slots
        width = slots_wide(int(slots.max(initial=-1)) + 1, self.urn.sizes.cap)
        self.tables: Any = None  # its memory first
        self.promoted: Promoted | None = None
        self.ids = np.full(width, -1, np.int64)
        self.ids[slots] = assignment.id[slots]
        self.next_id = assignment.next_id
        given = self.device, self.corpus, self.urn
        self.tables = Tables(*given, assignment.labels, width, self.n_dimensions)
        self.tables.take_moved()
        if self.urn.relations.promotion:
            self.promoted = Promoted(*given[:2], self.counts, self.urn, assignment.flag)
            self.promoted.fill(self.tables)
        self._seen = None
        self._derive()

    def _derive(self) -> None:
        """Make what follows from urn and width again."""
        self.prior = Prior(self.device, self.counts, self.urn)

    def _close(self, size: npt.NDArray[np.int64]) -> None:
        """Forget the ids of slots without documents."""
        empty = size == 0
        empty[: self.urn.seeds.weight.size] = False
        self.ids[empty] = -1

    def _widen(self, spare: int) -> None:
        """More slots; the open ones keep their numbers."""
        width = slots_wide(self.tables.width, self.urn.sizes.cap, spare)
        here = _plan.needed_bytes(self.counts, self.tables.width, self.n_dimensions)
        free = self.device.free_bytes() + here
        _plan.check_memory(self.counts, width, self.n_dimensions, free)
        old = np.full(width, -1, np.int32)
        slots = np.flatnonzero(self.ids >= 0)
        old[slots] = slots
        self._resize(old)

    def _resize(self, old: npt.NDArray[np.int32]) -> None:
        used = old >= 0
        ids = np.full(old.size, -1, np.int64)
        ids[used] = self.ids[old[used]]
        self.ids = ids
        self.tables.resize(old)
        if self.promoted is not None:
            self.promoted.resize(old)
        self._derive()
