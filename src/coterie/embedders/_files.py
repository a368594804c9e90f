"""Files that somebody else made: read whole if they are files and fit, checked, digested."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _disk
from coterie._memory import allowed_memory
from coterie.embedders._base import about

Arrays = dict[str, npt.NDArray[Any]]

_WHOLE = 64 << 20  # bytes of a file that are digested entirely
_SAMPLES, _SAMPLE = 256, 1 << 16  # and of a larger one: so many pieces of so many bytes


def read(path: Path) -> bytes:
    """The bytes of a regular file that fits into memory."""
    try:
        return _disk.read_regular(path, allowed_memory())
    except FileNotFoundError:
        raise about(str(path), "does not exist; check the path") from None
    except OSError as error:
        raise about(str(path), f"cannot be read: {error.strerror or error}") from None
    except (ValueError, MemoryError) as error:
        raise about(str(path), f"cannot be read: {_first_line(error)}") from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object."""
    content = read(path)
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise about(str(path), "is damaged: it is not valid JSON") from None
    if not isinstance(found, dict):
        raise about(str(path), "is damaged: it does not hold a JSON object")
    return found


def read_arrays(path: Path) -> Arrays:
    """The arrays of a safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    content = read(path)
    try:
        return dict(load(content))
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, MemoryError) as error:
        raise about(
            str(path), f"is damaged, or holds numbers of an unknown kind ({_first_line(error)})"
        ) from None


def read_tokenizer(path: Path) -> tuple[Any, dict[str, Any]]:
    """A tokenizer of the `tokenizers` package that adds and cuts nothing, and its settings."""
    from tokenizers import Tokenizer

    settings = read_json(path)
    settings |= {"truncation": None, "padding": None}
    try:
        tokenizer = Tokenizer.from_str(json.dumps(settings))
        tokenizer.encode_special_tokens = True  # "<s>" in a text is three characters
    except BaseException as error:  # what panics in Rust is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise about(str(path), f"is no tokenizer that can be used ({_first_line(error)})") from None
    return tokenizer, settings


def digest_of_table(settings: dict[str, Any], arrays: Arrays) -> str:
    """A digest of arrays and of a tokenizer's settings, however these are laid out in their file."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def digest_of_files(paths: list[Path]) -> str:
    """A digest of files; of a large one its length and 256 pieces spread over it, in milliseconds."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            _disk.check_regular(path)
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                digest.update(f"{path.suffix} {size}".encode())
                if size <= _WHOLE:
                    digest.update(file.read(size))
                    continue
                for at in np.linspace(0, size - _SAMPLE, _SAMPLES).astype(np.int64).tolist():
                    file.seek(at)
                    digest.update(file.read(_SAMPLE))
        except FileNotFoundError:
            raise about(str(path), "does not exist; check the path") from None
        except OSError as error:
            raise about(str(path), f"cannot be read: {error.strerror or error}") from None
    return digest.hexdigest()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")
