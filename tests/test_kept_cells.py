"""Cells that a fit kept exactly come out the same after an edit, and from a loaded model.

This is a contract for every kind of file that coterie reads, however it was told to read it. Where a
cell cannot be kept, or somebody has worked in a result since, coterie says so in a sentence.
"""

import codecs
import datetime
import gzip
import io
import json
import math
import platform
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from test_cli import FAST, cli, refused, texts  # noqa: F401

import coterie
from coterie import Clustering
from coterie import io as folders
from coterie.errors import InvalidInput, ModelFileError
from coterie.text import readers, writing
from coterie.text.writing import KINDS, table_bytes

TEXTS = texts()
EDIT = ("--rename", "0=First")


def lines(head: str, row: Callable[[int], str], end: str = "\n") -> str:
    """A header and a line per text, where `row` has a star for the text."""
    every = [head] if head else []
    return end.join([*every, *(row(i).replace("*", text) for i, text in enumerate(TEXTS))]) + end


CODES = ["1.10", "007", "12e5", str(2**70), "2024-01-02", "TRUE", '"a,b"', "", '""', "café"]
CSV = lines("id,code,text,price", lambda i: f"{i:03},{CODES[i % 10]},*,{i % 3}.50")
TWICE = lines("text,a,a,", lambda i: f"*,1.10,{i}.0,é")
EASTERN = TWICE.replace(",1.10", " ő,1.10")
GERMAN = lines("text;preis;n", lambda i: f"*;{i},50;0{i}", "\r\n")
BARE = lines("", lambda i: f"{i}|1.10|*|x")
TABS = lines("text\tn\tn", lambda i: f"*\t1.{i}0\t{i:04}")
ODD = [
    '{"text":"*","x":1.10,"big":12345678901234567890123}',
    '{ "x" : [1, "a", {"y": 1.0}], "text" : "*", "day":"2024-01-02" }',
    '{"text":"*","x":null,"empty":{},"no":true}',
    '{"text":"*","text2":"caf\\u00e9 é","x":"1.10","x":2}',
]
JSONL = lines("", lambda i: ODD[i % 4])
SAME = lines("", lambda i: f'{{"text":"*","price":{i}.10,"id":{2**62 + i}}}')

# name -> (bytes, options of the command)
OF_TEXT: dict[str, tuple[bytes, list[str]]] = {
    "plain.csv": (CSV.encode(), []),
    "marked.csv": (codecs.BOM_UTF8 + CSV.encode(), []),
    "latin.csv": (TWICE.encode("latin-1"), ["--encoding", "latin-1"]),
    "named.csv": (EASTERN.encode("cp1250"), ["--encoding", "cp1250", "--header"]),
    "german.csv": (GERMAN.encode("cp1252"), []),
    "wide.csv": (codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), []),
    "bare.csv": (BARE.encode(), ["--no-header", "--text", "column_3"]),
    "packed.csv.gz": (gzip.compress(CSV.encode()), []),
    "tabs.tsv": (TABS.encode(), []),
    "bare.tab": (TABS.partition("\n")[2].encode(), ["--no-header", "--text", "column_1"]),
    "odd.jsonl": (JSONL.encode(), []),
    "same.ndjson": (SAME.encode(), ["--id", "id"]),
    "latin.jsonl": (JSONL.encode("latin-1"), ["--encoding", "latin-1"]),
    "list.json": (f"[{','.join(JSONL.splitlines())}]".encode(), []),
}
D = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
TYPED = pl.DataFrame(
    {
        "text": TEXTS,
        "price": [f"{i}.10" for i in range(30)],
        "id": [2**62 + i for i in range(30)],
        "n": pl.Series([i % 7 or None for i in range(30)], dtype=pl.UInt8),
        "share": [i / 7 for i in range(30)],
        "yes": [True, None, False] * 10,
        "day": [D.date(), None] * 15,
        "at": [D, None] * 15,
        "money": [Decimal("1.10"), Decimal("2.00"), None] * 10,
        "tags": [["a", None], []] * 15,
        "of": [{"a": 1, "b": "x"}, None] * 15,
        "kind": pl.Series(["a", "b", None] * 10, dtype=pl.Categorical),
        "raw": [b"\xff", b""] * 15,
    }
).with_columns(zone=pl.col("at").dt.replace_time_zone("Asia/Kolkata"), took=pl.duration(hours=3))
SHEET = TYPED.select("text", "price", "n", "share", "yes", "day")


