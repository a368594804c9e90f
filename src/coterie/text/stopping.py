"""Stop words: which words are left out because they say nothing about a text's subject.

In: a language, or what the user asked for. Out: a set of words. Only closed-class words are left out
(articles, pronouns, prepositions, conjunctions, auxiliaries, and adverbs such as "also"), never words
such as "order" or "new". `stop_words/*.txt` lists them for some languages. For others, the rule is:
words of stopwordsiso of at most three letters. For scripts whose words are short, it is the whole list
without some words that have a meaning of their own.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from coterie._sentence import Name, Sentence, counted, parameter
from coterie.errors import InvalidInput

LISTED = frozenset({"de", "en", "es", "fr", "it", "nl", "pt", "ru"})  # the files in stop_words/
SHORT = 3  # letters
SHORT_SCRIPTS = frozenset({"zh", "ja", "ko", "th"})  # a short word may mean anything there
CONTENT = """
    一样 一般 人 人家 光 出来 分 分别 区 去 受到 叫 叮咚 含 大 大家 小 年 开始 当地 打 拿 换言之 日 月
    望 本地 看 眨眼 秒 经过 结果 边 通过 遵循 零 靠 点 管 对比 对待 替代 本人 说 请 特に その後
"""  # listed, but with a meaning of their own
MOST = 10_000_000  # bytes of a file of stop words


@cache
def closed_class(language: str | None) -> frozenset[str]:
    """The stop words of a language; empty if there are none."""
    if language is None:
        return frozenset()
    if language in LISTED:
        place = resources.files("coterie.text") / "stop_words" / f"{language}.txt"
        return frozenset(_words_in(place.read_text(encoding="utf-8")))
    words = listed(language)
    if language in SHORT_SCRIPTS:
        return words.difference(CONTENT.split())
    return frozenset(word for word in words if len(word) <= SHORT)


@cache
def listed(language: str) -> frozenset[str]:
    """All words that stopwordsiso lists for a language; many of them have a meaning of their own."""
    import stopwordsiso

    return frozenset(map(normal, stopwordsiso.stopwords(language)))


def normal(word: str) -> str:
    """A word as the lists hold it."""
    return unicodedata.normalize("NFKC", word).lower().replace("’", "'")


def asked(spec: Any) -> str | tuple[str, ...] | None:
    """What the user asked for, as a `Tokenizer` takes it: "auto", None or words.

    A string is "auto", "none" or the path of a file with words, separated by spaces or line breaks; a
    line that starts with # is a comment.
    """
    if spec is None or (isinstance(spec, str) and spec.lower() == "none"):
        return None
    if isinstance(spec, str) and spec == "auto":
        return spec
    if isinstance(spec, str | os.PathLike):
        return _read(Path(spec))
    is_list = isinstance(spec, Iterable) and getattr(spec, "ndim", 1) == 1
    if is_list and not isinstance(spec, bytes | dict):
        words = list(spec)
        if all(isinstance(word, str) for word in words):
            return tuple(sorted(set(words)))
    raise InvalidInput(
        parameter("stop_words", "cluster")
        + ' must be "auto", None, a list of words or the path of a file with words, not '
        + (type(spec).__name__ if not isinstance(spec, Iterable) else "a list of other things")
        + ".",
        kind="not_allowed",
    )


def note(stopped: Collection[str], texts: Sequence[str], split: Any, of: str) -> str:
    """A sentence on what is left out: the most common of these words in the texts.

    `split` returns the words of texts, stop words among them.
    """
    found = Counter(word for row in split(texts) for word in set(map(normal, row)))
    common = sorted((w for w in found if w in stopped), key=lambda w: (-found[w], w))
    if not common:
        return ""
    shown = ", ".join(common[:8]) + (", ..." if len(common) > 8 else "")
    said = f"Left out as stop words{of}: {shown} ({counted(len(stopped), 'word')} in the list)."
    if not of:
        return said
    return (
        said
        + " To keep them, use "
        + Sentence(Name("stop_words", "stop_words=None", "none"))
        + "; to choose your own, pass "
        + Sentence(Name("stop_words", "a list", "FILE"))
        + "."
    )


def _read(path: Path) -> tuple[str, ...]:
    if not os.path.isfile(path):
        raise InvalidInput(
            parameter("stop_words", "cluster")
            + f" is {str(path)!r}, but there is no such file. Use auto, none or a file of words"
            + " (for another language, set "
            + Sentence(Name("language", "language='de'", "de"))
            + ")."
        )
    if path.stat().st_size > MOST:
        raise InvalidInput(f"{path} is too large for a list of stop words (over 10 MB).")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8. Save the stop words as UTF-8.") from None
    words = _words_in(text)
    if not words:
        raise InvalidInput(f"{path} holds no words. Write one stop word per line.")
    return tuple(sorted(words))


def _words_in(text: str) -> set[str]:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {normal(word) for line in lines for word in line.split()}
