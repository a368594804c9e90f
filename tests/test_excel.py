"""Excel workbooks are read and written, and the user's columns come back exactly."""

import datetime as dt
import io
import logging
import zipfile
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl
import pytest
import xlsxwriter
from polars.testing import assert_frame_equal
from test_cli import FAST, cli, texts  # noqa: F401

import coterie
from coterie.errors import InvalidInput
from coterie.text import _excel, _workbook, readers

TEXTS = texts(6)
FRAME = pl.DataFrame(
    {
        "text": TEXTS,
        "zeros": ["007", "7", "1e5", "=1+1", "http://a.example", None],
        "n": [1, -2, None, 4, 5, 10**15 - 1],
        "x": [1.5, None, 2.25, 0.1, 1e300, 3.0],
        "day": [dt.date(2024, 2, i + 1) for i in range(6)],
        "at": [dt.datetime(2024, 2, 1, 12, 30, i) for i in range(6)],
        "flag": [True, False, None, True, True, False],
    }
)


def back(raw: bytes, **options: Any) -> pl.DataFrame:
    notes: list[str] = []
    return _excel.read(raw, "x.xlsx", notes, options.get("header"))


def made(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    for name, rows in sheets:
        sheet = book.add_worksheet(name)
        for r, row in enumerate(rows):
            sheet.write_row(r, 0, row)
    book.close()
    return out.getvalue()


def test_columns_come_back_exactly() -> None:
    again = back(_workbook.workbook({"table": FRAME}))
    assert_frame_equal(again.with_columns(pl.col("at").cast(pl.Datetime("us"))), FRAME)


def test_what_excel_cannot_hold_becomes_text() -> None:
    zone = dt.UTC
    frame = pl.DataFrame(
        {
            "big": [2**60 + 1, 5],
            "zoned": [dt.datetime(2024, 1, 1, tzinfo=zone)] * 2,
            "early": [dt.date(1850, 1, 1), dt.date(2020, 1, 1)],
        }
    )
    again = back(_workbook.workbook({"t": frame}))
    assert again["big"].to_list() == [str(2**60 + 1), "5"]
    assert again["zoned"][0].startswith("2024-01-01T00:00:00")
    assert again["early"].to_list() == ["1850-01-01", "2020-01-01"]


def test_the_first_sheet_with_rows_is_read_and_the_others_are_named(caplog: Any) -> None:
    raw = made(
        ("cover", []), ("data", [["text", "", "text"], ["a b", None, "c"]]), ("more", [["x"]])
    )
    notes: list[str] = []
    with caplog.at_level(logging.WARNING):
        frame = _excel.read(raw, "x.xlsx", notes, None)
    assert frame.columns == ["text", "column_2", "text_1"]
    said = "Read the sheet 'data' of x.xlsx; not read: 'cover', 'more'."
    assert notes == [f"{said} Choose another with sheet='...'."]
    assert not caplog.records


def test_the_sheet_that_is_named_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    rows = [["text"], *([text] for text in TEXTS)]
    path.write_bytes(made(("Notes", [["text"], ["no"]]), ("Answers", rows), ("Empty", [])))
    for sheet in ("Answers", " answers "):
        found = readers.read(path, sheet=sheet)
        assert found.texts == TEXTS
        assert not [note for note in found.notes if "sheet" in note]
    with pytest.raises(InvalidInput, match=r"no sheet 'Answer' \(sheet=...\).*mean 'Answers'\?"):
        readers.read(path, sheet="Answer")
    with pytest.raises(InvalidInput, match=r"The sheet 'Empty' of x\.xlsx has no rows"):
        readers.read(path, sheet="Empty")
    with pytest.raises(InvalidInput, match="sheet of cluster must be None, or a name"):
        coterie.cluster(path, sheet=1)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "folder", None])
def test_other_data_have_no_sheets(tmp_path: Path, name: str | None) -> None:
    data: Any = TEXTS
    if name is not None:
        data = tmp_path / name
        if name == "folder":
            data.mkdir()
            (data / "a.txt").write_text("a b")
        else:
            FRAME.select("text").write_csv(data)
    with pytest.raises(InvalidInput, match=r"sheet='Answers' only applies to Excel files"):
        readers.read(data, sheet="Answers")


