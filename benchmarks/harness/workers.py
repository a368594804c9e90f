"""One process per system, kept alive and called in turns, so that load on the machine hits all of
them alike."""

from __future__ import annotations

import multiprocessing
import os
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np

from .data import ROOT, Corpus, DataMissing
from .probe import Watch
from .systems import Fit

ONE_THREAD = [f"{of}_NUM_THREADS" for of in ("NUMBA", "OMP", "OPENBLAS", "MKL", "RAYON")]
CONTEXT = multiprocessing.get_context("spawn")
Reply = dict[str, Any]


class WorkerFailed(RuntimeError):
    """A system could not do what was asked; the message says what."""


class NotInstalled(WorkerFailed):
    """A package or a file that the system needs is not there; the message says how to get it."""


class TimedOut(WorkerFailed):
    """The system was stopped, since it took longer than allowed."""


class Worker:
    """The calling end: `with Worker(topica) as w: w.load(load, "tweet"); w.fit(...)`.

    `seconds` and `gigabytes` limit one request: the process is killed, or gets no more memory."""

    def __init__(
        self, fit: Fit, *, seconds: float | None = None, gigabytes: float | None = None
    ) -> None:
        self.system, self._seconds = fit.__name__, seconds
        self._pipe, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_serve, args=(theirs, fit, gigabytes))
        with _environment():
            self._process.start()
        theirs.close()

    def load(self, build: Callable[..., Corpus], *given: Any) -> None:
        """Build the corpus over there."""
        self._ask("load", partial(build, *given))

    def warm_up(self, **settings: Any) -> None:
        """Fit a few of its documents once, so that imports and compiled code are in place."""
        self._ask("warm_up", settings)

    def fit(self, *, labels: bool = True, **settings: Any) -> Reply:
        """Fit all of it: seconds, peak_mb, n_clusters, labels; of coterie's models also
        sweep_seconds (without the reading of the input) and the outliers of a process."""
        return self._ask("labels" if labels else "fit", settings)

    def _ask(self, what: str, given: Any) -> Reply:
        try:
            self._pipe.send((what, given))
            if not self._pipe.poll(self._seconds):
                self._process.kill()
                raise TimedOut(f"{self.system}: took longer than {self._seconds:g} s")
            kind, reply = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            raise WorkerFailed(f"{self.system}: the process ended (status {code})") from None
        if kind is not None:
            raise kind(f"{self.system}: {reply}")
        return dict(reply)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def kernel_cache() -> str:
    """The cache of compiled kernels that the tests use, too."""
    return str(ROOT / ".cache" / "numba")


@contextmanager
def _environment() -> Iterator[None]:
    """What a new process inherits: one thread, and nothing from the network."""
    before = dict(os.environ)
    os.environ.setdefault("NUMBA_CACHE_DIR", kernel_cache())
    os.environ.update({**dict.fromkeys(ONE_THREAD, "1"), "HF_HUB_OFFLINE": "1"})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _serve(pipe: Any, fit: Fit, gigabytes: float | None) -> None:
    """The answering end: sends None and a reply, or the exception to raise and its text."""
    warnings.simplefilter("ignore")
    if gigabytes:
        _limit_memory(int(gigabytes * 1e9))
    corpus = Corpus([], [])
    with suppress(KeyboardInterrupt, EOFError):
        while True:
            what, given = pipe.recv()
            kind: type[WorkerFailed] | None = None
            reply: Any = {}
            try:
                if what == "load":
                    corpus = given()
                elif what == "warm_up":
                    fit(corpus.documents[:200], watch=Watch(), **given)
                else:
                    reply = _fit(fit, corpus, given, what == "labels")
            except ModuleNotFoundError as problem:
                cure = 'Try: pip install ".[bench,bench-embeddings]"'
                kind, reply = NotInstalled, f"{problem}. {cure}"
            except DataMissing as problem:
                kind, reply = NotInstalled, str(problem)
            except Exception as problem:
                traceback.print_exc()
                kind, reply = WorkerFailed, f"{type(problem).__name__}: {problem}"
            pipe.send((kind, reply))


def _limit_memory(n_bytes: int) -> None:
    """Have allocations beyond this refused, where the system can."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    except (ImportError, AttributeError, ValueError, OSError):
        traceback.print_exc()


def _fit(fit: Fit, corpus: Corpus, settings: dict[str, Any], labels: bool) -> Reply:
    watch = Watch()
    z, model = fit(corpus.documents, watch=watch, **settings)
    reply: Reply = {"seconds": watch.seconds, "peak_mb": watch.peak_mb}
    reply["n_clusters"] = len(np.unique(z[z >= 0]))
    if hasattr(model, "trace_"):
        reply["sweep_seconds"] = float(np.sum(model.trace_["seconds"]))
    if labels:
        reply["labels"] = z.tolist()
        if hasattr(model, "outliers") and not hasattr(model, "n_clusters"):
            reply["outliers"] = np.flatnonzero(model.outliers()).tolist()
    return reply
