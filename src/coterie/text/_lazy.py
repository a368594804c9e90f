"""Columns of a polars table as sequences of Python values, which are made when they are asked for.

A list of a million short texts takes twice the memory of the column itself, and the column is there
anyway. So texts and ids of files are read from it, some at a time. `Frame` is the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import index
from typing import Any, overload

import numpy as np

from coterie._forks import check_threads

AT_ONCE = 65_536  # values that exist at the same time while all are looked at
_NOT_BLANK = r"[^\s\x1c-\x1f]"  # a character that is none of those of str.isspace


class Column(Sequence[Any]):
    """The values of a polars Series."""

    def __init__(self, series: Any) -> None:
        self.series = series.alias("")  # polars takes names such as ^a.*$ for patterns

    def __len__(self) -> int:
        """Number of values."""
        return len(self.series)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        """A value, or a list of some."""
        if isinstance(at, slice):
            return self._made(self.series[at].to_list())
        return self._made([self.series[index(at)]])[0]

    def __iter__(self) -> Iterator[Any]:
        """All values, one after the other."""
        for start in range(0, len(self), AT_ONCE):
            yield from self[start : start + AT_ONCE]

    def __eq__(self, other: object) -> bool:
        """Whether another sequence has the same values."""
        if not isinstance(other, list | tuple | Column) or len(self) != len(other):
            return False
        parts = (slice(start, start + AT_ONCE) for start in range(0, len(self), AT_ONCE))
        return all(self[part] == list(other[part]) for part in parts)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        """As a list of the values."""
        return repr(list(self))

    def _made(self, values: list[Any]) -> list[Any]:
        return values


class Texts(Column):
    """The texts of a polars Series of strings; "" where one is missing or blank."""

    def n_missing(self) -> int:
        """Number of texts that are missing or blank."""
        check_threads()
        return len(self) - int(self.series.str.contains(_NOT_BLANK).sum())

    def lengths(self) -> Any:
        """An array with at least the number of characters of each text, without making the texts."""
        return self.series.str.len_chars().fill_null(0).to_numpy()

    def _made(self, values: list[str | None]) -> list[str]:
        return ["" if value is None or value.isspace() else value for value in values]


class Frame:
    """Columns of arrays and lists, of which slices become polars DataFrames."""

    def __init__(self, columns: Mapping[str, Any], height: int) -> None:
        import polars as pl

        self.height = height
        self._columns = {
            name: values if _has_one_type(values) else pl.Series(values)
            for name, values in columns.items()
        }

    def __getitem__(self, at: slice) -> Any:
        """A DataFrame of some rows."""
        import polars as pl

        return pl.DataFrame({name: values[at] for name, values in self._columns.items()})


def _has_one_type(values: Any) -> bool:
    """Whether each slice becomes a column of the same type: a list may hold 1 here and 1.5 there."""
    if isinstance(values, np.ndarray):
        return values.ndim == 1 and values.dtype.kind in "biuf"
    return isinstance(values, list) and set(map(type, values)) == {str}
