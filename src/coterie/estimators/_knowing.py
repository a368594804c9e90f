"""What the user knows beforehand, put onto an urn: seed topics, and vectors that relate words."""

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


def plant(urn: Urn, estimator: Any, words: list[str] | None, kind: str) -> tuple[Urn, EncodedSeeds]:
    """The urn with the estimator's seeds in it, and what they became in the corpus' words."""
    owner = f"seeds of {type(estimator).__name__}"
    with concerning("seeds"):
        seeds = read(
            estimator.seeds, repeat=estimator.seed_repeat, weight=estimator.seed_weight, owner=owner
        ).encode(words, _cutter(kind), urn.words.beta.size)
    return urns.seeded(urn, seeds.weight, seeds.ptr, seeds.word, seeds.count), seeds


def relate(urn: Urn, estimator: Any, words: list[str] | None) -> tuple[Urn, embeddings.Related]:
    """The urn on which words promote those their vectors are near, and which these are."""
    if words is None:
        raise InvalidInput(
            parameter("word_vectors", type(estimator).__name__)
            + " need the words of the columns; pass texts, token"
            " lists, a table with column names, or vocabulary= beside the matrix."
        )
    with concerning("word_vectors"):
        found = embeddings.related(
            words, estimator.word_vectors, estimator.threshold, estimator.max_related
        )
    urn = urns.promoted(urn, estimator.promotion, found.ptr, found.word)
    if estimator.promotion > 0 and urn.relations.promotion == 0:
        raise InvalidInput(
            parameter("promotion", type(estimator).__name__)
            + f" is {estimator.promotion:g}, too small to count; give"
            " 0, or 0.001 or more."
        )
    return urn, found


def told(related: embeddings.Related | None) -> list[int] | None:
    """What a saved model says of its related words; who they are is in its urn."""
    return None if related is None else [related.n_vectors, related.n_dropped]


def recalled(urn: Urn, said: Any) -> embeddings.Related:
    """The related words of a saved model."""
    fine = isinstance(said, list) and len(said) == 2 and all(isinstance(n, int) for n in said)
    n_vectors, n_dropped = said if fine else (0, 0)
    return embeddings.Related(urn.relations.ptr, urn.relations.word, n_vectors, n_dropped)


def _cutter(kind: str) -> Callable[[str], list[str]]:
    """How the words of a seed's text are cut: as the documents were."""
    return vocabulary.cut_text if kind == "texts" else str.split
