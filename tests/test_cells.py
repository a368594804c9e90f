"""The fuzz of cells and outputs (`make fuzz`): a few cases of each way, and that it notices a loss."""

import datetime as dt
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter
from benchmarks.trust import cases, cells, kept, outputs
from benchmarks.trust._workbook import Shown, sheets
from benchmarks.trust.odd_cells import Error, Number, Padded

# cases by way; every other one is run by `make fuzz`
CASES = {
    "file": [44, 111, 153, 221, 177, 299, 85, 134, 5, 12, 102, 189, 217, 133, 201, 68, 33, 158],
    "folder": [35, 219, 122, 340, 155],
    "groups": [187, 225, 320, 202, 149],
    "out of core": [10, 77, 213, 0, 30, 31, 159, 3, 163, 324],
    "edit": [19, 36, 349, 6, 4, 172, 65, 195],
    "edit elsewhere": [200, 27, 71, 414],
    "edit what was changed": [117, 218],
    "load and write": [18, 118, 273, 93, 40, 48, 293],
    "predict": [62, 43, 369, 302, 203],
}
NOT_REPLACED = [0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 14, 17]


@pytest.mark.slow
@pytest.mark.parametrize("way", CASES)
def test_every_cell_comes_back(way: str, tmp_path: Path) -> None:
    for number in CASES[way]:
        folder = tmp_path / str(number)
        folder.mkdir()
        found = cells.play(number, 0, folder)
        assert f", {way}" in found.way
        assert found.word in ("exact", "said"), found


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_no_input_is_replaced() -> None:
    verdicts = {number: outputs.replaced(number, 0) for number in NOT_REPLACED}
    assert {n: said for n, said in verdicts.items() if said not in cases.GOOD} == {}


@pytest.mark.parametrize(
    ("same", "cell", "out", "expected"),
    [
        (kept.same_in_csv, "1.10", "1.10", True),
        (kept.same_in_csv, "1.10", "1.1", False),
        (kept.same_in_csv, Padded(1067, 5), "1067", False),
        (kept.same_in_csv, dt.time(12), "1899-12-31 12:00:00", False),
        (kept.same_in_csv, dt.timedelta(hours=26), "1 day, 2:00:00", True),
        (kept.same_in_csv, Error("#N/A"), "", False),
        (kept.same_in_csv, True, "1", False),
        (kept.same_in_csv, {"a": Number("1")}, '{"a": 1, "b": null}', True),
        (kept.same_in_csv, {"a": Number("1")}, "{1}", False),
        (kept.same_in_json, "007", Number("7"), False),
        (kept.same_in_json, float("nan"), None, False),
        (kept.same_in_parquet, "NA", None, False),
        (kept.same_in_parquet, Number("1.10"), 1.1, True),
        (kept.same_in_parquet, Number("1234567890123456789"), 1234567890123456768.0, False),
        (kept.same_in_parquet, Number("1"), True, False),
        (kept.same_in_sheet, "1234567890123456", Shown("number", 1234567890123456.0), False),
        (kept.same_in_sheet, "=1+1", Shown("formula", "1+1"), False),
        (kept.same_in_sheet, Decimal("1.10"), Shown("number", 1.1), True),
        (kept.same_sheet_cell, 1.0, Shown("text", "1"), False),
        (kept.same_sheet_cell, Padded(1067, 5), Shown("number", 1067.0, "00000"), True),
        (kept.same_sheet_cell, dt.date(2024, 1, 5), Shown("date", dt.datetime(2024, 1, 5)), True),
        (kept.same_typed, -0.0, 0.0, False),
        (kept.same_typed, 1, 1.0, False),
        (kept.same_typed, None, "", False),
    ],
)
def test_a_change_is_noticed(same: Any, cell: Any, out: Any, expected: bool) -> None:
    assert same(cell, out) is expected


def test_workbooks_are_read_as_excel_does(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet()
    page.write_row(0, 0, ["text\x01", 1.5, True])
    page.write_datetime(1, 0, dt.datetime(2024, 1, 5, 12), book.add_format({"num_format": 22}))
    page.write_datetime(1, 1, dt.time(12), book.add_format({"num_format": "hh:mm"}))
    page.write_datetime(1, 2, dt.timedelta(hours=26), book.add_format({"num_format": "[h]:mm"}))
    page.write_number(1, 3, 1067, book.add_format({"num_format": "00000"}))
    page.write_formula(1, 4, "=NA()", None, "#N/A")
    book.close()
    (found,) = sheets(path)
    assert found.rows[0] == [Shown("text", "text\x01"), Shown("number", 1.5), Shown("true", True)]
    assert [(cell.kind, cell.value) for cell in found.rows[1] if cell] == [
        ("date", dt.datetime(2024, 1, 5, 12)),
        ("time", dt.time(12)),
        ("duration", dt.timedelta(hours=26)),
        ("number", 1067.0),
        ("formula", "NA()"),
    ]
    assert found.odd == ""


def test_a_table_that_excel_would_repair_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    pl.DataFrame({"a": [1], "b": [2]}).write_excel(path)
    book = xlsxwriter.Workbook(str(tmp_path / "other.xlsx"))
    page = book.add_worksheet()
    page.add_table(0, 0, 1, 1, {"columns": [{"header": "a"}, {"header": "b"}]})
    page.write_string(0, 1, "c")
    book.close()
    assert sheets(path)[0].odd == ""
    assert "the cells say ['a', 'c']" in sheets(tmp_path / "other.xlsx")[0].odd
