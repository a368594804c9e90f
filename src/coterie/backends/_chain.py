"""What every chain on the CPU has: corpus, urn, state, and the sums that the trace asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.backends.base import DEFAULT, How, SweepStats
from coterie.counts import Counts
from coterie.kernels import summary
from coterie.state import State
from coterie.urns import Urn


class BaseChain:
    """A state being sampled; a sampler adds `sweep`. See `coterie.backends.base.Chain`."""

    def __init__(self, counts: Counts, urn: Urn, state: State, how: How = DEFAULT) -> None:
        self.counts, self.urn, self.state, self.how = counts, urn, state, how
        self.is_symmetric = urn.beta.size > 0 and bool((urn.beta == urn.beta[0]).all())
        self.table = np.zeros((summary.TABLE if self.is_symmetric else 0, 2))
        if self.is_symmetric:
            summary.fill_table(float(urn.beta[0]), urn.unit, self.table)

    @staticmethod
    def refusal(urn: Urn, how: How) -> str | None:
        """Why this sampler cannot take this urn, in a sentence; None if it can."""
        return None

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once; None if `should_stop` said yes on the way."""
        raise NotImplementedError

    def joint_terms(self) -> tuple[float, float]:
        """Sums over all word counts, for the trace."""
        urn, state = self.urn, self.state
        joint, given = (np.nan, np.nan) if urn.promotion else self._word_terms()
        if urn.promotion or urn.seed_weight.size:
            return joint, float(summary.words_given_labels(self.counts, urn, state))
        total = state.total[state.total > 0] * urn.unit
        return joint, given - float(total @ np.log(total + urn.beta_sum))

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
        """What later sweeps need beyond the state: nothing, for most ways of sampling."""
        return {}

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if that cannot be this chain's."""
        return not memory
