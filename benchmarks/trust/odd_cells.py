"""Odd cells of every kind of file, by what is odd about them.

Cells of csv and tsv are texts; those of JSON are the text of a value; those of parquet and Excel are Python
values, with types of their own for what Python has none.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple

TOPICS = [
    ["bread", "flour", "yeast", "oven", "dough"],
    ["bike", "wheel", "gear", "saddle", "tyre"],
    ["comet", "planet", "orbit", "telescope", "moon"],
]


class Missing:
    """A key that an object does not have, or a column that a file does not have."""

    def __repr__(self) -> str:
        return "no key"


MISSING = Missing()


class Number(str):
    """A number as it is spelled in JSON."""


class Error(str):
    """An error in a cell of Excel, such as #N/A."""


class Padded(NamedTuple):
    """A whole number that Excel shows with leading zeros."""

    value: int
    width: int

    @property
    def shown(self) -> str:
        return f"{self.value:0{self.width}}"


def parsed(token: str) -> Any:
    """JSON with numbers as they are spelled."""
    return json.loads(token, parse_int=Number, parse_float=Number, parse_constant=Number)


# ---------------------------------------------------------------- texts
WORDS = re.split(
    r"\|",
    "plain words here|größer Österreich|中文 文本|Привет мир|שלום עולם|مرحبا بالعالم|😀 emoji 👩‍👩‍👧"
    "|e\u0301 combining|नमस्ते दुनिया|한국어 문장|\u202eright to left|ไทย",
)
TEXTS: dict[str, list[str]] = {
    "leading zeros": ["00123", "01067", "007", "0815", "00"],
    "long ids": ["1234567890123456", "9007199254740993", "1234567890123456789", "-9223372036854775808"],
    "longer ids": ["12345678901234567890", "98765432109876543210987"],
    "decimals": ["1.10", "2.50", "3.0", "0.10"],
    "exponents": ["1e5", "12E3", "1E+16", "3e-7", "1e400"],
    "signs": ["-0", "-0.0", "+5", "0", "-3"],
    "many digits": ["0.1000000000000000055511151231257827", "3.14159265358979312", "1.5"],
    "words for nothing": ["NA", "N/A", "n/a", "NULL", "null", "None", "#N/A", "nan", "NaN", "-", "?"],
    "words for nothing beside numbers": ["NA", "1", "2", "n/a", "3.5", "NULL"],
    "true and false": ["true", "TRUE", "False", "yes", "no", "Y"],
    "plain true and false": ["true", "false"],
    "dates": ["2024-01-05", "05.01.2024", "1/2/2024", "2024-13-45", "Jan 5"],
    "plain dates": ["2024-01-05", "1899-12-31", "2024-02-29"],
    "times": ["12:00", "09:30:15", "24:00", "7:05 pm"],
    "dates and times": ["2024-01-05T10:00:00+05:30", "2024-01-05 10:00:00", "2024-01-05T10:00:00Z"],
    "durations": ["26:00:00", "PT1H", "1 day, 2:00:00", "0:00"],
    "separators": ["a,b", "a;b", "a\tb", "a|b", "a,b;c|d\te"],
    "quotes": ['say "hi"', '"', '""', 'ends"', '"whole"', "it's", "'single'", '5" disk'],
    "stray quotes": ['"Great" she said', 'she said "no"', '5" disk', '"a" and "b"', "none"],
    "lone quotes": ['"', "x", '5" disk'],
    "line feeds": ["a\nb", "a\r\nb", "\n", "end\n", "\r\n", "a\n\nb"],
    "carriage returns": ["a\rb", "\r", "end\r", "\rstart"],
    "blanks": [" a", "a ", "  ", "\xa0x", "x\u3000", " 5 ", "\u200bx"],
    "tabs": ["\ta", "a\t", "\t"],
    "scripts": WORDS,
    "very long": ["x" * 33_000, "y" * 32_767, "short", "😀" * 17_000],
    "long": ["word " * 400, "z" * 5_000],
    "formulas": ["=1+1", "@x", "-5a", "+3x", '=HYPERLINK("a","b")', "'quoted", "{=1}"],
    "links": ["http://a.example", "mailto:a@b.example", "ftp://x", "internal:Sheet1!A1", "www.a.example"],
    "controls": ["\x01", "\x1b[0m", "a\x0bb", "\x0c", "\x85", "\u2028", "\x7f", "\ue000"],
    "markup": ["_x0041_", "\\n", "&amp;", "<b>x</b>", "%20", "\\", "]]>", "_x000D_", "^a.*$"],
    "money": ["50%", "$3.20", "1 000", "1_000", "0x10", "٣"],
    "decimal commas": ["1,5", "2,25", "1.234,56"],
    "whole numbers": ["1", "2", "-3", "40"],
    "numbers": ["1.5", "0.25", "-3.75", "10"],
    "few": ["", "", "", "", "x"],
    "empty": [""],
}  # fmt: skip
_MIXED = ("leading zeros", "decimals", "dates", "words for nothing", "scripts", "true and false",
          "formulas", "blanks")  # fmt: skip
