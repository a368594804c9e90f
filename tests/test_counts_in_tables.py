"""Tables of word counts, of every package and type, are the same numbers in an array, or refused."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM, word_beta
from coterie.errors import InvalidInput

WORDS = ["aa", "bb", "cc", "dd", "ee"]
X = np.array([[(i * j + i // 3) % 4 % 3 for j in range(5)] for i in range(24)])
ONES = np.minimum(X, 1)
VECTORS = {word: np.eye(5)[i // 2] + 0.01 * np.eye(5)[i] for i, word in enumerate(WORDS)}
how: dict[str, Any] = {"n_sweeps": 3, "random_state": 1}
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "GSDMM": lambda: GSDMM(4, **how),
    "GSDPMM": lambda: GSDPMM(**how),
    "TSDPMM": lambda: TSDPMM(seeds={"one": ["aa"], "two": ["bb"]}, **how),
    "GPUDMM": lambda: GPUDMM(4, word_vectors=VECTORS, **how),
    "XDMM": lambda: XDMM(4, **how),
}
SIZES = [f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)]
TYPES: dict[str, list[Any]] = {
    "pandas": [
        *(*SIZES, "float16", "float32", "float64", "bool", "object", "category", "Sparse[int]"),
        *(name.replace("i", "I", 1).replace("uI", "UI") for name in SIZES),
        *("Float32", "Float64", "boolean", "Sparse[float]", "uint8[pyarrow]", "double[pyarrow]"),
    ],
    "polars": [
        *(getattr(pl, name.replace("i", "I", 1).replace("uI", "UI")) for name in SIZES),
        *(pl.Float32, pl.Float64, pl.Boolean, pl.Decimal(9, 2), pl.Decimal(20, 0)),
    ],
    "pyarrow": [
        *(getattr(pa, name)() for name in SIZES),
        *(pa.float32(), pa.float64(), pa.bool_(), pa.decimal128(9, 2), pa.decimal256(40, 0)),
        *(pa.dictionary(pa.int8(), pa.int64()),),
    ],
}
CASES = [(package, dtype) for package, dtypes in TYPES.items() for dtype in dtypes]


def table(package: str, dtype: Any, values: Any) -> Any:
    """The numbers in a table of this package, all columns of this type."""
    if package == "pandas":
        return pd.DataFrame(values, columns=WORDS, index=range(100, 100 + len(values))).astype(
            dtype
        )
    if package == "polars":
        return pl.DataFrame(values, schema=WORDS).cast(dtype)
    columns = [pa.array(row, pa.int64()) for row in values.T.tolist()]
    if pa.types.is_decimal(dtype):
        return pa.table([pa.array(map(Decimal, c.tolist()), dtype) for c in values.T], names=WORDS)
    if pa.types.is_dictionary(dtype):
        return pa.table([column.dictionary_encode() for column in columns], names=WORDS)
    return pa.table([column.cast(dtype) for column in columns], names=WORDS)


def ways(model: Any, counts: Any) -> dict[str, Any]:
    """What every method that takes X finds."""
    labels = model.fit(counts, vocabulary=WORDS).labels_
    return {
        "fit": labels,
        "words": model.model_.words,
        "fit_predict": model.fit_predict(counts, vocabulary=WORDS),
        "fit_transform": model.fit_transform(counts, vocabulary=WORDS),
        "predict": model.predict(counts),
        "predict_proba": model.predict_proba(counts, rows=np.arange(len(labels))),
        "transform": model.transform(counts, method="sw"),
        "score": model.score(counts),
        "perplexity": model.perplexity(counts),
        "word_beta": word_beta(counts),
    }


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.fixture(scope="module", params=ESTIMATORS)
def made(request: pytest.FixtureRequest) -> tuple[Callable[[], Any], dict[int, dict[str, Any]]]:
    """An estimator, and what it finds in arrays, by their largest number."""
    make = ESTIMATORS[request.param]
    return make, {2: ways(make(), X), 1: ways(make(), ONES)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_a_table_is_read_like_an_array(case: tuple[str, Any], made: Any) -> None:
    make, wanted = made
    values = ONES if "bool" in str(case[1]).lower() else X
    same(ways(make(), table(*case, values)), wanted[values.max()])


def several_types(package: str) -> Any:
    """A table with a type of its own for each column."""
    parts = zip(WORDS, TYPES[package][3:8], strict=True)
    whole = {word: table(package, dtype, X)[word] for word, dtype in parts}
    makers = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    return makers[package](whole)


OTHER_FORMS: dict[str, Callable[[], Any]] = {
    **{f"{name}, several types": lambda name=name: several_types(name) for name in TYPES},
    "polars, in pieces": lambda: pl.concat(
        [table("polars", pl.Int8, part) for part in (X[:9], X[9:])], rechunk=False
    ),
    "pyarrow, in pieces": lambda: pa.concat_tables(
        [table("pyarrow", pa.int8(), part) for part in (X[:9], X[9:])]
    ),
    "pyarrow, a batch": lambda: table("pyarrow", pa.int8(), X).to_batches()[0],
    "pandas, numbers as names": lambda: pd.DataFrame(X),
    "pandas, names of two levels": lambda: pd.DataFrame(X, columns=[list("uuvvv"), WORDS]),
    "a list of rows": lambda: list(map(pl.Series, X)),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_other_forms_of_tables(form: str, made: Any) -> None:
    make, wanted = made
    same(ways(make(), OTHER_FORMS[form]()), wanted[2])


@pytest.mark.parametrize("package", TYPES)
def test_the_names_of_the_columns_are_the_words(package: str) -> None:
    model = GSDMM(4, **how).fit(table(package, TYPES[package][3], X))
    assert model.model_.words == WORDS
    other = table(package, TYPES[package][3], X)
    other = other.rename_columns(WORDS[::-1]) if package == "pyarrow" else other[WORDS[::-1]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(other)


REFUSED: dict[str, Callable[[], Any]] = {
    "texts of pandas": lambda: table("pandas", str, X),
    "texts as objects": lambda: table("pandas", str, X).astype(object),
    "a text among numbers": lambda: pd.DataFrame(X, columns=WORDS, dtype=object).replace(2, "2"),
    "texts of polars": lambda: table("polars", pl.String, X),
    "texts of pyarrow": lambda: table("pyarrow", pa.string(), X),
    "one column of texts": lambda: pl.DataFrame({"text": ["red apple", "fast car"]}),
    "dates of pandas": lambda: table("pandas", "datetime64[ns]", X),
    "durations of polars": lambda: table("polars", pl.Duration, X),
    "lists": lambda: pl.DataFrame({"a": [[1], [2]]}),
    "integers of 128 bits": lambda: table("polars", pl.Int128, X),
    "complex": lambda: table("pandas", complex, X),
    "missing in pandas": lambda: table("pandas", "Int64", X).replace(2, pd.NA),
    "missing in polars": lambda: table("polars", pl.Int64, X).with_columns(aa=None),
    "missing in pyarrow": lambda: pa.table([[1, None]] * 5, names=WORDS),
    "fractions": lambda: table("polars", pl.Float64, X) / 2,
    "negative": lambda: -table("pandas", int, X),
    "two columns of one name": lambda: pd.DataFrame(X, columns=["aa", "aa", "bb", "cc", "dd"]),
    "a lazy table": lambda: table("polars", pl.Int64, X).lazy(),
    "an array of records": lambda: np.rec.fromarrays(list(X.T), names=",".join(WORDS)),
    "a mapping of columns": lambda: dict(zip(WORDS, X.T, strict=True)),
}


@pytest.mark.parametrize("what", REFUSED)
def test_other_tables_are_refused_in_a_sentence(what: str) -> None:
    model = GSDMM(4, **how).fit(table("pandas", int, X))
    for door in (GSDMM(4, **how).fit, model.predict, model.transform, model.score):
        with pytest.raises(InvalidInput, match=r"X of GSDMM\.\w+.*\.$") as caught:
            door(REFUSED[what]())
        assert caught.value.parameter == "X"


SERIES: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda values: pd.Series(values, index=range(5, 5 + len(values))),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow, in pieces": lambda values: pa.chunked_array([values[:9], values[9:]]),
}


@pytest.mark.parametrize("package", SERIES)
def test_what_is_given_for_rows_and_words_may_be_a_column(package: str) -> None:
    """Weights, y, labels to start from, row numbers, betas and words."""
    series, rows = SERIES[package], list(range(len(X)))
    weights, labels = [i % 3 for i in rows], [i % 4 for i in rows]
    betas = [0.125, 0.25, 0.125, 0.5, 0.25]
    one = GSDMM(4, beta=betas, init=labels, **how)
    one.fit(X, labels, sample_weight=weights, vocabulary=WORDS)
    other = GSDMM(4, beta=series(betas), init=series(labels), **how)
    other.fit(X, series(labels), sample_weight=series(weights), vocabulary=series(WORDS))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.cluster_sizes_, other.cluster_sizes_)
    assert one.model_.words == other.model_.words
    of_rows = one.predict_proba(X, rows=rows)
    np.testing.assert_array_equal(of_rows, other.predict_proba(X, rows=series(rows)))


@pytest.mark.parametrize("package", SERIES)
def test_a_column_of_texts_or_tokens_is_no_table(package: str) -> None:
    tokens = [[word for word, n in zip(WORDS, row, strict=True) for _ in range(n)] for row in X]
    texts = [" ".join(row) for row in tokens]
    for documents in (texts, tokens):
        one = GSDMM(4, **how).fit(documents)
        other = GSDMM(4, **how).fit(SERIES[package](documents))
        np.testing.assert_array_equal(one.labels_, other.labels_)
        np.testing.assert_array_equal(
            one.predict(documents), other.predict(SERIES[package](documents))
        )
