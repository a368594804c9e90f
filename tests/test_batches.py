"""Files that are read in batches: the same rows as when they are read at once, whatever the batches."""

from __future__ import annotations

import codecs
import gc
import gzip
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from coterie.embedders import resolve
from coterie.errors import InvalidInput
from coterie.large import sample as sample_room
from coterie.large.sample import Drawn, Sample, draw
from coterie.text import (
    _pieces,
    _which_files,
    batch_files,
    batches,
    frequencies,
    readers,
    vocabulary,
    writing,
)
from coterie.text._parquet import row_groups
from coterie.text._which_files import PREDICT, size_of, too_large_for_memory
from coterie.text.batch_files import TableFile
from coterie.text.batches import Batches, read_piece
from coterie.text.frequencies import Frequencies
from coterie.text.prune import prune
from coterie.text.tokenize import Tokenizer

TEXTS = [
    'a "quoted" word, and more',
    "two\nlines",
    "",
    "plain words here",
    '5" disk of the drive',
    "naïve café",
    '"',
    "= 1 + 1",
    "line\r\nend",
] * 5


def put(folder: Path, kind: str, texts: list[str] = TEXTS) -> Path:
    path = folder / f"texts.{kind}"
    table = pl.DataFrame({"id": [f"{i:03d}" for i in range(len(texts))], "text": texts})
    if kind.startswith("csv"):
        content = table.write_csv().encode()
    elif kind.startswith("tsv"):
        content = table.write_csv(separator="\t").encode()
    elif kind.startswith("jsonl"):
        content = table.write_ndjson().encode()
    elif kind == "parquet":
        table.write_parquet(path, row_group_size=7)
        return path
    else:
        content = "".join(f"{text.splitlines()[0] if text else ''}\n" for text in texts).encode()
    path.write_bytes(gzip.compress(content) if kind.endswith(".gz") else content)
    return path


