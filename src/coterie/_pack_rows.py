"""Converts what a model keeps of its training rows to arrays, and back.

As in `_pack`, nothing is trusted: everything that follows from the labels is compared with them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie._pack import Arrays, are, are_texts, as_bytes, damaged, is_ptr, json_in, within
from coterie.counts import Corpus, Counts, check_totals
from coterie.errors import InvalidInput
from coterie.frozen import flags_of
from coterie.kernels import tally as tally_kernels
from coterie.model import Model
from coterie.state import from_labels, word_counts
from coterie.urns import check_room

_PER_ROW: dict[str, Any] = {
    "labels": np.int64,
    "outlier_score": np.float64,
    "typicality": np.float64,
    "length": np.int64,
}


def read_rows(path: Path, arrays: Arrays, model: Model, sampled: bool = False) -> Arrays:
    """Labels and scores of the training rows; sizes and word counts must match the labels.

    If the rows are a sample of the training rows, there must be enough documents and words for them.
    """
    per_row = {name: arrays.get(name, np.zeros((0, 0))) for name in _PER_ROW}
    labels, length = per_row["labels"], per_row["length"]
    ok = (
        are(arrays, _PER_ROW)
        and all(array.size == labels.size for array in per_row.values())
        and within(labels, -1, model.n_clusters)
        and bool((length >= 0).all() and (labels[length > 0] >= 0).all())
    )
    if not ok:
        raise damaged(path, "its labels do not match its clusters")
    counted = length > 0
    weight = arrays.get("weight")  # not saved by earlier versions
    exact = weight is not None
    if weight is None:
        weight = counted.astype(np.int64)
    ok = weight.dtype == np.int64 and weight.shape == labels.shape and within(weight, 0, 2**31)
    if not ok or (weight[~counted] > 0).any():
        raise damaged(path, "its weights do not match its rows")
    own = labels[counted]
    size = np.bincount(own, weight[counted], model.n_clusters)
    words = np.bincount(own, weight[counted] * length[counted].astype(float), model.n_clusters)
    words *= model.urn.words.one
    if model.seeds is not None:
        given = np.add.reduceat(model.urn.seeds.tally, model.urn.seeds.ptr[:-1], dtype=np.int64)
        words[model.seeds.cluster] += given
    frozen = model.frozen
    few = (size > frozen.size).any() or (words > frozen.total).any()
    all_there = exact and not sampled
    other = all_there and (size != frozen.size).any()
    other |= all_there and not model.urn.relations.promotion and (words != frozen.total).any()
    if few or other:
        raise damaged(path, "its sizes and counts do not match its labels")
    return {
        **per_row,
        **({"weight": weight} if exact else {}),
        **_of_levels(path, arrays, labels),
    }


def _of_levels(path: Path, arrays: Arrays, labels: npt.NDArray[np.int64]) -> Arrays:
    """The clusters before any cut, and the trust in each row; earlier versions saved neither."""
    kept: Arrays = {name: arrays[name] for name in ("finest", "trust") if name in arrays}
    kinds = {"finest": np.int64, "trust": np.float64}
    ok = all(a.dtype == kinds[name] and a.shape == labels.shape for name, a in kept.items())
    if ok and "finest" in kept:
        finest = kept["finest"]
        ok = within(finest, -1, labels.size + 1) and bool(((finest < 0) == (labels < 0)).all())
    if not ok:
        raise damaged(path, "its levels do not match its labels")
    return kept


def names_array(names: list[str]) -> Arrays:
    """The column names a model was fitted on, as an array; there may be millions."""
    return {"feature_names": as_bytes(names)}


def read_names(path: Path, arrays: Arrays, n_words: int) -> list[str] | None:
    """The inverse of `names_array`."""
    if "feature_names" not in arrays:
        return None
    names = json_in(arrays["feature_names"])
    if not are_texts(names) or len(names) != n_words:
        raise damaged(path, "its column names do not match")
    return list(names)


def promoting_arrays(promoting: Any) -> Arrays:
    """Which words of which training rows promote related words, as arrays."""
    return {
        "promoting_ptr": promoting.indptr.astype(np.int64),
        "promoting_word": promoting.indices.astype(np.int32),
    }


def read_promoting(path: Path, arrays: Arrays, model: Model, n_rows: int) -> Any:
    """The inverse: a sparse matrix of training rows x words, or None for other urns."""
    if not model.urn.relations.promotion and "promoting_ptr" not in arrays:
        return None
    if not model.urn.relations.promotion or "promoting_ptr" not in arrays:
        raise damaged(path, "its promoting words do not match its urn")
    ptr, word = arrays["promoting_ptr"], arrays.get("promoting_word", np.zeros((0, 0)))
    kinds = {"promoting_ptr": np.int64, "promoting_word": np.int32}
    n_words = model.urn.words.beta.size
    ok = (
        are(arrays, kinds)
        and ptr.size == n_rows + 1
        and is_ptr(ptr, word.size)
        and within(word, 0, n_words)
    )
    if not ok:
        raise damaged(path, "its promoting words do not match")
    return sparse.csr_matrix((np.ones(word.size, np.uint8), word, ptr), (n_rows, n_words))


def corpus_arrays(corpus: Corpus) -> Arrays:
    """The training documents as arrays."""
    counts = corpus.counts
    return {
        "doc_of_row": corpus.doc_of_row,
        "doc_ptr": counts.ptr,
        "doc_word": counts.word,
        "doc_tally": counts.tally,
        "doc_weight": counts.weight,
        **_stored_vectors(counts),
    }


def _stored_vectors(counts: Counts) -> Arrays:
    if not counts.vectors.shape[1]:
        return {}
    return {"doc_vector": counts.vectors}


def read_corpus(
    path: Path,
    arrays: Arrays,
    model: Model,
    per_row: Arrays,
    promoting: Any = None,
    sampled: bool = False,
) -> Corpus | None:
    """The training documents, if they were saved; their words must match the counts of the model."""
    if "doc_ptr" not in arrays:
        return None
    kinds = {
        "doc_of_row": np.int64,
        "doc_ptr": np.int64,
        "doc_word": np.int32,
        "doc_tally": np.int32,
        "doc_weight": np.int64,
    }
    rows, ptr, word, tally, weight = (arrays.get(name, np.zeros((0, 0))) for name in kinds)
    n_words = model.urn.words.beta.size
    ok = (
        are(arrays, kinds)
        and rows.size == per_row["labels"].size
        and is_ptr(ptr, word.size)
        and bool((ptr[1:] > ptr[:-1]).all())
        and tally.size == word.size
        and weight.size == ptr.size - 1 > 0
        and within(word, 0, n_words)
        and bool((tally > 0).all())
        and within(weight, 1, 2**31)
        and within(rows, -1, weight.size)
        and np.unique(rows[rows >= 0]).size == weight.size
        and not tally_kernels.has_repeats(ptr, word, np.full(n_words, -1, np.int64))
    )
    if not ok:
        raise damaged(path, "its documents do not match")
    length = np.add.reduceat(tally, ptr[:-1], dtype=np.int64)
    corpus = Corpus(Counts(ptr, word, tally, length, weight, n_words), rows)
    if model.n_dimensions:
        stored = arrays.get("doc_vector", np.zeros(0))
        if stored.dtype not in (np.int16, np.int8) or stored.shape != (
            weight.size,
            model.n_dimensions,
        ):
            raise damaged(path, "its documents have no vectors")
        corpus = corpus._replace(counts=corpus.counts._replace(vectors=stored))
    fits = _is_part if sampled else _makes
    if not fits(model, corpus, per_row, promoting):
        raise damaged(path, "its counts do not match its documents")
    return corpus


def _is_part(model: Model, corpus: Corpus, per_row: Arrays, promoting: Any) -> bool:
    """Whether the labelled documents may be some of those that the model was counted from."""
    counts, labels = corpus.counts, corpus.per_document(per_row["labels"])
    same_rows = (
        np.array_equal(corpus.per_row(labels, -1), per_row["labels"])
        and np.array_equal(corpus.per_row(counts.length, 0), per_row["length"])
        and promoting is None
        and not model.urn.relations.promotion
    )
    if not same_rows:
        return False
    at = labels, np.arange(counts.n_docs)
    members = sparse.csr_matrix((counts.weight, at), (model.n_clusters, counts.n_docs))
    words = sparse.csr_matrix(
        (counts.tally.astype(np.int64), counts.word, counts.ptr), (counts.n_docs, model.n_words)
    )
    rest = model.counted - members @ words * model.urn.words.unit
    return not rest.nnz or bool(rest.data.min() >= 0)


def _makes(model: Model, corpus: Corpus, per_row: Arrays, promoting: Any) -> bool:
    """Whether counting the labelled documents again gives the model."""
    labels = corpus.per_document(per_row["labels"])
    same_rows = (
        np.array_equal(corpus.per_row(labels, -1), per_row["labels"])
        and np.array_equal(corpus.per_row(corpus.counts.length, 0), per_row["length"])
        and (promoting is not None) == (model.urn.relations.promotion > 0)
    )
    if not same_rows:
        return False
    try:
        check_totals(corpus.counts, "the model")
        check_room(model.urn, corpus.counts)
    except InvalidInput:
        return False
    slot_of, frozen = model.slots(np.arange(model.n_clusters)), model.frozen
    flag = None
    if promoting is not None:
        first_row = corpus.per_document(np.arange(corpus.doc_of_row.size))
        flag = flags_of(promoting, corpus.counts, first_row)
    state = from_labels(corpus.counts, model.urn, slot_of[labels], flag)
    if state.n_open != model.n_clusters:
        return False
    cluster_of = np.full(state.size.size, -1, np.int32)
    cluster_of[slot_of] = np.arange(model.n_clusters)
    ptr, cluster, held = word_counts(state, cluster_of)
    return (
        np.array_equal(state.size[slot_of], frozen.size)
        and np.array_equal(state.total[slot_of], frozen.total)
        and np.array_equal(ptr, frozen.ptr)
        and np.array_equal(cluster, frozen.cluster)
        and np.array_equal(held, frozen.held)
        and np.array_equal(state.sums[slot_of], frozen.sums)
    )
