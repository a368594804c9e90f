"""Lines of JSON as they came, with members added at the end of each object.

In: bytes with one object (or text) per line, and a DataFrame. Out: the same lines, with its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from coterie.text._again import Changed

PIECE = 2**20  # bytes of lines that are written together
_line_end = re.compile(r"[\r\n][ \t\r\n]*")  # never within a string, where line ends are escaped


def write(pieces: Iterable[bytes], ours: Any, out: BinaryIO) -> None:
    """Write lines with members added; raises `Changed` if there are more or fewer than rows."""
    first = 0
    for piece in pieces:
        plain = _plain_lines(piece)
        try:
            objects = objects_in(piece) if plain is None else []
        except UnicodeDecodeError:
            raise Changed from None
        last = first + len(objects if plain is None else plain)
        if last > ours.height:
            raise Changed
        if last == first:  # blank lines only
            continue
        members = ours[first:last].write_ndjson()
        first = last
        if plain is None:
            pairs = zip(objects, members.split("\n")[:-1], strict=True)
            out.write("".join(f"{with_members(*pair)}\n" for pair in pairs).encode())
        else:
            added = members.encode()[1:-1].split(b"\n{")
            out.write(b"\n".join(map(b",".join, zip(plain, added, strict=True))) + b"\n")
    if first != ours.height:
        raise Changed


def pieces(data: bytes) -> Iterator[bytes]:
    """Whole lines, about a megabyte at a time."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + PIECE) + 1 or len(data)
        yield data[start:end]
        start = end


def objects_in(piece: bytes) -> list[str]:
    """The objects in some lines."""
    found = (line.strip() for line in piece.split(b"\n"))
    return [as_object(line.decode()) for line in found if line]


def _plain_lines(piece: bytes) -> list[bytes] | None:
    """Lines without their last brace, if each is an object of some members without blanks around."""
    odd = (b"\r", b" }\n", b"\t}\n", b"\n{}\n")
    if not (piece.startswith(b"{") and piece.endswith(b"}\n")) or any(o in piece for o in odd):
        return None
    n_lines = piece.count(b"\n")
    lines = piece.split(b"}\n")[:-1]
    whole = len(lines) == n_lines and piece.count(b"\n{") == n_lines - 1
    return lines if whole and not piece.startswith(b"{}\n") else None


def with_members(piece: str, more: str) -> str:
    """An object on one line, with the members of another object added at its end."""
    line = on_one_line(piece) if "\n" in piece or "\r" in piece else piece
    if not more:
        return line
    start = line[:-1].rstrip(" \t")
    return f"{start}{'' if start == '{' else ','}{more[1:]}"


def as_object(piece: str) -> str:
    """An object; a text becomes one."""
    return f'{{"text":{piece}}}' if piece.startswith('"') else piece


def on_one_line(piece: str) -> str:
    """The same JSON without line ends."""
    return _line_end.sub(" ", piece)
