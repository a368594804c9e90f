"""Files and tables that begin with rows without texts or hold nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from coterie import cluster, cluster_large
from coterie.errors import InvalidInput
from coterie.text import _guessing, _pieces, batches, readers
from coterie.text.batches import Batches
from coterie.text.tokenize import Tokenizer


def put_blank(folder: Path, kind: str, n_blank: int, files: int) -> Any:
    """Rows with numbers and blank texts, and then some with texts; perhaps in a file of their own."""
    rows = [(i, "" if i < n_blank else f"bread of oven {i}") for i in range(n_blank + 40)]
    parts = [rows] if files == 1 else [rows[:n_blank], rows[n_blank:]]
    for number, part in enumerate(parts):
        table = pl.DataFrame(part, schema=["number", "text"], orient="row")
        table = table.with_columns(pl.col("text").replace({"": None}))
        path = folder / f"part-{number}.{kind}"
        if kind == "parquet":
            table.write_parquet(path, row_group_size=10)
        elif kind == "jsonl":
            table.write_ndjson(path)
        else:
            table.write_csv(path)
    return str(folder / f"*.{kind}")


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_texts_are_found_behind_blank_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, files: int
) -> None:
    monkeypatch.setattr(batches, "ROWS", 10)
    monkeypatch.setattr(_pieces, "PIECE", 200)
    read = Batches(put_blank(tmp_path, kind, 60, files))
    assert read.text == "text"
    assert read.notes == ["Using the texts in column 'text', the only one with texts."]
    texts = [text for rows in read.read() for text in rows.texts]
    assert texts == [""] * 60 + [f"bread of oven {i}" for i in range(60, 100)]
    assert readers.read(put_blank(tmp_path, kind, 2100, files)).column == "text"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_only_blank_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Nothing is found, and the message says where was looked, and for what."""
    monkeypatch.setattr(batches, "ROWS", 10)
    monkeypatch.setattr(_pieces, "PIECE", 200)
    table = pl.DataFrame({"number": range(60), "text": [None, "  "] * 30})
    path = tmp_path / f"x.{kind}"
    write = {"csv": table.write_csv, "jsonl": table.write_ndjson, "parquet": table.write_parquet}
    write[kind](path)
    says = r"in the 60 rows .* 'text' is missing or blank there\. .*choose .* text='\.\.\.'"
    with pytest.raises(InvalidInput, match=says) as error:
        Batches(path)
    assert error.value.kind == "no_texts"
    assert "number" not in str(error.value)
    out = tmp_path / f"out.{kind}"
    with pytest.raises(InvalidInput, match="All 60 texts are missing or blank") as error:
        cluster_large(path, out, text="text", embedder=None)
    assert error.value.kind == "no_words"


def test_blank_rows_do_not_decide_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "ROWS", 10)
    german = ["Das Brot ist nicht im Ofen", "Der Ofen und das Brot sind aus", "Wir haben ein Auto"]
    texts = [None] * 40 + german * 10
    pl.DataFrame({"text": texts}).write_parquet(tmp_path / "x.parquet", row_group_size=10)
    how: dict[str, Any] = dict(embedder=None, levels=False, max_clusters=4, n_sweeps=3)
    groups = cluster_large(tmp_path / "x.parquet", tmp_path / "out.parquet", **how)
    assert "German" in " ".join(groups.notes)
    assert "das" not in groups.vectorizer.words


@pytest.mark.parametrize("embedder", ["auto", None])
@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([None, "", " \n"], "All 3 texts are missing or blank, so there is nothing to cluster."),
        ([""], "The only text is missing or blank, so there is nothing to cluster."),
    ],
)
def test_texts_that_are_all_missing(texts: list[Any], says: str, embedder: str | None) -> None:
    """No setting of the tokenizer would help."""
    with pytest.raises(InvalidInput) as error:
        cluster(texts, embedder=embedder)
    assert str(error.value) == says
    assert error.value.kind == "no_words"


def test_texts_without_words_are_not_missing(tmp_path: Path) -> None:
    strict = Tokenizer(min_chars=9)
    texts = ["red tea", "green tea", ""]
    with pytest.raises(InvalidInput, match="that the tokenizer keeps") as error:
        cluster(texts, tokenizer=strict, embedder=None)
    assert error.value.kind == "no_words"
    (tmp_path / "x.csv").write_text("\n".join(["text", "red tea", "green tea"]))
    with pytest.raises(InvalidInput, match="use less strict tokenizer settings"):
        cluster_large(tmp_path / "x.csv", tmp_path / "y.csv", tokenizer=strict, embedder=None)


def test_a_column_of_codes_before_the_texts() -> None:
    """Codes are clustered only where no row has words."""
    codes = [f"T-{i:05d}" for i in range(3000)]
    table = pl.DataFrame({"code": codes, "said": [None] * 2500 + ["red tea, hot and sweet"] * 500})
    assert readers.read(table).column == "said"
    assert readers.read(table[:2400]).column == "code"


