"""Checkpoints: a run in one file, written so that a kill at any moment leaves a whole one.

A run is a pure function of data, urn, start and key, so going on from a checkpoint gives the very
labels an uninterrupted run gives. The file is safetensors: the arrays of the assignment, what the chain
remembers beyond it, and as text the trace, the learned values and a digest. Another backend can go on
from the assignment alone. Reading a checkpoint runs no code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _disk
from coterie._version import __version__
from coterie.counts import Counts
from coterie.errors import InvalidInput, ModelFileError, concerning
from coterie.state import Assignment
from coterie.steps import Learned
from coterie.trace import Trace
from coterie.urns import Urn, flat

SCHEMA = 3
MEMORY = "memory."  # before the names of what a chain remembers beyond the assignment
ASSIGNMENT = ("labels", "flag", "id")  # what the rest of it follows from

Arrays = Mapping[str, npt.NDArray[Any]]


class Saved(NamedTuple):
    """A run as far as it got."""

    assignment: Assignment
    trace: Trace
    key: int
    elapsed: float  # seconds, over all sittings
    learned: Mapping[str, Learned]  # by the name of the step
    kind: str  # of the chain whose memory this is,
    memory: dict[str, npt.NDArray[Any]]  # which judges it itself


def fingerprint(counts: Counts, urn: Urn, settings: Mapping[str, Any]) -> str:
    """A digest of all that decides a run, the number of sweeps apart."""
    return digest_of({**counts._asdict(), **flat(urn), **settings})


def digest_of(parts: Mapping[str, Any]) -> str:
    """A digest of arrays and other values.

    Every part is written with its name and its length, so that no two lists of parts read the same.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name, part in parts.items():
        head, body = f"{name} {type(part).__name__}", memoryview(repr(part).encode())
        if isinstance(part, np.ndarray):
            head += f" {part.dtype} {part.shape}"
            body = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        digest.update(f"{head} {len(body)}\n".encode())
        digest.update(body)
    return digest.hexdigest()


@contextmanager
def claimed(path: Path | None) -> Iterator[_disk.Claim | None]:
    """The place of a run's checkpoint, for this run alone; refused before any work is done."""
    if path is None:
        yield None
        return
    place = _disk.Claim(path)
    why = _disk.no_file(place.real) if os.path.lexists(place.real) else ""
    if not why and not os.path.isdir(place.real.parent):
        why = f"there is no folder {path.parent}"
    if why:
        raise ModelFileError(f"The checkpoint {path} cannot be written: {why}.")
    with place:
        with place.staged():  # what cannot be written later is noticed now
            pass
        yield place


def check(path: str | os.PathLike[str] | None, out: str | os.PathLike[str] | None = None) -> None:
    """Refuse a checkpoint that cannot be written or read, before the texts are read.

    Nor can it be the output, or lie in it.
    """
    if path is None:
        return
    path = Path(path)
    with concerning("checkpoint"):
        real = _disk.Claim(path).real
        if out is not None and _disk.Claim(out).real in (real, *real.parents):
            raise InvalidInput(
                f"The checkpoint {path} is the output, or inside of it. Use another path."
            )
        if out is not None and _will_be_made(real.parent, _disk.Claim(out).real):
            return
        with claimed(path):
            if os.path.exists(real):
                _whole(_without_detours(path))


def _without_detours(path: Path) -> Path:
    """The path; `new/../file` is `file`, which a claim takes, though the system knows no `new`."""
    return path if os.path.exists(path) else _disk.Claim(path).real


def _will_be_made(folder: Path, out: Path) -> bool:
    """Whether a folder that is not there yet is made for the output."""
    return folder in out.parents and not os.path.lexists(folder)


def write(place: _disk.Claim, mark: str, run: Saved) -> None:
    """Write a checkpoint over this run's last one, atomically."""
    from safetensors.numpy import save

    about = {
        "schema": str(SCHEMA),
        "version": __version__,
        "mark": mark,
        "key": str(run.key),
        "elapsed": repr(run.elapsed),
        "trace": json.dumps(list(run.trace)),
        "notes": json.dumps(run.trace.notes),
        "learned": json.dumps(run.learned),
        "next_id": str(run.assignment.next_id),
        "kind": run.kind,
    }
    arrays: dict[str, npt.NDArray[Any]] = {n: getattr(run.assignment, n) for n in ASSIGNMENT}
    arrays |= {MEMORY + name: array for name, array in run.memory.items()}
    about["digest"] = _digest(arrays, about)
    place.rewrite(save(arrays, metadata=about))


