"""The levels of a finished clustering: its tree, a table of numbers of clusters, and any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie import fitting, levels, merging, naming, sampler
from coterie.backends import SamplerOptions, threads
from coterie.errors import InvalidInput
from coterie.model import Model
from coterie.sampler import Stop
from coterie.state import Assignment, from_labels
from coterie.trace import Trace
from coterie.urns import Urn, has_joint

if TYPE_CHECKING:
    from coterie.clustering import Clustering

Ints = npt.NDArray[np.int64]


def need_all_texts(groups: Clustering, what: str, instead: str) -> None:
    """Refuse what counts the rows again where these are a sample of the texts: sizes would be wrong."""
    if groups.of_sample:
        raise InvalidInput(
            f"{what} counts all texts again, but only a sample of them is here"
            f" ({len(groups.rows):,} rows; the clusters hold {groups.n_texts:,} texts). {instead}"
        )


def at(groups: Clustering, n: int) -> Clustering:
    """Exactly n clusters, cut from the finest ones."""
    need_all_texts(groups, "at()", f"Call cluster_large again with n_clusters={n}.")
    task, finest = _finest(groups)
    most, fewest = finest.open_slots.size, max(1, task.urn.seeds.weight.size + 1)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInput(f"at() takes a number of clusters, such as at(12), not {n!r}.")
    if not min(fewest, most) <= n <= most:
        raise InvalidInput(
            f"There are {fewest} to {most} clusters to choose from here, not {n}. For more, cluster"
            " the texts again with n_clusters."
        )
    if n < most and (not has_joint(task.urn) or most > merging.MOST):
        raise InvalidInput(
            "These clusters cannot be joined: that takes a model without related words, an alpha above 0,"
            f" and at most {merging.MOST:,} clusters. Cluster the texts again with n_clusters."
        )
    urn, assignment = levels.cut(task, task.urn, finest, int(n), groups.key)
    done = Stop("sweeps", f"cut at {n} clusters")
    run = sampler.Run(assignment, urn, {}, Trace(), groups.key, True, done.words, done)
    fitted = fitting.frozen(task, run, settle=True, n_jobs=groups.n_jobs)
    corpus = groups.corpus
    labels = corpus.per_row(fitted.labels, -1)
    return replace(
        groups,
        model=replace(fitted.model, mean=groups.model.mean, backend=groups.model.backend),
        labels=labels,
        agreement=fitted.agreement,
        notes=[note for note in groups.notes if not note.startswith(levels.CHOSEN)],
        trust=_carried_trust(groups, labels),
        given_names=None,
        edits=[],
    )


def _carried_trust(groups: Clustering, labels: Ints) -> Any:
    """Trust is known for the level of the fit alone."""
    if groups.trust is None or np.array_equal(labels, groups.labels):
        return groups.trust
    return np.full(labels.size, np.nan)


def joins(groups: Clustering) -> dict[str, Any]:
    """All joins, as columns."""
    task, finest = _finest(groups)
    found = merging.tree(task.counts, task.urn, finest)
    if found is None:
        nothing = np.zeros(0, np.int64)
        found = merging.Tree(nothing, nothing, nothing, np.zeros(0))
    return merging.columns(found, np.arange(finest.id.size), task.urn.seeds.weight.size)


def table(groups: Clustering) -> dict[str, list[Any]]:
    """Numbers of clusters, as columns, with the names of the clusters of each."""
    task, finest = _finest(groups)
    tree = merging.tree(task.counts, task.urn, finest)
    stops = set(levels.stops(groups.level_rows))
    names = []
    memo: naming.Memo = {}
    for level in groups.level_rows:
        assignment = finest
        if tree is not None and level.groups < finest.open_slots.size:
            cut = tree.labels(finest, level.groups - task.urn.seeds.weight.size)
            assignment = from_labels(task.counts, task.urn, cut).assignment
        names.append(_names(groups, task, assignment, memo))
    return {
        "clusters": [level.groups for level in groups.level_rows],
        "log_joint": [level.log_joint for level in groups.level_rows],
        "agreement": [level.agreement for level in groups.level_rows],
        "stop": [level.groups in stops for level in groups.level_rows],
        "chosen": [level.groups == groups.n_clusters for level in groups.level_rows],
        "names": names,
    }


def ids(groups: Clustering) -> Ints:
    """The number of each cluster in the tree: the same branch has the same one at every level."""
    from scipy.optimize import linear_sum_assignment

    task, finest = _finest(groups)
    tree = merging.tree(task.counts, task.urn, finest)
    n, n_seeds = groups.n_clusters, task.urn.seeds.weight.size
    branch = finest.labels.astype(np.int64)
    if tree is not None and n < finest.open_slots.size:
        branch = tree.labels(finest, n - n_seeds).astype(np.int64)
    both = np.zeros((n, max(int(branch.max()) + 1, n)))
    np.add.at(both, (groups.corpus.per_document(groups.labels), branch), 1.0)
    cluster, own = linear_sum_assignment(-both)
    found = np.empty(n, np.int64)
    found[cluster] = own
    return found


def _names(
    groups: Clustering, task: fitting.Task, assignment: Assignment, memo: naming.Memo
) -> list[str]:
    seeds = groups.model.seeds
    named = () if seeds is None else (seeds.names, seeds.unknown)
    words = groups.vectorizer.words
    model, cluster_of = Model.freeze(task.urn, task.counts, assignment, words, *named)
    spare = [words[row[0][0]] if row else "" for row in model.top_words(1, "distinct")]
    of_seed = model.seeds
    taken = (
        {} if of_seed is None else dict(zip(of_seed.cluster.tolist(), of_seed.names, strict=True))
    )
    labels = groups.corpus.per_row(cluster_of[assignment.labels].astype(np.int64), -1)
    return list(naming.names_for(groups, labels, taken, spare, memo))


def _finest(groups: Clustering) -> tuple[fitting.Task, Assignment]:
    """The clusters before any cut, as a task to go on from."""
    if groups.finest is None:
        raise InvalidInput(
            "These clusters were saved by an earlier version, so there are no levels. Cluster the texts"
            " again."
        )
    counts, labels = groups.corpus.counts, groups.corpus.per_document(groups.finest)
    urn = _of_finest(groups.model.urn, int(labels.max(initial=0)) + 1)
    options = SamplerOptions(n_jobs=threads(groups.n_jobs))
    plan = sampler.Plan(levels.REFINE, "random", groups.key, options)
    words, seeds = groups.vectorizer.words, groups.model.seeds
    task = fitting.Task(counts, urn, plan, words, seeds, groups.model.backend)
    return task, from_labels(counts, urn, labels.astype(np.int32)).assignment


def _of_finest(urn: Urn, n: int) -> Urn:
    return urn if n <= urn.sizes.cap else levels.with_cap(urn, n)
