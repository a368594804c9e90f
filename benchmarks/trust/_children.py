"""Children of a process that has imported and compiled everything, so that they begin at once.

The parent never runs polars: its threads would not survive a fork. What needs polars runs in a child.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TOPICS = (
    "bread flour yeast oven dough",
    "bike wheel gear saddle tyre",
    "comet planet orbit telescope moon",
)
NO_EXCHANGE = "a system without such renames"


class Said(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


class Child(NamedTuple):
    """A running child, and where its result will come from."""

    pid: int
    pipe: int


class Ended(NamedTuple):
    """How a child ended: its result, or how it failed; `killed` if it was."""

    killed: bool
    result: Any
    error: str


def in_fresh_process(module: str, n: int, seed: int) -> dict[str, Any]:
    """Measure in a process that has no threads yet; what it prints last is the result."""
    env = {**os.environ, "POLARS_ALLOW_FORKING_THREAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", module, str(n), str(seed)],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def start(work: Callable[[], Any]) -> Child:
    """Fork; the child does the work and sends what it returns."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return Child(pid, reader)
    os.close(reader)
    try:
        told = {"result": work()}
    except BaseException:
        told = {"error": traceback.format_exc()}
    os.write(writer, json.dumps(told).encode())
    os._exit(0)


def end(child: Child, kill_after: float | None = None) -> Ended:
    """Wait for a child, or kill it after some seconds."""
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    with open(child.pipe, "rb") as pipe:
        told = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
    if code == -signal.SIGKILL:
        return Ended(True, None, "")
    found = json.loads(told or b"{}")
    return Ended(
        False, found.get("result"), found.get("error", "" if code == 0 else f"code {code}")
    )


def do(work: Callable[[], Any]) -> Any:
    """The result of work done in a child; what goes wrong there is raised here."""
    ended = end(start(work))
    if ended.error or ended.killed:
        raise RuntimeError(ended.error or "killed")
    return ended.result


def command(*arguments: Any) -> Said:
    """Run a command of coterie in this process."""
    from coterie.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Said(code, out.getvalue(), err.getvalue())


def die_at(name: str, call: int, after: bool, exchange: bool) -> None:
    """Let this process kill itself just before or after the n-th call of a function."""
    from coterie import _system

    if not exchange:
        _system.PLATFORM = NO_EXCHANGE
    owner: Any = next(o for o in (_system, os, shutil) if hasattr(o, name))
    plain, calls = getattr(owner, name), []

    def deadly(*args: Any, **more: Any) -> Any:
        calls.append(name)
        if len(calls) == call and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = plain(*args, **more)
        if len(calls) == call and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)


def write_texts(path: Path, n: int = 30) -> Path:
    """A small table of texts."""
    words = [topic.split() for topic in TOPICS]
    lines = [" ".join(words[i % 3][(i + j) % 5] for j in (0, 1, 3)) for i in range(n)]
    path.write_text("\n".join(["body", *lines]) + "\n")
    return path
