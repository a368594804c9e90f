"""Csv files that are cut into parts: at the ends of the rows that they have when read at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import coterie
from coterie.text import _pieces, readers
from coterie.text._csv import SEPARATORS
from coterie.text.batches import Batches


@pytest.fixture(params=[150, 10**6])
def piece(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pieces, "PIECE", request.param)


def check(path: Path) -> None:
    """The same texts in parts as at once."""
    read = Batches(path, text="text")
    for _ in range(2):
        found = [text for rows in read.read() for text in rows.texts]
        assert found == list(readers.read(path, text="text").texts)


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("at", [0, 30])
@pytest.mark.parametrize("later", ['"oven bread\nand dough"', "oven bread"])
@pytest.mark.parametrize("other", SEPARATORS)
@pytest.mark.parametrize("separator", SEPARATORS)
def test_only_the_separator_of_the_file_comes_before_a_quote(
    tmp_path: Path, separator: str, other: str, later: str, at: int
) -> None:
    """No cell in quotes begins after another one, also before the separator is known."""
    if other == separator:
        odd = f'{separator}"inch\n{separator}" tape"'
    else:
        odd = f'{separator}5{other}"inch tape'
    lines = [f"{i}{separator}{later}" for i in range(250)]
    lines.insert(at, f"100{odd}")
    path = tmp_path / ("x.tsv" if separator == "\t" else "x.csv")
    path.write_text("\n".join([f"id{separator}text", *lines]) + "\n")
    check(path)


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n\r\n"])
@pytest.mark.parametrize("rows", ["id,text\n1,one word\n2,two words\n", "text\none word\nmore\n"])
@pytest.mark.parametrize("more", ["", "3,more words\n"])
def test_parts_of_blank_lines(tmp_path: Path, rows: str, blank: str, more: str) -> None:
    """At the end, or between rows: each is a row without a text, as it is at once."""
    path = tmp_path / "x.csv"
    more = more if "id" in rows else more[2:]
    path.write_bytes((rows + blank * 400 + more).encode())
    check(path)
    assert sum(map(len, Batches(path).read())) == len(readers.read(path))


CELLS = {  # as they are in the file
    "plain words": "plain words",
    '"in quotes"': "in quotes",
    '"two\nlines ""here"""': 'two\nlines "here"',
    '5" disk': '5" disk',
    '"Great" she said': '"Great" she said',
    '"" she said': '"" she said',
    '"Great" she "said"': '"Great" she "said"',
    '"never closed': '"never closed',
    '"both" in "one': '"both" in "one',
    "": "",
}


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_cell_is_read_by_itself(tmp_path: Path, kind: str, separator: str) -> None:
    """Whatever quotes are in other rows; those that do not enclose a cell are part of its text."""
    separator = "\t" if kind == "tsv" else separator
    path = tmp_path / f"x.{kind}"
    for cell, text in CELLS.items():
        for other, other_text in CELLS.items():
            end = [] if kind == "tsv" else ['"the end"']  # a quote that is never closed is refused
            rows = [cell, other, cell, "the end", '5" disk'] * 3 + end
            lines = [f"{i}{separator}{row}{separator}7" for i, row in enumerate(rows)]
            path.write_text("\n".join([f"id{separator}text{separator}n", *lines, ""]))
            found = readers.read(path, text="text")
            texts = [text, other_text, text, "the end", '5" disk'] * 3
            assert found.texts == texts + ["the end"] * len(end)
            assert [
                t for some in Batches(path, text="text").read() for t in some.texts
            ] == found.texts


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("odd", ['"', '"a', 'a"', '""', '"a" b', 'a "b"'])
def test_no_cell_goes_on_in_a_file_of_plain_lines(tmp_path: Path, odd: str, end: str) -> None:
    """Programs that write tabs alone do not enclose cells: a quote in a row has no end in another one."""
    path, kinds = tmp_path / "x.tsv", [odd, "x", '"', '5" disk']
    rows = [[str(i), kinds[i % 4], f"oven bread {i}", kinds[i % 3]] for i in range(40)]
    path.write_bytes(end.join(map("\t".join, [["id", "n", "text", "more"], *rows, [""]])).encode())
    found = readers.read(path, text="text")
    expected = [["" if cell == '""' else cell for cell in row] for row in rows]
    assert [
        list(row) for row in found.frame.select(pl.all().cast(str).fill_null("")).rows()
    ] == expected
    parts = [r for some in Batches(path, text="text").read() for r in some.frame.rows()]
    assert [["" if cell is None else str(cell) for cell in row] for row in parts] == expected


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("cell", ["a\nb", "\ta", "a\t", "\n", "a\tb\nc", '"', 'a "b"\n'])
def test_a_cell_in_quotes_may_hold_tabs_and_lines(tmp_path: Path, cell: str) -> None:
    path, quoted = tmp_path / "x.tsv", '"' + cell.replace('"', '""') + '"'
    path.write_text(
        "".join(["id\ttext\tn\n", *(f"{i}\toven bread\t{quoted}\n" for i in range(40))])
    )
    assert readers.read(path, text="text").frame["n"].to_list() == [cell] * 40
    parts = [n for some in Batches(path, text="text").read() for n in some.frame["n"]]
    assert parts == [cell] * 40


def test_the_quotes_of_a_cell_are_kept(tmp_path: Path) -> None:
    """In the table that is written, too."""
    path, out = tmp_path / "x.tsv", tmp_path / "out.tsv"
    path.write_text('text\tn\n"Great" she said\t1\n' + "some more words\t2\n" * 9)
    groups = coterie.cluster(path, text="text", embedder=None, levels=False)
    groups.write(out)
    assert readers.read(out, text="text").texts[0] == '"Great" she said'