TEXTS["mixed"] = [cell for label in _MIXED for cell in TEXTS[label]]
NAMES = [
    *("id", "n", "a", "b", "A", "Name", "name", "Cluster", "cluster", "Probability", "probability"),
    *("Trust", "trust", "outlier_score", "file", "größe", "with space", "new\nline", "[x]", "x]y"),
    *(
        "col,umn",
        'quo"te',
        "",
        "  padded ",
        "2019",
        "数",
        "^a.*$",
        "__index",
        "column_1",
        "a_2",
        "#n",
    ),
    *(
        "coterie_cluster",
        "_x0041_",
        "'n",
        "@x",
        "=1+1",
        "long" * 80,
        "true",
        "null",
        "1",
        "Text",
        "x;y",
    ),
]
CODECS = {  # words that these encodings can hold
    "latin-1": ["größer", "café ñ", "£5"],
    "cp1252": ["größer", "€5 – “so”", "café"],
    "cp1251": ["Привет мир", "Цена №5"],
    "koi8-r": ["Привет мир", "Цена"],
    "iso8859-2": ["žluťoučký kůň", "łódź"],
    "cp1253": ["Καλημέρα", "ώρα"],
    "shift_jis": ["日本語 表示", "ソース能", "ｶﾅ"],
    "gb18030": ["中文 文本", "镕 〇", "€"],
    "big5": ["繁體 中文", "功能 許"],
    "euc-kr": ["한국어 문장", "가격"],
    "euc-jp": ["日本語 表示"],
    "utf-16-le": WORDS,
    "utf-16-be": WORDS,
}
MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-8-sig": b"\xef\xbb\xbf"}


# ---------------------------------------------------------------- JSON
TOKENS = {
    "decimals": ["1.10", "2.50", "3.0"],
    "whole numbers": ["1", "2", "-3"],
    "numbers": ["1", "2.5", "0.1"],
    "long ids": ["1234567890123456789", "9007199254740993", "1234567890123456"],
    "longer ids": ["12345678901234567890", "98765432109876543210987"],
    "exponents": ["1e5", "1E+16", "3e-7", "12e5"],
    "too large": ["1e400", "1"],
    "signs": ["-0", "-0.0", "0"],
    "many digits": ["0.1000000000000000055511151231257827", "1.5"],
    "true and false": ["true", "false"],
    "null": ["null", "null", "1"],
    "nothing but null": ["null"],
    "numbers and texts": ["1", '"1"', "2.5", '"x"', "true", "null"],
    "numbers and true": ["1", "true", "0", "false"],
    "objects": ['{"a": 1, "b": "x"}', '{"b": "y", "a": 2}', '{"a": 3}', "null"],
    "odd objects": ['{"a": 1}', '{"a": "x"}', "{}", '{"c": {"d": [1, 1.10]}}', '{"a": null}'],
    "lists": ["[1, 2]", "[]", "[3]", "null"],
    "odd lists": ['[1, "a"]', "[[1], [2, 3]]", '[{"a": 1}, {"b": 2}]', "[1.10]", "[null]"],
    "objects or texts": ['{"a": 1}', '"text"', "5"],
    "escapes": ['"\\u00e9\\/\\n"', '"\\ud83d\\ude00"', '"\\t\\"x\\""', '"\\u0041"', '"e\\u0301"'],
    "text or no text": ['""', "null", '"x"'],
}


