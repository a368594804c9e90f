"""Bytes -> UTF-8: by the encoding named, the byte order mark, or what charset-normalizer finds."""

from __future__ import annotations

import codecs
import re

from coterie._sentence import example, parameter
from coterie.errors import InvalidInput

_MARKS = (  # the longer first: UTF-32's mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN = ("cp1252", "latin_1", "iso8859_15")
_telling = re.compile(rb"[^\n]*[\x80-\xff][^\n]*")  # lines that say something about the encoding
_SAMPLE = 50_000


def decode(raw: bytes, encoding: str | None, name: str) -> tuple[bytes, str | None]:
    """(content as UTF-8 bytes, what to tell the user)."""
    if encoding is not None:
        return _named(raw, encoding, name), None
    for mark, found in _MARKS:
        if raw.startswith(mark):
            return _named(raw, found, name), None
    try:
        raw.decode()
    except UnicodeDecodeError:
        pass
    else:
        return raw, None
    found = _found(raw)
    text = raw.decode(found, "replace")
    lost = text.count("\ufffd")
    note = f"{name} is not UTF-8; it was read as {found}"
    note += f", in which {lost} characters are unknown" if lost else ""
    return text.encode(), f"{note} (say " + example("encoding") + " if letters look wrong)."


def _named(raw: bytes, encoding: str, name: str) -> bytes:
    try:
        return raw.decode(encoding).encode("utf-8", "replace")
    except LookupError:
        raise InvalidInput(
            parameter("encoding")
            + f" is {encoding!r}, which Python does not know; try 'utf-8', 'latin-1', 'cp1252',"
            " or leave it out."
        ) from None
    except UnicodeError as error:
        where = f" (first at byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise InvalidInput(
            f"{name} is not valid {encoding}{where}; leave "
            + parameter("encoding")
            + " out to have it found."
        ) from None


def _found(raw: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8."""
    from charset_normalizer import from_bytes

    if raw.count(b"\0", 0, 10_000) > 0.2 * min(len(raw), 10_000):  # UTF-16 without its mark
        even = raw[:10_000:2].count(b"\0")
        return "utf-16-be" if even > raw[1:10_000:2].count(b"\0") else "utf-16-le"
    sample, size = [], 0
    for match in _telling.finditer(raw):
        sample.append(match[0][:2_000])
        size += len(sample[-1])
        if size > _SAMPLE:
            break
    matches = list(from_bytes(b"\n".join(sample)))
    if not matches:
        return _western(raw)
    best = matches[0]
    # In a few accented letters several code pages look alike; then the common one is meant.
    alike = [m for m in matches if m.chaos <= best.chaos + 0.01]
    names = {n for m in alike for n in (m.encoding, *m.could_be_from_charset)}
    if not names.isdisjoint(_WESTERN) and _is_western(b"\n".join(sample)):
        return _western(raw)
    return str(best.encoding)


def _is_western(sample: bytes) -> bool:
    """Whether the bytes above ASCII are sparse, as accents are, and not most of the letters."""
    high = sum(byte >= 0xC0 for byte in sample)
    ascii_letters = sum(chr(byte).isalpha() for byte in sample if byte < 0x80)
    return high < 0.5 * max(ascii_letters, 1)


def _western(raw: bytes) -> str:
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"
