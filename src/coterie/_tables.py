"""Turns tables of word counts into matrices: of pandas, polars, pyarrow, and others that are like them.

A table is told from an array by its columns, never by `ndim`, which only pandas has. Going through a
table of polars or pyarrow gives its columns, so without this its rows and columns would be exchanged.
"""

from __future__ import annotations

from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._arrays import plain
from coterie.errors import InvalidInput


def is_table(X: Any) -> bool:
    """Whether this is a table in memory, and not one of its columns."""
    return hasattr(type(X), "columns") and hasattr(X, "__array__")


def as_matrix(table: Any, what: str) -> Any:
    """The columns of a table as a matrix; `what` names it in error messages.

    A table of pandas whose columns are all sparse becomes a sparse matrix.
    """
    names = list(getattr(table, "column_names", table.columns))  # of pyarrow, of others
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"{what} has two columns named {twice!r}. Rename or remove one of them.")
    if not names:
        return np.empty(table.shape)
    if hasattr(table, "sparse"):
        with suppress(ValueError):  # what it leaves out is not 0
            return table.sparse.to_coo()
    columns = [_numbers(table[name], f"{what}: its column {name!r}") for name in names]
    return np.column_stack(columns)


def _numbers(column: Any, what: str) -> npt.NDArray[Any]:
    try:
        values = np.asarray(column)
    except Exception:  # a type that NumPy does not have, such as integers of 128 bits
        values = np.array([object()])
    if values.dtype.kind == "O":  # of pandas: numbers of types that NumPy lacks, and missing ones
        found = [np.nan if _is_missing(value) else value for value in values.tolist()]
        if all(isinstance(value, Number) for value in found):
            values = np.array(found)
            values = values.astype(float) if values.dtype.kind == "O" else values
    if values.dtype.kind not in "biuf" or values.ndim != 1:
        raise InvalidInput(
            f"{what} does not hold numbers that NumPy knows. A table must have a column of counts for"
            " each word; for a column of texts, pass that column alone."
        )
    return plain(values, what)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")
