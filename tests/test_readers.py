"""Reading: every kind of input gives the same rows, and what is wrong is said in one sentence."""

import contextlib
import gzip
import io
import json
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coterie.errors import InvalidInput
from coterie.text import readers, writing
from coterie.text._files import errors_as_sentences
from coterie.text._kinds import kind_in_words
from coterie.text.readers import Rows, read

TEXTS = ["the first text", "a second, with a comma", 'a third "quoted"\nand cut', "größer 中文 😀"]
TABLE = {"id": [7, 8, 9, 10], "body": TEXTS, "stars": [1.5, 2.0, 3.25, 4.0]}


def write(path: Path, table: dict[str, list]) -> Path:
    frame = pl.DataFrame(table)
    name = path.name.removesuffix(".gz")
    buffer = io.BytesIO()
    if name.endswith(".csv"):
        frame.write_csv(buffer)
    elif name.endswith(".tsv"):
        frame.write_csv(buffer, separator="\t")
    elif name.endswith((".jsonl", ".ndjson")):
        frame.write_ndjson(buffer)
    elif name.endswith(".json"):
        buffer.write(json.dumps(frame.to_dicts()).encode())
    else:
        frame.write_parquet(buffer)
    raw = buffer.getvalue()
    path.write_bytes(gzip.compress(raw) if path.name.endswith(".gz") else raw)
    return path


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(data: object, **how: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(data, **how)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# ---------------------------------------------------------------- what can be read
@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ndjson", "json", "parquet"])
def test_every_kind_of_file_gives_the_same_table(tmp_path, ending, zipped):
    rows = read(write(tmp_path / f"x.{ending}{zipped}", TABLE))
    assert rows.texts == TEXTS
    assert rows.column == "body"
    assert rows.ids == [7, 8, 9, 10]
    assert rows.n_missing == 0
    assert any("'body'" in note for note in rows.notes)
    assert rows.frame.to_dict(as_series=False) == TABLE


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table],
    ids=["pandas", "polars", "lazy", "arrow"],
)
def test_frames_come_back_as_their_own_kind(make):
    rows = read(make(TABLE), text="body", id="id")
    assert rows.texts == TEXTS
    out = rows.with_columns({"cluster": np.array([0, 1, 0, -1]), "probability": np.ones(4)})
    assert type(out) is (pl.DataFrame if make is pl.LazyFrame else type(make(TABLE)))
    wrapped = nw.from_native(out, eager_only=True)
    assert wrapped.columns == ["id", "body", "stars", "cluster", "probability"]
    assert wrapped["cluster"].to_list() == [0, 1, 0, -1]


def test_pandas_keeps_its_index_and_is_not_changed():
    frame = pd.DataFrame(TABLE, index=[5, 3, 3, 1])
    out = read(frame, text="body").with_columns({"cluster": [0, 1, 2, 3]})
    assert list(out.index) == [5, 3, 3, 1]
    assert list(out["cluster"]) == [0, 1, 2, 3]
    assert list(frame.columns) == list(TABLE)


@pytest.mark.parametrize(
    "data",
    [
        TEXTS,
        tuple(TEXTS),
        iter(TEXTS),
        (text for text in TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS),
        pd.Series(TEXTS, name="body", index=list("abcd")),
        pl.Series(TEXTS),
        pl.Series("body", TEXTS),
        pd.Series(TEXTS, dtype="category"),
    ],
    ids=range(11),
)
def test_lists_and_series(data):
    rows = read(data)
    assert rows.texts == TEXTS
    assert len(rows) == 4
    out = nw.from_native(rows.with_columns({"cluster": [0, 1, 2, 3]}), eager_only=True)
    assert out[rows.column].to_list() == TEXTS
    assert out["cluster"].to_list() == [0, 1, 2, 3]


def test_text_lines_keep_their_numbers(tmp_path):
    rows = read(put(tmp_path / "x.txt", "one\r\n\r\n  \r\nfour\x0cstill four\r\n"))
    assert rows.texts == ["one", "", "", "four\x0cstill four"]
    assert rows.n_missing == 2
    assert read(put(tmp_path / "mac.txt", "one\rtwo\r")).texts == ["one", "two"]


