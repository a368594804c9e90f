"""Parses the description of one seed into terms with pseudo-counts.

In: a name and a text, words, weights, example documents, or a mapping of those. Out: a `Seed`. Whether
the corpus contains the words is checked later.
"""

from __future__ import annotations

import math
import numbers
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from coterie.errors import InvalidInput
from coterie.text._json import whole

KEYS = ("words", "text", "examples", "weights", "confidence", "repeat")
MOST_CONFIDENCE = 1e100  # as for alpha: the sum of many must stay finite
_separators = re.compile(r"[,;|\n]")


class Entry(NamedTuple):
    """One seed as it was written, and where, such as "seeds" or "line 3 of topics.yaml"."""

    name: Any
    value: Any
    where: str


class Term(NamedTuple):
    """A term to look up: a "word" as it is or else split, a "text" split, a "token" only as it is."""

    kind: str
    value: str | int  # a number is a column of a matrix without a vocabulary


class Seed(NamedTuple):
    """One seed: its terms with pseudo-counts, and its own confidence (alpha0) if it has one."""

    name: str
    terms: list[tuple[Term, float]]
    confidence: float | None


def parse(entry: Entry, repeat: float) -> Seed:
    """Parse and check one seed; its words and texts count `repeat` times."""
    entry = entry._replace(name=_name(entry))
    spec = _spec(entry)
    for key in spec:
        if key not in KEYS:
            _refuse(
                entry,
                f"has the unknown key {short(key)}. Use {_listed(KEYS)}; if the keys are words, every value"
                " must be a number",
            )
    times = repeat if spec.get("repeat") is None else _repeat(entry, spec["repeat"])
    terms = [
        *_words(entry, spec.get("words"), times),
        *_texts(entry, "text", spec.get("text"), times),
        *_examples(entry, spec.get("examples")),
        *_weights(entry, spec.get("weights")),
    ]
    if not terms:
        _refuse(entry, "has no words. Add at least one word or text")
    asked = spec.get("confidence")
    return Seed(entry.name, terms, None if asked is None else confidence(entry, asked))


def confidence(entry: Entry, value: Any) -> float:
    """The confidence (alpha0) of a seed, checked."""
    found = as_number(value)
    if found is None or not 0.0 < found <= MOST_CONFIDENCE:
        _refuse(
            entry,
            f"has a confidence (alpha0) of {short(value)}. Use a number above 0 and at most 1e100: the"
            " number of documents the seed is worth",
        )
    return found


