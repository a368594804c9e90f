"""The columns of a table that hold texts: one, several joined, or one of lists.

In: a DataFrame of any kind and the names of columns. Out: one text per row, "" if it is missing.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from coterie._sentence import Name, Sentence, example
from coterie.errors import InvalidInput
from coterie.text import _json
from coterie.text._kinds import kind_in_words
from coterie.text._lazy import Texts

BETWEEN = "\n"  # between the texts of several columns
Columns = str | tuple[str, ...]  # several columns are read as one text


def chosen(text: Any, names: Sequence[Any]) -> Any:
    """The column or columns that the user means: a name, a list of names, or "title,body"."""
    if isinstance(text, list | tuple):
        if not text:
            raise InvalidInput(
                "The list of text columns is empty. Name at least one with " + example("text") + "."
            )
        for name in text:
            need(name, names, "text")
        return text[0] if len(text) == 1 else tuple(text)
    if isinstance(text, str) and "," in text and text not in names:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if len(parts) > 1:
            return chosen(parts, names)
    need(text, names, "text")
    return text


def are_there(text: Any, names: Sequence[Any]) -> bool:
    """Whether the column or columns that the user means are among these names."""
    try:
        chosen(text, names)
    except InvalidInput as error:
        if error.kind != "no_such_column":
            raise
        return False
    return True


def joined(frame: Any, columns: Any) -> tuple[Sequence[str], int]:
    """The texts of one or several columns, and how many rows have none."""
    if not isinstance(columns, tuple):
        return column_texts(column(frame, columns), str(columns))
    found = [column_texts(column(frame, name), str(name))[0] for name in columns]
    texts = [BETWEEN.join(filter(None, parts)) for parts in zip(*found, strict=True)]
    return texts, texts.count("")


def column(frame: Any, name: Any) -> Any:
    """One column by name; pandas allows numbers as names, which narwhals would take for rows."""
    import narwhals as nw

    return nw.from_native(frame[name], series_only=True)


def column_names(frame: Any) -> list[Any]:
    names = getattr(frame, "column_names", None)  # pyarrow
    return list(frame.columns) if names is None else list(names)


def names_as_texts(names: Sequence[Any]) -> list[str]:
    """Names of columns as they are in a file; InvalidInput if two are the same there."""
    if names and all(isinstance(name, tuple) for name in names):
        raise InvalidInput(
            f"The columns of the table have several levels, such as {names[0]!r}. Give each column a plain"
            " name, as in `table.columns = ['_'.join(map(str, name)) for name in table.columns]`."
        )
    seen: dict[str, Any] = {}
    known = set()
    for name in names:
        if name in known:  # 1 is also 1.0
            raise InvalidInput(f"The table has two columns named {name!r}. Rename one of them.")
        said = _json.whole(str(name))
        if said in seen:
            raise InvalidInput(
                f"The columns {seen[said]!r} and {name!r} have the same name in a file. Rename one of them."
            )
        seen[said] = name
        known.add(name)
    return list(seen)


def need_column(frame: Any, name: str) -> None:
    """Refuse a column that is not in the table."""
    need(name, column_names(frame), "by")


def values_of(frame: Any, name: str) -> list[str | None]:
    """The values of a column as texts; None where one is missing."""
    values = column(frame, name).to_list()
    texts = [None if is_missing(v) else str(v).strip() for v in values]
    return [text or None for text in texts]


def need(name: str, names: Sequence[Any], parameter: str) -> None:
    with suppress(Exception):  # an array or a missing value is neither the same nor another
        if name in names:
            return
    close = difflib.get_close_matches(str(name)[:80], [str(n)[:80] for n in names[:1_000]], 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidInput(
        f"There is no column {name!r} ("
        + Sentence(Name(parameter, f"{parameter}=..."))
        + "). The columns are"
        f" {', '.join(repr(n) for n in names[:30])}{', ...' if len(names) > 30 else ''}.{hint}",
        kind="no_such_column",
    )


def column_texts(series: Any, name: str) -> tuple[Sequence[str], int]:
    """The texts of a column, and how many are missing."""
    import narwhals as nw
    import polars as pl

    native = series.to_native()
    if isinstance(native, pl.Series) and native.dtype == pl.String:
        found = Texts(native)
        return found, found.n_missing()
    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    values = [_flat(value) for value in series.to_list()]
    if not _may_hold_texts(series.dtype) and not all(map(is_missing, values)):
        raise InvalidInput(_not_text(name, kind_in_words(series.dtype)))
    texts, n_missing, others = texts_of(values)
    if others and len(others) + n_missing == len(values):
        raise InvalidInput(_not_text(name, kind_in_words(type(values[others[0]]))))
    for i in others:
        texts[i] = str(values[i])
    return texts, n_missing


def _may_hold_texts(dtype: Any) -> bool:
    import narwhals as nw

    if isinstance(dtype, nw.List | nw.Array):
        return _may_hold_texts(dtype.inner)
    return dtype in (nw.String, nw.Object, nw.Unknown)


def _flat(value: Any) -> Any:
    """A list of texts, such as words or tags, as one text."""
    if type(value).__name__ == "ndarray":
        value = value.tolist()
    if isinstance(value, list | tuple) and all(isinstance(v, str | None) for v in value):
        return " ".join(v for v in value if v)
    return value


def _not_text(name: str, what: str) -> str:
    return (
        f"The column {name!r} holds {what}, not texts. Name the text column with "
        + example("text")
        + ", or convert the values to strings first."
    )


def texts_of(values: Sequence[Any]) -> tuple[list[str], int, list[int]]:
    """Return (texts with "" for missing ones, number missing, rows with other values)."""
    others = [i for i, v in enumerate(values) if not isinstance(v, str) and not is_missing(v)]
    texts = [_json.whole(v) if isinstance(v, str) and not v.isspace() else "" for v in values]
    return texts, texts.count("") - len(others), others


def is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and value != value
