"""A model as plain arrays and numbers, and back: everything is checked, so that a hostile folder
cannot make a kernel read out of bounds. The files themselves are `io`'s.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.counts import Corpus, Counts
from coterie.errors import ModelFileError
from coterie.model import Model, SeedClusters
from coterie.urns import NO_CAP, Urn, process

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


def damaged(path: Path, what: str) -> ModelFileError:
    """What to raise for a file of a model that cannot be used."""
    return ModelFileError(f"{path} is damaged: {what}. Save the model again, or restore a copy.")


def model_arrays(model: Model) -> Arrays:
    """The arrays of a model; `read_model` is the way back."""
    urn, frozen = model.urn, model.frozen
    uniform = urn.beta.size > 0 and bool((urn.beta == urn.beta[0]).all())
    arrays: Arrays = {name: getattr(frozen, name) for name in _KINDS if name != "beta"}
    arrays["beta"] = urn.beta[:1] if uniform else urn.beta
    if model.seeds is not None:
        arrays |= {name: getattr(urn, name) for name in _SEEDS if name != "seed_cluster"}
        arrays["seed_cluster"] = model.seeds.cluster
        arrays["seed_text"] = _as_bytes([model.seeds.names, model.seeds.unknown])
    if urn.promotion:
        arrays |= {name: getattr(urn, name) for name in _RELATED}
    return arrays


def urn_numbers(model: Model) -> dict[str, Any]:
    """The rest of a model, as JSON."""
    urn = model.urn
    return {
        "burst": urn.burst,
        "size_prior": urn.size_prior,
        "open_weight": urn.open_weight,
        "cap": urn.cap,
        "one": urn.one,
        "promotion": urn.promotion,
    }


def read_model(
    path: Path, config_path: Path, config: dict[str, Any], arrays: Arrays, words: Any
) -> Model:
    """The model that arrays (from `path`) and config (from `config_path`) describe."""
    if not set(arrays) >= set(_KINDS):
        raise damaged(path, "arrays are missing")
    size, total, ptr, cluster, held, beta = (arrays[name] for name in _KINDS)
    n_words, n_clusters = ptr.size - 1, size.size
    ok = (
        _are(arrays, _KINDS)
        and n_words >= 0
        and total.size == n_clusters
        and _is_ptr(ptr, cluster.size)
        and cluster.size == held.size
        and beta.size in (1, n_words)
        and bool((cluster >= 0).all() and (cluster < n_clusters).all() and (held > 0).all())
        and bool((size >= 0).all() and (total >= 0).all())
        and bool(np.isfinite(beta).all() and (beta > 0).all())
        and (words is None or len(words) == n_words)
    )
    if not ok or (np.bincount(cluster, held, n_clusters) != total).any():
        raise damaged(path, "its arrays do not fit together")
    urn = _urn(config_path, config["urn"], np.broadcast_to(beta, (n_words,)).copy(), n_clusters)
    seeds = None
    if "seed_text" in arrays:
        urn, seeds = _seeds(path, urn, arrays, n_clusters)
    if urn.promotion:
        urn = _relations(path, urn, arrays)
    return Model.make(urn, size, total, ptr, cluster, held, words, seeds)


def _urn(path: Path, saved: dict[str, Any], beta: npt.NDArray[np.float64], n_clusters: int) -> Urn:
    numbers: dict[str, Any] = {
        name: saved.get(name) for name in ("burst", "size_prior", "open_weight")
    }
    known = {"one": 1, "promotion": 0, **saved}  # models of version 0.1 have neither
    whole: dict[str, Any] = {name: known.get(name) for name in ("cap", "one", "promotion")}
    sane = (
        all(isinstance(v, float | int) and math.isfinite(v) and v >= 0 for v in numbers.values())
        and numbers["burst"] in (0, 1)
        and all(isinstance(v, int) and 0 <= v <= NO_CAP for v in whole.values())
        and n_clusters <= whole["cap"]
        and 0 < whole["one"] < 2**31
        and whole["promotion"] < 2**31
    )
    if not sane:
        raise damaged(path, "its urn makes no sense")
    changes: dict[str, Any] = {**whole, **{k: float(v) for k, v in numbers.items()}}
    return process(1.0, beta)._replace(unit=1.0 / whole["one"], **changes)


def _seeds(path: Path, urn: Urn, arrays: Arrays, n_clusters: int) -> tuple[Urn, SeedClusters]:
    names, unknown = _texts_in(arrays["seed_text"])
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
        and bool((word >= 0).all() and (word < urn.beta.size).all() and (count > 0).all())
        and bool(np.isfinite(weight).all() and (weight >= 0).all())
        and bool((cluster >= 0).all() and (cluster < n_clusters).all())
        and np.unique(cluster).size == cluster.size
    )
    if not ok:
        raise damaged(path, "its seeds do not fit together")
    urn = urn._replace(seed_weight=weight, seed_ptr=ptr, seed_word=word, seed_count=count)
    return urn, SeedClusters(tuple(names), cluster, tuple(map(tuple, unknown)))


def _relations(path: Path, urn: Urn, arrays: Arrays) -> Urn:
    ptr, word = (arrays.get(name, np.zeros((0, 0))) for name in _RELATED)
    ok = (
        _are(arrays, _RELATED)
        and ptr.size == urn.beta.size + 1
        and _is_ptr(ptr, word.size)
        and bool((word >= 0).all() and (word < urn.beta.size).all())
    )
    if not ok:
        raise damaged(path, "its related words do not fit together")
    return urn._replace(relate_ptr=ptr, relate_word=word)


def _are(arrays: Arrays, kinds: dict[str, Any]) -> bool:
    found = [arrays.get(name) for name in kinds]
    return all(
        a is not None and a.ndim == 1 and a.dtype == np.dtype(kind)
        for a, kind in zip(found, kinds.values(), strict=True)
    )


def _as_bytes(value: Any) -> npt.NDArray[np.uint8]:
    """JSON as an array: what yesterday's clusters lack today may be millions of words."""
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _texts_in(array: npt.NDArray[Any]) -> tuple[Any, Any]:
    """(names, unknown) of the seeds, not checked yet; (None, None) where it is nothing like it."""
    try:
        names, unknown = json.loads(array.tobytes())
    except (ValueError, TypeError, RecursionError):
        return None, None
    return names, unknown


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _is_ptr(ptr: npt.NDArray[Any], size: int) -> bool:
    return bool(ptr.size > 0 and ptr[0] == 0 and (ptr[1:] >= ptr[:-1]).all() and ptr[-1] == size)