CODES = [f"T-{i:05d}" for i in range(60)]
SAID = [*[None] * 40, *[f"bread of oven {i}, still hot" for i in range(20)]]
DAYS = [f"2024-01-{1 + i % 28:02d}" for i in range(60)]
TABLES: dict[str, dict[str, list[Any]]] = {
    "codes": {"code": CODES, "comment": SAID},
    "codes first, and numbers": {"n": [*range(60)], "comment": SAID, "code": CODES},
    "two columns of codes": {"code": CODES, "sku": [f"{c}-7" for c in CODES], "comment": SAID},
    "blank codes": {"code": [None, *CODES[1:]], "comment": SAID},
    "nothing but codes": {"code": CODES, "comment": [None] * 60},
    "numbers": {"n": [*range(60)], "comment": SAID},
    "dates": {"day": DAYS, "comment": SAID},
    "by name": {"text": SAID, "label": SAID},
    "words behind codes": {"a": [*CODES[:40], *SAID[40:]], "comment": SAID},
}


@pytest.mark.parametrize("of", TABLES)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "jsonl without keys"])
def test_the_same_column_in_batches_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, of: str
) -> None:
    """Codes before the texts were only read at once, and polars writes null where JSON has no key."""
    monkeypatch.setattr(batches, "ROWS", 10)
    monkeypatch.setattr(_pieces, "PIECE", 400)
    monkeypatch.setattr(_guessing, "_HEAD", 10)
    path = put_table(tmp_path, kind, TABLES[of])
    whole, read = readers.read(path), Batches(path)
    assert (read.text, read.notes[0]) == (whole.column, whole.notes[0])
    assert [text for rows in read.read() for text in rows.texts] == list(whole.texts)
    are_codes = any("looks like identifiers" in note for note in whole.notes)
    assert are_codes == (of == "nothing but codes")
    assert any("looks like identifiers" in note for note in read.notes) == are_codes


def put_table(folder: Path, kind: str, columns: dict[str, list[Any]]) -> Path:
    table, path = pl.DataFrame(columns), folder / f"x.{kind.split()[0]}"
    if kind == "jsonl without keys":
        rows = [{n: v for n, v in row.items() if v is not None} for row in table.to_dicts()]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    elif kind == "parquet":
        table.write_parquet(path, row_group_size=10)
    else:
        (table.write_csv if kind == "csv" else table.write_ndjson)(path)
    return path


def test_two_columns_of_codes_ask_for_one_only_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "ROWS", 10)
    sku = [f"{c}-7" for c in CODES]
    path = put_table(tmp_path, "parquet", {"code": CODES, "sku": sku, "comment": [None] * 60})
    for read in (readers.read, Batches):
        with pytest.raises(InvalidInput, match="Several columns may hold the texts") as error:
            read(path)
        assert error.value.kind == "which_column"


@pytest.mark.parametrize("asked", [{"text": "text"}, {"id": "k"}, {"text": "text", "id": "k"}])
def test_a_key_that_the_first_lines_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, str]
) -> None:
    """A missing value may be a missing key: the tests of other kinds of files write it as null."""
    monkeypatch.setattr(_pieces, "PIECE", 200)
    rows: list[dict[str, Any]] = [{"n": i} for i in range(40)]
    rows += [{"n": i, "k": f"k{i}"} for i in range(40, 60)]
    rows += [{"n": i, "text": f"bread of oven {i}"} for i in range(60, 100)]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    whole, read = readers.read(path, **asked), Batches(path, **asked)
    assert (read.text, read.id) == (whole.column, whole.id_column) == ("text", asked.get("id"))
    again = list(read.read())
    assert [text for some in again for text in some.texts] == list(whole.texts)
    if whole.ids is not None:
        assert [id for some in again for id in some.ids or []] == list(whole.ids)
    for name in asked:
        says = "There is no column 'typo' .*The columns are 'n', 'k', 'text'"
        with pytest.raises(InvalidInput, match=says) as error:
            Batches(path, **{**asked, name: "typo"})
        assert error.value.kind == "no_such_column"


@pytest.mark.parametrize("n_blank", [1000, 1950, 2000, 3990])
def test_blank_rows_do_not_hide_the_name_of_a_column(n_blank: int) -> None:
    """A sample taken where the texts begin has few; the other tests have texts in one column alone."""
    some = {"text": [f"red tea {i}" for i in range(50)], "label": ["hot red tea", "cold tea"] * 25}
    table = pl.DataFrame({name: [None] * n_blank + values for name, values in some.items()})
    assert readers.read(table).column == readers.read(table[n_blank:]).column == "text"


def test_the_name_of_a_column_with_hardly_any_texts_decides_nothing() -> None:
    label = ["hot red tea", "cold tea"] * 500
    table = pl.DataFrame(
        {"text": [None] * 950 + [f"red tea {i}" for i in range(50)], "label": label}
    )
    with pytest.raises(InvalidInput, match="Several columns"):
        readers.read(table)
