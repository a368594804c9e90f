"""Table 1: perplexity with last year's clusters as seeds, by three definitions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...harness.data import load
from ...harness.scores import Interval, Summary, paired, summaries
from ...harness.store import Options, Results, Row, Rows, say
from ...harness.tables import markdown, mean_sd
from .days import dpmm, tsdpmm

YEARS = {year: f"tsdpmm_nips_{year}" for year in (2012, 2013, 2014)}
BETAS = (1.0, 0.1)
PAPER = {
    2012: {"DPMM": 321.7},
    2013: {"DPMM": 317.1, "TSDPMM-P": 298.7},
    2014: {"DPMM": 362.9, "TSDPMM-P": 346.8},
}
MEASURES = ("mixture", "given_z", "documents_only")


def run(options: Options) -> None:
    results = Results("papers/nips", options)
    for beta in options.choose(tuple(map(str, BETAS)), quick=len(BETAS)):
        row = results.grow(
            f"beta = {float(beta):g}", options.times(5), partial(_one_run, float(beta))
        )
        for year in YEARS:
            found = {name: of["documents_only"]["mean"] for name, of in summed(row, year).items()}
            shown = ", ".join(f"{name} {value:.0f}" for name, value in found.items())
            say(f"beta = {beta}, NIPS {year}: documents only: {shown}")


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
    beta = model.model_.urn.words.beta
    alone = (counted + beta) / (counted.sum(axis=1, keepdims=True) + beta.sum())
    n_words = counted.sum()
    return {
        "mixture": model.perplexity(documents),
        "given_z": float(np.exp(-(counted * np.log(model.model_.word_matrix())).sum() / n_words)),
        "documents_only": float(np.exp(-(counted * np.log(alone)).sum() / n_words)),
        "n_clusters": int((model.cluster_sizes_ > 0).sum()),
    }


def table(rows: Rows) -> str:
    """The paper's Table 1."""
    lines = []
    for key, row in rows.items():
        for year in YEARS:
            for name, of in summed(row, year).items():
                cells = [mean_sd(of[measure], 1) for measure in (*MEASURES, "n_clusters")]
                beta = key.removeprefix("beta = ")
                lines.append([beta, year, len(row["runs"]), name, *cells, PAPER[year][name]])
    head = ["beta", "NIPS", "runs", "model", "mixture", "given z", "documents only", "clusters"]
    return markdown([*head, "paper"], lines)
