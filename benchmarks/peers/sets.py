"""The labelled sets of the race, and each as texts, words or vectors for a worker to build."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from ..harness.data import Corpus, frequent, texts_of
from ..harness.store import Row
from . import embed

WORDS, TEXTS, VECTORS, BOTH = "words", "texts", "vectors", "texts and vectors"
QUICK_TEXTS = 1000  # of a set, evenly spaced


class Set(NamedTuple):
    """A file of the data folder; `natural` is text as people wrote it, else words between spaces."""

    language: str = "en"
    natural: bool = True


WORDS_EN = Set(natural=False)
SETS = {  # by the number of words
    "cmu_qa_questions": Set(),
    "tweet": WORDS_EN,
    "fewclue_tnews_zh": Set("zh"),
    "pascal_flickr": WORDS_EN,
    "bitext_support_intents": Set(),
    "sms_spam": Set(),
    "banking77": Set(),
    "m10_citeseer": WORDS_EN,
    "debian_packages_es": Set("es"),
    "googlenews_title": WORDS_EN,
    "dbpedia_it": Set("it", natural=False),
    "clinc150": Set(),
    "debian_packages_ru": Set("ru"),
    "10kgnad_test_de": Set("de"),
    "searchsnippets_stc2": WORDS_EN,
    "mstream_tweets": WORDS_EN,
    "crisislex_t26_tweets": Set(),
    "googlenews_title_snippet": WORDS_EN,
    "bbc_news_raw": Set(),
    "opentrivia_questions": Set(),
    "reuters21578": Set(),
    "debian_packages_fr": Set("fr"),
    "debian_packages_ja": Set("ja"),
    "arxiv_abstracts": Set(),
    "nyt_topmost_bow": WORDS_EN,
    "ohsumed_all": Set(),
    "20ng_raw": Set(),
}
QUICK_SETS = ("tweet", "banking77")


class Labelled(NamedTuple):
    """Texts, their words, their classes."""

    texts: list[str]
    words: list[list[str]]
    classes: list[str]


@lru_cache(maxsize=1)
def labelled(name: str, most: int | None = None) -> Labelled:
    """A set, or at most so many of its texts, evenly spaced."""
    rows = [row for row in texts_of(name) if row["label"] and len(row.get("labels", ())) < 2]
    rows = rows[:: 1 if most is None else max(1, len(rows) // most)][:most]
    texts = [row["text"] for row in rows]
    found = SETS.get(name, Set())
    words = _cut(texts, found.language) if found.natural else [text.split() for text in texts]
    kept = [i for i, doc in enumerate(words) if doc]
    return Labelled(
        [texts[i] for i in kept], [words[i] for i in kept], [rows[i]["label"] for i in kept]
    )


def _cut(texts: list[str], language: str) -> list[list[str]]:
    """One recipe for all natural texts: lower case, no stop words, words of two texts or more."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    from coterie import Tokenizer

    stop: Any = tuple(ENGLISH_STOP_WORDS) if language == "en" else "auto"
    return frequent(Tokenizer(language=language, stop_words=stop).tokens(texts), 2)


def facts(name: str, most: int | None = None) -> Row:
    """What the tables and the limits need to know of a set."""
    found, kind = labelled(name, most), SETS[name]
    n_tokens = sum(map(len, found.words))
    return {
        "n_docs": len(found.texts),
        "n_classes": len(set(found.classes)),
        "n_tokens": n_tokens,
        "n_words": len({word for doc in found.words for word in doc}),
        "mean_length": n_tokens / len(found.texts),
        "language": kind.language,
        "natural": kind.natural,
    }


def build(name: str, takes: str, most: int | None = None) -> Corpus:
    """The documents in the form that a system takes, and their classes."""
    texts, words, classes = labelled(name, most)
    if takes == WORDS:
        return Corpus(words, classes)
    if takes == TEXTS:
        return Corpus(texts, classes)
    vectors = embed.vectors(texts)
    both = takes == BOTH
    return Corpus(list(zip(texts, vectors, strict=True)) if both else vectors, classes)
