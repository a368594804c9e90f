"""Output paths: checked and locked before the work starts, then written completely or not at all.

With --force a folder is replaced if it holds a run.json of coterie and only files that coterie
writes, and a file if coterie wrote it; nothing that the command reads is ever replaced. An output that
appears while coterie works is never replaced without --force: the result then gets a free name next to
it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from coterie import _disk
from coterie._own_folders import MADE_BY as MADE_BY
from coterie._own_folders import RUN as RUN
from coterie._own_folders import is_run
from coterie.cli.breakdowns import FILES
from coterie.cli.earlier import not_written
from coterie.errors import InvalidInput
from coterie.exporting import ENDINGS

# file types that people may expect, so that none of these names becomes a folder by surprise
_NO_FOLDERS = frozenset(
    re.split(
        " ",
        ".xls .xlsm .xlsb .ods .json .txt .text .html .htm .gz .zip .pdf .doc .docx .xml .yaml .yml"
        " .feather .arrow .db .sqlite .md .tab",
    )
)
GROUPS = "groups"  # the folder with a file per group
_OURS = {
    RUN,
    "clusters.csv",
    "report.html",
    "model",
    GROUPS,
    *(f"table{ending}" for ending in ENDINGS),
}
_KEPT = "it is only replaced with --force"


def kind_of(path: str) -> str | None:
    """The file type of a table, from the ending of its path; None if it has no such ending."""
    return ENDINGS.get(Path(path).suffix.lower())


def check_ending(path: str) -> None:
    """Refuse an output that looks like a file of a type that coterie cannot write."""
    ending = Path(path).suffix.lower()
    if ending in _NO_FOLDERS and not Path(path).is_dir():
        raise InvalidInput(
            f"coterie cannot write a table as {ending} ({path}). Use {', '.join(ENDINGS)} for the table"
            " alone, or a name without such an ending for a folder with everything."
        )


class Place:
    """One output path. It is locked while the context manager is active, and written in between."""

    def __init__(self, target: Path, refusal: _disk.Refusal, read: _disk.Read = ()) -> None:
        self.target = target
        self._refusal = refusal
        self._claim = _disk.Claim(target, parents=True, read=read)
        self._sought: tuple[Path, Any] | None = None
        self._why_not = ""

    def __enter__(self) -> Place:
        """Raise InvalidInput if the path is taken, in use or not writable."""
        real = self._claim.real
        _check_above(self.target, real)
        self._claim.__enter__()
        try:
            why = self._refusal(real) if os.path.lexists(real) else ""
            if why:
                raise InvalidInput(
                    f"{self.target} already exists, and {why}. Choose another output."
                )
            with self._claim.staged():  # find out now whether it can be written
                pass
        except BaseException:
            self._claim.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Unlock the path."""
        self._claim.__exit__()

    @contextmanager
    def beside(self) -> Iterator[Path]:
        """A temporary folder on the same disk; the next run with this path removes what a kill left."""
        with self._claim.staged() as folder:
            folder.mkdir()
            yield folder

    def write(
        self, fill: Callable[[Path], Any], seal: Callable[[Path, Path], Any] = lambda *_: None
    ) -> Path:
        """Write the output: `fill` creates the new file or folder, `seal` gets its final name.

        Returns that name. It differs from the target if something else appeared there meanwhile.
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
            raise _disk.Taken("no other name is free")

    @property
    def written(self) -> str:
        """Where the result was written; "" if it was not, or not yet."""
        if self._sought is None or _disk.identity(self._sought[0].resolve()) != self._sought[1]:
            return ""
        return str(self._sought[0])

    @property
    def moved(self) -> str:
        """A sentence if the result has another name than the target; else ""."""
        if self._sought is None or self._sought[0] == self.target:
            return ""
        return (
            f"{self.target} was created or changed while coterie was working, and {self._why_not},"
            f" so the result was written to {self._sought[0]} instead."
        )


def for_file(target: Path, force: bool, read: _disk.Read = ()) -> Place:
    """The output path of a table or a report; what was `read` is not replaced."""
    kind = kind_of(str(target))

    def no_output(path: Path) -> str:
        return _disk.no_file(path) or (not_written(path, kind) if force else _KEPT)

    return Place(target, no_output, read)


def for_parts(target: Path, force: bool, read: _disk.Read = ()) -> Place:
    """The output folder of a table in several parquet files; only an empty folder is replaced.

    Dask and others give their files the names that we give ours.
    """
    why = "it is not an empty folder"
    if force:
        why += (
            ", so --force does not replace it; it replaces what `-o name` wrote, without .parquet"
        )
    return Place(target, lambda path: why if _no_parts(path, "") else "", read)


def for_run(target: Path, force: bool, read: _disk.Read = ()) -> Place:
    """The output folder of `coterie fit`."""
    return Place(target, lambda path: _no_run(path, force), read)


def for_model(target: Path, force: bool, read: _disk.Read = ()) -> Place:
    """The output folder of a model."""

    def no_model(path: Path) -> str:
        from coterie.io import no_model

        if path.is_dir() and not any(path.iterdir()):
            return ""
        return no_model(path) if force else _KEPT

    return Place(target, no_model, read)


def check_apart(targets: dict[str, Path]) -> None:
    """Refuse two outputs with the same path, or one inside the other; the keys are their options."""
    seen: list[tuple[str, Path]] = []
    for option, target in targets.items():
        real = Path(os.path.realpath(target))
        for other, at in seen:
            if real == at:
                raise InvalidInput(
                    f"{other} and {option} name the same path. Choose two different paths."
                )
            if at in real.parents or real in at.parents:
                raise InvalidInput(
                    f"One of the paths of {other} and {option} is inside the other. Choose separate paths."
                )
        seen.append((option, real))


def _check_above(target: Path, real: Path) -> None:
    above = real.parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InvalidInput(f"{target} cannot be written: {above} is a file, not a folder.")


def _no_run(path: Path, force: bool) -> str:
    """Why a folder must not be replaced by a new run; "" if it may be."""
    if path.is_symlink() or not path.is_dir():
        return "it is a file, not a folder"
    inside = {entry.name for entry in path.iterdir()}
    if not inside:
        return ""
    if not force:
        return _KEPT
    strange = {name for name in inside - _OURS if not FILES.fullmatch(name)}
    others = [*sorted(strange), *_altered(path, inside & _OURS)]
    if not others and not is_run(path):
        others = [f"no {RUN} of coterie fit"]
    if others:
        found = ", ".join(others[:3])
        return f"it holds more than the output of coterie fit ({found}), so --force does not replace it"
    return ""


def _altered(folder: Path, names: set[str]) -> list[str]:
    """Entries named like ours that are something else, or hold something else."""
    from coterie.io import no_model

    model = folder / "model"
    files = sorted(names - {"model", GROUPS})
    bad = [name for name in files if _disk.no_file(folder / name) and not _is_parts(folder / name)]
    if GROUPS in names and _no_groups(folder / GROUPS):
        bad.append(GROUPS)
    if "model" in names and (model.is_symlink() or no_model(model)):
        bad.append("model")
    return bad


def _no_groups(folder: Path) -> bool:
    """Whether a folder holds anything but files of groups."""
    if folder.is_symlink() or not folder.is_dir():
        return True
    return any(
        _disk.no_file(path) or not re.match(r"\d+ ", path.name) or not kind_of(path.name)
        for path in folder.iterdir()
    )


def _is_parts(path: Path) -> bool:
    """Whether this is a table in several files, as the workers of a Dask cluster write it."""
    return path.name == "table.parquet" and not _no_parts(path, r"part-\d+\.parquet")


def _no_parts(path: Path, pattern: str) -> bool:
    """Whether this is anything but a folder of files with such names."""
    if path.is_symlink() or not path.is_dir():
        return True
    return any(_disk.no_file(one) or not re.fullmatch(pattern, one.name) for one in path.iterdir())
