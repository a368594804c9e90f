"""What every chain on the CPU has: corpus, urn, state, and the sums that the trace needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends.base import DEFAULT, SamplerOptions, SweepStats
from coterie.counts import Counts
from coterie.kernels import summary
from coterie.state import Assignment, State, from_assignment
from coterie.urns import Urn, is_symmetric, potential


class BaseChain:
    """A state being sampled; a sampler adds `sweep`. See `coterie.backends.base.Chain`."""

    def __init__(
        self, counts: Counts, urn: Urn, state: State, options: SamplerOptions = DEFAULT
    ) -> None:
        self.counts, self.state, self.options = counts, state, options
        self.kind = f"cpu {options.sampler}"
        self._set_urn(urn)

    def _set_urn(self, urn: Urn) -> None:
        self.urn = urn
        self.is_symmetric = is_symmetric(urn)
        self.table = np.zeros((summary.TABLE if self.is_symmetric else 0, 2))
        if self.is_symmetric:
            summary.fill_table(float(urn.words.beta[0]), urn.words.unit, self.table)

    @staticmethod
    def refusal(urn: Urn, options: SamplerOptions) -> str | None:
        """Why this sampler cannot take this urn, in a sentence; None if it can."""
        return None

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        raise NotImplementedError

    def assignment(self) -> Assignment:
        """The assignment as it is now (shared, not copied)."""
        return self.state.assignment

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values, and the same words, seeds and relations."""
        self._set_urn(urn)

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment of the same documents."""
        self.state = from_assignment(self.counts, self.urn, assignment)

    def joint_terms(self) -> tuple[float, float]:
        """Sums over all word counts, for the trace."""
        urn, state = self.urn, self.state
        joint, given = (np.nan, np.nan) if urn.relations.promotion else self._word_terms()
        if state.sums.shape[1]:
            joint += float(potential(urn, (state.sums**2).sum(axis=1)).sum())
        if urn.relations.promotion or urn.seeds.weight.size:
            return joint, float(summary.words_given_labels(self.counts, urn, state))
        total = state.total[state.total > 0] * urn.words.unit
        return joint, given - float(total @ np.log(total + urn.words.beta_sum))

    def _word_terms(self) -> tuple[float, float]:
        out = np.zeros((-(-self.counts.n_words // summary.CHUNK), 2))
        self._share(
            lambda part, parts: summary.word_terms(
                self.urn, self.state, self.table, part, parts, out
            )
        )
        return float(out[:, 0].sum()), float(out[:, 1].sum())

    def _share(self, task: Callable[[int, int], Any]) -> None:
        """Do all parts of a task: task(part, parts)."""
        task(0, 1)

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """What later sweeps need beyond the assignment."""
        return {}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if that cannot be this chain's."""
        return not memory
