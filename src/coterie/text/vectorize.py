"""Texts to a corpus and back again the same way: a tokenizer (or a CountVectorizer) and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from coterie import counts
from coterie.counts import Corpus
from coterie.errors import InvalidInput
from coterie.text import languages
from coterie.text.prune import prune
from coterie.text.tokenize import Tokenizer

OWNER = "cluster"
NEIGHBOURS = ("en", "de", "fr", "es", "it", "pt", "nl")  # tables mix languages


@dataclass
class Vectorizer:
    """Frozen once learnt: `encode` sees texts as `learn` saw them."""

    words: list[str] = field(repr=False)
    tokenizer: Tokenizer | None
    foreign: Any = None  # a fitted CountVectorizer-like object, in the tokenizer's place
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
    ) -> tuple[Vectorizer, Corpus, list[str]]:
        """(the vectorizer, the corpus, what to tell the user)."""
        if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
            return cls._learn_foreign(texts, tokenizer, tie)
        asked = tokenizer or Tokenizer(language=language, stop_words="auto")
        ready, notes = asked.resolve(texts)
        ptr, ids, words = ready.count(texts)
        if not words and tokenizer is None:  # nothing but stop words: better those than nothing
            ready = replace(ready, stop_words=None)
            ptr, ids, words = ready.count(texts)
        if not words:
            raise InvalidInput(
                f"No text holds a word that the tokenizer keeps (min_chars={ready.min_chars}; stop words,"
                " links and mentions are left out as it says), so there is nothing to cluster.",
                kind="no_words",
            )
        ids, words, pruned = prune(ptr, ids, words, min_df=min_df, max_df=max_df)
        corpus = counts.from_ids(ptr, ids, len(words), OWNER, tie=tie)
        return cls(words, ready), corpus, [*notes, str(pruned)]

    @classmethod
    def _learn_foreign(
        cls, texts: Sequence[str], vectorizer: Any, tie: bool
    ) -> tuple[Vectorizer, Corpus, list[str]]:
        for method in ("fit_transform", "transform", "get_feature_names_out"):
            if not hasattr(vectorizer, method):
                raise InvalidInput(
                    f"tokenizer is a {type(vectorizer).__name__}; pass a coterie Tokenizer or an object"
                    " with fit_transform, transform and get_feature_names_out, such as CountVectorizer."
                )
        try:
            matrix = vectorizer.fit_transform(texts)
        except ValueError as error:
            raise InvalidInput(f"Your vectorizer found no word to count: {error}.") from None
        corpus = counts.from_matrix(matrix, OWNER, tie=tie)
        if corpus.counts.n_docs == 0:
            raise InvalidInput(
                "Your vectorizer found no word in any text: there is nothing to cluster."
            )
        words = [str(word) for word in vectorizer.get_feature_names_out()]
        return (
            cls(words, None, vectorizer),
            corpus,
            [f"Words: by your {type(vectorizer).__name__}."],
        )

    def encode(self, texts: Sequence[str], tie: bool = False) -> Corpus:
        """A corpus in the words learnt; others are left out."""
        if self.tokenizer is None:
            return counts.from_matrix(self._own_vectorizer().transform(texts), OWNER, tie=tie)
        ptr, ids = self.tokenizer.encode(texts, self._id_of)
        return counts.from_ids(ptr, ids, len(self.words), OWNER, tie=tie)

    def cut(self, text: str) -> list[str]:
        """The words of one text, repeats and all: those known are what `encode` counts."""
        return self.cut_all([text])[0]

    def cut_all(self, texts: Sequence[str]) -> list[list[str]]:
        """`cut` for many texts at once, which is much quicker for thousands of them."""
        if self.tokenizer is not None:
            return self.tokenizer.tokens(texts)
        if self._foreign_cut is None or self._foreign_cut[0] is not self.foreign:
            self._foreign_cut = (self.foreign, _cutter(self._own_vectorizer(), self.words))
        cut: Callable[[str], list[str]] = self._foreign_cut[1]
        return [cut(text) for text in texts]

    def _own_vectorizer(self) -> Any:
        """The user's vectorizer, if it is there and is the one the model was made with."""
        if self.foreign is None:
            raise InvalidInput(
                "This model's texts were cut by a vectorizer of your own, which is not saved with it;"
                " set groups.vectorizer.foreign to that object."
            )
        if list(map(str, self.foreign.get_feature_names_out())) != self.words:
            raise InvalidInput(
                "The vectorizer has other words than the one the model was made with."
            )
        return self.foreign

    @cached_property
    def name_stop_words(self) -> frozenset[str]:
        """Words not used in cluster names: stop words of this language and of those often mixed with it."""
        if self.tokenizer is None:
            return frozenset()
        mixed = (languages.stop_words(code) for code in NEIGHBOURS)
        return frozenset(self.tokenizer.language_stop_words).union(*mixed)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the words are kept elsewhere."""
        return {"tokenizer": None if self.tokenizer is None else self.tokenizer.to_dict()}

    @classmethod
    def from_dict(cls, plain: Any, words: list[str]) -> Vectorizer:
        """The vectorizer that `to_dict` described."""
        if not isinstance(plain, Mapping) or "tokenizer" not in plain:
            raise ValueError("it does not say how texts become words")
        found = plain["tokenizer"]
        if found is not None and not isinstance(found, Mapping):
            raise ValueError("it describes no tokenizer")
        return cls(words, None if found is None else Tokenizer.from_dict(found))


def _cutter(vectorizer: Any, names: list[str]) -> Callable[[str], list[str]]:
    """How somebody else's vectorizer cuts a text: by its analyzer, or else by what it counts."""
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
