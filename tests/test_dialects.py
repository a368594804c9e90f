"""A csv file goes back with the delimiter, decimal mark, line ends, encoding and mark it came with."""

import codecs
from pathlib import Path
from typing import Any

import pytest
from test_cli import FAST, cli, texts  # noqa: F401

from coterie.text import _dialect, readers

LINES = [f"{text} café;{i};0{i},5" for i, text in enumerate(texts())]
GERMAN = "\r\n".join(["text;n;preis", *LINES]) + "\r\n"


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("cp1252", b""),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ],
)
def test_the_file_comes_back(cli: Any, encoding: str, mark: bytes) -> None:  # noqa: F811
    Path("a.csv").write_bytes(mark + GERMAN.encode(encoding))
    said = cli("fit", "a.csv", "--text", "text", *FAST)
    assert said.code == 0, said.err
    assert cli("predict", "a.coterie", "a.csv", "-o", "p.csv").code == 0
    for path in ("a.coterie/table.csv", "p.csv"):
        raw = Path(path).read_bytes()
        assert raw.startswith(mark)
        lines = raw[len(mark) :].decode(encoding).split("\r\n")
        assert lines[0].startswith("text;n;preis;cluster;")
        assert lines[-1] == ""
        for new, old in zip(lines[1:-1], LINES, strict=True):
            assert new.startswith(f"{old};")
            ours = new[len(old) + 1 :].split(";")
            assert any("," in cell and "." not in cell for cell in ours)
    assert Path("a.coterie/clusters.csv").read_bytes().startswith(mark)


def test_standard_output_is_utf_8_with_the_same_delimiter(cli: Any) -> None:  # noqa: F811
    Path("a.csv").write_bytes(codecs.BOM_UTF8 + GERMAN.encode())
    said = cli("fit", "a.csv", "--text", "text", "-o", "-", "-q", *FAST)
    assert said.out.startswith("text;n;preis;cluster;")


def test_a_decimal_point_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text;x\nred car;1.5\nblue car;2,5\n")
    dialect = readers.read(path, text="text").dialect
    assert dialect == _dialect.Dialect(separator=";")


def test_letters_that_the_encoding_does_not_have() -> None:
    dialect = _dialect.Dialect(encoding="latin-1")
    assert dialect.encode("é".encode()) == b"\xe9"
    assert dialect.encode("€".encode()) == codecs.BOM_UTF8 + "€".encode()
