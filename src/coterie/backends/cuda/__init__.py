"""The CUDA backend: blocked and uncollapsed draws on a GPU, with the rules of draws that the CPU has.

`_device` loads the kernels (the `.cu` files here) with CuPy; `_plan` is what can be decided without
a GPU; `_tables` are the counts on the card; `_counted` is what every chain has, `_chain` draws blocks and
`_fast` most documents of large ones, `_promoted` draws which words promote
others, `_uncollapsed` is Algorithm 3 of X-DMM; `_score` weighs documents
against a frozen model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from coterie.backends import cpu
from coterie.backends.base import DEFAULT, Chain, SamplerOptions
from coterie.backends.cuda import _device, _plan
from coterie.counts import Counts
from coterie.errors import Unsupported
from coterie.frozen import Frozen, LeaveOut
from coterie.state import Assignment
from coterie.urns import Urn


class CudaBackend:
    """See `coterie.backends.base.Backend`."""

    name = "cuda"
    default_sampler = "blocked"  # what "auto" means here

    def supports(self, urn: Urn, options: SamplerOptions) -> str | None:
        """None, or why this GPU does not take this urn and these settings."""
        return _plan.refusal(urn, options) or _device.missing()

    def open(
        self, counts: Counts, urn: Urn, assignment: Assignment, options: SamplerOptions = DEFAULT
    ) -> Chain:
        """A chain that samples on from this assignment."""
        if (
            options.sampler == "gibbs" or (assignment.labels < 0).any()
        ):  # a start that places documents
            return cpu.BACKEND.open(counts, urn, assignment, options)
        if options.sampler == "uncollapsed":
            from coterie.backends.cuda._uncollapsed import CudaUncollapsed

            return CudaUncollapsed(counts, urn, assignment, options, _device.get())
        from coterie.backends.cuda._chain import CudaChain

        return CudaChain(counts, urn, assignment, options, _device.get())

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
        """Weigh documents against frozen clusters."""
        missing = _device.missing()
        if missing:
            raise Unsupported(missing)
        from coterie.backends.cuda._score import score

        score(_device.get(), counts, urn, frozen, take, leave_out, at_mean)


BACKEND = CudaBackend()
