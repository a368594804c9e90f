"""The CPU backend: numba kernels, a room for each way of sampling."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from coterie.backends._chain import BaseChain
from coterie.backends.base import DEFAULT, SAMPLERS, How
from coterie.counts import Counts
from coterie.state import State
from coterie.urns import Urn

log = logging.getLogger("coterie")


class CpuBackend:
    """See `coterie.backends.base.Backend`."""

    name = "cpu"

    def supports(self, urn: Urn, how: How) -> str | None:
        """None, or why this sampler does not take this urn and these settings."""
        if how.sampler not in SAMPLERS:
            return (
                f"There is no sampler {how.sampler!r}; choose one of {', '.join(SAMPLERS)}, auto."
            )
        if how.steps < 1 or (how.refresh is not None and how.refresh < 1):
            return (
                f"steps and refresh of a sampler must be 1 or more; got {how.steps}, {how.refresh}."
            )
        return _chain_class(how.sampler).refusal(urn, how)

    def open(self, counts: Counts, urn: Urn, state: State, how: How = DEFAULT) -> BaseChain:
        """Take the state over."""
        announce_compilation(how.sampler)
        return _chain_class(how.sampler)(counts, urn, state, how)


BACKEND = CpuBackend()


def _chain_class(sampler: str) -> type[BaseChain]:
    found: type[BaseChain] = getattr(
        import_module(SAMPLERS[sampler].module), SAMPLERS[sampler].chain
    )
    return found


def announce_compilation(sampler: str) -> None:
    """Say so when the kernels must be compiled now: the first fit on a machine waits for it."""
    if not SAMPLERS[sampler].compiles:
        return
    entry: Any = import_module(SAMPLERS[sampler].compiles).sweep
    if getattr(entry, "signatures", True):  # compiled already, or not compiled at all
        return
    cache = getattr(entry, "_cache", None)
    index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
    if index is None or not Path(index).exists():
        log.warning("coterie compiles its kernels, once on this machine: about ten seconds.")
