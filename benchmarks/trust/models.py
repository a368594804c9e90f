"""Model folders and checkpoints, mutated and signed again: every checksum is right, the content is not.

What is accepted is used in every way there is, and must be whole: labels that make the sizes,
probabilities that add up, and a model that can be saved and opened again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM, checkpoint, cluster
from coterie.errors import CoterieError

from . import mutate
from .cases import is_sentence

TEXTS = [
    "oven bread recipe", "bread dough recipe flour", "bike ride gear", "gear bike ride ride",
    "", "flour bread oven oven oven", "wheel bike chain", "chain gear wheel ride", "dough",
] * 3  # fmt: skip
TOKENS = [text.split() for text in TEXTS]
VECTORS = {
    "bread": [1.0, 0.0], "dough": [0.9, 0.1], "flour": [0.8, 0.2], "bike": [0.0, 1.0],
    "ride": [0.1, 0.9], "wheel": [0.2, 0.8],
}  # fmt: skip
SEEDS = {"food": ["bread", "oven"], "wheels": ["bike"]}


def _fits() -> dict[str, Any]:
    how: dict[str, Any] = {"n_sweeps": 4, "random_state": 1}
    weights = np.arange(len(TEXTS)) % 4
    return {
        "GSDMM": GSDMM(5, **how).fit(TEXTS),
        "weighted": GSDMM(5, tie_duplicates=True, **how).fit(TOKENS, sample_weight=weights),
        "GSDPMM": GSDPMM(seeds=SEEDS, word_vectors=VECTORS, **how).fit(TOKENS),
        "TSDPMM": TSDPMM(SEEDS, **how).fit(TEXTS),
        "GPUDMM": GPUDMM(5, word_vectors=VECTORS, **how).fit(TEXTS),
        "XDMM": XDMM(5, **how).fit(TEXTS),
        "Clustering": cluster(TEXTS, min_df=1),
        "seeded": cluster(TEXTS, min_df=1, seeds=SEEDS),
    }


@cache
def _bases() -> dict[str, dict[str, bytes]]:
    """The files of each model, made once in every child."""
    out = {}
    with tempfile.TemporaryDirectory() as place:
        for name, model in _fits().items():
            model.save(Path(place) / name)
            out[name] = {p.name: p.read_bytes() for p in (Path(place) / name).iterdir()}
    return out


@cache
def _place() -> Path:
    return Path(tempfile.mkdtemp(prefix="coterie-fuzz-"))


def folder(number: int, seed: int) -> str:
    """One mutated folder: refused in a sentence, or opened, whole and usable."""
    rng = np.random.default_rng([seed, 1, number])
    bases = _bases()
    names = list(bases)
    files = dict(bases[names[rng.integers(len(names))]])
    other = bases[names[rng.integers(len(names))]]
    config = json.loads(files["config.json"])
    arrays = unpack(files["arrays.safetensors"])
    for _ in range(1 + int(rng.integers(3))):
        config = _mutated(rng, files, arrays, config, other)
    target = _place() / "model"
    _write(target, files, arrays, config)
    try:
        found = coterie.load(target)
    except CoterieError as error:
        return "refused" if is_sentence(error) else f"not a sentence: {error!r}"
    try:
        return _use_clustering(found) if hasattr(found, "rows") else _use(found)
    except CoterieError as error:
        return "refused" if is_sentence(error) else f"not a sentence: {error!r}"


def _mutated(
    rng: np.random.Generator,
    files: dict[str, bytes],
    arrays: dict[str, Any],
    config: Any,
    other: dict[str, bytes],
) -> Any:
    kind = rng.random()
    name = list(arrays)[rng.integers(len(arrays))]
    if kind < 0.6:
        arrays[name] = mutate.array(rng, arrays[name])
    elif kind < 0.66:
        theirs = unpack(other["arrays.safetensors"])
        name = list(theirs)[rng.integers(len(theirs))]
        arrays[name] = theirs[name]
    elif kind < 0.69:
        del arrays[name]
    elif kind < 0.90:
        part = ["parameters", "fitted", "urn", None][rng.integers(4)]
        if part is None or not isinstance(config, dict) or part not in config:
            return mutate.tree(rng, config)
        config = {**config, part: mutate.tree(rng, config[part])}
    else:
        rest = [n for n in files if n not in ("config.json", "arrays.safetensors")]
        name = rest[rng.integers(len(rest))]
        swap = rng.random() < 0.2 and name in other
        files[name] = other[name] if swap else mutate.content(rng, files[name])
    return config


def _write(target: Path, files: dict[str, bytes], arrays: dict[str, Any], config: Any) -> None:
    """The folder, every checksum right."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    files = {**files, "arrays.safetensors": pack(whole)}
    if isinstance(config, dict):
        listed = config.get("files")
        if isinstance(listed, dict):
            known = {n: c for n, c in files.items() if n in listed}
            listed = {**listed, **{n: hashlib.sha256(c).hexdigest() for n, c in known.items()}}
            config = {**config, "files": listed}
        rest = {key: value for key, value in config.items() if key != "checksum"}
        signed = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
        config = {**config, "checksum": signed}
    files["config.json"] = json.dumps(config).encode()
    for name, content in files.items():
        (target / name).write_bytes(content)


