"""Table 1: perplexity with last year's clusters as seeds, by three definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...harness.data import load
from ...harness.scores import Interval, paired, summary
from ...harness.store import Options, Results, Row, Rows
from ...harness.tables import markdown, mean_sd
from .days import Runs, at, dpmm, runs, tsdpmm

YEARS = {year: f"tsdpmm_nips_{year}" for year in (2012, 2013, 2014)}
BETAS = (1.0, 0.1)
PAPER = {
    2012: {"DPMM": 321.7},
    2013: {"DPMM": 317.1, "TSDPMM-P": 298.7},
    2014: {"DPMM": 362.9, "TSDPMM-P": 346.8},
}
MEASURES = ("mixture", "given_z", "documents_only")


def key(beta: float) -> str:
    return f"beta = {beta:g}"


def run(options: Options) -> None:
    results, seeds = Results("papers/nips", options), range(options.times(5))
    for name in options.choose(tuple(map(str, BETAS)), quick=len(BETAS)):
        beta = float(name)
        results.fill(_one_run, {f"{key(beta)}, seed {seed}": (beta, seed) for seed in seeds})


def _one_run(task: tuple[float, int]) -> Row:
    """Perplexities by year and model."""
    beta, seed = task
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


def gain(runs: Runs, year: int, measure: str) -> Interval:
    """How much lower TSDPMM-P's perplexity is than DPMM's, over the runs."""
    return paired(*(at(runs, str(year), model, measure) for model in ("DPMM", "TSDPMM-P")))


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


def table(rows: Rows) -> str:
    """The paper's Table 1."""
    lines = []
    for beta in BETAS:
        found = runs(rows, key(beta))
        for year, paper in PAPER.items() if found else ():
            for model, theirs in paper.items():
                measures = (*MEASURES, "n_clusters")
                cells = [mean_sd(summary(at(found, str(year), model, m)), 1) for m in measures]
                lines.append([f"{beta:g}", year, len(found), model, *cells, theirs])
    head = ["beta", "NIPS", "runs", "model", "mixture", "given z", "documents only", "clusters"]
    return markdown([*head, "paper"], lines)