def of_types(name: str) -> list[str]:
    """Write a file with types; return the options to read it."""
    if name.endswith(".parquet"):
        TYPED.write_parquet(name)
        return []
    from xlsxwriter import Workbook

    with Workbook(name) as book:
        pl.DataFrame({"text": ["not", "these"]}).write_excel(book, "first")
        SHEET.write_excel(book, "second")
    return ["--sheet", "second"]


NAMES = [*OF_TEXT, "typed.parquet", "typed.xlsx"]


def put(name: str) -> list[str]:
    """Write an input; return the options to read it."""
    if name not in OF_TEXT:
        return [*of_types(name), "--text", "text"]
    content, options = OF_TEXT[name]
    Path(name).write_bytes(content)
    return options if "--text" in options else [*options, "--text", "text"]


# ---------------------------------------------------------------- load and write
def fitted(data: Any, **how: Any) -> Clustering:
    return coterie.cluster(data, embedder=None, levels=False, n_sweeps=3, **how)


def from_options(options: list[str]) -> dict[str, Any]:
    """Options of the command as arguments of `cluster`."""
    found: dict[str, Any] = {}
    rest = iter(options)
    for option in rest:
        name = option.removeprefix("--").removeprefix("no-")
        found[name] = option == "--header" if name == "header" else next(rest)
    return found


def contents(groups: Clustering, kind: str) -> Any:
    """The table as a file; sheets have the time in them, so they are read."""
    content = table_bytes(groups.rows, groups.added, kind)
    return content if kind != "xlsx" else pl.read_excel(content).rows()


def check_same(one: Clustering, other: Clustering) -> None:
    """Both write the same files, of each kind, and have the same ids and columns."""
    assert contents(one, "csv").count(b"\n") > len(TEXTS)
    for kind in KINDS:
        try:
            made = contents(one, kind)
        except InvalidInput:  # parquet has no objects without fields
            continue
        assert contents(other, kind) == made, kind
    assert list(one.rows.ids or []) == list(other.rows.ids or [])
    assert list(one.rows.texts) == list(other.rows.texts)


def several() -> list[Path]:
    """Files that are read together."""
    for name in ("one.csv", "two.csv"):
        Path(name).write_text(CSV.replace("1.10", "2.20" if name == "two.csv" else "1.10"))
    return [Path("one.csv"), Path("two.csv")]


def folder() -> Path:
    """A folder with a text in each file."""
    Path("texts").mkdir()
    for i, text in enumerate(TEXTS):
        Path(f"texts/{i}.txt").write_text(text, encoding="utf-8")
    return Path("texts")


