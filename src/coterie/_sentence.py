"""Sentences that mention parameters, for Python and for the command line.

A parameter is `min_df` in Python and `--min-df` on the command line. A `Sentence` is an ordinary
string with the Python names that also knows which of its pieces are names. The command line replaces
only these pieces, so a file called my_min_df.csv keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

MOST = 2_000  # characters of a piece of an error


class Name(NamedTuple):
    """A piece of a sentence that names a parameter."""

    parameter: str  # its name; "" for words that are only shown in Python
    python: str  # the text in Python
    value: str | None = None  # to show it with a value, as in text='...'; "" means any value


class Sentence(str):
    """A string that knows which of its pieces are names; it can be added to other strings.

    >>> said = "Raise " + parameter("n_clusters") + " of n_clusters.csv."
    >>> said
    'Raise n_clusters of n_clusters.csv.'
    >>> said.rendered(lambda name: "--n-clusters")
    'Raise --n-clusters of n_clusters.csv.'
    """

    pieces: tuple[str | Name, ...]

    def __new__(cls, *pieces: str | Name) -> Sentence:
        """Join pieces; the pieces of a sentence are kept."""
        flat: list[str | Name] = []
        for piece in pieces:
            flat += piece.pieces if isinstance(piece, Sentence) else [piece]
        made = super().__new__(cls, "".join(p.python if isinstance(p, Name) else p for p in flat))
        made.pieces = tuple(flat)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Arguments for copying."""
        return self.pieces

    def __add__(self, other: str) -> Sentence:
        """Append a string or a sentence."""
        return Sentence(self, other) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> Sentence:
        """Prepend a string or a sentence."""
        return Sentence(other, self) if isinstance(other, str) else NotImplemented

    def rendered(self, say: Callable[[Name], str]) -> str:
        """Return the sentence with its names replaced by `say`."""
        return "".join(say(p) if isinstance(p, Name) else p for p in self.pieces)

    @property
    def parameter(self) -> str | None:
        """The first parameter in the sentence, or None."""
        named = (p.parameter for p in self.pieces if isinstance(p, Name) and p.parameter)
        return next(named, None)


def parameter(name: str, owner: str = "") -> Sentence:
    """A parameter and its owner, as in `n_clusters of cluster`."""
    return Sentence(Name(name, f"{name} of {owner}" if owner else name))


def example(name: str, value: Any = "") -> Sentence:
    """A parameter with a value, as in `min_df=1`, or `text='...'` for any value."""
    shown = "'...'" if value == "" else repr(value)
    return Sentence(Name(name, f"{name}={shown}", str(value)))


def in_python(words: str) -> Sentence:
    """Words that are left out on the command line."""
    return Sentence(Name("", words))


def join(separator: str, parts: Iterable[str]) -> Sentence:
    """Like `separator.join(parts)`, but keeps the names."""
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


def beginning(said: str, most: int = 200) -> str:
    """The beginning of what another package says, on one line: whole sentences, or whole words.

    If a long word would take half of it away, that word is cut.

    >>> beginning("No such column. Hint: there are other columns.", 30), beginning("no such column", 9)
    ('No such column', 'no such ...')
    """
    said = " ".join(said.split())
    if len(said) <= most:
        return said.rstrip(".")
    sentences, end, _ = said[: most + 1].rpartition(". ")
    if end:
        return sentences
    words = said[: most + 1].rpartition(" ")[0]
    return words + " ..." if 2 * len(words) >= most else said[:most] + "..."


def readable(said: str) -> str:
    """A string or a sentence on one line, without the middle of what is far too long to read.

    >>> len(readable("There is no file " + 100_000 * "x" + ".")) < 2 * MOST
    True
    """
    if len(said) <= MOST and "\n" not in said:
        return said
    pieces = said.pieces if isinstance(said, Sentence) else (said,)
    return Sentence(
        *(Name(*map(_ends, piece)) if isinstance(piece, Name) else _ends(piece) for piece in pieces)
    )


def _ends(piece: Any) -> Any:
    if piece is None:
        return None
    piece = re.sub(r"\s*\n\s*", " ", piece)  # as in the repr of an array
    return piece if len(piece) <= MOST else f"{piece[: MOST // 2]} ... {piece[-MOST // 5 :]}"


def to_json(said: str) -> str | list[Any]:
    """Convert a string or a sentence to plain data for JSON."""
    if not isinstance(said, Sentence):
        return said
    return [list(p) if isinstance(p, Name) else p for p in said.pieces]


def from_json(saved: Any) -> str:
    """Restore the output of `to_json`; ValueError for anything else."""
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
