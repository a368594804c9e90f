"""Prior knowledge: adds the user's seed topics and related words (from word vectors) to an urn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coterie import embeddings, urns
from coterie._allowed import Rule, number, whole
from coterie._sentence import parameter
from coterie.errors import InvalidInput, concerning
from coterie.seeds import EncodedSeeds, read
from coterie.text import vocabulary
from coterie.urns import Urn

SEEDS: Mapping[str, Rule] = {"seed_repeat": whole(1, 10**6)}
VECTORS: Mapping[str, Rule] = {
    "promotion": number(0.0, inclusive=True, high=1000.0),
    **embeddings.ALLOWED,
}


def encode_seeds(estimator: Any, words: list[str] | None, kind: str, n_words: int) -> EncodedSeeds:
    """The estimator's seeds in the vocabulary of the corpus."""
    owner = f"seeds of {type(estimator).__name__}"
    with concerning("seeds"):
        return read(
            estimator.seeds, repeat=estimator.seed_repeat, weight=estimator.seed_weight, owner=owner
        ).encode(words, _splitter(kind), n_words)


def add_related_words(
    urn: Urn, estimator: Any, words: list[str] | None
) -> tuple[Urn, embeddings.Related]:
    """The urn in which words promote the words with similar vectors, and which words these are."""
    if words is None:
        raise InvalidInput(
            parameter("word_vectors", type(estimator).__name__)
            + " can only be used if the word of each column is known. Pass texts, token lists,"
            " a table with column names, or a matrix and its vocabulary=."
        )
    with concerning("word_vectors"):
        found = embeddings.related(
            words, estimator.word_vectors, estimator.threshold, estimator.max_related
        )
    urn = urns.promoted(urn, estimator.promotion, found.ptr, found.word)
    if estimator.promotion > 0 and urn.relations.promotion == 0:
        raise InvalidInput(
            parameter("promotion", type(estimator).__name__)
            + f" is {estimator.promotion:g}, which is too small to have an effect."
            " Use 0, or at least 0.001."
        )
    return urn, found


def related_to_json(related: embeddings.Related | None) -> list[int] | None:
    """The numbers a saved model keeps about its related words; the words themselves are in its urn."""
    return None if related is None else [related.n_vectors, related.n_dropped]


def related_from_json(urn: Urn, saved: Any) -> embeddings.Related:
    """The related words of a saved model."""
    valid = isinstance(saved, list) and len(saved) == 2 and all(isinstance(n, int) for n in saved)
    n_vectors, n_dropped = saved if valid else (0, 0)
    return embeddings.Related(urn.relations.ptr, urn.relations.word, n_vectors, n_dropped)


def _splitter(kind: str) -> Callable[[str], list[str]]:
    """How the text of a seed is split into words: in the same way as the documents."""
    return vocabulary.split_text if kind == "texts" else str.split
