"""JSON, one object a line or all in one list -> a polars DataFrame; a broken line is named."""

from __future__ import annotations

import json
import re
from typing import Any

from coterie.errors import InvalidInput

_lone_surrogate = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
)


def lines(data: bytes, name: str) -> Any:
    """A frame of one object (or text) a line."""
    import polars as pl

    # polars turns half a surrogate pair into a NUL
    if b"\\ud" not in data.lower() or not _lone_surrogate.search(data):
        try:
            return pl.read_ndjson(data, infer_schema_length=None)
        except pl.exceptions.PolarsError:
            pass  # the standard library says where it is wrong, or reads it after all
    rows = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line.decode()))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                f"Line {number} of {name} is not JSON ({error}); every line must be one object such"
                ' as {"text": "..."}.'
            ) from None
    return _from_objects(rows, name)


def array(data: bytes, name: str) -> Any:
    """A frame of a list of objects or texts, or of an object of columns."""
    try:
        content = json.loads(data.decode())  # json would guess at the encoding of bytes
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # JSON lines under the wrong ending
            return lines(data, name)
        raise InvalidInput(f"Line {error.lineno} of {name} is not JSON ({error.msg}).") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be read as a table ({error}).") from None
    if isinstance(content, dict) and content and all(isinstance(v, list) for v in content.values()):
        if len({len(column) for column in content.values()}) == 1:
            content = [
                dict(zip(content, row, strict=True)) for row in zip(*content.values(), strict=True)
            ]
    elif isinstance(content, dict):
        content = [content]
    return _from_objects(content, name)


def _from_objects(rows: Any, name: str) -> Any:
    """A frame of a list of objects, or of texts."""
    import polars as pl

    if isinstance(rows, list) and rows and all(isinstance(row, str) for row in rows):
        rows = [{"text": row} for row in rows]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput(
            f"{name} must hold a list of objects with the same keys, or a list of texts."
        )
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = {whole(key): _series([row.get(key) for row in rows]) for key in keys}
    return pl.DataFrame(columns)


def _series(values: list[Any]) -> Any:
    import polars as pl

    values = [whole(value) if isinstance(value, str) else value for value in values]
    try:
        return pl.Series(values)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):  # of several kinds
        return pl.Series(
            [v if v is None or isinstance(v, str) else json.dumps(v) for v in values],
            dtype=pl.String,
        )


def whole(text: str) -> str:
    """A text with halves of surrogate pairs replaced, since no file and no frame can hold them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
