"""Edits of a clustering: rename, merge, split and drop words, exact on the counts, with undo.

In: a `Clustering` and what to change. Out: the same object, changed: labels, model, names and all that
follows from them. After an edit, the clusters are numbered by size again, and keep their names. Nothing
is approximated: the model after an edit is the one counted from the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie import fitting, levels, naming, sampler
from coterie._sentence import counted
from coterie.backends import get_backend
from coterie.counts import Corpus, Counts, subset
from coterie.errors import InvalidInput
from coterie.frozen import flags_of
from coterie.model import Model
from coterie.nesting import need_all_texts
from coterie.sampler import Plan
from coterie.state import from_labels
from coterie.text import stopping
from coterie.text._json import whole
from coterie.urns import Urn, changed

if TYPE_CHECKING:
    from coterie.clustering import Clustering

Ints = npt.NDArray[np.int64]
RUNS, SWEEPS = 5, 20  # to split a cluster
_STATE = (  # what an edit changes
    *("model", "labels", "vectorizer", "corpus", "trust", "agreement"),
    *("given_names", "edits", "apart"),
)


# ---------------------------------------------------------------- names
def rename(groups: Clustering, cluster: int, name: str) -> None:
    """Give a cluster another name."""
    _need_cluster(groups, cluster)
    names = list(groups.names)
    old, others = names[cluster], names[:cluster] + names[cluster + 1 :]
    names[cluster] = _checked_name(name, others)
    apart = names[cluster] if groups.apart == old else groups.apart
    _change(groups, f"renamed {cluster} to {name!r}", given_names=names, apart=apart)


def name_with(
    groups: Clustering,
    make: Callable[[list[str], list[str]], str],
    n_texts: int = 10,
    on_progress: Callable[[int, int], Any] | None = None,
) -> list[int]:
    """Name every cluster with a function of its words and typical texts; return those it failed on.

    Where the function fails, or returns nothing, the cluster keeps its name.
    """
    names, failed = list(groups.names), []
    words = [[word for word, _ in row] for row in groups.top_words(20)]
    for k in [k for k in range(groups.n_clusters) if names[k] != groups.apart]:
        texts = [groups.rows.texts[i] for i in groups.representatives(k, n_texts)]
        try:
            made = make(words[k], texts)
            base = whole(" ".join(str(made).split())) if made else ""
        except Exception:  # whatever the user's function raises
            base = ""
        if base:
            others = {name.lower() for i, name in enumerate(names) if i != k}
            name, n = base, 2
            while name.lower() in others:
                name, n = f"{base} ({n})", n + 1
            names[k] = name
        else:
            failed.append(k)
        if on_progress is not None:
            on_progress(k + 1, groups.n_clusters)
    _change(groups, "named by a function", given_names=names)
    return failed


def _checked_name(name: Any, others: Sequence[str]) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"A name is a text such as 'Cards', not {name!r}.")
    if whole(name) != name:
        raise InvalidInput(f"The name {name!r} holds bytes that are not UTF-8. Write it in UTF-8.")
    if name.strip().lower() in {other.lower() for other in others}:
        raise InvalidInput(f"Another cluster is already called {name!r}. Choose another name.")
    return name.strip()


# ---------------------------------------------------------------- merge and split
def merge(groups: Clustering, clusters: Sequence[int], name: str | None = None) -> int:
    """Make one cluster of several; return its number. It keeps the name of the largest one."""
    need_all_texts(groups, "merge()", "Call cluster_large again, with fewer n_clusters.")
    found = _several(groups, clusters)
    seeds = groups.model.seeds
    of_seeds = [] if seeds is None else [k for k in found if k in seeds.cluster]
    if len(of_seeds) > 1:
        raise InvalidInput(
            f"The clusters {of_seeds[0]} and {of_seeds[1]} are both seeds, which stay apart. Cluster the"
            " texts again with one seed instead of two."
        )
    into = of_seeds[0] if of_seeds else min(found)
    named = _checked_name(name, _others(groups, found)) if name else groups.names[min(found)]
    labels = groups.corpus.per_document(groups.labels)
    labels[np.isin(labels, found)] = into
    said = "merged " + ", ".join(f"{k} ({groups.names[k]!r})" for k in found)
    numbers = _relabel(groups, labels, groups.model.urn, {into: named}, found, said)
    return int(numbers[into])


def split(groups: Clustering, cluster: int, into: int = 2) -> list[int]:
    """Make several clusters of one, by sampling its texts alone; return their numbers."""
    need_all_texts(groups, "split()", "Call cluster_large again, with more n_clusters.")
    _need_cluster(groups, cluster)
    labels = groups.corpus.per_document(groups.labels)
    docs = np.flatnonzero(labels == cluster)
    if isinstance(into, bool) or not isinstance(into, int | np.integer) or into < 2:
        raise InvalidInput(f"into must be a whole number of at least 2, not {into!r}.")
    if docs.size < into:
        raise InvalidInput(
            f"Cluster {cluster} has {counted(docs.size, 'different text')}, so it cannot be split into"
            f" {into}."
        )
    task = _task(groups)
    counts = subset(task.counts, docs)
    parts = _divided(
        task._replace(counts=counts), int(into), groups.key, int(task.counts.weight.sum())
    )
    order = np.argsort(-np.bincount(parts, counts.weight), kind="stable")
    rank = np.argsort(order)[parts]  # the largest part keeps the number
    n = groups.n_clusters
    labels[docs] = np.where(rank == 0, cluster, n + rank - 1)
    urn = _with_room(groups.model.urn, n + into - 1)
    said = f"split {cluster} ({groups.names[cluster]!r}) into {into}"
    numbers = _relabel(groups, labels, urn, {cluster: None}, [cluster], said)
    return [int(numbers[k]) for k in (cluster, *range(n, n + into - 1))]


def set_apart(groups: Clustering, name: str = "Outliers") -> int | None:
    """Put the outliers into a cluster of their own; return its number, None without outliers."""
    odd = groups.corpus.per_document(groups.outliers)
    if not odd.any():
        return None
    labels, n = groups.corpus.per_document(groups.labels), groups.n_clusters
    touched = np.unique(labels[odd]).tolist()
    labels[odd] = n
    urn = _with_room(groups.model.urn, n + 1)
    free = name if name not in groups.names else f"{name} (of all clusters)"
    number = _relabel(groups, labels, urn, {n: free}, touched, "set the outliers apart")
    groups.apart = free
    return int(number[n])


def _divided(task: fitting.Task, into: int, key: int, n_all: int) -> Ints:
    """Part documents into groups: the most probable result of several short runs.

    The prior of a cluster was made for all texts; here it is worth as much less as there are fewer.
    """
    counts, words = task.counts, task.urn.words
    share = float(counts.weight.sum()) / n_all
    less = {"beta": words.beta * share, "beta_sum": words.beta_sum * share}
    urn = changed(levels.with_cap(task.urn, into), **levels.NO_SEEDS, **less)
    runs = []
    for i in range(RUNS):
        plan = Plan(SWEEPS, "random", (key + i) % 2**64)
        run = sampler.run(counts, urn, plan, get_backend(task.backend))
        last = run.trace[-1]
        runs.append((last.clusters, last.log_joint, -i, run.assignment))
    best = max(runs, key=lambda run: run[:3])[3]
    if np.unique(best.labels).size < into:
        best = levels.divided(task, urn, best, into, key)[1]
    return np.unique(best.labels, return_inverse=True)[1]


def _relabel(
    groups: Clustering,
    labels: Ints,
    urn: Urn,
    named: dict[int, str | None],
    touched: Sequence[int],
    said: str,
) -> Ints:
    """Count the model of new labels (per document, any numbers); return the number each one got.

    `named` are the new names of some of these labels, None for one to be made; others keep theirs.
    """
    counts, old = groups.corpus.counts, groups.model
    seeds = old.seeds
    slot_of = np.full(int(max(labels.max(), old.n_clusters - 1)) + 1, -1, np.int32)
    kept = np.zeros(0, np.int64) if seeds is None else seeds.cluster
    slot_of[kept] = np.arange(kept.size)
    found = np.setdiff1d(np.unique(labels), kept)
    slot_of[found] = kept.size + np.arange(found.size)
    flag = None
    if groups.promoting is not None:
        first = groups.corpus.per_document(np.arange(len(groups.rows)))
        flag = flags_of(groups.promoting, counts, first)
    assignment = from_labels(counts, urn, slot_of[labels], flag).assignment
    about = () if seeds is None else (seeds.names, seeds.unknown)
    model, cluster_of = Model.freeze(urn, counts, assignment, groups.vectorizer.words, *about)
    model = replace(model, mean=old.mean, backend=old.backend)
    per_document = cluster_of[slot_of[labels]].astype(np.int64)
    number = np.where(slot_of >= 0, cluster_of[slot_of], -1).astype(np.int64)
    names: dict[int, str] = {}
    for label in np.flatnonzero(number >= 0).tolist():
        chosen = named.get(label, groups.names[label] if label < old.n_clusters else None)
        if chosen is not None:
            names[int(number[label])] = chosen
    rows = groups.corpus.per_row(per_document, -1)
    _change(
        groups,
        said,
        model=model,
        labels=rows,
        trust=_trust(groups, touched),
        agreement=_agreement(model, counts, per_document),
        given_names=None,
    )
    groups.given_names = list(naming.names_of(groups, names))
    _forget(groups)
    return number


def _trust(groups: Clustering, touched: Sequence[int]) -> Any:
    """Trust is known for clusters that were found, not for those that were made."""
    if groups.trust is None:
        return None
    return np.where(np.isin(groups.labels, touched), np.nan, groups.trust)


def _agreement(model: Model, counts: Counts, labels: Ints) -> float:
    return float(np.average(model.predict(counts) == labels, weights=counts.weight))


# ---------------------------------------------------------------- words
def drop_words(groups: Clustering, words: Sequence[str]) -> None:
    """Leave words out of the model, and sample a little more from where it is."""
    need_all_texts(
        groups, "drop_words()", "Call cluster_large again, with these words in stop_words."
    )
    dropped = _known_words(groups, words)
    tokenizer = groups.vectorizer.tokenizer
    assert tokenizer is not None
    own = tokenizer.stop_words if isinstance(tokenizer.stop_words, tuple) else ()
    more = tuple(sorted({*own, *map(stopping.normal, words)}))
    vectorizer = replace(groups.vectorizer, tokenizer=replace(tokenizer, stop_words=more))
    corpus, labels = _without(groups, dropped)
    task = _task(groups)
    task = task._replace(counts=corpus.counts, urn=_seeds_without(task.urn, dropped))
    begun = from_labels(corpus.counts, task.urn, groups.model.slots(labels)).assignment
    plan = Plan(levels.REFINE, begun, groups.key)
    run = sampler.run(corpus.counts, task.urn, plan, get_backend(task.backend))
    fitted = fitting.frozen(task, run, settle=True)
    model = replace(fitted.model, mean=groups.model.mean, backend=groups.model.backend)
    names = _carried_names(groups, labels, fitted.labels, model.n_clusters, words)
    _change(
        groups,
        "dropped the words " + ", ".join(words),
        model=model,
        labels=corpus.per_row(fitted.labels, -1),
        vectorizer=vectorizer,
        corpus=corpus,
        agreement=fitted.agreement,
        trust=None if groups.trust is None else np.full(groups.trust.size, np.nan),
        given_names=None,
    )
    groups.given_names = list(naming.names_of(groups, names))
    _forget(groups)


def _known_words(groups: Clustering, words: Any) -> Ints:
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise InvalidInput(f"Pass a list of words, such as ['please', 'thanks'], not {words!r}.")
    if groups.vectorizer.tokenizer is None or groups.model.urn.relations.promotion:
        raise InvalidInput(
            "Words can only be dropped from a model with coterie's own tokenizer and without related"
            " words. Cluster the texts again, without these words."
        )
    asked = set(map(stopping.normal, words))
    known = groups.vectorizer.words
    found = [i for i, word in enumerate(known) if stopping.normal(word) in asked]
    missing = sorted(asked - {stopping.normal(known[i]) for i in found})
    if missing:
        raise InvalidInput(
            f"The model does not know {counted(len(missing), 'of the words', 'of the words')}:"
            f" {', '.join(missing[:5])}. Write words as groups.top_words() shows them."
        )
    return np.array(found, np.int64)


def _without(groups: Clustering, dropped: Ints) -> tuple[Corpus, Ints]:
    """The corpus without some words, and the labels of the documents that are left."""
    c, labels = groups.corpus.counts, groups.corpus.per_document(groups.labels)
    stays = ~np.isin(c.word, dropped)
    document = np.repeat(np.arange(c.n_docs), np.diff(c.ptr))
    length = np.bincount(document[stays], c.tally[stays], c.n_docs).astype(np.int64)
    docs = np.flatnonzero(length > 0)
    if not docs.size:
        raise InvalidInput("No text would have a word left. Drop fewer words.")
    ptr = np.append(0, np.cumsum(np.bincount(document[stays], minlength=c.n_docs)))
    kept = c._replace(
        ptr=ptr.astype(np.int64), word=c.word[stays], tally=c.tally[stays], length=length
    )
    number = np.full(c.n_docs + 1, -1, np.int64)
    number[docs] = np.arange(docs.size)
    return Corpus(subset(kept, docs), number[groups.corpus.doc_of_row]), labels[docs]


def _seeds_without(urn: Urn, dropped: Ints) -> Urn:
    s = urn.seeds
    stays = ~np.isin(s.word, dropped)
    before = np.append(0, np.cumsum(stays))
    return changed(
        urn,
        seed_ptr=before[s.ptr].astype(np.int64),
        seed_word=s.word[stays],
        seed_count=s.tally[stays],
    )


def _carried_names(
    groups: Clustering, before: Ints, after: Ints, n: int, words: Sequence[str]
) -> dict[int, str]:
    """Names of clusters that are mostly the same as before, unless they hold a dropped word."""
    both = np.zeros((groups.n_clusters, n), np.int64)
    np.add.at(both, (before, after), 1)
    names = {}
    for k in range(n):
        old = int(both[:, k].argmax())
        gone = set(map(stopping.normal, words)) & set(groups.names[old].lower().split())
        if both[old, k] and int(both[old].argmax()) == k and not gone:
            names[k] = groups.names[old]
    return names


# ---------------------------------------------------------------- changes and undo
def undo(groups: Clustering) -> str:
    """Take the last edit back; return what it was."""
    if not groups.history:
        raise InvalidInput(
            "There is nothing to undo: no edit was made since these groups were loaded."
        )
    said = groups.edits[-1]
    for name, value in groups.history.pop().items():
        setattr(groups, name, value)
    _forget(groups)
    return said


def _change(groups: Clustering, said: str, **values: Any) -> None:
    groups.history.append({name: getattr(groups, name) for name in _STATE})
    for name, value in values.items():
        setattr(groups, name, value)
    groups.edits = [*groups.edits, said]
    _forget(groups)


def _forget(groups: Clustering) -> None:
    """Forget what was computed from the labels and the model."""
    for cls in type(groups).__mro__:
        for name, value in vars(cls).items():
            if isinstance(value, cached_property):
                groups.__dict__.pop(name, None)


def _task(groups: Clustering) -> fitting.Task:
    plan = Plan(levels.REFINE, "random", groups.key)
    model = groups.model
    seeds: Any = model.seeds
    return fitting.Task(
        groups.corpus.counts, model.urn, plan, groups.vectorizer.words, seeds, model.backend
    )


def _with_room(urn: Urn, n: int) -> Urn:
    return urn if n <= urn.sizes.cap else changed(urn, cap=n)


def _others(groups: Clustering, clusters: Sequence[int]) -> list[str]:
    return [name for k, name in enumerate(groups.names) if k not in clusters]


def _several(groups: Clustering, clusters: Any) -> list[int]:
    if isinstance(clusters, str) or not hasattr(clusters, "__iter__"):
        raise InvalidInput(
            f"Pass the numbers of the clusters to merge, as in [3, 7], not {clusters!r}."
        )
    try:
        asked = list(clusters)
    except TypeError:  # an array without dimensions
        asked = [clusters]
    for cluster in asked:
        _need_cluster(groups, cluster)
    found = sorted(map(int, set(asked)))
    if len(found) < 2:
        raise InvalidInput("Pass at least two different clusters to merge, as in [3, 7].")
    return found


def _need_cluster(groups: Clustering, cluster: Any) -> None:
    whole = isinstance(cluster, int | np.integer) and not isinstance(cluster, bool)
    if not whole or not 0 <= cluster < groups.n_clusters:
        raise InvalidInput(
            f"There is no cluster {cluster!r}. Clusters are numbered 0 to {groups.n_clusters - 1}."
        )
