"""Rules for parameter values: each constructor has a table of them, which `fit` checks."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coterie._arrays import plain
from coterie._sentence import in_python, join, parameter
from coterie.errors import InvalidInput

Rule = Callable[[Any], str | None]  # returns None, or what is allowed


def check(owner: str, rules: Mapping[str, Rule], values: Mapping[str, Any]) -> None:
    """Raise InvalidInput for the first value that is not allowed."""
    for name, rule in rules.items():
        allowed = rule(values[name])
        if allowed:
            raise InvalidInput(
                parameter(name, owner) + " must be " + allowed + f"; got {_short(values[name])}.",
                kind="not_allowed",
            )


def whole(low: int, high: int | None = None) -> Rule:
    """A whole number of at least `low` (and at most `high`)."""

    def rule(v: Any) -> str | None:
        if _is_whole(v) and v >= low and (high is None or v <= high):
            return None
        above = high is not None and _is_whole(v) and v > high
        return f"a whole number of at least {low}" + (f" and at most {high}" if above else "")

    return rule


def number(low: float, *, inclusive: bool, high: float = math.inf) -> Rule:
    """A finite number of at least (or above) `low` and at most `high`."""

    def rule(v: Any) -> str | None:
        if (
            _is_number(v)
            and (float(v) >= low if inclusive else float(v) > low)
            and float(v) <= high
        ):
            return None
        top = f" and at most {high:g}" if high < math.inf else ""
        return f"a number {'of at least' if inclusive else 'above'} {low:g}{top}"

    return rule


def per_word(low: float, high: float) -> Rule:
    """A number from low to high, or an array of them."""

    def rule(v: Any) -> str | None:
        allowed = f"a number above 0 (from {low:g} to {high:g}), or one such number for each word"
        try:
            array = plain(v, "")
        except InvalidInput:
            return allowed
        ok = array.ndim <= 1 and array.size > 0 and array.dtype.kind in "iuf"
        if ok and (array >= low).all() and (array <= high).all():  # NaN is neither
            return None
        return allowed

    return rule


def flag(v: Any) -> str | None:
    """True or False."""
    return None if isinstance(v, bool | np.bool_) else "True or False"


def one_of(*choices: str) -> Rule:
    """One of these words."""
    words = ", ".join(map(repr, choices))
    return lambda v: None if isinstance(v, str) and v in choices else f"one of {words}"


def either(*rules: Rule) -> Rule:
    """A value that one of these rules allows."""

    def rule(v: Any) -> str | None:
        refusals = {r: r(v) for r in rules}
        if None in refusals.values():
            return None
        others = join(", or ", (said for r, said in refusals.items() if said and r is not nothing))
        return in_python("None, or ") + others if nothing in refusals else others

    return rule


def minus_one(v: Any) -> str | None:
    """-1, as for all threads."""
    return None if _is_whole(v) and v == -1 else "-1"


def function(v: Any) -> str | None:
    """A callable."""
    return None if callable(v) else "a function"


def callables(v: Any) -> str | None:
    """A list of callables."""
    ok = isinstance(v, list | tuple) and all(callable(x) for x in v)
    return None if ok else "a list of callables"


def path(v: Any) -> str | None:
    """A path."""
    return None if isinstance(v, str | os.PathLike) else "a path"


def name(v: Any) -> str | None:
    """A text, such as the name of a sheet."""
    return None if isinstance(v, str) and v else "a name"


def seed(v: Any) -> str | None:
    """A whole number, or a NumPy generator."""
    if isinstance(v, np.random.Generator | np.random.RandomState) or whole(0)(v) is None:
        return None
    return "a whole number of at least 0" + in_python(", or a NumPy generator")


def nothing(v: Any) -> str | None:
    """None."""
    return None if v is None else "None"


def plain_int(v: Any) -> int | None:
    """A whole number of any type as Python's own, which does not overflow; None stays None."""
    return None if v is None else int(v)


def _is_whole(v: Any) -> bool:
    return isinstance(v, numbers.Integral) and not isinstance(v, bool)


def _is_number(v: Any) -> bool:
    if isinstance(v, bool) or not isinstance(v, numbers.Real):
        return False
    try:
        return math.isfinite(v)
    except OverflowError:  # an integer with hundreds of digits
        return False


def _short(v: Any) -> str:
    text = " ".join(repr(v).split())  # the repr of an array has several lines
    return text if len(text) <= 60 else text[:57] + "..."
