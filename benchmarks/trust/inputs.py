"""Matrices and word vectors that lie, break off or hold what no count can be, at every door.

What is accepted must be right: the answer for a matrix is that for the same numbers as a plain array.
"""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from coterie import GPUDMM, GSDMM, metrics, urns
from coterie.errors import CoterieError

from . import mutate
from .cases import is_sentence
from .models import SEEDS, TEXTS, VECTORS

FORMS = ("csr", "csc", "coo", "bsr", "lil", "dia")
PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "lil": (),
    "dia": ("data", "offsets"),
}


@cache
def _model() -> GSDMM:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, (30, 12))
    return GSDMM(6, n_sweeps=4, random_state=0).fit(X)


def matrix(number: int, seed: int) -> str:
    """One sparse matrix with its arrays mutated: refused, or answered as its honest twin is."""
    rng = np.random.default_rng([seed, 3, number])
    dense = rng.poisson(0.6, (int(rng.integers(1, 30)), 12))
    form = FORMS[rng.integers(len(FORMS))]
    X = sparse.csr_matrix(dense).asformat(form)
    for _ in range(1 + int(rng.integers(2))):
        try:
            _lie(rng, X, form)
        except (ValueError, TypeError, IndexError, AttributeError):
            return "refused"  # by scipy
    door = int(rng.integers(6))
    honest = _honest(X, form)
    try:
        found = _through(door, X)
    except CoterieError as error:
        return "refused" if is_sentence(error) else f"not a sentence: {error!r}"
    if honest is None:
        return f"accepted a {form} whose arrays do not fit"
    twin = _through(door, honest)  # words in another order are added up in another order
    same = found.shape == twin.shape and np.allclose(found, twin, 1e-9, 0.0, equal_nan=True)
    return "fine" if same else f"{form}: another answer"


def _lie(rng: np.random.Generator, X: Any, form: str) -> None:
    if form == "lil":
        row = int(rng.integers(X.shape[0]))
        which = X.rows if rng.random() < 0.7 else X.data
        which[row] = [*which[row], int(mutate.NUMBERS[rng.integers(len(mutate.NUMBERS))])]
        return
    part = PARTS[form][rng.integers(len(PARTS[form]))]
    setattr(X, part, mutate.array(rng, getattr(X, part)))


def _honest(X: Any, form: str) -> Any:
    """The matrix as a plain array, put together slowly and safely; None where it is none."""
    try:
        out = np.zeros(X.shape, np.float64)
        for i, j, value in _entries(X, form):
            if i < 0 or j < 0:
                return None
            out[i, j] += value
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return out


def _entries(X: Any, form: str) -> Any:
    if form == "coo":
        if not X.row.ndim == X.col.ndim == X.data.ndim == 1 or X.row.size != X.data.size:
            raise ValueError
        if X.row.dtype.kind not in "iu" or X.col.dtype.kind not in "iu":
            raise ValueError
        return list(zip(X.row, X.col, X.data, strict=True))
    if form == "lil":
        return [
            (i, j, value)
            for i, (columns, values) in enumerate(zip(X.rows, X.data, strict=True))
            for j, value in zip(columns, values, strict=True)
        ]
    if form == "dia":
        return [
            (j - k, j, X.data[d, j])
            for d, k in enumerate(map(int, X.offsets))
            for j in range(min(X.data.shape[1], X.shape[1]))
            if 0 <= j - k < X.shape[0]
        ]
    ptr, index, data = X.indptr, X.indices, X.data
    side = X.blocksize if form == "bsr" else (1, 1)
    major = X.shape[1] if form == "csc" else X.shape[0] // side[0]
    if ptr.ndim != 1 or index.ndim != 1 or {ptr.dtype.kind, index.dtype.kind} - set("iu"):
        raise ValueError
    if ptr.size != major + 1 or ptr[0] != 0 or (np.diff(ptr.astype(object)) < 0).any():
        raise ValueError
    out = []
    for a in range(major):
        for p in range(ptr[a], ptr[a + 1]):
            b = index[p]
            if form == "bsr":
                block = data[p]
                out += [
                    (a * side[0] + r, b * side[1] + c, block[r, c])
                    for r in range(side[0])
                    for c in range(side[1])
                ]
            else:
                out.append((b, a, data[p]) if form == "csc" else (a, b, data[p]))
    return out


def _through(door: int, X: Any) -> Any:
    model = _model()
    if door == 0:
        return GSDMM(4, n_sweeps=2, random_state=0).fit(X).labels_
    if door == 1:
        return model.predict(X)
    if door == 2:
        return model.transform(X)
    if door == 3:
        return np.array([model.score(X)])
    if door == 4:
        return urns.word_beta(X)
    return np.array(metrics.coherence([[0, 1, 2]], X, measure="npmi").per_cluster)


# ---------------------------------------------------------------- word vectors and seeds
def _text(header: bool) -> bytes:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in VECTORS.items()]
    return "\n".join([f"{len(VECTORS)} 2"] * header + lines).encode() + b"\n"


def _binary() -> bytes:
    out = f"{len(VECTORS)} 2\n".encode()
    for word, row in VECTORS.items():
        out += word.encode() + b" " + np.array(row, np.float32).tobytes() + b"\n"
    return out


def _npz() -> bytes:
    out = io.BytesIO()
    np.savez(out, words=np.array(list(VECTORS)), vectors=np.array(list(VECTORS.values())))
    return out.getvalue()


@cache
def _sources() -> dict[str, bytes]:
    import gzip

    yaml = "\n".join(f"{name}: [{', '.join(words)}]" for name, words in SEEDS.items())
    return {
        "vectors.txt": _text(True),
        "glove.txt": _text(False),
        "vectors.bin": _binary(),
        "vectors.npz": _npz(),
        "vectors.txt.gz": gzip.compress(_text(True)),
        "seeds.yaml": yaml.encode(),
        "seeds.json": b'{"food": ["bread", "oven"], "wheels": {"bike": 2.5}}',
        "seeds.csv": b"name,word,weight\nfood,bread,1\nfood,oven,2\nwheels,bike,1.5\n",
    }


@cache
def _place() -> Path:
    return Path(tempfile.mkdtemp(prefix="coterie-fuzz-"))


def knowledge(number: int, seed: int) -> str:
    """One mutated file of word vectors or seeds: refused in a sentence, or fitted with."""
    from coterie import TSDPMM

    rng = np.random.default_rng([seed, 4, number])
    names = list(_sources())
    name = names[rng.integers(len(names))]
    path = _place() / name
    path.write_bytes(mutate.content(rng, _sources()[name]))
    how: dict[str, Any] = {"n_sweeps": 1, "random_state": 0}
    try:
        if name.startswith("seeds"):
            model: Any = TSDPMM(path, **how).fit(TEXTS)
        else:
            model = GPUDMM(4, word_vectors=path, **how).fit(TEXTS)
    except CoterieError as error:
        return "refused" if is_sentence(error) else f"not a sentence: {error!r}"
    sums = model.predict_proba(TEXTS).sum(axis=1)
    return "fine" if np.all((np.abs(sums - 1) < 1e-6) | (sums == 0)) else f"adds up to {sums}"
