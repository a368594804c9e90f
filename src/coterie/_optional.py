"""Optional packages: imports them, or raises an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coterie.errors import Unsupported


def require(module: str, extra: str, what: str) -> Any:
    """Import a module that is installed by an extra; `what` is the feature that needs it."""
    try:
        return import_module(module)
    except ImportError:
        raise Unsupported(
            f"{what} needs {module.partition('.')[0]}, which is not installed. Try: pip install"
            f' "coterie[{extra}]"'
        ) from None
