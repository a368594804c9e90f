"""One text cut into words: exactly those that are counted when a whole corpus is read."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seed_cases import counted
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from coterie import seeds
from coterie.errors import InvalidInput
from coterie.text.tokenize import Tokenizer
from coterie.text.vectorize import Vectorizer
from coterie.text.vocabulary import count_texts, split_text

MESSY = [
    "The Café's déjà-vu: naïve co\u00adoperation!! https://a.b/c?d=e @you #tag 3.14 A B",
    "don’t &amp; <b>won't</b> running dogs ran; New York New York",
    "孩子跟谁 3个iPhone手机 हिन्दी भाषा",
    "re\x1ecord nul\x00l \u202eevil \ud800",
    "",
    "the of and",
    "dogs dogs dog",
]
TOKENIZERS = {
    "plain": Tokenizer(language=None, segmenter="bigrams"),
    "pairs": Tokenizer(language=None, segmenter="bigrams", ngrams=(1, 2)),
    "only triples": Tokenizer(language="en", segmenter="bigrams", ngrams=(3, 3), min_chars=1),
    "lemmas": Tokenizer(language="en", segmenter="bigrams", lemmas=True, stop_words="auto"),
    "marks": Tokenizer(language="en", urls="mark", mentions="mark", numbers="mark", strip_accents=True),
    "default": None,
    "count": CountVectorizer(),
    "count pairs": CountVectorizer(ngram_range=(1, 2), stop_words="english", lowercase=False),
    "letters": CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
    "once": CountVectorizer(binary=True),
    "no analyzer": make_pipeline(CountVectorizer(), TfidfTransformer(norm=None, use_idf=False)),
}  # fmt: skip


@pytest.mark.parametrize("name", TOKENIZERS)
def test_cut_agrees_with_encode(name: str) -> None:
    vectorizer, _, _ = Vectorizer.learn(
        MESSY[:3] + MESSY[4:], TOKENIZERS[name], "en", 1, 1.0, tie=False
    )
    texts = [*MESSY[:3], *MESSY[4:], "unheard-of dogs of New York", *map(str.upper, MESSY[:3])]
    for text in texts:
        agrees(vectorizer, text)
    assert vectorizer.cut_all(texts) == [vectorizer.cut(text) for text in texts]
    assert vectorizer.n_words(texts).tolist() == [len(vectorizer.cut(text)) for text in texts]


def agrees(vectorizer: Vectorizer, text: str) -> None:
    counts = vectorizer.encode([text]).counts
    coded = {vectorizer.words[w]: n for w, n in zip(counts.word, counts.tally, strict=True)}
    assert Counter(w for w in vectorizer.cut(text) if w in set(vectorizer.words)) == coded


@given(st.text(), st.sampled_from(["pairs", "lemmas", "marks"]))
def test_cut_agrees_with_encode_on_anything(text: str, name: str) -> None:
    ready = TOKENIZERS[name].resolve(["the dogs"])[0]
    agrees(Vectorizer(list(dict.fromkeys([*ready.tokens([text])[0], "dog"])), ready), text)


@given(st.text())
def test_split_text_agrees_with_count_texts(text: str) -> None:
    words = sorted({*split_text(text), "aid"})
    counts = count_texts([text], words)[0].toarray()[0]
    assert Counter(split_text(text)) == {w: n for w, n in zip(words, counts, strict=True) if n}


def test_cut_needs_the_users_vectorizer() -> None:
    lost = Vectorizer(["aid"], None)
    with pytest.raises(InvalidInput, match="your own vectorizer"):
        lost.cut("aid")
    lost.foreign = CountVectorizer(vocabulary=["team"])
    with pytest.raises(InvalidInput, match="different vocabulary"):
        lost.cut("aid")
    lost.foreign = CountVectorizer(vocabulary=["aid"])
    assert lost.cut("Aid team") == ["aid", "team"]


def test_phrases_and_pairs_of_words() -> None:
    """A phrase that is a word of the corpus is that word, not its parts."""
    vectorizer, _, _ = Vectorizer.learn(
        ["new york new york"], TOKENIZERS["pairs"], "en", 1, 1.0, tie=False
    )
    given = seeds.read({"a": ["new york"], "b": "new york"})
    for cut_all in (None, vectorizer.cut_all):
        encoded = given.encode(vectorizer.words, vectorizer.cut, cut_all=cut_all)
        assert counted(encoded, vectorizer.words) == {
            "a": {"new york": 10},
            "b": {"new": 10, "york": 10, "new york": 10},
        }
