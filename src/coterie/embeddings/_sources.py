"""Reads the vectors of the words that are needed from files of word vectors.

Supported, and recognised by content: word2vec binary, word2vec text (the first line is "count dim"),
GloVe text (without such a line), all of which may be gzipped, and .npz. A file is read once, in pieces,
and only the vectors needed are kept in memory. Words are compared byte by byte, as UTF-8.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from coterie.embeddings import _npz
from coterie.embeddings._found import N_EXAMPLES, PIECE, Found
from coterie.errors import InvalidInput

_LONGEST_WORD = 1 << 16  # bytes without a space: no word2vec file
_HEADER = re.compile(rb"\s*(\d{1,12})\s+(\d{1,9})\s*")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BOM = codecs.BOM_UTF8
_READS = "Pass a word2vec file (binary or text), a GloVe text file, or an .npz file with words and vectors"
_FOREIGN = {
    b"\x93NUMPY": "a matrix without words. Pass the pair (words, matrix)",
    b"\xba\x16\x4f\x2f": "a fastText model. Pass its .vec file, or a function from a word to its vector",
    b"PK": _npz.FOREIGN,
} | {
    bytes(
        [0x80, protocol]
    ): "a pickle, which could run arbitrary code. Save the vectors as word2vec"
    " (in gensim: save_word2vec_format) and pass that file"
    for protocol in range(2, 6)
}


def read_file(path: str | os.PathLike[str], wanted: Collection[str], owner: str) -> Found:
    """Read the vectors of these words from a file; `owner` is the name in error messages."""
    keys = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
    with _opened(path, owner) as (file, name):
        return _npz.read(file, keys, name) if _is_zip(file) else _plain(file, keys, name)


def read_dimensions(path: str | os.PathLike[str], owner: str) -> int:
    """How many numbers a vector of a file has, from its beginning."""
    with _opened(path, owner) as (file, name):
        return _npz.dimensions(file, name) if _is_zip(file) else _start(file, name)[1]


@contextmanager
def _opened(path: str | os.PathLike[str], owner: str) -> Iterator[tuple[Any, str]]:
    """The content of a file, unpacked, and what messages call it; whatever is wrong as a sentence."""
    name = f"The file {os.fspath(path)!r} of {owner}"
    try:
        with open(path, "rb") as raw:
            start = raw.read(2)
            raw.seek(0)
            if start == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked, name
            else:
                yield raw, name
    except InvalidInput:
        raise
    except FileNotFoundError:
        raise InvalidInput(f"{name} does not exist. Check the path.") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile):
        raise InvalidInput(f"{name} is damaged or incomplete. Copy or create it again.") from None
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RuntimeError) as error:  # an invalid path, archive or array
        why = str(error).splitlines()[0].rstrip(".")
        raise InvalidInput(f"{name} cannot be read: {why}.") from None


def _is_zip(file: Any) -> bool:
    start = file.read(2)
    file.seek(0)
    return bool(start == b"PK") and not isinstance(file, gzip.GzipFile)


# ---------------------------------------------------------------- word2vec and GloVe
def _plain(file: io.BufferedIOBase, keys: dict[bytes, str], name: str) -> Found:
    count, dim = _start(file, name)
    if count is None:
        return _text(file, 1, None, dim, keys, name)
    at = file.tell()
    sample = file.read(min(64 * dim + 4096, PIECE))
    file.seek(at)
    if _is_binary(sample, dim):
        return _binary(file, count, dim, keys, name)
    return _text(file, 2, count, dim, keys, name)


def _start(file: io.BufferedIOBase, name: str) -> tuple[int | None, int]:
    """(how many vectors the first line says there are, how many numbers each has); stands after it.

    Without such a line there is no first number, and the file stands at its beginning again.
    """
    first = file.readline(PIECE)
    if not first:
        raise InvalidInput(f"{name} is empty. {_READS}.")
    header = _HEADER.fullmatch(first.removeprefix(_BOM))
    if header is None:
        dim = _dim_of(first, name)
        file.seek(0)
        return None, dim
    count, dim = int(header[1]), int(header[2])
    if count == 0 or dim == 0:
        raise InvalidInput(
            f"{name} contains no vectors: its first line says {count} vectors of {dim} numbers."
        )
    return count, dim


def _is_binary(sample: bytes, dim: int) -> bool:
    """Whether the content after the header is binary. (Text may contain a few words of invalid UTF-8.)"""
    row, newline, _ = sample.partition(b"\n")
    fields = row.rsplit(None, dim)
    if newline and len(fields) == dim + 1 and _numbers(fields[1:]) is not None:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return True
    return _CONTROL.search(sample) is not None


def _dim_of(line: bytes, name: str) -> int:
    """The number of values at the end of the first line of a file without a header."""
    for start, what in _FOREIGN.items():
        if line.startswith(start):
            raise InvalidInput(f"{name} is {what}.")
    fields = line.removeprefix(_BOM).split()
    dim = 0
    while dim < len(fields) - 1 and _numbers([fields[-1 - dim]]) is not None:
        dim += 1
    if dim == 0 or _CONTROL.search(line):
        raise InvalidInput(
            f"{name} is not a file of word vectors: line 1 is not a word followed by numbers. {_READS}."
        )
    return dim


def _binary(
    file: io.BufferedIOBase, count: int, dim: int, keys: dict[bytes, str], name: str
) -> Found:
    """Read `count` times: a word, a space, `dim` little-endian floats, perhaps a line feed."""
    rows: dict[str, Any] = {}
    examples: list[str] = []
    size = 4 * dim
    piece, at, word = b"", 0, b""
    for n in range(count):
        space = piece.find(b" ", at)
        while space < 0 or len(piece) < space + 1 + size:
            more = file.read(max(PIECE, len(piece) - at))  # not `size`: a header may lie
            if not more:
                raise InvalidInput(
                    f"{name} is incomplete: its first line says {count} vectors, but it ends after {n}"
                    f"{f' (the last is that of {_shown(word)!r})' if n else ''}. Copy it again."
                )
            piece, at = piece[at:] + more, 0
            space = piece.find(b" ")
            if space < 0 and len(piece) > _LONGEST_WORD:
                _no_word(name, n)
        if space - at > _LONGEST_WORD:
            _no_word(name, n)
        word = piece[at:space].lstrip(b"\n")
        if len(examples) < N_EXAMPLES:
            examples.append(_shown(word))
        key = keys.get(word)
        if key is not None and key not in rows:
            rows[key] = np.frombuffer(piece, "<f4", dim, space + 1).copy()
        at = space + 1 + size
    if (piece[at:] + file.read(2)).strip():
        raise InvalidInput(
            f"{name} has more data than the {count} vectors of {dim} numbers in its first line. Create it"
            " again, or correct that line."
        )
    return Found(rows, examples)


def _no_word(name: str, n: int) -> NoReturn:
    raise InvalidInput(
        f"{name} is damaged or not a word2vec file: there is no word after {n} vectors. {_READS}."
    )


def _text(
    lines: Iterable[bytes],
    number: int,
    count: int | None,
    dim: int,
    keys: dict[bytes, str],
    name: str,
) -> Found:
    """Read lines of a word (which may contain spaces in GloVe) and `dim` numbers."""
    rows: dict[str, Any] = {}
    examples: list[str] = []
    beginnings = {key.split(None, 1)[0] for key in keys if key.strip()}
    n_lines = 0
    for number, line in enumerate(lines, number):  # noqa: B020
        line = line.removeprefix(_BOM) if number == 1 else line
        beginning = line.split(None, 1)[:1]
        n_lines += bool(beginning)
        if not beginning or (
            len(examples) == N_EXAMPLES
            and beginning[0] not in beginnings
            and line.count(b" ") + line.count(b"\t") >= dim
        ):
            continue  # blank, or a word that is not needed
        word, vector = _parsed(line, dim, f"{name}, line {number},")
        if len(examples) < N_EXAMPLES:
            examples.append(_shown(word))
        key = keys.get(word)
        if key is not None and key not in rows:
            rows[key] = vector
    if count is not None and n_lines < count:
        raise InvalidInput(
            f"{name} is incomplete: its first line says {count} vectors, but it ends after {n_lines}"
            f" (at line {number if n_lines else 1}). Copy it again."
        )
    return Found(rows, examples)


def _parsed(line: bytes, dim: int, where: str) -> tuple[bytes, npt.NDArray[np.float32]]:
    fields = line.rsplit(None, dim)
    if len(fields) == dim and line[:1].isspace():
        fields = [b"", *fields]  # some files have a vector for the empty word
    if len(fields) <= dim:
        raise InvalidInput(
            f"{where} is incomplete or has the wrong length: {_shown(fields[0])!r} has"
            f" {len(fields) - 1} numbers instead of {dim}."
        )
    vector = _numbers(fields[1:])
    if vector is None:
        wrong = next(field for field in fields[1:] if _numbers([field]) is None)
        raise InvalidInput(
            f"{where} is not a word followed by {dim} numbers: {_shown(wrong)!r} is not a number."
        )
    # words may contain spaces in GloVe (". . ."), but "dog 0.1" is a vector that is too long
    first, *more = fields[0].split() or [b""]
    if more and _numbers(more) is not None and _numbers([first]) is None:
        raise InvalidInput(
            f"{where} has the wrong length: {_shown(first)!r} has {len(more) + dim} numbers instead of"
            f" {dim}."
        )
    return fields[0], vector


def _numbers(fields: list[bytes]) -> npt.NDArray[np.float32] | None:
    try:
        with np.errstate(over="ignore"):  # infinity is reported later, with its word
            return np.array([float(field) for field in fields], np.float64).astype(np.float32)
    except ValueError:
        return None


def _shown(word: bytes) -> str:
    text = word.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:37] + "..."
