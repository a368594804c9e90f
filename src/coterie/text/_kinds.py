"""What a column holds, in words: "whole numbers" instead of Int64.

In: a type of polars or narwhals, or the type of a Python or NumPy value. Out: words that fit after "holds".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WHOLE = re.compile(r"u?int\d*", re.IGNORECASE)
_NUMBER = re.compile(r"float\d*|(long)?double|decimal", re.IGNORECASE)
_WORDS = {
    **dict.fromkeys(("String", "Utf8", "str", "str_"), "texts"),
    **dict.fromkeys(("Boolean", "bool", "bool_"), "true and false"),
    **dict.fromkeys(("Datetime", "datetime", "Timestamp", "datetime64"), "dates and times"),
    **dict.fromkeys(("Date", "date"), "dates"),
    **dict.fromkeys(("Time", "time"), "times of day"),
    **dict.fromkeys(("Duration", "timedelta", "Timedelta", "timedelta64"), "durations"),
    **dict.fromkeys(("Categorical", "Enum"), "categories"),
    **dict.fromkeys(("Struct", "dict"), "objects with fields"),
    **dict.fromkeys(("Binary", "bytes", "bytes_"), "bytes"),
    **dict.fromkeys(("list", "tuple", "set"), "lists"),
    "Null": "missing values",
    "Object": "Python objects",
}


def kind_in_words(kind: Any) -> str:
    """The values of a type, in words.

    >>> import polars as pl
    >>> [kind_in_words(kind) for kind in (pl.UInt32, pl.Datetime("us"), pl.List(pl.String), bytes)]
    ['whole numbers', 'dates and times', 'lists of texts', 'bytes']
    """
    name = getattr(kind, "__name__", type(kind).__name__)
    if name in ("List", "Array") and getattr(kind, "inner", None) is not None:
        return f"lists of {kind_in_words(kind.inner)}"
    if _WHOLE.fullmatch(name):
        return "whole numbers"
    if _NUMBER.fullmatch(name):
        return "numbers"
    return _WORDS.get(name, f"values of type {name}")


def listed(columns: Mapping[str, str]) -> str:
    """Columns and what they hold, as the end of a sentence."""
    shown = [f"{name!r} ({what})" for name, what in list(columns.items())[:10]]
    more = [f"and {len(columns) - 10:,} more"] if len(columns) > 10 else []
    return ", ".join(shown + more) + "."
