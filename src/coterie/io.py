"""Models on disk: a folder of readable files that contains no code.

    config.json         schema, version, estimator, parameters, checksums of the other files
    arrays.safetensors  sizes, word counts, labels, scores
    vocabulary.txt      one word per line (backslash, line feed and carriage return escaped)
    trace.csv           a record of every sweep
    documents.parquet   the user's own table (for a `Clustering`)
    objects.jsonl       its rows as they were read, if they were JSON objects

The folder is complete or does not exist: it is written next to the target and then renamed.
"""

from __future__ import annotations

import csv
import hashlib
import io as text_io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _disk
from coterie._disk import NotReadable, read_regular
from coterie._memory import allowed_memory
from coterie._own_folders import CONFIG as CONFIG
from coterie._own_folders import MAX_CONFIG_BYTES, is_model, json_of
from coterie._pack import damaged, model_arrays, read_model, urn_numbers
from coterie._pack_rows import (
    corpus_arrays,
    names_array,
    promoting_arrays,
    read_corpus,
    read_names,
    read_promoting,
    read_rows,
)
from coterie._version import __version__
from coterie.counts import Corpus
from coterie.errors import ModelFileError
from coterie.model import Model
from coterie.text import _json_lines
from coterie.text._again import Before
from coterie.text._files import LARGE
from coterie.trace import SweepRecord, Trace

SCHEMA = 1
ARRAYS, WORDS, TRACE = "arrays.safetensors", "vocabulary.txt", "trace.csv"
DOCUMENTS, OBJECTS = "documents.parquet", "objects.jsonl"
UTF8 = ("utf-8", "surrogatepass")  # words may contain lone surrogates, such as half an emoji


class Saved(NamedTuple):
    """The contents of a folder."""

    estimator: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]  # plain JSON values: reason, converged, ...
    model: Model
    per_row: dict[str, npt.NDArray[Any]]  # labels and scores of the training rows
    trace: Trace
    documents: bytes | None = None  # the user's table as parquet, if it was read from a folder
    write_documents: Callable[[BinaryIO], None] | None = (
        None  # writes that table, if it is to be saved
    )
    objects: Callable[[], Iterator[bytes]] | None = None  # lines with the JSON of each row
    write_objects: Callable[[BinaryIO], bool] | None = None  # writes them; False: they are gone
    corpus: Corpus | None = None  # the training documents
    promoting: Any = None  # sparse, training rows x words: which words promote related words


def save(path: str | os.PathLike[str], saved: Saved, read: _disk.Read = ()) -> None:
    """Write a model folder; an existing model is replaced unless it was `read`, anything else is not."""
    target = Path(path)
    with _disk.Claim(target, read=read) as place:
        if os.path.exists(place.real):
            _check_replaceable(target, place.real)
        with place.staged() as fresh:
            fresh.mkdir()
            _write(fresh, saved)
            place.put(fresh, no_model)


def load(path: str | os.PathLike[str]) -> Saved:
    """Read a model folder and check every file; errors name the file and say what to do."""
    folder = Path(path)
    _disk.recover(folder)
    config = _read_config(folder)
    contents = {
        name: _read_checked(folder, name, digest) for name, digest in config["files"].items()
    }
    if ARRAYS not in contents or TRACE not in contents:
        raise damaged(folder / CONFIG, "it does not list all files")
    arrays = _unpack(folder, contents.pop(ARRAYS))
    words = _parse_words(folder, contents[WORDS]) if WORDS in contents else None
    model = read_model(folder / ARRAYS, folder / CONFIG, config, arrays, words)
    fitted = _fitted(folder, config, model, read_names(folder / ARRAYS, arrays, model.n_words))
    sampled = fitted.get("of_sample") is True
    per_row = read_rows(folder / ARRAYS, arrays, model, sampled)
    trace = _parse_trace(folder, contents[TRACE], config.get("trace_notes", []))
    documents = contents.get(DOCUMENTS)
    promoting = read_promoting(folder / ARRAYS, arrays, model, per_row["labels"].size)
    corpus = read_corpus(folder / ARRAYS, arrays, model, per_row, promoting, sampled)
    first = (config["estimator"], config["parameters"], fitted, model, per_row, trace)
    objects = _objects(folder, config.get("objects"))
    return Saved(*first, documents, objects=objects, corpus=corpus, promoting=promoting)


