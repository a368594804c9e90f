"""Several files, several text columns, and columns of lists are read as one."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from test_cli import FAST, cli, texts  # noqa: F401

import coterie
from coterie.errors import InvalidInput
from coterie.text import readers

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