def as_number(value: Any) -> float | None:
    """Any number as a float; None for anything else, including True and False."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def short(value: Any) -> str:
    """A value as shown in errors: escaped if it cannot be printed, and shortened if it is long."""
    if not isinstance(value, str | numbers.Number | None):
        return f"a {type(value).__name__}"
    try:
        text = repr(value[:61] if isinstance(value, str) else value)
    except ValueError:  # Python does not print integers of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 62 else text[:57] + "..." + text[0]


def _name(entry: Entry) -> str:
    name = entry.name
    if not isinstance(name, bool) and isinstance(name, numbers.Number):
        name = str(name)
    if not isinstance(name, str):
        raise InvalidInput(
            "A seed in " + entry.where + f" has {short(name)} as its name. Names must be strings."
        )
    if not name.strip():
        raise InvalidInput("A seed in " + entry.where + " has an empty name. Give it a name.")
    if whole(name) != name:
        raise InvalidInput(
            "A seed in "
            + entry.where
            + f" has the name {short(name)}, which holds bytes that are not UTF-8."
            " Write it in UTF-8."
        )
    return str(name)


def _spec(entry: Entry) -> Mapping[Any, Any]:
    """The seed in its long form, a mapping."""
    value = entry.value
    if value is None:
        return {}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, Mapping):
        weights = len(value) > 0 and all(as_number(v) is not None for v in value.values())
        return {"weights": value} if weights else value
    items = _items(value)
    if items is not None and all(map(_is_word, items)):
        return {"words": items}
    if items is not None and not any(map(_is_word, items)) and all(map(_is_tokens, items)):
        return {"examples": items}
    mixed = items is not None and all(_is_word(item) or _is_tokens(item) for item in items)
    _refuse(
        entry,
        f"{'mixes words and token lists' if mixed else _described(value, items)}. Use a text, a list"
        f" of words, word: weight pairs, a list of token lists, or any of {_listed(KEYS)}",
    )


def _described(value: Any, items: list[Any] | None) -> str:
    odd = next((item for item in items or () if not _is_word(item)), None)
    return f"is {short(value)}" if odd is None else f"contains {short(odd)}"


def _words(entry: Entry, value: Any, times: float) -> Iterator[tuple[Term, float]]:
    """A list of words or phrases; a string is split at commas, or is a text if it has none."""
    if as_number(value) is not None or (isinstance(value, str) and not _separators.search(value)):
        yield from _texts(entry, "words", value, times)
        return
    if isinstance(value, str):
        value = list(map(str.strip, _separators.split(value)))
    items = [] if value is None else _items(value)
    if items is None or not all(map(_is_word, items)):
        _refuse(entry, f"has {short(value)} as its words. Use a list of words")
    for item in items:
        if not isinstance(item, str):
            yield Term("word", int(item)), times
        elif item.strip():
            yield Term("word", str(item)), times


def _texts(entry: Entry, key: str, value: Any, times: float) -> Iterator[tuple[Term, float]]:
    if as_number(value) is not None:  # "text: 2024" in a file
        value = str(value)
    items = [value] if isinstance(value, str) else [] if value is None else _items(value)
    if items is None or not all(isinstance(item, str) for item in items):
        _refuse(entry, f"has {short(value)} as its {key}. Use a string")
    yield from ((Term("text", str(item)), times) for item in items if item.strip())


def _examples(entry: Entry, value: Any) -> Iterator[tuple[Term, float]]:
    """Example documents, as texts or token lists; each word counts once per occurrence."""
    items = [value] if isinstance(value, str) else [] if value is None else _items(value)
    for item in items if items is not None else [None]:
        if isinstance(item, str):
            yield from _texts(entry, "examples", item, 1.0)
        elif _is_tokens(item):
            tokens = _items(item) or []
            counted = Counter(str(w) if isinstance(w, str) else int(w) for w in tokens)
            yield from ((Term("token", word), float(n)) for word, n in counted.items())
        else:
            _refuse(
                entry,
                f"has {short(item if items is not None else value)} among its examples. Use a list of"
                " texts or of token lists",
            )


def _weights(entry: Entry, value: Any) -> Iterator[tuple[Term, float]]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        _refuse(entry, f"has {short(value)} as its weights. Use word: weight pairs")
    for word, weight in value.items():
        if not _is_word(word):
            _refuse(entry, f"gives a weight to {short(word)}. Words must be strings")
        found = as_number(weight)
        if found is None or not 0.0 <= found < math.inf:
            _refuse(
                entry,
                f"gives the word {short(word)} a weight of {short(weight)}. Weights must be 0 or more",
            )
        blank = isinstance(word, str) and not word.strip()
        if found > 0.0 and not blank:
            yield Term("word", str(word) if isinstance(word, str) else int(word)), found


def _repeat(entry: Entry, value: Any) -> float:
    found = as_number(value)
    if found is None or not 0.0 < found < math.inf:
        _refuse(entry, f"has a repeat of {short(value)}. Use a number above 0")
    return found


def _items(value: Any) -> list[Any] | None:
    """A list, tuple, set, array or column as a list; None for anything else."""
    if isinstance(value, str | bytes | bytearray | Mapping) or hasattr(value, "columns"):
        return None
    if getattr(getattr(value, "dtype", None), "kind", "O") in "biufc":
        return None  # a row of counts, which would be mistaken for column numbers
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    try:
        return list(value)
    except TypeError:
        return None


def _is_word(item: Any) -> bool:
    column = isinstance(item, numbers.Integral) and not isinstance(item, bool)
    return isinstance(item, str) or column


def _is_tokens(item: Any) -> bool:
    items = _items(item) if hasattr(item, "__len__") else None  # a generator can be read only once
    return items is not None and all(map(_is_word, items))


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _refuse(entry: Entry, what: str) -> NoReturn:
    raise InvalidInput(f"Seed {short(entry.name)} in " + entry.where + f" {what}.")