@pytest.fixture(params=[90, 400, 10**6])
def piece(request: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(_pieces, "PIECE", request.param)
    monkeypatch.setattr(batches, "ROWS", max(3, request.param // 30))
    return int(request.param)


KINDS = ["csv", "tsv", "jsonl", "txt", "parquet", "csv.gz", "jsonl.gz"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_rows_as_at_once(tmp_path: Path, piece: int, kind: str) -> None:
    path = put(tmp_path, kind)
    whole = readers.read(path, text="text")
    read = Batches(path, text="text")
    for slim in (False, True):
        rows = list(read.read(slim))
        assert [text for some in rows for text in some.texts] == whole.texts
        assert max(map(len, rows)) <= batches.ROWS or kind.startswith("jsonl")
        if kind != "txt":
            assert [id for some in rows for id in some.ids or []] == whole.ids


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_table_as_at_once(
    tmp_path: Path, piece: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells go back as they came, with one header, and a parquet file in small row groups."""
    monkeypatch.setattr(batch_files, "GROUP", 20)
    path, out = put(tmp_path, kind), tmp_path / "out"
    whole = readers.read(path, text="text")
    numbers = np.arange(len(whole))
    at = 0
    with TableFile(out, kind.removesuffix(".gz")) as table:
        for rows in Batches(path, text="text").read():
            some = numbers[at : at + len(rows)]
            table.add(rows, {"cluster": some, "name": [f"n{i}" for i in some]})
            at += len(rows)
    added = {"cluster": numbers, "name": [f"n{i}" for i in numbers]}
    if kind == "parquet":
        assert pl.read_parquet(out).equals(whole.with_columns(added))
        assert max(n_rows for n_rows, _ in row_groups(out)) <= 20
        assert not list(tmp_path.glob("*.part-*"))
    else:
        assert out.read_bytes() == writing.table_bytes(whole, added, table.kind)


def test_quotes_that_are_no_quotes(tmp_path: Path, piece: int) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,text\n" + '1,a 5" disk\n2,"two\nlines, 3"" wide"\n' * 30)
    found = [text for rows in Batches(path, text="text").read() for text in rows.texts]
    assert found == ['a 5" disk', 'two\nlines, 3" wide'] * 30


def test_what_the_first_rows_decide_holds_for_all(tmp_path: Path, piece: int) -> None:
    """Separator, encoding and header; a column of numbers in some batches stays a column of texts."""
    path = tmp_path / "x.csv"
    lines = ["code;text", *["1;café au lait"] * 40, *["7;12"] * 40, *["x;naïve words"] * 40]
    path.write_bytes("\n".join(lines).encode("latin-1"))
    read = Batches(path, text="text")
    texts = [text for rows in read.read() for text in rows.texts]
    assert texts == ["café au lait"] * 40 + ["12"] * 40 + ["naïve words"] * 40
    assert read.dialect is not None
    assert read.dialect.separator == ";"
    assert read.dialect.encoding == "utf-8"  # a part might not be encodable


LATER = {
    "plain first": (
        b"plain words\n",
        "un café".encode("cp1252"),
        "0xE9",
        "while all rows before are",
    ),
    "another alphabet": (
        b"plain words\n",
        "Сегодня хорошая погода и мы пойдём гулять в парк у реки".encode("cp1251"),
        "0x",
        "as in encoding='cp1251'",
    ),
    "damaged": ("un café\n".encode(), b"un caf\xe9", "0xE9", "the encoding of its first rows"),
    "plain, then damaged": (
        b"plain words\n",
        "un café ".encode() * 20 + b"\xe9",
        "0xE9",
        "the encoding of its first rows",
    ),
    "cp1252": ("un café\n".encode("cp1252"), b"\x81", "0x81", "as in encoding='latin-1'"),
}


@pytest.mark.parametrize("kind", ["csv", "txt"])
@pytest.mark.parametrize("name", LATER)
def test_later_rows_in_another_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Nobody asked for the encoding, so it cannot be left out; naming the one that is said helps."""
    monkeypatch.setattr(_pieces, "PIECE", 500)
    first, last, byte, says = LATER[name]
    path = tmp_path / f"x.{kind}"
    path.write_bytes(b"text\n" + first * 90 + last * 3 + b"\n")
    with pytest.raises(
        InvalidInput, match=rf"x\.{kind} after row \d+ holds the byte {byte}"
    ) as refused:
        list(Batches(path, text="text").read())
    assert says in str(refused.value)
    assert "eave out" not in str(refused.value)
    if "damaged" in name:  # any other encoding would read é as Ã©
        assert "encoding=" not in str(refused.value)
        return
    assert refused.value.parameter == "encoding"  # an option on the command line
    (named,) = re.findall("encoding='(.*?)'", str(refused.value))
    assert len(list(Batches(path, text="text", encoding=named).read())) > 1


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt", "csv.gz"])
@pytest.mark.parametrize(
    ("encoding", "asked"),
    [
        ("utf-16", None),
        ("utf-32", None),
        ("utf-16-le", None),
        ("utf-16-be", "utf-16-be"),
        ("utf-16", "UTF-16"),
        ("cp500", "cp500"),  # its line ends are another byte
    ],
)
def test_encodings_whose_line_ends_are_no_single_byte(
    tmp_path: Path,
    piece: int,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    encoding: str,
    asked: str | None,
) -> None:
    """A piece may end within a character; the byte 0x0A is in many characters, such as \u010a."""
    monkeypatch.setattr(_pieces, "PIECE", piece + 111)  # no multiple of four, and a row fits
    letters = "naïve" if encoding == "cp500" else "naïve \u010a \u0a0a 😀"
    texts = [f"row {i}, {letters} words" for i in range(200)]
    path = put(tmp_path, kind, texts)
    raw = path.read_bytes()
    content = gzip.decompress(raw) if kind.endswith(".gz") else raw
    content = content.decode().encode(encoding)
    path.write_bytes(gzip.compress(content) if kind.endswith(".gz") else content)
    read = Batches(path, text="text", encoding=asked)
    for _ in range(2):
        assert [text for rows in read.read() for text in rows.texts] == texts
    noted = [note for note in read.notes if "no byte order mark" in note]
    assert len(noted) == (encoding == "utf-16-le")
    if read.dialect is not None:
        assert read.dialect.encoding == "utf-8"
        assert read.dialect.mark == codecs.BOM_UTF8


def test_files_of_several_encodings(tmp_path: Path, piece: int) -> None:
    for name, encoding in (("a", "utf-16"), ("b", "cp1252"), ("c", "utf-8")):
        text = "text\n" + "un café à la crème\n" * 30
        (tmp_path / f"{name}.csv").write_bytes(text.encode(encoding))
    read = Batches(str(tmp_path / "*.csv"), text="text")
    assert {text for rows in read.read() for text in rows.texts} == {"un café à la crème"}


def test_a_wide_encoding_that_is_damaged(tmp_path: Path, piece: int) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(("text\n" + "some words\n" * 90).encode("utf-16") + b"\x00\xd8" + b"\n\0" * 9)
    with pytest.raises(InvalidInput, match=r"x\.csv is not valid utf-16\. Leave out encoding"):
        list(Batches(path, text="text", encoding="utf-16").read())
    with pytest.raises(InvalidInput, match=r"x\.csv is damaged: .* not valid utf-16\. Copy or"):
        list(Batches(path, text="text").read())


def test_objects_of_several_kinds(tmp_path: Path, piece: int) -> None:
    path = tmp_path / "x.jsonl"
    rows: list[dict[str, Any]] = [{"text": "some words", "n": 1}] * 30
    rows += [{"n": "two"}] * 30 + [{"text": 12}] * 30
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = [text for some in Batches(path, text="text").read() for text in some.texts]
    assert texts == ["some words"] * 30 + [""] * 30 + ["12"] * 30


def test_several_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pl.DataFrame({"text": [f"{name} words", "more"]}).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    rows = list(Batches(str(tmp_path / "*.parquet")).read())
    assert [text for some in rows for text in some.texts] == ["a words", "more", "b words", "more"]
    pl.DataFrame({"text": ["x"], "more": [1]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InvalidInput, match=r"other columns than a\.parquet"):
        Batches(str(tmp_path / "*.parquet"))
    (tmp_path / "a.csv").write_text("id,text\n1,words here\n2,other words\n")
    (tmp_path / "b.csv").write_text("text,id\nwords here,1\nother words,2\n")
    with pytest.raises(InvalidInput, match=r"other columns than a\.csv"):
        list(Batches(str(tmp_path / "*.csv"), text="text").read())


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("name", ["br [1]", "a*b", "a?b", "a{b}"])
def test_names_that_look_like_patterns(tmp_path: Path, kind: str, name: str) -> None:
    """A file is read and written under its own name, whatever characters it has."""
    if sys.platform == "win32" and set("*?") & set(name):
        pytest.skip("Windows has no such names")
    path, out = tmp_path / f"{name}.{kind}", tmp_path / f"{name} out.{kind}"
    put(tmp_path, kind).rename(path)
    texts = readers.read(path, text="text").texts
    for data in (path, str(path), [path, path]):
        rows = list(Batches(data, text="text").read())
        files = 2 if isinstance(data, list) else 1
        assert [text for some in rows for text in some.texts] == list(texts) * files
    with TableFile(out, kind) as table:
        for some in Batches(path, text="text").read():
            table.add(some, {"cluster": np.arange(len(some))})
    assert list(readers.read(out, text="text").texts) == list(texts)
    if kind == "parquet":
        (piece,) = Batches(path, text="text").pieces(1000)
        assert read_piece(piece)["text"].to_list() == TEXTS


def test_what_cannot_be_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 not at all PAR1")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"text\nsome words\n" * 99)[:-9])
    for data, says in [
        (tmp_path / "x.xlsx", "cannot be read in batches"),
        (tmp_path, "cannot be read in batches"),
        (tmp_path / "none.csv", "There is no file"),
        (["a text"], "pass a path"),
        ("-", "standard input"),
        (tmp_path / "x.parquet", "not a readable parquet file"),
        (tmp_path / "empty.csv", "nothing to cluster"),
        (tmp_path / "cut.csv.gz", r"gzip cannot unpack it\. Copy or download it again"),
    ]:
        with pytest.raises(InvalidInput, match=says):
            Batches(data)
    monkeypatch.setattr(_pieces, "PIECE", 50)
    content = "id,text\n" + "0,a\n" * 9 + '1,"never closed\n' + "more words\n" * 200
    (tmp_path / "open.csv").write_text(content)
    with pytest.raises(InvalidInput, match="A quote may not be closed"):
        list(Batches(tmp_path / "open.csv").read())
    pl.DataFrame({"text": ["some words"] * 9999}).write_parquet(tmp_path / "big.parquet")
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "100kB")
    with pytest.raises(InvalidInput, match="smaller row groups"):
        Batches(tmp_path / "big.parquet")


def test_options_for_other_files(tmp_path: Path) -> None:
    """A parquet file has no header to look for, and its texts have one encoding."""
    path = put(tmp_path, "parquet")
    with pytest.raises(InvalidInput, match="header=True only applies to csv and tsv files"):
        Batches(path, text="text", header=True)
    notes = Batches(path, text="text", encoding="cp1252").notes
    assert "encoding='cp1252' has no effect on parquet files." in notes
    assert notes[0] in readers.read(path, text="text", encoding="cp1252").notes


@pytest.mark.parametrize(
    ("line", "says"),
    [("5", "a number"), ("[1]", "a list"), ("null", "null"), ("true", "true")],
)
def test_a_line_of_json_that_is_no_object(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "some words"}\n' * 6 + line + "\n")
    expected = rf'^Line 7 of d\.jsonl is {says}\. Every line must be an object such as {{"text"'
    for read in (readers.read, lambda path: list(Batches(path).read())):
        with pytest.raises(InvalidInput, match=expected):
            read(path)


def test_which_files_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [put(tmp_path, kind) for kind in ("csv", "parquet", "jsonl.gz")]
    assert not any(map(too_large_for_memory, paths))
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "2kB")
    assert all(map(too_large_for_memory, paths))
    assert not too_large_for_memory(["a text"])
    assert not too_large_for_memory(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "txt", "jsonl", "jsonl.gz", "parquet"])
def test_many_short_rows_take_memory_for_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A million rows of 20 bytes: they can be read in 300 MB, and are clustered in 950 MB."""
    lines = {"jsonl": '{"text": "red apple"}\n', "txt": "some red apple pies\n"}
    line = lines.get(kind.split(".")[0], "1234567,red apple pie\n")
    path = tmp_path / f"x.{kind}"
    content = line.encode() * 1_000_000
    if kind == "parquet":
        pl.DataFrame({"text": ["red apple pie"]}).select(
            pl.col("text").repeat_by(1_000_000).explode()
        ).write_parquet(path)
    else:
        path.write_bytes(gzip.compress(content, 1) if kind.endswith("gz") else content)
    n_rows, n_bytes = size_of(path)
    assert n_rows == 1_000_000
    assert kind == "parquet" or n_bytes == len(content)
    for limit, is_too_large in ("800MB", True), ("1300MB", False):
        monkeypatch.setenv("COTERIE_MAX_MEMORY", limit)
        assert too_large_for_memory(path) == is_too_large
        assert not too_large_for_memory(path, PREDICT)


def test_a_small_file_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts, it would take no less: what coterie takes by itself is no reason."""
    path = tmp_path / "small.csv"
    path.write_text("text\n" + "oven bread\n" * 300)
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "50MB")
    assert not too_large_for_memory(path)
    assert not too_large_for_memory(path, PREDICT, 10**9)


@pytest.mark.parametrize("piece", [40, 10**6])
@pytest.mark.parametrize(
    ("content", "n_rows"),
    [
        ('id,text\n1,"red\napple\npie"\n2,oven\n3,"a ""b""\n"\n', 4),
        ('id;text\r\n1;"red\r\napple"\r\n2;oven', 3),
        ('id,text\n1,5" tape\n2,oven\n3,more\n', 4),
        ("text\n", 1),
        ("", 0),
    ],
)
def test_line_ends_in_quotes_end_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, n_rows: int, piece: int
) -> None:
    monkeypatch.setattr(_pieces, "PIECE", piece)
    monkeypatch.setattr(_which_files, "_AT_ONCE", 7)
    (tmp_path / "x.csv").write_bytes(content.encode())
    assert size_of(tmp_path / "x.csv") == (n_rows, len(content))


# ---------------------------------------------------------------- words
def test_the_vocabulary_is_that_of_all_texts() -> None:
    tokenizer = Tokenizer(language=None, stop_words=None, segmenter="bigrams")
    texts = [f"word{i % 7} word{i % 11} only{i}" for i in range(60)]
    seen = Frequencies()
    for first in range(0, 60, 13):
        found = frequencies.split(tokenizer, texts[first : first + 13])
        seen.add(found.words, found.df, found.n_texts)
    words, notes = seen.vocabulary(2, 20)
    ptr, ids, every = tokenizer.count(texts)
    expected = prune(ptr, ids, every, min_df=2, max_df=20)
    assert sorted(words) == sorted(expected[1])
    assert notes == [str(expected[2])]
    found = frequencies.split(tokenizer, texts[:3])
    numbers = frequencies.numbered(found, {word: i for i, word in enumerate(words)})
    told = [words[i] if i >= 0 else None for i in numbers]
    assert told[:3] == ["word0", None, None] or told[:2] == ["word0", "word0"]


def test_forgotten_words_are_never_counted_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "MOST_COUNTED", 50)
    monkeypatch.setattr(frequencies, "MOST_WORDS", 20)
    rng = np.random.default_rng(0)
    seen, true = Frequencies(), dict.fromkeys(map(str, range(500)), 0)
    for _ in range(40):
        words = sorted({str(int(w)) for w in rng.zipf(1.5, 60) if w < 500})
        seen.add(words, np.ones(len(words), np.int64), 1)
        for word in words:
            true[word] += 1
        assert len(seen.df) <= 50
    assert all(seen.df[word] >= true[word] for word in seen.df)
    assert all(word in seen.df for word, n in true.items() if n > seen.missed)
    words, notes = seen.vocabulary(1, 40)
    assert len(words) == 20
    assert "Only the 20 most common" in notes[1]


