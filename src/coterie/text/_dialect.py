"""How a csv file was written: delimiter, decimal mark, line ends, encoding and byte order mark.

In: the bytes of a file and its cells. Out: a `Dialect`, so that the table goes back as it came.
"""

from __future__ import annotations

import codecs
from typing import Any, NamedTuple

from coterie.text import _encodings
from coterie.text._csv import SEPARATORS

_SAMPLE = 1_000  # rows
_COMMA, _POINT = r"^-?\d+,\d+$", r"^-?\d+\.\d+$"


class Dialect(NamedTuple):
    """How to write a csv file."""

    separator: str = ","
    decimal_comma: bool = False
    encoding: str = "utf-8"
    mark: bytes = b""  # byte order mark
    line_end: str = "\n"

    def encode(self, text: bytes) -> bytes:
        """Encode UTF-8 bytes as the file was encoded; UTF-8 with a mark if that is not possible."""
        if self.encoding == "utf-8":
            return self.mark + text
        try:
            return self.mark + text.decode().encode(self.encoding)
        except UnicodeError:
            return codecs.BOM_UTF8 + text

    def to_dict(self) -> dict[str, Any]:
        """The dialect as plain data for JSON."""
        return {**self._asdict(), "mark": self.mark.hex()}

    @staticmethod
    def from_dict(saved: dict[str, Any]) -> Dialect:
        """The inverse of `to_dict`; an error for anything else."""
        found = Dialect(**{**saved, "mark": bytes.fromhex(saved["mark"])})
        known = found.separator in SEPARATORS and found.line_end in ("\n", "\r\n")
        "a".encode(found.encoding)  # an error if there is no such encoding
        if not known or not isinstance(found.decimal_comma, bool):
            raise ValueError("no csv file is written in this way")
        return found


EXCEL = Dialect(mark=codecs.BOM_UTF8)  # Excel reads UTF-8 only with a mark


def find(raw: bytes, encoding: str | None, separator: str, cells: Any) -> Dialect:
    """The dialect of a file; `cells` is a DataFrame of strings."""
    found, mark = _encodings.name_of(raw, encoding)
    line = raw[:1_000_000].split(b"\n", 1)[0]
    ends = "\r\n" if line.replace(b"\0", b"").endswith(b"\r") and b"\n" in raw else "\n"
    return Dialect(separator, _has_decimal_comma(separator, cells), found, mark, ends)


def _has_decimal_comma(separator: str, cells: Any) -> bool:
    """Whether numbers such as 1,5 occur and numbers such as 1.5 do not."""
    if separator == ",":
        return False
    head = [column.alias("") for column in cells.head(_SAMPLE)]
    found = [(c.str.contains(_COMMA).any(), c.str.contains(_POINT).any()) for c in head]
    return any(comma for comma, _ in found) and not any(point for _, point in found)
