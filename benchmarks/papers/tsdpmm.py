"""TSDPMM: prior topics as seeds of a Dirichlet process mixture. Tables 1 and 2 and what they claim."""

from __future__ import annotations

from .. import nips, tsdpmm
from ..store import Options, Row
from ..tables import signed
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
            f"{SETTINGS} Perplexity as in LDA's paper. Ours: the same, and beta = .1. {nips.HOW}"
        )
        title = "Table 1. Perplexity of NIPS abstracts, last year's clusters as seeds"
        found.append(Part(title, settings, nips.table(by_year)))
    cases = {name: rows[name] for name in tsdpmm.CASES if name in rows}
    if cases:
        settings = f"{SETTINGS} NMI, its mean not said. Ours: the same with 20 runs. {tsdpmm.HOW}"
        title = "Table 2. NMI by day, yesterday's clusters as seeds"
        found.append(Part(title, settings, tsdpmm.table(cases)))
    return found


def claims(rows: dict[str, Row]) -> list[Claim]:
    row, by_year = rows.get(tsdpmm.MAIN), _by_beta(rows)
    better = f"TSDPMM beats DPMM (NMI, Table 2: +{tsdpmm.PAPER_GAIN} on average, p < .025)"
    lifelong = "TSDPMM-L beats TSDPMM (NMI, Table 2: +.032 on average, p < .025)"
    perplexity = "TSDPMM-P beats DPMM (perplexity, Table 1), beta = 1"
    if row is None:
        found = [Claim(says, "not measured yet", None) for says in (better, lifelong)]
    else:
        days = tsdpmm.gain(row, over="days")
        found = [
            _claim(f"{better}: the paper's six days, over runs", row),
            Claim(f"{better}: from day to day, over the six days", signed(days), days.above_zero),
            _claim(f"{lifelong}: days 2 and 3", row, tsdpmm.L, "TSDPMM"),
        ]
    gains = {
        f"NIPS {year}": nips.gain(by_year["beta = 1"], year, "mixture") if by_year else None
        for year in LATER
    }
    found.append(wins(perplexity, gains))
    missing = "not measured: the call for papers and the abstracts of 2011 are not here"
    found.append(Claim("TSDPMM-P beats TSDPMM-E (perplexity, Table 1)", missing, None))
    return found


def _by_beta(rows: dict[str, Row]) -> dict[str, Row]:
    return {key: row for key, row in rows.items() if key.startswith("beta = ")}


def _claim(says: str, row: Row, ours: str = "TSDPMM", theirs: str = "DPMM") -> Claim:
    found = tsdpmm.gain(row, ours=ours, theirs=theirs)
    geometric = tsdpmm.gain(row, "nmi_geometric", ours=ours, theirs=theirs)
    measured = f"{signed(found)} over {found.n} runs (geometric {signed(geometric)})"
    return Claim(says, measured, found.above_zero if found.n > 1 else None)
