"""The labelled sets of the race, and each as texts, words or vectors for a worker to build.

A set is asked for by a spec, as in `data`: {"labelled": "tweet", "takes": "words", "most": 1000}.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from ..data import Corpus, frequent, rows_of
from ..store import Row
from . import embed

RULE = (
    "Labelled sets of 1,000 to 60,000 texts (crisislex_t6_tweets, 60,082 tweets, nearly half of them "
    "off topic, is just above and left out): in English all but copies, parts and other cuts of a set "
    "that is there (GoogleNews stays as titles and as titles with snippets); in other languages one "
    "each, news or an encyclopaedia where there is one, else package descriptions. Texts of several "
    "classes, and texts without a word, are left out for all systems. Not all sets are alike in worth: "
    "tweet shares a third of its texts with mstream_tweets, nyt_topmost_bow has its words in the order of "
    "a vocabulary, 20ng_raw keeps the headers of its messages, crisislex_t26_tweets has tweets in several "
    "languages, and sms_spam's two classes are no topics."
)
WORDS, TEXTS, VECTORS, BOTH = "words", "texts", "vectors", "texts and vectors"
QUICK_TEXTS = 1000  # of a set, evenly spaced


class Set(NamedTuple):
    """A file of the data folder; `natural` is text as people wrote it, else words between spaces."""

    name: str
    language: str = "en"
    natural: bool = True


SETS = {  # by their number of words
    found.name: found
    for found in (
        Set("cmu_qa_questions"),
        Set("tweet", natural=False),
        Set("fewclue_tnews_zh", "zh"),
        Set("pascal_flickr", natural=False),
        Set("bitext_support_intents"),
        Set("sms_spam"),
        Set("banking77"),
        Set("m10_citeseer", natural=False),
        Set("debian_packages_es", "es"),
        Set("googlenews_title", natural=False),
        Set("dbpedia_it", "it", natural=False),
        Set("clinc150"),
        Set("debian_packages_ru", "ru"),
        Set("10kgnad_test_de", "de"),
        Set("searchsnippets_stc2", natural=False),
        Set("mstream_tweets", natural=False),
        Set("crisislex_t26_tweets"),
        Set("googlenews_title_snippet", natural=False),
        Set("bbc_news_raw"),
        Set("opentrivia_questions"),
        Set("reuters21578"),
        Set("debian_packages_fr", "fr"),
        Set("debian_packages_ja", "ja"),
        Set("arxiv_abstracts"),
        Set("nyt_topmost_bow", natural=False),
        Set("ohsumed_all"),
        Set("20ng_raw"),
    )
}
QUICK_SETS = ("tweet", "banking77")


class Labelled(NamedTuple):
    """Texts, their words, their classes."""

    texts: list[str]
    words: list[list[str]]
    classes: list[str]


@lru_cache(maxsize=1)
def labelled(name: str, most: int | None = None) -> Labelled:
    """A set, or so many of its texts at most, evenly spaced."""
    rows = [row for row in rows_of(name) if row["label"] and len(row.get("labels", ())) < 2]
    rows = rows[:: 1 if most is None else max(1, len(rows) // most)][:most]
    texts = [row["text"] for row in rows]
    found = SETS.get(name, Set(name))
    words = _cut(texts, found.language) if found.natural else [text.split() for text in texts]
    kept = [i for i, doc in enumerate(words) if doc]
    return Labelled(
        [texts[i] for i in kept], [words[i] for i in kept], [rows[i]["label"] for i in kept]
    )


def _cut(texts: list[str], language: str) -> list[list[str]]:
    """One recipe for all natural texts: lower case, stop words out, words of two texts or more."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    from coterie import Tokenizer

    stop: Any = tuple(ENGLISH_STOP_WORDS) if language == "en" else "auto"
    return frequent(Tokenizer(language=language, stop_words=stop).tokens(texts), 2)


def facts(name: str, most: int | None = None) -> Row:
    """What the tables and the limits ask of a set."""
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
    """The documents of a spec in the form a system takes, and their classes."""
    found = labelled(spec["labelled"], spec.get("most"))
    documents: Any = found.words
    if spec["takes"] == TEXTS:
        documents = found.texts
    elif spec["takes"] == VECTORS:
        documents = embed.vectors(found.texts)
    elif spec["takes"] == BOTH:
        documents = list(zip(found.texts, embed.vectors(found.texts), strict=True))
    return Corpus(documents, found.classes)
