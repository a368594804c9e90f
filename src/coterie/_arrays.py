"""Converts arrays from the user into plain arrays that kernels can read.

Foreign byte orders, half precision, numbers stored as objects, np.matrix and memory maps are
converted. Masked values are refused, since there is no number for a masked cell. Whether the numbers
make sense is checked elsewhere.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie._sentence import counted
from coterie.errors import InvalidInput

STEP = 2.0**-14  # vectors of documents are whole numbers of this, so that their sums are exact,
COARSE = 2.0**-8  # or of this if they are kept in 8 bits
MANY = 200_000  # documents from which time and memory decide how they are treated
LINE = 128  # bytes: two cache lines, which some CPUs load together

Steps = npt.NDArray[np.int16] | npt.NDArray[np.int8]  # vectors of documents, a row each


def step_of(vectors: Steps) -> float:
    """What 1 stands for in these vectors."""
    return COARSE if vectors.dtype == np.int8 else STEP


def numbers(vectors: Steps) -> npt.NDArray[np.float64]:
    """Vectors in steps as the numbers that they stand for."""
    return np.multiply(vectors, step_of(vectors), dtype=np.float64)


def squares(vectors: Steps) -> npt.NDArray[np.float64]:
    """|e|^2 of each vector, without a copy of all in double precision; exact in any order."""
    whole = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return np.asarray(whole) * step_of(vectors) ** 2


def aligned(shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Zeros that begin a cache line: a wide load from the middle of one takes twice as long."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + 3 * LINE, np.uint8)
    begin = LINE + -room.ctypes.data % LINE
    zeros: npt.NDArray[Any] = room[begin : begin + n_bytes].view(dtype).reshape(shape)
    return zeros


def plain(value: Any, what: str) -> npt.NDArray[Any]:
    """Convert to an ordinary array in native byte order; not copied if it already is one.

    `what` is the start of the error message. Arrays of texts or other objects are not converted.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidInput(
            what
            + " has masked values, which are not numbers. Fill them (.filled(0)) or leave them out."
        )
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            array = _numbers(array)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged, or a tensor on a device
        raise InvalidInput(what + " is not an array: its rows differ in length or type.") from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array.astype(np.float32) if array.dtype == np.float16 else array


def plain_matrix(X: Any, owner: str) -> Any:
    """Convert the arrays of X, dense or sparse in any format; tables and lists are returned unchanged."""
    what = f"X of {owner}"
    if sparse.issparse(X):
        matrix = _plain_sparse(X, what)
    elif isinstance(X, np.ndarray):
        matrix = plain(X, what)
    else:
        return X
    if matrix.ndim != 2:
        raise InvalidInput(
            f"{what} has {counted(matrix.ndim, 'dimension')}. Pass a matrix of documents x words. Reshape"
            " your data with reshape(1, -1) if it is a single document."
        )
    if matrix.dtype.kind == "c":  # as in scikit-learn
        raise InvalidInput(
            f"Complex data not supported: {what} holds {matrix.dtype}. Pass word counts."
        )
    if matrix.dtype.kind not in "biuf":
        raise InvalidInput(
            f"{what} holds {matrix.dtype}, not numbers. Pass word counts, texts or token lists."
        )
    return matrix


def _numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert objects to numbers if all of them are numbers; integers stay integers."""
    found = np.asarray(array.tolist())
    return found if found.shape == array.shape and found.dtype.kind in "biufc" else array


def _plain_sparse(X: Any, what: str) -> Any:
    fresh = None
    for name in ("data", "indices", "indptr", "offsets"):
        array = vars(X).get(name)
        if isinstance(array, np.ndarray) and X.format not in ("lil", "dok"):
            fixed = plain(array, what)
            if fixed.dtype != array.dtype:
                fresh = fresh if fresh is not None else copy.copy(X)
                setattr(fresh, name, fixed)
    return X if fresh is None else fresh
