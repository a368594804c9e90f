"""Where a sweep runs. `get_backend(name)` returns one; each file here is one backend."""

from coterie.backends._score import threads
from coterie.backends.base import (
    Backend,
    SamplerOptions,
    SweepStats,
    backend_names,
    get_backend,
    sampler_names,
)

__all__ = [
    "Backend",
    "SamplerOptions",
    "SweepStats",
    "backend_names",
    "get_backend",
    "sampler_names",
    "threads",
]
