"""Options of a run, and the rows it measured: `<folder>/results/<name>.json`, one row per line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .pool import spread
from .probe import commit, machine, same_machine

HERE = Path(__file__).resolve().parents[1]
Row = dict[str, Any]
Rows = Mapping[str, Row]
Task = TypeVar("Task")


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    repeats: int | None = None
    only: tuple[str, ...] = ()
    again: bool = False

    def times(self, full: int, quick: int = 2) -> int:
        """How often to repeat: what the user asked for, or the benchmark's own number."""
        return self.repeats or (quick if self.quick else full)

    def choose(self, names: tuple[str, ...], quick: int = 1) -> list[str]:
        """The data sets to run: those named, or all, or (quick) the first few."""
        if not self.only:
            return list(names[:quick] if self.quick else names)
        chosen = [name for name in names if name in self.only]
        if not chosen:
            say(f"nothing to do: --only takes {', '.join(names)} here")
        return chosen


class Results:
    """Rows that are written to disk one by one, so that an interrupted run keeps what it has.

    `name` is "engine/speed" for `engine/results/speed.json`. Rows of an earlier run are kept if the
    machine and the versions are the same. Each row carries the commit it was measured with."""

    def __init__(self, name: str, options: Options) -> None:
        self.rows: dict[str, Row] = {}
        self._machine = machine()
        self._path = path_of(name, options.quick)
        earlier = read(self._path)
        if earlier and (both := same_machine(earlier["machine"], self._machine)):
            self._machine, self.rows = both, earlier["rows"]
        elif earlier:
            say(f"{name}: the stored rows come from another machine or version; measuring again")
        self._old = set(self.rows) if options.again else set()

    def has(self, key: str) -> bool:
        """Whether this row need not be measured."""
        return key in self.rows and key not in self._old

    def once(self, key: str, make: Callable[[], Row]) -> Row:
        """The stored row, or else `make()`, which is then stored."""
        if not self.has(key):
            self.add(key, make())
        return self.rows[key]

    def fill(self, function: Callable[[Task], Row], tasks: Mapping[str, Task]) -> None:
        """Measure the rows of these tasks that are missing, in BENCH_JOBS processes.

        The function must be one that a new process can import. A row that needs a package which
        is not installed is left out."""
        left = [(function, key, task) for key, task in tasks.items() if not self.has(key)]
        missing: set[str] = set()
        for i, ((_, key, _), row) in enumerate(spread(_call, left) if left else (), 1):
            if isinstance(row, str):
                missing.add(row)
            else:
                self.add(key, row)
                say(f"{key} ({i} of {len(left)})")
        for package in missing:
            say(not_installed(package))

    def add(self, key: str, row: Row) -> None:
        """Store a row, with the commit it was measured with."""
        self.rows[key] = {**row, "commit": commit()}
        self._old.discard(key)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")  # a run stopped while writing leaves the old file
        part.write_text(as_text({"machine": self._machine, "rows": self.rows}), encoding="utf-8")
        os.replace(part, self._path)


def path_of(name: str, quick: bool = False) -> Path:
    """The file of some rows; those of a quick run are in `out/`, which git ignores."""
    folder, _, file = name.rpartition("/")
    return (HERE / "out" / folder if quick else HERE / folder / "results") / f"{file}.json"


def read(path: Path) -> dict[str, Any]:
    """A results file, or an empty dict."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def rows_of(*names: str, quick: bool = False) -> dict[str, Row]:
    """The rows of these files together."""
    found = [read(path_of(name, quick)).get("rows", {}) for name in names]
    return {key: row for rows in found for key, row in rows.items()}


def values(row: Row) -> Row:
    """A row without its commit, for rows that map settings to figures."""
    return {key: value for key, value in row.items() if key != "commit"}


def as_text(found: Mapping[str, Any]) -> str:
    """JSON with one row per line."""
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in found["rows"].items())
    return f'{{"machine": {json.dumps(found["machine"], indent=1)},\n"rows": {{\n{rows}\n}}}}\n'


def say(text: str) -> None:
    """Progress, on stderr: standard output carries the tables."""
    print(f"  {text}", file=sys.stderr, flush=True)


def not_installed(package: str | None) -> str:
    return f'left out: {package} is not installed. Try: pip install ".[bench]"'


def _call(task: tuple[Callable[[Task], Row], str, Task]) -> Row | str:
    """The row, or the name of a package that is missing."""
    function, _, argument = task
    try:
        return function(argument)
    except ModuleNotFoundError as problem:
        return str(problem.name)