OTHERS: dict[str, Callable[[], Any]] = {
    "a list": lambda: TEXTS,
    "several files": several,
    "a folder": folder,
    "an open file": lambda: io.BytesIO(CSV.encode()),
    "polars": lambda: TYPED,
    "pandas": lambda: pd.DataFrame(
        {"text": TEXTS, "n": [None, 1.5, 2] * 10, "mixed": [1, "a", {"b": 1.0}] * 10, 3: "x"}
    ),
    "pyarrow": lambda: TYPED.drop("kind").to_arrow(),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, "small") for name in (*NAMES, *OTHERS)),
        *((name, "large") for name in NAMES if "json" in name),
    ],
)
def test_a_loaded_model_writes_the_same_cells(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: str
) -> None:
    if size == "large":  # objects are read from the disk when they are written
        monkeypatch.setattr(folders, "LARGE", 1)
    if name in OTHERS:
        data = OTHERS[name]()
        how = {} if isinstance(data, list | Path) else {"text": "text"}
    else:
        data, how = name, from_options(put(name))
    groups = fitted(data, **how)
    groups.save("model")
    loaded = coterie.load("model")
    assert not any("notation" in note for note in loaded.rows.notes)
    check_same(groups, loaded)
    loaded.save("model")  # over itself
    check_same(groups, coterie.load("model"))
    loaded.rename(0, "Renamed")
    loaded.save("other")
    shutil.rmtree("model")
    loaded = coterie.load("other")
    groups.rename(0, "Renamed")
    check_same(groups, loaded)
    types = loaded.rows.frame.schema
    if name in OF_TEXT or name.startswith("typed"):
        assert [types[n] for n in types if n != "empty"] == [
            dtype for n, dtype in groups.rows.frame.schema.items() if n != "empty"
        ]


def as_number(spelled: str) -> Any:
    """A number that equals others of the same value, however they are written."""
    return spelled if len(spelled) > 20 else Decimal(spelled)