def _use(model: Any) -> str:
    n = model.labels_.size
    labels = model.labels_
    if labels.min(initial=-1) < -1 or labels.max(initial=-1) >= model.n_clusters_:
        return "labels out of range"
    values = model._row_values()
    if "weight" in values:
        sizes = np.bincount(labels[labels >= 0], values["weight"][labels >= 0], model.n_clusters_)
        if (sizes != model.cluster_sizes_).any():
            return "sizes are not those of the labels"
    X: Any = TOKENS if model._learnt_from == "tokens" else TEXTS
    if model.model_.words is None:
        X = np.eye(4, model.n_features_in_, dtype=int)
    found = model.predict(X)
    if found.min(initial=-1) < -1 or found.max(initial=-1) >= model.n_clusters_:
        return "predictions out of range"
    for method in ("nb", "sw"):
        sums = model.predict_proba(X, method=method).sum(axis=1)
        if not np.all((np.abs(sums - 1.0) < 1e-6) | (sums == 0.0)):
            return f"probabilities ({method}) add up to {sums}"
    if not np.isfinite(model.score(X)):
        return "the score is not a number"
    if n == len(TEXTS):
        model.predict(X, rows=np.arange(n))
        model.predict_proba(X[:3], rows=[0, 1, 2])
    model.top_words(5)
    model.top_words(5, by="distinct")
    model.representative_docs(2)
    model.outliers()
    model.outliers(by="score")
    if hasattr(model, "seed_report"):
        with suppress(CoterieError):
            str(model.seed_report())
    repr(model)
    again = _place() / "again"
    shutil.rmtree(again, ignore_errors=True)
    model.save(again)
    same = coterie.load(again)
    return "fine" if (same.labels_ == labels).all() else "saved again it differs"


def _use_clustering(groups: Any) -> str:
    sizes = np.bincount(groups.labels[groups.labels >= 0], minlength=groups.n_clusters)
    if (sizes != groups.model.frozen.size).any():
        return "sizes are not those of the labels"
    groups.predict(TEXTS)
    sums = groups.predict_proba(TEXTS).sum(axis=1)
    if not np.all((np.abs(sums - 1.0) < 1e-6) | (sums == 0.0)):
        return f"probabilities add up to {sums}"
    _ = groups.table, groups.clusters, groups.names, groups.coherence, groups.outlier_score
    groups.explain("bread and bike")
    for row in (0, 1):
        groups.explain(row)
    if groups.model.seeds is not None:
        str(groups.seed_report())
    groups.summary()
    groups.report(_place() / "report.html")
    again = _place() / "again"
    shutil.rmtree(again, ignore_errors=True)
    groups.save(again)
    same = coterie.load(again)
    return "fine" if (same.labels == groups.labels).all() else "saved again it differs"


# ---------------------------------------------------------------- checkpoints
def _runs() -> dict[str, Any]:
    how: dict[str, Any] = {"random_state": 1}
    return {
        "gibbs": lambda **more: GSDMM(5, sampler="gibbs", **how, **more),
        "blocked": lambda **more: GSDMM(
            5, sampler="blocked", block_size=4, n_jobs=2, **how, **more
        ),
        "tied": lambda **more: GSDPMM(tie_duplicates=True, sampler="gibbs", **how, **more),
        "metropolis": lambda **more: XDMM(5, refresh=3, **how, **more),
        "uncollapsed": lambda **more: GSDMM(5, sampler="uncollapsed", **how, **more),
        "em": lambda **more: GSDMM(5, sampler="em", **how, **more),
        "seeded": lambda **more: TSDPMM(SEEDS, sampler="blocked", **how, **more),
        "promoted": lambda **more: GPUDMM(5, word_vectors=VECTORS, **how, **more),
    }


_SWEEPS, _MORE = 25, 28  # metropolis has saved its proposals by then


@cache
def _checkpoints() -> dict[str, tuple[bytes, Any]]:
    """A checkpoint of each run, and the labels it leads to."""
    out = {}
    for name, make in _runs().items():
        path = _place() / f"{name}.ckpt"
        make(n_sweeps=_SWEEPS, checkpoint=path).fit(TEXTS)
        out[name] = path.read_bytes(), make(n_sweeps=_MORE).fit(TEXTS).labels_
    return out


def saved_run(number: int, seed: int) -> str:
    """One mutated checkpoint: refused in a sentence, or gone on from to the same labels."""
    rng = np.random.default_rng([seed, 2, number])
    names = list(_checkpoints())
    name = names[rng.integers(len(names))]
    content, expected = _checkpoints()[name]
    path = _place() / "run.ckpt"
    path.write_bytes(content)
    arrays, about = checkpoint.open_tensors(path)
    del about["digest"]
    may_differ = False
    for _ in range(1 + int(rng.integers(2))):
        kind = rng.random()
        if kind < 0.75:
            key = list(arrays)[rng.integers(len(arrays))]
            # what a backend remembers of earlier sweeps is its word against nobody's
            may_differ |= key.startswith(checkpoint.MEMORY)
            arrays[key] = mutate.array(rng, arrays[key])
        elif kind < 0.8:
            del arrays[list(arrays)[rng.integers(len(arrays))]]
        else:
            key = list(about)[rng.integers(len(about))]
            value = about[key]
            may_differ |= key == "trace"
            try:
                about[key] = json.dumps(mutate.tree(rng, json.loads(value)))
            except ValueError:
                about[key] = mutate.content(rng, value.encode()).decode("utf-8", "replace")
        if not arrays:
            return "refused"
    whole = {n: np.ascontiguousarray(a) for n, a in arrays.items()}
    digest = checkpoint._digest(whole, about)
    path.write_bytes(pack(whole, metadata={**about, "digest": digest}))
    try:
        model = _runs()[name](n_sweeps=_MORE, checkpoint=path).fit(TEXTS)
    except CoterieError as error:
        return "refused" if is_sentence(error) else f"not a sentence: {error!r}"
    finally:
        path.unlink(missing_ok=True)
    if not may_differ and (model.labels_ != expected).any():
        return f"{name}: other labels"
    return _use(model)
