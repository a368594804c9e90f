"""Several files, several text columns, and columns of lists are read as one."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from test_cli import FAST, cli, texts  # noqa: F401

import coterie
from coterie.errors import InvalidInput
from coterie.text import _files, readers

TEXTS = texts(30)


def two_files(folder: Path) -> list[Path]:
    first, second = folder / "tickets-1.csv", folder / "tickets-2.csv"
    pl.DataFrame({"text": TEXTS[:15], "zip": ["007"] * 15}).write_csv(first)
    pl.DataFrame({"zip": range(15), "text": TEXTS[15:], "n": [1.5] * 15}).write_csv(second)
    return [first, second]


def test_a_list_of_paths_and_a_pattern(tmp_path: Path) -> None:
    files = two_files(tmp_path)
    for data in (files, str(tmp_path / "tickets-*.csv"), tmp_path / "tickets-*.csv"):
        rows = readers.read(data)
        assert rows.texts == TEXTS
        assert rows.frame.columns == ["text", "zip", "file", "n"]
        assert rows.frame["zip"].to_list() == ["007"] * 15 + [str(i) for i in range(15)]
        assert rows.frame["file"].to_list() == ["tickets-1.csv"] * 15 + ["tickets-2.csv"] * 15
        assert rows.notes[0] == "Read 2 files as one table."
        assert rows.frame["n"].to_list() == [None] * 15 + [1.5] * 15


def test_files_of_different_types(tmp_path: Path) -> None:
    files = two_files(tmp_path)
    pl.DataFrame({"text": ["more words"], "zip": [5], "file": ["mine"]}).write_parquet(
        tmp_path / "c.parquet"
    )
    rows = readers.read([*files, tmp_path / "c.parquet"])
    assert rows.frame["file"].to_list() == [None] * 30 + ["mine"]
    assert rows.frame["zip"].to_list()[-2:] == ["14", "5"]


def test_a_pattern_that_matches_nothing_or_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no file that matches"):
        readers.read(str(tmp_path / "*.csv"))
    two_files(tmp_path)
    assert "file" not in readers.read(str(tmp_path / "*-1.csv")).frame.columns
    odd = tmp_path / "a[1].csv"
    odd.write_text("text\nred car\n")
    assert readers.read(str(odd)).texts == ["red car"]
    assert readers.read(["what? [1]", "a*"]).texts == ["what? [1]", "a*"]


def test_several_files_on_the_command_line(cli: Any, tmp_path: Path) -> None:  # noqa: F811
    two_files(tmp_path)
    assert cli("fit", "tickets-1.csv", "tickets-2.csv", *FAST).code == 0
    first = Path("tickets.coterie/table.csv").read_bytes()
    assert cli("fit", "tickets-*.csv", "--force", *FAST).code == 0
    assert Path("tickets.coterie/table.csv").read_bytes() == first
    assert pl.read_csv(first, infer_schema=False)["zip"][0] == "007"
    assert cli("predict", "tickets.coterie", "tickets-*.csv", "-o", "p.csv").code == 0
    assert pl.read_csv("p.csv").height == 30
    said = cli("fit", "tickets-1.csv", "-", *FAST)
    assert "cannot be read together with standard input" in said.err
    said = cli("fit", "tickets-1.csv", "tickets-3.csv", *FAST)
    assert "There is no file 'tickets-3.csv'. Did you mean" in said.err
    said = cli("fit", "tickets-1.csv", "tickets-2.csv", "-o", "tickets-2.csv", *FAST)
    assert "is the input file" in said.err


FRAME = pl.DataFrame(
    {"title": ["red", None, " ", "green"], "body": ["car", "bike", None, ""], "n": [1, 2, 3, 4]}
)


@pytest.mark.parametrize("columns", ["title,body", "title, body", ["title", "body"]])
@pytest.mark.parametrize("is_pandas", [False, True])
def test_several_columns(columns: Any, is_pandas: bool) -> None:
    frame = pd.DataFrame(FRAME.to_dict(as_series=False)) if is_pandas else FRAME
    rows = readers.read(frame, text=columns)
    assert rows.texts == ["red\ncar", "bike", "", "green"]
    assert rows.n_missing == 1
    assert rows.column == ("title", "body")


def test_a_column_with_a_comma_in_its_name() -> None:
    assert readers.read(pl.DataFrame({"a,b": ["x"], "a": ["y"], "b": ["z"]}), "a,b").texts == ["x"]


@pytest.mark.parametrize("columns", ["title,bodies", ["title", "bodies"], []])
def test_columns_that_are_not_there(columns: Any) -> None:
    with pytest.raises(InvalidInput, match=r"bodies|empty"):
        readers.read(FRAME, text=columns)


def test_several_columns_are_saved_and_used_by_predict(cli: Any) -> None:  # noqa: F811
    pl.DataFrame({"a": TEXTS, "b": TEXTS[::-1]}).write_csv("x.csv")
    assert cli("fit", "x.csv", "--text", "a,b", *FAST).code == 0
    loaded = coterie.load("x.coterie/model")
    assert loaded.rows.column == ("a", "b")
    assert loaded.rows.texts[0] == f"{TEXTS[0]}\n{TEXTS[-1]}"
    assert cli("predict", "x.coterie", "x.csv", "-o", "p.csv").code == 0
    assert pl.read_csv("p.csv")["cluster"].to_list() == loaded.labels.tolist()


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"tags": [["red", "car"], [], None, ["bike", None]]}),
        pd.DataFrame({"tags": [["red", "car"], [], None, ("bike",)]}),
    ],
)
def test_a_column_of_lists(frame: Any) -> None:
    rows = readers.read(frame, text="tags")
    assert rows.texts == ["red car", "", "", "bike"]
    assert rows.n_missing == 2
    with pytest.raises(InvalidInput, match="not texts"):
        readers.read(pl.DataFrame({"tags": [[1, 2]]}), text="tags")


OBJECTS = [
    '{"text":"oven bread","id":1234567890123456789,"price":1.10,"more":{"a":1}}',
    '{"text":"bread dough","id":1234567890123456788,"more":{"b":[1,"a",null]},"n":12345678901234567890123}',
    '{"text":"fast car","id":1.5,"price":"1.10","more":"words","\\u00e9":1e2}',
    '{"text":"car race","price":null,"more":[],"n":true}',
]
SPLITS = {
    "jsonl, jsonl": ("a.jsonl", "b.jsonl"),
    "jsonl, json": ("a.jsonl", "b.json"),
    "json, jsonl": ("a.json", "b.jsonl"),
}


def exactly(line: str) -> Any:
    """An object with its numbers as they are written."""
    return json.loads(line, parse_float=lambda n: f"number {n}", parse_int=lambda n: f"number {n}")


def put_objects(folder: Path, names: tuple[str, ...]) -> list[Path]:
    for name, lines in zip(names, (OBJECTS[:2], OBJECTS[2:]), strict=True):
        both = "\n".join(lines) + "\n", "[\n" + ",\n".join(lines) + "]"
        (folder / name).write_text(both[name.endswith("json")])
    return [folder / name for name in names]


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("names", SPLITS.values(), ids=SPLITS)
def test_the_objects_of_several_files_stay_as_they_are(
    cli: Any,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    on_disk: bool,
) -> None:
    """Keys, notation of numbers and what is missing, as in a single file."""
    monkeypatch.setattr(_files, "LARGE", 10 if on_disk else 10**9)
    put_objects(tmp_path, names)
    assert cli("fit", *names, "--text", "text", "-o", "out", *FAST).code == 0
    assert cli("predict", "out", *names, "-o", "p.jsonl").code == 0
    for path in (Path("out/table.jsonl"), Path("p.jsonl")):
        lines = path.read_text().splitlines()
        for i, (line, own) in enumerate(zip(lines, OBJECTS, strict=True)):
            members = [*exactly(own).items(), ("file", names[i // 2])]
            assert list(exactly(line).items())[: len(members)] == members


@pytest.mark.parametrize("other", ["csv", "tsv", "parquet", "xlsx"])
def test_objects_beside_other_tables(tmp_path: Path, other: str) -> None:
    """The objects stay as they are, and so do the cells of the others."""
    path = tmp_path / f"other.{other}"
    table = pl.DataFrame(
        {"text": ["red car", "blue car"], "id": ["007", "1"], "price": ["1.10", "2"]}
    )
    if other in ("csv", "tsv"):
        table.write_csv(path, separator="," if other == "csv" else "\t")
    else:
        (table.write_parquet if other == "parquet" else table.write_excel)(path)
    groups = coterie.cluster(
        [path, put_objects(tmp_path, ("a.jsonl", "b.jsonl"))[0]],
        text="text",
        embedder=None,
        levels=False,
    )
    for kind in ("jsonl", "csv"):
        groups.write(tmp_path / f"out.{kind}")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    for line, own in zip(lines[2:], OBJECTS[:2], strict=True):
        assert exactly(line).items() >= exactly(own).items()
    cells = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert cells["id"].to_list()[1:] == ["1", "1234567890123456789", "1234567890123456788"]
    assert cells["price"].to_list() == ["1.10", "2", "1.10", None]
    assert cells["file"].to_list() == [path.name] * 2 + ["a.jsonl"] * 2


LARGE = 2**53
PARTS = {
    "large whole numbers": ([LARGE + 1, LARGE + 2], [float(LARGE), 2.5]),
    "large whole numbers without a sign": ([-1, LARGE], [2**64 - 1, LARGE + 1]),
    "whole numbers and texts": ([1, 2], ["01", "x"]),
    "numbers and true": ([1.5, 0.0], [True, False]),
    "objects": ([{"a": 1}, {"a": 2}], [{"b": 1}, {"b": 2}]),
    "objects and texts": ([{"a": 1}, {"a": 2}], ["1", "2"]),
    "lists": ([[1], [2]], [["1"], ["x"]]),
}


@pytest.mark.parametrize("kinds", ["parquet, parquet", "csv, parquet", "parquet, csv"])
@pytest.mark.parametrize("name", PARTS)
def test_different_values_stay_different(tmp_path: Path, name: str, kinds: str) -> None:
    """Whatever types a column has in several files; the fields of objects keep their names."""
    files = []
    for i, (values, kind) in enumerate(zip(PARTS[name], kinds.split(", "), strict=True)):
        files.append(tmp_path / f"{i}.{kind}")
        table = pl.DataFrame({"text": ["oven bread", "fast car"], "id": values})
        if kind == "csv":
            table.with_columns(pl.Series("id", map(shown, values))).write_csv(files[-1])
        else:
            table.write_parquet(files[-1])
    found = [shown(value) for value in readers.read(files, text="text", id="id").ids or []]
    assert found == [shown(value) for part in PARTS[name] for value in part]


def shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