SPELLED: Any = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), as_number)
MIXED = {  # values of one column in JSON
    "lists": ['[1, "a"]', "[1.10]", "[null]"],
    "objects": ['{"a": 1}', '{"a": "x"}', '{"c": {"d": [1, 1.10]}}'],
    "numbers and texts": ["1.10", '"x"', "2.50"],
    "many digits": ["0.1000000000000000055511151231257827", "1.5"],
    "many digits in lists": ["[0.1000000000000000055511151231257827]", "[1.5]"],
    "long ids": ["98765432109876543210987", "1"],
    "long ids in objects": ['{"a": 98765432109876543210987}', '{"a": 1}'],
    "too large": ["1e400", "1"],
    "too small": ["1e-400", "1.5"],
    "far too small": ["1e-99999999999999999999", "1.5"],
    "signs and true": ["-0", "true", "-0.0"],
}


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("size", ["small", "large"])
def test_values_of_json_that_have_no_type_are_written_as_json(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: str
) -> None:
    """In files that have types, nothing of them is lost; other programs can read these files."""
    if size == "large":
        monkeypatch.setattr(folders, "LARGE", 1)
    values = [MIXED[name][i % len(MIXED[name])] for i in range(len(TEXTS))]
    lines = [
        f'{{"text": {json.dumps(t)}, "n": {v}, "^a.*$": 1.5}}'  # polars takes it for a pattern
        for t, v in zip(TEXTS, values, strict=True)
    ]
    Path("in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    groups = fitted("in.jsonl", text="text")
    groups.save("model")
    for one in (groups, coterie.load("model")):
        one.write("out.parquet")
        one.write("out.xlsx")
        sheet = pl.read_excel("out.xlsx", infer_schema_length=0)["n"].to_list()
        for found in (pq.read_table("out.parquet")["n"].to_pylist(), sheet):
            assert [v if v.startswith("x") else json.loads(v, **SPELLED) for v in found] == [
                json.loads(v, **SPELLED) for v in values
            ]


def test_what_json_does_not_have_is_said(here: Path) -> None:
    odd = [math.nan, math.inf, None, 1.5]
    frame = pl.DataFrame({"text": TEXTS, "odd": [odd[i % 4] for i in range(len(TEXTS))], "n": 0.5})
    groups = fitted(frame.with_columns(missing=pl.lit(None, pl.Float64)), text="text")
    groups.write("out.csv")
    assert not any("JSON" in note for note in groups.notes)
    groups.write("out.jsonl")
    (said,) = [note for note in groups.notes if "JSON" in note]
    assert said.endswith(": 'odd'.")
    found = [json.loads(line)["odd"] for line in Path("out.jsonl").read_text().splitlines()]
    assert found[:4] == [None, None, None, 1.5]


@pytest.mark.parametrize("kind", ["list", "columns", "lines", "odd lines"])
def test_fields_of_later_objects_are_kept(here: Path, kind: str) -> None:
    values = [{"a": 1}, {"b": "y", "a": 2}, {"c": {"d": 1}}, {"c": {"e": [{"f": 1}, {"g": 2}]}}]
    rows = [{"text": text, "n": values[i % 4]} for i, text in enumerate(TEXTS)]
    path = Path("in.jsonl" if "lines" in kind else "in.json")
    if kind == "columns":
        columns = {key: [row[key] for row in rows] for key in ("text", "n")}
        path.write_text(json.dumps(columns))
    elif kind == "list":
        path.write_text(json.dumps(rows))
    else:
        odd = {"text": "half a character: \ud800", "n": values[0]}  # which polars does not read
        path.write_text("\n".join(map(json.dumps, [*rows, *([odd] if "odd" in kind else [])])))
    groups = fitted(path, text="text")
    groups.write("out.parquet")
    for found in (groups.table["n"].to_list(), pq.read_table("out.parquet")["n"].to_pylist()):
        assert [without_nulls(value) for value in found[:4]] == values


def without_nulls(value: Any) -> Any:
    """Objects without the fields of others."""
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    if isinstance(value, dict):
        return {key: without_nulls(of) for key, of in value.items() if of is not None}
    return value


@pytest.mark.parametrize(
    "value", ["1.5", "0.10", "12", "[1, 2]", "[0.5, 1.50]", '{"a": 1.25, "b": 12345678901234567}']
)
def test_values_of_json_that_have_a_type_keep_it(here: Path, value: str) -> None:
    lines = [f'{{"text": {json.dumps(text)}, "n": {value}}}' for text in TEXTS]
    Path("in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    fitted("in.jsonl", text="text").write("out.parquet")
    assert pq.read_table("out.parquet")["n"].to_pylist() == [json.loads(value)] * len(TEXTS)


def test_a_model_in_memory_does_not_need_its_folder(here: Path) -> None:
    put("odd.jsonl")
    groups = fitted("odd.jsonl", text="text")
    groups.save("model")
    loaded = coterie.load("model")
    shutil.rmtree("model")
    check_same(groups, loaded)


@pytest.mark.parametrize("change", ["removed", "shorter", "other"])
def test_a_large_file_of_a_model_that_changed_is_said(
    here: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(folders, "LARGE", 1)
    put("odd.jsonl")
    fitted("odd.jsonl", text="text").save("model")
    loaded = coterie.load("model")
    file = Path("model/objects.jsonl")
    if change == "removed":
        file.unlink()
    else:
        before = file.read_bytes()
        file.write_bytes(before[:-50] if change == "shorter" else before.replace(b"1.10", b"9.99"))
    made = contents(loaded, "jsonl").decode().splitlines()
    assert [json.loads(line)["text"] for line in made] == TEXTS
    assert "9.99" not in made[0]
    assert writing.CHANGED in loaded.rows.notes


def test_a_file_that_changed_before_saving_is_said(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.text._files.LARGE", 1)
    put("odd.jsonl")
    groups = fitted("odd.jsonl", text="text")
    Path("odd.jsonl").unlink()
    groups.save("model")
    assert not Path("model/objects.jsonl").exists()
    loaded = coterie.load("model")
    assert writing.CHANGED in loaded.rows.notes
    loaded.save("again")
    assert writing.CHANGED in coterie.load("again").rows.notes


def test_columns_that_no_file_holds_are_said(here: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "odd": [object() for _ in TEXTS]})
    fitted(frame, text="text").save("model")
    notes = coterie.load("model").rows.notes
    assert "The saved model is without 1 column of your table" in " ".join(notes)


def as_earlier(model: Path) -> None:
    """Change a model to one of the version before, which had only the table."""
    change(model, lambda about: about["fitted"].pop("table"))


def change(model: Path, how: Callable[[Any], Any]) -> None:
    """Change the config of a model, with a right checksum."""
    about = json.loads((model / "config.json").read_bytes())
    how(about)
    about["checksum"] = folders._config_digest(about)
    (model / "config.json").write_text(json.dumps(about))


def test_a_model_of_an_earlier_version_says_that_it_is_not_exact(here: Path) -> None:
    put("plain.csv")
    fitted("plain.csv", text="text").save("model")
    as_earlier(Path("model"))
    loaded = coterie.load("model")
    assert readers.OF_EARLIER in loaded.rows.notes
    assert len(contents(loaded, "csv").splitlines()) == len(TEXTS) + 1
    loaded.save("again")
    assert readers.OF_EARLIER in coterie.load("again").rows.notes


LIES: dict[str, Callable[[Any], Any]] = {
    "no table": lambda table: table.clear(),
    "n_columns": lambda table: table.update(n_columns="many"),
    "dialect": lambda table: table.update(dialect=5),
    "separator": lambda table: table["dialect"].update(separator=",,"),
    "letter": lambda table: table["dialect"].update(separator="é"),
    "quote": lambda table: table["dialect"].update(separator='"'),
    "line end": lambda table: table["dialect"].update(line_end="\n=1+1"),
    "mark": lambda table: table["dialect"].update(mark="=1"),
    "encoding": lambda table: table["dialect"].update(encoding="klingon"),
    "no encoding": lambda table: table["dialect"].update(encoding="zlib"),
    "zero": lambda table: table["dialect"].update(encoding="a\0"),
    "more": lambda table: table["dialect"].update(more=1),
    "cells": lambda table: table.update(cells=[]),
    "header": lambda table: table["cells"].update(header=["a"]),
    "names": lambda table: table["cells"].update(header=[1, 2, 3, 4]),
    "half a letter": lambda table: table["cells"].update(header=["\ud800", "b", "c", "d"]),
    "numbers": lambda table: table["cells"].update(numbers=[[]]),
    "lost": lambda table: table.update(lost=5),
}


@pytest.mark.parametrize("name", LIES)
def test_a_forged_table_is_refused(here: Path, name: str) -> None:
    put("plain.csv")
    fitted("plain.csv", text="text").save("model")
    change(Path("model"), lambda about: LIES[name](about["fitted"]["table"]))
    with pytest.raises(ModelFileError, match="damaged"):
        coterie.load("model")


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize(
    "lie",
    [b"", b"{}\n", b"5\n" * 30, b'{"a":\n' * 30, b"[" * 9999 + b"\n", b"\xff\n" * 30, b"{}\n" * 31],
    ids=["empty", "one", "numbers", "broken", "deep", "no text", "more"],
)
def test_forged_objects_are_not_written(
    here: Path, monkeypatch: pytest.MonkeyPatch, lie: bytes, size: str
) -> None:
    import hashlib

    put("odd.jsonl")
    fitted("odd.jsonl", text="text").save("model")
    Path("model/objects.jsonl").write_bytes(lie)
    change(Path("model"), lambda c: c.update(objects=hashlib.sha256(lie).hexdigest()))
    if size == "large":
        monkeypatch.setattr(folders, "LARGE", 0)
    loaded = coterie.load("model")
    for kind in ("csv", "jsonl"):
        assert len(contents(loaded, kind).splitlines()) >= len(TEXTS)
    assert writing.CHANGED in loaded.rows.notes


@pytest.mark.parametrize("damage", ["changed", "gone", "a folder", "checksum"])
def test_damaged_objects_are_named(here: Path, damage: str) -> None:
    put("odd.jsonl")
    fitted("odd.jsonl", text="text").save("model")
    file = Path("model/objects.jsonl")
    if damage == "changed":
        file.write_bytes(file.read_bytes().replace(b"1.10", b"9.99"))
    elif damage == "checksum":
        change(Path("model"), lambda about: about.update(objects=5))
    else:
        file.unlink()
        if damage == "a folder":
            file.mkdir()
    with pytest.raises(ModelFileError, match=r"objects\.jsonl is damaged"):
        coterie.load("model")


# ---------------------------------------------------------------- edits
def check_table(name: str, folder: str) -> None:
    """The cells of the input are in the table of a result, followed by ours."""
    table = next(Path(folder).glob("table.*"))
    if name not in OF_TEXT:
        read = pl.read_parquet if name.endswith(".parquet") else pl.read_excel
        before = TYPED if name.endswith(".parquet") else pl.read_excel(name, sheet_name="second")
        assert_frame_equal(read(table).select(before.columns), before)
        return
    content, _ = OF_TEXT[name]
    content = gzip.decompress(content) if name.endswith(".gz") else content
    made = table.read_bytes()
    if table.suffix == ".jsonl":
        encoding = "latin-1" if "latin" in name else "utf-8"
        objects = (
            JSONL.splitlines() if name == "list.json" else content.decode(encoding).splitlines()
        )
        for new, old in zip(made.decode().splitlines(), objects, strict=True):
            assert new.startswith(old[:-1].rstrip() + ',"cluster":')
        return
    encoding = {"wide": "utf-16", "latin": "latin-1", "named": "cp1250", "german": "cp1252"}
    how = encoding.get(name.partition(".")[0], "utf-8")
    named = ["column_"] if name.startswith("bare") else []  # a table has names
    rows = [*named, *content.decode(how).splitlines()]
    for new, old in zip(made.decode(how).splitlines(), rows, strict=True):
        assert new.startswith(old)
        assert old in named or new[len(old)] in ",;|\t"


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, "small") for name in NAMES), ("odd.jsonl", "large"), ("list.json", "large")],
)
def test_an_edit_keeps_the_cells_of_the_input(
    cli: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    size: str,
) -> None:
    if size == "large":  # objects are read from the disk when they are written
        monkeypatch.setattr(folders, "LARGE", 1)
    options = put(name)
    said = cli("fit", name, *options, "--embedder", "none", "--no-levels", *FAST, "-o", "a")
    assert said.code == 0, said.err
    check_table(name, "a")
    said = cli("edit", "a", *EDIT)
    assert said.code == 0, said.err
    check_table(name, "a")
    assert cli("edit", "a", "--drop-words", "bread", "-o", "b").code == 0  # an edit of an edit
    check_table(name, "b")


