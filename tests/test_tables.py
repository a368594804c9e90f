"""The user's table comes back: every cell as it was, whatever a frame would make of it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from benchmarks.trust import cases
from benchmarks.trust.tables import round_trips

from coterie.cli.tables import table_bytes
from coterie.errors import InvalidInput
from coterie.text.readers import Rows, read

CELLS = [
    "1.10",
    "12e5",
    "1",
    "1e400",
    "007",
    "1.0",
    ".5",
    "+3",
    " x ",
    "",
    "=1+1",
    'q"q',
    "a\rb",
    "a\r\nb",
]


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def written(rows: Rows, kind: str, **added: Any) -> bytes:
    return table_bytes(rows, {"cluster": np.arange(len(rows)), **added}, kind)


def as_rows(content: bytes, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator))


# ---------------------------------------------------------------- many tables
def test_random_tables_come_back():
    found = round_trips(120, seed=11)
    assert found["failures"] == []
    assert found["exact"] == 120


def test_damaged_tables_are_read_or_refused_in_a_sentence():
    found = cases.run("benchmarks.trust.tables:mutated", 150, seed=11, children=1)
    assert found["failures"] == []
    assert found["fine"] + found["refused"] == 150
    assert min(found["fine"], found["refused"]) > 10


# ---------------------------------------------------------------- csv
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("beside", ["1", "2.5", "words"])
def test_a_cell_comes_back(tmp_path, cell, beside):
    content = io.StringIO(newline="")
    csv.writer(content, quoting=csv.QUOTE_ALL).writerows(
        [["text", "v"], ["some words", cell], ["more", beside]]
    )
    rows = read(put(tmp_path / "x.csv", content.getvalue()), text="text")
    for kind, separator in (("csv", ","), ("tsv", "\t")):
        table = as_rows(written(rows, kind), separator)
        assert table == [["text", "v", "cluster"], ["some words", cell, "0"], ["more", beside, "1"]]
    line = json.loads(written(rows, "jsonl").split(b"\n")[0])
    assert str(line["v"]) == cell
    column = pl.read_parquet(io.BytesIO(written(rows, "parquet")))["v"]
    assert column.cast(pl.String).to_list()[0] == cell


def test_blank_rows_are_rows(tmp_path):
    for content, n in (
        ("id,text\n1,a b\n\n2,c d\n\n\n", 5),
        ("text\na b\n\n\nc d\n\n", 5),
        ("id,text\r\n1,a b\r\n\r\n", 2),
    ):
        rows = read(put(tmp_path / "x.csv", content), text="text")
        assert len(rows) == n
        table = as_rows(written(rows, "csv"))
        assert [row[-1] for row in table[1:]] == [str(i) for i in range(n)]
        assert table[-1][:-1] == [""] * (len(table[0]) - 1)


def test_the_header_comes_back(tmp_path):
    content = ' id ,text,,text,"a\nb","\r"\n1,a b,2,c,3,4\n'
    rows = read(put(tmp_path / "x.csv", content), text="text")
    assert rows.frame.columns == ["id", "text", "column_3", "text_2", "a\nb", "column_6"]
    assert as_rows(written(rows, "csv"))[0] == [" id ", "text", "", "text", "a\nb", "\r", "cluster"]


def test_line_ends_of_the_old_macintosh(tmp_path):
    rows = read(put(tmp_path / "x.csv", 'id,text\r1,"a\nb"\r2,"c\rd"\r'), text="text")
    assert rows.texts == ["a\nb", "c\rd"]
    assert as_rows(written(rows, "csv"))[1:] == [["1", "a\nb", "0"], ["2", "c\rd", "1"]]


def test_a_bare_cr_is_part_of_its_cell(tmp_path):
    for stray in ("fine", '5" disk'):  # read by polars, and by the standard library
        rows = read(put(tmp_path / "x.csv", f"id,text\n1,a\rb\n2,{stray}\n"), text="text")
        assert rows.texts == ["a\rb", stray]
        assert as_rows(written(rows, "csv"))[1] == ["1", "a\rb", "0"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_that_fits(tmp_path, separator):
    others = "".join(s for s in ",;\t|" if s != separator)
    lines = [separator.join([str(i), f"words{others * i}", "x"]) for i in range(4)]
    rows = read(put(tmp_path / "x.csv", "\n".join(lines)), text="column_2", header=False)
    assert rows.texts[3] == f"words{others * 3}"


def test_numbers_are_numbers_in_python(tmp_path):
    content = "text,n,price,sku,small,huge\na,1,2.50,12e5,1e-05,1e400\nb,2,3,3,2.5e-07,1\n"
    frame = read(put(tmp_path / "x.csv", content), text="text").frame
    assert frame["n"].to_list() == [1, 2]
    assert frame["price"].to_list() == [2.5, 3.0]
    assert frame["small"].to_list() == [1e-05, 2.5e-07]
    assert frame["sku"].to_list() == ["12e5", "3"]
    assert frame["huge"].to_list() == ["1e400", "1"]


def test_ids_are_as_they_are_spelled(tmp_path):
    assert read(put(tmp_path / "x.csv", "id,text\n1.10,a\n1.1,b\n")).ids == ["1.10", "1.1"]


# ---------------------------------------------------------------- JSON
OBJECTS = [
    '{"text": "a b", "v": [1, "x", 2.50, null], "big": 123456789012345678901234567890}',
    '{"text":"c","v":{"k":[{}]},"big":1.0, "k": 1, "k": 2}',
    '{ "v" : Infinity , "text" : "half \\ud83d pair" , "n": NaN , "e": 1e400}',
    "{ }",
    '{"text": "größer \\u00fc \\/"}',
]


def test_json_lines_come_back_as_they_are(tmp_path):
    rows = read(put(tmp_path / "x.jsonl", "\n".join(OBJECTS) + "\n\n"), text="text")
    for i, (line, before) in enumerate(zip(_lines(rows), OBJECTS, strict=True)):
        assert line.startswith(before[:-1].rstrip())
        assert line.endswith(f'"cluster":{i}}}')
        assert json.loads(line)["cluster"] == i


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_list_comes_back(tmp_path, indent):
    content = [{"text": "a", "v": [1, "x", {"y": [2.0]}]}, {"text": "b\n", "w": None}, "c", {}]
    rows = read(put(tmp_path / "x.json", json.dumps(content, indent=indent)), text="text")
    found = [json.loads(line) for line in _lines(rows)]
    wanted = [{"text": row} if isinstance(row, str) else row for row in content]
    assert found == [{**row, "cluster": i} for i, row in enumerate(wanted)]


def test_an_object_of_columns_comes_back(tmp_path):
    content = '{"text": ["a", "b"], "n": [1.10, 2], "k\\"": [[], {"x": Infinity}]}'
    rows = read(put(tmp_path / "x.json", content), text="text")
    assert _lines(rows) == [
        '{"text":"a","n":1.10,"k\\"":[],"cluster":0}',
        '{"text":"b","n":2,"k\\"":{"x": Infinity},"cluster":1}',
    ]


def test_json_as_csv_keeps_the_spelling(tmp_path):
    rows = read(put(tmp_path / "x.jsonl", "\n".join(OBJECTS)), text="text")
    table = as_rows(written(rows, "csv"))
    cell = dict(zip(table[0], table[1], strict=True))
    assert cell["v"] == '[1, "x", 2.50, null]'
    assert cell["big"] == "123456789012345678901234567890"
    assert dict(zip(table[0], table[2], strict=True))["k"] == "1"  # the first, as in the frame
    assert dict(zip(table[0], table[3], strict=True))["v"] == "Infinity"


def test_no_digit_of_an_integer_is_rounded(tmp_path):
    lines = '{"text": "a", "n": 9007199254740993, "f": 1e300}\n{"text": "b", "n": 1.5, "f": 2.5}\n'
    frame = read(put(tmp_path / "x.jsonl", lines), text="text").frame
    assert frame["n"].to_list() == ["9007199254740993", "1.5"]
    assert frame["f"].to_list() == [1e300, 2.5]


def _lines(rows: Rows) -> list[str]:
    return written(rows, "jsonl").decode().split("\n")[:-1]


# ---------------------------------------------------------------- our own cells, and other sources
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_our_cells_are_no_formulas(tmp_path, kind, start):
    rows = read(put(tmp_path / "x.csv", 'text,v\na b,"=1+1"\n'), text="text")
    table = as_rows(written(rows, kind, name=[f"{start}cmd"]), "\t" if kind == "tsv" else ",")
    assert table[1] == ["a b", "=1+1", "0", f"'{start}cmd"]
    assert json.loads(written(rows, "jsonl", name=["=cmd"]))["name"] == "=cmd"


def test_names_that_are_taken(tmp_path):
    rows = read(put(tmp_path / "x.jsonl", '{"text": "a", "cluster": 7}\n'), text="text")
    assert json.loads(written(rows, "jsonl")) == {"text": "a", "cluster": 7, "coterie_cluster": 0}
    assert any("coterie_cluster" in note for note in rows.notes)


def test_bytes_and_durations_of_a_parquet_file(tmp_path):
    frame = pl.DataFrame(
        {
            "text": ["a b"],
            "bytes": [b"x\xff"],
            "nested": [{"a": [b"y"]}],
            "took": pl.Series([1_000]).cast(pl.Duration("ms")),
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    rows = read(tmp_path / "x.parquet", text="text")
    assert as_rows(written(rows, "csv"))[1] == ["a b", "x\\xff", '{"a": ["y"]}', "0:00:01", "0"]
    assert json.loads(written(rows, "jsonl"))["bytes"] == "x\\xff"
    assert pl.read_parquet(io.BytesIO(written(rows, "parquet"))).drop("cluster").equals(frame)


def test_the_types_of_a_pandas_table_are_kept():
    frame = pd.DataFrame({"text": ["a b", "c"], "n": np.array([1, 2], np.int8), "kind": list("xy")})
    frame["kind"] = frame["kind"].astype("category")
    made = pl.read_parquet(io.BytesIO(written(read(frame, text="text"), "parquet")))
    assert made["n"].dtype == pl.Int8
    assert made["kind"].dtype in (pl.Categorical, pl.Enum)


def test_the_column_that_parquet_cannot_hold_is_named():
    odd = pl.Series([object(), object()], dtype=pl.Object)
    rows = read(pl.DataFrame({"text": ["a b", "c d"], "made": odd, "n": [1, 2]}), text="text")
    with pytest.raises(InvalidInput, match="the column 'made' holds Python objects"):
        written(rows, "parquet")


def test_two_thousand_columns_of_one_name(tmp_path):
    path = put(tmp_path / "x.csv", ",".join(["text"] * 2_000) + "\n" + ",".join(["a b"] * 2_000))
    rows = read(path, text="text")
    assert rows.frame.columns[-1] == "text_2000"
    assert as_rows(written(rows, "csv"))[0] == ["text"] * 2_000 + ["cluster"]


def test_names_that_were_numbered_before(tmp_path):
    path = put(tmp_path / "x.csv", "a,a,a_2,a,text\n1,2,3,4,some words\n")
    assert read(path, text="text").frame.columns == ["a", "a_2", "a_2_2", "a_3", "text"]


@pytest.mark.parametrize("depth", [60, 100, 900, 5_000, 200_000])
@pytest.mark.parametrize("space", ["", " ", "\n"])
def test_a_deep_value_is_read_or_refused(tmp_path, depth, space):
    value = f"[{space}" * depth + f"]{space}" * depth
    content = f'{{"text": "]]] a", "v": {value}}}'
    files = {"x.json": f"[{content}]"} | ({"x.jsonl": content} if space != "\n" else {})
    for name, whole in files.items():
        path = put(tmp_path / name, whole)
        if depth > 64:
            with pytest.raises(InvalidInput, match="64 levels deep"):
                read(path)
        else:
            assert json.loads(_lines(read(path, text="text"))[0])["v"] == json.loads(value)


def test_many_brackets_in_a_text_are_not_deep(tmp_path):
    line = json.dumps({"text": "[" * 1_000 + ' \\" ' + "{" * 1_000})
    assert _lines(read(put(tmp_path / "x.jsonl", line)))[0].startswith(line[:-1])


# ---------------------------------------------------------------- odd tables in memory
class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([["a", "b"]], columns=[np.nan, np.nan]),
        pd.DataFrame({"text": [Unspeakable(), "a"]}),
        pd.DataFrame({"id": [Unspeakable(), 2], "text": ["a", "b"]}),
        pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]),
    ],
    ids=["nameless", "text", "id", "twice"],
)
def test_odd_tables_are_refused_in_a_sentence(table):
    with pytest.raises(InvalidInput) as caught:
        read(table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["when", "id"])
def test_dates_that_python_does_not_know(tmp_path, name):
    far = pl.DataFrame({"text": ["a b"], name: pl.Series([2**62]).cast(pl.Datetime("us"))})
    assert read(far).texts == read(far.to_arrow()).texts == ["a b"]
    far.write_parquet(tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").texts == ["a b"]
    assert len(as_rows(written(read(far), "csv"))) == 2
