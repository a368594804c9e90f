"""Reads the sheets of an Excel workbook from its XML, cell by cell, with no help of a reader of tables."""

from __future__ import annotations

import re
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

_DATES = {14, 15, 16, 17, 22, *range(27, 37), *range(50, 59)}
_TIMES = {18, 19, 20, 21, 45, 47}
_COLUMN = re.compile(r"[A-Z]+")


class Shown(NamedTuple):
    """A cell: its kind (text, number, true, error, date, time, duration, formula), value and format."""

    kind: str
    value: Any
    form: str = "General"


class Sheet(NamedTuple):
    name: str
    rows: list[list[Shown | None]]
    odd: str  # why Excel would offer to repair the file


def sheets(path: Path) -> list[Sheet]:
    """All sheets of a workbook."""
    with zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())

        def xml(name: str) -> Any:
            root = ElementTree.fromstring(packed.read(name))
            for one in root.iter():
                one.tag = one.tag.rpartition("}")[2]
                one.attrib = {k.rpartition("}")[2]: v for k, v in one.attrib.items()}
            return root

        texts = (
            [_text(one) for one in xml("xl/sharedStrings.xml")]
            if "xl/sharedStrings.xml" in names
            else []
        )
        forms = _forms(xml("xl/styles.xml"))
        book = xml("xl/workbook.xml")
        is_1904 = any(one.get("date1904") in ("1", "true") for one in book.iter("workbookPr"))
        targets = {one.get("Id"): one.get("Target") for one in xml("xl/_rels/workbook.xml.rels")}
        found = []
        for one in book.iter("sheet"):
            at = f"xl/{targets[one.get('id')]}"
            rows = _rows(xml(at), texts, forms, is_1904)
            links = at.replace("worksheets/", "worksheets/_rels/") + ".rels"
            tables = [f"xl/tables/{link.get('Target').rpartition('/')[2]}" for link in xml(links)
                      if "/tables/" in link.get("Target")] if links in names else []  # fmt: skip
            odd = [_why_odd(xml(table), rows) for table in tables]
            found.append(Sheet(unescaped(one.get("name")), rows, " ".join(filter(None, odd))))
        return found


def unescaped(text: str) -> str:
    """Excel writes characters that XML cannot hold as _x0001_."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda m: chr(int(m[1], 16)), text)


def _text(item: Any) -> str:
    return unescaped("".join(one.text or "" for one in item.iter("t")))


def _forms(styles: Any) -> list[str]:
    own = {int(one.get("numFmtId")): one.get("formatCode") for one in styles.iter("numFmt")}
    found = []
    for one in next(iter(styles.iter("cellXfs"))):
        number = int(one.get("numFmtId", 0))
        known = "yyyy-mm-dd" if number in _DATES else "[h]:mm:ss" if number == 46 else "General"
        found.append(
            own.get(number, "hh:mm:ss" if number in _TIMES else "0" if number == 1 else known)
        )
    return found


def _rows(page: Any, texts: list[str], forms: list[str], is_1904: bool) -> list[list[Shown | None]]:
    rows: list[list[Shown | None]] = []
    for row in page.iter("row"):
        number = int(row.get("r"))
        while len(rows) < number:
            rows.append([])
        for cell in row.iter("c"):
            at = 0
            for letter in _COLUMN.match(cell.get("r"))[0]:  # type: ignore[index]
                at = at * 26 + ord(letter) - 64
            line = rows[number - 1]
            line.extend([None] * (at - len(line)))
            line[at - 1] = _cell(cell, texts, forms[int(cell.get("s", 0))], is_1904)
    return rows


def _cell(cell: Any, texts: list[str], form: str, is_1904: bool) -> Shown | None:
    kind, value = cell.get("t", "n"), cell.findtext("v")
    if cell.find("f") is not None:
        return Shown("formula", cell.findtext("f"))
    if kind == "inlineStr":
        return Shown("text", _text(cell))
    if value is None:
        return None
    if kind == "s":
        return Shown("text", texts[int(value)])
    if kind == "str":
        return Shown("text", unescaped(value))
    if kind in "be":
        return Shown("true", value == "1") if kind == "b" else Shown("error", value)
    return _number(float(value), form, is_1904)


def _number(value: float, form: str, is_1904: bool) -> Shown:
    bare = re.sub(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', "", form).lower()
    if "[" in bare:
        return Shown("duration", timedelta(microseconds=round(value * 86_400e6)), form)
    if not re.search("[ymdhs]", bare) or bare == "general":
        return Shown("number", value, form)
    if not re.search("[yd]", bare) and value < 1:
        at = datetime(1900, 1, 1) + timedelta(microseconds=round(value * 86_400e6))
        return Shown("time", at.time(), form)
    first = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    return Shown("date", first + timedelta(microseconds=round(value * 86_400e6)), form)


def _why_odd(table: Any, rows: list[list[Shown | None]]) -> str:
    """Why Excel would repair a table: its names are those of the cells above it, and each is there once."""
    names = [unescaped(one.get("name")) for one in table.iter("tableColumn")]
    first = [cell.value if cell is not None else "" for cell in rows[0]] if rows else []
    if names != first:
        return f"The table has the columns {names}, but the cells say {first}."
    if len({name.lower() for name in names}) < len(names):
        return f"The table has two columns of one name: {names}."
    return "" if all(names) else "A column of the table has no name."
