"""A night without texts: an exit code of its own, and a table without rows but with all columns."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_cli import ADDED, FAST, Said, cli, texts  # noqa: F401

import coterie
from coterie.cli import exits
from coterie.errors import NoRows

TABLE = pl.DataFrame({"body": texts(), "stars": range(30)})
OTHER = pl.DataFrame(schema={"when": pl.String, "body": pl.String})  # as in the files of a night


def excel() -> bytes:
    out = io.BytesIO()
    OTHER.write_excel(out)
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    OTHER.write_parquet(out)
    return out.getvalue()


WITH_HEADER = {
    "night.csv": b"when,body\n",
    "no_line_end.csv": b"when,body",
    "german.csv": "\ufeffwhen;body\r\n".encode(),
    "night.csv.gz": gzip.compress(b"when,body\n"),
    "night.tsv": b"when\tbody\n",
    "night.parquet": parquet(),
}
WITHOUT = {
    "zero.csv": b"",
    "blank.csv": b"\n\n",
    "zero.jsonl": b"",
    "blank.jsonl": b"\n\n",
    "night.json": b"[]",
    "zero.txt": b"",
    "night.xlsx": excel(),
}
FILES = WITH_HEADER | WITHOUT


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fitted") / "model"
    coterie.cluster(TABLE, text="body", levels=False, embedder="none").save(folder)
    return folder


def check_said(said: Said) -> None:
    assert said.code == exits.EMPTY == 5
    *_, last = said.err.splitlines()
    assert last.startswith("Error: ")
    assert "so there is nothing to" in last


@pytest.mark.parametrize("name", ["night.csv", "zero.csv", "zero.jsonl"])
def test_in_parts_too(cli: Any, model: Path, name: str) -> None:  # noqa: F811
    Path(name).write_bytes(FILES[name])
    kind = Path(name).suffix
    for out, way in (("a", ()), ("b", ("--out-of-core",))):
        said = cli("predict", model, name, "-o", out + kind, "--quiet", *way)
        assert said.code == exits.EMPTY
    assert Path(f"a{kind}").read_bytes() == Path(f"b{kind}").read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_predict_writes_a_table_without_rows(cli: Any, model: Path, name: str) -> None:  # noqa: F811
    Path(name).write_bytes(FILES[name])
    Path("new.csv").write_text(
        "body,cluster,name,probability\nlate,0,parcel,1.0\n"
    )  # of the night before
    said = cli("predict", model, name, "-o", "new.csv", "--force", "--quiet", "--fail-if-drift")
    check_said(said)
    theirs = ["when", "body"] if name in WITH_HEADER else ["body", "stars"]
    separator = ";" if name == "german.csv" else ","
    written = pl.read_csv("new.csv", separator=separator)
    assert (written.columns, written.height) == ([*theirs, *ADDED], 0)
    assert cli("predict", model, name, "-o", "new.parquet").code == exits.EMPTY
    assert pl.read_parquet("new.parquet").columns == [*theirs, *ADDED]
    for ending in ("jsonl", "xlsx"):
        assert cli("predict", model, name, "-o", f"new.{ending}").code == exits.EMPTY
    assert Path("new.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", FILES)
def test_fit_writes_nothing(cli: Any, name: str) -> None:  # noqa: F811
    Path(name).write_bytes(FILES[name])
    check_said(cli("fit", name, "--text", "body", "-o", "out"))
    in_parts = {".csv", ".tsv", ".jsonl", ".txt", ".parquet"} & {Path(name).suffix}
    if in_parts:
        said = cli("fit", name, "--text", "body", "-o", "out", "--out-of-core")
        assert said.code == exits.EMPTY
    assert not Path("out").exists()


def test_json_and_standard_streams(cli: Any, model: Path) -> None:  # noqa: F811
    said = cli("predict", model, "-", "-o", "-", stdin=b"when,body\n")
    check_said(said)
    assert said.out == "when,body," + ",".join(ADDED) + "\n"
    Path("night.csv").write_bytes(b"when,body\n")
    facts = json.loads(cli("predict", model, "night.csv", "-o", "-", "--json").out)
    assert (facts["n_texts"], facts["predictions"]) == (0, [])
    error = json.loads(cli("fit", "night.csv", "--json").out)["error"]
    assert (error["kind"], error["exit_code"]) == ("no_rows", exits.EMPTY)


@pytest.mark.parametrize(
    "data", [[], (), pl.DataFrame({"body": []}), pl.Series("body", [])], ids=repr
)
def test_in_python(data: Any) -> None:
    with pytest.raises(NoRows) as error:
        coterie.cluster(data)
    assert error.value.kind == "no_rows"


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("content", [b"", b"body,stars\n"], ids=["zero", "header"])
def test_one_file_of_several(cli: Any, model: Path, content: bytes, first: bool) -> None:  # noqa: F811
    """What the others hold is read; only a night of nothing but empty files is empty."""
    TABLE.write_csv("full.csv")
    Path("empty.csv").write_bytes(content)
    files = ["empty.csv", "full.csv"][:: 1 if first else -1]
    assert cli("predict", model, *files, "-o", "new.csv").code == 0
    assert pl.read_csv("new.csv").height == 30
    for way in ([], ["--out-of-core"]):
        said = cli(
            "fit", *files, "--text", "body", *FAST, "-o", "out", "--force", "--no-levels", *way
        )
        assert said.code == 0, said.err
        assert pl.read_csv("out/table.csv")["body"].to_list() == texts()
    Path("full.csv").write_bytes(content)
    assert cli("predict", model, *files, "-o", "new.csv", "--force").code == exits.EMPTY
