"""The CPU backend: numba kernels, a room for each way of sampling."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy.typing as npt

from coterie.backends._gibbs import Handle
from coterie.backends._uncollapsed import refusal
from coterie.backends.base import DEFAULT, How, SweepStats
from coterie.counts import Counts
from coterie.state import State
from coterie.urns import Urn

_WHERE = {
    "gibbs": ("coterie.backends._gibbs", "Handle"),
    "blocked": ("coterie.backends._blocked", "BlockedHandle"),
    "metropolis": ("coterie.backends._metropolis", "MetropolisHandle"),
    "uncollapsed": ("coterie.backends._uncollapsed", "UncollapsedHandle"),
    "em": ("coterie.backends._em", "EMHandle"),
}

log = logging.getLogger("coterie")


class CpuBackend:
    """See `coterie.backends.base.Backend`."""

    name = "cpu"

    def supports(self, urn: Urn, how: How) -> str | None:
        """Gibbs, blocked and Metropolis draws take every urn."""
        if how.sampler not in _WHERE:
            return f"There is no sampler {how.sampler!r}; choose one of {', '.join(_WHERE)}, auto."
        if how.steps < 1 or (how.refresh is not None and how.refresh < 1):
            return (
                f"steps and refresh of a sampler must be 1 or more; got {how.steps}, {how.refresh}."
            )
        if how.sampler in ("uncollapsed", "em"):
            return refusal(urn, how)
        return None

    def open(self, counts: Counts, urn: Urn, state: State, how: How = DEFAULT) -> Handle:
        """Take the state over."""
        announce_compilation(how.sampler)
        room, name = _WHERE[how.sampler]
        made: Handle = getattr(import_module(room), name)(counts, urn, state, how)
        return made

    def sweep(
        self, handle: Handle, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once."""
        return handle.sweep(key, sweep, should_stop)

    def joint_terms(self, handle: Handle) -> tuple[float, float]:
        """Sums over all word counts, for the trace."""
        return handle.joint_terms()

    def fetch(self, handle: Handle) -> State:
        """The state as it is now."""
        return handle.state

    def memory(self, handle: Handle) -> dict[str, npt.NDArray[Any]]:
        """What later sweeps need beyond the state."""
        return handle.memory()

    def recall(self, handle: Handle, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if that cannot be this handle's."""
        return handle.recall(memory)


BACKEND = CpuBackend()


_SLOW = {
    "gibbs": "coterie.kernels.gibbs",
    "blocked": "coterie.kernels.blocked",
    "metropolis": "coterie.kernels.metropolis",
}


def announce_compilation(sampler: str) -> None:
    """Say so when the kernels must be compiled now: the first fit on a machine waits for it."""
    if sampler not in _SLOW:
        return
    entry = import_module(_SLOW[sampler]).sweep
    if getattr(entry, "signatures", True):  # compiled already, or not compiled at all
        return
    cache = getattr(entry, "_cache", None)
    index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
    if index is None or not Path(index).exists():
        log.warning("coterie compiles its kernels, once on this machine: about ten seconds.")
