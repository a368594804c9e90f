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
import math
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from coterie.errors import InvalidInput

N_EXAMPLES = 3  # words of a source shown in error messages
_PIECE = 1 << 20  # bytes read at once
_LONGEST_WORD = 1 << 16  # bytes without a space: not a word2vec file
_HEADER = re.compile(rb"\s*(\d{1,12})\s+(\d{1,9})\s*")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BOM = codecs.BOM_UTF8
_READS = "Pass a word2vec file (binary or text), a GloVe text file, or an .npz file with words and vectors"
_FOREIGN = {
    b"\x93NUMPY": "a matrix without words. Pass the pair (words, matrix)",
    b"\xba\x16\x4f\x2f": "a fastText model. Pass its .vec file, or a function from a word to its vector",
    b"PK": "a zip archive without vectors. Unpack it and pass the file inside",
} | {
    bytes(
        [0x80, protocol]
    ): "a pickle, which could run arbitrary code. Save the vectors as word2vec"
    " (in gensim: save_word2vec_format) and pass that file"
    for protocol in range(2, 6)
}


class Found(NamedTuple):
    """The vectors found in a source."""

    rows: dict[str, Any]  # word -> its vector, unchecked; the first if there are several
    examples: list[str]  # the first words of the source


def read_file(path: str | os.PathLike[str], wanted: Collection[str], owner: str) -> Found:
    """Read the vectors of these words from a file; `owner` is the name in error messages."""
    name = f"The file {os.fspath(path)!r} of {owner}"
    keys = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
    try:
        with open(path, "rb") as raw:
            start = raw.read(2)
            raw.seek(0)
            if start == b"PK":
                return _npz(raw, keys, name)
            if start == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    return _plain(unpacked, keys, name)
            return _plain(raw, keys, name)
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


# ---------------------------------------------------------------- word2vec and GloVe
def _plain(file: io.BufferedIOBase, keys: dict[bytes, str], name: str) -> Found:
    first = file.readline(_PIECE)
    if not first:
        raise InvalidInput(f"{name} is empty. {_READS}.")
    header = _HEADER.fullmatch(first.removeprefix(_BOM))
    if header is None:
        dim = _dim_of(first, name)
        file.seek(0)
        return _text(file, 1, None, dim, keys, name)
    count, dim = int(header[1]), int(header[2])
    if count == 0 or dim == 0:
        raise InvalidInput(
            f"{name} contains no vectors: its first line says {count} vectors of {dim} numbers."
        )
    at = file.tell()
    sample = file.read(min(64 * dim + 4096, _PIECE))
    file.seek(at)
    if _is_binary(sample, dim):
        return _binary(file, count, dim, keys, name)
    return _text(file, 2, count, dim, keys, name)


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
            more = file.read(
                max(_PIECE, len(piece) - at)
            )  # not `size`, since the header may be wrong
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


# ---------------------------------------------------------------- .npz
class _Array(NamedTuple):
    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]


def _npz(raw: IO[bytes], keys: dict[bytes, str], name: str) -> Found:
    with zipfile.ZipFile(raw) as archive:
        arrays: dict[str, _Array] = {}
        for member in archive.namelist():
            if member.endswith(".npy"):
                with archive.open(member) as file:
                    arrays[member.removesuffix(".npy")] = _array(file)
        if not arrays:
            raise InvalidInput(f"{name} is {_FOREIGN[b'PK']}.")
        words, vectors = _pick(arrays, name)
        with archive.open(f"{words}.npy") as file:
            _array(file)
            position, examples = _positions(file, arrays[words], set(keys.values()))
        with archive.open(f"{vectors}.npy") as file:
            _array(file)
            rows = _rows(file, arrays[vectors], np.array(sorted(position.values()), np.int64))
        order = sorted(position, key=position.__getitem__)
        return Found(dict(zip(order, rows, strict=True)), examples)


def _array(file: IO[bytes]) -> _Array:
    """Read the header of an array; the file is then at its first value."""
    version = npy.read_magic(file)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError("it contains arrays in an unknown format")
    array = _Array(*read(file))
    if min(array.shape, default=0) < 0:
        raise ValueError("it contains an array with an impossible shape")
    return array


def _pick(arrays: dict[str, _Array], name: str) -> tuple[str, str]:
    """The names of the array of words and of the array of vectors."""
    if {"words", "vectors"} <= arrays.keys():
        words, vectors = ["words"], ["vectors"]
    else:
        words = [key for key, a in arrays.items() if len(a.shape) == 1 and a.dtype.kind in "USO"]
        vectors = [key for key, a in arrays.items() if len(a.shape) == 2 and a.dtype.kind in "fO"]
    for key in words + vectors:
        if arrays[key].dtype.hasobject:
            raise InvalidInput(
                f"{name} contains {key!r} as Python objects, which only pickle can read, and pickle could"
                " run arbitrary code. Save the words as np.array(words, dtype=str)."
            )
    if len(words) != 1 or len(vectors) != 1:
        has = ", ".join(f"{key} ({a.dtype}, {len(a.shape)}-d)" for key, a in arrays.items())
        raise InvalidInput(
            f"{name} must contain a 1-d array of strings 'words' and a 2-d array of numbers 'vectors'."
            f" It contains {has}."
        )
    of_words, of_vectors = arrays[words[0]], arrays[vectors[0]]
    if len(of_words.shape) != 1 or of_words.dtype.kind not in "US":
        raise InvalidInput(f"{name} must contain {words[0]!r} as a 1-d array of strings.")
    if len(of_vectors.shape) != 2 or of_vectors.dtype.kind not in "fiu":
        raise InvalidInput(f"{name} must contain {vectors[0]!r} as a 2-d array of numbers.")
    if of_words.shape[0] != of_vectors.shape[0]:
        raise InvalidInput(
            f"{name} contains {of_words.shape[0]} words and {of_vectors.shape[0]} vectors. There must be"
            " one vector per word."
        )
    return words[0], vectors[0]


def _positions(
    file: IO[bytes], array: _Array, wanted: Collection[str]
) -> tuple[dict[str, int], list[str]]:
    position: dict[str, int] = {}
    examples: list[str] = []
    for start, block in _blocks(file, array.shape, array.dtype):
        words = block.tolist()
        if array.dtype.kind == "S":
            words = [word.decode("utf-8", "replace") for word in words]
        examples += words[: N_EXAMPLES - len(examples)]
        for i, word in enumerate(words, start):
            if word in wanted:
                position.setdefault(word, i)
    return position, examples


def _rows(file: IO[bytes], array: _Array, at: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The rows at these positions, which are in increasing order."""
    kept: list[npt.NDArray[Any]] = []
    if array.by_column:
        kept = [block[:, at] for _, block in _blocks(file, array.shape[::-1], array.dtype)]
        return np.concatenate(kept).T if kept else np.empty((at.size, 0))
    for start, block in _blocks(file, array.shape, array.dtype):
        low, high = np.searchsorted(at, [start, start + len(block)])
        kept.append(block[at[low:high] - start])
    return np.concatenate(kept) if kept else np.empty((0, array.shape[1]))


def _blocks(
    file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield (start, consecutive rows) until all are read."""
    size = dtype.itemsize * math.prod(shape[1:])
    if size == 0:
        raise ValueError("it contains an array with empty rows")
    step = max(1, _PIECE // size)
    for start in range(0, shape[0], step):
        n = min(step, shape[0] - start)
        data = file.read(n * size)
        if len(data) < n * size:
            raise EOFError
        yield start, np.frombuffer(data, dtype).reshape(n, *shape[1:])