def test_folder_of_texts(tmp_path):
    (tmp_path / "sub").mkdir()
    put(tmp_path / "b.txt", "second\nstill second")
    put(tmp_path / "a.txt", "first")
    put(tmp_path / "sub" / "c.txt.gz", gzip.compress("drïtte".encode("latin-1")))
    put(tmp_path / "notes.md", "not a text")
    rows = read(tmp_path)
    assert rows.texts == ["first", "second\nstill second", "drïtte"]
    assert rows.ids == ["a.txt", "b.txt", "sub/c.txt.gz"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "contains no .txt" in refused(empty)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("one, two\nthree\n", ["one, two", "three"]),
        ('{"text": "one"}\n{"text": "two"}\n', ["one", "two"]),
        ("id,text\n1,one\n2,two\n", ["one", "two"]),
        ("id\ttext\n1\tone\n2\ttwo\n", ["one", "two"]),
        ("Dear all, some text\nmore\n", ["Dear all, some text", "more"]),
        ("{not json\n", ["{not json"]),
    ],
)
def test_streams(content, texts):
    assert read(io.BytesIO(content.encode())).texts == texts
    assert read(io.StringIO(content)).texts == texts
    assert read(io.BytesIO(gzip.compress(content.encode()))).texts == texts


def test_standard_input():
    code = "from coterie.text.readers import read; print(read('-').texts)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"eins\nzwei\n", capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "['eins', 'zwei']"


# ---------------------------------------------------------------- encodings
SENTENCES = {
    "cp1252": "Der Käufer fragt, ob die größere Tür für 5 € schön wäre – “natürlich”.",
    "latin-1": "L'été dernier, la forêt était très sèche à côté du château.",
    "cp1251": "Сегодня хорошая погода, и мы пойдём гулять в парк у реки.",
    "shift_jis": "今日は天気がいいので、公園まで散歩に行きました。とても楽しかったです。",
    "gb18030": "今天天气很好，我们去公园散步吧，晚上一起吃饭。",
    "utf-16": "Grüße aus Köln",
    "utf-8-sig": "Grüße aus Köln",
}


@pytest.mark.parametrize("encoding", SENTENCES)
@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_encodings_are_found_and_said(tmp_path, encoding, ending):
    lines = [SENTENCES[encoding] + " " + "!" * i for i in range(20)]
    body = "\n".join([*(["text"] if ending == "csv" else []), *(f'"{x}"' for x in lines)])
    rows = read(put(tmp_path / f"x.{ending}", body.encode(encoding)))
    assert [text.strip('"') for text in rows.texts] == lines
    said = " ".join(rows.notes)
    assert ("UTF-8" in said) is (not encoding.startswith("utf"))
    rows = read(tmp_path / f"x.{ending}", encoding=encoding)
    assert [text.strip('"') for text in rows.texts] == lines


def test_one_accent_in_a_latin_1_csv(tmp_path):
    raw = "id;text\n1;a plain line\n2;the café is closed\n".encode("latin-1")
    rows = read(put(tmp_path / "x.csv", raw))
    assert rows.texts == ["a plain line", "the café is closed"]
    assert any("cp1252" in note for note in rows.notes)
    assert any("semicolons" in note for note in rows.notes)


def test_a_wrong_encoding_is_one_sentence(tmp_path):
    path = put(tmp_path / "x.txt", "café".encode("latin-1"))
    assert "not valid utf-8 (first at byte 3)" in refused(path, encoding="utf-8")
    assert "which is unknown" in refused(path, encoding="klingon")


# ---------------------------------------------------------------- csv, as people have it
def test_csv_corners(tmp_path):
    rows = read(
        put(
            tmp_path / "x.csv",
            'id,text,zip\n1,"a, b\nc",00123\n2,"say ""hi""",04567\n3,5" disk,1\n4,nul\0l,2\n5,,3\n',
        )
    )
    assert rows.texts == ["a, b\nc", 'say "hi"', '5" disk', "nul\0l", ""]
    assert rows.n_missing == 1
    assert rows.frame["zip"].to_list() == ["00123", "04567", "1", "2", "3"]
    assert rows.frame["id"].to_list() == [1, 2, 3, 4, 5]


def test_a_cell_of_a_megabyte(tmp_path):
    big = 'x, "y"\n' * 150_000
    for stray in ("fine", '5" disk'):
        frame = pl.DataFrame({"text": [big, "small"]})
        path = put(tmp_path / "x.csv", frame.write_csv() + stray + "\n")
        assert read(path).texts == [big, "small", stray]


@pytest.mark.parametrize("bad", ["2,b,c", "2"], ids=["long", "short"])
def test_ragged_lines_are_named(tmp_path, bad):
    lines = ["id,text", '1,"two\nlines"', bad, "3,x", bad]
    sentence = refused(put(tmp_path / "x.csv", "\n".join(lines)))
    assert "2 other lines" in sentence
    assert "line 4, 6" in sentence


