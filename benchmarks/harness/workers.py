"""One process per system, kept alive and called in turns, so that load on the machine hits all of
them alike. They talk in lines of JSON; both ends of the pipe are in this file."""

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
from importlib import import_module
from typing import Any

import numpy as np

from .data import ROOT, Corpus, DataMissing
from .probe import Watch
from .systems import Fit

ONE_THREAD = [f"{of}_NUM_THREADS" for of in ("NUMBA", "OMP", "OPENBLAS", "MKL", "RAYON")]
SYSTEMS, BUILD = "benchmarks.harness.systems:SYSTEMS", "benchmarks.harness.data:build"


class WorkerFailed(RuntimeError):
    """A system could not do what was asked; the message says what."""


class NotInstalled(WorkerFailed):
    """A package or a file that the system needs is not there; the message says how to get it."""


class TimedOut(WorkerFailed):
    """The system was stopped, since it took longer than allowed."""


class Worker:
    """The calling end: `with Worker("topica") as w: w.load({"name": "tweet"}); w.fit(...)`.

    `systems` and `build` name a dict of systems and a function that builds a corpus, as
    "module:name". `seconds` and `gigabytes` limit one request: the process is killed, or gets no
    more memory."""

    def __init__(
        self,
        system: str,
        *,
        systems: str = SYSTEMS,
        build: str = BUILD,
        seconds: float | None = None,
        gigabytes: float | None = None,
    ) -> None:
        self.system = system
        self._seconds = seconds
        given = [system, systems, build, str(gigabytes or "")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.workers", *given],
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
        """Fit all of it: seconds, peak_mb, n_clusters, labels; of coterie's models also
        sweep_seconds (without the reading of the input) and the outliers of a process."""
        return self._ask({"fit": settings, "labels": labels})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        line, too_long = self._answer(json.dumps(request) + "\n")
        if too_long:
            raise TimedOut(f"{self.system}: took longer than {self._seconds:g} s")
        if not line:
            raise WorkerFailed(f"{self.system}: the process ended (status {self._process.wait()})")
        reply: dict[str, Any] = json.loads(line)
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


def kernel_cache() -> str:
    """A cache of compiled kernels that belongs to this state of the sources, as in the tests.

    numba does not notice an edit to a helper in another file."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "coterie" / "kernels").rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return str(ROOT / ".cache" / f"numba-{digest.hexdigest()[:16]}")


def _environment() -> dict[str, str]:
    """One thread, and nothing from the network."""
    own = {**dict.fromkeys(ONE_THREAD, "1"), "HF_HUB_OFFLINE": "1"}
    return {"NUMBA_CACHE_DIR": kernel_cache(), **os.environ, **own}


def _named(name: str) -> Any:
    """What "module:name" names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _serve(system: str, systems: str, build: str, gigabytes: str) -> None:
    """The answering end. Standard output is the protocol's: what a library prints goes to stderr."""
    warnings.simplefilter("ignore")
    if gigabytes:
        _limit_memory(int(float(gigabytes) * 1e9))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    corpus = Corpus([], [])
    fit: Fit = _named(systems)[system]
    for line in sys.stdin:
        request = json.loads(line)
        reply: dict[str, Any] = {}
        try:
            if "load" in request:
                corpus = _named(build)(request["load"])
            elif "warm_up" in request:
                fit(corpus.documents[:200], watch=Watch(), **request["warm_up"])
            else:
                reply = _fit(fit, corpus, request["fit"], request["labels"])
        except ModuleNotFoundError as problem:
            reply = {"missing": f'{problem}. Try: pip install "coterie[bench,bench-embeddings]"'}
        except DataMissing as problem:
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


def _fit(fit: Fit, corpus: Corpus, settings: dict[str, Any], labels: bool) -> dict[str, Any]:
    watch = Watch()
    z, model = fit(corpus.documents, watch=watch, **settings)
    n_clusters = len(np.unique(z[z >= 0]))
    reply: dict[str, Any] = {
        "seconds": watch.seconds,
        "peak_mb": watch.peak_mb,
        "n_clusters": n_clusters,
    }
    if hasattr(model, "trace_"):
        reply["sweep_seconds"] = float(np.sum(model.trace_["seconds"]))
    if labels:
        reply["labels"] = z.tolist()
        if hasattr(model, "outliers") and not hasattr(model, "n_clusters"):
            reply["outliers"] = np.flatnonzero(model.outliers()).tolist()
    return reply


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        _serve(*sys.argv[1:])
