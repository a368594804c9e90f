"""What a column holds, in words: "whole numbers" instead of Int64.

In: a type of polars or narwhals, or the type of a Python value. Out: words that fit after "holds".
"""

from __future__ import annotations

from typing import Any

_WORDS = {
    **dict.fromkeys(("String", "Utf8", "str"), "texts"),
    **dict.fromkeys(("Float32", "Float64", "Decimal", "float"), "numbers"),
    **dict.fromkeys(("Boolean", "bool"), "true and false"),
    **dict.fromkeys(("Datetime", "datetime", "Timestamp"), "dates and times"),
    **dict.fromkeys(("Date", "date"), "dates"),
    **dict.fromkeys(("Time", "time"), "times of day"),
    **dict.fromkeys(("Duration", "timedelta", "Timedelta"), "durations"),
    **dict.fromkeys(("Categorical", "Enum"), "categories"),
    **dict.fromkeys(("Struct", "dict"), "objects with fields"),
    **dict.fromkeys(("Binary", "bytes"), "bytes"),
    **dict.fromkeys(("list", "tuple", "set"), "lists"),
    "Null": "missing values",
    "Object": "Python objects",
    "int": "whole numbers",
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
    if name.startswith(("Int", "UInt")):
        return "whole numbers"
    return _WORDS.get(name, f"values of type {name}")
