"""Scripts that put no spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.

In: a run of such letters. Out: its words, by a segmenter where its package is installed, else
pairs of neighbouring characters, which carry most of what a bag of words needs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from coterie._optional import require

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana, and the marks that repeat a character
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U000323af"
)
has_unspaced = re.compile(f"[{_UNSPACED}]").search
runs = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+").findall

# A bigram of code points would cut a Thai letter from its vowel: these stay with the letter before.
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1060\u17b4-\u17d3"
)
_letters = re.compile(f".[{_MARKS}]*", re.DOTALL).findall

# language -> (name of the segmenter, the module it needs, the extra that brings it)
SEGMENTERS = {
    "zh": ("rjieba", "rjieba", "zh"),
    "ja": ("sudachi", "sudachipy", "ja"),
    "th": ("pythainlp", "pythainlp", "th"),
}
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
NAMES = ("bigrams", *(name for name, _, _ in SEGMENTERS.values()))


def choose(language: str | None) -> tuple[str, str | None]:
    """(name of the best segmenter that is installed for a language, what to tell the user)."""
    if language not in UNSPACED_LANGUAGES:
        return "bigrams", None
    if language not in SEGMENTERS:
        return "bigrams", (
            f"Texts in {language!r} have no spaces between words and coterie knows no segmenter for"
            " it: pairs of neighbouring characters serve as words."
        )
    name, module, extra = SEGMENTERS[language]
    if find_spec(module) is not None:
        return name, f"Words of the texts in {language!r} were separated with {name}."
    return "bigrams", (
        f"Texts in {language!r} have no spaces between words: pairs of neighbouring characters serve"
        f' as words; for real words, pip install "coterie[{extra}]".'
    )


def segmenter(name: str) -> Callable[[str], list[str]]:
    """The function that cuts a run of unspaced letters into words."""
    return bigrams if name == "bigrams" else _load(name)


def bigrams(run: str) -> list[str]:
    """Pairs of neighbouring letters; a single letter is itself."""
    letters = _letters(run)
    if len(letters) < 2:
        return [run]
    return [a + b for a, b in itertools.pairwise(letters)]


@cache
def _load(name: str) -> Callable[[str], list[str]]:
    if name == "rjieba":
        return _words_of(require("rjieba", "zh", "Cutting Chinese into words").cut)
    if name == "sudachi":
        module = require("sudachipy", "ja", "Cutting Japanese into words")
        return _sudachi(module)
    module = require("pythainlp.tokenize", "th", "Cutting Thai into words")
    return _words_of(module.word_tokenize)


def _words_of(cut: Any) -> Callable[[str], list[str]]:
    return lambda run: list(cut(run))


def _sudachi(module: Any) -> Callable[[str], list[str]]:
    dictionary = module.Dictionary(dict="small")
    tokenizer = dictionary.tokenizer() if hasattr(dictionary, "tokenizer") else dictionary.create()
    # sudachi refuses inputs beyond 49149 bytes; a Japanese letter takes three
    size = 16_000

    def cut(run: str) -> list[str]:
        parts = (run[i : i + size] for i in range(0, len(run), size))
        return [m.surface() for part in parts for m in tokenizer.tokenize(part)]

    return cut
