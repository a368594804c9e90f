"""One table, a workbook with the clusters, or a file or sheet per group."""

import csv
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_cli import ADDED, FAST, cli, reviews, texts  # noqa: F401

import coterie
from coterie.errors import InvalidInput

TEXTS = texts(30)


@pytest.fixture(scope="module")
def groups() -> Any:
    frame = pl.DataFrame({"text": TEXTS, "zip": ["007"] * 30, "n": range(30)})
    return coterie.cluster(frame, n_sweeps=6)


def sheets(path: Any) -> dict[str, pl.DataFrame]:
    book = fastexcel.read_excel(str(path))
    return {name: book.load_sheet(name).to_polars() for name in book.sheet_names}


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_the_ending_decides(groups: Any, tmp_path: Path, ending: str) -> None:
    path = groups.write(tmp_path / f"out.{ending}")
    read = {
        "csv": lambda p: pl.read_csv(p, schema_overrides={"zip": pl.String}),
        "tsv": lambda p: pl.read_csv(p, separator="\t", schema_overrides={"zip": pl.String}),
        "jsonl": pl.read_ndjson,
        "parquet": pl.read_parquet,
        "xlsx": lambda p: sheets(p)["table"].with_columns(pl.col("n", "cluster").cast(pl.Int64)),
    }[ending]
    assert_frame_equal(read(path), groups.table)


def test_a_workbook_holds_the_clusters_and_each_group(groups: Any, tmp_path: Path) -> None:
    found = sheets(groups.write(tmp_path / "out.xlsx", per_group=True))
    assert list(found)[:2] == ["table", "clusters"]
    assert found["clusters"]["name"].to_list() == list(groups.names)
    of_groups = list(found.values())[2:]
    assert [len(frame) for frame in of_groups] == groups.clusters["size"].to_list()
    assert [name.split(" ", 1)[1] for name in list(found)[2:]] == list(groups.names)


@pytest.mark.parametrize(("name", "per_group"), [("a.docx", False), ("a", False), ("a.csv", True)])
def test_what_cannot_be_written(groups: Any, tmp_path: Path, name: str, per_group: bool) -> None:
    with pytest.raises(InvalidInput, match="xlsx"):
        groups.write(tmp_path / name, per_group=per_group)
    assert not list(tmp_path.iterdir())


def test_a_file_per_group(cli: Any, reviews: Path) -> None:  # noqa: F811
    assert cli("fit", reviews, "-o", "out", "--per-group", *FAST).code == 0
    with open("out/table.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    for path in Path("out/groups").iterdir():
        number, name = path.stem.split(" ", 1)
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert rows == [row for row in table if row["cluster"] == str(int(number))]
        assert rows[0]["name"] == name
    assert cli("fit", reviews, "-o", "out", "--force", *FAST).code == 0
    assert not Path("out/groups").exists()


def test_a_folder_of_groups_with_something_else_is_kept(cli: Any, reviews: Path) -> None:  # noqa: F811
    assert cli("fit", reviews, "-o", "out", "--per-group", *FAST).code == 0
    Path("out/groups/mine.csv").write_text("x")
    said = cli("fit", reviews, "-o", "out", "--force", *FAST)
    assert said.code == 1
    assert "groups" in said.err
    assert Path("out/groups/mine.csv").exists()


def test_per_group_needs_a_folder_or_a_workbook(cli: Any, reviews: Path) -> None:  # noqa: F811
    for out in ("a.csv", "-"):
        said = cli("fit", reviews, "-o", out, "--per-group", *FAST)
        assert said.code == 1
        assert "--per-group" in said.err


def test_fit_and_predict_add_the_same_columns(cli: Any, reviews: Path) -> None:  # noqa: F811
    assert cli("fit", reviews, "-o", "out", *FAST).code == 0
    assert cli("predict", "out", reviews, "-o", "p.csv").code == 0
    fitted, predicted = pl.read_csv("out/table.csv"), pl.read_csv("p.csv")
    assert fitted.columns == predicted.columns == ["key", "body", "stars", *ADDED]
    assert_frame_equal(fitted.select("cluster", "name"), predicted.select("cluster", "name"))
