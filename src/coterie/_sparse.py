"""Converts scipy sparse matrices of any format to CSR, and checks every index, which scipy does not.

With an index or pointer outside of the matrix, scipy's conversions and our kernels would read and
write memory out of bounds. So no array of the user reaches compiled code before it is checked, and the
CSR matrix is built here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie._sentence import counted
from coterie.errors import InvalidInput

Array = npt.NDArray[Any]


class _Misfit(Exception):
    """What is wrong with a sparse matrix."""


def as_csr(X: Any, what: str) -> Any:
    """Convert to CSR and check the arrays; `what` names the matrix in error messages.

    A valid CSR matrix is returned as it is, without a copy: do not change it.
    """
    if len(X.shape) != 2:
        raise InvalidInput(
            f"{what} has {counted(len(X.shape), 'dimension')}. Pass a matrix of documents x words."
        )
    make = _MAKERS.get(X.format, _from_coo)
    try:
        made = make(X)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError, OverflowError) as error:
        raise _refusal(what, f"{type(error).__name__}: {error}") from None
    except _Misfit as error:
        raise _refusal(what, str(error)) from None
    return made


def _refusal(what: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{what} is a sparse matrix whose index arrays do not match its shape ({why}). Build it again,"
        " for example from the arrays (values, (rows, columns))."
    )


def _from_csr(X: Any) -> Any:
    ptr, index = _compressed(X, X.shape[0], X.shape[1], "column")
    if index is X.indices and X.data.shape == index.shape and ptr.dtype == index.dtype:
        return X  # the usual case: nothing is copied
    return sparse.csr_matrix((_values(X, ptr), index, ptr), X.shape)


def _from_csc(X: Any) -> Any:
    ptr, index = _compressed(X, X.shape[1], X.shape[0], "row")
    return sparse.csc_matrix((_values(X, ptr), index, ptr), X.shape).tocsr()


def _from_bsr(X: Any) -> Any:
    if X.data.ndim != 3 or 0 in X.data.shape[1:]:
        raise _Misfit("its values are not blocks")
    high, wide = X.data.shape[1:]
    if X.shape[0] % high or X.shape[1] % wide:
        raise _Misfit("its blocks do not match its shape")
    ptr, index = _compressed(X, X.shape[0] // high, X.shape[1] // wide, "column of blocks")
    return sparse.bsr_matrix((X.data[: index.size], index, ptr), X.shape).tocsr()


def _from_dia(X: Any) -> Any:
    data, offsets = X.data, X.offsets
    if data.ndim != 2 or offsets.shape != (len(data),) or offsets.dtype.kind not in "iu":
        raise _Misfit("it does not have one offset per diagonal")
    known = [int(k) for k in offsets]
    if len(set(known)) < len(known):
        raise _Misfit("it has a diagonal twice")
    rows, columns, values = [], [], []
    for k, diagonal in zip(known, data, strict=True):
        column = np.arange(max(k, 0), min(data.shape[1], X.shape[1], X.shape[0] + k))
        rows.append(column - k)
        columns.append(column)
        values.append(diagonal[column])
    if not rows:
        return sparse.csr_matrix(X.shape, dtype=data.dtype)
    coordinates = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_matrix((np.concatenate(values), coordinates), X.shape).tocsr()


def _from_lil(X: Any) -> Any:
    lengths = [len(columns) for columns in X.rows]
    if lengths != [len(values) for values in X.data] or len(lengths) != X.shape[0]:
        raise _Misfit("a row has a different number of columns and values")
    column = np.fromiter((j for columns in X.rows for j in columns), np.int64, sum(lengths))
    values = np.fromiter((v for values in X.data for v in values), X.dtype, sum(lengths))
    _check_range(column, X.shape[1], "column")
    ptr = np.append(0, np.cumsum(lengths, dtype=np.int64))
    return sparse.csr_matrix((values, column, ptr), X.shape)


def _from_coo(X: Any) -> Any:
    coo = X.tocoo()  # dok is converted to coordinates, too
    values = coo.data
    for axis, index, size in zip(("row", "column"), (coo.row, coo.col), X.shape, strict=True):
        if index.shape != values.shape or values.ndim != 1 or index.dtype.kind not in "iu":
            raise _Misfit(f"it does not have one {axis} per value")
        _check_range(index, size, axis)
    if values.dtype.kind in "biu" and values.dtype != np.uint64:
        values = values.astype(
            np.int64
        )  # repeated entries are summed, and a small type would overflow
    return sparse.coo_matrix((values, (coo.row, coo.col)), X.shape).tocsr()


_MAKERS = {"csr": _from_csr, "csc": _from_csc, "bsr": _from_bsr, "dia": _from_dia, "lil": _from_lil}


def _compressed(X: Any, major: int, minor: int, axis: str) -> tuple[Array, Array]:
    """The pointers, and the indices they refer to, checked."""
    ptr, index = X.indptr, X.indices
    if ptr.ndim != 1 or index.ndim != 1 or {ptr.dtype.kind, index.dtype.kind} - set("iu"):
        raise _Misfit("its pointers and indices are not 1-d arrays of integers")
    if ptr.size != major + 1 or ptr[0] != 0 or not (ptr[1:] >= ptr[:-1]).all():
        raise _Misfit("its pointers do not increase from 0, with one per row and one for the end")
    if ptr[-1] > min(index.size, len(X.data)):
        raise _Misfit("its pointers exceed its values")
    used = index if ptr[-1] == index.size else index[: ptr[-1]]
    _check_range(used, minor, axis)
    if ptr.dtype == used.dtype and ptr.dtype in (np.int32, np.int64):
        return ptr, used
    return ptr.astype(np.int64), used.astype(np.int64)  # the only types that scipy accepts


def _values(X: Any, ptr: Array) -> Array:
    if X.data.ndim != 1:
        raise _Misfit("its values are not a 1-d array")
    values: Array = X.data[: ptr[-1]]
    return values


def _check_range(index: Array, size: int, axis: str) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = int(index.min()) if index.min() < 0 else int(index.max())
        raise _Misfit(f"it refers to {axis} {bad}, but has {axis}s 0 to {size - 1}")
