"""Options of a run, and where its figures are kept: `results/<name>.json`, one row per key."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .pool import spread
from .probe import machine, together

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]
Task = TypeVar("Task")


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    repeats: int | None = None
    only: tuple[str, ...] = ()
    all_peers: bool = False
    again: bool = False

    def times(self, full: int, quick: int = 2) -> int:
        """How often to repeat: as told, or the benchmark's own number."""
        return self.repeats or (quick if self.quick else full)

    def choose(self, names: tuple[str, ...], quick: int = 1) -> list[str]:
        """The data sets to run: those named, or all, or the first few."""
        if not self.only:
            return list(names[:quick] if self.quick else names)
        chosen = [name for name in names if name in self.only]
        if not chosen:
            say(f"nothing to do: --only takes {', '.join(names)} here")
        return chosen


class Results:
    """Rows written to disk as they come, so that a run cut short keeps what it has.

    Rows of an earlier run stay when the machine and the versions are the same. `home` is the folder
    that holds `results/`. A quick run writes to `out/`, which git ignores."""

    def __init__(self, name: str, options: Options, home: Path = HERE) -> None:
        self.rows: dict[str, Row] = {}
        self._machine = machine()
        self._path = place(home, options.quick) / f"{name}.json"
        earlier = read(self._path)
        if earlier and (both := together(earlier["machine"], self._machine)):
            self._machine, self.rows = both, earlier["rows"]
        elif earlier:
            say(f"{name}: the rows at hand are of another machine or other versions; measured anew")
        self._old = set(self.rows) if options.again else set()

    def has(self, key: str) -> bool:
        """Whether this row need not be measured."""
        return key in self.rows and key not in self._old

    def once(self, key: str, make: Callable[[], Row]) -> Row:
        """The row if it is there already, else `make()`, kept."""
        if not self.has(key):
            self.add(key, make())
        return self.rows[key]

    def grow(self, key: str, n: int, make: Callable[[int], Row]) -> Row:
        """The row's `runs`, up to n: `make(0)`, `make(1)`, .. are kept one by one as they come."""
        runs = self.rows[key]["runs"] if self.has(key) else []
        for i in range(len(runs), n):
            runs = [*runs, make(i)]
            self.add(key, {**self.rows.get(key, {}), "runs": runs})
        return self.rows[key]

    def fill(self, function: Callable[[Task], Row], tasks: Mapping[str, Task]) -> None:
        """The rows of these tasks that are not there yet, side by side (BENCH_JOBS processes), in
        the order given. The function must be one that a new process can import."""
        left = [(function, key, task) for key, task in tasks.items() if not self.has(key)]
        for i, ((_, key, _), row) in enumerate(spread(_one, left) if left else (), 1):
            self.add(key, row)
            say(f"{key} ({i} of {len(left)})")

    def add(self, key: str, row: Row) -> None:
        self.rows[key] = row
        self._old.discard(key)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")  # a run stopped in mid-write leaves the old file
        part.write_text(_text(self._machine, self.rows), encoding="utf-8")
        os.replace(part, self._path)


def place(home: Path, quick: bool) -> Path:
    """The folder of JSON files: `results/` in a benchmark's home, or `out/`."""
    return HERE / "out" / home.relative_to(HERE) if quick else home / "results"


def _one(call: tuple[Callable[[Task], Row], str, Task]) -> Row:
    function, _, task = call
    return function(task)


def _text(machine: dict[str, str], rows: dict[str, Row]) -> str:
    """JSON, a row a line."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
    return f'{{"machine": {json.dumps(machine, indent=1)},\n"rows": {{\n{lines}\n}}}}\n'


def read(path: Path) -> dict[str, Any]:
    """A results file, or an empty dict."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def say(text: str) -> None:
    """Progress, on stderr: standard output carries the tables."""
    print(f"  {text}", file=sys.stderr, flush=True)
