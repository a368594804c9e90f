"""The CPU backend: numba kernels, a room for each way of sampling."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from coterie.backends._chain import BaseChain
from coterie.backends._score import score
from coterie.backends.base import DEFAULT, SAMPLERS, SamplerOptions
from coterie.counts import Counts
from coterie.state import Assignment, State, from_assignment
from coterie.urns import Urn

log = logging.getLogger("coterie")


class CpuBackend:
    """See `coterie.backends.base.Backend`."""

    name = "cpu"

    def supports(self, urn: Urn, options: SamplerOptions) -> str | None:
        """None, or why this sampler does not take this urn and these settings."""
        if options.sampler not in SAMPLERS:
            return f"There is no sampler {options.sampler!r}; choose one of {', '.join(SAMPLERS)}, auto."
        if options.steps < 1 or (options.refresh is not None and options.refresh < 1):
            found = f"{options.steps}, {options.refresh}"
            return f"steps and refresh of a sampler must be 1 or more; got {found}."
        return _chain_class(options.sampler).refusal(urn, options)

    def open(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions = DEFAULT
    ) -> BaseChain:
        """A chain that samples on from this assignment."""
        return self.chain(counts, urn, from_assignment(counts, urn, assignment), options)

    def chain(
        self, counts: Counts, urn: Urn, state: State, options: SamplerOptions = DEFAULT
    ) -> BaseChain:
        """A chain that samples on from this state."""
        announce_compilation(options.sampler)
        return _chain_class(options.sampler)(counts, urn, state, options)

    score = staticmethod(score)


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
    if index is None or not _can_keep(Path(index).parent):
        log.warning(
            "coterie compiles its kernels, which takes up to half a minute, and cannot keep them: every"
            " process compiles them again. Set the environment variable NUMBA_CACHE_DIR to a folder that"
            " can be written."
        )
    elif not Path(index).exists():
        log.warning("coterie compiles its kernels, once on this machine: up to half a minute.")


def _can_keep(folder: Path) -> bool:
    """Whether files can be written to a folder, which may not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)