def test_an_open_quote_is_named(tmp_path):
    sentence = refused(put(tmp_path / "x.csv", 'id,text\n1,ok\n2,"never closed\n3,x\n'))
    assert "Line 3" in sentence
    assert "without a closing one" in sentence


def test_csv_without_header_loses_no_row(tmp_path):
    long = "this is a long sentence and certainly not the name of a column, is it"
    rows = read(put(tmp_path / "x.csv", f'"{long}"\n"{long}!"\n'))
    assert rows.texts == [long, long + "!"]
    assert any("no header" in note for note in rows.notes)
    assert read(put(tmp_path / "y.csv", "1,some words\n2,other words\n")).texts[0] == "some words"


def test_headers_twice_and_blank(tmp_path):
    rows = read(put(tmp_path / "x.csv", "text,,text\na b,1,c\nd e,2,f\n"), text="text")
    assert rows.frame.columns == ["text", "column_2", "text_2"]
    assert rows.texts == ["a b", "d e"]


# ---------------------------------------------------------------- what is missing or wrong
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_missing_texts_are_counted(frame):
    rows = read(frame({"text": ["a word", None, "", " \t\n", "b"], "n": [1, 2, 3, 4, 5]}))
    assert rows.texts == ["a word", "", "", "", "b"]
    assert rows.n_missing == 3


def test_missing_in_lists_and_objects():
    assert read(["a", None, float("nan"), pd.NA, " "]).n_missing == 4
    rows = read(pd.DataFrame({"text": pd.Series(["a", float("nan"), 5], dtype=object)}))
    assert rows.texts == ["a", "", "5"]
    assert read([None, ""]).n_missing == 2


def test_missing_column_lists_the_columns():
    sentence = refused(pd.DataFrame(TABLE), text="bodi")
    assert "'id', 'body', 'stars'" in sentence
    assert "Did you mean 'body'" in sentence
    assert "id=..." in refused(pl.DataFrame(TABLE), text="body", id="nr")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_of_numbers(frame):
    assert "holds whole numbers, not texts" in refused(frame({"n": [1, 2]}), text="n")
    assert "No column holds texts" in refused(frame({"n": [1, 2], "m": [0.5, 1.0]}))


def test_a_column_of_numbers_in_a_csv(tmp_path):
    path = put(tmp_path / "x.csv", "id,price\n1,2.5\n2,3.5\n")
    assert "'price' holds numbers" in refused(path, text="price")


def test_other_wrong_things(tmp_path):
    assert "There is no file 'nothing.csv'" in refused("nothing.csv")
    assert "Pass a list of texts" in refused("one text\nof two lines")
    assert "is empty" in refused(put(tmp_path / "x.csv", "  \n"))
    assert "no rows" in refused(put(tmp_path / "x.csv", "id,text\n"))
    assert "no rows" in refused(pl.DataFrame({"text": []}))
    assert "cannot read .docx files (x.docx). Supported: .csv" in refused(
        put(tmp_path / "x.docx", "PK")
    )
    assert "files without an extension (x)" in refused(put(tmp_path / "x", "words"))
    assert "not a readable parquet" in refused(put(tmp_path / "x.parquet", "PAR1 no"))
    assert "gzip" in refused(put(tmp_path / "x.csv.gz", gzip.compress(b"text\na\n" * 99)[:-9]))
    assert "Line 2" in refused(put(tmp_path / "x.jsonl", '{"text": "a"}\n{"text": \n'))
    assert "Line 2" in refused(put(tmp_path / "x.json", '[{"text": "a"},\n{"text" "b"}]'))
    assert "list of objects" in refused(put(tmp_path / "x.json", "[1, 2]"))
    assert "Item 1 of the data is a int" in refused(["a", 5])
    assert "Item 0 of the data is a list" in refused([["a", "b"]])
    assert "empty" in refused([])
    assert "a dict" in refused({"text": ["a"]})
    assert "a int" in refused(5)
    assert "are column names" in refused(["a"], text="body")
    twice = pd.DataFrame([["a", "b"]], columns=["text", "text"])
    assert "text" in refused(twice)


def test_one_row_and_equal_rows(tmp_path):
    assert read(put(tmp_path / "x.csv", "text\nonly one\n")).texts == ["only one"]
    assert read(["same"] * 10).texts == ["same"] * 10


