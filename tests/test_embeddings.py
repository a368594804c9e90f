"""Word vectors from every kind of source, what is refused and how, and related words by the rule."""

import contextlib
import gzip
import io
import math
import os
import tracemalloc
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie import embeddings
from coterie.embeddings import Related, read_vectors, related
from coterie.errors import InvalidInput

ROOT = Path(__file__).resolve().parents[1]
VECTORS = {
    "cat": [1.0, 0.0, 0.25],
    "naïve": [0.5, -2.0, 0.0],
    "東京": [-0.125, 3.0, 1.0],
    "\U0001f600": [0.0, 0.0, -4.0],
    "Cat": [2.0, 2.0, 2.0],
    "e\u0301": [7.0, 1.0, 1.0],  # é in two characters; the vocabulary has it in one
}
WORDS = ["\U0001f600", "the", "cat", "東京", "é", "naïve"]
IDS = [0, 2, 3, 5]


def binary(items: Any, newline: bytes = b"\n", count: int | None = None) -> bytes:
    items = list(items)
    rows = [w.encode() + b" " + np.array(v, "<f4").tobytes() + newline for w, v in items]
    return f"{count or len(items)} {len(items[0][1])}\n".encode() + b"".join(rows)


def glove(items: Any, end: str = "\n", between: str = " ") -> bytes:
    return "".join(between.join([word, *map(str, row)]) + end for word, row in items).encode()


def word2vec(items: Any, end: str = "\n") -> bytes:
    items = list(items)
    return f"{len(items)} {len(items[0][1])}{end}".encode() + glove(items, end)


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def as_npz(items: Any, dtype: Any = np.float32, order: Any = "C", **names: str) -> bytes:
    words, rows = zip(*items, strict=True)
    matrix = np.array(rows, dtype, order=order)
    return npz(**{names.get("w", "words"): np.array(words), names.get("v", "vectors"): matrix})


class KeyedVectors:
    """What gensim 4 calls so, as far as it matters."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.key_to_index = {word: i for i, word in enumerate(items)}
        self.vectors = np.array(list(items.values()), np.float32)


class OldKeyedVectors:
    """A container that only answers for words it has."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.items = items

    def __contains__(self, word: str) -> bool:
        return word in self.items

    def get_vector(self, word: str) -> Any:
        return np.array(self.items[word])


