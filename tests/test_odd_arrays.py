"""Arrays as people have them, at every door: the right answer, or a sentence why not."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from coterie import GPUDMM, GSDMM, word_beta
from coterie.errors import InvalidInput

N_ROWS, N_WORDS = 40, 9
X = np.array([[(i * j + i // 3) % 4 % 3 for j in range(N_WORDS)] for i in range(N_ROWS)])
SMALL = np.minimum(X, 1)  # for bool


def read_only(a: Any) -> Any:
    a = a.copy()
    a.setflags(write=False)
    return a


def mapped(a: Any, folder: Path) -> Any:
    np.save(folder / "a.npy", a)
    return np.load(folder / "a.npy", mmap_mode="r")


def strided(a: Any) -> Any:
    return np.repeat(a, 2, axis=0)[::2]


# what an array may be and still be the same numbers
SAME: dict[str, Callable[[Any], Any]] = {
    "big-endian int32": lambda a: a.astype(">i4"),
    "little-endian int16": lambda a: a.astype("<i2"),
    "big-endian uint64": lambda a: a.astype(">u8"),
    "uint8": lambda a: a.astype(np.uint8),
    "read-only": read_only,
    "strided": strided,
    "backwards twice": lambda a: a[::-1].copy()[::-1],
    "a subclass": lambda a: a.view(type("Mine", (np.ndarray,), {})),
    "masked, nothing hidden": lambda a: np.ma.array(a),
    "objects": lambda a: a.astype(object),
    "objects of numpy": lambda a: np.array([np.int16(v) for v in a.ravel()], object).reshape(
        a.shape
    ),
    "a list": lambda a: a.tolist(),
}
SAME_FLOATS: dict[str, Callable[[Any], Any]] = {
    "float16": lambda a: a.astype(np.float16),
    "big-endian float64": lambda a: a.astype(">f8"),
    "big-endian float16": lambda a: a.astype(">f2"),
    "long double": lambda a: a.astype(np.longdouble),
    "objects of floats": lambda a: a.astype(float).astype(object),
}
FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]
SAME_MATRICES: dict[str, Callable[[Any], Any]] = {
    **SAME,
    **SAME_FLOATS,
    "Fortran order": np.asfortranarray,
    "np.matrix": lambda a: np.asmatrix(a),
    **{f"{f}_matrix": getattr(sparse, f"{f}_matrix") for f in FORMATS},
    **{f"{f}_array": getattr(sparse, f"{f}_array") for f in FORMATS},
}


def with_arrays(name: str, dtype: Any, form: str = "csr") -> Callable[[Any], Any]:
    """A sparse matrix in which some arrays have another type than its constructor would give them."""

    def make(a: Any) -> Any:
        made = getattr(sparse, f"{form}_matrix")(a)
        for each in name.split():
            setattr(made, each, getattr(made, each).astype(dtype))
        return made

    return make


SAME_MATRICES |= {
    "csr, big-endian data": with_arrays("data", ">i4"),
    "csr, big-endian float data": with_arrays("data", ">f8"),
    "csr, float16 data": with_arrays("data", np.float16),
    "csr, objects": with_arrays("data", object),
    "csr, big-endian indices": with_arrays("indices indptr", ">i4"),
    "csr, int64 indices": with_arrays("indices indptr", np.int64),
    "csc, big-endian": with_arrays("data indices indptr", ">i8", "csc"),
    "coo, big-endian data": with_arrays("data", ">i8", "coo"),
    "dia, big-endian data": with_arrays("data", ">i8", "dia"),
}


@pytest.fixture(scope="module")
def model() -> GSDMM:
    return GSDMM(8, n_sweeps=6, random_state=1).fit(X)


def sentence(call: Callable[[], Any], *parts: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    for part in parts:
        assert part in message
    return caught.value


# ---------------------------------------------------------------- X
@pytest.mark.parametrize("kind", SAME_MATRICES)
def test_the_same_counts_give_the_same_answer(kind: str, model: GSDMM) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of np.matrix
        other = SAME_MATRICES[kind](X)
    again = GSDMM(8, n_sweeps=6, random_state=1).fit(other)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    np.testing.assert_array_equal(model.transform(other), model.transform(X))
    assert model.score(other) == model.score(X)
    assert model.perplexity(other) == model.perplexity(X)
    np.testing.assert_array_equal(word_beta(other), word_beta(X))


def test_a_memory_map_is_read(model: GSDMM, tmp_path: Path) -> None:
    file = mapped(X.astype(">f4"), tmp_path)
    assert (GSDMM(8, n_sweeps=6, random_state=1).fit(file).labels_ == model.labels_).all()
    assert (model.predict(file) == model.predict(X)).all()


@pytest.mark.parametrize("kind", [bool, "csr bool"], ids=str)
def test_true_is_one(kind: Any) -> None:
    flags = sparse.csr_matrix(SMALL.astype(bool)) if kind == "csr bool" else SMALL.astype(bool)
    one, other = (GSDMM(8, n_sweeps=6, random_state=1).fit(a) for a in (SMALL, flags))
    assert (one.labels_ == other.labels_).all()
    assert (one.predict(flags) == one.predict(SMALL)).all()


HIDDEN = np.ma.array(X, mask=X == 2)
REFUSED = {
    "masked": HIDDEN,
    "complex": X.astype(complex),
    "big-endian complex": X.astype(">c16"),
    "sparse complex": sparse.csr_matrix(X.astype(complex)),
    "texts in a matrix": X.astype(str),
    "dates": X.astype("datetime64[D]"),
    "objects that are no numbers": np.full((3, N_WORDS), object()),
    "one dimension": X[0],
    "three dimensions": X.reshape(N_ROWS, 3, 3),
    "sparse of one dimension": sparse.coo_array(X[0]),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_matrix_of_counts_is_refused(kind: str, model: GSDMM) -> None:
    odd = REFUSED[kind]
    doors = (
        lambda: GSDMM(8, random_state=1).fit(odd),
        lambda: model.predict(odd),
        lambda: model.transform(odd),
        lambda: model.score(odd),
    )
    for door in doors:
        assert sentence(door, "X of GSDMM").parameter == "X"


# ---------------------------------------------------------------- the other doors
WEIGHT = np.arange(N_ROWS) % 3 + 1
LABELS = np.arange(N_ROWS) % 5
ROWS = np.arange(N_ROWS)[::-1].copy()
BETA = 0.125 * (1 + np.arange(N_WORDS) % 4)  # exact in every kind of float


@pytest.mark.parametrize("kind", {**SAME, **SAME_FLOATS})
def test_weights(kind: str) -> None:
    odd = {**SAME, **SAME_FLOATS}[kind](WEIGHT)
    one, other = (
        GSDMM(8, n_sweeps=6, random_state=1).fit(X, sample_weight=w) for w in (WEIGHT, odd)
    )
    assert (one.labels_ == other.labels_).all()
    assert (one.cluster_sizes_ == other.cluster_sizes_).all()


@pytest.mark.parametrize("kind", SAME)
def test_labels_to_start_from(kind: str) -> None:
    one, other = (
        GSDMM(8, n_sweeps=2, init=init, random_state=1).fit(X)
        for init in (LABELS, SAME[kind](LABELS))
    )
    assert (one.labels_ == other.labels_).all()


@pytest.mark.parametrize("kind", SAME)
def test_rows(kind: str, model: GSDMM) -> None:
    there = X[ROWS]
    wanted = model.predict_proba(there, rows=ROWS)
    np.testing.assert_array_equal(model.predict_proba(there, rows=SAME[kind](ROWS)), wanted)
    assert (model.predict(there, rows=SAME[kind](ROWS)) == model.predict(there, rows=ROWS)).all()


FLOATS = {**SAME_FLOATS, **{name: SAME[name] for name in SAME if "int" not in name}}
FLOATS.pop("objects of numpy")


@pytest.mark.parametrize("kind", FLOATS)
def test_betas(kind: str) -> None:
    one, other = (
        GSDMM(8, beta=b, n_sweeps=6, random_state=1).fit(X) for b in (BETA, FLOATS[kind](BETA))
    )
    assert (one.labels_ == other.labels_).all()
    assert one.score(X) == other.score(X)


WORDS = [f"w{i}" for i in range(N_WORDS)]
VECTORS = np.array([[(i * k) % 7 - 3.0 for k in (1, 2, 3)] for i in range(1, N_WORDS + 1)])
TOKENS = [[WORDS[j] for j in range(N_WORDS) for _ in range(row[j])] for row in X]


@pytest.mark.parametrize("kind", FLOATS)
def test_word_vectors(kind: str) -> None:
    odd = FLOATS[kind](VECTORS)
    sources = [(WORDS, VECTORS), (WORDS, odd), dict(zip(WORDS, odd, strict=True))]
    fits = [
        GPUDMM(8, word_vectors=s, threshold=0.1, n_sweeps=4, random_state=1).fit(TOKENS)
        for s in sources
    ]
    for other in fits[1:]:
        assert (other.labels_ == fits[0].labels_).all()
        assert (other.related_.word == fits[0].related_.word).all()


def hidden(a: Any) -> Any:
    mask = np.zeros(a.shape, bool)
    mask.flat[3] = True
    return np.ma.array(a, mask=mask)


DOORS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "sample_weight": ("sample_weight", lambda odd: GSDMM(8).fit(X, sample_weight=odd(WEIGHT))),
    "init": ("init", lambda odd: GSDMM(8, init=odd(LABELS)).fit(X)),
    "beta": ("beta", lambda odd: GSDMM(8, beta=odd(BETA)).fit(X)),
    "rows": ("rows", lambda odd: GSDMM(8, n_sweeps=2).fit(X).predict(X, rows=odd(ROWS))),
    "word_vectors": (
        "word_vectors",
        lambda odd: GPUDMM(8, word_vectors=(WORDS, odd(VECTORS))).fit(TOKENS),
    ),
    "word_vectors by word": (
        "word_vectors",
        lambda odd: GPUDMM(8, word_vectors=dict.fromkeys(WORDS, odd(VECTORS.ravel()))).fit(TOKENS),
    ),
}
WRONG: dict[str, Callable[[Any], Any]] = {
    "masked": hidden,
    "complex": lambda a: a.astype(complex),
    "texts": lambda a: a.astype(str),
    "objects": lambda a: np.full(a.shape, object()),
    "dates": lambda a: a.astype("datetime64[D]"),
    "ragged": lambda a: [[1, 2], [3]] + [1] * (len(a) - 2),
    "one dimension more": lambda a: a[None],
    "a sparse matrix": lambda a: sparse.csr_matrix(np.atleast_2d(a)),
    "sets": lambda a: {1, 2},
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_other_things_are_refused_in_a_sentence(door: str, wrong: str) -> None:
    parameter, knock = DOORS[door]
    assert sentence(lambda: knock(WRONG[wrong]), parameter).parameter == parameter
