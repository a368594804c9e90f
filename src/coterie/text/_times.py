"""Times in a column: finds out how they are written, and cuts them into periods.

In: a table and a column. Out: a polars Series of times, or one sentence why there are none.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from coterie._forks import check_threads
from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.text._columns import column, need

EVERY = {"hour": "1h", "day": "1d", "week": "1w", "month": "1mo", "year": "1y"}
ENOUGH = 0.95  # share of the values that have to be times
FORMATS = (
    "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d",
    "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y%m%d", "%Y-%m",
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y",
    "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y",
)  # fmt: skip
# Either the day or the month comes first: the reading with the shorter span is the likely one.
EITHER = (
    ("%d/%m/%Y", "%m/%d/%Y"),
    ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"),
    ("%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"),
    ("%d-%m-%Y", "%m-%d-%Y"),
)


def parse(frame: Any, name: str) -> tuple[Any, list[str]]:
    """Return (the times of a column, null where there is none; notes)."""
    import polars as pl

    check_threads()
    names = frame.column_names if hasattr(frame, "column_names") else list(frame.columns)
    need(name, names, "over")
    series = column(frame, name)
    values = [None if value != value else value for value in series.to_list()]
    kinds = {type(v) for v in values if v is not None}
    if kinds and all(issubclass(kind, dt.date) for kind in kinds):
        plain = [_without_zone(v) for v in values]
        return pl.Series("", plain, pl.Datetime("us")), []
    if kinds and kinds <= {int, float}:
        return _from_numbers(name, values)
    texts = pl.Series(
        "", [None if v is None else str(v).strip() or None for v in values], pl.String
    )
    return _from_texts(name, texts)


def period(times: Any) -> str:
    """The length of a period that gives at most about fifty of them."""
    known = times.drop_nulls()
    days = (known.max() - known.min()).total_seconds() / 86_400
    for every, most in (("hour", 2), ("day", 60), ("week", 366), ("month", 1_830)):
        if days <= most:
            return every
    return "year"


def starts(times: Any, every: str) -> Any:
    """The start of the period of each time."""
    if not isinstance(every, str) or every not in EVERY:
        raise InvalidInput(f"every is {every!r}. Use {', '.join(map(repr, EVERY))}.")
    return times.dt.truncate(EVERY[every])


def grid(found: Any, every: str) -> list[Any]:
    """All periods from the first to the last, also those without a row."""
    import polars as pl

    known = found.drop_nulls()
    first, last = known.min(), known.max()
    return list(pl.datetime_range(first, last, EVERY[every], eager=True).to_list())


def label(start: Any, every: str) -> str:
    """A period in words: 2024-03-04 for a day or the week that starts there, 2024-03 for a month."""
    how = {"hour": "%Y-%m-%d %H:00", "month": "%Y-%m", "year": "%Y"}
    return str(start.strftime(how.get(every, "%Y-%m-%d")))


def _without_zone(value: Any) -> Any:
    if value is None or not isinstance(value, dt.datetime):
        return None if value is None else dt.datetime(value.year, value.month, value.day)
    return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)


def _from_numbers(name: str, values: list[Any]) -> tuple[Any, list[str]]:
    """Years, or seconds or milliseconds since 1970."""
    import polars as pl

    known = [v for v in values if v is not None]
    low, high = min(known), max(known)
    whole = all(v == int(v) for v in known)
    if whole and low >= 1_800 and high <= 2_100:
        times = [None if v is None else dt.datetime(int(v), 1, 1) for v in values]
        return pl.Series("", times, pl.Datetime("us")), [
            f"The numbers in {name!r} are read as years."
        ]
    for scale, unit in ((1, "seconds"), (1_000, "milliseconds")):
        if low >= 3e8 * scale and high <= 4.2e9 * scale:
            micro = [None if v is None else int(v * 1_000_000 // scale) for v in values]
            since = pl.Series("", micro, pl.Int64).cast(pl.Datetime("us"))
            return since, [f"The numbers in {name!r} are read as {unit} since 1970."]
    raise _no_times(name, known[0])


def _from_texts(name: str, texts: Any) -> tuple[Any, list[str]]:
    known = texts.drop_nulls()
    if not len(known):
        raise InvalidInput(f"The column {name!r} is empty, so there is nothing to show over time.")
    bare = _bare(texts)
    notes: list[str] = []
    best, found = 0, None
    for formats in (*((f,) for f in FORMATS), *EITHER):
        times, said = _likely(name, bare, formats)
        hits = len(times) - times.null_count()
        if hits > best:
            best, found, notes = hits, times, said
        if best == len(known):
            break
    if found is None or best < ENOUGH * len(known):
        bad = texts.filter(texts.is_not_null() & (found.is_null() if found is not None else True))
        raise _no_times(name, bad[0])
    if best < len(known):
        left = len(known) - best
        notes.append(f"{counted(left, 'value')} in {name!r} could not be read as a time.")
    return found, notes


def _bare(texts: Any) -> Any:
    """Times without their zone: Z, UTC, +02:00."""
    named = texts.str.replace(r"(?i)\s*(Z|UTC|GMT)$", "")
    return named.str.replace(r"(:\d\d(?:\.\d+)?)\s*[+-]\d\d:?\d\d$", "$1")


def _likely(name: str, texts: Any, formats: tuple[str, ...]) -> tuple[Any, list[str]]:
    """The times by one of the formats: the one that reads more, or whose times are closer together."""
    read = [_read(texts, form) for form in formats]
    if len(read) == 1:
        return read[0], []
    hits = [len(times) - times.null_count() for times in read]
    if hits[0] != hits[1]:
        return read[0 if hits[0] > hits[1] else 1], []
    if not hits[0]:
        return read[0], []
    spans = [times.max() - times.min() for times in read]
    chosen = 0 if spans[0] <= spans[1] else 1
    order = "day, month, year" if chosen == 0 else "month, day, year"
    return read[chosen], [f"The dates in {name!r} are read as {order}."]


def _read(texts: Any, form: str) -> Any:
    import polars as pl

    if form == "%Y-%m":
        texts, form = texts.str.replace(r"^(\d{4}-\d\d)$", "$1-01"), "%Y-%m-%d"
    if any(sign in form for sign in ("%H", "%M")):
        return texts.str.to_datetime(form, strict=False, time_unit="us")
    return texts.str.to_date(form, strict=False).cast(pl.Datetime("us"))


def _no_times(name: str, value: Any) -> InvalidInput:
    shown = str(value)
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return InvalidInput(
        f"The column {name!r} holds no dates or times that coterie can read (such as {shown!r}). Write them"
        " as 2024-03-31 or 2024-03-31 14:05, or choose another column.",
        kind="no_times",
    )
