"""Word vectors in an .npz: an array of words and a matrix, read a piece at a time, without pickle."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from coterie.embeddings._found import N_EXAMPLES, PIECE, Found
from coterie.errors import InvalidInput

FOREIGN = "a zip archive without vectors. Unpack it and pass the file inside"


class _Array(NamedTuple):
    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]


def read(raw: IO[bytes], keys: dict[bytes, str], name: str) -> Found:
    """The rows of the wanted words."""
    with zipfile.ZipFile(raw) as archive:
        arrays = _arrays(archive, name)
        words, vectors = _pick(arrays, name)
        with archive.open(f"{words}.npy") as file:
            _array(file)
            position, examples = _positions(file, arrays[words], set(keys.values()))
        with archive.open(f"{vectors}.npy") as file:
            _array(file)
            rows = _rows(file, arrays[vectors], np.array(sorted(position.values()), np.int64))
        order = sorted(position, key=position.__getitem__)
        return Found(dict(zip(order, rows, strict=True)), examples)


def dimensions(raw: IO[bytes], name: str) -> int:
    """How many numbers a vector has."""
    with zipfile.ZipFile(raw) as archive:
        arrays = _arrays(archive, name)
        return arrays[_pick(arrays, name)[1]].shape[1]


def _arrays(archive: zipfile.ZipFile, name: str) -> dict[str, _Array]:
    """What an archive holds, by name."""
    arrays: dict[str, _Array] = {}
    for member in archive.namelist():
        if member.endswith(".npy"):
            with archive.open(member) as file:
                arrays[member.removesuffix(".npy")] = _array(file)
    if not arrays:
        raise InvalidInput(f"{name} is {FOREIGN}.")
    return arrays


def _array(file: IO[bytes]) -> _Array:
    """The header of an array; the file then stands at its first number."""
    version = npy.read_magic(file)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError("it contains arrays in an unknown format")
    array = _Array(*read(file))
    if min(array.shape, default=0) < 0:
        raise ValueError("it contains an array with an impossible shape")
    return array


def _pick(arrays: dict[str, _Array], name: str) -> tuple[str, str]:
    """Which array holds the words, and which the vectors."""
    if {"words", "vectors"} <= arrays.keys():
        words, vectors = ["words"], ["vectors"]
    else:
        words = [key for key, a in arrays.items() if len(a.shape) == 1 and a.dtype.kind in "USO"]
        vectors = [key for key, a in arrays.items() if len(a.shape) == 2 and a.dtype.kind in "fO"]
    for key in words + vectors:
        if arrays[key].dtype.hasobject:
            raise InvalidInput(
                f"{name} contains {key!r} as Python objects, which only pickle can read, and pickle could"
                " run anybody's code; save the words as np.array(words, dtype=str)."
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
    """The rows at these positions, which ascend."""
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
    """(start, some consecutive rows), until all are read."""
    size = dtype.itemsize * math.prod(shape[1:])
    if size == 0:
        raise ValueError("it contains an array with empty rows")
    step = max(1, PIECE // size)
    for start in range(0, shape[0], step):
        n = min(step, shape[0] - start)
        data = file.read(n * size)
        if len(data) < n * size:
            raise EOFError
        yield start, np.frombuffer(data, dtype).reshape(n, *shape[1:])
