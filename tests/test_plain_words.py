"""What a person reads: options instead of Python on the command line, and singulars where they belong."""

import re
from pathlib import Path
from typing import Any

import pytest
from test_cli import FAST, cli, texts  # noqa: F401

import coterie
from coterie._sentence import counted

TEXTS = texts(30)
PYTHON = re.compile(
    r"\b(None|True|False|[a-z]+_[a-z]+|language|header|encoding|text|id|seeds)=|\bNone\b"
)

FILES = {
    "unknown language": "\n".join(TEXTS).encode(),
    "one missing text": "\n".join(
        ["body,n", *(f"{t},{i}" for i, t in enumerate(TEXTS)), ",7"]
    ).encode(),
    "unclear header": "\n".join(["opinion", *TEXTS]).encode(),
    "latin-1": "\n".join(f"{t} caf\xe9" for t in TEXTS).encode("latin-1"),
    "utf-16": "\n".join(TEXTS).encode("utf-16-le"),
    "stray byte": "\n".join(f"{t} schön" for t in TEXTS).encode() + b"\ncaf\xe9 bread\n",
}
REFUSED = {
    "n-clusters": ["--n-clusters", "0"],
    "seed": ["--seed", "-1"],
    "language": ["--language", "xx"],
    "min-df": ["--min-df", "80"],
    "max-df": ["--max-df", "1"],
    "max-df value": ["--max-df", "0"],
    "encoding": ["--encoding", "klingon"],
    "seed-weight": ["--seed-weight", "3"],
    "header": ["--header"],
    "text": ["--text", "nobody"],
}


@pytest.mark.parametrize("name", FILES)
def test_notes_on_the_command_line_name_options(name: str, cli: Any) -> None:  # noqa: F811
    Path("t.csv" if "header" in name or "missing" in name else "t.txt").write_bytes(FILES[name])
    said = cli("fit", *(str(p) for p in Path().glob("t.*")), *FAST)
    assert said.code == 0, said.err
    assert "Notes" in said.out
    assert not PYTHON.search(said.out), PYTHON.search(said.out)


@pytest.mark.parametrize("name", REFUSED)
def test_errors_on_the_command_line_name_options(name: str, cli: Any) -> None:  # noqa: F811
    Path("t.txt").write_bytes(FILES["unknown language"])
    said = cli("fit", "t.txt", *REFUSED[name])
    assert said.code == 1
    assert not PYTHON.search(said.err), said.err


def test_the_same_notes_name_parameters_in_python() -> None:
    assert any("language='en'" in note for note in coterie.cluster(TEXTS).notes)


def test_one_is_singular(cli: Any) -> None:  # noqa: F811
    Path("t.csv").write_bytes(FILES["one missing text"])
    said = cli("fit", "t.csv", *FAST)
    assert "1 row without text" in said.out
    assert "2 rows without text" in "".join(coterie.cluster([*TEXTS, "", None]).notes)
    assert repr(coterie.cluster(["a single text"])) == "Clustering(1 text, 1 cluster)"
    assert [counted(n, "text") for n in (0, 1, 2, 1500)] == [
        "0 texts", "1 text", "2 texts", "1,500 texts"
    ]  # fmt: skip
    assert [counted(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]