# ---------------------------------------------------------------- parquet
def typed() -> dict[str, tuple[Any, list[Any]]]:
    import pyarrow as pa

    east, when = timezone(timedelta(hours=5, minutes=30)), datetime(2024, 1, 5, 10, 30, 15)
    parts = when.replace(microsecond=123_456)
    fields, inner = (
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        pa.struct([("d", pa.date32())]),
    )
    return {
        "int64": (pa.int64(), [1, -2, 2**62, 9_007_199_254_740_993]),
        "int8": (pa.int8(), [1, -128, 127]),
        "int32": (pa.int32(), [1, -2, 2**31 - 1]),
        "uint64": (pa.uint64(), [1, 2**64 - 1]),
        "float64": (pa.float64(), [1.5, 0.1, 1e300, -0.0, 0.1 + 0.2, 1e-320, 12.0]),
        "float64 with NaN": (pa.float64(), [1.5, float("nan"), None, float("inf")]),
        "float32": (pa.float32(), [1.5, 0.10000000149011612, 16_777_216.0]),
        "float16": (pa.float16(), [1.5, 0.0999755859375]),
        "bool": (pa.bool_(), [True, False]),
        "string": (pa.string(), ["", "x", " y ", "007", "a\nb", "NA"]),
        "large string": (pa.large_string(), ["", "x", "1.10", "😀"]),
        "decimal": (pa.decimal128(10, 2), [Decimal("1.10"), Decimal("-0.05"), Decimal("12345678.90")]),
        "large decimal": (pa.decimal128(38, 10), [Decimal("1234567890123456789012345678.0000000001")]),
        "decimal256": (pa.decimal256(60, 3), [Decimal("1.100"), Decimal(10**50)]),
        "date": (pa.date32(), [date(2024, 1, 5), date(1899, 12, 31), date(2024, 2, 29)]),
        "time": (pa.time64("us"), [time(12), time(9, 30, 15), time(1, 2, 3, 4)]),
        "time in ms": (pa.time32("ms"), [time(12), time(9, 30, 15, 120_000)]),
        "datetime": (pa.timestamp("us"), [when, parts]),
        "datetime in ms": (pa.timestamp("ms"), [when, datetime(1890, 1, 1, 5)]),
        "datetime in ns": (pa.timestamp("ns"), [when, parts]),
        "UTC": (pa.timestamp("us", "UTC"), [when.replace(tzinfo=UTC), parts.replace(tzinfo=UTC)]),
        "Berlin": (pa.timestamp("us", "Europe/Berlin"), [when.replace(tzinfo=UTC)]),
        "+05:30": (pa.timestamp("us", "+05:30"), [when.replace(tzinfo=east)]),
        "duration": (pa.duration("us"), [timedelta(hours=26), timedelta(seconds=-5), timedelta(0)]),
        "duration in ms": (pa.duration("ms"), [timedelta(hours=26, milliseconds=7), timedelta(days=400)]),
        "binary": (pa.binary(), [b"\xff\x00", b"abc", b""]),
        "fixed binary": (pa.binary(4), [b"\xff\x00ab", b"abcd"]),
        "categories": (pa.dictionary(pa.int32(), pa.string()), ["red", "blue", ""]),
        "struct": (fields, [{"a": 1, "b": "x"}, {"a": None, "b": ""}]),
        "nested struct": (pa.struct([("s", inner)]), [{"s": {"d": date(2024, 1, 5)}}, {"s": None}]),
        "list": (pa.list_(pa.int64()), [[1, 2], [], [None]]),
        "list of structs": (pa.list_(pa.struct([("a", pa.int64())])), [[{"a": 1}, {"a": 2}], []]),
        "list of floats": (pa.list_(pa.float64()), [[0.1, 1.0], [1e300]]),
        "list of texts": (pa.list_(pa.string()), [["a", 'b "c"'], [""]]),
        "fixed list": (pa.list_(pa.float32(), 2), [[0.5, 1.0]]),
        "map": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], []]),
        "nothing": (pa.null(), [None]),
        "json": (getattr(pa, "json_", pa.string)(), ['{"a": 1.10}', "[1]"]),
        "uuid": (pa.uuid(), [bytes(range(16))]),
        "bool8": (pa.bool8(), [True, False]),
    }  # fmt: skip


# ---------------------------------------------------------------- Excel
_DAY, _AT = date(2024, 1, 5), datetime(2024, 1, 5, 10, 30, 15)
SHEET_CELLS: dict[str, list[Any]] = {
    "whole numbers": [1.0, 2.0, -3.0, 40.0],
    "numbers": [1.5, 0.1, -3.75, 10.0],
    "large numbers": [1e15, 123456789012345.0, 1e300, 1e-7],
    "numbers with zeros": [Padded(1067, 5), Padded(7, 5), Padded(12345, 5)],
    "numbers with zeros and others": [Padded(1067, 5), 1067.0, "x"],
    "true and false": [True, False],
    "errors": [Error("#N/A"), Error("#DIV/0!"), Error("#VALUE!"), 1.0],
    "errors and texts": [Error("#N/A"), "text", "#N/A"],
    "dates": [_DAY, date(2024, 2, 29), date(1999, 12, 31)],
    "dates and times": [_AT, datetime(2024, 1, 5), datetime(2024, 1, 5, 23, 59, 59)],
    "times": [time(12), time(9, 30, 15), time(0)],
    "durations": [timedelta(hours=26), timedelta(minutes=90), timedelta(days=3)],
    "numbers and words for nothing": [1.0, 2.0, "NA", "N/A", "n/a", "NULL", "None", "#N/A", "null", "nan"],
    "true and words for nothing": [True, False, "NA", "NULL", "None"],
    "dates and words for nothing": [_DAY, "NA", "n/a", "NULL", "None"],
    "numbers and texts": [1.0, 2.5, "x", "007"],
    "numbers and true": [1.0, True, 0.0, False],
    "dates and numbers": [_DAY, 45000.0],
    "dates and texts": [_DAY, "2024-01-05", "soon"],
    "times and texts": [time(12), "12:00"],
    "durations and numbers": [timedelta(hours=26), 1.5],
    "dates, and dates with times": [_DAY, _AT],
    "everything": [1.0, True, _DAY, _AT, time(12), "x", "007", Error("#N/A"), timedelta(hours=26)],
}  # fmt: skip
FORMATS = {
    date: ["yyyy-mm-dd", "dd.mm.yyyy", "d-mmm-yy"],
    datetime: ["yyyy-mm-dd hh:mm:ss", "dd/mm/yyyy hh:mm:ss"],
    time: ["hh:mm", "hh:mm:ss", "h:mm AM/PM"],
    timedelta: ["[h]:mm:ss", "[hh]:mm"],
}
NUMBER_FORMATS = ["General", "0.00", "#,##0", "0%", "0.00E+00"]
