"""Where results go: checked before the work, written whole or not at all.

A folder is ours to replace if it holds a run.json of ours and nothing that we do not write.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coterie.errors import InvalidInput

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
RUN = "run.json"
MADE_BY = "coterie fit"
_OURS = {RUN, "clusters.csv", "report.html", "model", *(f"table{ending}" for ending in ENDINGS)}


def kind_of(path: str) -> str | None:
    """The kind of table a path's ending asks for."""
    return ENDINGS.get(Path(path).suffix.lower())


def check(target: Path, force: bool, *, source: str = "", folder: bool = False) -> None:
    """Refuse a place that is taken or cannot be written, in one sentence."""
    if source not in ("", "-") and _same(target, Path(source)):
        raise InvalidInput(f"{target} is the file that is read; write to another one.")
    if target.exists() or target.is_symlink():
        _check_taken(target, force, folder)
    above = target.parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InvalidInput(f"{target} cannot be written: {above} is a file, not a folder.")
    try:
        Path(tempfile.mkdtemp(dir=above, prefix=f".{target.name[:40]}.")).rmdir()
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror or error}.") from None


def _check_taken(target: Path, force: bool, folder: bool) -> None:
    if folder and target.is_dir():
        inside = {path.name for path in target.iterdir()}
        if not inside:
            return
        if not force:
            raise InvalidInput(
                f"The folder {target} exists; name another one with -o, or replace it with --force."
            )
        if not _is_run(target / RUN) or inside - _OURS:
            others = ", ".join(sorted(inside - _OURS)[:3]) or f"no {RUN}"
            raise InvalidInput(
                f"The folder {target} is not (only) what coterie fit wrote ({others}), so --force"
                " does not replace it; name another one with -o."
            )
    elif folder or target.is_dir():
        what = "a file" if folder else "a folder"
        raise InvalidInput(f"{target} exists and is {what}; name another place.")
    elif not force:
        raise InvalidInput(f"{target} exists; name another one, or replace it with --force.")


def check_model(target: Path, force: bool) -> None:
    """The same for a model's folder; `save` itself replaces nothing but models."""
    if target.is_dir() and force:
        check(target / "config.json", True)
        return
    if target.exists():
        raise InvalidInput(f"{target} exists; name another one, or replace it with --force.")
    check(target, force)


@contextmanager
def folder(target: Path) -> Iterator[Path]:
    """A new folder to write into, that takes the target's place when all went well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:40]}."))
    aside = fresh.with_name(fresh.name + ".old")
    try:
        yield fresh
        fresh.chmod(0o777 & ~_umask())
        if target.exists():
            os.replace(target, aside)
        os.replace(fresh, target)
    except BaseException:
        if aside.exists() and not target.exists():
            os.replace(aside, target)
        raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def file(target: Path) -> Iterator[Path]:
    """A new file to write to, that takes the target's place when all went well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def _is_run(path: Path) -> bool:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("made_by") == MADE_BY


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False


def _umask() -> int:
    now = os.umask(0o022)
    os.umask(now)
    return now