def test_a_sample_does_not_keep_the_other_texts() -> None:
    """polars shares the texts of a frame with its rows; a few rows of each batch would keep them all."""
    frame = pl.DataFrame({"text": [f"{i} " + "a long text " * 50 for i in range(500)]})
    few = batches.some_rows(frame, ["text"], np.array([3, 4]))
    assert few.equals(frame[[3, 4]])
    assert _held(few) < 5_000 < _held(frame[[3, 4]])
    sample = Sample(5, 3, ["text"])
    for _ in range(9):
        sample.add(readers.from_piece(frame, "text", None))
    assert _held(sample.frame()) < 10_000


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (
            [1, 2],
            [1.5],
            [1.0, 2.0, 1.5],
        ),  # not texts, which nothing can be compared with as numbers
        ([1, 2], [2.0], [1, 2, 2]),
        ([2**60 + 1], [1.5], [str(2**60 + 1), "1.5"]),
        ([1], ["a"], ["1", "a"]),
        ([None], [3], [None, 3]),
        ([[1]], ["a"], ["[1]", "a"]),
    ],
)
def test_a_sample_of_batches_whose_columns_differ(first: Any, second: Any, found: Any) -> None:
    sample = Sample(9, 3, ["text", "^score.*$"])
    for values in (first, second):
        frame = pl.DataFrame({"text": ["words"] * len(values), "^score.*$": values})
        sample.add(readers.from_piece(frame, "text", None))
    assert sample.frame()["^score.*$"].to_list() == found


