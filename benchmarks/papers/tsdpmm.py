"""TSDPMM: prior topics as seeds of a Dirichlet process mixture. Tables 1 and 2 and what they claim."""

from __future__ import annotations

from .. import nips, tsdpmm
from ..store import Options, Row
from ..tables import counted, signed
from .kit import Claim, Part, Quoted, wins

TITLE = "TSDPMM"
CITATION = (
    "Linmei Hu, Juanzi Li, Xiaoli Li, Chao Shao, Xuzhong Wang: TSDPMM: Incorporating Prior Topic "
    "Knowledge into Dirichlet Process Mixture Models for Text Clustering. EMNLP 2015."
)
FILES = ("tsdpmm", "nips")
FOUND = f"{tsdpmm.FOUND}\n\n{nips.FOUND}"
QUOTED = (
    Quoted("Table 1: TSDPMM-P, NIPS 2012", "290.1", "needs the abstracts of 2011"),
    Quoted(
        "Table 1: TSDPMM-E, NIPS 2012 to 2014", "307.5, 315.6, 360.1", "needs the call for papers"
    ),
)
SETTINGS = (
    "Paper: alpha = alpha0 = beta = 1, at most 100 sweeps, stopped when the log-likelihood converges, "
    "mean of 5 runs."
)
LATER = (2013, 2014)


def run(options: Options) -> dict[str, Row]:
    return {**tsdpmm.run(options), **nips.run(options)}


def parts(rows: dict[str, Row]) -> list[Part]:
    found = []
    by_year = _by_beta(rows)
    if by_year:
        settings = (
            f"{SETTINGS} Perplexity as in LDA's paper. Ours: the same with {_runs(by_year)}, and "
            f"beta = .1. {nips.HOW}"
        )
        title = "Table 1. Perplexity of NIPS abstracts, last year's clusters as seeds"
        found.append(Part(title, settings, nips.table(by_year)))
    cases = {name: rows[name] for name in tsdpmm.CASES if name in rows}
    if cases:
        settings = (
            f"{SETTINGS} NMI, its mean not said. Ours: the same with {_runs(cases)}. {tsdpmm.HOW}"
        )
        title = "Table 2. NMI by day, yesterday's clusters as seeds"
        found.append(Part(title, settings, tsdpmm.table(cases)))
    return found


def claims(rows: dict[str, Row]) -> list[Claim]:
    main, from_one = rows.get(tsdpmm.MAIN), rows.get(tsdpmm.FROM_ONE)
    better = f"TSDPMM beats DPMM (NMI, Table 2: +{tsdpmm.PAPER_GAIN} on average, p < .025)"
    lifelong = "TSDPMM-L beats TSDPMM (NMI, Table 2: +.032 on average, p < .025)"
    missing = "not measured: the call for papers and the abstracts of 2011 are not here"
    return [
        _claim(f"{better}: six days, over runs; DPMM starts from 20 random clusters", main),
        _claim(f"{better}: the same, but DPMM starts from one cluster", from_one),
        _from_day_to_day(f"{better}: from day to day, DPMM from 20 random clusters", main),
        _claim(f"{lifelong}: days 2 and 3", main, tsdpmm.L, "TSDPMM"),
        _perplexity(rows, "beta = 1", "mixture", "by the mixture"),
        _perplexity(
            rows, "beta = 0.1", "documents_only", "documents only, as the authors' programs count"
        ),
        Claim("TSDPMM-P beats TSDPMM-E (perplexity, Table 1)", missing, None),
    ]


def _by_beta(rows: dict[str, Row]) -> dict[str, Row]:
    return {key: row for key, row in rows.items() if key.startswith("beta = ")}


def _runs(rows: dict[str, Row]) -> str:
    return counted(len(row["runs"]) for row in rows.values())


def _perplexity(rows: dict[str, Row], key: str, measure: str, how: str) -> Claim:
    row = rows.get(key)
    gains = {f"NIPS {year}": nips.gain(row, year, measure) if row else None for year in LATER}
    return wins(f"TSDPMM-P beats DPMM (perplexity, Table 1), {key}, {how}", gains)


def _from_day_to_day(says: str, row: Row | None) -> Claim:
    if row is None:
        return Claim(says, "not measured yet", None)
    found = tsdpmm.gain(row, over="days")
    measured = f"{signed(found)} over {counted([found.n], 'day')}"
    return Claim(says, measured, found.above_zero if found.n > 1 else None)


def _claim(says: str, row: Row | None, ours: str = "TSDPMM", theirs: str = "DPMM") -> Claim:
    if row is None:
        return Claim(says, "not measured yet", None)
    found = tsdpmm.gain(row, ours=ours, theirs=theirs)
    geometric = tsdpmm.gain(row, "nmi_geometric", ours=ours, theirs=theirs)
    measured = f"{signed(found)} over {counted([found.n])} (geometric {signed(geometric)})"
    return Claim(says, measured, found.above_zero if found.n > 1 else None)
