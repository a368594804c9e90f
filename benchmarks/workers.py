"""One process per system, kept alive and asked in turns by JSON lines, so that whatever else the
machine does hits all systems alike. Both ends of the pipe are in this file.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import traceback
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from .data import ROOT, Corpus, build
from .peers import sets
from .peers.fits import FITS
from .probe import Watch
from .systems import SYSTEMS, Fit, Settings
from .vectors import VectorsMissing

ALL: dict[str, Fit] = {**SYSTEMS, **FITS}

ONE_THREAD = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


class WorkerFailed(RuntimeError):
    """A system could not do what was asked; the message says what."""


class NotInstalled(WorkerFailed):
    """A package or a file that the system needs is not there; the message says how to get it."""


class TimedOut(WorkerFailed):
    """The system was stopped, since it took longer than allowed."""


class Worker:
    """The asking end: `with Worker("topica") as w: w.load({"name": "tweet"}); w.fit(...)`.

    `seconds` and `gigabytes` limit what one request may take: the process is killed, or told that
    there is no more memory."""

    def __init__(
        self, system: str, *, seconds: float | None = None, gigabytes: float | None = None
    ) -> None:
        self.system = system
        self._seconds = seconds
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.workers", system, str(gigabytes or "")],
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
        line, too_long = self._answer(json.dumps(request) + "\n")
        if too_long:
            raise TimedOut(f"{self.system}: took longer than {self._seconds:g} s")
        if not line:
            raise WorkerFailed(f"{self.system}: the process ended (status {self._process.wait()})")
        reply = json.loads(line)
        if "missing" in reply:
            raise NotInstalled(f"{self.system}: {reply['missing']}")
        if "error" in reply:
            raise WorkerFailed(f"{self.system}: {reply['error']}")
        return reply

    def _answer(self, question: str) -> tuple[str, bool]:
        """The line that comes back, or an empty one; and whether the time ran out."""
        assert self._process.stdin
        assert self._process.stdout
        ran_out = threading.Event()

        def stop() -> None:
            ran_out.set()
            self._process.kill()

        timer = threading.Timer(self._seconds or 0, stop)
        if self._seconds:
            timer.start()
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        return line, ran_out.is_set()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _environment() -> dict[str, str]:
    """One thread, nothing from the network, and a cache of compiled kernels that belongs to this
    state of the sources: numba does not notice an edit to a helper in another file."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "coterie" / "kernels").rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    cache = str(ROOT / ".cache" / f"numba-{digest.hexdigest()[:16]}")
    own = {**dict.fromkeys(ONE_THREAD, "1"), "HF_HUB_OFFLINE": "1"}
    return {"NUMBA_CACHE_DIR": cache, **os.environ, **own}


def _serve(system: str, gigabytes: str) -> None:
    """The answering end. Standard output is the protocol's: a library's prints go to stderr."""
    warnings.simplefilter("ignore")
    if gigabytes:
        _limit_memory(int(float(gigabytes) * 1e9))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    corpus = Corpus([], [])
    for line in sys.stdin:
        request = json.loads(line)
        reply: dict[str, Any] = {}
        try:
            if "load" in request:
                spec = request["load"]
                corpus = sets.build(spec) if "labelled" in spec else build(spec)
            elif "warm_up" in request:
                ALL[system](corpus.documents[:200], Settings(**request["warm_up"]), Watch())
            else:
                reply = _fit(system, corpus, Settings(**request["fit"]), request["labels"])
        except ModuleNotFoundError as problem:
            reply = {"missing": f'{problem}. Try: pip install "coterie[bench,bench-embeddings]"'}
        except VectorsMissing as problem:
            reply = {"missing": str(problem)}
        except Exception as problem:
            traceback.print_exc()
            reply = {"error": f"{type(problem).__name__}: {problem}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _limit_memory(n_bytes: int) -> None:
    """Have allocations beyond this refused, where the system can."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    except (ImportError, AttributeError, ValueError, OSError):
        traceback.print_exc()


def _fit(system: str, corpus: Corpus, settings: Settings, labels: bool) -> dict[str, Any]:
    watch = Watch()
    z, model = ALL[system](corpus.documents, settings, watch)
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
        _serve(*sys.argv[1:])
