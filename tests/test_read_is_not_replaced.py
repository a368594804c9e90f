"""No output replaces a file that was read, under whatever name; --force replaces earlier output alone."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from coterie import Clustering, cluster, cluster_large, load
from coterie.cli import main
from coterie.errors import CoterieError

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
FAST = ["--sweeps", "3", "--no-levels", "--quiet"]
QUICK: dict[str, Any] = {"n_sweeps": 3, "levels": False}
WORDS = ("bread flour yeast oven dough", "bike wheel gear saddle tyre")
TEXTS = [" ".join(WORDS[i % 2].split()[j] for j in range(5) if j != i % 5) for i in range(24)]

# What is read, by the option that names it, and the file that is in danger.
READ = {
    "FILE": "in.csv",
    "several": "more/b.csv",
    "folder": "corpus/a.txt",
    "-": "in.csv",
    "--seeds": "topics.csv",
    "--seeds folder": "kept/config.json",
    "--stop-words": "stop.csv",
    "--embedder": "vectors.vec",
}
ALIASES: dict[str, Callable[[Path, Path], Any]] = {
    "itself": lambda at, new: None,
    "..": lambda at, new: None,
    "symbolic link": lambda at, new: new.symlink_to(at.absolute()),
    "hard link": lambda at, new: new.hardlink_to(at),
    "linked folder": lambda at, new: new.symlink_to(at.absolute().parent, True),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Clustering) -> Path:
    """Everything that a command may read."""
    monkeypatch.chdir(tmp_path)
    table = "body\n" + "".join(f"{text}\n" for text in TEXTS)
    for name in ("in.csv", "more/a.csv", "more/b.csv", "corpus/a.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(table)
    Path("topics.csv").write_text("name,words\nbread,bread flour\nbikes,bike wheel\n")
    Path("stop.csv").write_text("saddle\n")
    lines = [f"{word} {i % 7} {i % 3} 1" for i, word in enumerate(" ".join(WORDS).split())]
    Path("vectors.vec").write_text("\n".join(lines) + "\n")
    model.save("kept")
    return tmp_path


@pytest.fixture(scope="module")
def model() -> Clustering:
    return cluster(TEXTS, embedder=None, **QUICK)


def state(folder: Path) -> dict[str, bytes]:
    return {str(at): at.read_bytes() for at in folder.rglob("*") if at.is_file()}


def named(at: str, alias: str, ending: str = "") -> str:
    """Another name of a file."""
    path = Path(at)
    new = Path("alias" + (ending or path.suffix))
    ALIASES[alias](path, new)
    if alias in ("symbolic link", "hard link"):
        return str(new)
    if alias == "..":
        return f"new/../{at}"
    if alias == "linked folder":
        return str(new / path.name)
    return at


def arguments(read: str) -> list[str]:
    """A fit that reads this."""
    plain = ["fit", "in.csv", *FAST]
    return {
        "FILE": [*plain, "--embedder", "none"],
        "several": ["fit", "more/a.csv", "more/b.csv", "--embedder", "none", *FAST],
        "folder": ["fit", "corpus", "--embedder", "none", *FAST],
        "-": ["fit", "-", "--embedder", "none", *FAST],
        "--seeds": [*plain, "--seeds", "topics.csv", "--embedder", "none"],
        "--seeds folder": [*plain, "--seeds", "kept", "--embedder", "none"],
        "--stop-words": [*plain, "--stop-words", "stop.csv", "--embedder", "none"],
        "--embedder": [*plain, "--embedder", "vectors.vec"],
    }[read]


@POSIX
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
@pytest.mark.parametrize("option", ["-o", "--report", "--model", "--checkpoint"])
@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("read", READ)
def test_fit(
    folder: Path,
    read: str,
    alias: str,
    option: str,
    force: list[str],
    capsys: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = named(READ[read], alias, ".csv")
    before = state(folder)
    standard_input = os.dup(0)
    with open("in.csv", "rb") as file:
        os.dup2(file.fileno(), 0)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read())))
        try:
            code = main([*arguments(read), option, out, *force])
        finally:
            os.dup2(standard_input, 0)
            os.close(standard_input)
    assert code == 1, capsys.readouterr().err
    assert state(folder) == before


@POSIX
@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("at", ["in.csv", "kept/config.json", "kept/documents.parquet"])
@pytest.mark.parametrize("command", ["predict", "report"])
def test_predict_and_report(folder: Path, command: str, at: str, alias: str, capsys: Any) -> None:
    out = named(at, alias, ".csv")
    before = state(folder)
    files = ["in.csv"] if command == "predict" else []
    assert main([command, "kept", *files, "-o", out, "--force", "--quiet"]) == 1
    assert state(folder) == before


@POSIX
@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("read", ["FILE", "several", "folder", *list(READ)[4:]])
def test_in_python(folder: Path, read: str, alias: str) -> None:
    out = named(READ[read], alias, ".csv")
    data: Any = {"several": [Path("more/a.csv"), Path("more/b.csv")], "folder": "corpus"}
    how: dict[str, Any] = {
        "--seeds": {"seeds": "topics.csv"},
        "--seeds folder": {"seeds": Path("kept")},
        "--stop-words": {"stop_words": "stop.csv"},
        "--embedder": {"embedder": Path("vectors.vec")},
    }
    given = {"embedder": None, **how.get(read, {}), **QUICK}
    before = state(folder)
    if read != "folder":
        with pytest.raises(CoterieError, match="input file"):
            cluster_large(data.get(read, "in.csv"), out, **given)
    groups = cluster(data.get(read, "in.csv"), **given)
    os.chdir("more")  # paths are those of the folder where they were read
    out = os.path.join("..", out)
    for write in (groups.report, groups.plot().save):
        with pytest.raises(CoterieError, match="input file"):
            write(out)
    groups.rename(0, "Bakers")
    if out.endswith(".csv"):
        with pytest.raises(CoterieError, match="input file"):
            groups.write(out)
    with pytest.raises(CoterieError):
        groups.save(out)
    if read == "--seeds folder":
        with pytest.raises(CoterieError, match="input file"):
            groups.save(folder / "kept")
    assert state(folder) == before


def test_a_model_that_was_loaded(folder: Path) -> None:
    """Its files are not replaced one by one, but it may be saved again, as a whole."""
    groups = load("kept")
    before = state(folder)
    for name in ("documents.parquet", "vocabulary.txt"):
        with pytest.raises(CoterieError, match="input file"):
            groups.report(folder / "kept" / name)
    with pytest.raises(CoterieError, match="input file"):
        groups.write(folder / "kept" / "documents.parquet")
    assert state(folder) == before
    groups.rename(0, "Bakers")
    groups.save("kept")
    assert load("kept").names[0] == "Bakers"


FOREIGN = {
    "t.csv": b"year,work\n1990,thesis\n",
    "cluster.csv": b"cluster,name,height\n1,a,2\n",
    "t.tsv": b"year\twork\n",
    "t.jsonl": b'{"cluster": 1, "work": "thesis"}\n',
    "odd.jsonl": b"[1, 2]\n",
    "t.parquet": b"PAR1 but damaged",
    "t.xlsx": b"PK\3\4 but damaged",
    "page.html": b"<!doctype html><title>cluster,name,probability</title>",
    "notes.txt": b"\n\n",
}


@pytest.mark.parametrize("at", FOREIGN)
def test_force_replaces_no_file_of_others(folder: Path, at: str, capsys: Any) -> None:
    Path(at).write_bytes(FOREIGN[at])
    if at == "t.parquet":
        pl.DataFrame({"cluster": [1], "name": ["a"]}).write_parquet(at)
    if at == "t.xlsx":
        pl.DataFrame({"cluster": [1], "name": ["a"]}).write_excel(at)
    before = state(folder)
    options = [["--report", at], ["-o", at]] if Path(at).suffix not in (".html", ".txt") else []
    for option in options or [["--report", at]]:
        assert main(["fit", "in.csv", "--embedder", "none", *option, "--force", *FAST]) == 1
        assert "--force" in capsys.readouterr().err
    out = ["-o", at]
    command = ["predict", "kept", "in.csv"] if len(options) > 1 else ["report", "kept"]
    assert main([*command, *out, "--force", "--quiet"]) == 1
    assert "--force" in capsys.readouterr().err
    assert state(folder) == before


TABLES = {
    "plain": "body\n{}",
    "our names": "cluster;name;probability;body\n{}",
    "quoted": '"the body";"b"\n{}',
    "tabs": "body\tn\n{}",
}


@pytest.mark.parametrize(
    ("kind", "encoding"),
    [(kind, "utf-8") for kind in ("csv", "tsv", "jsonl", "parquet", "xlsx")] + [("csv", "utf-16")],
)
@pytest.mark.parametrize("table", TABLES)
def test_force_replaces_every_table_of_an_earlier_run(
    folder: Path, table: str, kind: str, encoding: str, capsys: Any
) -> None:
    header = TABLES[table].partition("\n")[0]
    separator = "\t" if "\t" in header else ";"
    cells = separator.join(["{}"] + ["1"] * header.count(separator))
    if header.startswith("cluster"):
        cells = separator.join(["1"] * header.count(separator) + ["{}"])
    rows = "\n".join(cells.format(text) for text in TEXTS)
    Path("odd.csv").write_text(f"{header}\n{rows}\n", encoding=encoding)
    column = header.split(separator)[-1 if header.startswith("cluster") else 0]
    text = ["--text", column.strip('"')]
    for command in (
        ["fit", "odd.csv", "--embedder", "none", *FAST[:-1]],
        ["predict", "kept", "odd.csv"],
    ):
        for force in ([], ["--force"]):
            out = f"{command[0]}.{kind}"
            assert main([*command, *text, "-o", out, *force, "--quiet"]) == 0, capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "encoding"), [('"id\nx"', "utf-8"), ("\u0a05", "utf-16"), ("id", "cp037")]
)
def test_force_replaces_tables_in_any_spelling(folder: Path, name: str, encoding: str) -> None:
    rows = "\n".join(f"1,{text}" for text in TEXTS)
    Path("odd.csv").write_bytes(f"{name},text\n{rows}\n".encode(encoding))
    how = ["--text", "text", "--embedder", "none", "--encoding", encoding, *FAST[:-1]]
    for force in ([], ["--force"]):
        assert main(["fit", "odd.csv", *how, "-o", "out.csv", *force, "--quiet"]) == 0


def test_force_replaces_pages_and_empty_files(folder: Path) -> None:
    for _ in range(2):
        assert main(["report", "kept", "-o", "page.html", "--force", "--quiet"]) == 0
    for out in ("new.csv", "new.xlsx"):
        Path(out).touch()  # as mktemp makes them
        assert main(["predict", "kept", "in.csv", "-o", out, "--force", "--quiet"]) == 0


def test_upper_and_lower_case(folder: Path, capsys: Any) -> None:
    if not Path("IN.CSV").exists():
        pytest.skip("upper and lower case are different names here")
    before = state(folder)
    for option in ("-o", "--report"):
        assert main(["fit", "in.csv", option, "IN.CSV", "--force", *FAST]) == 1
        assert "input file" in capsys.readouterr().err
    assert state(folder) == before


def test_packed_inputs_are_inputs(folder: Path, capsys: Any) -> None:
    Path("in.csv.gz").write_bytes(gzip.compress(Path("in.csv").read_bytes()))
    before = state(folder)
    assert main(["fit", "in.csv.gz", "--report", "in.csv.gz", "--force", *FAST]) == 1
    assert "input file" in capsys.readouterr().err
    assert state(folder) == before
