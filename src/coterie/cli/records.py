"""What run.json says of a run beside its result: options, versions, the machine, and the files as written.

The digests of the files tell `coterie edit` whether somebody has worked in them since.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from coterie._disk import read_regular
from coterie.cli import places


def about(options: dict[str, Any], folder: Path, with_files: bool) -> dict[str, Any]:
    """The record of a run whose files are in a folder, as plain data for JSON."""
    given = {name: value for name, value in options.items() if value not in (None, [])}
    return {
        "options": {n: str(v) if isinstance(v, Path) else v for n, v in given.items()},
        "packages": _packages(),
        "machine": _machine(),
        **({"files": _digests(folder)} if with_files else {}),
    }


def read(folder: Path) -> dict[str, Any]:
    """The run.json of a folder; empty if there is none."""
    try:
        found = json.loads(read_regular(folder / places.RUN, 2**26))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def changed(folder: Path, run: dict[str, Any]) -> list[str]:
    """The files in a folder that are not as the run wrote them, or of which it does not say how."""
    written = run.get("files")
    written = written if isinstance(written, dict) else {}
    return [name for name, digest in _digests(folder).items() if written.get(name) != digest]


def _digests(folder: Path) -> dict[str, str]:
    """The digest of each file, by its path in the folder; a model has its own."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name != places.RUN and not name.startswith("model/") and path.is_file():
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _packages() -> dict[str, str]:
    """The versions of Python, of the packages that coterie needs, and of its extras that were used."""
    found = {"python": platform.python_version()}
    try:
        needs = metadata.requires("coterie") or []
    except metadata.PackageNotFoundError:  # run from its source
        needs = []
    for need in needs:
        name = re.split(r"[^\w.-]", need, maxsplit=1)[0]
        if "extra ==" in need and name.replace("-", "_") not in sys.modules:
            continue
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _machine() -> dict[str, Any]:
    """System, processor, cores and memory; nothing that names the machine or its user."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = None
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": memory,  # bytes
    }


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        found = re.search(r"model name\s*:\s*(.+)", told)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()
