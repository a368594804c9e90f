"""Inputs of a command: the user's file, and saved models."""

from __future__ import annotations

import difflib
import sys
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from coterie._disk import recover
from coterie.cli.light import import_estimators
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.clustering import Clustering


def given(files: list[str]) -> str | list[Path]:
    """The input of a command: one file, folder or "-", or several files."""
    from coterie.text import _several

    if len(files) == 1:
        found = _several.paths(files[0])
        return found if len(found) > 1 else str(found[0]) if found else files[0]
    several: list[Path] = []
    for file in files:
        if file == "-" or Path(file).is_dir():
            what = "standard input" if file == "-" else f"the folder {file!r}"
            raise InvalidInput(f"Several files cannot be read together with {what}.")
        several += _several.paths(file) or [Path(file)]
    return several


def check_file(file: str | list[Path]) -> None:
    """Raise InvalidInput early if a file does not exist."""
    if isinstance(file, list):
        for one in file:
            check_file(str(one))
        return
    if file == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InvalidInput("There is no standard input to read from.")
        if sys.stdin.isatty():
            sys.stderr.write("Reading one text per line; press Ctrl-D to finish.\n")
        return
    path = Path(file)
    if path.exists():
        return
    folder = path.parent
    if not folder.is_dir():
        raise InvalidInput(f"There is no file {file!r}: the folder {str(folder)!r} does not exist.")
    close = difflib.get_close_matches(path.name, [p.name for p in folder.iterdir()], 1)
    hint = f" Did you mean {str(folder / close[0])!r}?" if close else ""
    raise InvalidInput(f"There is no file {file!r}.{hint}")


def stem_of(file: str | list[Path]) -> str:
    """The name of a file without its extensions; "stdin" for standard input.

    Of several files, it is the start that their names share.
    """
    if isinstance(file, list):
        stems = [stem_of(str(one)) for one in file]
        same = takewhile(lambda letters: len(set(letters)) == 1, zip(*stems, strict=False))
        return "".join(letters[0] for letters in same).rstrip("-_. ") or stems[0]
    if file == "-":
        return "stdin"
    path = Path(file)
    name = path.resolve().name if path.is_dir() else path.name
    for ending in (".gz", ".gzip"):
        name = name.removesuffix(ending)
    return (name if path.is_dir() else Path(name).stem) or "texts"


def model_folder(path: Path) -> Path:
    """The model folder, given itself or the output folder that contains it."""
    from coterie import _model_folder

    recover(path)
    found = _model_folder.find(path)
    if found is None and path.is_dir():
        raise InvalidInput(
            f"{path} holds no model. Name a folder written by coterie fit or Clustering.save."
        )
    return found or path


def seeds_at(path: Path) -> Path:
    """The seed file, or the model folder of an earlier run."""
    recover(path)
    check_file(str(path))
    return model_folder(path) if path.is_dir() else path


def open_model(path: Path, embedder: str | None = None) -> Clustering:
    """Load a saved clustering."""
    from coterie.clustering import Clustering

    import_estimators()
    from coterie.loading import load

    found = load(model_folder(path), embedder)
    if not isinstance(found, Clustering):
        raise InvalidInput(
            f"{path} holds a {type(found).__name__} estimator, which can only be opened in Python, with"
            " coterie.load. The command line opens models written by coterie fit or Clustering.save."
        )
    return found
