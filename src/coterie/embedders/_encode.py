"""Texts -> token ids, with a tokenizer of the `tokenizers` package: one call per distinct word.

A tokenizer that cuts at spaces gives the words of a text the same tokens whether they come alone or
together. So each distinct word of a batch is encoded once, and that is several times faster. Where
this cannot be shown from the tokenizer's own settings, every text is encoded as a whole. Only
`Tokenizer.encode` is called, never a batch: it starts no threads, so nothing depends on their number
or on TOKENIZERS_PARALLELISM, and a process may fork afterwards.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.embedders._base import wellformed

Ids = npt.NDArray[np.int32]
Ptr = npt.NDArray[np.int64]

_MARK = "\u2581"  # stands for a space in the tokens of SentencePiece
_FORGET_PIECES = 1 << 18  # words that are remembered from batch to batch
_FORGET_TOKENS = 1 << 22
_PIECES = re.compile(" +[^ ]*")


class Encoder:
    """The token ids of texts, batch after batch; remembers words, so it is for one thread."""

    _id_of: defaultdict[str, int]
    _lengths: Ptr  # how many tokens each known word has
    _ids: Ids  # these tokens, word after word

    def __init__(self, tokenizer: Any, cuts_at_spaces: bool, unknown: int) -> None:
        self._tokenizer = tokenizer
        self._cut = _words if cuts_at_spaces else _whole
        self._unknown = unknown
        self._forget()

    def encode(self, texts: Sequence[str]) -> tuple[Ptr, Ids]:
        """(where each text begins, token ids text after text); tokens that are unknown are left out."""
        if len(self._id_of) > _FORGET_PIECES or self._ids.size > _FORGET_TOKENS:
            self._forget()
        cut = [self._cut(wellformed(text).strip()) for text in texts]
        sizes = np.fromiter(map(len, cut), np.int64, len(cut))
        raw = np.fromiter(
            map(self._id_of.__getitem__, chain.from_iterable(cut)), np.int64, int(sizes.sum())
        )
        self._learn()
        lengths = self._lengths[raw]
        upto = np.cumsum(lengths)
        starts = (np.cumsum(self._lengths) - self._lengths)[raw]
        total = int(upto[-1]) if upto.size else 0
        index = np.repeat(starts - (upto - lengths), lengths) + np.arange(total)
        ends = np.concatenate([[0], upto])[np.concatenate([[0], np.cumsum(sizes)])]
        return ends.astype(np.int64), self._ids[index]

    def _learn(self) -> None:
        """Encode the words that came up for the first time."""
        fresh = list(self._id_of)[self._lengths.size :]
        encode, unknown = self._tokenizer.encode, self._unknown
        found = [encode(word, add_special_tokens=False).ids for word in fresh]
        if unknown >= 0:
            found = [[i for i in ids if i != unknown] if unknown in ids else ids for ids in found]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        ids = np.fromiter(chain.from_iterable(found), np.int32, int(lengths.sum()))
        self._lengths = np.concatenate([self._lengths, lengths])
        self._ids = np.concatenate([self._ids, ids])

    def _forget(self) -> None:
        self._id_of = defaultdict(count().__next__)
        self._lengths = np.zeros(0, np.int64)
        self._ids = np.zeros(0, np.int32)


def _whole(text: str) -> list[str]:
    return [text] if text else []


def _words(text: str) -> list[str]:
    """Words with the spaces before them, without the one space that the tokenizer adds itself."""
    if not text:
        return []
    if _MARK in text:
        return [text]
    if "  " not in text:
        return text.split(" ")
    return [piece[1:] for piece in _PIECES.findall(" " + text)]


def cuts_at_spaces(settings: Mapping[str, Any]) -> bool:
    """Whether the tokenizer of these settings gives words the same tokens alone and in a text."""
    if any(not token.get("special") for token in settings.get("added_tokens") or ()):
        return False  # one of these may hold a space
    model = settings.get("model") or {}
    before, normalizer = settings.get("pre_tokenizer"), settings.get("normalizer")
    if before is None:
        return normalizer == _LLAMA and _words_apart(model)
    kind = (normalizer or {"type": None}).get("type")
    return (
        before == {"type": "BertPreTokenizer"}
        and model.get("type") == "WordPiece"
        and kind in (None, "BertNormalizer", "Lowercase")
    )


_LLAMA = {
    "type": "Sequence",
    "normalizers": [
        {"type": "Prepend", "prepend": _MARK},
        {"type": "Replace", "pattern": {"String": " "}, "content": _MARK},
    ],
}


def _words_apart(model: Mapping[str, Any]) -> bool:
    """Whether no token reaches from a word over a space into the next: then no merge does."""
    vocabulary = model.get("vocab") or {}
    plain = not any(
        model.get(name) for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix")
    )
    return (
        model.get("type") == "BPE"
        and plain
        and _MARK in vocabulary
        and not any(_MARK in token.lstrip(_MARK) for token in vocabulary)
    )


def unknown_id(tokenizer: Any, settings: Mapping[str, Any]) -> int:
    """The id that stands for whatever is not in the vocabulary; -1 if there is none."""
    model = settings.get("model") or {}
    if isinstance(model.get("unk_id"), int):
        return int(model["unk_id"])
    token = model.get("unk_token")
    found = tokenizer.token_to_id(token) if isinstance(token, str) else None
    return -1 if found is None else int(found)
