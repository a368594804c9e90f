"""How a command ends: its exit code, and what it says when that is not 0."""

from __future__ import annotations

DONE, PROBLEM, MISUSE, ELSEWHERE, INTERRUPTED, NOBODY_READS = 0, 1, 2, 3, 130, 141

# what `coterie --help` and the documentation say
MEANING = {
    DONE: "done",
    PROBLEM: "a problem, told in one sentence; nothing of yours was changed",
    MISUSE: "the command was not understood",
    ELSEWHERE: "done, but the place was taken meanwhile: the result is under another name",
    INTERRUPTED: "interrupted by Ctrl-C; what was written, if anything, is told",
    NOBODY_READS: "whoever read the output stopped reading, as in coterie ... | head",
}


class End(Exception):
    """The end of a command with a certain exit code, after one sentence on standard error."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
