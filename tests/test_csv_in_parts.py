"""Csv files that are cut into parts: at the ends of the rows that they have when read at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
