"""Seeds read and encoded in a few words, for the tests of seeds and of files of seeds."""

from typing import Any

import pytest

from coterie import seeds
from coterie.errors import InvalidInput
from coterie.seeds import EncodedSeeds
from coterie.text.vocabulary import split_text

WORDS = ["aid", "bridge", "dead", "new york", "quake", "rescue", "road", "team"]


def counted(encoded: EncodedSeeds, words: list[str] | None = WORDS) -> dict[str, dict[Any, float]]:
    """name -> word -> pseudo-count."""
    rows = {}
    for k, name in enumerate(encoded.names):
        entries = slice(encoded.ptr[k], encoded.ptr[k + 1])
        ids = encoded.word[entries].tolist()
        assert ids == sorted(set(ids))
        named = ids if words is None else [words[i] for i in ids]
        rows[name] = dict(zip(named, encoded.count[entries].tolist(), strict=True))
    return rows


def encoded(source: Any, **how: Any) -> EncodedSeeds:
    return seeds.read(source, **how).encode(WORDS, split_text)


def one(value: Any, **how: Any) -> dict[Any, float]:
    """What a single seed of this value counts."""
    return counted(encoded({"it": value}, **how))["it"]


def refusal(source: Any, **how: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        encoded(source, **how)
    return sentence(caught.value)


def sentence(error: Exception) -> str:
    said = str(error)
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 400
    return said