# ---------------------------------------------------------------- results in which somebody worked
FAST_FIT = ("--clusters", "3", "--embedder", "none", "--no-levels", "-q", *FAST, "-o", "a")


def result(cli: Any, *options: str) -> dict[str, Any]:  # noqa: F811
    """Fit a file into the folder a; return its run.json."""
    lines = [f"{text},{'xy'[i % 2]},1.{i}0" for i, text in enumerate(TEXTS)]
    Path("in.csv").write_text("\n".join(["text,channel,n", *lines]) + "\n", encoding="utf-8")
    said = cli("fit", "in.csv", "--text", "text", "--by", "channel", *options, *FAST_FIT)
    assert said.code == 0, said.err
    return dict(json.loads(Path("a/run.json").read_text(encoding="utf-8")))


def all_files(folder: str) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def shuffled(path: Path) -> None:
    head, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *reversed(rest)]) + "\n", encoding="utf-8")


def cut(path: Path) -> None:
    path.write_bytes(b"\n".join(path.read_bytes().splitlines()[:-1]))


def annotated(path: Path) -> None:
    rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(f"{row},mine" for row in rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("table.csv", shuffled),
        ("table.csv", cut),
        ("table.csv", annotated),
        ("clusters.csv", annotated),
        ("by_channel.csv", shuffled),
        ("groups/*", cut),
    ],
)
def test_an_edit_does_not_replace_what_somebody_changed(
    cli: Any,  # noqa: F811
    name: str,
    work: Callable[[Path], None],
) -> None:
    result(cli, "--per-group")
    path = next(Path("a").glob(name))
    work(path)
    before = all_files("a")
    refused(cli("edit", "a", *EDIT), str(path), "was changed", "Move it", "-o", "--force")
    assert all_files("a") == before
    said = cli("edit", "a", *EDIT, "-o", "b")
    assert said.code == 0
    assert "does not have these changes" in " ".join(said.out.split())
    assert all_files("a") == before
    assert coterie.load("b").names[0] == "First"
    path.rename("mine.csv")
    assert cli("edit", "a", *EDIT).code == 0
    assert coterie.load("a").names[0] == "First"
    assert cli("edit", "a", "--rename", "0=Second").code == 0


