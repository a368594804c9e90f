"""Runs many small cases in child processes, so that a crash or a hang is a count and not the end.

A case is a function of its number and a seed that returns a word ("fine", "refused", or "said" if a note
told what could not be kept) or a sentence about what was wrong. What it raises is a raw exception; a child
that dies is a crash; one that does not answer in time is a hang.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 10.0  # seconds a case may take
START = 300.0  # seconds until the first answer: a child compiles, and makes what it mutates
SHOWN = 20
GOOD = ("fine", "refused", "said")


def run(cases: str, n: int, seed: int = 0, children: int = 2) -> dict[str, Any]:
    """Counts of what became of cases 0..n-1 of "module:function", and the first failures."""
    began = time.perf_counter()
    counts: Counter[str] = Counter(dict.fromkeys((*GOOD, "wrong", "raw", "crash", "hang"), 0))
    failures: list[str] = []
    numbers = iter(range(n))
    open_ones: dict[Any, _Child] = {}
    for _ in range(min(children, n)):
        _next(_Child(cases, seed), numbers, open_ones)
    while open_ones:
        ready, _, _ = select.select(list(open_ones), [], [], 0.5)
        late = [c for c in open_ones.values() if c.is_late() and c.out not in ready]
        for child in [open_ones[out] for out in ready] + late:
            del open_ones[child.out]
            verdict, what = ("hang", "no answer") if child in late else child.answer()
            counts[verdict] += 1
            if verdict not in GOOD and len(failures) < SHOWN:
                failures.append(f"case {child.number}: {verdict}: {what}")
            if verdict in ("hang", "crash"):
                child.kill()
                child = _Child(cases, seed)
            _next(child, numbers, open_ones)
    seconds = round(time.perf_counter() - began, 1)
    return {"cases": n, **counts, "seconds": seconds, "failures": failures}


class _Child:
    """A process that answers one case after the other."""

    def __init__(self, cases: str, seed: int) -> None:
        command = [sys.executable, "-m", "benchmarks.trust.cases", cases, str(seed)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.in_, self.out = self.process.stdin, self.process.stdout
        self.number, self.asked, self.answered = -1, 0.0, 0

    def ask(self, number: int) -> None:
        self.number, self.asked = number, time.perf_counter()
        try:
            self.in_.write(f"{number}\n")
            self.in_.flush()
        except BrokenPipeError:
            pass  # seen as a crash when the answer is read

    def is_late(self) -> bool:
        return time.perf_counter() - self.asked > (LIMIT if self.answered else START)

    def answer(self) -> tuple[str, str]:
        line = self.out.readline()
        if not line:
            code = self.process.wait()
            tail = self.process.stderr.read()[-300:] if self.process.stderr else ""
            return "crash", f"exit code {code} {tail!r}"
        self.answered += 1
        verdict, what = json.loads(line)
        return str(verdict), str(what)

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self.in_.close()
        self.process.wait()
        self.out.close()
        if self.process.stderr is not None:
            self.process.stderr.close()


def _next(child: _Child, numbers: Any, open_ones: dict[Any, _Child]) -> None:
    number = next(numbers, None)
    if number is None:
        child.close()
        return
    child.ask(number)
    open_ones[child.out] = child


def is_sentence(error: Exception) -> bool:
    """Whether a refusal is one sentence to read."""
    said = str(error)
    return "\n" not in said.strip() and said.endswith((".", "?", "!")) and len(said) < 2000


def serve(case: Callable[[int, int], str], seed: int) -> None:
    """The child: a number a line in, a verdict a line out."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        try:
            what = case(int(line), seed)
            verdict = what if what in GOOD else "wrong"
        except BaseException:
            # stored with the results: without the folder that the code lies in
            verdict, what = (
                "raw",
                traceback.format_exc().replace(f"{ROOT}{os.sep}", "")[-700:],
            )
        answers.write(json.dumps([verdict, what]) + "\n")
        answers.flush()


if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    serve(getattr(import_module(module), function), int(sys.argv[2]))
