"""From an address to a Dask client."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from coterie import _system
from coterie._optional import require
from coterie.backends import threads
from coterie.errors import InvalidInput

LOCAL = "local"
PROCESSES = True  # not threads of this process
PATIENCE = 20.0  # seconds to wait for a scheduler


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The client of a scheduler; "local" starts a worker per core of this machine."""
    distributed = require("distributed", "dask", "--dask")
    if address == LOCAL:
        from dask import config
        from distributed import gc

        workers = dict(n_workers=threads(-1), threads_per_worker=1, processes=PROCESSES)
        with config.set({"distributed.worker.profile.enabled": False}):  # looks 100 times a second
            with _system.deaf_to_interrupts():  # workers go on until the client says otherwise
                cluster = distributed.LocalCluster(**workers, dashboard_address=":0")
            gc.disable_gc_diagnosis(force=True)  # Ctrl-C would be lost in its callback
            with cluster, distributed.Client(cluster) as client:
                try:
                    yield client
                except KeyboardInterrupt:
                    with suppress(Exception):  # whatever state the cluster is in
                        client.run(_hush)
                    raise
        return
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError, ImportError) as error:
        why = " ".join(str(error).split())[:200].rstrip(".")
        raise InvalidInput(
            f"No Dask scheduler answers at {address!r} ({why}). Start one with `dask scheduler`, or use"
            " --dask local for the cores of this machine."
        ) from None
    with client:
        yield client


def _hush() -> None:
    """Silence the warnings of a worker that is about to be shut down."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    logging.getLogger("distributed.worker.state_machine").setLevel(logging.ERROR)
