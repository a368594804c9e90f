"""What a backend must do, and the list of those there are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from coterie.counts import Counts
from coterie.errors import Unsupported
from coterie.frozen import Frozen, LeaveOut
from coterie.state import Assignment
from coterie.urns import Urn

_WHERE = {
    "cpu": "coterie.backends.cpu",
    "cuda": "coterie.backends.cuda",
    "sharded": "coterie.distributed.local",
    "dask": "coterie.distributed.dask_backend",
}


class Sampler(NamedTuple):
    """Where a way of drawing is, on the CPU."""

    module: str
    chain: str  # the class in it
    compiles: str = ""  # the kernel that takes long to compile, if one does


# A new sampler is a line here and a file with its chain.
SAMPLERS = {
    "gibbs": Sampler("coterie.backends._gibbs", "GibbsChain", "coterie.kernels.gibbs"),
    "blocked": Sampler("coterie.backends._blocked", "BlockedChain", "coterie.kernels.blocked"),
    "metropolis": Sampler(
        "coterie.backends._metropolis", "MetropolisChain", "coterie.kernels.metropolis"
    ),
    "uncollapsed": Sampler("coterie.backends._uncollapsed", "UncollapsedChain"),
    "em": Sampler("coterie.backends._em", "EMChain"),
}


class SamplerOptions(NamedTuple):
    """How sweeps are to be made; what follows from data and settings alone is decided before."""

    sampler: str = "gibbs"
    scan: str = "given"  # the order within a sweep, or "random": another one each sweep
    n_jobs: int = 1  # threads; never a reason for other labels
    block_size: int | None = None  # documents drawn against the same counts; None: from the data
    listed: int = 0  # blocked: likely clusters among which a document with a vector chooses; 0: all
    steps: int = 1  # metropolis: proposals per document and sweep
    refresh: int | None = None  # metropolis: sweeps until proposals are made again; None: never
    phi: str = "draw"  # uncollapsed: theta and phi drawn, or their posterior "mean"
    shards: int | None = None  # parts blind to each other within a sweep; None: from the data


DEFAULT = SamplerOptions()


class SweepStats(NamedTuple):
    """What a sweep did: copies of documents moved, and how the draws were made."""

    sampler: str
    moved: int
    refused: int = 0  # proposals of the envelope that were refused
    full_sums: int = 0  # documents for which it refused too often
    touched_draws: int = 0  # documents drawn from touched clusters only
    tree_draws: int = 0  # documents that shared little and were drawn from the sums of all clusters
    full_draws: int = 0  # metropolis: steps that drew from the full conditional
    proposed: int = 0  # metropolis: steps that named another cluster,
    accepted: int = 0  # and those of them that were taken


class Chain(Protocol):
    """Labels being sampled somewhere: what the loop in `sampler.py` sees of a backend."""

    kind: str  # whose `memory` this chain understands, such as "cpu gibbs"

    def sweep(
        self, key: int, sweep: int, should_stop: Callable[[], bool] | None = None
    ) -> SweepStats | None:
        """Draw every document once. `should_stop()` is asked now and then; None if it said yes."""

    def assignment(self) -> Assignment:
        """The assignment as it is now (shared where possible, not copied)."""

    def retune(self, urn: Urn) -> None:
        """Go on with an urn that has other values, and the same words, seeds and relations."""

    def replace(self, assignment: Assignment) -> None:
        """Go on from another assignment of the same documents."""

    def joint_terms(self) -> tuple[float, float]:
        """The sum over n_kw > 0 of ln G(n_kw + b_w) - ln G(b_w), and ln p(words | z) at mean phi.

        The first may be nan where the urn has no joint.
        """

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """What later sweeps need beyond the assignment, to draw what an uninterrupted run draws."""

    def recall(self, memory: dict[str, npt.NDArray[Any]]) -> bool:
        """Take up what a checkpoint kept; False if that cannot be this chain's."""


class Backend(Protocol):
    """A place where sweeps run."""

    name: str

    def supports(self, urn: Urn, options: SamplerOptions) -> str | None:
        """None, or the sentence to show the user."""

    def open(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions = DEFAULT
    ) -> Chain:
        """A chain that samples on from this assignment."""

    def score(
        self,
        counts: Counts,
        urn: Urn,
        frozen: Frozen,
        take: Callable[[npt.NDArray[np.int64], npt.NDArray[np.float64]], None],
        leave_out: LeaveOut | None = None,
        at_mean: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        """Weigh documents against frozen clusters, some at a time: take(documents, log weights).

        The log weights are documents x clusters, relative to an empty cluster. `leave_out` names the
        documents that are in the counts; `at_mean` weighs words by the mean phi instead of the urn.
        """


@runtime_checkable
class Elsewhere(Protocol):
    """A backend whose documents and labels are not here: what a checkpoint asks of it."""

    def identity(self) -> dict[str, str]:
        """What tells these documents from others."""

    def is_possible(self, counts: Counts, urn: Urn, given: Assignment) -> bool:
        """Whether an assignment read from a file, without labels, may be one of this urn."""


def backend_names() -> tuple[str, ...]:
    """All backends this version knows, installed or not."""
    return tuple(_WHERE)


def sampler_names() -> tuple[str, ...]:
    """All ways of drawing that a backend may have."""
    return tuple(SAMPLERS)


def get_backend(name: str = "auto") -> Backend:
    """The backend of this name; "auto" is "cpu": a GPU is used only if asked for."""
    name = "cpu" if name == "auto" else name
    if name not in _WHERE:
        raise Unsupported(f"There is no backend {name!r}; choose one of {', '.join(_WHERE)}.")
    backend: Backend = import_module(_WHERE[name]).BACKEND
    return backend
