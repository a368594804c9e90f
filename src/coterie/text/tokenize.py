"""Texts to word ids. One regular expression scans all texts; the rest runs once per distinct string.

In: texts. Out: pointers, ids and words, in the form that `counts.from_ids` expects. Case, Unicode
normalization, URLs and markup are handled on the whole text. Stop words, apostrophes, numbers,
mentions, lemmas, accents and the segmentation of Chinese or Thai are handled on the distinct strings
that the scan found, which are few. A `Tokenizer` is plain data and is saved with the model, so that
`predict` treats texts exactly as `fit` did.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._optional import require
from coterie._sentence import in_python, parameter
from coterie.errors import InvalidInput
from coterie.text import _ngrams, _segment, languages

Ptr = npt.NDArray[np.int64]
WordIds = npt.NDArray[np.int32]

_POLICIES = ("drop", "keep", "mark")
_END = "\x1e"  # follows every text, so that one scan can split all texts of a chunk
_LINK = "\x1f"  # replaces a URL that will be marked
_CHUNK = 250_000  # characters per scan: limits the memory for temporary strings

_url = re.compile(
    r"(?:https?://|ftp://|\bwww\.)[^\s<>\"\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]+", re.IGNORECASE
)
_tag = re.compile(
    r"</?(?:a|b|blockquote|br|code|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|table|tbody|td"
    r"|th|tr|u|ul)(?:\s[^<>]{0,400})?/?>",
    re.IGNORECASE,
)
_INVISIBLE = "\u00ad\u200c\u200d\u2060\ufe0e\ufe0f"  # occur within words, but are not displayed
_accents = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]")

# Grammatical prefixes and suffixes that an apostrophe attaches to a word.
_SUFFIXES = {"en": re.compile(r"'(?:s|m|d|re|ve|ll)$"), None: re.compile(r"'s$")}
_FRENCH = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=..)")
_PREFIXES = {
    "fr": _FRENCH,
    "ca": re.compile(r"^[dlmnst]'(?=..)"),
    "it": re.compile(
        r"^(?:[cdlmnstv]|un|gl|(?:a|da|de|ne|su|co)ll|que(?:st|ll)|tutt|anch|quant)'(?=..)"
    ),
}


@dataclass(frozen=True)
class Tokenizer:
    """Settings for splitting texts into words. Frozen; `to_dict` and `from_dict` save and restore it.

    `resolve` replaces every "auto" with the value that suits the texts. `urls`, `mentions` and
    `numbers` are dropped, kept, or marked: replaced by the single word <url>, <mention> or <number>.
    `stop_words` is None (keep them), "auto" (remove those of the language) or a list of words to
    remove. The default is None, by a small margin: over 16 corpora the mean NMI was .532 with stop
    words kept and .518 with stop words removed (GSDMM, alpha = beta = 0.1). Keeping them was better on
    7 corpora, removing them on 5, and 4 were equal. Questions and news gain from them ("how" and
    "can't" carry intent), tweets about disasters lose (.550 kept, .703 removed). Cluster names never
    show `language_stop_words`. `markup="drop"` removes HTML tags and decodes entities. `segmenter`
    splits scripts without spaces: "rjieba", "sudachi", "pythainlp" or "bigrams" (pairs of neighbouring
    characters).
    """

    language: str | None = "auto"
    lowercase: bool = True
    strip_accents: bool = False
    urls: str = "drop"
    mentions: str = "drop"
    numbers: str = "keep"
    markup: str = "drop"
    stop_words: str | tuple[str, ...] | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_chars: int = 2
    lemmas: bool = False
    segmenter: str = "auto"

    def __post_init__(self) -> None:
        """Check every setting, so that a wrong value is reported where it was set."""
        language = self.language
        for name in ("lowercase", "strip_accents", "lemmas"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(f"{name} of Tokenizer must be True or False.")
        if not isinstance(language, str | None):
            raise InvalidInput(
                parameter("language", "Tokenizer") + f" is {language!r}. Use a code such as 'en'."
            )
        if language is not None and language != "auto" and not languages.known(language):
            raise InvalidInput(
                parameter("language", "Tokenizer")
                + f" is {language!r}. Use a two-letter code such as 'en', 'de' or 'zh', or 'auto' to"
                " detect the language" + in_python(", or None for no language") + "."
            )
        for name in ("urls", "mentions", "numbers"):
            _one_of(name, getattr(self, name), _POLICIES)
        _one_of("markup", self.markup, ("drop", "keep"))
        _one_of("segmenter", self.segmenter, ("auto", *_segment.NAMES))
        if isinstance(self.stop_words, str) and self.stop_words != "auto":
            raise InvalidInput(
                f"stop_words of Tokenizer is {self.stop_words!r}. Use 'auto', None or a list of words"
                " (for another language, set language, such as language='de')."
            )
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            if not all(isinstance(word, str) for word in self.stop_words):
                raise InvalidInput("stop_words of Tokenizer must contain only strings.")
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        ngrams = tuple(self.ngrams) if isinstance(self.ngrams, list | tuple) else ()
        counted = len(ngrams) == 2 and all(isinstance(n, int) for n in ngrams)
        if not counted or not 1 <= ngrams[0] <= ngrams[1] <= 5:
            raise InvalidInput(
                f"ngrams of Tokenizer is {self.ngrams!r}. Use the shortest and the longest length, such as"
                " (1, 1) for words or (1, 2) for words and pairs of words."
            )
        object.__setattr__(self, "ngrams", ngrams)
        if not isinstance(self.min_chars, int) or self.min_chars < 1:
            raise InvalidInput(f"min_chars of Tokenizer is {self.min_chars}. Use 1 or more.")

    @staticmethod
    def fit_language(texts: Sequence[str]) -> tuple[str | None, str]:
        """Detect the language from a sample: (its ISO code or None, a sentence about it)."""
        return languages.detect(texts)

    def resolve(self, texts: Sequence[str]) -> tuple[Tokenizer, list[str]]:
        """Return a copy with every "auto" replaced, and notes for the user about the choices."""
        notes = []
        language, stop_words, segmenter = self.language, self.stop_words, self.segmenter
        if language == "auto":
            language, note = languages.detect(texts)
            notes.append(note)
        if stop_words == "auto":
            stop_words = tuple(sorted(languages.stop_words(language)))
            if language is not None and not stop_words:
                notes.append(
                    f"coterie has no stop words for {languages.name(language)}."
                    + in_python(
                        " If common words get in the way, pass your own with a"
                        " Tokenizer(stop_words=[...])."
                    )
                )
        if segmenter == "auto":
            segmenter, said = _segment.choose(language)
            notes += [said] if said else []
        lemmas = self.lemmas and _lemmas_known(language)
        if self.lemmas and not lemmas:
            which = "no language was recognised" if language is None else languages.name(language)
            notes.append(f"Lemmas are not available ({which}), so words are kept as written.")
        resolved = replace(
            self, language=language, stop_words=stop_words, segmenter=segmenter, lemmas=lemmas
        )
        return resolved, notes

    def count(self, texts: Sequence[str]) -> tuple[Ptr, WordIds, list[str]]:
        """Learn the words of texts: (start of each text, ids of all texts in order, words by id)."""
        ready = self if self._is_resolved else self.resolve(texts)[0]
        ptr, ids, words = _split(ready, texts)
        if ready.ngrams != (1, 1):
            return _ngrams.runs(ptr, ids, words, *ready.ngrams)
        return ptr, ids, words

    def encode(
        self, texts: Sequence[str], words: Sequence[str] | Mapping[str, int]
    ) -> tuple[Ptr, WordIds]:
        """Return the ids of the texts' words in a vocabulary (list, or word -> id); -1 if not in it."""
        ptr, ids, found = self.count(texts)
        id_of = words if isinstance(words, Mapping) else {w: i for i, w in enumerate(words)}
        known = np.fromiter(map(id_of.get, found, repeat(-1)), np.int32, len(found))
        return ptr, known[ids]

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, in order."""
        ptr, ids, words = self.count(texts)
        flat = [words[i] for i in ids]
        return [flat[a:b] for a, b in pairwise(ptr)]

    @property
    def language_stop_words(self) -> frozenset[str]:
        """Stop words of this language: they may be counted, but are not used in cluster names."""
        return languages.stop_words(None if self.language == "auto" else self.language)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain data for JSON."""
        plain = asdict(self)
        plain["ngrams"] = list(self.ngrams)
        if isinstance(self.stop_words, tuple):
            plain["stop_words"] = list(self.stop_words)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Tokenizer:
        """Rebuild a tokenizer from the output of `to_dict`."""
        unknown = sorted(set(plain) - {field.name for field in fields(cls)})
        if unknown:
            raise InvalidInput(
                f"A saved Tokenizer has the unknown setting {', '.join(map(repr, unknown))}: it was"
                " written by a newer version of coterie."
            )
        return cls(**plain)

    @property
    def _is_resolved(self) -> bool:
        return "auto" not in (self.language, self.stop_words, self.segmenter)


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(
            f"{name} of Tokenizer is {value!r}; it must be one of {', '.join(map(repr, allowed))}."
        )