def test_the_sheet_is_an_option(cli: Any) -> None:  # noqa: F811
    rows = [["text", "kind"], *([text, "a"] for text in texts(40))]
    Path("b.xlsx").write_bytes(made(("Notes", [["text"], ["no"]]), ("Answers", rows)))
    said = cli("fit", "b.xlsx", "--sheet", "Answer", *FAST)
    assert said.code == 1
    assert "b.xlsx has no sheet 'Answer' (--sheet). Its sheets are 'Notes', 'Answers'." in said.err
    said = cli("fit", "b.xlsx", "--sheet", "Answers", "--text", "text", "--show", "kind", *FAST)
    assert said.code == 0, said.err
    assert coterie.load("b.coterie").rows.texts == texts(40)
    said = cli("predict", "b.coterie", "b.xlsx", "--sheet", "Answers", "-o", "p.csv")
    assert said.code == 0, said.err
    assert pl.read_csv("p.csv").height == 40


def test_a_sheet_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(made(("s", [[text, i] for i, text in enumerate(TEXTS)])))
    rows = readers.read(path, header=False)
    assert rows.texts == TEXTS
    assert rows.column == "column_1"


@pytest.mark.parametrize("content", [b"PK\3\4 no", b"no", b""])
def test_a_damaged_workbook_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"x\.xlsx"):
        coterie.cluster(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: Any) -> None:
    raw = made(("s", [["text"], ["a"]]))
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        size = sum(member.file_size for member in packed.infolist())
    monkeypatch.setattr(_excel, "most_bytes", lambda: size - 1)
    with pytest.raises(InvalidInput, match="unpacks to"):
        _excel.read(raw, "x.xlsx", [], None)


def test_a_sheet_has_a_limit() -> None:
    with pytest.raises(InvalidInput, match="parquet"):
        _workbook.workbook({"t": pl.DataFrame({"x": pl.Series([1]).new_from_index(0, 1_048_576)})})


def test_long_texts_are_cut_and_it_is_said(cli: Any) -> None:  # noqa: F811
    pl.DataFrame({"text": [*texts(), "bread " * 8_000]}).write_parquet("a.parquet")
    said = cli("fit", "a.parquet", "-o", "out.xlsx", *FAST)
    assert "1 text is longer than a cell of Excel can hold" in said.out


def test_names_of_sheets() -> None:
    frame = pl.DataFrame({"x": [1]})
    raw = _workbook.workbook(
        {"a/b": frame, "A B": frame, "x" * 40: frame, "x" * 50: frame, "": frame}
    )
    names = fastexcel.read_excel(raw).sheet_names
    assert names[0] == "a b"
    assert len({name.lower() for name in names}) == 5
    assert max(map(len, names)) <= 31


def test_fit_and_predict_on_the_command_line(cli: Any) -> None:  # noqa: F811
    many = FRAME.select(pl.all().gather([i % 6 for i in range(30)])).with_columns(
        pl.Series("text", texts())
    )
    Path("a.xlsx").write_bytes(_workbook.workbook({"Tickets": many}))
    said = cli("fit", "a.xlsx", "--text", "text", *FAST)
    assert said.code == 0, said.err
    for path in ("a.coterie/table.xlsx", "p.xlsx"):
        if path == "p.xlsx":
            assert cli("predict", "a.coterie", "a.xlsx", "-o", "p.xlsx").code == 0
        again = back(Path(path).read_bytes())
        assert_frame_equal(again.select(many.columns), back(Path("a.xlsx").read_bytes()))
        assert "cluster" in again.columns
    said = cli("fit", "a.xlsx", "-o", "b.csv", "--text", "text", *FAST)
    assert Path("b.csv").read_bytes().startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("name", ["out.xls", "out.txt", "out.json", "out.html", "out.csv.gz"])
def test_no_folder_by_surprise(cli: Any, name: str) -> None:  # noqa: F811
    Path("a.txt").write_text("\n".join(texts()), encoding="utf-8")
    said = cli("fit", "a.txt", "-o", name, *FAST)
    assert said.code == 1
    assert "cannot write a table as" in said.err
    assert not Path(name).exists()
