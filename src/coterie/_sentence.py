"""Sentences that name parameters: the same words for a Python program and for a command line.

A parameter is `min_df` in Python and `--min-df` in a shell. A `Sentence` is an ordinary string, as
Python says it, that also remembers which of its pieces are names of parameters. The command line
replaces these pieces and nothing else, so a file called my_min_df.csv keeps its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Name(NamedTuple):
    """A piece of a sentence that speaks of a parameter."""

    parameter: str  # of a public call; "" for words that only a Python program needs
    python: str  # what Python says here
    value: str | None = None  # as in text='...', to be written down with a value; "" is any


class Sentence(str):
    """A string that remembers its names; adding strings to it, on either side, keeps them.

    >>> said = "Raise " + parameter("n_clusters") + " of n_clusters.csv."
    >>> said
    'Raise n_clusters of n_clusters.csv.'
    >>> said.rendered(lambda name: "--n-clusters")
    'Raise --n-clusters of n_clusters.csv.'
    """

    pieces: tuple[str | Name, ...]

    def __new__(cls, *pieces: str | Name) -> Sentence:
        """Put pieces together; a piece that is a sentence brings its own."""
        flat: list[str | Name] = []
        for piece in pieces:
            flat += piece.pieces if isinstance(piece, Sentence) else [piece]
        made = super().__new__(cls, "".join(p.python if isinstance(p, Name) else p for p in flat))
        made.pieces = tuple(flat)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        """What a copy is made of."""
        return self.pieces

    def __add__(self, other: str) -> Sentence:
        """This, and then the other."""
        return Sentence(self, other) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> Sentence:
        """The other, and then this."""
        return Sentence(other, self) if isinstance(other, str) else NotImplemented

    def rendered(self, say: Callable[[Name], str]) -> str:
        """The sentence with other words for its names."""
        return "".join(say(p) if isinstance(p, Name) else p for p in self.pieces)

    @property
    def parameter(self) -> str | None:
        """The first parameter that it names."""
        named = (p.parameter for p in self.pieces if isinstance(p, Name) and p.parameter)
        return next(named, None)


def parameter(name: str, owner: str = "") -> Sentence:
    """A parameter, and whose it is: `n_clusters of cluster`."""
    return Sentence(Name(name, f"{name} of {owner}" if owner else name))


def example(name: str, value: Any = "") -> Sentence:
    """A parameter with a value, as one writes it down: `min_df=1`, or `text='...'` for any value."""
    shown = "'...'" if value == "" else repr(value)
    return Sentence(Name(name, f"{name}={shown}", str(value)))


def in_python(words: str) -> Sentence:
    """Words that are left out where there is no Python."""
    return Sentence(Name("", words))


def join(separator: str, parts: Iterable[str]) -> Sentence:
    """As `separator.join(parts)`; the names stay."""
    pieces: list[str] = []
    for part in parts:
        pieces += [separator, part] if pieces else [part]
    return Sentence(*pieces)


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number and its noun, in the singular or the plural.

    >>> counted(1, "text"), counted(1500, "text"), counted(2, "entry", "entries")
    ('1 text', '1,500 texts', '2 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def to_json(said: str) -> str | list[Any]:
    """A string, or the pieces of a sentence, as JSON holds them."""
    if not isinstance(said, Sentence):
        return said
    return [list(p) if isinstance(p, Name) else p for p in said.pieces]


def from_json(saved: Any) -> str:
    """What `to_json` kept; ValueError for anything else."""
    if isinstance(saved, str):
        return saved
    if not isinstance(saved, list):
        raise ValueError("a note is not a sentence")
    pieces: list[str | Name] = []
    for piece in saved:
        if isinstance(piece, str):
            pieces.append(piece)
        elif isinstance(piece, list) and len(piece) == 3 and _is_name(*piece):
            pieces.append(Name(*piece))
        else:
            raise ValueError("a note is not a sentence")
    return Sentence(*pieces)


def _is_name(parameter: Any, python: Any, value: Any) -> bool:
    return isinstance(parameter, str) and isinstance(python, str) and isinstance(value, str | None)