def test_json_of_several_shapes(tmp_path):
    assert read(put(tmp_path / "a.json", '["one", "two"]')).texts == ["one", "two"]
    assert read(put(tmp_path / "b.json", '{"text": ["one", "two"]}')).texts == ["one", "two"]
    assert read(put(tmp_path / "c.json", '{"text": "one"}\n{"text": "two"}')).texts[1] == "two"
    late = [{"text": f"t{i}"} for i in range(300)] + [{"text": "x", "late": "kept", "n": {"a": 1}}]
    rows = read(put(tmp_path / "d.jsonl", "\n".join(map(json.dumps, late))), text="text")
    assert rows.frame["late"].to_list()[-1] == "kept"
    mixed = (
        '{"text": "a", "v": 1}\n{"text": "b", "v": "x"}\n{"text": "half \\ud83d pair", "v": []}\n'
    )
    rows = read(put(tmp_path / "e.jsonl", mixed), text="text")
    assert rows.texts == ["a", "b", "half \ufffd pair"]


def test_duplicate_ids_are_said():
    rows = read(pd.DataFrame({"id": [1, 1, 2], "text": ["a", "b", "c"]}))
    assert rows.ids == [1, 1, 2]
    assert any("not unique (1 repeated)" in note for note in rows.notes)


# ---------------------------------------------------------------- guesses and names
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ({"text": ["a b"], "label": ["x"]}, "text"),
        ({"title": ["short one"], "author": ["somebody else"]}, "title"),
        ({"title": ["short one"], "body": ["a longer text with words"]}, "body"),
        ({"review_text": ["a b"], "reviewer": ["c d"]}, "review_text"),
        ({"tweetBody": ["a b"], "tweet_id": ["12a"]}, "tweetBody"),
        ({"x": ["a much longer text than all the others here"], "y": ["b"], "z": ["c"]}, "x"),
        ({"only": ["one"], "n": [1]}, "only"),
        ({"标题": ["一个标题"], "来源": ["网站"]}, "标题"),
    ],
)
def test_the_obvious_column_is_found(table, column):
    rows = read(pl.DataFrame(table))
    assert rows.column == column
    assert column in rows.notes[0]


def test_an_ambiguous_table_is_asked_about():
    table = pl.DataFrame({"left": ["some words here"], "right": ["other words there"], "n": [1]})
    sentence = refused(table)
    assert "'left' ('some words here')" in sentence
    assert "text='...'" in sentence


def test_columns_of_the_user_are_never_overwritten():
    table = {"text": ["a", "b"], "cluster": ["mine", "too"], "coterie_cluster": [1, 2]}
    for frame in (pl.DataFrame(table), pd.DataFrame(table)):
        rows = read(frame, text="text")
        out = rows.with_columns({"cluster": [0, 1], "probability": [0.5, 1.0]})
        assert list(out["cluster"]) == ["mine", "too"]
        assert list(out["coterie_cluster_2"]) == [0, 1]
        assert list(out["coterie_probability_2"]) == [0.5, 1.0]
        rows.with_columns({"cluster": [0, 1], "probability": [0.5, 1.0]})
        assert sum("already has a column" in note for note in rows.notes) == 1


# ---------------------------------------------------------------- any text
def is_a_number(text: str) -> bool:
    try:
        float(text.strip() or "0")
    except ValueError:
        return text.strip().lower() in ("true", "false")
    return True


anything = st.text(st.characters(codec="utf-8"), max_size=30)


@given(texts=st.lists(anything, min_size=1, max_size=5))
def test_any_text_survives_a_csv_and_a_list(tmp_path_factory, texts):
    assume(any(character.isalpha() for character in "".join(texts)))  # else a column of numbers
    assume(not all(map(is_a_number, texts)))
    path = tmp_path_factory.mktemp("any") / "x.csv"
    frame = pl.DataFrame({"id": [f"k{i}" for i in range(len(texts))], "text": texts})
    frame.write_csv(path, quote_style="always")
    expected = ["" if not text or text.isspace() else text for text in texts]
    assert read(path, text="text").texts == expected
    assert read(texts).texts == expected


def test_half_a_surrogate_pair_in_a_list():
    rows = read(["half \ud83d", "whole"])
    assert rows.with_columns({"cluster": [0, 1]})["text"].to_list() == ["half \ufffd", "whole"]


@given(raw=st.binary(min_size=1, max_size=60))
@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "txt", "parquet", "tsv", "csv.gz"])
def test_any_bytes_give_rows_or_a_sentence(tmp_path_factory, ending, raw):
    path = tmp_path_factory.mktemp("bytes") / f"x.{ending}"
    path.write_bytes(raw)
    with contextlib.suppress(InvalidInput):
        assert isinstance(read(path), Rows)