def read(
    path: Path, mark: str, n_sweeps: int, possible: Callable[[Assignment], bool]
) -> Saved | None:
    """The saved run, or None where there is no file yet.

    `possible`: whether an assignment may be one of this corpus and urn.
    """
    path = _without_detours(path)
    if not os.path.exists(path):
        return None
    arrays, about = _whole(path)
    if about.get("mark") != mark:
        raise InvalidInput(
            f"The checkpoint {path} belongs to other data, parameters or another seed. Delete it, or use"
            " another file."
        )
    try:
        trace = Trace.read(json.loads(about["trace"]), json.loads(about["notes"]))
        key, elapsed = int(about["key"]), float(about["elapsed"])
        learned, next_id = _learned(json.loads(about["learned"])), int(about["next_id"])
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError, AttributeError):
        raise misfit(path) from None
    if len(trace) > n_sweeps:
        raise InvalidInput(
            f"The checkpoint {path} already has {len(trace)} sweeps, more than n_sweeps={n_sweeps}."
            " Raise n_sweeps, or delete the file."
        )
    memory = {n.removeprefix(MEMORY): arrays.pop(n) for n in set(arrays) - set(ASSIGNMENT)}
    labels, flag, ids = (arrays[name] for name in ASSIGNMENT)
    counted = np.zeros(ids.shape, np.int64)  # sizes and totals follow from the labels
    found = Assignment(labels, counted, counted, flag, ids, next_id)
    sane = 0 <= key < 2**64 and 0 <= elapsed < math.inf and len(trace)
    if not sane or not possible(found):
        raise misfit(path)
    return Saved(found, trace, key, elapsed, learned, about.get("kind", ""), memory)


def _whole(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """What a checkpoint says; refused unless every bit of it is as it was written."""
    arrays, about = open_tensors(path)
    if not {"schema", "mark", "digest"} <= set(about):
        raise ModelFileError(f"{path} is not a checkpoint of coterie. Use another file.")
    if (about["schema"], about.get("version")) != (str(SCHEMA), __version__):
        raise ModelFileError(
            f"The checkpoint {path} was written by {_version_in(about)}; this is {__version__}, and a run"
            " can only be continued by the version that began it. Delete it to start again."
        )
    if not _is_complete(arrays):
        raise misfit(path)
    if about.pop("digest", "") != _digest(arrays, about):
        raise ModelFileError(f"{path} is damaged (its checksum differs). Delete it to start again.")
    return arrays, about


def _version_in(about: Mapping[str, str]) -> str:
    """The version that wrote a checkpoint, in words; until 0.1.0 they did not say so."""
    version = about.get("version", "")
    if version == __version__:
        return f"an earlier state of coterie {version}"
    return f"coterie {version[:40]}" if version else "an earlier version of coterie"


def _learned(found: Any) -> dict[str, dict[str, float]]:
    """What steps learned: names of steps, and for each of them names and finite numbers."""
    values = {str(step): {str(n): float(v) for n, v in row.items()} for step, row in found.items()}
    if not all(math.isfinite(v) for row in values.values() for v in row.values()):
        raise ValueError("a learned value that is no number")
    return values


def misfit(path: Path) -> ModelFileError:
    """The refusal of a checkpoint that says what cannot be."""
    return ModelFileError(f"{path} does not match its data. Delete it to start again.")


def _is_complete(arrays: Arrays) -> bool:
    others = set(arrays) - set(ASSIGNMENT)
    whole = len(arrays) - len(others) == len(ASSIGNMENT)
    return whole and all(name.startswith(MEMORY) for name in others)


def open_tensors(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Arrays (owned, writable) and text of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        _disk.check_regular(path)
        with safe_open(path, framework="numpy") as file:
            about = dict(file.metadata() or {})
            arrays = {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except _disk.NotReadable as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from None
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        raise ModelFileError(
            f"{path} is no checkpoint, or it is damaged or incomplete ({error}). Use another file; if"
            " it was a checkpoint, delete it to start again."
        ) from None
    return arrays, about


def _digest(arrays: Arrays, about: Mapping[str, str]) -> str:
    """A digest of all that a checkpoint says."""
    digest = hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
