"""Every JSON that a command writes can be read by a strict parser: what is no finite number is null."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_cli import FAST, cli, texts  # noqa: F401
from test_io import forge

import coterie

BODIES = [*texts(30), "", "???"]  # the last two have no words, so no outlier score either
ODD = (float("nan"), float("inf"), -float("inf"), 1.5)
ROWS = pl.DataFrame({"body": BODIES, "stars": [ODD[i % 4] for i in range(len(BODIES))]})


def strict(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON: {text[:200]}")

    return json.loads(text, parse_constant=refuse)


def check_rows(content: str) -> None:
    """Lines with a row of a table; the texts without words have no score."""
    rows = [strict(line) for line in content.splitlines()]
    without = [row for row in rows if row["cluster"] == -1]
    assert rows
    assert all(row["outlier_score"] is None for row in without)
    assert all(row["outlier_score"] is not None for row in rows if row not in without)


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"reviews.{request.param}"
    getattr(ROWS, {"jsonl": "write_ndjson"}.get(request.param, f"write_{request.param}"))(path)
    return path


def test_all_that_a_day_of_commands_writes(cli: Any, file: Path) -> None:  # noqa: F811
    about = ("--text", "body", "--no-levels", "--embedder", "none", *FAST)
    by = ("--by", "stars") if file.suffix == ".parquet" else ()
    said = [
        cli("fit", file, *about, *by, "--format", "jsonl", "--per-group", "-o", "out", "--json"),
        cli("info", "out", "--json"),
        cli("edit", "out", "--rename", "0=Bread", "-o", "edited", "--json"),
        cli("predict", "out", file, "-o", "new.jsonl", "--json"),
        cli("predict", "out", file, "-o", "-", "--json"),
    ]
    for one in said:
        assert one.code == 0, one.err
        strict(one.out)
    for row in strict(said[-1].out)["predictions"][-2:]:
        assert (row["cluster"], row["outlier_score"], row["trust"]) == (-1, None, None)
    check_rows(cli("fit", file, *about, "-o", "-", "--format", "jsonl", "--quiet").out)
    for path in [
        Path("new.jsonl"),
        *Path("out").rglob("*.jsonl"),
        *Path("edited").rglob("*.jsonl"),
    ]:
        if path.name != "objects.jsonl":  # the rows as they were read
            check_rows(path.read_text())
    found = list(Path().rglob("*.json"))
    assert {path.name for path in found} == {"run.json", "config.json"}
    for path in found:
        strict(path.read_text())


def test_a_file_read_in_parts(cli: Any, tmp_path: Path) -> None:  # noqa: F811
    ROWS.write_ndjson(tmp_path / "reviews.jsonl")
    said = cli("fit", "reviews.jsonl", "--text", "body", "--out-of-core", "-o", "out", "--json")
    assert said.code == 0, said.err
    strict(said.out)
    check_rows(Path("out/table.jsonl").read_text())


def test_a_model_of_somebody_else(cli: Any, tmp_path: Path) -> None:  # noqa: F811
    """Its settings may say anything."""
    coterie.cluster(BODIES, levels=False, embedder="none").save(tmp_path / "model")

    def say_nan(config: Any) -> None:
        config["fitted"]["settings"] = [["beta", "nan", "why"], ["alpha", "-inf", "why"]]
        config["fitted"]["seconds"] = float("inf")

    forge(tmp_path / "model", config=say_nan)
    facts = strict(cli("info", "model", "--json").out)
    assert [setting["value"] for setting in facts["settings"]] == [None, None]
    assert facts["seconds"] is None
