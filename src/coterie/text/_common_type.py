"""One type for a column whose parts are read or written apart, and so may have several.

In: the values of each part, as polars has them. Out: a type that holds the values of all parts exactly.
If parts differ, it is the first of these that does: whole numbers, numbers, decimal numbers, times in
micro-, nano- or milliseconds, texts. If none does, as for lists and objects with fields, each part keeps
its own type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from coterie.text._as_polars import as_texts


class Types(NamedTuple):
    """What is known of the type of a column.

    `others` hold all values, too, the best first; None if there are no values.
    """

    own: Any  # None: that of some part is another one
    others: tuple[Any, ...] | None

    @property
    def chosen(self) -> Any:
        """The type for all parts; None if there is none."""
        return next(iter(self.others or ()), None) if self.own is None else self.own

    def joined(self, other: Types) -> Types:
        """That of two parts; a part without values has no say beside one that has some."""
        if other.others is None:
            return self
        if self.others is None:
            return other
        both = tuple(dtype for dtype in self.others if dtype in other.others)
        return Types(self.own if self.own == other.own else None, both)


def types_of(column: Any) -> Types:
    """Those that hold the values of a polars Series."""
    if _is_void(column):
        return Types(column.dtype, None)
    return Types(column.dtype, tuple(t for t in _wider(column.dtype) if _is_exact(column, t)))


def as_type(column: Any, dtype: Any) -> Any:
    """The same values in the type of all parts; None: as they are."""
    import polars as pl

    if dtype is None or column.dtype == dtype:
        return column
    if _is_void(column):
        return pl.Series([], dtype=dtype).clear(len(column)).alias(column.name)
    return column.cast(dtype)


def alike(parts: Sequence[Any]) -> list[Any]:
    """The parts of a column in one type; as texts if they have no common type."""
    if len({part.dtype for part in parts}) == 1:
        return list(parts)
    dtype = reduce(Types.joined, map(types_of, parts)).chosen
    return [as_type(part, dtype) if dtype else as_texts(part) for part in parts]


def _is_void(column: Any) -> bool:
    """Whether a column has no value, so that its type says nothing."""
    column = column.alias("")  # polars takes names such as ^a.*$ for patterns
    return bool(column.is_null().all() or (column.dtype.is_float() and column.is_nan().all()))


def _wider(dtype: Any) -> list[Any]:
    """Types that may hold the values of this one, best first."""
    import polars as pl

    if dtype.is_integer():
        return [pl.Int64, pl.UInt64, pl.Float64, pl.String]
    if dtype == pl.Float64:  # of pandas, also for whole numbers of which one is missing
        return [pl.Int64, pl.Float64, pl.String]
    if dtype.is_float():
        return [pl.Float64, pl.String]
    if isinstance(dtype, pl.Decimal):
        n_before = (dtype.precision or 38) - dtype.scale
        return [*(pl.Decimal(38, n) for n in range(dtype.scale, 39 - n_before)), pl.String]
    if dtype in (pl.Date, pl.Datetime):
        zone = getattr(dtype, "time_zone", None)
        return [*(pl.Datetime(unit, zone) for unit in ("us", "ns", "ms")), pl.String]
    if dtype == pl.Duration:
        return [pl.Duration(unit) for unit in ("us", "ns", "ms")]
    has_text = not dtype.is_nested() and dtype not in (pl.Binary, pl.Object)
    return [pl.String] if has_text else []


def _is_exact(column: Any, dtype: Any) -> bool:
    """Whether the values of a column come back unchanged from another type."""
    import polars as pl

    if dtype == column.dtype:
        return True
    try:
        found = column.cast(dtype, strict=False)
        if dtype == pl.String or dtype.is_decimal():  # which has enough digits
            return bool(found.null_count() == column.null_count())
        return bool(found.cast(column.dtype, strict=False).equals(column))
    except pl.exceptions.PolarsError:
        return False
