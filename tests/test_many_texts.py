"""Many texts take another way than few, through compiled code and threads, to the same numbers."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from embedder_cases import bert
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.embedders import _base, _pieces, _rows, prepare, prepare_texts
from coterie.embedders._encode import Encoder
from coterie.embedders._rows import in_threads
from coterie.embedders._table import TokenTable
from coterie.kernels import averaging
from coterie.kernels.cutting import BEGINS, GOES_ON
from coterie.locating import Embedding
from coterie.text import _distinct, _numbering, _scan
from coterie.text._distinct import Distinct
from coterie.text._lazy import Texts
from coterie.text._numbering import lengths
from coterie.text.tokenize import Tokenizer

SIGNS = list(
    "  abAB0'’_-@#.&;<>/?=\t\n\x00\x1d\x1e\x1f\x85\xa0é\u0301ßİΣς\u200d\ufeffไม่日本カ\u3000\ud800"
)
LUMPS = ["http://a.b", "www.x.y", "WWW.X.Y", "&amp;", "<br>", "🙂", "𝒜", "𠀀", "▁", "<s>", "\udc00"]
hostile = st.lists(st.sampled_from(SIGNS + LUMPS), max_size=25).map("".join) | st.text(max_size=25)
TITLES = [
    f"Title {i % 37} of the {i % 11}th   café, by user{i}'s 'friend' www.x.y" for i in range(90)
]


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that are full all the time, and parts of a few characters."""
    for name, value in {"_ROOM": 2, "_BYTES": 1, "_AT_ONCE": 3}.items():
        monkeypatch.setattr(_distinct, name, value)
    monkeypatch.setattr(_scan, "_CHUNK", 17)


