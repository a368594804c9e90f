"""Reads parquet into a polars DataFrame, after checking that it fits into memory; writes it, too.

A parquet file of half a megabyte can hold 150 million rows. Its footer gives the numbers, in Thrift's
compact protocol. polars does not expose them, so the few fields that matter are parsed here.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from coterie._forks import check_threads
from coterie._memory import allowed_memory
from coterie.errors import InvalidInput
from coterie.text._bounded_read import too_large

# type numbers of Thrift's compact protocol
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_WHOLE = (4, 5, 6)
_DEPTH = 16  # the footer nests no deeper than about six levels
_MARK = b"PAR1"
# memory in bytes: per value of a DataFrame, and per row for the text as a Python string
_PER_VALUE, _PER_ROW = 16, 80
_DIGITS = 38  # of a decimal number in polars
_ZONE = re.compile(rb"\x06\0\0\0([+-]\d\d:\d\d)\0")  # in a schema of Arrow, after its length
_UTC = b"\x03\0\0\0UTC\0\0\0\0"
_UUID = "^(.{8})(.{4})(.{4})(.{4})(.{12})$"


class _Footer(NamedTuple):
    n_rows: int
    n_values: int
    n_bytes: int  # uncompressed
    groups: list[tuple[int, int]]  # rows and memory of each row group
    uuids: list[str]  # columns
    digits: dict[str, int]  # of columns with decimal numbers, more than polars can read
    schema: bytes  # of Arrow, in base64; empty without one
    zones: list[bytes]  # time zones in it that are only an offset, which polars does not know


def read(raw: bytes, name: str, n_rows: int | None = None, notes: list[str] | None = None) -> Any:
    """Read the table; InvalidInput if it is damaged, too large, or does not have `n_rows` rows."""
    import polars as pl

    check_threads()
    damaged = _damaged(name)
    try:
        footer = _footer(raw)
    except (ValueError, IndexError):
        raise damaged from None
    _check_digits(footer, name)
    if n_rows not in (None, footer.n_rows):
        raise InvalidInput(f"{name} has {footer.n_rows:,} rows instead of {n_rows:,}.")
    need = 2 * footer.n_bytes + _PER_VALUE * footer.n_values + _PER_ROW * footer.n_rows
    if need > allowed_memory():
        raise too_large(f"{name} holds {footer.n_rows:,} rows", need)
    notes = [] if notes is None else notes
    if footer.zones:
        raw = _in_utc(raw, footer)
    try:
        frame = pl.read_parquet(io.BytesIO(raw))
        notes += about_types(frame, footer, name)
        frame = plain(frame, footer)
    except (
        BaseException
    ) as error:  # polars panics on some broken files; a panic is not an Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise damaged from None
    # a dictionary may repeat one long text in every row
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    need = sum(int(frame[column].alias("").str.len_bytes().sum() or 0) for column in texts)
    if need > allowed_memory():
        raise too_large(f"{name} holds {footer.n_rows:,} rows of long texts", need)
    return frame


def write(out: BinaryIO, frame: Any, row_group: int | None = None) -> None:
    """Write a polars DataFrame; OSError if it is not the table but the disk, which may be full."""
    import polars as pl

    try:
        frame.write_parquet(out, row_group_size=row_group)
    except pl.exceptions.PolarsError as error:
        if "(os error " in str(error):
            raise OSError(str(error)) from None
        raise


def fits(column: Any) -> bool:
    """Whether parquet can hold a polars Series."""
    import polars as pl

    try:
        write(io.BytesIO(), column.head(1).to_frame())
    except pl.exceptions.PolarsError:
        return False
    return True


def row_groups(path: Path) -> list[tuple[int, int]]:
    """The rows of each row group, and the memory they take; only the footer is read."""
    return _footer_of(path).groups


def scan(path: Path) -> tuple[Any, _Footer]:
    """A LazyFrame of a file that is read in parts, and what `plain` needs to know of it."""
    import polars as pl

    footer = _footer_of(path)
    _check_digits(footer, path.name)
    if footer.zones:
        raise InvalidInput(
            f"{path.name} has times in the time zone {footer.zones[0].decode()}, which cannot be read in"
            " parts. Convert them to UTC first."
        )
    return pl.scan_parquet(path, glob=False), footer


def about_types(frame: Any, footer: _Footer, name: str) -> list[str]:
    """Notes on columns of types that `plain` does not keep."""
    odd = {
        column: dtype.ext_name()
        for column, dtype in frame.schema.items()
        if hasattr(dtype, "ext_name")
    }
    odd |= {column: "arrow.uuid" for column in footer.uuids if column in frame.columns}
    notes = []
    if odd:
        shown = ", ".join(f"{column!r} ({of_type!r})" for column, of_type in odd.items())
        notes.append(f"Columns of {name} lose their type, but no value: {shown}.")
    zones = b", ".join(footer.zones).decode()
    utc = [column for column, dtype in frame.schema.items() if "time_zone='UTC'" in repr(dtype)]
    if zones and utc:
        notes.append(
            f"{name} has times in the time zone {zones}, which are read as times in UTC; there are such in"
            f" {', '.join(map(repr, utc))}."
        )
    return notes


def plain(frame: Any, footer: _Footer) -> Any:
    """The frame with types that every file can hold: of an extension, the values that it is made of."""
    import polars as pl

    columns = []
    for column in frame:
        if hasattr(column.dtype, "ext_storage"):
            name = column.dtype.ext_name()
            column = column.ext.storage()
            columns.append(column.cast(pl.Boolean) if name == "arrow.bool8" else column)
        elif column.name in footer.uuids and column.dtype == pl.Binary:
            columns.append(column.bin.encode("hex").str.replace(_UUID, "$1-$2-$3-$4-$5"))
    return frame.with_columns(columns)


def _footer_of(path: Path) -> _Footer:
    try:
        with open(path, "rb") as file:
            length = file.seek(0, 2)
            file.seek(max(0, length - 8))
            tail = file.read(8)
            size = min(int.from_bytes(tail[:4], "little"), length) + 8
            file.seek(max(0, length - size))
            tail = file.read(size)
            file.seek(0)
            return _footer(file.read(4) + tail, length)
    except (ValueError, IndexError):
        raise _damaged(path.name) from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from None


def _check_digits(footer: _Footer, name: str) -> None:
    for column, digits in footer.digits.items():
        raise InvalidInput(
            f"The column {column!r} of {name} holds decimal numbers of up to {digits} digits; coterie can"
            f" read {_DIGITS}. Write them as texts, or leave the column out."
        )


def _in_utc(raw: bytes, footer: _Footer) -> bytes:
    """The same file with times in UTC: they are the same moments, and as many bytes."""

    def renamed(found: re.Match[bytes]) -> bytes:
        return _UTC if found[1] in footer.zones else found[0]

    schema = _ZONE.sub(renamed, base64.b64decode(footer.schema))
    before, _, after = raw.rpartition(footer.schema)
    return before + base64.b64encode(schema) + after


def _damaged(name: str) -> InvalidInput:
    return InvalidInput(
        f"{name} is not a readable parquet file: it is damaged, incomplete or of another type."
    )


def _footer(raw: bytes, length: int | None = None) -> _Footer:
    """Parse the footer; ValueError or IndexError if it is not valid.

    `raw` may be the first four bytes and the footer alone; `length` is then that of the whole file.
    """
    length = len(raw) if length is None else length
    size = int.from_bytes(raw[-8:-4], "little")
    if length < 12 or raw[:4] != _MARK or raw[-4:] != _MARK or size > length - 12:
        raise ValueError("no parquet file")
    about = _Thrift(raw[-8 - size : -8]).struct()
    n_rows, groups = _count(about.get(3)), about.get(4)
    n_values = n_bytes = 0
    each: list[tuple[int, int]] = []
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise ValueError("no row groups")
    if n_rows != sum(_count(group.get(3)) for group in groups):
        raise ValueError("the row groups have other rows")
    for group in groups:
        before = n_values, n_bytes
        for column in group.get(1, []):
            chunk = column.get(3)
            n_values += _count(chunk.get(5))
            n_bytes += _count(chunk.get(6))
            start = chunk.get(11) or chunk.get(9)  # some writers use 0 for no dictionary
            if not 4 <= _count(start) <= _count(start) + _count(chunk.get(7)) <= length:
                raise ValueError("a column lies outside of the file")
        need = n_bytes - before[1] + _PER_VALUE * (n_values - before[0])
        each.append((_count(group.get(3)), need))
    uuids, digits, names = [], {}, set()
    for column, is_whole, element in _elements(about.get(2)):
        kind = element.get(10)  # a union of types
        kind = kind if isinstance(kind, dict) else {}
        if is_whole and 14 in kind:
            uuids.append(column)
        if _count(element.get(8, 0)) > _DIGITS:
            digits[column] = element[8]
        names.add(element[4])
    pairs = {pair.get(1): pair.get(2) for pair in about.get(5, [])}
    schema = pairs.get(b"ARROW:schema") or b""
    zones = {*_ZONE.findall(base64.b64decode(schema))} - names - {b"+00:00"}
    return _Footer(n_rows, n_values, n_bytes, each, uuids, digits, schema, sorted(zones))


def _elements(schema: Any) -> Iterator[tuple[str, bool, dict[int, Any]]]:
    """Each element with the name of its column, and whether it is the whole column."""
    if not isinstance(schema, list) or not all(isinstance(element, dict) for element in schema):
        raise ValueError("no schema")
    column, left = "", 0  # elements that belong to the column
    for element in schema[1:]:
        is_whole, name = left == 0, element.get(4)
        if not isinstance(name, bytes):
            raise ValueError("no name")
        if is_whole:
            column, left = name.decode("utf-8", "replace"), 1
        left += _count(element.get(5, 0)) - 1
        yield column, is_whole, element


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("not a count")
    return value


class _Thrift:
    """A reader of Thrift's compact protocol: structs as {field number: value}."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEPTH:
            raise ValueError("nested too deeply")
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step = head >> 4
            number = number + step if step else self._signed()
            found[number] = self._value(head & 15, depth, in_list=False)
        return found

    def _value(self, kind: int, depth: int, in_list: bool) -> Any:
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE if in_list else kind == _TRUE
        if kind in _WHOLE:
            return self._signed()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth + 1)
        if kind == _MAP:
            return self._map(depth + 1)
        size = {_BYTE: 1, _DOUBLE: 8}.get(kind)
        if kind == _BINARY:
            size = self._unsigned()
        if size is None or self.at + size > len(self.content):
            raise ValueError("an unknown type, or cut short")
        self.at += size
        return self.content[self.at - size : self.at]

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 != 15 else self._unsigned()
        if depth > _DEPTH or size > len(self.content):
            raise ValueError("a list that cannot be")
        return [self._value(head & 15, depth, in_list=True) for _ in range(size)]

    def _map(self, depth: int) -> dict[Any, Any]:
        size = self._unsigned()
        if depth > _DEPTH or size > len(self.content):
            raise ValueError("a map that cannot be")
        kinds = self._byte() if size else 0
        pairs = [
            (self._value(kinds >> 4, depth, True), self._value(kinds & 15, depth, True))
            for _ in range(size)
        ]
        return dict(enumerate(pairs))

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number that is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
