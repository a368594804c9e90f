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
from coterie.text._kinds import kind_in_words
from coterie.text._names import rank

_HEAD = 2_000  # rows used to guess the text column


def guess(native: Any, n_rows: int, added: str | None = None) -> tuple[Any, str]:
    """Return (the text column, a sentence that explains the choice); not the column that we added."""
    seen = Seen()
    seen.look(native, n_rows, added)
    return seen.choice()


class Seen:
    """What the rows of a table show, which may be looked at in parts, one after the other.

    Of each column that may hold texts, it keeps the first values, without those that are missing or
    blank: those of the first rows; of columns that are blank there, others count if none has words.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self.dtypes: dict[Any, Any] = {}  # of all columns
        self.samples: dict[Any, list[str]] = {}
        self.filled: dict[Any, float] = {}  # share of the rows with texts there
        self.has_words = False  # in any sample
        self.has_blank = False  # columns in which other rows may have texts
        self._missing: list[Any] = []  # columns that are blank, while no column has texts

    def look(self, native: Any, n_rows: int, added: str | None = None) -> None:
        """Look at more rows, but not at the column that we added."""
        columns = {name: column(native, name) for name in column_names(native)}
        self.dtypes |= {name: series.dtype for name, series in columns.items()}
        known = {added, *self.samples}
        blank = {n: s for n, s in columns.items() if n not in known and _possible(s.dtype)}
        for start in range(0, n_rows, _HEAD):
            if self.has_words or not blank:
                break
            texts = {n: _texts_in(s[start : start + _HEAD]) for n, s in blank.items()}
            rows = set().union(*texts.values())
            for name in [name for name in blank if texts[name]]:
                self.samples[name] = list(texts[name].values())
                self.filled[name] = len(texts[name]) / len(rows)
                self.has_words |= _has_words(self.samples[name])
                del blank[name]
        self.n_rows += n_rows
        self.has_blank = bool(blank)
        if not self.samples:
            self._missing += [n for n, s in blank.items() if _is_blank(s.head(_HEAD))]

    def choice(self) -> tuple[Any, str]:
        """Return (the text column, a sentence that explains the choice)."""
        samples = {name: self.samples[name] for name in self.dtypes if name in self.samples}
        if not samples:
            raise self._no_texts()
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
            filled = [name for name in named if self.filled[name] >= 0.3]
            if len(filled) == 1 and not _much_longer_exists(filled[0], samples):
                return filled[0], f"Using the texts in column {filled[0]!r}, chosen by its name."
            if len(filled) > 1:
                samples = {name: samples[name] for name in filled}
                break
        return _longest(samples)

    def _no_texts(self) -> InvalidInput:
        """The error where no column holds texts in any of these rows."""
        missing = [n for n in dict.fromkeys(self._missing) if _possible(self.dtypes[n])]
        if not missing:
            types = (
                f"{name!r} ({kind_in_words(dtype)})"
                for name, dtype in list(self.dtypes.items())[:30]
            )
            return InvalidInput(f"No column holds texts. The columns are {', '.join(types)}.")
        which = ", ".join(map(repr, missing[:30]))
        return InvalidInput(
            f"No column holds texts in the {counted(self.n_rows, 'row')} that"
            f" {'was' if self.n_rows == 1 else 'were'} looked at: {which}"
            f" {'is' if len(missing) == 1 else 'are'} missing or blank there. If other rows have"
            " texts, choose their column with " + example("text") + ".",
            kind="no_texts",
        )


def _longest(samples: Mapping[Any, list[str]]) -> tuple[Any, str]:
    """The column with by far the longest texts; an error if there is none."""
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


def _texts_in(series: Any) -> dict[int, str]:
    """The texts that are not blank, by their rows."""
    values = enumerate(series.to_list())
    return {i: v for i, v in values if isinstance(v, str) and v and not v.isspace()}


def _has_words(values: list[str]) -> bool:
    """Neither dates nor codes."""
    return usual_kind(values[:200]) == "text"


def _possible(dtype: Any) -> bool:
    """Whether a column of this type may hold texts; dates may be outside of Python's range."""
    return not (dtype.is_numeric() or dtype.is_temporal() or dtype.is_nested())


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