class TestWords:
    @staticmethod
    def both(tokenizer: Tokenizer, texts: list[str]) -> Iterator[Any]:
        for most in (10**9, -1):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_numbering, "MANY", most)
                ptr, ids, words = tokenizer.count(texts)
                assert (ptr.dtype, ids.dtype) == (np.int64, np.int32)
                yield ptr.tolist(), ids.tolist(), words

    @pytest.mark.usefixtures("tight")
    @given(
        texts=st.lists(hostile, max_size=6),
        how=st.fixed_dictionaries(
            {
                "lowercase": st.booleans(),
                "urls": st.sampled_from(["drop", "keep", "mark"]),
                "markup": st.sampled_from(["drop", "keep"]),
                "mentions": st.sampled_from(["drop", "keep", "mark"]),
                "min_chars": st.integers(1, 2),
            }
        ),
    )
    @example(["\x1e", "a\x1eb", ""], {})
    @example(["'", "a'", "'a", "’’"], {"min_chars": 1})
    def test_of_any_text(self, texts: list[str], how: dict[str, Any]) -> None:
        tokenizer = Tokenizer(language=None, segmenter="bigrams", **how)
        few, many = self.both(tokenizer, texts)
        assert few == many

    def test_of_titles(self) -> None:
        tokenizer = Tokenizer(language="en", stop_words="auto").resolve(TITLES)[0]
        few, many = self.both(tokenizer, TITLES * 50)
        assert few == many
        assert "café" in few[2]

    def test_every_character_is_what_the_pattern_says(self) -> None:
        pattern, kind = _scan._pattern(), _scan._kinds()
        assert kind.size == 0x110000
        characters = list(map(chr, range(kind.size)))
        begins = [pattern.fullmatch(c) is not None for c in characters]
        goes_on = [pattern.fullmatch(f"a{c}") is not None for c in characters]
        np.testing.assert_array_equal(kind & BEGINS > 0, begins)
        np.testing.assert_array_equal(kind & GOES_ON > 0, goes_on)

    def test_a_long_text_is_read_in_parts(self) -> None:
        words = [f"w{i % 1000}" for i in range(200_000)]
        found = Distinct(b"\x1e")
        parts = found.words(" ".join(words).encode(), _scan._kinds())
        assert max(part.size for part in parts) <= _distinct._AT_ONCE
        assert np.concatenate(parts).tolist() == [1 + i % 1000 for i in range(200_000)]
        assert found.strings(1) == words[:1000]
        assert len(found) == 1001

    def test_numbers_do_not_depend_on_the_hash(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = "\n".join(TITLES).encode()
        wanted = np.concatenate(Distinct(b"\x1e").words(text, _scan._kinds()))
        monkeypatch.setattr(_distinct, "_SEED", np.uint64(7))
        found = Distinct(b"\x1e").words(text, _scan._kinds())
        np.testing.assert_array_equal(np.concatenate(found), wanted)


@pytest.mark.parametrize("most", [10**9, -1])
def test_a_column_of_texts_does_not_become_a_list(
    most: int, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = Texts(pl.Series([*TITLES, None, " \n", "日本 é"]))
    texts, tokenizer = list(column), Tokenizer(language=None, segmenter="bigrams")
    words, vectors = tokenizer.count(texts), prepare_texts(wordllama, texts)
    monkeypatch.setattr(Texts, "__iter__", None)
    monkeypatch.setattr(_numbering, "MANY", most)
    assert lengths(column)[-3:].tolist() == [0, 2, 4]
    for found, wanted in zip(tokenizer.count(column), words, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(prepare_texts(wordllama, column), vectors, strict=True):
        np.testing.assert_array_equal(found, wanted)


class TestTokens:
    @staticmethod
    def agree(tokenizer: Any, cuts: bool, unknown: int, texts: list[str]) -> None:
        few, many = (Encoder(tokenizer, cuts, unknown, way) for way in (False, True))
        batches = [texts[:2], texts[2:], texts]
        found = zip(few.encode_all(batches), many.encode_all(batches), strict=True)
        for (ptr, ids), (many_ptr, many_ids) in found:
            np.testing.assert_array_equal(ptr, many_ptr)
            np.testing.assert_array_equal(ids, many_ids)

    @pytest.mark.usefixtures("tight")
    @pytest.mark.parametrize("cuts", [True, False])
    @given(texts=st.lists(hostile, max_size=5))
    @example(["a▁  b", "a  ▁ b", "▁", "x▁ c", "  ", ""])
    @example(["x▁", "日", "d"])
    @example([" ".join("abcdefgh"), "a  b   c", "d\n \ne"])
    def test_of_wordllama(self, wordllama: TokenTable, cuts: bool, texts: list[str]) -> None:
        self.agree(wordllama._tokenizer, cuts, wordllama._unknown, texts)

    @given(
        texts=st.lists(st.text(st.sampled_from(list("  abé.▁[]UNK日z")), max_size=20), max_size=5)
    )
    def test_of_bert(self, texts: list[str]) -> None:
        from tokenizers import Tokenizer as Tokens

        tokenizer = Tokens.from_str(json.dumps(bert()))
        tokenizer.encode_special_tokens = True
        self.agree(tokenizer, True, 0, texts)

    def test_many_words_in_one_call(self, wordllama: TokenTable) -> None:
        """Unknown tokens and words that cannot be told apart among them."""
        texts = [f"{i} word{i} 日本{i} é{i}\u0301 🙂{i} {'<s>' * (i % 3)}" for i in range(300)]
        for unknown in (wordllama._unknown, 29871, 29900):
            self.agree(wordllama._tokenizer, True, unknown, [*texts, "a  b", *texts[::-1]])

    def test_what_was_forgotten_is_learnt_again(
        self, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_pieces, "_FORGET_PIECES", 40)
        encoder = Encoder(wordllama._tokenizer, True, wordllama._unknown, many=True)
        plain = Encoder(wordllama._tokenizer, False, wordllama._unknown)
        batches = [TITLES[i : i + 9] for i in range(0, 90, 9)]
        for batch, (ptr, ids) in zip(batches, encoder.encode_all(batches), strict=True):
            wanted = plain.encode(batch)
            np.testing.assert_array_equal(ptr, wanted[0])
            np.testing.assert_array_equal(ids, wanted[1])


class TestVectors:
    def test_need_no_matrix_of_all_texts(
        self, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = [*TITLES, "", " ", "日本"]
        wanted, mean = prepare(wordllama.embed(texts))
        monkeypatch.setattr(_base.slices, "__defaults__", (7,))
        monkeypatch.setattr(_base, "BATCH_TEXTS", 5)
        monkeypatch.setattr(_rows, "_WORTH", 1)
        monkeypatch.delattr(TokenTable, "embed")
        for most, n_threads in [(10**9, 1), (-1, 1), (-1, 3)]:
            monkeypatch.setattr(_numbering, "MANY", most)
            vectors, same = prepare_texts(wordllama, texts, n_threads=n_threads)
            np.testing.assert_array_equal(vectors, wanted)
            np.testing.assert_array_equal(same, mean)

    def test_of_long_texts_are_kept_instead_of_their_tokens(
        self, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = [*TITLES, *(" ".join(TITLES[i:]) for i in range(40)), *TITLES[:50]]
        wanted = wordllama.embed(texts)
        monkeypatch.setattr(_base, "BATCH_TEXTS", 45)
        rows = wordllama.rows(texts)
        found, made, means = [], [], averaging.means
        monkeypatch.setattr(averaging, "means", lambda *given: made.append(i) or means(*given))
        for i in range(len(rows.blocks)):
            found.append(rows.read(i))
        assert made == [0, 1, 3]  # the vectors of block 2 were there
        assert i == 3
        np.testing.assert_array_equal(np.concatenate(found), wanted)

    def test_tell_of_their_progress(
        self, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_base, "BATCH_TEXTS", 30)
        monkeypatch.setattr(_base.slices, "__defaults__", (10,))
        told: list[tuple[int, int]] = []
        Embedding.of_texts(wordllama, TITLES, lambda *step: told.append(step), n_jobs=2)
        assert told[:3] == [(15, 90), (30, 90), (45, 90)]
        assert told == sorted(told)
        assert len(told) > 3
        assert told[-1] == (90, 90)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_are_means_in_double_precision(self, dtype: str, weighted: bool) -> None:
        rng = np.random.default_rng(0)
        table = (100 * rng.normal(size=(50, 6))).astype(dtype)
        weight = rng.uniform(size=50) if weighted else np.ones(50)
        ids = rng.integers(50, size=400).astype(np.int32)
        ptr = np.concatenate([[0, 0], np.sort(rng.integers(400, size=60)), [400]]).astype(np.int64)
        wide = table.astype(np.float64) * weight[:, None]
        wanted = np.zeros((62, 6))
        for row, start, stop in zip(wanted, ptr, ptr[1:], strict=False):
            for i in ids[start:stop]:
                row += wide[i]
            row /= max(stop - start, 1)
        found = object.__new__(TokenTable)
        found._table, found._row_of = table, np.arange(50)
        found._weight_of = weight if weighted else None
        rows = found._means(
            [(ptr[:31], ids[: ptr[30]].copy()), (ptr[30:] - ptr[30], ids[ptr[30] :])]
        )
        assert rows.shape == (62, 6)
        np.testing.assert_array_equal(
            np.concatenate([rows.read(i) for i in range(len(rows.blocks))]),
            wanted.astype(np.float32),
        )


@pytest.mark.parametrize(("n", "n_threads"), [(50, 1), (50, 2), (50, 5), (0, 3)])
def test_all_is_done_once_by_any_number_of_threads(
    n: int, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_rows, "_WORTH", 1)
    done: list[int] = []
    in_threads(lambda i, _: done.append(i), n, n_threads)
    assert sorted(done) == list(range(n))


@pytest.mark.parametrize("failing", [0, 1])
def test_an_interrupt_stops_all_threads(failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "_WORTH", 1)
    both, done = threading.Barrier(2), [0, 0]

    def work(i: int, thread: int) -> None:
        if done[thread] == 0:
            both.wait()
        done[thread] += 1
        if thread == failing:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, 10**8, 2)
    assert sum(done) < 10**7
