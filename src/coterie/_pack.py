"""Converts models to plain arrays and numbers, and back. `io` reads and writes the files.

`_pack_rows` does the same for what a model keeps of its training rows.

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

from coterie._arrays import STEP
from coterie.errors import ModelFileError
from coterie.model import Model, SeedClusters
from coterie.urns import NO_CAP, RHO, Urn, changed, flat, process

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
        arrays["seed_text"] = as_bytes([model.seeds.names, model.seeds.unknown])
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
        are(arrays, _KINDS)
        and n_words >= 0
        and total.size == n_clusters > 0
        and is_ptr(ptr, cluster.size)
        and cluster.size == held.size
        and beta.size in (1, n_words)
        and within(cluster, 0, n_clusters)
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
    text = json_in(arrays["seed_text"])
    names, unknown = text if isinstance(text, list) and len(text) == 2 else ([], [])
    weight, ptr, word, count, cluster = (arrays.get(name, np.zeros((0, 0))) for name in _SEEDS)
    ok = (
        are(arrays, _SEEDS)
        and are_texts(names)
        and isinstance(unknown, list)
        and all(are_texts(row) for row in unknown)
        and 0 < weight.size == cluster.size == len(names) == len(unknown) == ptr.size - 1
        and is_ptr(ptr, word.size)
        and bool((np.diff(ptr) > 0).all())
        and word.size == count.size
        and within(word, 0, urn.words.beta.size)
        and bool((count > 0).all() and (weight >= 0).all() and (weight <= 1e100).all())
        and within(cluster, 0, n_clusters)
        and np.unique(cluster).size == cluster.size
    )
    if not ok:
        raise damaged(path, "its seeds do not match")
    urn = changed(urn, seed_weight=weight, seed_ptr=ptr, seed_word=word, seed_count=count)
    return urn, SeedClusters(tuple(names), cluster, tuple(map(tuple, unknown)))


def _relations(path: Path, urn: Urn, arrays: Arrays) -> Urn:
    ptr, word = (arrays.get(name, np.zeros((0, 0))) for name in _RELATED)
    ok = (
        are(arrays, _RELATED)
        and ptr.size == urn.words.beta.size + 1
        and is_ptr(ptr, word.size)
        and within(word, 0, urn.words.beta.size)
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


def are(arrays: Arrays, kinds: dict[str, Any]) -> bool:
    """Whether all these arrays are there, with one dimension and the types in `kinds`."""
    found = [arrays.get(name) for name in kinds]
    return all(
        a is not None and a.ndim == 1 and a.dtype == np.dtype(kind)
        for a, kind in zip(found, kinds.values(), strict=True)
    )


def as_bytes(value: Any) -> npt.NDArray[np.uint8]:
    """JSON as an array of bytes; the unknown words of seeds may be millions."""
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def json_in(array: npt.NDArray[Any]) -> Any:
    """The inverse of `as_bytes`, unchecked; None if it is not JSON."""
    try:
        return json.loads(array.tobytes())
    except (ValueError, RecursionError):
        return None


def are_texts(values: Any) -> bool:
    """Whether this is a list of strings."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def is_ptr(ptr: npt.NDArray[Any], size: int) -> bool:
    """Whether these are the starts and ends of CSR rows with `size` entries in all."""
    return bool(ptr.size > 0 and ptr[0] == 0 and (ptr[1:] >= ptr[:-1]).all() and ptr[-1] == size)


def within(array: npt.NDArray[Any], low: int, high: int) -> bool:
    """Whether all values are at least `low` and below `high`."""
    return not array.size or bool(array.min() >= low and array.max() < high)


def _ascends(ptr: npt.NDArray[Any], index: npt.NDArray[Any]) -> bool:
    """Whether the indices of each CSR row increase, so that none occurs twice."""
    ascends = np.append(index[1:] > index[:-1], True)
    ascends[ptr[1:][ptr[1:] > 0] - 1] = True
    return bool(ascends.all())
