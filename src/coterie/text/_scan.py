"""Splits texts into words: one scan over all texts, then each distinct string that it found."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie._optional import require
from coterie.text import _segment
from coterie.text._numbering import Few, are_many, in_background, spread

if TYPE_CHECKING:
    from coterie.text.tokenize import Tokenizer

Ptr = npt.NDArray[np.int64]
WordIds = npt.NDArray[np.int32]

_END = "\x1e"  # follows every text, so that one scan can split all texts of a chunk
_LINK = "\x1f"  # replaces a URL that will be marked
_CHUNK = 250_000  # characters per scan: limits the memory for temporary strings
# Letters beyond the basic plane: blocks of modern and historic scripts, without symbols and emoji.
_BEYOND = (
    ("\U00010000", "\U0001cfff"),
    ("\U0001e000", "\U0001eeff"),
    ("\U00020000", "\U000323af"),
)

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


# ---------------------------------------------------------------- the scan over all texts
def split(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[Ptr, WordIds, list[str]]:
    """Split all texts: scan them, then turn each distinct string that was found into words."""
    joined = (_joined(tokenizer, chunk) for chunk in _chunks(texts))
    raw, strings = _scan_many(joined) if are_many(texts) else _scan_few(joined)
    pieces, n_pieces, words = _words(tokenizer, strings)
    return *spread(raw, n_pieces, pieces, len(texts)), words


def _scan_few(joined: Iterable[str]) -> tuple[list[WordIds], list[str]]:
    """Return (numbers of the strings in each chunk, all strings by their numbers)."""
    strings, find = Few(_END), _pattern().findall
    return [strings.numbers(find(text)) for text in joined], strings.strings()


def _scan_many(joined: Iterable[str]) -> tuple[list[WordIds], list[str]]:
    """As `_scan_few`, about five times as fast; a chunk is scanned while the next one is joined."""
    from coterie.text._distinct import Distinct

    strings, kind = Distinct(_END.encode()), _kinds()
    encoded = (text.encode("utf-8", "surrogatepass") for text in joined)
    found = in_background(lambda text: strings.words(text, kind), encoded)
    return list(chain.from_iterable(found)), strings.strings()


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
    letters, marks = _letters_and_marks()
    beyond = "".join(f"{low}-{high}" for low, high in _BEYOND)
    first = f"a-zA-Z0-9{letters}{beyond}"
    return re.compile(f"[{_END}{_LINK}@{first}][{first}{marks}'’]*")


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """What each character is to `_pattern`: whether it may begin a word, and be within one."""
    from coterie.kernels.cutting import BEGINS, GOES_ON

    kind = np.zeros(0x110000, np.uint8)
    letters, marks = _letters_and_marks()
    for low, high in ("az", "AZ", "09", *_BEYOND):
        kind[ord(low) : ord(high) + 1] = BEGINS | GOES_ON
    kind[list(map(ord, letters))] = BEGINS | GOES_ON
    kind[list(map(ord, f"{marks}'’"))] = GOES_ON
    kind[list(map(ord, f"{_END}{_LINK}@"))] = BEGINS
    return kind


@cache
def _letters_and_marks() -> tuple[str, str]:
    """The letters and digits of the basic plane beyond ASCII, and the signs that combine with them."""
    letters, marks = [], []
    for character in map(chr, range(0x80, 0x10000)):
        if character.isalnum():
            letters.append(character)
        elif unicodedata.category(character) in ("Mn", "Mc", "Me"):
            marks.append(character)
    return "".join(letters), "".join(marks)


# ---------------------------------------------------------------- once per distinct string
def _words(
    tokenizer: Tokenizer, strings: Sequence[str]
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
    if not tokenizer.lemmas or not lemmas_known(tokenizer.language):
        return None
    lemma = partial(_simplemma().lemmatize, lang=tokenizer.language)
    lower = tokenizer.lowercase
    return lambda word: lemma(word).lower() if lower else lemma(word)


@cache
def lemmas_known(language: str | None) -> bool:
    simplemma = _simplemma()
    try:
        return language is not None and bool(simplemma.lemmatize("a", lang=language))
    except ValueError:
        return False


def _simplemma() -> Any:
    return require("simplemma", "lemmas", "lemmas=True of Tokenizer")
