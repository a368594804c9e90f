"""Perplexity with last year's clusters as seeds: the paper's Table 1, and what explains it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .data import YEARS, load
from .scores import Interval, Summary, paired, summaries
from .store import Options, Results, Row, say
from .tables import Verdict, markdown, mean_sd
from .tsdpmm import dpmm, tsdpmm

TITLE = "TSDPMM: perplexity with last year's clusters as seeds"
HOW = (
    "TSDPMM-P's seeds are the clusters DPMM found in the year before, run by run. Perplexity of the "
    "documents fitted, three ways: *mixture*, the library's `perplexity`: each document by the sum "
    "over clusters of theta times the product of phi; *given z*: by the phi of its own cluster, in "
    "which the seeds' words count, as they do in the model; *documents only*: the same with phi from "
    "this year's documents alone, which is what the authors' published programs compute."
)
FOUND = (
    "Perplexity: the paper states beta = 1. That leaves about five clusters and a perplexity above "
    "900, nearly three times the paper's. With beta = .1 there are about 65 clusters, as fine as the "
    'topics the paper names ("nash games", "monte carlo particle filtering"), and *documents only* is '
    "within 4% of its values for 2013 and 2014, TSDPMM-P below DPMM as there. That order is the "
    "definition's: TSDPMM-P has about a quarter more clusters for the same documents, so each is fitted "
    "closer. When phi holds the seeds' words too, as the model has it, the order turns around."
)
NOTE = (
    f"NIPS abstracts by year, settings as in the section before. {HOW} Quoted, since their priors are "
    "not here: TSDPMM-P 290.1 for 2012; TSDPMM-E 307.5, 315.6 and 360.1 for 2012 to 2014.\n\n"
    f"{FOUND}"
)
BETAS = (1.0, 0.1)
PAPER = {
    2012: {"DPMM": 321.7},
    2013: {"DPMM": 317.1, "TSDPMM-P": 298.7},
    2014: {"DPMM": 362.9, "TSDPMM-P": 346.8},
}
MEASURES = ("mixture", "given_z", "documents_only")


def run(options: Options) -> dict[str, Row]:
    results = Results("nips", options)
    for beta in options.choose(tuple(map(str, BETAS)), quick=len(BETAS)):
        row = results.grow(
            f"beta = {float(beta):g}", options.times(5), partial(_one_run, float(beta))
        )
        for year in YEARS:
            found = {name: of["documents_only"]["mean"] for name, of in summed(row, year).items()}
            shown = ", ".join(f"{name} {value:.0f}" for name, value in found.items())
            say(f"beta = {beta}, NIPS {year}: documents only: {shown}")
    return results.rows


def _one_run(beta: float, seed: int) -> Row:
    """Perplexities by year and model."""
    found: Row = {}
    before = None
    for year, file in YEARS.items():
        documents = load(file).documents
        models = {"DPMM": dpmm(documents, seed, beta=beta)}
        if before is not None:
            models["TSDPMM-P"] = tsdpmm(before, documents, seed, beta=beta)
        found[str(year)] = {name: perplexities(model, documents) for name, model in models.items()}
        before = models["DPMM"]
    return found


def summed(row: Row, year: int) -> dict[str, dict[str, Summary]]:
    """By model the summary of each perplexity over the runs."""
    runs = [run[str(year)] for run in row["runs"]]
    return {name: summaries([run[name] for run in runs]) for name in runs[0]}


def gain(row: Row, year: int, measure: str) -> Interval:
    """How much lower TSDPMM-P's perplexity is than DPMM's, over the runs."""
    runs = [run[str(year)] for run in row["runs"]]
    return paired(*([run[name][measure] for run in runs] for name in ("DPMM", "TSDPMM-P")))


def perplexities(model: Any, documents: Any) -> dict[str, float]:
    """Perplexity of the documents a model was fitted on, by each definition."""
    counted = model.model_.counted.toarray()  # clusters x words, of documents alone
    beta = model.model_.urn.beta
    alone = (counted + beta) / (counted.sum(axis=1, keepdims=True) + beta.sum())
    n_words = counted.sum()
    return {
        "mixture": model.perplexity(documents),
        "given_z": float(np.exp(-(counted * np.log(model.model_.word_matrix())).sum() / n_words)),
        "documents_only": float(np.exp(-(counted * np.log(alone)).sum() / n_words)),
        "n_clusters": int((model.cluster_sizes_ > 0).sum()),
    }


def table(rows: dict[str, Row]) -> str:
    """The paper's Table 1."""
    head = ["beta", "NIPS", "runs", "model", "mixture", "given z", "documents only", "clusters"]
    lines = []
    for key, row in rows.items():
        for year in YEARS:
            for name, of in summed(row, year).items():
                cells = [mean_sd(of[measure], 1) for measure in MEASURES]
                cells += [mean_sd(of["n_clusters"], 1), PAPER[year][name]]
                lines.append([key[7:], year, len(row["runs"]), name, *cells])
    return markdown([*head, "paper"], lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for key, row in rows.items():
        for year in (year for year in YEARS if "TSDPMM-P" in PAPER[year]):
            paper, models = PAPER[year], summed(row, year)
            shown = "; ".join(
                f"{measure.replace('_', ' ')} {models['TSDPMM-P'][measure]['mean']:.0f} against "
                f"{models['DPMM'][measure]['mean']:.0f}"
                for measure in MEASURES
            )
            asked = f"reported (paper {paper['TSDPMM-P']:.0f} against {paper['DPMM']:.0f})"
            what = f"Perplexity, TSDPMM-P against DPMM: {key}, NIPS {year}"
            found.append(Verdict(what, asked, shown, None))
    return found
