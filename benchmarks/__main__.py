"""The command line: `python -m benchmarks speed --quick`."""

from __future__ import annotations

import argparse
import sys
import time

from . import check, report
from .data import DataMissing
from .papers import report as papers
from .peers import report as peers
from .store import Options, say
from .tables import asked_and_measured
from .workers import WorkerFailed

ABOUT = "Measure coterie beside its peers and write benchmarks/RESULTS.md."

KITS = {"papers": papers, "peers": peers}  # what resumes row by row and has a report of its own


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=ABOUT)
    parser.add_argument(
        "what",
        choices=[*report.BENCHMARKS, "all", *KITS, "report", "check"],
        help="a benchmark; all of them; papers: the papers' tables and figures; "
        "peers: the race on labelled sets; "
        "report: RESULTS.md from the results at hand; "
        "check: the reference implementation against an exact posterior",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small and few; kept in benchmarks/out"
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="turns (speed, scale) or seeds")
    parser.add_argument(
        "--only", default="", metavar="NAME,..", help="these data sets, inputs or papers only"
    )
    parser.add_argument(
        "--again", action="store_true", help="measure anew the rows that are there already"
    )
    parser.add_argument("--peers", choices=["topica", "all"], default="topica")
    given = parser.parse_args(arguments)
    options = Options(
        quick=given.quick,
        repeats=given.repeats,
        only=tuple(name for name in given.only.split(",") if name),
        all_peers=given.peers == "all",
        again=given.again,
    )
    try:
        if given.what == "report":
            print(report.write())
            for kit in KITS.values():
                kit.write()
        elif given.what == "check":
            print(check.run())
        elif given.what in KITS:
            return KITS[given.what].run(options)
        else:
            names = list(report.BENCHMARKS) if given.what == "all" else [given.what]
            for name in names:
                _run(name, options)
    except (DataMissing, WorkerFailed) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("stopped; the rows measured so far are kept")
        return 130
    return 0


def _run(name: str, options: Options) -> None:
    say(f"{name}: start")
    start = time.perf_counter()
    rows = report.BENCHMARKS[name].run(options)
    say(f"{name}: done in {time.perf_counter() - start:.0f} s")
    print(report.section(name, rows))
    if not options.quick:
        print(asked_and_measured(report.BENCHMARKS[name].verdicts(rows)), end="\n\n")
        report.write()


if __name__ == "__main__":
    sys.exit(main())
