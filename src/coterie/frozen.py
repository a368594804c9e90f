"""A finished mixture as arrays: what the scoring kernels read, on any backend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Frozen(NamedTuple):
    """Sizes and word counts in the form the scoring kernel reads: a CSR over words."""

    size: npt.NDArray[np.int64]  # (clusters,) m_k
    prior: npt.NDArray[
        np.float64
    ]  # (clusters,) what is added to it: alpha of the finite urn, a seed's own weight
    total: npt.NDArray[np.int64]  # (clusters,) n_k
    ptr: npt.NDArray[np.int64]  # (words + 1,)
    cluster: npt.NDArray[np.int32]
    held: npt.NDArray[np.int32]  # n_kw > 0
    gain: npt.NDArray[np.float64]  # ln(1 + n_kw / b_w)


class LeaveOut(NamedTuple):
    """Documents that are in the frozen counts: each is left out when it is weighed."""

    cluster: npt.NDArray[np.int64]  # (documents,) the cluster it is counted in, or -1
    flag: npt.NDArray[np.uint8] | None = None  # (entries,) which of its words promote