def test_reading_a_list_imports_no_pandas():
    code = (
        "import sys, coterie; assert not {'polars', 'pandas', 'sklearn'} & set(sys.modules)\n"
        "from coterie.text.readers import read; read(['a', 'b']).with_columns({'cluster': [0, 1]})\n"
        "assert not {'pandas', 'sklearn', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1, 2], "whole numbers"),
        ([datetime(2024, 1, 2)] * 2, "dates and times"),
        ([date(2024, 1, 2)] * 2, "dates"),
        ([True, False], "true and false"),
        ([b"x", b"y"], "bytes"),
        ([{"a": 1}, {"a": 2}], "objects with fields"),
    ],
)
def test_types_of_columns_are_said_in_words(values: Any, says: str) -> None:
    for frame in (pl.DataFrame({"n": values}), pd.DataFrame({"n": values})):
        assert f"The column 'n' holds {says}, not texts" in refused(frame, text="n")
    if says in ("whole numbers", "dates and times"):
        assert f"The columns are 'n' ({says})" in refused(pl.DataFrame({"n": values}))
    lists = pl.DataFrame({"n": [[1], [2]]})
    assert "The column 'n' holds lists of whole numbers" in refused(lists, text="n")


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        ([int, np.int8, np.int64, np.uint16, pl.Int128, pl.UInt8], "whole numbers"),
        ([float, np.float32, np.float64, np.longdouble, pl.Float32, Decimal], "numbers"),
        ([np.str_, str, pl.String], "texts"),
        ([np.bool_, bool, pl.Boolean], "true and false"),
        ([np.datetime64, pd.Timestamp], "dates and times"),
        ([np.timedelta64, pd.Timedelta], "durations"),
        ([np.bytes_, bytes], "bytes"),
        ([pd.Interval], "values of type Interval"),
        ([pd.api.typing.NaTType], "values of type NaTType"),
    ],
)
def test_types_of_values_are_said_in_words(kinds: list[Any], says: str) -> None:
    """Also those of NumPy, and those of other packages whose name begins as that of a number does."""
    assert [kind_in_words(kind) for kind in kinds] == [says] * len(kinds)


def test_what_another_package_says_ends_with_a_word() -> None:
    def fail(message: str) -> None:
        with errors_as_sentences("x.csv"):
            raise RuntimeError(message)

    for message, says in (
        ("word " * 90, r"\(RuntimeError: (word )+\.\.\.\)\.$"),
        ("It failed. " + "word " * 90, r"\(RuntimeError: It failed\)\.$"),
        ("It failed.", r"\(RuntimeError: It failed\)\.$"),
        ("x" * 300, r"\(RuntimeError: x{186}\.\.\.\)\.$"),
        ("no " * 20 + "x" * 300, r"\(RuntimeError: (no ){20}x{126}\.\.\.\)\.$"),
    ):
        with pytest.raises(InvalidInput, match=says):
            fail(message)


def test_a_column_that_parquet_cannot_hold_is_named() -> None:
    frame = pl.DataFrame({"text": ["a b", "c d"], "odd": pl.Series([{1}, {2}], dtype=pl.Object)})
    rows = readers.read(frame, text="text")
    with pytest.raises(InvalidInput, match=r"the column 'odd' holds Python objects\. Turn it into"):
        writing.table_bytes(rows, {"cluster": [0, 1]}, "parquet")


def test_columns_of_several_levels_are_refused() -> None:
    table = pd.DataFrame({("a", "text"): ["bread oven", "bike ride"], ("b", "n"): [1, 2]})
    for text in (None, "text"):
        with pytest.raises(InvalidInput, match=r"several levels, such as \('a', 'text'\)"):
            readers.read(table, text=text)
    other = pd.DataFrame({"text": ["bread oven", "bike ride"], ("a", 1): [1, 2]})
    assert list(readers.read(other, text="text").texts) == ["bread oven", "bike ride"]


@pytest.mark.parametrize("names", [(1, 1.0), (True, 1), ("n", "n")], ids=repr)
def test_names_that_are_equal_are_refused(names: tuple[Any, Any]) -> None:
    table = pd.DataFrame([["bread oven", 1, 2]], columns=pd.Index(["text", *names], dtype=object))
    with pytest.raises(InvalidInput, match=r"The table has two columns named .*Rename one"):
        readers.read(table, text="text")
