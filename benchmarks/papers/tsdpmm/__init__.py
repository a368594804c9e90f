"""TSDPMM (Hu et al. 2015): prior topics as seeds of a Dirichlet process mixture. Tables 1 and 2.

`days` measures Table 2 (yesterday's clusters as seeds), `years` Table 1 (perplexity)."""

from __future__ import annotations

from ...harness.claims import Claim, single, wins
from ...harness.drawing import Plot
from ...harness.store import Options, Rows
from ...harness.tables import counted, signed
from . import days, years

TAKES = (*days.CASES, *map(str, years.BETAS))
FILES = ("papers/tsdpmm", "papers/nips")
START = "Where DPMM starts decides the sign of the difference."
VARY = "The days differ more than the runs do."
COUNTED = "When the seeds' words count, as they do in the model, the order turns around."


def run(options: Options) -> None:
    wanted = set(options.only)
    if not wanted or wanted & set(days.CASES):
        days.run(options)
    if not wanted or wanted & set(map(str, years.BETAS)):
        years.run(options)


def tables(rows: Rows) -> dict[str, str]:
    cases = {name: runs for name in days.CASES if (runs := days.runs(rows, name))}
    return {
        "by_day": days.by_day(cases[days.MAIN]) if days.MAIN in cases else "",
        "by_case": days.by_case(cases),
        "days_runs": counted(map(len, cases.values())),
        "by_year": years.table(rows),
        "years_runs": counted(len(days.runs(rows, years.key(beta))) for beta in years.BETAS),
    }


def plots(rows: Rows) -> list[Plot]:
    main = days.runs(rows, days.MAIN)
    return days.plots(main) if main else []


def claims(rows: Rows) -> list[Claim]:
    main, from_one = (days.runs(rows, case) for case in (days.MAIN, days.FROM_ONE))
    better = f"TSDPMM beats DPMM (NMI, Table 2: +{days.PAPER_GAIN} on average)"
    lifelong = "TSDPMM-L beats TSDPMM (NMI, Table 2: +0.032 on average) on days 2 and 3"
    missing = "the call for papers and the abstracts of 2011 are not available"
    as_authors = "counting this year's documents only, as the authors' programs do"
    return [
        _claim(f"{better}, over runs, DPMM from 20 random clusters", main),
        _claim(f"{better}, over runs, DPMM from one cluster", from_one, why=START),
        _claim(f"{better}, over days, DPMM from 20 random clusters", main, over="day", why=VARY),
        _claim(lifelong, main, days.L, "TSDPMM"),
        _perplexity(rows, 1.0, "mixture", "of the mixture"),
        _perplexity(rows, 0.1, "documents_only", as_authors),
        single("TSDPMM-P beats TSDPMM-E (perplexity, Table 1)", missing, None),
    ]


def _perplexity(rows: Rows, beta: float, measure: str, how: str) -> Claim:
    runs = days.runs(rows, years.key(beta))
    later = [year for year in years.YEARS if "TSDPMM-P" in years.PAPER[year]]
    gains = {f"NIPS {year}": years.gain(runs, year, measure) if runs else None for year in later}
    says = f"TSDPMM-P has a lower perplexity than DPMM (Table 1), {years.key(beta)}, {how}"
    return wins(says, gains, COUNTED if measure == "mixture" else "")


def _claim(
    says: str,
    runs: days.Runs,
    ours: str = "TSDPMM",
    theirs: str = "DPMM",
    over: str = "run",
    why: str = "",
) -> Claim:
    """A gain above zero; the interval is over the runs or over the days."""
    if not runs:
        return single(says)
    nmi, geometric = (days.gain(runs, m, f"{over}s", ours, theirs) for m in days.MEASURES)
    shown = f"{signed(nmi)} over {counted([nmi.n], over)}"
    if over == "run":
        shown += f" (geometric NMI {signed(geometric)})"
    return single(says, shown, nmi.above_zero if nmi.n > 1 else None, why)