def promoting_arrays(promoting: Any) -> Arrays:
    """Which words of which training rows promote, as arrays."""
    return {
        "promoting_ptr": promoting.indptr.astype(np.int64),
        "promoting_word": promoting.indices.astype(np.int32),
    }


def read_promoting(path: Path, arrays: Arrays, model: Model, n_rows: int) -> Any:
    """The way back: a sparse matrix of training rows x words, or None for other urns."""
    if "promoting_ptr" not in arrays:
        return None
    ptr, word = arrays["promoting_ptr"], arrays.get("promoting_word", np.zeros((0, 0)))
    kinds = {"promoting_ptr": np.int64, "promoting_word": np.int32}
    n_words = model.urn.beta.size
    ok = (
        _are(arrays, kinds)
        and ptr.size == n_rows + 1
        and _is_ptr(ptr, word.size)
        and bool((word >= 0).all() and (word < n_words).all())
    )
    if not ok:
        raise damaged(path, "what its words promote does not fit")
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
    }


def read_corpus(path: Path, arrays: Arrays, model: Model, n_rows: int) -> Corpus | None:
    """The training documents, where a model keeps them, checked like everything else."""
    if "doc_ptr" not in arrays:
        return None
    names = ("doc_of_row", "doc_ptr", "doc_word", "doc_tally", "doc_weight")
    rows, ptr, word, tally, weight = (arrays.get(name, np.zeros(0)) for name in names)
    kinds = [np.dtype(k) for k in (np.int64, np.int64, np.int32, np.int32, np.int64)]
    n_words = model.urn.beta.size
    ok = (
        [a.dtype for a in (rows, ptr, word, tally, weight)] == kinds
        and all(a.ndim == 1 for a in (rows, ptr, word, tally, weight))
        and rows.size == n_rows
        and ptr.size > 1
        and ptr[0] == 0
        and bool((ptr[1:] > ptr[:-1]).all())
        and word.size == tally.size == ptr[-1]
        and weight.size == ptr.size - 1
        and bool((word >= 0).all() and (word < n_words).all() and (tally > 0).all())
        and bool((weight > 0).all() and (rows >= -1).all() and (rows < weight.size).all())
        and np.unique(rows[rows >= 0]).size == weight.size
    )
    if not ok:
        raise damaged(path, "its documents do not fit together")
    length = np.add.reduceat(tally, ptr[:-1], dtype=np.int64)
    return Corpus(Counts(ptr, word, tally, length, weight, n_words), rows)
