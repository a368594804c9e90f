"""Where a sweep runs. `get_backend(name)` returns one; each file here is one backend."""

from coterie.backends.base import Backend, SweepStats, backend_names, get_backend

__all__ = ["Backend", "SweepStats", "backend_names", "get_backend"]
