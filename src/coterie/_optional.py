"""Optional packages: imports them, or raises an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coterie.errors import Unsupported

# what each extra of pyproject.toml installs, by the names that any package index knows
PACKAGES = {
    "lemmas": "simplemma",
    "zh": "rjieba",
    "ja": "sudachipy sudachidict-small",
    "th": "pythainlp",
    "cuda12": "cupy-cuda12x",
    "cuda13": "cupy-cuda13x",
    "dask": "dask distributed",
    "plot": "matplotlib",
}


def require(module: str, extra: str, what: str) -> Any:
    """Import a module that is installed by an extra; `what` is the feature that needs it."""
    try:
        return import_module(module)
    except ImportError:
        raise Unsupported(
            f"{what} needs {module.partition('.')[0]}, which is not installed."
            f" Try: pip install {PACKAGES[extra]}"
        ) from None