def _held(frame: pl.DataFrame) -> int:
    """Bytes that a column of texts keeps alive."""
    array = frame.to_arrow(compat_level=pl.CompatLevel.newest())["text"].chunks[0]
    return sum(buffer.size for buffer in array.buffers() if buffer is not None)


def test_a_sample_does_not_depend_on_the_batches() -> None:
    frame = pl.DataFrame({"text": [f"text {i}" for i in range(1000)]})
    taken = []
    for step in (1000, 130, 7):
        sample = Sample(50, 3, ["text"])
        for first in range(0, 1000, step):
            sample.add(readers.from_piece(frame.slice(first, step), "text", None))
        taken.append(sample.frame()["text"].to_list())
        assert [f"text {i}" for i in sample.rows] == taken[-1]
        assert sample.seen == 1000
    assert taken[0] == taken[1] == taken[2]
    assert len(taken[0]) == 50


def test_a_sample_of_long_texts_has_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in memory: its rows are the first by their numbers that fit, however they were read."""
    monkeypatch.setattr(sample_room, "MOST_CHARACTERS", 1000)
    monkeypatch.setattr(sample_room, "FEWEST", 3)
    texts = ["x" * (10 + (i % 90 if i % 9 else 290)) for i in range(400)]
    frame = pl.DataFrame({"text": texts})
    for key in range(12):
        found = []
        for step in (1, 7, 33, 400):
            sample = Sample(300, key, ["text"])
            for first in range(0, 400, step):
                sample.add(readers.from_piece(frame.slice(first, step), "text", None))
            assert sample.frame()["text"].to_list() == [texts[i] for i in sample.rows]
            found.append(sample.rows.tolist())
        assert found[0] == found[1] == found[2] == found[3]
        assert 600 < sum(len(texts[i]) for i in found[0]) <= 1000
    monkeypatch.setattr(sample_room, "MOST_CHARACTERS", 1)
    sample = Sample(300, 3, ["text"])
    sample.add(readers.from_piece(frame, "text", None))
    assert len(sample.frame()) == 3


@pytest.mark.parametrize("seed", range(30))
def test_the_sample_of_partitions_is_that_of_one_file(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """A long text fills the sample of its partition, and may not be in that of all of them."""
    monkeypatch.setattr(sample_room, "MOST_CHARACTERS", 1000)
    monkeypatch.setattr(sample_room, "FEWEST", 3)
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 12, 300)
    size[rng.random(300) < 0.05] = rng.integers(200, 3000)
    n_rows = (300, 60)[seed % 2]
    frame = pl.DataFrame({"text": ["x" * n for n in size]})
    whole = Sample(n_rows, seed, ["text"])
    for some in frame.iter_slices(70):
        whole.add(readers.from_piece(some, "text", None))
    whole.frame()

    edges = np.sort(rng.integers(0, 301, rng.integers(1, 12)))
    parts = []
    for rows in np.split(np.arange(300), edges):
        parts.append(Drawn(draw(seed, rows), size[rows], rows, n_rows).thinned())
    while len(parts) > 1:  # as a tree, in any order
        one, other = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(one.joined(other))
    np.testing.assert_array_equal(np.sort(parts[0].rows), whole.rows)


def test_the_words_of_a_batch_do_not_stay_in_memory() -> None:
    """Nothing refers to itself: that would be kept until the garbage is collected, which may take long."""
    table = resolve("auto")
    assert table is not None
    garbage: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        gc.set_debug(gc.DEBUG_SAVEALL)
        frequencies.split(
            Tokenizer(language="en", segmenter="bigrams"), ["some words", "more of them"]
        )
        table.embed(["some words", "more of them"])
        vocabulary.learn([["some", "words"]], "test")
        gc.collect()
        garbage = [
            thing  # by type(): there may be weak references to what is gone, which isinstance would ask
            for thing in gc.garbage
            if type(thing) is defaultdict and "words" in thing
        ]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert garbage == []


def test_row_groups_of_long_texts_have_few_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the parts of a table are joined, groups of many long texts would not fit into memory."""
    monkeypatch.setattr(batch_files, "GROUP_BYTES", 1000)
    frame = pl.DataFrame({"text": [f"text {i} ".ljust(90) for i in range(100)]})
    with TableFile(tmp_path / "out.parquet", "parquet") as table:
        for first in range(0, 100, 20):
            rows = readers.from_piece(frame.slice(first, 20), "text", None)
            table.add(rows, {"cluster": np.arange(20)})
    assert 5 <= max(n for n, _ in row_groups(tmp_path / "out.parquet")) <= 12
    assert pl.read_parquet(tmp_path / "out.parquet")["text"].equals(frame["text"])