class Model:
    """A gensim model holds its vectors as `wv`."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.wv = KeyedVectors(items)


def pairs(items: Any) -> Any:
    return list(items), list(items.values())


FILES: dict[str, bytes] = {
    "binary.bin": binary(VECTORS.items()),
    "no_line_feeds.bin": binary(VECTORS.items(), newline=b""),
    "text_called.bin": word2vec(VECTORS.items()),
    "binary_called.txt": binary(VECTORS.items()),
    "word2vec.txt": word2vec(VECTORS.items()),
    "fasttext.vec": word2vec(VECTORS.items(), end=" \n"),
    "windows.txt": word2vec(VECTORS.items(), end="\r\n"),
    "glove.txt": glove(VECTORS.items()),
    "glove_without_last_end.txt": glove(VECTORS.items()).rstrip(),
    "blank_line_at_end.txt": glove(VECTORS.items()) + b"\n",
    "tabs": glove(VECTORS.items(), between="\t"),
    "marked.txt": b"\xef\xbb\xbf" + glove(VECTORS.items()),
    "marked.vec": b"\xef\xbb\xbf" + word2vec(VECTORS.items()),
    "packed.bin.gz": gzip.compress(binary(VECTORS.items())),
    "packed.vec.gz": gzip.compress(word2vec(VECTORS.items())),
    "packed_but_not_called_so.txt": gzip.compress(glove(VECTORS.items())),
    "plain.npz": as_npz(VECTORS.items()),
    "half.npz": as_npz(VECTORS.items(), np.float16),
    "double.npz": as_npz(VECTORS.items(), ">f8"),
    "by_column.npz": as_npz(VECTORS.items(), order="F"),
    "other_names.npz": as_npz(VECTORS.items(), w="vocab", v="m"),
    "bytes.npz": npz(
        words=np.array([word.encode() for word in VECTORS]), vectors=np.array([*VECTORS.values()])
    ),
}
OBJECTS: dict[str, Any] = {
    "dict": VECTORS,
    "dict of arrays": {word: np.array(row) for word, row in VECTORS.items()},
    "gensim": KeyedVectors(VECTORS),
    "gensim model": Model(VECTORS),
    "container": OldKeyedVectors(VECTORS),
    "pair of lists": pairs(VECTORS),
    "pair as a list": [np.array(list(VECTORS)), np.array(list(VECTORS.values()))],
    "function": VECTORS.get,
    "function that raises KeyError": VECTORS.__getitem__,
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


def refused(source: Any, words: Sequence[str] = ("cat", "dog"), owner: str = "word_vectors") -> str:
    """The sentence with which a source is refused; it names its owner."""
    with pytest.raises(InvalidInput) as caught:
        read_vectors(source, words, owner)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert owner in message
    return message


def rows_of(found: Related) -> list[list[int]]:
    return [found.word[a:b].tolist() for a, b in zip(found.ptr[:-1], found.ptr[1:], strict=True)]


class TestSources:
    @staticmethod
    def check(source: Any) -> None:
        ids, vectors = read_vectors(source, WORDS)
        assert ids.tolist() == IDS
        assert ids.dtype == np.int64
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, [VECTORS[WORDS[i]] for i in IDS])

    @pytest.mark.parametrize("name", FILES)
    def test_files(self, name: str, write: Callable[[str, bytes], Path]) -> None:
        path = write(name, FILES[name])
        self.check(path)
        self.check(str(path))

    @pytest.mark.parametrize("name", OBJECTS)
    def test_objects(self, name: str) -> None:
        self.check(OBJECTS[name])

    def test_gensim_itself(self, tmp_path: Path) -> None:
        gensim = pytest.importorskip("gensim.models", reason="gensim is not installed")
        vectors = gensim.KeyedVectors(vector_size=3)
        vectors.add_vectors(list(VECTORS), np.array(list(VECTORS.values()), np.float32))
        self.check(vectors)
        for name, is_binary in [("b.bin", True), ("t.vec", False), ("b.bin.gz", True)]:
            vectors.save_word2vec_format(str(tmp_path / name), binary=is_binary)
            self.check(tmp_path / name)

    def test_the_first_of_two_counts(self, write: Callable[[str, bytes], Path]) -> None:
        items = [("cat", [1.0, 2.0]), ("dog", [3.0, 4.0]), ("cat", [5.0, 6.0])]
        sources = [
            write("b.bin", binary(items)),
            write("w.txt", word2vec(items)),
            write("g.txt", glove(items)),
            write("n.npz", as_npz(items)),
            tuple(zip(*items, strict=True)),
        ]
        for source in sources:
            assert read_vectors(source, ["cat"])[1].tolist() == [[1, 2]], source

    def test_words_with_spaces(self, write: Callable[[str, bytes], Path]) -> None:
        """GloVe 840B has tokens like ". . .", and a vocabulary may hold phrases."""
        lines = b"the 1 2\n. . . 3 4\nat name@domain.com 5 6\nnew york 7 8\nnew 9 1\n20 000 1 1\n"
        path = write("glove.txt", lines)
        ids, vectors = read_vectors(path, ["new", "new york", "at", ". . .", "20"])
        assert ids.tolist() == [0, 1, 3]
        assert vectors.tolist() == [[9, 1], [7, 8], [3, 4]]

    def test_spaces_that_are_not_ascii_belong_to_words(
        self, write: Callable[[str, bytes], Path]
    ) -> None:
        items = [("10\xa0000", [1, 2]), ("a\u2028b", [3, 4]), ("a\x85", [5, 6]), ("a", [7, 8])]
        for path in (write("f.vec", word2vec(items)), write("g.txt", glove(items))):
            ids, vectors = read_vectors(path, [word for word, _ in items])
            assert ids.tolist() == [0, 1, 2, 3]
            assert vectors[:, 0].tolist() == [1, 3, 5, 7]

    def test_words_in_bad_utf8_are_passed_over(self, write: Callable[[str, bytes], Path]) -> None:
        text = b"3 2\n\xff\xfe 1 2\ncat 3 4\n 5 6\n"
        assert read_vectors(write("w.txt", text), ["cat"])[1].tolist() == [[3, 4]]

    def test_a_vocabulary_in_an_array(self) -> None:
        ids, _ = read_vectors(VECTORS, np.array(WORDS))
        assert ids.tolist() == IDS

    def test_a_default_of_a_dict_is_no_vector(self) -> None:
        from collections import defaultdict

        source = defaultdict(lambda: [0.0, 0.0, 0.0], VECTORS)
        self.check(source)
        assert len(source) == len(VECTORS)

    def test_only_wanted_vectors_are_looked_at(self, write: Callable[[str, bytes], Path]) -> None:
        items = [("cat", [1.0, 2.0]), ("zero", [0.0, 0.0]), ("nan", [math.nan, 1.0])]
        assert len(read_vectors(write("b.bin", binary(items)), ["cat"])[0]) == 1
        assert len(read_vectors(dict(items), ["cat"])[0]) == 1

    @pytest.mark.parametrize("kind", ["binary", "text", "npz", "npz by column"])
    def test_what_is_not_wanted_is_not_kept(
        self, kind: str, write: Callable[[str, bytes], Path]
    ) -> None:
        n, dim = 40_000, 100
        words = [f"w{i}" for i in range(n)]
        matrix = np.arange(n * dim, dtype=np.float32).reshape(n, dim) + 1
        if kind == "binary":
            content = binary(zip(words, matrix, strict=True))
        elif kind == "text":
            row = " ".join(["1.5"] * dim)
            content = "".join(f"{word} {row}\n" for word in words).encode()
        else:
            order: Any = "F" if "column" in kind else "C"
            content = npz(words=np.array(words), vectors=np.asarray(matrix, order=order))
        path = write("vectors", content)
        assert len(content) > 15e6
        del content, matrix
        tracemalloc.start()
        ids, vectors = read_vectors(path, ["w0", "no", f"w{n - 1}"])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert ids.tolist() == [0, 2]
        wanted = 1.5 if kind == "text" else n * dim
        assert vectors[1, -1] == wanted
        assert peak < 8e6


class TestRefusals:
    def test_none_of_these_kinds(self) -> None:
        for source in (None, 3, np.ones((2, 2)), [1, 2, 3], {"cat"}, b"x.bin"):
            message = refused(source, owner="word_vectors of GPUDMM")
            assert message.startswith("word_vectors of GPUDMM must be a mapping from words")
            assert message.endswith(f"got {type(source).__name__}.")

    def test_differing_length(self, write: Callable[[str, bytes], Path]) -> None:
        items = {"cat": [1, 2, 3], "dog": [1, 2, 3, 4]}
        for source in (items, items.get, OldKeyedVectors(items), pairs(items)):
            message = refused(source)
            assert "'dog' has 4 numbers, 'cat' has 3." in message
        for name, text, line, has in [
            ("long.txt", glove(items.items()), 2, "'dog' has 4 numbers instead of 3"),
            ("short.txt", b"cat 1 2 3\ndog 1 2\n", 2, "'dog' has 2 numbers instead of 3"),
            ("unwanted.txt", b"cat 1 2 3\nx 1 1 1\ny 1 1 1\nz 1\n", 4, "'z' has 1 numbers"),
            ("header.vec", b"2 3\ncat 1 2 3\ndog 1 2\n", 3, "'dog' has 2 numbers instead of 3"),
        ]:
            message = refused(write(name, text))
            assert f"{name}' of word_vectors, line {line}," in message
            assert has in message

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e39])
    def test_not_finite(self, bad: float, write: Callable[[str, bytes], Path]) -> None:
        items = {"ok": [1.0, 1.0], "dog": [1.0, bad]}
        with np.errstate(over="ignore"):
            sources = [items, write("b.bin", binary(items.items()))]
        sources.append(write("g.txt", glove(items.items())))
        for source in sources:
            message = refused(source, ["ok", "dog"])
            assert message.startswith(
                "The vector of 'dog' in word_vectors contains NaN or infinity."
            )

    def test_zero(self, write: Callable[[str, bytes], Path]) -> None:
        items = {"ok": [1.0, 1.0], "dog": [0.0, -0.0], "cow": [0.0, 0.0]}
        for source in (items, write("n.npz", as_npz(items.items(), np.float16))):
            message = refused(source, ["ok", "dog"])
            assert message.startswith("The vector of 'dog' in word_vectors is zero")
        assert "'dog' (and 1 more)" in refused(items, ["ok", "dog", "cow"])

    @pytest.mark.parametrize(
        "row",
        ["abc", ["a", "b"], 3.0, [], [[1.0, 2.0]], [1, [2, 3]], [1j, 2], [True, False], object()],
    )
    def test_not_a_row_of_numbers(self, row: Any) -> None:
        message = refused({"cat": row})
        assert message.startswith(
            "The vector of 'cat' in word_vectors must be a row of numbers; got "
        )

    @pytest.mark.parametrize(
        ("pair", "says"),
        [
            ((["cat", "dog"], np.ones((3, 2))), "has 2 words and 3 vectors"),
            ((["cat", "dog"], [[1.0, 2.0]]), "has 2 words and 1 vectors"),
            (
                (["cat", "dog"], np.ones(2)),
                "must have 2 dimensions, with one row per word; it has 1",
            ),
            (
                (np.ones((2, 2)), ["cat", "dog"]),
                "must be (words, matrix): a list of strings, and one row per word",
            ),
            (("a.bin", "b.bin"), "must be (words, matrix)"),
            ((3, 4), "must be (words, matrix)"),
        ],
    )
    def test_pairs(self, pair: Any, says: str) -> None:
        assert says in refused(pair)

    def test_no_word_in_common(self, write: Callable[[str, bytes], Path]) -> None:
        items = {"Cat": [1.0, 2.0], "Dog": [3.0, 4.0], "Cow": [1.0, 1.0], "Ox": [1.0, 1.0]}
        files = [
            write("b.bin", binary(items.items())),
            write("w.txt", word2vec(items.items())),
            write("g.txt", glove(items.items())),
            write("n.npz", as_npz(items.items())),
        ]
        for source in (items, KeyedVectors(items), pairs(items), *files):
            message = refused(source, ["cat", "dog"])
            assert message.startswith("None of the 2 words has a vector in word_vectors")
            assert "(words: 'cat', 'dog'; vectors: 'Cat', 'Dog', 'Cow')" in message
        assert "(words: 'cat', 'dog')" in refused(items.get)


class TestBrokenFiles:
    def test_missing(self, tmp_path: Path) -> None:
        message = refused(tmp_path / "no.bin")
        assert (
            message
            == f"The file '{tmp_path / 'no.bin'}' of word_vectors does not exist. Check the path."
        )
        assert "does not exist" in refused("glove of mine")
        assert "cannot be read" in refused("nul\0")
        assert "cannot be read" in refused(tmp_path)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "is empty"),
            (b"\n\n", "line 1 is not a word followed by numbers"),
            (b"once upon a time\n", "line 1 is not a word followed by numbers"),
            (b"in 2020\nthere was a cat\n", "line 2, is not a word followed by 1 numbers: 'cat'"),
            (b"cat,0.1,0.2\n", "line 1 is not a word followed by numbers"),
            (b"cat 1 2\ndog 1 two\n", "line 2, is not a word followed by 2 numbers: 'two' is no"),
            (bytes(range(256)), "line 1 is not a word followed by numbers"),
            (b"0 5\n", "contains no vectors"),
            (b"5 0\n", "contains no vectors"),
            (b"3 2\ncat 1 2\ndog 3 4\n", "says 3 vectors, but it ends after 2 (at line 3)"),
            (b"3 2\n", "says 3 vectors, but it ends after 0 (at line 1)"),
            (b"9 2\n" + b"\0" * 70_000, "there is no word after 0 vectors"),
            (b"\x80\x04\x95 a pickle.", "is a pickle, which could run arbitrary code"),
            (b"\xba\x16\x4f\x2f\x0c\0\0\0", "is a fastText model"),
            (b"PK\x03\x04 no zip", "is damaged or incomplete"),
            (b"\x1f\x8b no gzip", "is damaged or incomplete"),
            (binary(VECTORS.items()) + b"more", "has more data than the 6 vectors of 3 numbers"),
        ],
    )
    def test_not_vectors(
        self, content: bytes, says: str, write: Callable[[str, bytes], Path]
    ) -> None:
        message = refused(write("some.bin", content))
        assert "some.bin" in message
        assert says in message

    def test_a_matrix_without_words(self, tmp_path: Path) -> None:
        np.save(tmp_path / "m.npy", np.ones((2, 2)))
        assert "is a matrix without words. Pass the pair" in refused(tmp_path / "m.npy")

    def test_cut_short(self, write: Callable[[str, bytes], Path]) -> None:
        """Wherever a binary, gzipped or npz file is cut."""
        small = [("cat", [1.0, 2.0]), ("dog", [3.0, 4.0])]
        whole = binary(small, newline=b"")
        assert "it ends after 1 (the last is that of 'cat')" in refused(write("b.bin", whole[:-1]))
        for content in (whole, gzip.compress(glove(small)), as_npz(small)):
            for end in range(1, len(content)):
                refused(write("cut", content[:end]))

    def test_one_byte_wrong(self, write: Callable[[str, bytes], Path]) -> None:
        """Nothing but a refusal comes of damage, or vectors that can be used."""
        small = [("cat", [1.0, 2.0]), ("dog", [3.0, 4.0])]
        for content in (binary(small), word2vec(small), gzip.compress(glove(small)), as_npz(small)):
            for at in range(len(content)):
                changed = bytearray(content)
                changed[at] ^= 0xA5
                path = write("changed", bytes(changed))
                with contextlib.suppress(InvalidInput):
                    ids, vectors = read_vectors(path, ["cat", "dog"])
                    assert ids.size == len(vectors) > 0
                    assert np.isfinite(vectors).all()

    @pytest.mark.parametrize(
        ("arrays", "says"),
        [
            (
                dict(words=np.array(["cat", None]), vectors=np.ones((2, 2))),
                "contains 'words' as Python objects, which only pickle can read",
            ),
            (dict(a=np.array(["cat"], object), b=np.ones((1, 2))), "'a' as Python objects"),
            (dict(words=np.array(["cat"])), "It contains words (<U3, 1-d)."),
            (
                dict(a=np.array(["x"]), b=np.ones((1, 2)), c=np.ones((1, 2))),
                "It contains a (<U1, 1-d), b",
            ),
            (dict(words=np.ones(2), vectors=np.ones((2, 2))), "'words' as a 1-d array of strings"),
            (
                dict(words=np.array(["a"]), vectors=np.ones(1)),
                "'vectors' as a 2-d array of numbers",
            ),
            (
                dict(words=np.array(["a"]), vectors=np.ones((3, 2))),
                "contains 1 words and 3 vectors",
            ),
            (dict(words=np.array(["a"]), vectors=np.ones((1, 0))), "an array with empty rows"),
        ],
    )
    def test_npz(self, arrays: Any, says: str, write: Callable[[str, bytes], Path]) -> None:
        assert says in refused(write("v.npz", npz(**arrays)), ["a"])

    def test_a_zip_of_something_else(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "glove.zip", "w") as archive:
            archive.writestr("glove.txt", glove(VECTORS.items()))
        assert "Unpack it and pass the file inside" in refused(tmp_path / "glove.zip")

    def test_a_header_that_lies_takes_no_memory(self, tmp_path: Path) -> None:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1000000000000), }\n"
        vectors = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0" * 80
        with zipfile.ZipFile(io.BytesIO(npz(words=np.array(["cat", "dog"])))) as archive:
            words = archive.read("words.npy")
        with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
            archive.writestr("words.npy", words)
            archive.writestr("vectors.npy", vectors)
        (tmp_path / "v.bin").write_bytes(b"999999999999 999999999\ncat \0\0\0\0")
        tracemalloc.start()
        assert "incomplete" in refused(tmp_path / "v.npz")
        assert "incomplete" in refused(tmp_path / "v.bin")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 50e6


def by_hand(vectors: Any, threshold: float, max_related: int) -> tuple[list[list[int]], int]:
    """Rows of related words and the number of dropped ones, pair by pair."""
    rows = np.asarray(vectors, np.float32).astype(float).tolist()

    def dot(x: list[float], y: list[float]) -> float:
        return math.fsum(a * b for a, b in zip(x, y, strict=True))

    square = [dot(row, row) for row in rows]
    found = [
        [
            j
            for j, y in enumerate(rows)
            if i != j and dot(x, y) / math.sqrt(square[i] * square[j]) > threshold
        ]
        for i, x in enumerate(rows)
    ]
    dropped = [len(row) + 1 > max_related for row in found]
    return [[] if d else row for d, row in zip(dropped, found, strict=True)], sum(dropped)


def names(n: int) -> list[str]:
    return [f"w{i}" for i in range(n)]


WHOLE = st.integers(-3, 3).map(float)
ANY = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    dim = draw(st.integers(1, 6))
    number = draw(st.sampled_from([WHOLE, ANY, st.one_of(WHOLE, ANY)]))
    row = st.lists(number, min_size=dim, max_size=dim).filter(any)
    return draw(st.lists(row, min_size=1, max_size=14))


class TestRelated:
    def test_the_rule(self) -> None:
        """Words without a vector are alone; a word with too many related ones keeps none."""
        vectors = {"a": [1, 0, 0], "b": [4, 1, 0], "c": [4, -1, 0], "d": [0, 0, 1], "e": [0, 1, 5]}
        words = ["x", "e", "a", "y", "b", "c", "d"]
        found = related(words, vectors, threshold=0.9)
        assert rows_of(found) == [[], [6], [4, 5], [], [2], [2], [1]]
        assert (found.n_vectors, found.n_dropped) == (5, 0)
        assert found.ptr.dtype == np.int64
        assert found.word.dtype == np.int32
        dropped = related(words, vectors, threshold=0.9, max_related=2)
        assert rows_of(dropped) == [[], [6], [], [], [2], [2], [1]]
        assert (dropped.n_vectors, dropped.n_dropped) == (5, 1)
        none = related(words, vectors, threshold=0.9, max_related=1)
        assert rows_of(none) == [[]] * 7
        assert none.n_dropped == 5

    @pytest.mark.parametrize(
        ("vectors", "threshold"),
        [
            ([[1, 0, 0, 0], [1, 1, 1, 1]], 0.5),
            ([[1, 1, 0], [1, 0, 1]], 0.5),
            ([[3, 4], [1, 0]], 0.6),
            ([[1, 0], [0, 1]], 0.0),
            ([[1, 1, 0], [-1, 0, 1]], -0.5),
        ],
    )
    @pytest.mark.parametrize("scale", [1.0, 2.0**-100, 2.0**100])
    def test_strictly_greater(self, vectors: Any, threshold: float, scale: float) -> None:
        source = (names(2), scale * np.array(vectors, np.float32))
        assert rows_of(related(names(2), source, threshold)) == [[], []]
        assert related(names(2), source, threshold, max_related=1).n_dropped == 0
        below = float(np.nextafter(threshold, -1))
        assert rows_of(related(names(2), source, below)) == [[1], [0]]

    def test_the_same_direction(self) -> None:
        source = {"w0": [0.1, 0.7, -3], "w1": [0.2, 1.4, -6], "w2": [-0.1, -0.7, 3]}
        for threshold in (-0.999, 0, 0.5, 0.999999):
            assert rows_of(related(names(3), source, threshold)) == [[1], [0], []]

    def test_blocks_do_not_matter_at_the_threshold(self) -> None:
        """Pairs whose cosine is the threshold but for the last bits of float32."""
        rng = np.random.default_rng(0)
        n, dim = 60, 300
        basis, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
        base, other = basis[:n], basis[n : 2 * n]
        near = 0.5 * base + math.sqrt(0.75) * other
        vectors = np.concatenate([base, near]).astype(np.float32)
        results = [
            related(names(2 * n), (names(2 * n), vectors), 0.5, block_rows=rows)
            for rows in (1, 7, None)
        ]
        rows = rows_of(results[0])
        assert 10 < sum(map(len, rows)) / 2 < n - 10, "some on either side"
        assert rows == by_hand(vectors, 0.5, 20)[0]
        for result in results[1:]:
            assert rows_of(result) == rows
        for i, row in enumerate(rows):
            assert all(i in rows[j] for j in row), "cosine is symmetric"
        none = related(names(2 * n), (names(2 * n), vectors), 0.5, max_related=1)
        assert none.word.size == 0
        assert none.n_dropped == sum(map(bool, rows)), "pairs close to the threshold count too"

    @given(
        vectors=matrices(),
        threshold=st.one_of(st.sampled_from([0.0, 0.5, -0.5, 0.6, 0.8]), st.floats(-0.999, 0.999)),
        max_related=st.sampled_from([1, 2, 3, 20]),
        block_rows=st.sampled_from([None, 1, 2, 7]),
    )
    @example(vectors=[[1.0, 0.0], [1.0, 1e-30]], threshold=0.5, max_related=20, block_rows=None)
    @example(vectors=[[3e38, 3e38], [1e-45, 1e-45]], threshold=0.9, max_related=20, block_rows=1)
    def test_against_every_pair_by_hand(
        self,
        vectors: list[list[float]],
        threshold: float,
        max_related: int,
        block_rows: int | None,
    ) -> None:
        n = len(vectors)
        source = (names(n), np.array(vectors, np.float32))
        found = related(names(n), source, threshold, max_related, block_rows=block_rows)
        rows, n_dropped = by_hand(vectors, threshold, max_related)
        assert rows_of(found) == rows
        assert found.n_dropped == n_dropped
        assert found.n_vectors == n

    def test_a_low_threshold_takes_no_more_memory(self) -> None:
        n = 3_000
        vectors = np.random.default_rng(1).random((n, 8), dtype=np.float32)
        tracemalloc.start()
        found = related(names(n), (names(n), vectors), threshold=-0.9, block_rows=1_000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.n_dropped == n
        assert found.word.size == 0
        assert peak < 45e6, "a block of cosines takes 12 MB, a list of its pairs 24 MB and more"

    @pytest.mark.parametrize("threshold", [1, -1, 1.5, math.nan, math.inf, "0.5", None, True])
    def test_threshold(self, threshold: Any) -> None:
        with pytest.raises(InvalidInput, match="must be a number above -1 and below 1; got") as e:
            related(["cat"], {"cat": [1.0]}, threshold=threshold)
        assert str(e.value).startswith("threshold of related ")

    @pytest.mark.parametrize("max_related", [0, -1, 2.5, None, True])
    def test_max_related(self, max_related: Any) -> None:
        with pytest.raises(
            InvalidInput, match="max_related of related must be a whole number of at"
        ):
            related(["cat"], {"cat": [1.0]}, max_related=max_related)

    def test_parameters_are_checked_before_a_file_is_read(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="threshold"):
            related(["cat"], tmp_path / "none.bin", threshold=2)

    def test_the_owner_is_named(self) -> None:
        with pytest.raises(InvalidInput, match="in vectors of mine"):
            related(["cat"], {"dog": [1.0]}, owner="vectors of mine")


@pytest.fixture(scope="module")
def glove_slice() -> Path:
    """A slice of GloVe 6B: in COTERIE_EMBEDDINGS, else ../shared/embeddings beside the checkout."""
    folder = Path(os.environ.get("COTERIE_EMBEDDINGS") or ROOT.parent / "shared" / "embeddings")
    path = folder / "glove_100d.npz"
    if not path.is_file():
        pytest.skip("no word vectors here: set COTERIE_EMBEDDINGS to the folder of glove_100d.npz")
    return path


@pytest.mark.data
class TestGlove:
    WORDS = ("movie", "film", "cinema", "stock", "shares", "zzzzzz", "Movie", "banana")

    def test_related_words(self, glove_slice: Path) -> None:
        found = related(self.WORDS, glove_slice, threshold=0.6)
        assert found.n_vectors == 6
        assert rows_of(found) == [[1, 2], [0, 2], [0, 1], [4], [3], [], [], []]

    def test_a_thousand_words_by_matrix_product(self, glove_slice: Path) -> None:
        with np.load(glove_slice) as arrays:
            words = arrays["words"][::85].tolist()
            vectors = arrays["vectors"][::85].astype(float)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosine = unit @ unit.T
        np.fill_diagonal(cosine, -1)
        assert np.abs(cosine - 0.5).min() > 1e-12, "no pair is too close to call"
        wanted = [np.flatnonzero(row > 0.5).tolist() for row in cosine]
        dropped = [len(row) >= 20 for row in wanted]
        found = related(words, glove_slice)
        assert rows_of(found) == [[] if d else w for d, w in zip(dropped, wanted, strict=True)]
        assert found.n_dropped == sum(dropped) > 0
        assert found.word.size > 100


def test_allowed_is_a_table_for_estimators() -> None:
    assert {name: rule(None) is None for name, rule in embeddings.ALLOWED.items()} == {
        "threshold": False,
        "max_related": False,
    }
    assert embeddings.ALLOWED["threshold"](0.5) is None
    assert embeddings.ALLOWED["max_related"](20) is None
