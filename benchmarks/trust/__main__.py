"""`python -m benchmarks.trust`: the attacks, at full size; `--quick` for a few cases of each.

Keeps what it counted in results.json, row by row, and writes RESULTS.md from it.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from coterie import __version__

from . import cases

HERE = Path(__file__).resolve().parent


class Attack(NamedTuple):
    what: str
    bar: str
    n: int
    run: Callable[[int, int], dict[str, Any]]
    shown: tuple[str, ...] = ("refused", "fine", "wrong", "raw", "crash", "hang")


def _cases(name: str) -> Callable[[int, int], dict[str, Any]]:
    return lambda n, seed: cases.run(f"benchmarks.trust.{name}", n, seed)


def _from(name: str, function: str) -> Callable[[int, int], dict[str, Any]]:
    return lambda n, seed: getattr(import_module(f"benchmarks.trust.{name}"), function)(n, seed)


NONE = "0 wrong, 0 raw exceptions, 0 crashes, 0 hangs over 10 s"
ATTACKS = {
    "folders": Attack("model folders, mutated and signed again", NONE, 20_000, _cases("models:folder")),
    "checkpoints": Attack("checkpoints, mutated and signed again", NONE, 5_000, _cases("models:saved_run")),
    "matrices": Attack("sparse matrices with mutated index arrays", NONE, 5_000, _cases("inputs:matrix")),
    "vectors": Attack("files of word vectors and seeds, mutated", NONE, 5_000, _cases("inputs:knowledge")),
    "tables": Attack("tables of all kinds, mutated", NONE, 5_000, _cases("tables:mutated")),
    "round-trips": Attack("random csv and JSON lines there and back", "all exact", 5_000,
                          _from("tables", "round_trips"), ("exact", "changed", "refused")),
    "cells": Attack("every cell that is not ours, of odd tables of all kinds", "all exact or said", 5_000,
                    _cases("cells:case"), ("fine", "said", "refused", "wrong", "raw", "crash", "hang")),
    "outputs": Attack("outputs that are inputs under another name", "0 replaced", 500,
                      _cases("outputs:replaced")),
    "kills": Attack("SIGKILLs during fit, save and checkpoint writing", "0 lost, 0 changed, 0 leftovers",
                    300, _from("kills", "measure"),
                    ("kills", "between_renames", "lost", "changed", "leftovers")),
    "races": Attack("two processes on one output or checkpoint", "one wins, one is told, 0 lost", 50,
                    _from("races", "measure"), ("races", "lost", "tracebacks", "leftovers")),
    "checks": Attack("checking a matrix of a million documents", "at most .02 of a fit", 1_000_000,
                     _from("checks", "measure"), ("checks_s", "fit_s", "share")),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__)
    parser.add_argument("only", nargs="*", help=f"some of {', '.join(ATTACKS)}")
    parser.add_argument("--quick", action="store_true", help="few cases, results not kept")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    unknown = set(options.only) - set(ATTACKS)
    if unknown:
        parser.error(f"there is no attack {', '.join(sorted(unknown))}")
    failed = False
    for name in options.only or ATTACKS:
        attack = ATTACKS[name]
        n = max(2, attack.n // 200) if options.quick else attack.n
        row = attack.run(n, options.seed)
        failed |= bool(row["failures"])
        print(f"{name}: {_said(attack, row)}")
        for failure in row["failures"]:
            print(f"  {failure}")
        if not options.quick:
            _keep(name, {**row, "seed": options.seed, "commit": _commit()})
    return int(failed)


def _said(attack: Attack, row: dict[str, Any]) -> str:
    return ", ".join(f"{row[key]:,} {key}" for key in attack.shown if key in row)


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=HERE
    )
    return done.stdout.strip()


def _keep(name: str, row: dict[str, Any]) -> None:
    path = HERE / "results.json"
    rows = json.loads(path.read_text()) if path.exists() else {}
    rows[name] = row
    path.write_text(json.dumps(rows, indent=1) + "\n")
    (HERE / "RESULTS.md").write_text(_page(rows))


def _page(rows: dict[str, Any]) -> str:
    lines = [
        "# Trust, as measured",
        "",
        f"Written by `make fuzz` (coterie {__version__}, {platform.system()}). Every case is made from"
        " its number and a seed, so each can be run again.",
        "",
        "| what | cases | bar | counted | failed | seconds | commit |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, attack in ATTACKS.items():
        if name in rows:
            row = rows[name]
            lines.append(
                f"| {attack.what} | {row.get('cases', attack.n):,} | {attack.bar} |"
                f" {_said(attack, row)} | {len(row['failures'])} | {row.get('seconds', '')} |"
                f" {row['commit']} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
