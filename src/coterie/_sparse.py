"""A scipy sparse matrix of any form -> CSR, every index checked: scipy itself does not look at them.

An index or pointer outside the matrix makes scipy's conversions, and then our kernels, read and write
memory that is not theirs. So no array of the user's reaches compiled code before it was checked, and
the CSR is put together here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.errors import InvalidInput

Array = npt.NDArray[Any]


class _Misfit(Exception):
    """What is wrong with a sparse matrix."""


def as_csr(X: Any, what: str) -> Any:
    """The matrix as CSR, its arrays checked; `what` names it in the sentence that refuses it.

    A sound CSR comes back itself, not a copy: whoever changes it changes the user's.
    """
    if len(X.shape) != 2:
        raise InvalidInput(f"{what} has {len(X.shape)} dimension(s); pass documents x words.")
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
        f"{what} is a sparse matrix whose index arrays do not fit its shape ({why}); build it again,"
        " for example from the arrays (values, (rows, columns))."
    )


def _from_csr(X: Any) -> Any:
    ptr, index = _compressed(X, X.shape[0], X.shape[1], "column")
    if index is X.indices and X.data.shape == index.shape and ptr.dtype == index.dtype:
        return X  # as nearly all are: nothing is copied
    return sparse.csr_matrix((_values(X, ptr), index, ptr), X.shape)


def _from_csc(X: Any) -> Any:
    ptr, index = _compressed(X, X.shape[1], X.shape[0], "row")
    return sparse.csc_matrix((_values(X, ptr), index, ptr), X.shape).tocsr()


def _from_bsr(X: Any) -> Any:
    if X.data.ndim != 3 or 0 in X.data.shape[1:]:
        raise _Misfit("its values are not blocks")
    high, wide = X.data.shape[1:]
    if X.shape[0] % high or X.shape[1] % wide:
        raise _Misfit("its blocks do not fill it")
    ptr, index = _compressed(X, X.shape[0] // high, X.shape[1] // wide, "column of blocks")
    return sparse.bsr_matrix((X.data[: index.size], index, ptr), X.shape).tocsr()


def _from_dia(X: Any) -> Any:
    data, offsets = X.data, X.offsets
    if data.ndim != 2 or offsets.shape != (len(data),) or offsets.dtype.kind not in "iu":
        raise _Misfit("there is not one offset for each diagonal")
    known = [int(k) for k in offsets]
    if len(set(known)) < len(known):
        raise _Misfit("it names a diagonal twice")
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
        raise _Misfit("a row has more columns than values, or fewer")
    column = np.fromiter((j for columns in X.rows for j in columns), np.int64, sum(lengths))
    values = np.fromiter((v for values in X.data for v in values), X.dtype, sum(lengths))
    _check_range(column, X.shape[1], "column")
    ptr = np.append(0, np.cumsum(lengths, dtype=np.int64))
    return sparse.csr_matrix((values, column, ptr), X.shape)


def _from_coo(X: Any) -> Any:
    coo = X.tocoo()  # dok, too, is made of coordinates
    values = coo.data
    for axis, index, size in zip(("row", "column"), (coo.row, coo.col), X.shape, strict=True):
        if index.shape != values.shape or values.ndim != 1 or index.dtype.kind not in "iu":
            raise _Misfit(f"there is not one {axis} for each value")
        _check_range(index, size, axis)
    if values.dtype.kind in "biu" and values.dtype != np.uint64:
        values = values.astype(np.int64)  # repeats are added up, and a small type would overflow
    return sparse.coo_matrix((values, (coo.row, coo.col)), X.shape).tocsr()


_MAKERS = {"csr": _from_csr, "csc": _from_csc, "bsr": _from_bsr, "dia": _from_dia, "lil": _from_lil}


def _compressed(X: Any, major: int, minor: int, axis: str) -> tuple[Array, Array]:
    """Pointers and the indices they reach, checked."""
    ptr, index = X.indptr, X.indices
    if ptr.ndim != 1 or index.ndim != 1 or {ptr.dtype.kind, index.dtype.kind} - set("iu"):
        raise _Misfit("pointers and indices are not rows of whole numbers")
    if ptr.size != major + 1 or ptr[0] != 0 or not (ptr[1:] >= ptr[:-1]).all():
        raise _Misfit("its pointers do not ascend from 0, one per row and the end")
    if ptr[-1] > min(index.size, len(X.data)):
        raise _Misfit("its pointers go beyond its values")
    reached = index if ptr[-1] == index.size else index[: ptr[-1]]
    _check_range(reached, minor, axis)
    if ptr.dtype == reached.dtype and ptr.dtype in (np.int32, np.int64):
        return ptr, reached
    return ptr.astype(np.int64), reached.astype(np.int64)  # scipy takes no other kinds


def _values(X: Any, ptr: Array) -> Array:
    if X.data.ndim != 1:
        raise _Misfit("its values are not one row of numbers")
    values: Array = X.data[: ptr[-1]]
    return values


def _check_range(index: Array, size: int, axis: str) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = int(index.min()) if index.min() < 0 else int(index.max())
        raise _Misfit(f"it names {axis} {bad}, but has {axis}s 0 to {size - 1}")