# ---------------------------------------------------------------- the scan over all texts
def _split(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[Ptr, WordIds, list[str]]:
    """Split all texts: scan them, then turn each distinct string that was found into words."""
    id_of: defaultdict[str, int] = defaultdict()
    id_of.default_factory = id_of.__len__
    end = id_of[_END]
    find = _pattern().findall
    scanned = []
    for chunk in _chunks(texts):
        strings = find(_joined(tokenizer, chunk))
        scanned.append(np.fromiter(map(id_of.__getitem__, strings), np.int32, len(strings)))
    raw = np.concatenate(scanned) if scanned else np.zeros(0, np.int32)
    pieces, n_pieces, words = _words(tokenizer, id_of)
    ends = np.flatnonzero(raw == end)
    if n_pieces.max(initial=0) <= 1:  # no string was split into several words
        first = np.full(n_pieces.size, -1, np.int32)
        first[n_pieces == 1] = pieces
        ids = first[raw]
        kept = ids >= 0
        ptr = np.concatenate([[0], np.cumsum(kept)[ends]]).astype(np.int64)
        return ptr, ids[kept], words
    lengths = n_pieces[raw]
    upto = np.cumsum(lengths)
    starts = (np.cumsum(n_pieces) - n_pieces)[raw]
    index = np.repeat(starts - (upto - lengths), lengths) + np.arange(upto[-1])
    ptr = np.concatenate([[0], upto[ends]]).astype(np.int64)
    return ptr, pieces[index], words


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts in chunks of about _CHUNK characters."""
    upto = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    start = 0
    while start < len(texts):
        before = upto[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(upto, before + _CHUNK, side="right")))
        yield texts[start:stop]
        start = stop


def _joined(tokenizer: Tokenizer, texts: Sequence[str]) -> str:
    """Join the texts of a chunk into one string, with a marker after every text."""
    texts = [text if text.isascii() else _normal(text) for text in texts]
    if tokenizer.markup == "drop":
        texts = [_plain(text) if "<" in text or "&" in text else text for text in texts]
    if tokenizer.lowercase:
        texts = [text.lower() for text in texts]
    if tokenizer.urls != "keep":
        texts = [
            _url.sub(f" {_LINK} ", text) if "://" in text or "www." in text else text
            for text in texts
        ]
    joined = f" {_END} ".join([*texts, ""])
    if joined.count(_END) != len(texts):
        texts = [text.replace(_END, " ") for text in texts]
        joined = f" {_END} ".join([*texts, ""])
    return joined


def _normal(text: str) -> str:
    """Normalize to NFKC, and remove invisible characters within words."""
    text = unicodedata.normalize("NFKC", text)
    for sign in _INVISIBLE:
        if sign in text:
            text = text.replace(sign, "")
    return text


def _plain(text: str) -> str:
    """Remove tags and decode entities."""
    if "<" in text:
        text = _tag.sub(" ", text)
    return html.unescape(text) if "&" in text else text


@cache
def _pattern() -> re.Pattern[str]:
    """Match a letter or digit and the letters, digits, marks and apostrophes that follow it.

    `\\w` would split Hindi and Thai words at their vowel signs. Listing the letters of the basic plane
    also lets `re` look up a character in a single bitmap, which is faster than `\\w`.
    """
    letters, marks = [], []
    for code in range(0x80, 0x10000):
        character = chr(code)
        if character.isalnum():
            letters.append(character)
        elif unicodedata.category(character) in ("Mn", "Mc", "Me"):
            marks.append(character)
    # Beyond the basic plane: blocks of modern and historic scripts, without symbols and emoji.
    beyond = "\U00010000-\U0001cfff\U0001e000-\U0001eeff\U00020000-\U000323af"
    first = "a-zA-Z0-9" + "".join(letters) + beyond
    return re.compile(f"[{_END}{_LINK}@{first}][{first}{''.join(marks)}_'’]*".replace("_", ""))


# ---------------------------------------------------------------- once per distinct string
def _words(
    tokenizer: Tokenizer, strings: Mapping[str, int]
) -> tuple[WordIds, npt.NDArray[np.int64], list[str]]:
    """Return (word ids of all strings in order, number of words per string, words by id)."""
    clean = _cleaner(tokenizer)
    segment = _segment.segmenter(tokenizer.segmenter)
    id_of: dict[str, int] = {}
    pieces: list[int] = []
    n_pieces = np.ones(len(strings), np.int64)
    for i, string in enumerate(strings):
        if string.isascii() or not _segment.has_unspaced(string):
            word = clean(string)
            if word is None:
                n_pieces[i] = 0
            else:
                pieces.append(id_of.setdefault(word, len(id_of)))
            continue
        before = len(pieces)
        for run in _segment.runs(string):
            unspaced = _segment.has_unspaced(run)
            for part in segment(run) if unspaced else (run,):
                word = clean(part, 1) if unspaced else clean(part)
                if word is not None:
                    pieces.append(id_of.setdefault(word, len(id_of)))
        n_pieces[i] = len(pieces) - before
    return np.array(pieces, np.int32), n_pieces, list(id_of)


def _cleaner(tokenizer: Tokenizer) -> Callable[..., str | None]:
    """Build the function that turns a scanned string into a word, or None if it is dropped."""
    stop = _stop_set(tokenizer)
    suffix = _SUFFIXES.get(tokenizer.language) or _SUFFIXES[None]
    prefix = _PREFIXES.get(tokenizer.language or "")
    lemma = _lemmatizer(tokenizer)
    min_chars, numbers = tokenizer.min_chars, tokenizer.numbers
    strip, cased = tokenizer.strip_accents, not tokenizer.lowercase

    def clean(word: str, min_chars: int = min_chars) -> str | None:
        if not word[0].isalnum():
            return _special(word, tokenizer)
        if "'" in word or "’" in word:
            word = word.replace("’", "'").strip("'")
            if word in stop:
                return None
            word = suffix.sub("", word)
            if prefix is not None:
                word = prefix.sub("", word)
        if numbers != "keep" and word.isdecimal():
            return "<number>" if numbers == "mark" else None
        if len(word) < min_chars or word in stop or (cased and word.lower() in stop):
            return None
        if lemma is not None:
            word = lemma(word)
            if word in stop:
                return None
        if strip and not word.isascii():
            word = _accents.sub("", unicodedata.normalize("NFKD", word))
            word = unicodedata.normalize("NFC", word)
            if not word or word in stop:
                return None
        return word

    return clean


def _special(word: str, tokenizer: Tokenizer) -> str | None:
    """Handle strings that start with a marker of the scan, or with @."""
    if word[0] == _LINK:
        return "<url>" if tokenizer.urls == "mark" else None
    if word[0] != "@" or len(word) < 2 or tokenizer.mentions == "drop":
        return None
    return "<mention>" if tokenizer.mentions == "mark" else word.rstrip("'’")


def _stop_set(tokenizer: Tokenizer) -> frozenset[str]:
    words = tokenizer.stop_words
    if words is None or isinstance(words, str):
        return frozenset()
    return _normal_set(words)


@cache
def _normal_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_normal(word).replace("’", "'").lower() for word in words)


def _lemmatizer(tokenizer: Tokenizer) -> Callable[[str], str] | None:
    if not tokenizer.lemmas or not _lemmas_known(tokenizer.language):
        return None
    lemma = partial(_simplemma().lemmatize, lang=tokenizer.language)
    lower = tokenizer.lowercase
    return lambda word: lemma(word).lower() if lower else lemma(word)


@cache
def _lemmas_known(language: str | None) -> bool:
    simplemma = _simplemma()
    try:
        return language is not None and bool(simplemma.lemmatize("a", lang=language))
    except ValueError:
        return False


def _simplemma() -> Any:
    return require("simplemma", "lemmas", "lemmas=True of Tokenizer")
