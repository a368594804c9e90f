"""Arrays from outside, made plain: what numpy, scipy or a file gave becomes what a kernel can read.

Byte order of another machine, half precision, numbers kept as objects, np.matrix and memory maps are
taken for what they mean. A mask is refused, since no number says what a masked cell is. Whether the
numbers are right is not asked here.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.errors import InvalidInput

STEP = 2.0**-14  # vectors of documents are multiples of this, so that their sums are exact


def plain(value: Any, what: str) -> npt.NDArray[Any]:
    """An ordinary array in this machine's byte order; not a copy where it is one already.

    `what` begins the sentence if it cannot be one. An array of texts or of other objects stays that.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidInput(
            what
            + " has masked values, which are no numbers; fill them (.filled(0)) or leave them out."
        )
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            array = _numbers(array)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged; a tensor elsewhere
        raise InvalidInput(what + " is no array: its rows differ in length or kind.") from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array.astype(np.float32) if array.dtype == np.float16 else array


def plain_matrix(X: Any, owner: str) -> Any:
    """X with its arrays made plain, dense or sparse of any format; a table or a list stays as it is."""
    what = f"X of {owner}"
    if sparse.issparse(X):
        matrix = _plain_sparse(X, what)
    elif isinstance(X, np.ndarray):
        matrix = plain(X, what)
    else:
        return X
    if matrix.ndim != 2:
        raise InvalidInput(
            f"{what} has {matrix.ndim} dimension(s); pass a matrix, documents x words. Reshape your data"
            " with reshape(1, -1) if it is one document."
        )
    if matrix.dtype.kind == "c":  # in scikit-learn's words
        raise InvalidInput(
            f"Complex data not supported: {what} holds {matrix.dtype}; pass word counts."
        )
    if matrix.dtype.kind not in "biuf":
        raise InvalidInput(
            f"{what} holds {matrix.dtype}, not numbers; pass word counts, texts or token lists."
        )
    return matrix


def _numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects as numbers, if that is what all of them are; whole numbers stay whole."""
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
