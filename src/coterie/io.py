"""Models on disk: a folder a person can open, and that runs no code when it is.

    config.json         schema, version, estimator, parameters, checksums of the other files
    arrays.safetensors  sizes, word counts, labels, scores
    vocabulary.txt      one word a line (backslash, line feed and carriage return escaped)
    trace.csv           what each sweep did
    documents.parquet   the user's own table (of a `Clustering`)

The folder appears whole or not at all: it is written beside the target and renamed.
"""

from __future__ import annotations

import csv
import hashlib
import io as text_io
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _disk
from coterie._pack import (
    corpus_arrays,
    damaged,
    model_arrays,
    promoting_arrays,
    read_corpus,
    read_model,
    read_promoting,
    urn_numbers,
)
from coterie._version import __version__
from coterie.counts import Corpus
from coterie.errors import ModelFileError
from coterie.model import Model
from coterie.trace import SweepRecord, Trace

SCHEMA = 1
ARRAYS, WORDS, TRACE, CONFIG = "arrays.safetensors", "vocabulary.txt", "trace.csv", "config.json"
DOCUMENTS = "documents.parquet"
UTF8 = ("utf-8", "surrogatepass")  # a broken emoji half is a word like any other
MAX_CONFIG_BYTES = 2**24

_ROW_ARRAYS = {
    "labels": np.int64,
    "outlier_score": np.float64,
    "typicality": np.float64,
    "length": np.int64,
}


class Saved(NamedTuple):
    """What a folder holds."""

    estimator: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]  # plain JSON values: reason, converged, ...
    model: Model
    per_row: dict[str, npt.NDArray[Any]]  # labels and scores of the training rows
    trace: Trace
    documents: bytes | None = None  # the user's table, as parquet
    corpus: Corpus | None = None  # the training documents
    promoting: Any = None  # training rows x words, sparse: which words promote their relatives


