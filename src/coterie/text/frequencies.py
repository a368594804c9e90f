"""Words of texts that are read in batches, and the vocabulary of all of them.

A batch keeps its words under numbers of its own (`split`), so texts are split once, anywhere. Only the
number of texts that hold each word is merged (`Frequencies`), and the result is the vocabulary; `numbered`
then gives the words of a batch the numbers of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.text._again import digest_of
from coterie.text.prune import Pruned, document_frequency, kept
from coterie.text.tokenize import Tokenizer

MOST_COUNTED = 500_000  # words counted at a time: about 130 MB
MOST_WORDS = 200_000  # in the vocabulary


class SplitTexts(NamedTuple):
    """The words of some texts."""

    ptr: npt.NDArray[np.int64]  # (texts + 1,) where each text begins
    ids: npt.NDArray[np.int32]  # the words of all texts, in order
    words: list[str]  # by id
    df: npt.NDArray[np.int64]  # (words,) texts that hold each
    digest: bytes  # of the texts, which may be read once more

    @property
    def n_texts(self) -> int:
        """Texts that hold a word."""
        return int(np.count_nonzero(np.diff(self.ptr)))


def split(tokenizer: Tokenizer, texts: Sequence[str]) -> SplitTexts:
    """The words of a batch."""
    ptr, ids, words = tokenizer.count(texts)
    return SplitTexts(ptr, ids, words, document_frequency(ptr, ids, len(words)), digest_of(texts))


def numbered(found: SplitTexts, id_of: Mapping[str, int]) -> npt.NDArray[np.int32]:
    """The words of a batch by their numbers in the vocabulary; -1: not in it."""
    known = np.fromiter(map(id_of.get, found.words, repeat(-1)), np.int32, len(found.words))
    return known[found.ids] if known.size else np.zeros(0, np.int32)


class Frequencies:
    """How many texts hold each word.

    Where there are more than MOST_COUNTED words, the rarest are forgotten. A word that comes again
    starts with the most that it can have missed, as in the lossy counting of Manku and Motwani (2002),
    so that no count is too low.
    """

    def __init__(self) -> None:
        self.df: dict[str, int] = {}
        self.n_texts = 0
        self.n_distinct = 0  # words counted as often as they were forgotten
        self.missed = 0  # texts that a forgotten word may have been in

    def add(self, words: Sequence[str], df: npt.NDArray[np.int64], n_texts: int) -> None:
        """Count a batch, or another part of the texts."""
        at, missed = self.df, self.missed
        before = len(at)
        for word, n in zip(words, df.tolist(), strict=True):
            at[word] = at.get(word, missed) + n
        self.n_distinct += len(at) - before
        self.n_texts += n_texts
        while len(at) > MOST_COUNTED:
            self.missed += 1
            at = {word: n for word, n in at.items() if n > self.missed}
        self.df = at

    def merged(self, other: Frequencies) -> Frequencies:
        """The counts of two parts of the texts."""
        made = Frequencies()
        made.df = {word: n + other.missed for word, n in self.df.items()}
        for word, n in other.df.items():
            made.df[word] = self.df.get(word, self.missed) + n
        forgotten = self.n_distinct - len(self.df) + other.n_distinct - len(other.df)
        made.n_distinct = len(made.df) + forgotten
        made.n_texts, made.missed = self.n_texts + other.n_texts, self.missed + other.missed
        made.add([], np.zeros(0, np.int64), 0)
        return made

    def vocabulary(
        self, min_df: int | float | str, max_df: int | float | str
    ) -> tuple[list[str], list[str]]:
        """Return (the words that stay, notes for the user)."""
        words = list(self.df)
        df = np.fromiter(self.df.values(), np.int64, len(words))
        stays, pruned = kept(df, words, self.n_texts, min_df, max_df)
        notes = [str(self._with_forgotten(pruned))]
        if int(stays.sum()) > MOST_WORDS:
            n = int(stays.sum())
            common = np.argsort(-np.where(stays, df, -1), kind="stable")[:MOST_WORDS]
            stays = np.zeros(stays.size, bool)
            stays[common] = True
            notes.append(f"Only the {MOST_WORDS:,} most common of these {n:,} words are used.")
        return [words[i] for i in np.flatnonzero(stays)], notes

    def _with_forgotten(self, pruned: Pruned) -> Pruned:
        forgotten = self.n_distinct - len(self.df)
        return replace(
            pruned, n_before=pruned.n_before + forgotten, n_rare=pruned.n_rare + forgotten
        )
