"""The client of a Dask cluster, whose scheduler and workers have this version of coterie."""

from __future__ import annotations

import builtins
from typing import Any

import coterie
from coterie._optional import require
from coterie.distributed.calls import guarded
from coterie.errors import InvalidInput, Unsupported

# what asks for it must not need coterie where it is asked
VERSION = "__import__('coterie').__version__"


def current_client(
    what: str = "backend='dask'", instead: str = ", or use backend='sharded'"
) -> Any:
    """The Dask client that the user has opened, after its cluster was checked."""
    distributed = require("distributed", "dask", what)
    try:
        client = distributed.default_client()
    except ValueError:
        raise Unsupported(
            f"{what} needs a Dask client. Create one first, as in"
            f" `client = dask.distributed.Client()`{instead}."
        ) from None
    check_installed(client)
    return client


def check_installed(client: Any) -> None:
    """Refuse a cluster that lacks this version of coterie.

    A worker shuts down if it is sent something of a package that it does not have.
    """
    evaluate = builtins.eval  # unlike a function of ours, known to any Python
    with guarded(client):
        _check("The Dask scheduler", _told(client.run_on_scheduler, evaluate))
        workers = client.run(evaluate, VERSION, on_error="return")
    for address, found in workers.items():
        if not isinstance(found, OSError):  # a worker that was just lost
            _check(f"The Dask worker {address}", found)


def _told(run: Any, evaluate: Any) -> Any:
    try:
        return run(evaluate, VERSION)
    except ImportError as error:
        return error


def _check(who: str, found: Any) -> None:
    ours = coterie.__version__
    cure = f"Install coterie {ours} on the scheduler and on all workers, and start them again."
    if isinstance(found, ImportError):
        raise InvalidInput(f"{who} cannot import coterie ({found}). {cure}")
    if isinstance(found, BaseException):
        raise found
    if found != ours:
        raise InvalidInput(f"{who} has coterie {found}, but this is {ours}. {cure}")
