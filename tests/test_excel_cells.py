"""Every cell of a workbook is read and written exactly, or a note names its column."""

import datetime as dt
import io
import warnings
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastexcel
import polars as pl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from test_cli import FAST, cli, texts  # noqa: F401

import coterie
from coterie.text import _excel, _workbook, readers, writing

TEXTS = texts(30)
NULL_LIKE = [
    "NA",
    "N/A",
    "n/a",
    "NULL",
    "null",
    "None",
    "#N/A",
    "NaN",
    "nan",
    "-nan",
    "<NA>",
    "#NA",
]
NOON, DAY, WHEN = dt.time(12), dt.date(2024, 2, 3), dt.datetime(2024, 2, 3, 4, 5, 6, 789_000)


def made(cells: list[Any], formats: dict[int, str] | None = None, header: Any = "v") -> bytes:
    """A workbook with a column of these cells; formats by the number of the cell."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    sheet = book.add_worksheet()
    default = {dt.time: "hh:mm", dt.date: "d/m/yy", dt.datetime: "d/m/yy hh:mm:ss.000"}
    default[dt.timedelta] = "[h]:mm"
    for r, cell in enumerate([header, *cells]):
        code = (formats or {}).get(r - 1, default.get(type(cell)))
        style = book.add_format({"num_format": code}) if code else None
        if isinstance(cell, str) and cell.startswith("!"):
            sheet.write_formula(r, 0, "=1", None, cell[1:])
        elif isinstance(cell, str):
            sheet.write_string(r, 0, cell)
        else:
            sheet.write(r, 0, cell, style)
        sheet.write(r, 1, f"beside {r}")
    book.close()
    return out.getvalue()


def column(raw: bytes, name: str = "v.xlsx") -> tuple[list[Any], str]:
    notes: list[str] = []
    frame = _excel.read(raw, name, notes, None)
    return frame[frame.columns[0]].to_list(), " ".join(notes)


# ---------------------------------------------------------------- reading
BESIDE: dict[str, tuple[Any, str]] = {
    "numbers": (1.5, "1.5"),
    "many digits": (0.1 + 1 / 3, "0.4333333333333333"),
    "whole numbers": (1067, "1067"),
    "true and false": (True, "true"),
    "dates": (DAY, "2024-02-03"),
    "dates and times": (WHEN, "2024-02-03 04:05:06.789"),
    "times of day": (NOON, "12:00:00"),
    "durations": (dt.timedelta(hours=30, minutes=2), "30:02:00"),
}


@pytest.mark.parametrize("kind", BESIDE)
@pytest.mark.parametrize("text", [*NULL_LIKE, "!#DIV/0!", "!#NAME?", "!#N/A", "true", "1.50", " "])
def test_a_text_beside_other_values_stays(kind: str, text: str) -> None:
    value, shown = BESIDE[kind]
    found, notes = column(made([value, text, None, value]))
    assert found == [shown, text.removeprefix("!"), None, shown]
    assert "'v' (texts, " in notes


def test_values_of_other_kinds_stay_apart() -> None:
    cells = [True, 2, DAY, NOON, dt.timedelta(hours=30), 10**6 + 0.5, False]
    found, notes = column(made(cells))
    assert found == ["true", "2", "2024-02-03", "12:00:00", "30:00:00", "1000000.5", "false"]
    assert "'v' (numbers, true and false, dates, durations)" in notes


@pytest.mark.parametrize(
    "cells",
    [
        [1, None, 3],
        [1.5, -2.25, None],
        [True, None, False],
        [DAY, None],
        [WHEN, dt.datetime(2024, 2, 3)],
        [NOON, dt.time(0), None, dt.time(23, 59, 59)],
        [dt.timedelta(hours=30), dt.timedelta(minutes=5)],
        ["NA", "1", None, "true", "12:00", "", "2024-02-03 00:00:00"],
    ],
)
def test_a_column_of_one_kind_keeps_it(cells: list[Any]) -> None:
    assert column(made(cells)) == (cells, "")


@pytest.mark.parametrize(
    "error", ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"]
)
def test_an_error_is_a_text(error: str) -> None:
    assert column(made([f"!{error}", "a", "", None]))[0] == [error, "a", "", None]


def test_a_format_is_no_longer_than_excel_allows() -> None:
    """A few bytes of zeros would make gigabytes of texts."""
    raw, again = made([7] * 2000, dict.fromkeys(range(2000), "0000000")), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as book, zipfile.ZipFile(again, "w") as forged:
        for name in book.namelist():
            forged.writestr(name, book.read(name).replace(b'"0000000"', b'"%s"' % (b"0" * 10**6)))
    assert column(raw)[0][0] == "0000007"
    assert column(again.getvalue())[0][0] == 7


@pytest.mark.parametrize("code", ["00000", "00000;-00000"])
@pytest.mark.parametrize("explicit", [False, True])
def test_zeros_of_a_format_are_read(code: str, explicit: bool) -> None:
    raw = made([1067, 5, 123456, None, "a"], {0: code, 2: code})
    if explicit:  # as other programs write it
        raw = edited(raw, b'<c r="A2" s="', b'<c r="A2" t="n" s="')
    assert column(raw)[0] == ["01067", "5", "123456", None, "a"]


@pytest.mark.parametrize("code", ["0", "0.00", "#,##0", "0%", "General", "@", "00.0"])
def test_other_formats_of_numbers_change_nothing(code: str) -> None:
    assert column(made([1067, 5], {0: code, 1: code})) == ([1067, 5], "")


def edited(raw: bytes, old: bytes, new: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as book, zipfile.ZipFile(out, "w") as again:
        for name in book.namelist():
            content = book.read(name)
            if "sheet1" in name:
                assert old in content
                content = content.replace(old, new)
            again.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("cell", "name"),
    [(DAY, "2024-02-03"), (True, "true"), ("!#REF!", "#REF!"), ("NA", "NA"), (2024, "2024")],
)
def test_a_header_may_be_any_cell(cell: Any, name: str) -> None:
    frame = _excel.read(made([1, 2], header=cell), "v.xlsx", [], None)
    assert frame.columns == [name, "beside 0"]
    assert frame[name].to_list() == [1, 2]


def test_the_header_is_the_first_row_with_a_cell() -> None:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        sheet.write_blank(0, 0, None, book.add_format({"num_format": "0.00"}))
        sheet.write_datetime(2, 3, DAY, book.add_format({"num_format": "d/m/yy"}))
        sheet.write_row(2, 4, ["b", "b"])
        sheet.write_row(3, 3, [1, None, "x"])
        sheet.write_row(5, 3, [2, None, "y"])
    frame = _excel.read(out.getvalue(), "v.xlsx", [], None)
    assert frame.columns == ["2024-02-03", "b", "b_1"]
    assert frame.rows() == [(1, None, "x"), (None, None, None), (2, None, "y")]


def test_days_count_from_1904_in_some_workbooks() -> None:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"date_1904": True}) as book:
        sheet = book.add_worksheet()
        for j, (cell, code) in enumerate([(DAY, "d/m/yy"), (NOON, "hh:mm")]):
            sheet.write(0, j, f"column {j}")
            sheet.write_datetime(1, j, cell, book.add_format({"num_format": code}))
    assert _excel.read(out.getvalue(), "v.xlsx", [], None).rows() == [(DAY, NOON)]


def test_huge_numbers_are_read() -> None:
    numbers = [-1e300, -2e12, 1e300, 5e-324]
    assert column(made(numbers)) == (numbers, "")
    assert column(made([10**9, -3], {0: "d/m/yy", 1: "d/m/yy"}))[0] == [10**9, -3]  # no dates


OPEN_DOCUMENT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="s">%s</table:table></office:spreadsheet></office:body>'
    "</office:document-content>"
)


def open_document(*cells: str) -> bytes:
    """A sheet of OpenDocument with a column `v` of these cells, given as their attributes."""
    rows = [f'<table:table-cell office:value-type="{cell}><text:p>v</text:p>' for cell in cells]
    rows.insert(0, '<table:table-cell office:value-type="string"><text:p>v</text:p>')
    rows = [f"<table:table-row>{row}</table:table-cell></table:table-row>" for row in rows]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", "<manifest/>")
        book.writestr("content.xml", OPEN_DOCUMENT % "".join(rows))
    return out.getvalue()


@pytest.mark.parametrize(
    ("cell", "value", "shown"),
    [
        ('date" office:date-value="2024-02-03"', DAY, "2024-02-03"),
        ('date" office:date-value="2024-02-03T04:05:06.789"', WHEN, "2024-02-03T04:05:06.789"),
        ('time" office:time-value="PT12H00M00S"', NOON, "12:00:00"),
        ('float" office:value="1.5"', 1.5, "1.5"),
        ('boolean" office:boolean-value="true"', True, "true"),
    ],
)
def test_cells_of_open_document(cell: str, value: Any, shown: str) -> None:
    assert column(open_document(cell), "v.ods") == ([value], "")
    assert column(open_document(cell, 'string"'), "v.ods")[0] == [shown, "v"]


def test_what_the_reader_leaves_out_is_said() -> None:
    long = 'time" office:time-value="PT30H00M00S"'
    found, notes = column(open_document('float" office:value="1"', long), "v.ods")
    assert found == [1, None]
    assert "duration of a day or more, is read from v.ods as an empty cell" in notes


# ---------------------------------------------------------------- writing
CLASHING = ["Name", "name", "CLUSTER", "Probability", "Trust", "outlier_Score", "a", "A"]


def sheets_of(path: Path) -> dict[str, pl.DataFrame]:
    raw = path.read_bytes()
    names = fastexcel.read_excel(raw).sheet_names
    return {name: _excel.read(raw, "x.xlsx", [], None, name) for name in names}


def test_no_cell_is_lost_when_names_differ_only_in_case(cli: Any) -> None:  # noqa: F811
    own = {name: [f"{name} {i}" for i in range(30)] for name in CLASHING}
    frame = pl.DataFrame({"text": TEXTS, **own})
    frame.write_csv("in.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cli("fit", "in.csv", "-o", "model", "--text", "text", *FAST).code == 0
        assert cli("fit", "in.csv", "-o", "fit.xlsx", "--text", "text", *FAST).code == 0
        assert cli("predict", "model", "in.csv", "-o", "new.xlsx").code == 0
        groups = coterie.load("model")
        groups.write("groups.xlsx", per_group=True)
    written = groups.table
    of_groups = sheets_of(Path("groups.xlsx"))
    found = [sheets_of(Path("fit.xlsx"))["table"], of_groups["table"]]
    for table in found:
        assert_frame_equal(table, written, check_dtypes=False)
    for k, name in enumerate(list(of_groups)[2:]):
        rows = written.filter(pl.col("coterie_cluster") == k)
        assert_frame_equal(of_groups[name], rows, check_dtypes=False)
    predicted = sheets_of(Path("new.xlsx"))["table"]
    assert_frame_equal(predicted.select(frame.columns), frame)
    assert predicted.columns == written.columns


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([2**60 + 1, 5]),
        pl.Series([2**100, 5], dtype=pl.Int128),
        pl.Series([float("nan"), 1.5, float("-inf")]),
        pl.Series([Decimal("12345678901234567.25"), Decimal("1.00")]),
        pl.Series([WHEN.replace(tzinfo=dt.UTC)]),
        pl.Series([dt.date(1850, 1, 1), DAY]),
        pl.Series([dt.datetime(1899, 12, 31, 5), WHEN]),
        pl.Series([WHEN + dt.timedelta(microseconds=1)]),
        pl.Series([dt.time(1, 2, 3, 4)]),
        pl.Series([dt.timedelta(hours=-1)]),
        pl.Series([[1, 2], []]),
        pl.Series([{"a": 1, "b": None}]),
        pl.Series([b"bytes"]),
    ],
    ids=lambda values: str(values[0]),
)
def test_what_excel_cannot_hold_is_said(values: pl.Series) -> None:
    rows = readers.read(pl.DataFrame({"text": ["a b"] * len(values), "v": values}), text="text")
    raw = writing.table_bytes(rows, {"cluster": [0] * len(values)}, "xlsx")
    assert any("texts in the .xlsx file: 'v' (" in note for note in rows.notes)
    assert _excel.read(raw, "x.xlsx", [], None)["v"].dtype == pl.String
    with zipfile.ZipFile(io.BytesIO(raw)) as book:  # no cell became a formula or an error
        content = book.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in content
    assert b't="e"' not in content


def test_the_result_says_what_its_workbook_lacks(tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": TEXTS, "tags": [["a"]] * 30})
    groups = coterie.cluster(frame, text="text", n_sweeps=6)
    before = len(groups.notes)
    for _ in range(2):
        groups.write(tmp_path / "out.xlsx")
    said = "Excel cannot hold these values as they are, so they are texts in the .xlsx file: "
    assert groups.notes[before:] == [f"{said}'tags' (lists of texts)."]


@pytest.mark.parametrize("time", ["12:00:00", "12:00:00.005", "01:02:03.000000004"])
def test_times_in_csv_have_no_zeros_at_the_end(time: str) -> None:
    values = pl.Series([time]).str.to_time("%H:%M:%S%.f")
    rows = readers.read(pl.DataFrame({"text": ["a b"], "v": values}), text="text")
    assert writing.table_bytes(rows, {}, "csv").decode() == f"text,v\na b,{time}\n"


def test_our_own_columns_hold_nothing_that_excel_cannot() -> None:
    groups = coterie.cluster(pl.DataFrame({"text": TEXTS}), n_sweeps=6)
    writing.sheet(groups.rows, groups.added)
    assert not [note for note in groups.notes if ".xlsx" in note]


characters = st.characters(codec="utf-8", exclude_characters="\ufffe\uffff")  # see below
names = st.text(characters, min_size=1, max_size=8) | st.sampled_from(CLASHING)
values = st.one_of(
    st.lists(st.text(characters, max_size=6), min_size=3, max_size=3),
    *(
        st.lists(st.none() | one, min_size=3, max_size=3)
        for one in (
            st.sampled_from(
                [*NULL_LIKE, "=1+1", "http://a.example", "<r>a</r>", "_x0041_", "1.10", ""]
            ),
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(),
            st.decimals(
                allow_nan=False, allow_infinity=False, places=3, min_value=-1e9, max_value=1e9
            ),
            st.dates(),
            st.datetimes(),
            st.datetimes(dt.datetime(1970, 1, 1)).map(
                lambda when: when.replace(microsecond=789_000)
            ),
            st.datetimes(timezones=st.just(dt.UTC)),
            st.times(),
            st.times().map(lambda time: time.replace(microsecond=0)),
            st.timedeltas(dt.timedelta(-9999), dt.timedelta(99_999)),
            st.integers(0, 10**9).map(lambda ms: dt.timedelta(milliseconds=ms)),
            st.lists(st.integers(0, 9), max_size=2),
        )
    ),
)
tables = st.dictionaries(names, values, min_size=1, max_size=4)


@given(table=tables)
def test_a_table_comes_back(table: dict[str, list[Any]]) -> None:
    """Each value is written and read exactly, or a note names its column."""
    frame = pl.DataFrame({"text": ["a b"] * 3, **{f"{n}|": pl.Series(v) for n, v in table.items()}})
    rows = readers.read(frame, text="text")
    path = io.BytesIO(writing.table_bytes(rows, {"ours": [1, 2, 3]}, "xlsx"))
    notes: list[str] = []
    again = _excel.read(path.getvalue(), "x.xlsx", notes, None)
    said = " ".join(rows.notes + notes)
    for name, found in zip(frame.columns, again, strict=False):
        expected = frame[name].alias("")
        assert same(expected.to_list(), found.to_list()) or f"{name!r} (" in said
    assert again[:, -1].to_list() == [1, 2, 3]


def same(values: list[Any], found: list[Any]) -> bool:
    """Whether values are equal; 1.0 may be 1, and midnight a day."""
    for value, other in zip(values, found, strict=True):
        if isinstance(value, dt.datetime) and not isinstance(other, dt.datetime | None):
            value = value.date() if value.time() == dt.time(0) else value
        if value != other and not (value == "" and other is None):
            return isinstance(value, Decimal) and float(value) == other
    return True


def test_names_of_sheets_count_as_excel_counts() -> None:
    frame = pl.DataFrame({"x": [1]})
    emoji = "\N{SMILING FACE WITH SUNGLASSES}"
    raw = _workbook.workbook({emoji * 16: frame, emoji * 17: frame, f"a{emoji * 20}": frame})
    found = fastexcel.read_excel(raw).sheet_names
    assert len(set(found)) == 3
    assert all(len(name.encode("utf-16-le")) <= 62 for name in found)


def test_a_name_may_be_empty(tmp_path: Path) -> None:
    """As a key of JSON: it is not replaced by a name that another column may have."""
    frame = pl.DataFrame({"text": ["oven bread", "fast car"] * 6, "column_2": 1, "": 2})
    coterie.cluster(frame, text="text", embedder=None, levels=False).write(tmp_path / "a.xlsx")
    found = pl.read_excel(tmp_path / "a.xlsx", has_header=False).rows()
    assert found[0][:3] == ("text", "column_2", None)
    assert found[1][:3] == ("oven bread", "1", 2)


def test_characters_that_excel_does_not_allow_are_said() -> None:
    rows = readers.read(pl.DataFrame({"text": ["a b", "c \uffff", "\ufffe d"]}))
    found = _excel.read(writing.table_bytes(rows, {}, "xlsx"), "x.xlsx", [], None)["text"]
    assert found.to_list() == ["a b", "c \ufffd", "\ufffd d"]
    assert any("2 texts of the .xlsx file have \ufffd instead" in note for note in rows.notes)


def test_texts_are_cut_where_excel_would() -> None:
    emoji = "\N{SMILING FACE WITH SUNGLASSES}"
    rows = readers.read(pl.DataFrame({"text": ["a b", emoji * 16_384, "c" * 32_767]}))
    found = _excel.read(writing.table_bytes(rows, {}, "xlsx"), "x.xlsx", [], None)["text"]
    assert found.to_list() == ["a b", emoji * 16_383, "c" * 32_767]
    assert any("1 text is longer than a cell" in note for note in rows.notes)
