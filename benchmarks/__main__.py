"""The command line: `python -m benchmarks speed --quick`."""

from __future__ import annotations

import argparse
import sys
import time

from . import report
from .engine import BENCHMARKS, check
from .harness.claims import claims_table
from .harness.data import DataMissing
from .harness.store import Options, say
from .harness.workers import WorkerFailed
from .papers import report as papers
from .peers import report as peers

RACES = {"papers": papers.run, "peers": peers.run}  # they resume row by row


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    options = Options(
        quick=given.quick,
        repeats=given.repeats,
        only=tuple(name for name in given.only.split(",") if name),
        again=given.again,
    )
    try:
        if given.what == "check":
            print(check.run())
            return 0
        if given.what in RACES and (status := RACES[given.what](options)):
            return status
        for name in BENCHMARKS if given.what == "all" else {given.what} & set(BENCHMARKS):
            _run(name, options)
        if not options.quick:
            report.write()
    except (DataMissing, WorkerFailed) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("stopped; the rows measured so far are kept")
        return 130
    return 0


def _run(name: str, options: Options) -> None:
    start = time.perf_counter()
    rows = BENCHMARKS[name].run(options)
    say(f"{name}: done in {time.perf_counter() - start:.0f} s")
    print(BENCHMARKS[name].table(rows), claims_table(BENCHMARKS[name].claims(rows)), sep="\n\n")
    if not options.quick:
        report.write_engine()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure coterie, and write the pages of results."
    )
    parser.add_argument(
        "what",
        choices=[*BENCHMARKS, "all", *RACES, "report", "check"],
        help="a benchmark of the engine, or all of them; papers: the tables and figures of five "
        "papers; peers: the race with other packages; report: the pages from the stored rows; "
        "check: the reference implementation against an exact posterior",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="small and few; kept in benchmarks/out")
    add("--repeats", type=int, metavar="N", help="number of turns, runs or seeds")
    add("--only", default="", metavar="NAME,..", help="only these data sets, inputs or papers")
    add("--again", action="store_true", help="measure rows again that are stored already")
    return parser


if __name__ == "__main__":
    sys.exit(main())
