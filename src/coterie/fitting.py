"""From a corpus and an urn to a frozen model: the one way, under `cluster()` and every estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import sampler
from coterie.backends import get_backend
from coterie.counts import Corpus, Counts
from coterie.distributed.documents import Documents, LocalDocuments
from coterie.frozen import LeaveOut, flags_of
from coterie.model import Model, SeedClusters
from coterie.sample_start import is_large
from coterie.state import Assignment, from_labels
from coterie.urns import Urn

if TYPE_CHECKING:
    from coterie.seeds import EncodedSeeds

PASSES = 20  # the maximum number of passes that move documents to their most probable clusters
# Of large corpora: so many passes at most, until this share of the documents is there.
LARGE_PASSES, ENOUGH = 4, 0.999
FEW = 100  # clusters up to which settling also finds the probabilities

Ints = npt.NDArray[np.int64]


class Task(NamedTuple):
    """What to fit, and how."""

    counts: Counts
    urn: Urn
    plan: sampler.Plan
    words: list[str] | None
    seeds: EncodedSeeds | SeedClusters | None = None
    backend: str = "auto"


class Fitted(NamedTuple):
    """A frozen model and the run that led to it."""

    model: Model
    labels: Ints  # (documents,) the cluster of each
    flag: npt.NDArray[np.uint8]  # (entries,) which words promote related words; promoted urn only
    run: sampler.Run
    agreement: (
        float  # share of documents that the model predicts to be where they are; nan: not asked
    )
    probability: npt.NDArray[np.float64] | None = None  # of the most probable cluster of each


def fit(
    task: Task,
    *,
    settle: bool = False,
    n_jobs: int | None = None,
    on_settle: Callable[[], Any] = lambda: None,
    then: Callable[[sampler.Run], sampler.Run] = lambda run: run,
) -> Fitted:
    """Sample, then freeze.

    `then` may replace the labels and the urn of the run. With `settle`, every document is then moved to
    its most probable cluster, so that the labels are what `predict` says of the same documents.
    """
    run = then(sampler.run(task.counts, task.urn, task.plan, get_backend(task.backend)))
    return frozen(task, run, settle=settle, n_jobs=n_jobs, on_settle=on_settle)


def frozen(
    task: Task,
    run: sampler.Run,
    *,
    settle: bool = False,
    n_jobs: int | None = None,
    on_settle: Callable[[], Any] = lambda: None,
) -> Fitted:
    """The frozen model of a run."""
    if settle:
        on_settle()
    model, labels = _freeze(task, run.urn, run.assignment)
    agreement, probability = float("nan"), None
    if settle:
        model, labels, agreement, probability = _settled(task, run, model, labels, n_jobs)
    return Fitted(model, labels, run.assignment.flag, run, agreement, probability)


def _freeze(task: Task, urn: Urn, assignment: Assignment) -> tuple[Model, Ints]:
    named = () if task.seeds is None else (task.seeds.names, task.seeds.unknown)
    model, cluster_of = Model.freeze(urn, task.counts, assignment, task.words, *named)
    if task.backend == "cuda":  # a model of several machines scores on this one
        model = replace(model, backend=task.backend)
    return model, cluster_of[assignment.labels].astype(np.int64)


def _settled(
    task: Task, run: sampler.Run, model: Model, labels: Ints, n_jobs: int | None
) -> tuple[Model, Ints, float, npt.NDArray[np.float64] | None]:
    """Move every document to its most probable cluster, until none moves (or PASSES times)."""
    counts, urn = task.counts, run.urn
    # with many clusters, the probabilities of every pass take longer than those of a pass of their own
    known = model.n_clusters <= FEW
    documents = LocalDocuments(counts, [(0, counts.n_docs)], n_jobs, known, np.float64)
    documents.labels = labels.astype(np.int32)

    def again(model: Model) -> Model:
        slots = model.slots(documents.labels.astype(np.int64))
        moved = from_labels(counts, urn, slots, run.assignment.flag).assignment
        model, found = _freeze(task, urn, moved)
        documents.labels = found.astype(np.int32)
        return model

    until = (LARGE_PASSES, ENOUGH) if is_large(counts) else (PASSES, 1.0)
    model, agreement = settle(documents, model, again, urn.sizes.cap, *until)
    probability = documents.probability if known else None
    return model, documents.labels.astype(np.int64), agreement, probability


def settle(
    documents: Documents,
    model: Model,
    again: Callable[[Model], Model],
    cap: int,
    passes: int,
    enough: float,
) -> tuple[Model, float]:
    """Move every document to its most probable cluster, until enough of them are there.

    The labels are clusters of `model`. `again` makes a model of labels that have changed, and gives the
    documents its numbers. Returns the model of the labels that are left, and the share of documents whose
    label is the model's own prediction: 1 if a fixed point was reached, and no cluster had to be kept from
    emptying.
    """
    for last in (*[False] * passes, True):
        before = documents.labels
        documents.place(model, np.arange(model.n_clusters, dtype=np.int32))
        agreement = documents.agreement(before)
        if last or agreement >= enough:
            break
        if model.n_clusters == cap:  # exactly so many were asked for: none may empty
            had = model.frozen.size > 0
            while (lost := np.flatnonzero(had & (documents.n_in(model.n_clusters) == 0))).size:
                documents.keep(before, lost)
            if documents.agreement(before) == 1.0:
                break
        model = again(model)
    documents.labels = before
    return model, agreement


def row_values(
    model: Model, corpus: Corpus, labels: Ints, promoting: Any = None, n_jobs: int | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Outlier score, typicality, length and weight of each training row; `labels` are per document."""
    counts = corpus.counts
    first_row = corpus.per_document(np.arange(corpus.doc_of_row.size))
    flag = None if promoting is None else flags_of(promoting, counts, first_row)
    scores = model.outlier_scores(counts, LeaveOut(labels, flag), n_jobs)
    return {
        "outlier_score": corpus.per_row(scores, np.nan),
        "typicality": corpus.per_row(model.typicality(counts, labels), np.nan),
        "length": corpus.per_row(counts.length, 0),
        "weight": corpus.row_weights(),
    }
