"""Which column of a table holds the texts, if nobody says so.

In: a DataFrame of any kind. Out: a column and a sentence why, or an error that says what was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie._sentence import counted, example
from coterie.errors import InvalidInput
from coterie.text._columns import column, column_names, is_missing
from coterie.text._header import usual_kind
from coterie.text._names import rank

_HEAD = 2_000  # rows used to guess the text column


def guess(native: Any, frame: Any) -> tuple[Any, str]:
    """Return (the text column, a sentence that explains the choice)."""
    samples = _samples(native, len(frame))
    if not samples:
        raise no_texts(native, len(frame))
    if len(samples) == 1:
        (name,) = samples
        return name, f"Using the texts in column {name!r}, the only one with texts."
    wordy = {name: samples[name] for name in samples if _has_words(samples[name])}
    samples = wordy or samples  # neither dates nor codes
    if len(samples) == 1:
        (name,) = samples
        return name, f"Using the texts in column {name!r}, the only one with words."
    for level in (0, 1):
        named = [name for name in samples if rank(str(name)) == level]
        filled = [name for name in named if len(samples[name]) >= 0.3 * min(len(frame), _HEAD)]
        if len(filled) == 1 and not _much_longer_exists(filled[0], samples):
            return filled[0], f"Using the texts in column {filled[0]!r}, chosen by its name."
        if len(filled) > 1:
            samples = {name: samples[name] for name in filled}
            break
    by_length = sorted(samples, key=lambda name: -_mean_length(samples[name]))
    first, second = by_length[:2]
    values = samples[first]
    words = sum(map(str.count, values, [" "] * len(values))) / len(values) + 1
    varied = len(set(values)) > 0.3 * len(values)
    if _mean_length(values) > 3 * _mean_length(samples[second]) and words >= 3 and varied:
        return first, (f"Using the texts in column {first!r}, which has by far the longest ones.")
    shown = "; ".join(f"{n!r} ({_sample(samples[n][0])})" for n in by_length[:10])
    raise InvalidInput(
        "Several columns may hold the texts. Choose one with " + example("text") + f": {shown}.",
        kind="which_column",
    )


def _samples(frame: Any, n_rows: int) -> dict[Any, list[str]]:
    """The first values of each column that may hold texts, without those that are missing or blank.

    They are those of the first rows; of columns that are blank there, others count if none has words.
    """
    samples: dict[Any, list[str]] = {}
    blank = {name: column(frame, name) for name in _possible(frame)}
    order = list(blank)
    for start in range(0, n_rows, _HEAD):
        for name, series in list(blank.items()):
            some = series[start : start + _HEAD].to_list()
            values = [v for v in some if isinstance(v, str) and v and not v.isspace()]
            if values:
                samples[name] = values
                del blank[name]
        if not blank or any(map(_has_words, samples.values())):
            break
    return {name: samples[name] for name in order if name in samples}


def _has_words(values: list[str]) -> bool:
    """Neither dates nor codes."""
    return usual_kind(values[:200]) == "text"


def _possible(frame: Any) -> list[Any]:
    """The columns that may hold texts, by their types."""
    found = []
    for name in column_names(frame):
        dtype = column(frame, name).dtype  # dates may be outside of Python's range
        if not (dtype.is_numeric() or dtype.is_temporal() or dtype.is_nested()):
            found.append(name)
    return found


def no_texts(frame: Any, n_rows: int) -> InvalidInput:
    """The error where no column holds texts in any of these rows, of which `frame` has some."""
    blank = [name for name in _possible(frame) if _is_blank(column(frame, name).head(_HEAD))]
    if not blank:
        types = (f"{n!r} ({column(frame, n).dtype})" for n in column_names(frame)[:30])
        return InvalidInput(f"No column holds texts. The columns are {', '.join(types)}.")
    which = ", ".join(map(repr, blank[:30]))
    return InvalidInput(
        f"No column holds texts in the {counted(n_rows, 'row')} that {'was' if n_rows == 1 else 'were'}"
        f" looked at: {which} {'is' if len(blank) == 1 else 'are'} missing or blank there. If other rows"
        " have texts, choose their column with " + example("text") + ".",
        kind="no_texts",
    )


def _is_blank(series: Any) -> bool:
    values = series.to_list()
    return all(is_missing(v) or (isinstance(v, str) and not v.strip()) for v in values)


def _much_longer_exists(name: Any, samples: Mapping[Any, list[str]]) -> bool:
    """Whether another column has so much longer texts that the name may be misleading."""
    length = _mean_length(samples[name])
    return any(
        _mean_length(values) > 10 * length and " " in values[0] and len(set(values)) > 1
        for other, values in samples.items()
        if other != name
    )


def _mean_length(values: Sequence[str]) -> float:
    return sum(map(len, values)) / len(values)


def _sample(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")
