"""Recognises folders that coterie wrote: results, models, and those of a run that was killed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from coterie._disk import read_regular

RUN, MADE_BY = "run.json", "coterie fit"  # of the folder that `coterie fit` writes
CONFIG, MAX_CONFIG_BYTES = "config.json", 2**24  # of a model
_STAGING = re.compile(r"\..*\.coterie-[0-9a-f]{16}\.tmp", re.DOTALL)
_MOST = 2**26  # bytes of a run.json


def is_ours(folder: Path) -> bool:
    """Whether a folder has the mark of a result or a model, or the name of one being written."""
    return bool(_STAGING.fullmatch(folder.name)) or is_run(folder) or is_model(folder)


def is_run(folder: Path) -> bool:
    """Whether this is what `coterie fit` wrote."""
    return json_of(folder / RUN, _MOST).get("made_by") == MADE_BY


def is_model(folder: Path) -> bool:
    """Whether this is a saved model."""
    return {"schema", "estimator", "files", "checksum"} <= set(
        json_of(folder / CONFIG, MAX_CONFIG_BYTES)
    )


def json_of(path: Path, most: int) -> dict[str, Any]:
    """The object in a file; empty if there is none."""
    try:
        found = json.loads(read_regular(path, most))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
