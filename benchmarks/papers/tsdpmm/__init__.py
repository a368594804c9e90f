"""TSDPMM (Hu et al. 2015): prior topics as seeds of a Dirichlet process mixture. Tables 1 and 2.

`days` measures Table 2 (yesterday's clusters as seeds), `years` Table 1 (perplexity)."""

from __future__ import annotations

from ...harness.claims import Claim, single, wins
from ...harness.drawing import Plot
from ...harness.pages import Paper
from ...harness.scores import Interval
from ...harness.store import Options, Row, Rows
from ...harness.tables import counted, signed
from . import days, years

START = "Where DPMM starts decides the sign of the difference."
COUNTED = "When the seeds' words count, as they do in the model, the order turns around."


def run(options: Options) -> None:
    wanted = set(options.only)
    if not wanted or wanted & set(days.CASES):
        days.run(options)
    if not wanted or wanted & set(map(str, years.BETAS)):
        years.run(options)


def tables(rows: Rows) -> dict[str, str]:
    cases = {name: rows[name] for name in days.CASES if name in rows}
    by_year = {key: row for key, row in rows.items() if key.startswith("beta = ")}
    return {
        "by_day": days.by_day(rows[days.MAIN]) if days.MAIN in rows else "",
        "by_case": days.by_case(cases),
        "days_runs": counted(len(row["runs"]) for row in cases.values()),
        "by_year": years.table(by_year),
        "years_runs": counted(len(row["runs"]) for row in by_year.values()),
    }


def plots(rows: Rows) -> list[Plot]:
    return days.plots(rows[days.MAIN]) if days.MAIN in rows else []


def claims(rows: Rows) -> list[Claim]:
    main, from_one = rows.get(days.MAIN), rows.get(days.FROM_ONE)
    better = f"TSDPMM beats DPMM (NMI, Table 2: +{days.PAPER_GAIN} on average)"
    lifelong = "TSDPMM-L beats TSDPMM (NMI, Table 2: +0.032 on average) on days 2 and 3"
    missing = "the call for papers and the abstracts of 2011 are not available"
    as_authors = "counting this year's documents only, as the authors' programs do"
    return [
        _claim(f"{better}, over runs, DPMM from 20 random clusters", main),
        _claim(f"{better}, over runs, DPMM from one cluster", from_one, why=START),
        _day_to_day(f"{better}, over days, DPMM from 20 random clusters", main),
        _claim(lifelong, main, days.L, "TSDPMM"),
        _perplexity(rows, "beta = 1", "mixture", "of the mixture"),
        _perplexity(rows, "beta = 0.1", "documents_only", as_authors),
        single("TSDPMM-P beats TSDPMM-E (perplexity, Table 1)", missing, None),
    ]


def _perplexity(rows: Rows, key: str, measure: str, how: str) -> Claim:
    row = rows.get(key)
    later = [year for year in years.YEARS if "TSDPMM-P" in years.PAPER[year]]
    gains = {f"NIPS {year}": years.gain(row, year, measure) if row else None for year in later}
    says = f"TSDPMM-P has a lower perplexity than DPMM (Table 1), {key}, {how}"
    return wins(says, gains, COUNTED if measure == "mixture" else "")


def _day_to_day(says: str, row: Row | None) -> Claim:
    if row is None:
        return single(says, "not measured yet", None)
    found = days.gain(row, over="days")
    why = "The days differ more than the runs do."
    return single(says, f"{signed(found)} over {counted([found.n], 'day')}", _met(found), why)


def _claim(
    says: str, row: Row | None, ours: str = "TSDPMM", theirs: str = "DPMM", why: str = ""
) -> Claim:
    if row is None:
        return single(says, "not measured yet", None)
    found = days.gain(row, ours=ours, theirs=theirs)
    geometric = days.gain(row, "nmi_geometric", ours=ours, theirs=theirs)
    shown = f"{signed(found)} over {counted([found.n])} (geometric NMI {signed(geometric)})"
    return single(says, shown, _met(found), why)


def _met(found: Interval) -> bool | None:
    return found.above_zero if found.n > 1 else None


PAPER = Paper(
    title="TSDPMM",
    citation="Linmei Hu, Juanzi Li, Xiaoli Li, Chao Shao, Xuzhong Wang. TSDPMM: Incorporating Prior "
    "Topic Knowledge into Dirichlet Process Mixture Models for Text Clustering. EMNLP 2015.",
    picture="tsdpmm-table-2",
    files=("papers/tsdpmm", "papers/nips"),
    takes=(*days.CASES, *map(str, years.BETAS)),
    run=run,
    tables=tables,
    plots=plots,
    claims=claims,
)
