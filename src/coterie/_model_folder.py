"""Finds a saved model: the folder written by `save`, or inside the folder written by `coterie fit`."""

from __future__ import annotations

import os
from pathlib import Path

from coterie import io


def find(path: str | os.PathLike[str]) -> Path | None:
    """The model folder, given itself or the output folder that contains it; None if there is none."""
    named = Path(path)
    for folder in (named, named / "model"):
        try:
            if (folder / io.CONFIG).exists():
                return folder
        except (OSError, ValueError):  # too long for a path, or with an invalid character
            return None
    return None
