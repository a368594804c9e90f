"""Converts models to plain arrays and numbers, and back. `io` reads and writes the files.

Checksums protect against accidents, not against malicious authors. So nothing is trusted: every array
that indexes another is checked before a kernel uses it, and everything that follows from the labels is
compared with them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie._arrays import STEP
from coterie.counts import Corpus, Counts, check_totals
from coterie.errors import InvalidInput, ModelFileError
from coterie.frozen import flags_of
from coterie.kernels import tally as tally_kernels
from coterie.model import Model, SeedClusters
from coterie.state import from_labels, word_counts
from coterie.urns import NO_CAP, RHO, Urn, changed, check_room, flat, process

Arrays = dict[str, npt.NDArray[Any]]

_KINDS: dict[str, Any] = {
    "size": np.int64,
    "total": np.int64,
    "ptr": np.int64,
    "cluster": np.int32,
    "held": np.int32,
    "beta": np.float64,
}
_SEEDS: dict[str, Any] = {
    "seed_weight": np.float64,
    "seed_ptr": np.int64,
    "seed_word": np.int32,
    "seed_count": np.int32,
    "seed_cluster": np.int64,
}
_RELATED: dict[str, Any] = {"relate_ptr": np.int64, "relate_word": np.int32}
_MOST = {"burst": 1.0, "size_prior": 1e100, "open_weight": 1e100, "kappa": 1e6, "rho": 1e6}
_MAX_BETA = 1e9
_PER_ROW: dict[str, Any] = {
    "labels": np.int64,
    "outlier_score": np.float64,
    "typicality": np.float64,
    "length": np.int64,
}


def damaged(path: Path, what: str) -> ModelFileError:
    """The error for a model file that cannot be used."""
    return ModelFileError(f"{path} is damaged: {what}. Save the model again, or restore a copy.")


def model_arrays(model: Model) -> Arrays:
    """The arrays of a model; `read_model` is the inverse."""
    urn, frozen = model.urn, model.frozen
    uniform = urn.words.beta.size > 0 and bool((urn.words.beta == urn.words.beta[0]).all())
    arrays: Arrays = {name: getattr(frozen, name) for name in _KINDS if name != "beta"}
    arrays["beta"] = urn.words.beta[:1] if uniform else urn.words.beta
    if model.seeds is not None:
        arrays |= {name: flat(urn)[name] for name in _SEEDS if name != "seed_cluster"}
        arrays["seed_cluster"] = model.seeds.cluster
        arrays["seed_text"] = _as_bytes([model.seeds.names, model.seeds.unknown])
    if urn.relations.promotion:
        arrays |= {name: flat(urn)[name] for name in _RELATED}
    if model.n_dimensions:
        mean = np.zeros(model.n_dimensions) if model.mean is None else model.mean
        arrays |= {"vector_sums": frozen.sums, "vector_mean": mean}
    return arrays


def urn_numbers(model: Model) -> dict[str, Any]:
    """The numbers of the urn, for JSON."""
    urn = model.urn
    return {
        "burst": urn.words.burstiness,
        "size_prior": urn.sizes.prior,
        "open_weight": urn.sizes.open_weight,
        "cap": urn.sizes.cap,
        "one": urn.words.one,
        "promotion": urn.relations.promotion,
        "kappa": urn.location.kappa,
        "rho": urn.location.rho,
    }


def read_model(
    path: Path, config_path: Path, config: dict[str, Any], arrays: Arrays, words: Any
) -> Model:
    """Rebuild a model from arrays (from `path`) and config (from `config_path`)."""
    if not set(arrays) >= set(_KINDS):
        raise damaged(path, "arrays are missing")
    size, total, ptr, cluster, held, beta = (arrays[name] for name in _KINDS)
    n_words, n_clusters = ptr.size - 1, size.size
    ok = (
        _are(arrays, _KINDS)
        and n_words >= 0
        and total.size == n_clusters > 0
        and _is_ptr(ptr, cluster.size)
        and cluster.size == held.size
        and beta.size in (1, n_words)
        and _within(cluster, 0, n_clusters)
        and _ascends(ptr, cluster)
        and bool((held > 0).all() and (size >= 0).all() and (total >= 0).all())
        and bool(np.isfinite(beta).all() and (beta > 0).all() and (beta <= _MAX_BETA).all())
        and (words is None or len(words) == n_words)
    )
    if not ok or (np.bincount(cluster, held, n_clusters) != total).any():
        raise damaged(path, "its arrays do not match")
    urn = _urn(config_path, config["urn"], np.broadcast_to(beta, (n_words,)).copy(), n_clusters)
    seeds = None
    if "seed_text" in arrays:
        urn, seeds = _seeds(path, urn, arrays, n_clusters)
    if urn.relations.promotion:
        urn = _relations(path, urn, arrays)
    sums, mean = _vectors(path, urn, arrays, n_clusters)
    model = replace(Model.make(urn, size, total, ptr, cluster, held, words, seeds, sums), mean=mean)
    found = size > 0
    if seeds is not None:
        found[seeds.cluster] = True
        if model.counted.nnz and model.counted.data.min() < 0:
            raise damaged(path, "its seeds have more words than their clusters")
    if not found.all():
        raise damaged(path, "a cluster has no documents")
    return model


def read_rows(path: Path, arrays: Arrays, model: Model, sampled: bool = False) -> Arrays:
    """Labels and scores of the training rows; sizes and word counts must match the labels.

    If the rows are a sample of the training rows, there must be enough documents and words for them.
    """
    per_row = {name: arrays.get(name, np.zeros((0, 0))) for name in _PER_ROW}
    labels, length = per_row["labels"], per_row["length"]
    ok = (
        _are(arrays, _PER_ROW)
        and all(array.size == labels.size for array in per_row.values())
        and _within(labels, -1, model.n_clusters)
        and bool((length >= 0).all() and (labels[length > 0] >= 0).all())
    )
    if not ok:
        raise damaged(path, "its labels do not match its clusters")
    counted = length > 0
    weight = arrays.get("weight")  # not saved by earlier versions
    exact = weight is not None
    if weight is None:
        weight = counted.astype(np.int64)
    ok = weight.dtype == np.int64 and weight.shape == labels.shape and _within(weight, 0, 2**31)
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
        ok = _within(finest, -1, labels.size + 1) and bool(((finest < 0) == (labels < 0)).all())
    if not ok:
        raise damaged(path, "its levels do not match its labels")
    return kept


def _urn(path: Path, saved: dict[str, Any], beta: npt.NDArray[np.float64], n_clusters: int) -> Urn:
    numbers: dict[str, Any] = {
        name: saved.get(name) for name in ("burst", "size_prior", "open_weight")
    }
    numbers |= {
        "kappa": saved.get("kappa", 0.0),
        "rho": saved.get("rho", RHO),
    }  # not in version 0.1
    known = {"one": 1, "promotion": 0, **saved}  # nor these
    whole: dict[str, Any] = {name: known.get(name) for name in ("cap", "one", "promotion")}
    sane = (
        all(isinstance(v, float | int) and 0 <= v <= _MOST[name] for name, v in numbers.items())
        and numbers["burst"] in (0, 1)
        and numbers["rho"] > 0
        and all(isinstance(v, int) and 0 <= v <= NO_CAP for v in whole.values())
        and n_clusters <= whole["cap"]
        and 0 < whole["one"] < 2**31
        and whole["promotion"] < 2**31
    )
    if not sane:
        raise damaged(path, "its urn is not valid")
    changes: dict[str, Any] = {**whole, **{k: float(v) for k, v in numbers.items()}}
    return changed(process(1.0, beta), unit=1.0 / whole["one"], **changes)


def _seeds(path: Path, urn: Urn, arrays: Arrays, n_clusters: int) -> tuple[Urn, SeedClusters]:
    text = _json_in(arrays["seed_text"])
    names, unknown = text if isinstance(text, list) and len(text) == 2 else ([], [])
    weight, ptr, word, count, cluster = (arrays.get(name, np.zeros((0, 0))) for name in _SEEDS)
    ok = (
        _are(arrays, _SEEDS)
        and _are_texts(names)
        and isinstance(unknown, list)
        and all(_are_texts(row) for row in unknown)
        and 0 < weight.size == cluster.size == len(names) == len(unknown) == ptr.size - 1
        and _is_ptr(ptr, word.size)
        and bool((np.diff(ptr) > 0).all())
        and word.size == count.size
        and _within(word, 0, urn.words.beta.size)
        and bool((count > 0).all() and (weight >= 0).all() and (weight <= 1e100).all())
        and _within(cluster, 0, n_clusters)
        and np.unique(cluster).size == cluster.size
    )
    if not ok:
        raise damaged(path, "its seeds do not match")
    urn = changed(urn, seed_weight=weight, seed_ptr=ptr, seed_word=word, seed_count=count)
    return urn, SeedClusters(tuple(names), cluster, tuple(map(tuple, unknown)))


def _relations(path: Path, urn: Urn, arrays: Arrays) -> Urn:
    ptr, word = (arrays.get(name, np.zeros((0, 0))) for name in _RELATED)
    ok = (
        _are(arrays, _RELATED)
        and ptr.size == urn.words.beta.size + 1
        and _is_ptr(ptr, word.size)
        and _within(word, 0, urn.words.beta.size)
    )
    if not ok:
        raise damaged(path, "its related words do not match")
    return changed(urn, relate_ptr=ptr, relate_word=word)


def _vectors(
    path: Path, urn: Urn, arrays: Arrays, n_clusters: int
) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.float64] | None]:
    """Sums of vectors, and the mean of the raw ones, where the model has any."""
    if not urn.location.kappa and "vector_sums" not in arrays:
        return None, None
    sums, mean = (arrays.get(name, np.zeros(0)) for name in ("vector_sums", "vector_mean"))
    ok = (
        sums.dtype == mean.dtype == np.float64
        and sums.ndim == 2
        and len(sums) == n_clusters
        and 0 < sums.shape[1] == mean.size
        and mean.ndim == 1
        and bool(np.isfinite(mean).all() and (np.abs(sums) <= 2.0**38).all())
        and bool((sums == np.rint(sums / STEP) * STEP).all())
        and urn.location.kappa > 0.0
        and not urn.relations.promotion
    )
    if not ok:
        raise damaged(path, "its vectors do not match")
    return sums, mean


def _are(arrays: Arrays, kinds: dict[str, Any]) -> bool:
    found = [arrays.get(name) for name in kinds]
    return all(
        a is not None and a.ndim == 1 and a.dtype == np.dtype(kind)
        for a, kind in zip(found, kinds.values(), strict=True)
    )


def names_array(names: list[str]) -> Arrays:
    """The column names a model was fitted on, as an array; there may be millions."""
    return {"feature_names": _as_bytes(names)}


def read_names(path: Path, arrays: Arrays, n_words: int) -> list[str] | None:
    """The inverse of `names_array`."""
    if "feature_names" not in arrays:
        return None
    names = _json_in(arrays["feature_names"])
    if not _are_texts(names) or len(names) != n_words:
        raise damaged(path, "its column names do not match")
    return list(names)


def _as_bytes(value: Any) -> npt.NDArray[np.uint8]:
    """JSON as an array of bytes; the unknown words of seeds may be millions."""
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _json_in(array: npt.NDArray[Any]) -> Any:
    """The inverse of `_as_bytes`, unchecked; None if it is not JSON."""
    try:
        return json.loads(array.tobytes())
    except (ValueError, RecursionError):
        return None


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _is_ptr(ptr: npt.NDArray[Any], size: int) -> bool:
    return bool(ptr.size > 0 and ptr[0] == 0 and (ptr[1:] >= ptr[:-1]).all() and ptr[-1] == size)


def _within(array: npt.NDArray[Any], low: int, high: int) -> bool:
    return not array.size or bool(array.min() >= low and array.max() < high)


def _ascends(ptr: npt.NDArray[Any], index: npt.NDArray[Any]) -> bool:
    """Whether the indices of each CSR row increase, so that none occurs twice."""
    ascends = np.append(index[1:] > index[:-1], True)
    ascends[ptr[1:][ptr[1:] > 0] - 1] = True
    return bool(ascends.all())


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
        _are(arrays, kinds)
        and ptr.size == n_rows + 1
        and _is_ptr(ptr, word.size)
        and _within(word, 0, n_words)
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
    """Vectors as whole numbers of steps; they fit int16, since none is longer than 1."""
    if not counts.vectors.shape[1]:
        return {}
    return {"doc_vector": np.rint(counts.vectors / STEP).astype(np.int16)}


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
        _are(arrays, kinds)
        and rows.size == per_row["labels"].size
        and _is_ptr(ptr, word.size)
        and bool((ptr[1:] > ptr[:-1]).all())
        and tally.size == word.size
        and weight.size == ptr.size - 1 > 0
        and _within(word, 0, n_words)
        and bool((tally > 0).all())
        and _within(weight, 1, 2**31)
        and _within(rows, -1, weight.size)
        and np.unique(rows[rows >= 0]).size == weight.size
        and not tally_kernels.has_repeats(ptr, word, np.full(n_words, -1, np.int64))
    )
    if not ok:
        raise damaged(path, "its documents do not match")
    length = np.add.reduceat(tally, ptr[:-1], dtype=np.int64)
    corpus = Corpus(Counts(ptr, word, tally, length, weight, n_words), rows)
    if model.n_dimensions:
        stored = arrays.get("doc_vector", np.zeros(0))
        if stored.dtype != np.int16 or stored.shape != (weight.size, model.n_dimensions):
            raise damaged(path, "its documents have no vectors")
        vectors = (stored * np.float32(STEP)).astype(np.float32)
        corpus = corpus._replace(counts=corpus.counts._replace(vectors=vectors))
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
