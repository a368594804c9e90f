"""Texts to a corpus: a tokenizer (or a CountVectorizer) and the vocabulary it learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import counts
from coterie._arrays import Steps
from coterie._sentence import in_python
from coterie.counts import Corpus
from coterie.errors import InvalidInput
from coterie.text import languages, stopping
from coterie.text.prune import check_any_text, prune
from coterie.text.tokenize import Tokenizer

OWNER = "cluster"
NEIGHBOURS = ("en", "de", "fr", "es", "it", "pt", "nl")  # often mixed in one table
SAMPLE = 1_000  # texts to show common stop words of


@dataclass
class Vectorizer:
    """`learn` fixes the vocabulary; `encode` then treats new texts exactly as `learn` did."""

    words: list[str] = field(repr=False)
    tokenizer: Tokenizer | None
    foreign: Any = None  # a fitted CountVectorizer-like object, instead of a tokenizer
    _foreign_cut: Any = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def learn(
        cls,
        texts: Sequence[str],
        tokenizer: Any,
        language: str | None,
        min_df: int | float | str,
        max_df: int | float | str,
        tie: bool,
        vectors: Steps | None = None,
        stop_words: Any = "auto",
    ) -> tuple[Vectorizer, Corpus, list[str]]:
        """Return (the vectorizer, the corpus, notes for the user)."""
        if isinstance(tokenizer, Vectorizer):  # the vocabulary of a larger corpus
            return tokenizer, tokenizer.encode(texts, tie, vectors), []
        stopped = stopping.asked(stop_words)
        if tokenizer is not None and stopped != "auto":
            raise InvalidInput(
                "stop_words of cluster has no effect with a tokenizer; set it there, as in"
                " tokenizer=Tokenizer(stop_words=[...])."
            )
        if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
            return cls._learn_foreign(texts, tokenizer, tie, vectors)
        asked = tokenizer or Tokenizer(language=language, stop_words=stopped)
        ready, notes = asked.resolve(texts)
        ptr, ids, words = ready.count(texts)
        if (
            not words and tokenizer is None
        ):  # only stop words: better to keep them than to have none
            ready = replace(ready, stop_words=None)
            ptr, ids, words = ready.count(texts)
        notes += about_stop_words(ready, texts, tokenizer is None and stopped == "auto")
        if not words:
            check_any_text(len(texts), sum(not text or text.isspace() for text in texts))
            raise InvalidInput(
                "No text contains a word that the tokenizer keeps"
                + in_python(f" (min_chars={ready.min_chars})")
                + ", so there is nothing to cluster. Stop words, links and mentions may be dropped.",
                kind="no_words",
            )
        ids, words, pruned = prune(ptr, ids, words, min_df=min_df, max_df=max_df)
        corpus = counts.from_ids(ptr, ids, len(words), OWNER, tie=tie, vectors=vectors)
        return cls(words, ready), corpus, [*notes, str(pruned)]

    @classmethod
    def _learn_foreign(
        cls,
        texts: Sequence[str],
        vectorizer: Any,
        tie: bool,
        vectors: Steps | None,
    ) -> tuple[Vectorizer, Corpus, list[str]]:
        for method in ("fit_transform", "transform", "get_feature_names_out"):
            if not hasattr(vectorizer, method):
                raise InvalidInput(
                    f"tokenizer is a {type(vectorizer).__name__}. Pass a coterie Tokenizer or an object"
                    " with fit_transform, transform and get_feature_names_out, such as CountVectorizer."
                )
        try:
            matrix = vectorizer.fit_transform(list(texts))  # theirs may accept nothing else
        except ValueError as error:
            raise InvalidInput(f"Your vectorizer found no words: {error}.") from None
        corpus = counts.from_matrix(matrix, OWNER, tie=tie, vectors=vectors)
        if corpus.counts.n_docs == 0:
            raise InvalidInput(
                "Your vectorizer found no words in the texts, so there is nothing to cluster."
            )
        words = [str(word) for word in vectorizer.get_feature_names_out()]
        return (
            cls(words, None, vectorizer),
            corpus,
            [f"The texts were split into words by your {type(vectorizer).__name__}."],
        )

    def encode(
        self,
        texts: Sequence[str],
        tie: bool = False,
        vectors: Steps | None = None,
    ) -> Corpus:
        """Encode texts in the learnt vocabulary; other words are ignored."""
        if self.tokenizer is None:
            matrix = self._own_vectorizer().transform(list(texts))
            return counts.from_matrix(matrix, OWNER, tie=tie, vectors=vectors)
        ptr, ids = self.tokenizer.encode(texts, self._id_of)
        return counts.from_ids(ptr, ids, len(self.words), OWNER, tie=tie, vectors=vectors)

    def encode_and_count(
        self, texts: Sequence[str], vectors: Steps | None = None
    ) -> tuple[Corpus, npt.NDArray[np.int64]]:
        """Encode texts, and say how many words each has, known or not; the texts are split once."""
        if self.tokenizer is None:
            return self.encode(texts, vectors=vectors), self.n_words(texts)
        ptr, ids = self.tokenizer.encode(texts, self._id_of)
        corpus = counts.from_ids(ptr, ids, len(self.words), OWNER, vectors=vectors)
        return corpus, np.diff(ptr)

    def cut(self, text: str) -> list[str]:
        """Return all words of a text, with repeats; `encode` counts those in the vocabulary."""
        return self.cut_all([text])[0]

    def cut_all(self, texts: Sequence[str]) -> list[list[str]]:
        """Call `cut` for many texts at once, which is much faster."""
        if self.tokenizer is not None:
            return self.tokenizer.tokens(texts)
        if self._foreign_cut is None or self._foreign_cut[0] is not self.foreign:
            self._foreign_cut = (self.foreign, _cutter(self._own_vectorizer(), self.words))
        cut: Callable[[str], list[str]] = self._foreign_cut[1]
        return [cut(text) for text in texts]

    def n_words(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """How many words `cut_all` would find in each text, without a list of them."""
        if self.tokenizer is not None:
            return np.diff(self.tokenizer.count(texts)[0])
        return np.array([len(words) for words in self.cut_all(texts)], np.int64)

    def _own_vectorizer(self) -> Any:
        """The user's vectorizer, if it is set and has the vocabulary of this model."""
        if self.foreign is None:
            raise InvalidInput(
                "This model was fitted with your own vectorizer, which is not saved with it. Set"
                " groups.vectorizer.foreign to that vectorizer."
            )
        if list(map(str, self.foreign.get_feature_names_out())) != self.words:
            raise InvalidInput(
                "The vectorizer has a different vocabulary than the one this model was fitted with."
            )
        return self.foreign

    @cached_property
    def name_stop_words(self) -> frozenset[str]:
        """Words not used in cluster names: stop words of this language and of those often mixed with it."""
        if self.tokenizer is None:
            return frozenset()
        mixed = (languages.stop_words(code) for code in NEIGHBOURS)
        own = self.tokenizer.stop_words
        chosen = map(stopping.normal, own) if isinstance(own, tuple) else ()
        return frozenset(self.tokenizer.language_stop_words).union(chosen, *mixed)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain data for JSON; the words are saved separately."""
        return {"tokenizer": None if self.tokenizer is None else self.tokenizer.to_dict()}

    @classmethod
    def from_dict(cls, plain: Any, words: list[str]) -> Vectorizer:
        """Rebuild a vectorizer from the output of `to_dict`."""
        if not isinstance(plain, Mapping) or "tokenizer" not in plain:
            raise ValueError("the tokenizer is missing")
        found = plain["tokenizer"]
        if found is not None and not isinstance(found, Mapping):
            raise ValueError("the tokenizer is not valid")
        return cls(words, None if found is None else Tokenizer.from_dict(found))


def about_stop_words(tokenizer: Tokenizer, texts: Sequence[str], of_language: bool) -> list[str]:
    """A note on the stop words that were left out."""
    if not isinstance(tokenizer.stop_words, tuple):
        return []
    sample = texts[:: max(1, -(-len(texts) // SAMPLE))]
    split = replace(tokenizer, stop_words=None, ngrams=(1, 1), lemmas=False).tokens
    of = f" of {languages.name(tokenizer.language or '')}" if of_language else ""
    said = stopping.note(frozenset(map(stopping.normal, tokenizer.stop_words)), sample, split, of)
    return [said] if said else []


def _cutter(vectorizer: Any, names: list[str]) -> Callable[[str], list[str]]:
    """How the user's vectorizer splits a text: with its analyzer, or else by what it counts."""
    if not hasattr(vectorizer, "build_analyzer"):
        return partial(_counted, vectorizer, names)
    return partial(_analysed, vectorizer.build_analyzer(), getattr(vectorizer, "binary", False))


def _counted(vectorizer: Any, names: list[str], text: str) -> list[str]:
    row = counts.from_matrix(vectorizer.transform([text]), OWNER).counts
    pairs = zip(row.word.tolist(), row.tally.tolist(), strict=True)
    return [names[word] for word, tally in pairs for _ in range(tally)]


def _analysed(analyze: Callable[[str], Any], once: bool, text: str) -> list[str]:
    words = list(map(str, analyze(text)))
    return list(dict.fromkeys(words)) if once else words