def _objects(folder: Path, digest: Any) -> Callable[[], Iterator[bytes]] | None:
    """The lines of the file with the rows as JSON; a large one is read when it is written."""
    if digest is None:
        return None
    path = folder / OBJECTS
    size = path.stat().st_size if path.is_file() else 0
    if size < LARGE:
        return partial(_json_lines.pieces, _read_checked(folder, OBJECTS, digest))
    try:
        return Before(path.absolute(), size, bytes.fromhex(digest)).lines
    except (TypeError, ValueError):
        raise damaged(folder / CONFIG, f"the checksum of {OBJECTS} is none") from None


@contextmanager
def naming_the_version(folder: Path) -> Iterator[None]:
    """Add to the refusal of a model by which other version it was written."""
    try:
        yield
    except ModelFileError as error:
        version = json_of(folder / CONFIG, MAX_CONFIG_BYTES).get("version", __version__)
        if version == __version__ or str(version) in str(error):
            raise
        said = f"{error} It was written by coterie {str(version)[:40]}; this is {__version__}."
        raise ModelFileError(said) from None


def _unpack(folder: Path, content: bytes) -> dict[str, npt.NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as unpack

    try:
        found = unpack(content).items()
        # a copy only where it is read-only; they may be most of the memory
        return {name: a if a.flags.writeable else np.array(a) for name, a in found}
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise damaged(folder / ARRAYS, str(error)) from None


def _write(folder: Path, saved: Saved) -> None:
    """Write all files; the last one says what the others are."""
    from safetensors.numpy import save_file

    fitted = dict(saved.fitted)
    arrays = _arrays(saved, fitted.pop("feature_names_in", None))
    save_file(arrays, folder / ARRAYS)  # straight from memory: they may be most of it
    del arrays
    files = {TRACE: _trace_csv(saved.trace)}
    if saved.model.words is not None:
        files[WORDS] = "".join(_escape(word) + "\n" for word in saved.model.words).encode(*UTF8)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    names = [ARRAYS, *files]
    if saved.write_documents is not None:
        names.append(DOCUMENTS)
        with (folder / DOCUMENTS).open("wb") as file:
            saved.write_documents(file)
    objects = {}
    if saved.write_objects is not None:
        with (folder / OBJECTS).open("wb") as file:
            is_whole = saved.write_objects(file)
        if is_whole:
            objects = {"objects": _digest(folder / OBJECTS)}
        else:
            (folder / OBJECTS).unlink()
    shutil.copymode(folder / TRACE, folder / ARRAYS)  # safetensors lets nobody else read its file
    config = {
        "schema": SCHEMA,
        "version": __version__,
        "estimator": saved.estimator,
        "parameters": saved.parameters,
        "fitted": fitted,
        "urn": urn_numbers(saved.model),
        "trace_notes": saved.trace.notes,
        "files": {name: _digest(folder / name) for name in names},
        **objects,  # not among `files`: they may be too large to be read at once
    }
    config["checksum"] = _config_digest(config)
    content = json.dumps(config, indent=2).encode()
    if len(content) > MAX_CONFIG_BYTES:  # otherwise it could not be read again
        raise ModelFileError(
            f"The settings and notes of this model take {len(content):,} bytes, but the maximum is"
            f" {MAX_CONFIG_BYTES:,}. Use shorter lists of stop words or seeds."
        )
    (folder / CONFIG).write_bytes(content)


def _arrays(saved: Saved, feature_names: Any) -> dict[str, npt.NDArray[Any]]:
    arrays = {
        **model_arrays(saved.model),
        **saved.per_row,
        **({} if saved.corpus is None else corpus_arrays(saved.corpus)),
        **({} if saved.promoting is None else promoting_arrays(saved.promoting)),
        **({} if feature_names is None else names_array(feature_names)),
    }
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def no_model(target: Path) -> str:
    """Why a folder must not be replaced by a model; "" if it contains a model and nothing else."""
    if not is_model(target):
        return "it is not a coterie model"
    others = sorted(
        {path.name for path in target.iterdir()}
        - {ARRAYS, WORDS, TRACE, DOCUMENTS, OBJECTS, CONFIG}
    )
    return (
        f"it contains files that do not belong to the model ({', '.join(others[:3])})"
        if others
        else ""
    )


def _check_replaceable(target: Path, real: Path) -> None:
    why = no_model(real)
    if why:
        raise ModelFileError(
            f"{target} already exists, and {why}. Choose a new folder, or move the existing one first."
        )


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not os.path.isdir(folder):
        raise ModelFileError(f"There is no model folder at {folder}.")
    if not os.path.isfile(path):
        raise ModelFileError(f"{folder} is not a coterie model: it has no {CONFIG}.")
    try:
        config = json.loads(_read(path, MAX_CONFIG_BYTES))
    except (ValueError, RecursionError):
        raise damaged(path, "it is not valid JSON") from None
    schema = config.get("schema") if isinstance(config, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise damaged(path, "it has no schema number")
    if schema > SCHEMA:
        raise ModelFileError(
            f"{path} was written by a newer version of coterie (schema {schema}, version"
            f" {config.get('version')}). This version reads up to schema {SCHEMA}: upgrade coterie."
        )
    if config.get("checksum") != _config_digest(config):
        raise damaged(path, "its checksum differs")
    kinds = {"estimator": str, "parameters": dict, "fitted": dict, "urn": dict, "files": dict}
    for name, kind in kinds.items():
        if not isinstance(config.get(name), kind):
            raise damaged(path, f"{name!r} is missing")
    return dict(config)


def _read_checked(folder: Path, name: str, digest: Any) -> bytes:
    if name not in (ARRAYS, WORDS, TRACE, DOCUMENTS, OBJECTS):
        raise damaged(folder / CONFIG, f"it lists an unknown file ({name!r})")
    content = _read(folder / name, allowed_memory())
    if hashlib.sha256(content).hexdigest() != digest:
        raise damaged(folder / name, "its checksum differs")
    return content


def _read(path: Path, most: int) -> bytes:
    """Read a file of the folder, if it is a regular file and not too large."""
    try:
        return read_regular(path, most)
    except NotReadable as error:
        raise damaged(path, str(error.strerror)) from None
    except FileNotFoundError:
        raise damaged(path, "it is missing") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    except MemoryError:
        raise ModelFileError(f"{path} does not fit into the memory of this machine.") from None


def _fitted(
    folder: Path, config: dict[str, Any], model: Model, names: list[str] | None
) -> dict[str, Any]:
    fitted = config["fitted"]
    names = (
        fitted.get("feature_names_in") if names is None else names
    )  # earlier versions saved them here
    n_features = fitted.get("n_features_in")
    ok = (
        isinstance(fitted.get("converged"), bool)
        and isinstance(fitted.get("stop_reason"), str)
        and isinstance(n_features, int)
        and n_features == model.n_words
        and fitted.get("learnt_from") in ("texts", "tokens", "matrix")
        and (names is None or (isinstance(names, list) and len(names) == model.n_words))
        and all(isinstance(name, str) for name in names or [])
    )
    if not ok:
        raise damaged(folder / CONFIG, "the fitted attributes are incomplete")
    return {**fitted, "feature_names_in": names}


def _config_digest(config: dict[str, Any]) -> str:
    rest = {key: value for key, value in config.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _escape(word: str) -> str:
    return word.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _unescape(line: str) -> str:
    if "\\" not in line:
        return line
    back = {"\\": "\\", "n": "\n", "r": "\r"}
    out, chars = [], iter(line)
    for char in chars:
        out.append(back.get(next(chars, ""), "") if char == "\\" else char)
    return "".join(out)


def _parse_words(folder: Path, content: bytes) -> list[str]:
    try:
        words = [_unescape(line) for line in content.decode(*UTF8).split("\n")[:-1]]
    except UnicodeDecodeError:
        raise damaged(folder / WORDS, "it is not UTF-8") from None
    if len(set(words)) < len(words):
        raise damaged(folder / WORDS, "it contains a word twice")
    return words


def _trace_csv(trace: Trace) -> bytes:
    out = text_io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(SweepRecord._fields)
    writer.writerows([str(value) for value in line] for line in trace)
    return out.getvalue().encode()


def _parse_trace(folder: Path, content: bytes, notes: Any) -> Trace:
    try:
        header, *lines = csv.reader(text_io.StringIO(content.decode()))
        if tuple(header) not in (
            SweepRecord._fields,
            SweepRecord._fields[:-1],
        ):  # 0.1 had no column sampler
            raise ValueError("unknown columns")
        return Trace.read(lines, notes)
    except (ValueError, TypeError, OverflowError, csv.Error):
        raise damaged(folder / TRACE, "a line cannot be read") from None
