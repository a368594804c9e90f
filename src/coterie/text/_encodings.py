"""Converts bytes to UTF-8, by the given encoding, the byte order mark, or detection.

UTF-8 with a few invalid bytes is read as UTF-8, UTF-16 is detected without a byte order mark, and
charset-normalizer detects everything else.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from coterie._sentence import counted, example, parameter
from coterie.errors import InvalidInput

_MARKS = (  # longer marks first: that of UTF-32 starts with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN = ("cp1252", "latin_1", "iso8859_15")
_high = re.compile(rb"[\x80-\xff]")
_escaped = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as surrogateescape shows them
_multibyte = re.compile("[\x80-\ud7ff\ue000-\U0010ffff]")
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r\f"})
_SAMPLE = 50_000
HEAD = 2 * _SAMPLE  # bytes that UTF-16 is recognised by
_AROUND = 1_000
_PIECE = 2**18
ADVICE = "If characters look wrong, use " + example("encoding") + "."


def decode(raw: bytes, encoding: str | None, name: str) -> tuple[bytes, str | None]:
    """Return (content as UTF-8 bytes, a note for the user or None)."""
    if encoding is not None:
        return _named(raw, encoding, name, is_asked=True), None
    for mark, found in _MARKS:
        if raw.startswith(mark):
            if found != "utf-8-sig":
                return _named(raw, found, name, is_asked=False), None
            raw = raw[len(mark) :]
            break
    sixteen = _utf_16(raw)
    if sixteen is not None:
        text = raw.decode(sixteen, "replace")
        return text.encode("utf-8", "replace"), _without_mark(name, sixteen)
    return (raw, None) if _is_utf_8(raw) else _not_quite_utf_8(raw, name)


def name_of(raw: bytes, encoding: str | None) -> tuple[str, bytes]:
    """Return (the encoding of these bytes as `decode` reads them, their byte order mark)."""
    for mark, found in _MARKS:
        if raw.startswith(mark):
            if found == "utf-8-sig":
                return "utf-8", mark
            is_little = mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF32_LE)
            return f"{found}-{'le' if is_little else 'be'}", mark
    if encoding is not None:
        return encoding, b""
    sixteen = _utf_16(raw)
    if sixteen is not None:
        return sixteen, b""
    if _is_utf_8(raw):
        return "utf-8", b""
    text = raw.decode("utf-8", "surrogateescape")
    if len(_multibyte.findall(text)) >= 2 * len(_escaped.findall(text)):
        return "utf-8", b""
    return _found(raw), b""


class Detected(NamedTuple):
    """The encoding that the first piece of a file was read in."""

    encoding: str
    is_plain: bool  # whether all pieces so far are ASCII, as which most encodings begin


def detected(piece: bytes, before: Detected | None) -> Detected:
    """That of the first piece; later ones only show whether they are ASCII, too."""
    encoding, was_plain = before or (name_of(piece, None)[0], True)
    return Detected(encoding, was_plain and piece.isascii())


def decode_more(piece: bytes, found: Detected, name: str) -> bytes:
    """A later piece of a file as UTF-8 bytes."""
    try:
        return piece.decode(found.encoding).encode("utf-8", "replace")
    except UnicodeDecodeError as error:
        byte = f"{name} holds the byte 0x{piece[error.start]:02X}, which is not valid"
    guess = name_of(piece, None)[0]
    if found.is_plain and guess != found.encoding:
        raise InvalidInput(
            f"{byte} {found.encoding}, while all rows before are plain ASCII. Name the encoding of the"
            " file, as in " + example("encoding", guess) + "."
        )
    if found.encoding == "utf-8":  # which other encodings would turn into other letters
        raise InvalidInput(
            f"{byte} {found.encoding}, the encoding of its first rows. Correct or remove this byte, or copy"
            " or download the file again."
        )
    guess = "latin-1" if found.encoding == "cp1252" else "cp1252"
    raise InvalidInput(
        f"{byte} {found.encoding}, the encoding of its first rows. Copy or download the file again, or"
        " name another encoding, as in " + example("encoding", guess) + "."
    )


class Wide(NamedTuple):
    """An encoding whose line ends are not the byte 0x0A alone, such as UTF-16."""

    encoding: str
    note: str | None
    errors: str  # as decoders call what to do with bytes that are not valid
    is_asked: bool = False  # by the user


def wide(head: bytes, encoding: str | None, name: str) -> Wide | None:
    """The encoding of a file that starts so, if it cannot be cut at the byte 0x0A."""
    marked = next((found for mark, found in _MARKS if head.startswith(mark)), None)
    known = encoding or marked
    if known is None:
        guessed = _utf_16(head)
        return None if guessed is None else Wide(guessed, _without_mark(name, guessed), "replace")
    try:
        is_wide = "\n".encode(known) not in (b"\n", codecs.BOM_UTF8 + b"\n")
    except LookupError:
        return None  # `decode` says that there is no such encoding
    return Wide(known, None, "strict", encoding is not None) if is_wide else None


def _without_mark(name: str, sixteen: str) -> str:
    return f"{name} was read as {sixteen}, although it has no byte order mark. " + ADVICE


def _is_utf_8(raw: bytes) -> bool:
    """Whether all bytes are valid; a piece at a time, since one emoji makes a text four times as large."""
    if raw.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(raw)
    try:
        for start in range(0, len(raw), _PIECE):
            decoder.decode(view[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _named(raw: bytes, encoding: str, name: str, is_asked: bool) -> bytes:
    try:
        return raw.decode(encoding).encode("utf-8", "replace")
    except LookupError:
        raise InvalidInput(
            parameter("encoding")
            + f" is {encoding!r}, which is unknown. Try 'utf-8', 'latin-1' or 'cp1252', or leave it"
            " out."
        ) from None
    except (ValueError, TypeError) as error:
        where = f" (first at byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise not_valid(name, encoding, is_asked, where) from None


def not_valid(name: str, encoding: str, is_asked: bool, where: str = "") -> InvalidInput:
    """The error for bytes that are not valid in the encoding that was asked for, or that the mark says."""
    if is_asked:
        problem = f"{name} is not valid {encoding}{where}. Leave out "
        return InvalidInput(problem + parameter("encoding") + " to detect it, or use another one.")
    return InvalidInput(
        f"{name} is damaged: it has the byte order mark of {encoding}, but is not valid"
        f" {encoding}{where}. Copy or download it again, or name another encoding, as in "
        + example("encoding", "cp1252")
        + "."
    )


# ---------------------------------------------------------------- UTF-16 without a byte order mark
def _utf_16(raw: bytes) -> str | None:
    """The byte order of UTF-16 without a byte order mark; None if it is not UTF-16.

    Half of the bytes of Latin letters are NUL, and Cyrillic or Greek text is full of the same control
    character. Chinese has neither, but its line ends and spaces contain NULs, which do not occur in
    other text encodings.
    """
    head = raw[:HEAD]
    head = head[: len(head) // 2 * 2]
    n_nul = head.count(0)
    if len(head) < 4 or n_nul == 0:
        return None
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    if n_controls < 0.15 * len(head):
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
            return None  # valid UTF-8 with a stray NUL
        except UnicodeDecodeError:
            pass
    n_first = head[::2].count(0)
    order = "utf-16-be" if n_first > n_nul - n_first else "utf-16-le"
    return order if _reads_well(head, order) else None


def _reads_well(head: bytes, order: str) -> bool:
    """Whether the bytes are text in this byte order: known characters of few alphabets."""
    try:
        text = codecs.getincrementaldecoder(order)().decode(head)
    except UnicodeDecodeError:
        return False
    known = sum(c in "\t\n\r\f" or unicodedata.category(c)[0] not in "C" for c in text)
    ascii_ = [c for c in text if c < "\x80"]
    pages = [_page(c) for c in text if c >= "\x80"]
    together = sum(a == b for a, b in pairwise(pages))
    return (
        known >= 0.97 * len(text)
        and any(c in "\n\r\t ,;" for c in ascii_)
        and (together >= 0.5 * (len(pages) - 1) or len(ascii_) > 0.5 * len(text))
    )


def _page(character: str) -> int:
    """The Unicode page of a character, shared by its alphabet; Chinese and Korean count as one page."""
    code = ord(character)
    if 0x2E80 <= code < 0xA000 or 0xF900 <= code < 0xFB00 or 0xFF00 <= code < 0xFFF0:
        return -1
    return -2 if 0xAC00 <= code < 0xD800 else code >> 8


# ---------------------------------------------------------------- other encodings
def _not_quite_utf_8(raw: bytes, name: str) -> tuple[bytes, str]:
    """Repair UTF-8 with a few invalid bytes; detect another encoding if most are invalid."""
    text = raw.decode("utf-8", "surrogateescape")
    n_stray = len(_escaped.findall(text))
    if len(_multibyte.findall(text)) >= 2 * n_stray:
        lines = sorted({text.count("\n", 0, m.start()) + 1 for m in _first(text)})
        shown = ", ".join(map(str, lines[:5])) + (", ..." if len(lines) > 5 else "")
        repaired = _escaped.sub(lambda m: _western_letter(ord(m[0]) - 0xDC00), text)
        were = "was" if n_stray == 1 else "were"
        return repaired.encode(), (
            f"{name} is UTF-8, except for {counted(n_stray, 'byte')}, which {were} read as cp1252 (line"
            f" {shown}). " + ADVICE
        )
    found = _found(raw)
    text = raw.decode(found, "replace")
    lost = text.count("\ufffd")
    note = f"{name} is not UTF-8, so it was read as {found}"
    note += f"; {counted(lost, 'character')} could not be decoded" if lost else ""
    return text.encode("utf-8", "replace"), f"{note}. " + ADVICE


def _first(text: str) -> list[re.Match[str]]:
    """The first invalid bytes, enough to list five lines."""
    found: list[re.Match[str]] = []
    start = 0
    while len(found) < 6 and (match := _escaped.search(text, start)):
        found.append(match)
        end = text.find("\n", match.end())
        if end < 0:
            break
        start = end
    return found


def _western_letter(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:  # five bytes that cp1252 does not define
        return chr(byte)


def _found(raw: bytes) -> str:
    """The most likely encoding of bytes that are not UTF-8."""
    from charset_normalizer import from_bytes

    sample = _telling_lines(raw)
    matches = list(from_bytes(sample))
    if not matches:
        return _western(raw)
    best = matches[0]
    # A few accented letters look alike in several code pages; then the common one is likely.
    alike = [m for m in matches if m.chaos <= best.chaos + 0.01]
    names = {n for m in alike for n in (m.encoding, *m.could_be_from_charset)}
    if not names.isdisjoint(_WESTERN) and _is_western(sample):
        return _western(raw)
    return str(best.encoding)


def _telling_lines(raw: bytes) -> bytes:
    """The first lines, or parts of them, with bytes above ASCII."""
    sample: list[bytes] = []
    at = size = 0
    while size < _SAMPLE and (match := _high.search(raw, at)):
        start = max(at, match.start() - _AROUND)
        start = max(start, raw.rfind(b"\n", start, match.start()) + 1)
        end = raw.find(b"\n", match.end(), match.end() + _AROUND)
        at = end if end >= 0 else match.end() + _AROUND
        sample.append(raw[start:at])
        size += len(sample[-1])
    return b"\n".join(sample)


def _is_western(sample: bytes) -> bool:
    """Whether bytes above ASCII are rare, like accents, rather than most of the letters."""
    high = sum(byte >= 0xC0 for byte in sample)
    ascii_letters = sum(chr(byte).isalpha() for byte in sample if byte < 0x80)
    return high < 0.5 * max(ascii_letters, 1)


def _western(raw: bytes) -> str:
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"