def test_force_replaces_a_changed_table(cli: Any) -> None:  # noqa: F811
    result(cli)
    before = Path("a/table.csv").read_bytes()
    cut(Path("a/table.csv"))
    assert cli("edit", "a", *EDIT, "--force").code == 0
    after = Path("a/table.csv").read_bytes()
    assert [row.split(b",")[:3] for row in after.splitlines()] == [
        row.split(b",")[:3] for row in before.splitlines()
    ]


def test_a_result_of_an_earlier_version_is_not_replaced(cli: Any) -> None:  # noqa: F811
    """Neither its run.json nor its model say how its cells were."""
    run = result(cli)
    for name in ("files", "options", "packages", "machine"):
        del run[name]
    Path("a/run.json").write_text(json.dumps(run), encoding="utf-8")
    as_earlier(Path("a/model"))
    before = all_files("a")
    refused(cli("edit", "a", *EDIT), "earlier version", "-o", "--force")
    assert all_files("a") == before
    said = cli("edit", "a", *EDIT, "-o", "b")
    assert said.code == 0
    assert "original notation" in " ".join(said.out.split())
    assert cli("edit", "b", *EDIT).code == 0
    assert cli("edit", "a", *EDIT, "--force").code == 0
    assert Path("a/by_channel.csv").exists()


