"""Logarithms of Gamma variates at addresses: what the uncollapsed sampler draws theta and phi from.

Marsaglia and Tsang's method (ACM TOMS 26, 2000), its normals by Box and Muller. A shape below 1 is drawn
one higher: Gamma(a) = Gamma(a + 1) U^(1/a), in logarithms, so that nothing underflows.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._rng import GAMMA_DRAWS
from coterie.kernels._common import address, inlined, kernel, uniform

TRIES = (GAMMA_DRAWS - 1) // 3  # one in twenty is refused at most, so all are once in 10^27 draws


@inlined
def log_gamma(shape, random, first):
    """ln of one Gamma(shape) variate, from the numbers first, first + 1, ... at the address `random`."""
    raised = shape if shape >= 1.0 else shape + 1.0
    d = raised - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    log_v = 0.0
    for i in range(TRIES):
        at = first + 1 + 3 * i
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(random, at)))
        x = radius * math.cos(2.0 * math.pi * uniform(random, at + 1))
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        log_v = math.log(v)
        if math.log(1.0 - uniform(random, at + 2)) < 0.5 * x * x + d * (1.0 - v + log_v):
            break
    value = math.log(d) + log_v
    if shape < 1.0:
        value += math.log(1.0 - uniform(random, first)) / shape
    return value


@kernel
def fill(shape, key, sweep, cluster, first, out):
    """Equivalent to: out[i] = log_gamma(shape[i], address(key, sweep, cluster), first + i GAMMA_DRAWS)."""
    random = address(key, sweep, cluster)
    for i in range(shape.size):
        out[i] = log_gamma(shape[i], random, first + np.int64(i) * GAMMA_DRAWS)
