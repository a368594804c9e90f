"""The command line gives the user's table back, and nothing that a spreadsheet would run."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from coterie.cli import main

TOPICS = (
    "bread flour yeast oven dough",
    "bike wheel gear saddle tyre",
    "comet planet orbit moon star",
)
ODD = ["1.10", "12e5", "1", "1e400", "007", "=1+1", " x ", "", "a\rb", 'say "hi"']


def texts(n: int = 30) -> list[str]:
    words = [topic.split() for topic in TOPICS]
    return [" ".join(words[i % 3][(i + j) % 5] for j in (0, 1, 3)) for i in range(n)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: Any, stdin: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main([*map(str, arguments)])
        said = capsys.readouterr()
        assert code == 0, said.err
        return str(said.out)

    return call


def put_csv(path: str, rows: list[list[str]]) -> list[list[str]]:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return rows


def get_csv(content: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content, newline="")))


def read_csv(path: str) -> list[list[str]]:
    return get_csv(Path(path).read_bytes().decode())


def test_fit_and_predict_give_every_cell_back(run):
    body = [[text, ODD[i % len(ODD)], str(i)] for i, text in enumerate(texts())]
    table = put_csv("x.csv", [["text", "v", "v"], *body, ["", "", ""], ["", "", ""]])
    run("fit", "x.csv", "--sweeps", 5, "-q")
    assert [row[:3] for row in read_csv("x.coterie/table.csv")] == table
    assert [row[:3] for row in get_csv(run("predict", "x.coterie", "x.csv", "-q"))] == table
    run("predict", "x.coterie", "x.csv", "-q", "-o", "out.csv")
    assert [row[:3] for row in read_csv("out.csv")] == table


def test_json_lines_come_back(run):
    lines = [f'{{"text": "{text}", "v": [1, "x"], "n": 1.10}}' for text in texts()]
    Path("x.jsonl").write_text("\n".join(lines))
    run("fit", "x.jsonl", "--sweeps", 5, "-q")
    found = Path("x.coterie/table.jsonl").read_text().split("\n")[:-1]
    assert all(new.startswith(old[:-1]) for new, old in zip(found, lines, strict=True))
    assert get_csv(run("predict", "x.coterie", "x.jsonl", "-q"))[1][1:3] == ['[1, "x"]', "1.10"]


def test_nothing_we_write_is_a_formula(run):
    body = [[f"=cmd {text}"] for text in texts()]
    put_csv("x.csv", [["text"], *body])
    Path("seeds.json").write_text(
        json.dumps({"=HYPERLINK(1)": "bread flour", "@bike": "bike wheel"})
    )
    run("fit", "x.csv", "--seeds", "seeds.json", "--sweeps", 5, "-q")
    clusters = read_csv("x.coterie/clusters.csv")
    assert "'=HYPERLINK(1)" in [row[1] for row in clusters]
    examples = [cell for row in clusters[1:] for cell in row[-3:] if cell]
    assert examples
    assert all(cell.startswith("'=cmd") for cell in examples)
    for kind, separator in (("csv", ","), ("tsv", "\t")):
        run("predict", "x.coterie", "x.csv", "-q", "-o", f"out.{kind}")
        found = csv.reader(io.StringIO(Path(f"out.{kind}").read_text()), delimiter=separator)
        table = list(found)
        assert table[1][0] == body[0][0]  # theirs, as it is
        names = {row[2] for row in table[1:]}
        assert "'=HYPERLINK(1)" in names
        assert not any(name.startswith(("=", "@")) for name in names)


def test_no_header(run):
    put_csv("x.csv", [[text] for text in texts()])
    run("fit", "x.csv", "--no-header", "--sweeps", 5, "-q")
    table = read_csv("x.coterie/table.csv")
    assert table[0][0] == "column_1"
    assert [row[0] for row in table[1:]] == texts()
    run("predict", "x.coterie", "x.csv", "--no-header", "-q", "-o", "out.csv")
    assert [row[0] for row in read_csv("out.csv")[1:]] == texts()
    run("predict", "x.coterie", "x.csv", "--header", "-q", "-o", "headed.csv")
    assert [row[0] for row in read_csv("headed.csv")[1:]] == texts()[1:]


def test_the_options_are_named_as_options(run, capsys):
    Path("x.jsonl").write_text('{"text": "a b"}\n')
    assert main(["fit", "x.jsonl", "--header"]) == 1
    assert "--header only applies to csv and tsv files" in capsys.readouterr().err
