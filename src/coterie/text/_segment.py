"""Scripts without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.

In: a run of such characters. Out: its words, from a segmenter if its package is installed, otherwise
pairs of neighbouring characters, which carry most of the information a bag of words needs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from coterie._optional import PACKAGES, require

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana, and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U000323af"
)
has_unspaced = re.compile(f"[{_UNSPACED}]").search
runs = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+").findall

# These marks stay with the letter before them; otherwise a bigram could split a Thai letter and its vowel.
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1060\u17b4-\u17d3"
)
_letters = re.compile(f".[{_MARKS}]*", re.DOTALL).findall

# language -> (name of the segmenter, its module, the extra that installs it)
SEGMENTERS = {
    "zh": ("rjieba", "rjieba", "zh"),
    "ja": ("sudachi", "sudachipy", "ja"),
    "th": ("pythainlp", "pythainlp", "th"),
}
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
NAMES = ("bigrams", *(name for name, _, _ in SEGMENTERS.values()))


def choose(language: str | None) -> tuple[str, str | None]:
    """Return (best installed segmenter for a language, a note for the user or None)."""
    if language not in UNSPACED_LANGUAGES:
        return "bigrams", None
    if language not in SEGMENTERS:
        return "bigrams", (
            f"Texts in {language!r} have no spaces between words, and coterie has no segmenter for this"
            " language, so pairs of neighbouring characters were used as words."
        )
    name, module, extra = SEGMENTERS[language]
    if find_spec(module) is not None:
        return name, f"The texts ({language!r}) were split into words with {name}."
    return "bigrams", (
        f"Texts in {language!r} have no spaces between words, so pairs of neighbouring characters were"
        f" used as words. To use real words, run: pip install {PACKAGES[extra]}"
    )


def segmenter(name: str) -> Callable[[str], list[str]]:
    """Return the function that splits a run of unspaced characters into words."""
    return bigrams if name == "bigrams" else _load(name)


def bigrams(run: str) -> list[str]:
    """Return pairs of neighbouring characters; a single character stays as it is."""
    letters = _letters(run)
    if len(letters) < 2:
        return [run]
    return [a + b for a, b in itertools.pairwise(letters)]


@cache
def _load(name: str) -> Callable[[str], list[str]]:
    if name == "rjieba":
        return _words_of(require("rjieba", "zh", "Splitting Chinese into words").cut)
    if name == "sudachi":
        module = require("sudachipy", "ja", "Splitting Japanese into words")
        return _sudachi(module)
    module = require("pythainlp.tokenize", "th", "Splitting Thai into words")
    return _words_of(module.word_tokenize)


def _words_of(cut: Any) -> Callable[[str], list[str]]:
    return lambda run: list(cut(run))


def _sudachi(module: Any) -> Callable[[str], list[str]]:
    dictionary = module.Dictionary(dict="small")
    tokenizer = dictionary.tokenizer() if hasattr(dictionary, "tokenizer") else dictionary.create()
    # sudachi accepts at most 49149 bytes; a Japanese character takes three
    size = 16_000

    def cut(run: str) -> list[str]:
        parts = (run[i : i + size] for i in range(0, len(run), size))
        return [m.surface() for part in parts for m in tokenizer.tokenize(part)]

    return cut
