"""Detects the language of texts, and provides its stop words.

In: a sample of texts. Out: an ISO 639-1 code, from the script if only one language uses it, otherwise
from the words of the lists of stopwordsiso that occur. Stop words that are left out are in `stopping`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

from coterie._sentence import example
from coterie.text import stopping

_SAMPLE = 1_000  # texts
_START = 200  # characters of each
_ENOUGH = 0.12  # minimum share of words that are stop words of the detected language
# With fewer words than this, stop words may occur by chance.
_FEW = 20

# English names, for notes; all languages that coterie can detect.
NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton",
    "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "km": "Khmer", "ko": "Korean", "ku": "Kurdish", "la": "Latin", "lo": "Lao",
    "lt": "Lithuanian", "lv": "Latvian", "mr": "Marathi", "ms": "Malay", "my": "Burmese",
    "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "so": "Somali",
    "st": "Sotho", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "yo": "Yoruba", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip

# first word of a letter's Unicode name -> the most likely language
_SCRIPTS = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "THAI": "th", "LAO": "lo",
    "KHMER": "km", "MYANMAR": "my", "HEBREW": "he", "GREEK": "el", "ARMENIAN": "hy",
    "GEORGIAN": "ka", "BENGALI": "bn", "GUJARATI": "gu", "GURMUKHI": "pa", "TAMIL": "ta",
    "TELUGU": "te",
}  # fmt: skip
# If there are too few stop words: letters that only one of the script's languages uses.
_LETTERS = {
    "CYRILLIC": (("uk", "іїєґ"), ("ru", "ыэё")),
    "ARABIC": (("ur", "ٹڈڑںے"), ("fa", "پچژگی"), ("ar", "ةىيك")),
}
_words = re.compile(r"[^\W\d_][\w'’\u0300-\u036f\u0900-\u0963]*").findall


def detect(texts: Sequence[str]) -> tuple[str | None, str]:
    """Detect the language from a sample of the texts: (its code or None, a sentence about it)."""
    sample = [text[:_START] for text in texts[:: max(1, -(-len(texts) // _SAMPLE))]]
    scripts = _scripts(sample)
    if not scripts:
        return None, "The texts contain no letters, so no language was detected."
    language = _by_script(scripts)
    if language is None:
        language = _by_stop_words(sample) or _by_letters(sample, scripts)
    if language is None:
        return None, (
            "The language was not recognised, so no stop words were removed. If you know it, set it with "
            + example("language", "en")
            + " (or another code)."
        )
    return language, (
        f"Detected language: {name(language)} ({language}). If this is wrong, use "
        + example("language")
        + "."
    )


def name(language: str) -> str:
    """The English name of a language."""
    return NAMES.get(language, language)


def stop_words(language: str | None) -> frozenset[str]:
    """Stop words of a language, closed-class words only; empty if there is no list."""
    return stopping.closed_class(language)


def known(language: str) -> bool:
    """Whether coterie knows this language code."""
    import stopwordsiso

    return language in NAMES or bool(stopwordsiso.has_lang(language))


def _scripts(sample: Sequence[str]) -> Counter[str]:
    """Count the letters of each script."""
    scripts: Counter[str] = Counter()
    for letter, n in Counter("".join(sample)).items():
        if letter.isalpha():
            scripts[unicodedata.name(letter, "?").partition(" ")[0]] += n
    return scripts


def _by_script(scripts: Counter[str]) -> str | None:
    total = scripts.total()
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    # The threshold is low, since Chinese uses fewer characters than the Latin names within it.
    if scripts["CJK"] + kana > 0.3 * total:
        return "ja" if kana > 0.1 * (scripts["CJK"] + kana) else "zh"
    script, n = scripts.most_common(1)[0]
    return _SCRIPTS.get(script) if n > 0.5 * total else None


def _by_stop_words(sample: Sequence[str]) -> str | None:
    """The language with the most stop words in the texts; words of several languages count less."""
    seen = Counter(word for text in sample for word in _words(text.lower().replace("’", "'")))
    total = seen.total()
    if total == 0:
        return None
    votes: defaultdict[str, float] = defaultdict(float)
    hits: Counter[str] = Counter()
    distinct: Counter[str] = Counter()
    lists = _lists()
    for word, n in seen.items():
        languages = lists.get(word, ())
        for language in languages:
            votes[language] += n / len(languages)
            hits[language] += n
            distinct[language] += 1
    if not votes:
        return None
    best = max(sorted(votes), key=votes.__getitem__)
    enough = _ENOUGH if total >= _FEW else 0.3
    return best if distinct[best] >= 2 and hits[best] >= enough * total else None


def _by_letters(sample: Sequence[str], scripts: Counter[str]) -> str | None:
    script, n = scripts.most_common(1)[0]
    if n <= 0.5 * scripts.total():
        return None
    used = set("".join(sample).lower())
    candidates = _LETTERS.get(script, ())
    return next((language for language, letters in candidates if used & set(letters)), None)


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    """Common word -> its languages, for languages that are not detected by their script."""
    import stopwordsiso

    by_script = {"zh", *_SCRIPTS.values()}
    listed: defaultdict[str, list[str]] = defaultdict(list)
    for language in sorted(set(stopwordsiso.langs()) - by_script):
        for word in stopping.listed(language):
            listed[word].append(language)
    return {word: tuple(languages) for word, languages in listed.items()}