def test_an_edit_writes_the_sheets_of_the_groups_again(cli: Any) -> None:  # noqa: F811
    result(cli, "--format", "xlsx", "--per-group")
    sheets = pl.read_excel("a/table.xlsx", sheet_id=0)
    assert len(sheets) == 3 + len(coterie.load("a").names)
    for _ in range(2):
        assert cli("edit", "a", "--split", "0=2").code == 0
        groups = coterie.load("a")
        sheets = pl.read_excel("a/table.xlsx", sheet_id=0)
        assert len(sheets) == 3 + groups.n_clusters
        for k in range(groups.n_clusters):
            name = next(name for name in sheets if name.startswith(f"{k} "))
            assert sheets[name].height == int((groups.labels == k).sum())


def test_run_json_says_how_and_where(cli: Any) -> None:  # noqa: F811
    how = ("--encoding", "utf-8", "--header", "--seed", "0", "--per-group", "--max-clusters", "7")
    run = result(cli, *how)
    options = run["options"]
    assert options["encoding"] == "utf-8"
    assert options["header"] is True
    assert options["text"] == "text"
    assert options["by"] == ["channel"]
    assert options["per_group"] is True
    assert options["random_state"] == 0
    assert options["max_clusters"] == 7
    assert options["levels"] is False
    assert run["packages"]["polars"] == pl.__version__
    assert run["packages"]["numpy"] == np.__version__
    assert {"python", "numba", "scipy", "scikit-learn"} <= set(run["packages"])
    assert set(run["machine"]) == {"system", "processor", "cores", "memory"}  # and nobody's name
    assert run["machine"]["system"] == f"{platform.system()} {platform.machine()}"
    assert cli("edit", "a", *EDIT).code == 0
    again = json.loads(Path("a/run.json").read_text(encoding="utf-8"))
    assert again["options"] == options
    Path("no.csv").write_text(BARE, encoding="utf-8")
    bare = ("--text", "column_3", "--no-header", *FAST_FIT, "--force")
    assert cli("fit", "no.csv", *bare).code == 0
    assert json.loads(Path("a/run.json").read_text(encoding="utf-8"))["options"]["header"] is False
