"""Where results go: checked and claimed before the work, written whole or not at all.

A folder is ours to replace if it holds a run.json of ours and nothing that we do not write. What
appears in a place while we work is never replaced without --force: the result then goes to a free
name beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from coterie import _disk
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
_MOST = 2**26  # bytes of a run.json
_KEPT = "it is only replaced with --force"


def kind_of(path: str) -> str | None:
    """The kind of table a path's ending asks for."""
    return ENDINGS.get(Path(path).suffix.lower())


class Place:
    """A place for one result. It is ours from entering to leaving, and written in between."""

    def __init__(self, target: Path, refusal: _disk.Refusal) -> None:
        self.target = target
        self._refusal = refusal
        self._claim = _disk.Claim(target, parents=True)
        self._sought: tuple[Path, Any] | None = None
        self._why_not = ""

    def __enter__(self) -> Place:
        """Refuse a place that is taken, in use or not writable, in one sentence."""
        real = self._claim.real
        _check_above(self.target, real)
        self._claim.__enter__()
        try:
            why = self._refusal(real) if os.path.lexists(real) else ""
            if why:
                raise InvalidInput(f"{self.target} exists, and {why}; name another place.")
            with self._claim.staged():  # what cannot be written later is noticed now
                pass
        except BaseException:
            self._claim.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Others may write here again."""
        self._claim.__exit__()

    def write(
        self, fill: Callable[[Path], Any], seal: Callable[[Path, Path], Any] = lambda *_: None
    ) -> Path:
        """Write it: `fill` makes the new file or folder, `seal` is told the name it will get.

        Returns that name, which is another one if the place was taken meanwhile.
        """
        linked = self.target.is_symlink()
        others = _disk.free_names(self._claim.real if linked else self.target)
        with self._claim.staged() as fresh:
            fill(fresh)
            for name in chain([self.target], others):
                seal(fresh, name)
                self._sought = name, _disk.identity(fresh)
                try:
                    if name == self.target:
                        self._claim.put(fresh, self._refusal)
                    else:
                        self._claim.put(fresh, lambda _: "it exists", at=name)
                    return name
                except _disk.Taken as taken:
                    self._why_not = self._why_not or str(taken)
            raise _disk.Taken("no name beside it is free")

    @property
    def written(self) -> str:
        """Where the result stands; "" if it does not, or not yet."""
        if self._sought is None or _disk.identity(self._sought[0].resolve()) != self._sought[1]:
            return ""
        return str(self._sought[0])

    @property
    def moved(self) -> str:
        """A sentence, if the result stands under another name."""
        if self._sought is None or self._sought[0] == self.target:
            return ""
        return (
            f"{self.target} was created or changed while coterie was working, and {self._why_not},"
            f" so the result was written to {self._sought[0]} instead."
        )


def for_file(target: Path, force: bool, source: str = "") -> Place:
    """A place for a table or a page."""
    _check_source(target, source)
    return Place(target, lambda path: _disk.no_file(path) or ("" if force else _KEPT))


def for_run(target: Path, force: bool, source: str = "") -> Place:
    """A place for the folder that `coterie fit` writes."""
    _check_source(target, source)
    return Place(target, lambda path: _no_run(path, force))


def for_model(target: Path, force: bool) -> Place:
    """A place for a model's folder."""

    def no_model(path: Path) -> str:
        from coterie.io import no_model

        if path.is_dir() and not any(path.iterdir()):
            return ""
        return no_model(path) if force else _KEPT

    return Place(target, no_model)


def check_apart(outputs: dict[str, Place]) -> None:
    """Refuse two outputs in one place, or one inside the other; the keys are their options."""
    seen: list[tuple[str, Path]] = []
    for option, place in outputs.items():
        real = Path(os.path.realpath(place.target))
        for other, at in seen:
            if real == at:
                raise InvalidInput(f"{other} and {option} name the same place; write to two.")
            if at in real.parents or real in at.parents:
                raise InvalidInput(
                    f"Of {other} and {option}, one lies inside the other; write to two places."
                )
        seen.append((option, real))


def _check_source(target: Path, source: str) -> None:
    if source not in ("", "-") and _same(target, Path(source)):
        raise InvalidInput(f"{target} is the file that is read; write to another one.")


def _check_above(target: Path, real: Path) -> None:
    above = real.parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InvalidInput(f"{target} cannot be written: {above} is a file, not a folder.")


def _no_run(path: Path, force: bool) -> str:
    """Why a folder must not be replaced by a run's; "" if it may be."""
    if path.is_symlink() or not path.is_dir():
        return "it is a file, not a folder"
    inside = {entry.name for entry in path.iterdir()}
    if not inside:
        return ""
    if not force:
        return _KEPT
    others = [*sorted(inside - _OURS), *_altered(path, inside & _OURS)]
    if not others and not _is_run(path / RUN):
        others = [f"no {RUN} of coterie fit"]
    if others:
        found = ", ".join(others[:3])
        return f"it is not (only) what coterie fit wrote ({found}), so --force does not replace it"
    return ""


def _altered(folder: Path, names: set[str]) -> list[str]:
    """What has a name of ours but is something else, or holds something else."""
    from coterie.io import no_model

    model = folder / "model"
    bad = [name for name in sorted(names - {"model"}) if _disk.no_file(folder / name)]
    if "model" in names and (model.is_symlink() or no_model(model)):
        bad.append("model")
    return bad


def _is_run(path: Path) -> bool:
    try:
        found = json.loads(_disk.read_regular(path, _MOST))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("made_by") == MADE_BY


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False
