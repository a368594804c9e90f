"""Tables of other packages as polars DataFrames, without losing a value.

Columns of pandas may hold Python objects of any kind. Where polars would change some of them, all become
texts.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any

from coterie.errors import InvalidInput
from coterie.text._columns import column, column_names, is_missing, names_as_texts
from coterie.text._json import whole

_AT_ONCE = 10_000  # values to compare


def polars_table(frame: Any) -> Any:
    """Any table as a polars DataFrame."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    names = column_names(frame)
    said = names_as_texts(names)
    return pl.DataFrame(
        [polars_series(column(frame, n), s) for n, s in zip(names, said, strict=True)]
    )


def polars_series(series: Any, name: str) -> Any:
    """A column (a Series of narwhals) as a polars Series; InvalidInput if it cannot become one."""
    made = None if _may_hold_anything(series) else _attempt(series.to_polars)
    if made is None:
        try:
            made = _of_values(series)
        except MemoryError:
            raise
        except Exception:  # values may be objects that have no text
            raise InvalidInput(
                f"The column {name!r} holds values that cannot be turned into texts. Change or remove it."
            ) from None
    return made.alias(name)


def as_texts(series: Any) -> Any:
    """A polars Series with the texts of its values."""
    return _texts(series.to_list()).alias(series.name)


def as_text(value: Any) -> str | None:
    """A value as the text of one cell: lists and objects with fields as JSON."""
    if value is None:
        return None
    return whole(value if isinstance(value, str) else _spelled(value))


def _spelled(value: Any) -> str:
    value = value.tolist() if type(value).__name__ == "ndarray" else value
    if isinstance(value, list | dict):
        # neither a key that is no text nor a list that holds itself can become JSON
        with suppress(TypeError, ValueError, RecursionError):
            return json.dumps(value, ensure_ascii=False, default=_spelled)
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _may_hold_anything(series: Any) -> bool:
    """Whether these may be values of several kinds, or of one that narwhals does not know."""
    import narwhals as nw

    dtype = getattr(series.to_native(), "dtype", None)  # pyarrow: None
    is_of_arrow = hasattr(dtype, "pyarrow_dtype")
    return dtype is not None and (
        str(dtype) == "object" or (series.dtype == nw.Unknown and not is_of_arrow)
    )


def _of_values(series: Any) -> Any:
    import polars as pl

    values = series.to_list()
    if not _are_texts(values):
        values = [None if is_missing(value) else value for value in values]
    if _are_texts(values) or any(map(_is_infinite, values)):
        return _texts(values)
    for make in (series.to_polars, lambda: pl.Series(values, strict=False)):
        made = _attempt(make)
        if made is not None and _attempt(partial(_holds, made, values)):
            return made
    return pl.Series(values, dtype=pl.Object) if any(map(_is_bare, values)) else _texts(values)


def _is_bare(value: Any) -> bool:
    """Whether the text of an object would be its address in memory."""
    kind: Any = type(value)
    return kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__


def _are_texts(values: list[Any]) -> bool:
    return {str} <= set(map(type, values)) <= {str, type(None)}


def _is_infinite(value: Any) -> bool:
    """Whether this is a Decimal that makes polars panic, and print where."""
    return isinstance(value, Decimal) and value.is_infinite()


def _texts(values: list[Any]) -> Any:
    import polars as pl

    if _are_texts(values):
        try:
            return pl.Series(values, dtype=pl.String)
        except UnicodeEncodeError:  # half a character
            pass
    return pl.Series(list(map(as_text, values)), dtype=pl.String)


def _attempt(make: Any) -> Any:
    """What a function returns; None if it fails."""
    try:
        return make()
    except BaseException as error:  # a panic of polars is not an Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        return None


def _fits_no_file(dtype: Any) -> bool:
    """Whether values are objects, or never have a field."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return not dtype.fields or any(_fits_no_file(field.dtype) for field in dtype.fields)
    return dtype == pl.Object or (hasattr(dtype, "inner") and _fits_no_file(dtype.inner))


def _holds(made: Any, values: list[Any]) -> bool:
    """Whether a polars Series has these values, of a type that every file can hold."""
    if _fits_no_file(made.dtype) or len(made) != len(values):
        return False
    if made.dtype in _kept_by(set(map(type, values)) - {type(None)}, values):
        return True
    parts = range(0, len(values), _AT_ONCE)  # a list of all values would be larger than the table
    return all(_all_same(values[i : i + _AT_ONCE], made[i : i + _AT_ONCE].to_list()) for i in parts)


def _kept_by(types: set[type], values: list[Any]) -> list[Any]:
    """Types of polars that certainly hold the values of these types, which need no look at each."""
    import polars as pl

    kept: dict[type, Any] = {str: pl.String, bool: pl.Boolean, float: pl.Float64, date: pl.Date}
    if types == {list}:
        inner = set(map(type, chain.from_iterable(filter(None, values)))) - {type(None)}
        return [pl.List(kept[kind]) for kind in inner if len(inner) == 1 and kind in kept]
    if len(types) == 1 and next(iter(types)).__name__ == "ndarray":
        found = {(value.ndim, value.dtype.name) for value in values if value is not None}
        vectors = {(1, "float32"): pl.List(pl.Float32), (1, "float64"): pl.List(pl.Float64)}
        return [vectors[kind] for kind in found if len(found) == 1 and kind in vectors]
    return [kept[kind] for kind in types if len(types) == 1 and kind in kept]


def _all_same(values: Any, found: Any) -> bool:
    return len(values) == len(found) and all(map(_same, values, found))


def _same(value: Any, found: Any) -> bool:
    """Whether nothing of a value was lost when it became another one."""
    if is_missing(value):
        return is_missing(found)
    if isinstance(value, dict) and isinstance(found, dict):  # fields of other rows are added
        return value.keys() <= found.keys() and all(
            _same(value.get(key), of) for key, of in found.items()
        )
    if isinstance(found, list):
        return not isinstance(value, str | dict) and _all_same(list(value), found)
    if _is_bool(value) != _is_bool(found):
        return False
    return bool(value == found)


def _is_bool(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")
