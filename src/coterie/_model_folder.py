"""Where a saved model is: the folder that `save` wrote, or the one around it that `coterie fit` wrote."""

from __future__ import annotations

import os
from pathlib import Path

from coterie import io


def find(path: str | os.PathLike[str]) -> Path | None:
    """The model's own folder, whether it or the folder around it was named; None where there is none."""
    named = Path(path)
    for folder in (named, named / "model"):
        try:
            if (folder / io.CONFIG).exists():
                return folder
        except (OSError, ValueError):  # too long for a path, or with a character none may have
            return None
    return None
