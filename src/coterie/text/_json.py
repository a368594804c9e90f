"""Reads JSON (one object per line, or one list) into a polars DataFrame; errors name the line.

The original text of the objects is kept as well, since a DataFrame cannot hold lists of mixed types,
the difference between 1 and 1.0, or numbers of thirty digits.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from coterie.errors import InvalidInput
from coterie.text import _json_lines
from coterie.text._again import Changed

_lone_surrogate = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
)
_blanks = re.compile(r"[ \t\r\n]*")
_integral = re.compile(r"-?\d+")
_SHAPE = bytes(
    48 if byte in b"0123456789.+-" else 101 if byte in b"eE" else 32 for byte in range(256)
)
# a text that may have been another value: a number, a list, an object
_JSON = r"^(-?\d[\d.eE+-]*|-?(?i:inf|infinity|nan)|\[[\s\S]*\]|\{[\s\S]*\})$"
_DIGITS = 4_000  # close to Python's limit for integers
_LARGEST = 2**53  # a float holds every integer up to this
_DEPTH = 64  # nested lists and objects; the time polars needs grows with the cube of this
_NOT_BRACKETS = bytes({*range(256)} - {*b"[]{}"})
_NOT_OPENINGS = bytes({*range(256)} - {*b"[{\n"})
_many_openings = re.compile(rb"[\[{]{%d}" % (_DEPTH + 1))
_blank_line = re.compile(rb"\n[ \t\r\x0b\x0c]*(?=\n|\Z)")
_ROWS = 2_000  # objects that are taken apart together
_string_or_bracket = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


@dataclass
class Objects:
    """The original text of the objects, one per row."""

    columns: list[str]
    load: Callable[[], Iterable[str]] = field(repr=False)  # the JSON of each row; can be pickled
    data: bytes | None = field(default=None, repr=False)  # the lines of a file, which `load` splits

    def lines(self, added: Sequence[str]) -> list[str]:
        """Each object on one line, with the members of another object added at its end."""
        return [_json_lines.with_members(*pair) for pair in zip(self.load(), added, strict=True)]

    def pieces(self) -> Iterator[bytes]:
        """The lines of a file with one object per line."""
        if self.data is not None:
            return _json_lines.pieces(self.data)
        return (f"{_json_lines.on_one_line(piece)}\n".encode() for piece in self.load())

    def write(self, ours: Any, out: BinaryIO) -> None:
        """Write each object on one line, with the columns of a DataFrame added at its end."""
        if self.data is not None:
            _json_lines.write(_json_lines.pieces(self.data), ours, out)
            return
        members = ours[:].write_ndjson().split("\n")[:-1]
        out.write("".join(f"{line}\n" for line in self.lines(members)).encode())

    def cells(self) -> tuple[list[str], Any]:
        """Return (names, a DataFrame of strings): texts as they are, other values as JSON."""
        import polars as pl

        types, parts, objects = dict.fromkeys(self.columns, pl.String), [], iter(self.load())
        while some := list(islice(objects, _ROWS)):
            rows = [dict(reversed(_members(piece))) for piece in some]
            cells = {name: [_cell(row.get(name)) for row in rows] for name in self.columns}
            parts.append(pl.DataFrame(cells, types))
        return self.columns, pl.concat(parts)

    def exact(self, typed: Any) -> Any:
        """The DataFrame, with the JSON of values in columns whose type does not hold all of them."""
        names, numbers = _maybe_mixed(typed), _numbers(typed)
        nested = [name for name in names if typed.schema[name].is_nested()]
        mixed = set(names) - set(nested)
        mixed.update(self._with_other_values(typed[nested]) if nested else [])
        if not mixed and not (numbers and has_long_numbers(self.pieces())):
            return typed
        cells = self.cells()[1]
        for name in set(numbers) - mixed:
            dtype = str(typed.schema[name])
            if not all(_keeps_digits(cell, dtype) for cell in set(cells[name])):
                mixed.add(name)
        return typed.with_columns(cells[name] for name in mixed)

    def _with_other_values(self, typed: Any) -> list[str]:
        """The columns of lists and objects in which a text was another value in the JSON."""
        unlike: dict[str, None] = {}
        for piece, row in zip(self.load(), typed.iter_rows(), strict=True):
            values = _decoder.decode(piece)
            for name, found in zip(typed.columns, row, strict=True):
                if not _are_texts_alike(values.get(name), found):
                    unlike[name] = None
        return list(unlike)

    def values(self, name: str) -> list[Any]:
        """The values of a column, of any type."""
        values = (_decoder.decode(piece).get(name) for piece in self.load())
        return [whole(value) if isinstance(value, str) else value for value in values]


class OnDisk(NamedTuple):
    """The same for a large file, whose text is not kept in memory."""

    columns: list[str]
    pieces: Callable[[], Iterator[bytes]]  # its lines; raises Changed, perhaps only at the end
    has_long: bool | None = None  # whether floats may not hold its numbers; None: not known

    def opened(self) -> Objects:
        """The objects, in memory; raises `Changed` if the file is not the same any more."""
        whole = io.BytesIO()  # which needs no second copy, as a list of pieces would
        whole.writelines(self.pieces())
        return objects_of(whole.getvalue(), self.columns)

    def write(self, ours: Any, out: BinaryIO) -> None:
        """As `Objects.write`; writes nothing and raises `Changed` if the file is not the same any more."""
        start = out.tell()
        try:
            _json_lines.write(self.pieces(), ours, out)
        except Changed:
            out.seek(start)
            out.truncate()
            raise

    def exact(self, typed: Any) -> Any:
        """As `Objects.exact`; reads the file only if values may be lost, and raises `Changed`."""
        may_lose = bool(_maybe_mixed(typed))
        if not may_lose and self.has_long is not False and _numbers(typed):
            may_lose = self.has_long or has_long_numbers(self.pieces())
        return self.opened().exact(typed) if may_lose else typed


def reopened(lines: Callable[[], Iterator[bytes]], columns: list[str], n_rows: int) -> OnDisk:
    """Objects in the lines of a saved model, which anybody may have written: each is looked at."""
    return OnDisk(columns, partial(_checked_pieces, lines, n_rows))


def _checked_pieces(lines: Callable[[], Iterator[bytes]], n_rows: int) -> Iterator[bytes]:
    left = n_rows
    for piece in lines():
        try:
            _check_depth(piece, "the model")
            objects = [_decoder.decode(one) for one in _json_lines.objects_in(piece)]
        except ValueError:
            raise Changed from None
        left -= len(objects)
        if left < 0 or not all(isinstance(one, dict) for one in objects):
            raise Changed
        yield piece
    if left:
        raise Changed


def lines(data: bytes, name: str) -> tuple[Any, Objects]:
    """Read one object (or text) per line."""
    if _many_openings.search(data.translate(None, _NOT_OPENINGS)):
        for number, line in enumerate(data.split(b"\n"), start=1):
            _check_depth(line, f"Line {number} of {name}")
    frame = by_polars(data)
    if frame is None:
        frame = _line_by_line(data, name)
    return _without_rounding(frame, objects_of(data, frame.columns))


def array(data: bytes, name: str) -> tuple[Any, Objects]:
    """Read a list of objects or texts, or an object of columns."""
    _check_depth(data, name)
    text = data.decode()  # given bytes, json would guess the encoding
    try:
        content = _decoder.decode(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # JSON lines with the wrong file extension
            return lines(data, name)
        raise InvalidInput(
            f"Line {error.lineno} of {name} is not valid JSON ({error.msg})."
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be read as a table ({error}).") from None
    columns = _columns_of(content)
    if columns is not None:
        content = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        load: Callable[[], list[str]] = partial(_rows_of_columns, text)
    elif isinstance(content, dict):
        content, load = [content], partial(list, [text.strip()])
    else:
        load = partial(_objects_of_list, text)
    frame = _from_objects(content, name)
    return _without_rounding(frame, Objects(frame.columns, load))


# ---------------------------------------------------------------- frames
def _check_depth(data: bytes, what: str) -> None:
    """Refuse values that are nested too deeply for a table."""
    if _may_be_deep(data) and _depth(data) > _DEPTH:
        raise InvalidInput(
            f"{what} contains lists or objects nested more than {_DEPTH} levels deep. Remove such values."
        )


def _may_be_deep(data: bytes) -> bool:
    """False if nesting is certainly shallow; brackets within strings may give a false True."""
    brackets = data.translate(None, _NOT_BRACKETS)
    for _ in range(_DEPTH):
        left = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(left) in (0, len(brackets)):
            return len(left) > _DEPTH
        brackets = left
    return True


def _depth(data: bytes) -> int:
    depth = deepest = 0
    for match in _string_or_bracket.finditer(data):
        if match[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def by_polars(data: bytes, types: Mapping[str, Any] | None = None) -> Any:
    """Read with polars, only the columns in `types`; None if the standard library has to read it."""
    import polars as pl

    # polars turns a lone surrogate into a NUL
    if (b"\\ud" in data or b"\\uD" in data) and _lone_surrogate.search(data):
        return None
    try:
        frame = pl.read_ndjson(data, schema=types, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        return None  # the standard library reads it, or says where it is wrong
    n_blank = len(_blank_line.findall(data)) + (not data.partition(b"\n")[0].strip())
    n_lines = data.count(b"\n") + 1 - n_blank
    return frame if frame.height == n_lines and frame.width else None


def _line_by_line(data: bytes, name: str) -> Any:
    rows: list[Any] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_decoder.decode(line.strip().decode()))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                f"Line {number} of {name} is not valid JSON ({error}). Every line must be an object such"
                ' as {"text": "..."}.'
            ) from None
        if not isinstance(rows[-1], dict | str):
            raise InvalidInput(
                f"Line {number} of {name} is {_value_in_words(rows[-1])}. Every line must be an object such"
                ' as {"text": "..."}.'
            )
    return _from_objects(rows, name)


def _value_in_words(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "a list" if isinstance(value, list) else "a number"


def _columns_of(content: Any) -> dict[str, list[Any]] | None:
    """The columns, if the content is an object of lists of equal length; else None."""
    if not isinstance(content, dict) or not content:
        return None
    if not all(isinstance(column, list) for column in content.values()):
        return None
    return content if len({len(column) for column in content.values()}) == 1 else None


def _from_objects(rows: Any, name: str) -> Any:
    """A DataFrame from a list of objects or of texts."""
    import polars as pl

    if isinstance(rows, list):
        rows = [{"text": row} if isinstance(row, str) else row for row in rows]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput(
            f"{name} must contain a list of objects with the same keys, or a list of texts."
        )
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = {whole(key): _series([row.get(key) for row in rows]) for key in keys}
    return pl.DataFrame(columns)


def _series(values: list[Any]) -> Any:
    """A column of one type; values of several types are written as JSON."""
    import polars as pl

    values = [whole(value) if isinstance(value, str) else value for value in values]
    types = set(map(type, values))
    if bool in types and types & {int, float}:  # polars would write true as 1
        return as_texts(values)
    try:
        series = pl.Series(values)
        if "Struct" in str(series.dtype):  # without fields that the first object does not have
            frame = by_polars("\n".join(json.dumps({"value": v}) for v in values).encode())
            return as_texts(values) if frame is None else frame["value"].alias("")
        if series.dtype != pl.Object:
            return series
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):  # of several types
        pass
    return as_texts(values)


def as_texts(values: list[Any]) -> Any:
    """A column of texts; other values are written as JSON."""
    import polars as pl

    return pl.Series(
        [v if v is None or isinstance(v, str) else json.dumps(v) for v in values], dtype=pl.String
    )


def _without_rounding(frame: Any, objects: Objects) -> tuple[Any, Objects]:
    """Turn columns into texts if no usual number can hold every digit of their integers."""
    import polars as pl

    large = [
        name
        for name in frame.columns
        if frame[name].dtype == pl.Float64 and (frame[name].alias("").abs() >= _LARGEST).any()
    ]
    longer = [name for name, dtype in frame.schema.items() if "Int128" in str(dtype)]
    if large or longer:
        cells = objects.cells()[1]
        lossy = [name for name in large if any(map(_is_rounded, cells[name]))]
        frame = frame.with_columns(cells[name] for name in (*lossy, *longer))
    return frame, objects


def _maybe_mixed(typed: Any) -> list[str]:
    """Columns of texts that may have been other values, also within lists and objects."""
    import polars as pl

    return [
        name
        for name, dtype in typed.schema.items()
        if (dtype == pl.String and typed[name].alias("").str.contains(_JSON).any())
        or (dtype.is_nested() and "String" in str(dtype))
    ]


def _numbers(typed: Any) -> list[str]:
    """Columns whose type may not hold all digits of a number."""
    import polars as pl

    exact = (pl.String, pl.Int64, pl.Boolean, pl.Null)
    return [name for name, dtype in typed.schema.items() if dtype not in exact]


def has_long_numbers(pieces: Iterable[bytes]) -> bool:
    """Whether some JSON may have numbers of more than 15 digits, or with an exponent."""
    shapes = (piece.translate(_SHAPE) for piece in pieces)
    return any(b"0" * 16 in shape or b"0e0" in shape for shape in shapes)


def _keeps_digits(piece: str | None, dtype: str) -> bool:
    """Whether floats hold every digit of the numbers in some JSON; whole numbers of a type need none."""
    numbers: list[str] = []
    json.loads(piece or "null", parse_float=numbers.append, parse_int=numbers.append)
    if "Int" in dtype:
        numbers = [number for number in numbers if not _integral.fullmatch(number)]
    return all(map(_is_float, numbers))


def _is_float(number: str) -> bool:
    """Whether a float holds a number exactly as it is written."""
    if len(number) <= 15 and "e" not in number and "E" not in number:
        return True
    try:
        return Decimal(number) == Decimal(repr(float(number)))
    except ArithmeticError:  # an exponent of twenty digits
        return False


def _are_texts_alike(value: Any, found: Any) -> bool:
    """Whether what is a text in a column of one type was a text before."""
    if isinstance(found, dict) and isinstance(value, dict):
        return all(_are_texts_alike(value.get(key), of) for key, of in found.items())
    if isinstance(found, list) and isinstance(value, list):
        return all(map(_are_texts_alike, value, found))
    return isinstance(value, str) or not isinstance(found, str)


def _is_rounded(number: str | None) -> bool:
    if number is None or not number[-1].isdigit():  # NaN, Infinity
        return False
    if math.isinf(float(number)):
        return True
    return bool(_integral.fullmatch(number)) and int(float(number)) != int(number)


# ---------------------------------------------------------------- original JSON text
def has_key(data: bytes, key: str) -> bool:
    """Whether some line is an object with this key."""
    sign = json.dumps(key).encode()
    for line in data.split(b"\n") if sign in data else ():
        if sign in line:
            with suppress(ValueError, RecursionError):  # reading the line will say what is wrong
                found = _decoder.decode(line.decode("utf-8-sig", "replace").strip())
                if isinstance(found, dict) and key in found:
                    return True
    return False


def objects_of(data: bytes, columns: list[str]) -> Objects:
    """The objects of a file with one per line."""
    return Objects(columns, partial(_objects_of_lines, data), data)


def _objects_of_lines(data: bytes) -> Iterator[str]:
    for piece in _json_lines.pieces(data):
        yield from _json_lines.objects_in(piece)


def _objects_of_list(text: str) -> list[str]:
    return [_json_lines.as_object(piece) for piece in _elements(text.strip())]


def _cell(value: str | None) -> str | None:
    if value is None or value == "null":
        return None
    return whole(json.loads(value)) if value.startswith('"') else _json_lines.on_one_line(value)


def _members(text: str) -> list[tuple[str, str]]:
    """The members of an object: (key, JSON of the value)."""
    found = []
    at = _next(text, 1)
    while text[at] != "}":
        key, at = _scanner.raw_decode(text, at)
        start = _next(text, _next(text, at) + 1)  # past the colon
        at = _scanner.raw_decode(text, start)[1]
        found.append((whole(key), text[start:at]))
        at = _next(text, at)
        at = _next(text, at + 1) if text[at] == "," else at
    return found


def _elements(text: str) -> list[str]:
    """The JSON of each element of a list."""
    found = []
    at = _next(text, 1)
    while text[at] != "]":
        end = _scanner.raw_decode(text, at)[1]
        found.append(text[at:end])
        at = _next(text, end)
        at = _next(text, at + 1) if text[at] == "," else at
    return found


def _next(text: str, at: int) -> int:
    """The position of the next character that is not blank."""
    return _blanks.match(text, at).end()  # type: ignore[union-attr]  # it also matches nothing


def _rows_of_columns(text: str) -> list[str]:
    columns = dict(reversed(_members(text.strip())))
    keys = [json.dumps(key, ensure_ascii=False) for key, _ in _members(text.strip())]
    keys = list(dict.fromkeys(keys))
    values = [_elements(columns[json.loads(key)]) for key in keys]
    return [
        "{" + ",".join(f"{key}:{value}" for key, value in zip(keys, row, strict=True)) + "}"
        for row in zip(*values, strict=True)
    ]


def _first_of_equal_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """If a key occurs twice, keep the first value, as polars does."""
    found = dict(pairs)
    if len(found) < len(pairs):
        found.update(reversed(pairs))
    return found


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else digits


_decoder = json.JSONDecoder(parse_int=_integer, object_pairs_hook=_first_of_equal_keys)
_scanner = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def whole(text: str) -> str:
    """Replace lone surrogates, which neither files nor DataFrames can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
