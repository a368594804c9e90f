"""One process per system, kept alive and asked in turns by JSON lines, so that whatever else the
machine does hits all systems alike. Both ends of the pipe are in this file.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import traceback
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from .data import ROOT, Corpus, build
from .probe import Watch
from .systems import SYSTEMS, Settings

ONE_THREAD = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


class WorkerFailed(RuntimeError):
    """A system could not do what was asked; the message says what."""


class Worker:
    """The asking end: `with Worker("topica") as w: w.load({"name": "tweet"}); w.fit(...)`."""

    def __init__(self, system: str) -> None:
        self.system = system
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.workers", system],
            cwd=ROOT,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def load(self, spec: dict[str, Any]) -> None:
        """Build the corpus over there."""
        self._ask({"load": spec})

    def warm_up(self, **settings: Any) -> None:
        """Fit a few of its documents once, so that imports and compiled code are in place."""
        self._ask({"warm_up": settings})

    def fit(self, *, labels: bool = True, **settings: Any) -> dict[str, Any]:
        """Fit all of it: seconds, peak_mb, n_clusters, sweep_seconds (coterie's, without
        the reading of the input); labels; outliers of a process."""
        return self._ask({"fit": settings, "labels": labels})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerFailed(f"{self.system}: the process ended (status {self._process.wait()})")
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerFailed(f"{self.system}: {reply['error']}")
        return reply

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _environment() -> dict[str, str]:
    """One thread, and a cache of compiled kernels that belongs to this state of the sources:
    numba does not notice an edit to a helper in another file."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "coterie" / "kernels").rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    cache = str(ROOT / ".cache" / f"numba-{digest.hexdigest()[:16]}")
    return {"NUMBA_CACHE_DIR": cache, **os.environ, **dict.fromkeys(ONE_THREAD, "1")}


def _serve(system: str) -> None:
    """The answering end. Standard output is the protocol's: a library's prints go to stderr."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    corpus = Corpus([], [])
    for line in sys.stdin:
        request = json.loads(line)
        reply: dict[str, Any] = {}
        try:
            if "load" in request:
                corpus = build(request["load"])
            elif "warm_up" in request:
                SYSTEMS[system](corpus.documents[:200], Settings(**request["warm_up"]), Watch())
            else:
                reply = _fit(system, corpus, Settings(**request["fit"]), request["labels"])
        except ModuleNotFoundError as problem:
            reply = {"error": f'{problem}. Try: pip install "coterie[bench]"'}
        except Exception as problem:
            traceback.print_exc()
            reply = {"error": f"{type(problem).__name__}: {problem}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _fit(system: str, corpus: Corpus, settings: Settings, labels: bool) -> dict[str, Any]:
    watch = Watch()
    z, model = SYSTEMS[system](corpus.documents, settings, watch)
    reply = {
        "seconds": watch.seconds,
        "peak_mb": watch.peak_mb,
        "n_clusters": len(np.unique(z[z >= 0])),
    }
    if hasattr(model, "trace_"):
        reply["sweep_seconds"] = float(np.sum(model.trace_["seconds"]))
    if labels:
        reply["labels"] = z.tolist()
        if settings.n_clusters is None and hasattr(model, "outliers"):
            reply["outliers"] = np.flatnonzero(model.outliers()).tolist()
    return reply


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        _serve(sys.argv[1])
