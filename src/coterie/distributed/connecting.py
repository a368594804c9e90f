"""From the address that a command was given to a Dask client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from coterie import _system
from coterie._optional import require
from coterie.backends import threads
from coterie.errors import InvalidInput

LOCAL = "local"
PROCESSES = True  # not threads of this process
SILENT = logging.CRITICAL
PATIENCE = 20.0  # seconds to wait for a scheduler


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The client of a scheduler; "local" starts a worker per core of this machine."""
    distributed = require("distributed", "dask", "--dask")
    if address == LOCAL:
        from dask import config
        from distributed import gc

        workers = dict(n_workers=threads(-1), threads_per_worker=1, processes=PROCESSES)
        workers["silence_logs"] = SILENT
        profile = {"distributed.worker.profile.enabled": False}  # looks 100 times a second
        with _quiet(), config.set(profile):
            with _system.deaf_to_interrupts():  # workers go on until the client says otherwise
                cluster = distributed.LocalCluster(**workers, dashboard_address=":0")
            gc.disable_gc_diagnosis(force=True)  # Ctrl-C would be lost in its callback
            with cluster, distributed.Client(cluster) as client:
                yield client
        return
    with _quiet(), _client_of(address) as client:
        yield client


def _client_of(address: str) -> Any:
    """The client of a scheduler; refuses anything else, within a bounded time.

    The timeout of a client does not cover the first words, so it would wait for ever for a web server.
    """
    from distributed import Client

    try:
        found = asyncio.run(asyncio.wait_for(_kind(address), PATIENCE))
        if found not in ("Worker", "Nanny"):
            return Client(address, timeout=PATIENCE)
    except ValueError:
        raise InvalidInput(
            f"{address!r} is not the address of a Dask scheduler: that looks like tcp://host:8786. Use"
            f" --dask {LOCAL} for the cores of this machine."
        ) from None
    except (OSError, TypeError, ImportError, RuntimeError) as error:
        why = " ".join(str(error).split())[:200].rstrip(".")
        raise InvalidInput(
            f"No Dask scheduler answers at {address!r}{why and f' ({why})'}. The port of a scheduler is"
            " usually 8786; 8787 is that of its dashboard. Start one with `dask scheduler`, or use"
            f" --dask {LOCAL} for the cores of this machine."
        ) from None
    raise InvalidInput(
        f"{address!r} is the address of a Dask {found.lower()}, not of its scheduler, whose port is"
        " usually 8786."
    )


async def _kind(address: str) -> str:
    """What a server of Dask says it is."""
    from distributed import rpc
    from distributed.security import Security

    how = Security().get_connection_args("client")
    async with rpc(address, connection_args=how) as server:
        return str((await server.identity())["type"])


@contextmanager
def _quiet() -> Iterator[None]:
    """Let the loggers of Dask in this process say nothing: what went wrong is said in one sentence."""
    known = list(logging.root.manager.loggerDict)
    names = [name for name in known if name.partition(".")[0] in ("distributed", "tornado")]
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(SILENT)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
