"""The GPU backend, measured where there is a GPU: `python -m benchmarks.cuda [--quick] [--only NAME,..]`.

Rows go to `benchmarks/cuda/results/rows.json`, as those of the other benchmarks do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from coterie.backends.cuda import _device

from ..harness.store import Options, Results, Row, say
from . import measure

ROWS: dict[str, Callable[[Options], Row]] = {
    "long, K=200": measure.long_texts,
    "long, K=2000": measure.long_texts_many_clusters,
    "short, K=1000": measure.short_texts,
    "located, K=500": measure.located,
    "settled": measure.settled,
    "agreement": measure.agreement,
    "scaling": measure.scaling,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--only", default="", metavar="NAME,..", help="only rows that begin so")
    given = parser.parse_args(arguments)
    why = _device.missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    options = Options(quick=given.quick)
    results = Results("cuda/rows", options)
    for name, make in ROWS.items():
        if given.only and not any(name.startswith(part) for part in given.only.split(",")):
            continue
        try:
            row = make(options)
        except Exception as problem:  # one row must not cost the others
            say(f"{name}: {type(problem).__name__}: {problem}")
            continue
        results.add(name, {**row, "gpu": measure.card()})
        say(f"{name}: {row}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
