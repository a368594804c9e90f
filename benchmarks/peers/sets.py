"""The labelled sets of the race, and each as texts, words or vectors for a worker to build.

A set is described by a dict, as in the harness: {"labelled": "tweet", "takes": "words"}."""

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

    name: str
    language: str = "en"
    natural: bool = True


# name:language:words, by the number of words; English unless said, natural text unless `words`
_sets = (
    *("cmu_qa_questions", "tweet:words", "fewclue_tnews_zh:zh", "pascal_flickr:words"),
    *("bitext_support_intents", "sms_spam", "banking77", "m10_citeseer:words"),
    *("debian_packages_es:es", "googlenews_title:words", "dbpedia_it:it:words", "clinc150"),
    *("debian_packages_ru:ru", "10kgnad_test_de:de", "searchsnippets_stc2:words"),
    *("mstream_tweets:words", "crisislex_t26_tweets", "googlenews_title_snippet:words"),
    *("bbc_news_raw", "opentrivia_questions", "reuters21578", "debian_packages_fr:fr"),
    *(
        "debian_packages_ja:ja",
        "arxiv_abstracts",
        "nyt_topmost_bow:words",
        "ohsumed_all",
        "20ng_raw",
    ),
)


def _set(text: str) -> Set:
    name, *marks = text.split(":")
    natural = "words" not in marks
    return Set(name, next((mark for mark in marks if mark != "words"), "en"), natural)


SETS = {found.name: found for found in map(_set, _sets)}
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
    found = SETS.get(name, Set(name))
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


def build(spec: dict[str, Any]) -> Corpus:
    """The documents in the form that a system takes, and their classes."""
    found = labelled(spec["labelled"], spec.get("most"))
    documents: Any = found.words
    if spec["takes"] == TEXTS:
        documents = found.texts
    elif spec["takes"] == VECTORS:
        documents = embed.vectors(found.texts)
    elif spec["takes"] == BOTH:
        documents = list(zip(found.texts, embed.vectors(found.texts), strict=True))
    return Corpus(documents, found.classes)
