"""Options of a run, and where its figures are kept: `results/<name>.json`, one row per key."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .probe import machine

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    repeats: int | None = None
    only: tuple[str, ...] = ()
    all_peers: bool = False

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

    Rows of an earlier run stay when the machine and the versions are the same. A quick run writes
    to `out/`, which git ignores."""

    def __init__(self, name: str, options: Options) -> None:
        self.rows: dict[str, Row] = {}
        self._machine = machine()
        self._path = HERE / ("out" if options.quick else "results") / f"{name}.json"
        earlier = read(self._path)
        if earlier.get("machine") == self._machine:
            self.rows = earlier["rows"]

    def add(self, key: str, row: Row) -> None:
        self.rows[key] = row
        self._path.parent.mkdir(exist_ok=True)
        text = json.dumps({"machine": self._machine, "rows": self.rows}, indent=1)
        self._path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """A results file, or an empty dict."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def say(text: str) -> None:
    """Progress, on stderr: standard output carries the tables."""
    print(f"  {text}", file=sys.stderr, flush=True)