@pytest.mark.parametrize("keep", [0, 40, -20])
def test_a_damaged_file_is_named(tmp_path: Path, keep: int) -> None:
    """Not the intact one before it."""
    table = pl.DataFrame({"text": [f"word{i} other{i}" for i in range(2000)]})
    for name in ("a.parquet", "b.parquet"):
        table.write_parquet(tmp_path / name)
    whole = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[:keep])
    with pytest.raises(InvalidInput, match=r"^b\.parquet is not a readable parquet file") as error:
        Batches(str(tmp_path / "*.parquet"), "text")
    assert "a.parquet" not in str(error.value)


def test_a_damaged_schema_is_that_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the footer has row groups, and polars refuses the rest."""
    table = pl.DataFrame({"text": ["one word", "two words"]})
    for name in ("a.parquet", "b.parquet"):
        table.write_parquet(tmp_path / name)
    read = pl.scan_parquet

    def refused(path: Path, **how: Any) -> Any:
        if path.name == "b.parquet":
            raise pl.exceptions.ComputeError("out of specification")
        return read(path, **how)

    monkeypatch.setattr(pl, "scan_parquet", refused)
    with pytest.raises(InvalidInput, match=r"^b\.parquet cannot be read as a table"):
        Batches(str(tmp_path / "*.parquet"), "text")
