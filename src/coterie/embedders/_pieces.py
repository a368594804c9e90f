"""Texts -> numbers of the pieces between their spaces, each distinct piece known by one number.

A piece is what a tokenizer that cuts at spaces gives the same tokens alone and in its text: a word with
the spaces before it, but without the one space that the tokenizer adds itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from coterie.embedders._base import wellformed
from coterie.text._numbering import Few, Numbers

MARK = "\u2581"  # stands for a space in the tokens of SentencePiece

_FORGET_PIECES = 1 << 20  # pieces that are remembered from batch to batch
_FORGET_CHARACTERS = 1 << 24  # and characters of all of them
_PIECES = re.compile(" +[^ ]*")
_END = " "  # follows a text; never a piece, since texts do not end with a space


class Cut(NamedTuple):
    """The pieces of some texts."""

    numbers: list[Numbers]  # one after the other, with TEXT_END after each text
    fresh: list[str]  # pieces that came up for the first time, by their numbers
    forgot: bool  # whether the numbers of earlier texts do not count any more: all pieces are fresh
    n_texts: int


class FewPieces:
    """Cuts texts and remembers their pieces. `whole`: every text is a single piece."""

    def __init__(self, whole: bool) -> None:
        self._cut = _whole if whole else _words
        self._forget()

    def __call__(self, texts: Sequence[str]) -> Cut:
        """The pieces of texts; the spaces around a text are no part of it."""
        forgot = self._n_pieces > _FORGET_PIECES or self._n_characters > _FORGET_CHARACTERS
        if forgot:
            self._forget()
        numbers = self._numbers([wellformed(text).strip() for text in texts])
        fresh = self._strings.strings(self._n_pieces)
        self._n_pieces += len(fresh)
        self._n_characters += sum(map(len, fresh))
        return Cut(numbers, fresh, forgot, len(texts))

    def _forget(self) -> None:
        self._strings = self._new()
        self._n_pieces = 1  # the end of a text
        self._n_characters = 0

    def _new(self) -> Any:
        return Few(_END)

    def _numbers(self, texts: list[str]) -> list[Numbers]:
        pieces = chain.from_iterable((*self._cut(text), _END) for text in texts)
        return [self._strings.numbers(pieces)]


class ManyPieces(FewPieces):
    """The same by compiled code: faster from a million characters on, but it has to be loaded."""

    def _new(self) -> Any:
        from coterie.text._distinct import Distinct

        return Distinct(_SEPARATOR)

    def _numbers(self, texts: list[str]) -> list[Numbers]:
        every = self._cut is _whole
        encoded = [
            _WHOLE + text.encode() if text and (every or MARK in text) else text.encode()
            for text in texts
        ]
        found: list[Numbers] = self._strings.pieces(_SEPARATOR.join([*encoded, b""]))
        return found


# as in kernels.cutting, which is not loaded for a few texts
_SEPARATOR, _WHOLE = b"\xff", b"\xfe"


def _whole(text: str) -> list[str]:
    return [text] if text else []


def _words(text: str) -> list[str]:
    if not text:
        return []
    if MARK in text:
        return [text]
    if "  " not in text:
        return text.split(" ")
    return [piece[1:] for piece in _PIECES.findall(" " + text)]
