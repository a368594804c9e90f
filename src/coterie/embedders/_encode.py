"""Texts -> token ids, with a tokenizer of the `tokenizers` package, which sees each distinct word once.

A tokenizer that cuts at spaces gives the words of a text the same tokens whether they come alone or
together. So each distinct word of a batch is encoded once, and that is several times faster. Where
this cannot be shown from the tokenizer's own settings, every text is encoded as a whole. Only
`Tokenizer.encode` is called, never a batch: it starts no threads, so nothing depends on their number
or on TOKENIZERS_PARALLELISM, and a process may fork afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.embedders._pieces import MARK, FewPieces, ManyPieces
from coterie.text._numbering import in_background, spread

Ids = npt.NDArray[np.int32]
Ptr = npt.NDArray[np.int64]

_TOGETHER = 128  # words in a call of the tokenizer: of one alone, half the time is the call


class Encoder:
    """The token ids of texts, batch after batch; remembers words, so it is for one thread."""

    _lengths: Ptr  # how many tokens each known word has
    _ids: Ids  # these tokens, word after word

    def __init__(
        self, tokenizer: Any, cuts_at_spaces: bool, unknown: int, many: bool = False
    ) -> None:
        """Get ready; `many` texts are worth loading compiled code and using a second thread."""
        self._encode = tokenizer.encode
        self._begins = _begin_words(tokenizer) if cuts_at_spaces and many else None
        self._unknown = unknown
        self._cut = (ManyPieces if many else FewPieces)(whole=not cuts_at_spaces)
        self._many = many
        self._forget()

    def encode(self, texts: Sequence[str]) -> tuple[Ptr, Ids]:
        """(where each text begins, token ids text after text); tokens that are unknown are left out."""
        return next(self.encode_all([texts]))

    def encode_all(self, batches: Iterable[Sequence[str]]) -> Iterator[tuple[Ptr, Ids]]:
        """The same for each batch of texts."""
        for cut in in_background(self._cut, batches) if self._many else map(self._cut, batches):
            if cut.forgot:
                self._forget()
            self._learn(cut.fresh)
            yield spread(cut.numbers, self._lengths, self._ids, cut.n_texts)

    def _learn(self, words: list[str]) -> None:
        """Encode the words that came up for the first time."""
        lengths, ids = [self._lengths], [self._ids]
        for i in range(0, len(words), _TOGETHER):
            some = words[i : i + _TOGETHER]
            found = self._together(some) or self._one_by_one(some)
            lengths.append(found[0])
            ids.append(found[1])
        self._lengths = np.concatenate(lengths)
        self._ids = np.concatenate(ids)

    def _together(self, words: list[str]) -> tuple[Ptr, Ids] | None:
        """(number of tokens, tokens) of words, encoded as one text; None if they cannot be told apart."""
        text = " ".join(words)
        if self._begins is None or MARK in text or text.count(" ") >= len(words):
            return None
        ids = np.array(self._encode(text, add_special_tokens=False).ids, np.int32)
        first = np.flatnonzero(self._begins[ids])
        if first.size != len(words) or first[0] != 0:
            return None
        return self._known(np.diff(first, append=ids.size), ids)

    def _one_by_one(self, words: list[str]) -> tuple[Ptr, Ids]:
        found = [self._encode(word, add_special_tokens=False).ids for word in words]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        ids = np.fromiter(chain.from_iterable(found), np.int32, int(lengths.sum()))
        return self._known(lengths, ids)

    def _known(self, lengths: Ptr, ids: Ids) -> tuple[Ptr, Ids]:
        """Without the tokens that stand for something unknown."""
        known = ids != self._unknown
        if known.all():
            return lengths, ids
        upto = np.concatenate([[0], np.cumsum(known)])[np.concatenate([[0], np.cumsum(lengths)])]
        return np.diff(upto), ids[known]

    def _forget(self) -> None:
        self._lengths = np.zeros(1, np.int64)  # of what ends a text
        self._ids = np.zeros(0, np.int32)


def _begin_words(tokenizer: Any) -> npt.NDArray[np.bool_] | None:
    """Which tokens begin with the sign for a space, as the first of every word then does."""
    vocabulary = tokenizer.get_vocab()
    begins = np.zeros(max(vocabulary.values(), default=-1) + 1, bool)
    begins[[i for token, i in vocabulary.items() if token.startswith(MARK)]] = True
    return begins if begins.any() else None


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
        {"type": "Prepend", "prepend": MARK},
        {"type": "Replace", "pattern": {"String": " "}, "content": MARK},
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
        and MARK in vocabulary
        and not any(MARK in token.lstrip(MARK) for token in vocabulary)
    )


def unknown_id(tokenizer: Any, settings: Mapping[str, Any]) -> int:
    """The id that stands for whatever is not in the vocabulary; -1 if there is none."""
    model = settings.get("model") or {}
    if isinstance(model.get("unk_id"), int):
        return int(model["unk_id"])
    token = model.get("unk_token")
    found = tokenizer.token_to_id(token) if isinstance(token, str) else None
    return -1 if found is None else int(found)