def save(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write a model folder; one that is already there is replaced, anything else is left alone."""
    target = Path(path)
    with _disk.Claim(target) as place:
        if place.real.exists():
            _check_replaceable(target, place.real)
        files = _files(saved)
        with place.staged() as fresh:
            fresh.mkdir()
            for name, content in files.items():
                (fresh / name).write_bytes(content)
            place.put(fresh, no_model)


def load(path: str | os.PathLike[str]) -> Saved:
    """Read a model folder, checking every file; a problem names the file and what to do."""
    folder = Path(path)
    _disk.recover(folder)
    config = _read_config(folder)
    contents = {
        name: _read_checked(folder, name, digest) for name, digest in config["files"].items()
    }
    if ARRAYS not in contents or TRACE not in contents:
        raise damaged(folder / CONFIG, "it does not list every file")
    arrays = _unpack(folder, contents[ARRAYS])
    words = _parse_words(folder, contents[WORDS]) if WORDS in contents else None
    model = read_model(folder / ARRAYS, folder / CONFIG, config, arrays, words)
    fitted = _fitted(folder, config, model)
    per_row = _per_row(folder, arrays, model.n_clusters)
    trace = _parse_trace(folder, contents[TRACE])
    trace.notes = [str(note) for note in config.get("trace_notes", [])]
    documents = contents.get(DOCUMENTS)
    n_rows = per_row["labels"].size
    corpus = read_corpus(folder / ARRAYS, arrays, model, n_rows)
    promoting = read_promoting(folder / ARRAYS, arrays, model, n_rows)
    head = (config["estimator"], config["parameters"], fitted, model, per_row, trace)
    return Saved(*head, documents, corpus, promoting)


def _unpack(folder: Path, content: bytes) -> dict[str, npt.NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as unpack

    try:
        return {name: np.array(array) for name, array in unpack(content).items()}
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise damaged(folder / ARRAYS, str(error)) from None


def _files(saved: Saved) -> dict[str, bytes]:
    from safetensors.numpy import save as pack

    model = saved.model
    arrays = {
        **model_arrays(model),
        **saved.per_row,
        **({} if saved.corpus is None else corpus_arrays(saved.corpus)),
        **({} if saved.promoting is None else promoting_arrays(saved.promoting)),
    }
    files = {ARRAYS: pack({name: np.ascontiguousarray(a) for name, a in arrays.items()})}
    if model.words is not None:
        files[WORDS] = "".join(_escape(word) + "\n" for word in model.words).encode(*UTF8)
    files[TRACE] = _trace_csv(saved.trace)
    if saved.documents is not None:
        files[DOCUMENTS] = saved.documents
    config = {
        "schema": SCHEMA,
        "version": __version__,
        "estimator": saved.estimator,
        "parameters": saved.parameters,
        "fitted": saved.fitted,
        "urn": urn_numbers(model),
        "trace_notes": saved.trace.notes,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    config["checksum"] = _config_digest(config)
    files[CONFIG] = json.dumps(config, indent=2).encode()
    return files


def no_model(target: Path) -> str:
    """Why a folder must not be replaced by a model; "" if it is a model and holds nothing else."""
    try:
        config = json.loads((target / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        config = None
    if not (
        isinstance(config, dict) and {"schema", "estimator", "files", "checksum"} <= set(config)
    ):
        return "it is not a coterie model"
    others = sorted(
        {path.name for path in target.iterdir()} - {ARRAYS, WORDS, TRACE, DOCUMENTS, CONFIG}
    )
    return f"it holds files that are not the model's ({', '.join(others[:3])})" if others else ""


def _check_replaceable(target: Path, real: Path) -> None:
    why = no_model(real)
    if why:
        raise ModelFileError(
            f"{target} exists, and {why}; name a new folder, or move what is there away first."
        )


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not folder.is_dir():
        raise ModelFileError(f"There is no model folder at {folder}.")
    if not path.is_file():
        raise ModelFileError(f"{folder} is not a coterie model: it has no {CONFIG}.")
    if path.stat().st_size > MAX_CONFIG_BYTES:
        raise damaged(path, "it is far too large")
    try:
        config = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise damaged(path, "it is not valid JSON") from None
    schema = config.get("schema") if isinstance(config, dict) else None
    if not isinstance(schema, int):
        raise damaged(path, "it has no schema number")
    if schema > SCHEMA:
        raise ModelFileError(
            f"{path} was written by a newer coterie (schema {schema}, version"
            f" {config.get('version')}); this one reads up to schema {SCHEMA}: upgrade coterie."
        )
    if config.get("checksum") != _config_digest(config):
        raise damaged(path, "its checksum differs")
    kinds = {"estimator": str, "parameters": dict, "fitted": dict, "urn": dict, "files": dict}
    for name, kind in kinds.items():
        if not isinstance(config.get(name), kind):
            raise damaged(path, f"{name!r} is missing")
    return dict(config)


def _read_checked(folder: Path, name: str, digest: Any) -> bytes:
    if name not in (ARRAYS, WORDS, TRACE, DOCUMENTS):
        raise damaged(folder / CONFIG, f"it names a file that no model has ({name!r})")
    try:
        content = (folder / name).read_bytes()
    except OSError:
        raise damaged(folder / name, "it is missing") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise damaged(folder / name, "its checksum differs")
    return content


def _fitted(folder: Path, config: dict[str, Any], model: Model) -> dict[str, Any]:
    fitted = config["fitted"]
    names = fitted.get("feature_names_in")
    n_words = model.urn.beta.size
    ok = (
        isinstance(fitted.get("converged"), bool)
        and isinstance(fitted.get("stop_reason"), str)
        and fitted.get("n_features_in") == n_words
        and fitted.get("learnt_from") in ("texts", "tokens", "matrix")
        and (names is None or (isinstance(names, list) and len(names) == n_words))
    )
    if not ok:
        raise damaged(folder / CONFIG, "what was fitted is not all there")
    return {"feature_names_in": None, **fitted}


def _per_row(
    folder: Path, arrays: dict[str, npt.NDArray[Any]], n_clusters: int
) -> dict[str, npt.NDArray[Any]]:
    per_row = {name: arrays.get(name) for name in _ROW_ARRAYS}
    for name, kind in _ROW_ARRAYS.items():
        array, labels = per_row[name], per_row["labels"]
        if array is None or labels is None or array.dtype != kind or array.shape != labels.shape:
            raise damaged(folder / ARRAYS, f"{name!r} is missing or does not fit")
    labels = arrays["labels"]
    if labels.ndim != 1 or (labels < -1).any() or (labels >= n_clusters).any():
        raise damaged(folder / ARRAYS, "its labels name clusters that are not there")
    return {name: arrays[name] for name in _ROW_ARRAYS}


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
        raise damaged(folder / WORDS, "a word is there twice")
    return words


def _trace_csv(trace: Trace) -> bytes:
    out = text_io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(SweepRecord._fields)
    writer.writerows([str(value) for value in line] for line in trace)
    return out.getvalue().encode()


def _parse_trace(folder: Path, content: bytes) -> Trace:
    kinds: list[Any] = [int] * 5 + [float] * 3 + [str]
    try:
        head, *lines = csv.reader(text_io.StringIO(content.decode()))
        if tuple(head) not in (SweepRecord._fields, SweepRecord._fields[:-1]):  # 0.1 had no sampler
            raise ValueError("other columns")
        kinds = kinds[: len(head)]
        return Trace(
            [SweepRecord(*(kind(v) for kind, v in zip(kinds, line, strict=True))) for line in lines]
        )
    except (ValueError, TypeError, csv.Error):
        raise damaged(folder / TRACE, "a line cannot be read") from None
