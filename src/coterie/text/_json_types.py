"""The types of columns of JSON lines that are read in parts: those of the whole file.

A column may hold strings in one part, and lists or numbers in another. Read at once, all of them are texts;
a list of words is only one if all rows hold lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from coterie.text._json import Objects, as_texts, by_polars


class Kinds:
    """What the columns hold, in the parts that were looked at."""

    def __init__(self) -> None:
        self._types: dict[str, set[Any]] = {}

    def look(self, frame: Any) -> None:
        """Look at another part."""
        import polars as pl

        for name, dtype in frame.schema.items():
            if dtype != pl.Null and frame[name].null_count() < frame.height:
                self._types.setdefault(name, set()).add(dtype)

    def are_texts(self, names: Iterable[str]) -> bool:
        """Whether all rows of these columns are texts, whatever later parts hold."""
        return all(self._is_text(name) for name in names)

    def types(self, names: Iterable[str]) -> dict[str, Any]:
        """The types of columns that hold texts, or lists of words."""
        import polars as pl

        found: dict[str, Any] = {}
        for name in names:
            if self._is_text(name):
                found[name] = pl.String()
            elif pl.List(pl.String) in self._types.get(name, ()):
                found[name] = pl.List(pl.String)
        return found

    def _is_text(self, name: str) -> bool:
        import polars as pl

        types = self._types.get(name, set())
        kinds = {"a number" if dtype.is_numeric() else dtype.base_type() for dtype in types}
        return pl.String in kinds or len(kinds) > 1


def retyped(frame: Any, objects: Objects, types: Mapping[str, Any]) -> Any:
    """The frame with these types of columns, as if other rows had decided on them."""
    import polars as pl

    odd = {n: dtype for n, dtype in types.items() if frame.schema[n] != dtype}
    plain = [n for n in odd if frame.schema[n] == pl.Null or frame.schema[n].is_integer()]
    frame = frame.with_columns(frame[name].cast(odd.pop(name)) for name in plain)
    if not odd:
        return frame
    found = by_polars(objects.data or b"", odd)
    if found is not None:
        return frame.with_columns(found)
    return frame.with_columns(_series(objects, name, dtype) for name, dtype in odd.items())


def _series(objects: Objects, name: str, dtype: Any) -> Any:
    import polars as pl

    values = objects.values(name)
    if dtype == pl.String:
        return as_texts(values).alias(name)
    lists = [
        None if v is None else [x if isinstance(x, str | None) else json.dumps(x) for x in v]
        for v in values
    ]
    return pl.Series(name, lists, dtype)
