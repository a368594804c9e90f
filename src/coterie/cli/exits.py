"""Exit codes, and the exception that ends a command with one of them."""

from __future__ import annotations

DONE, PROBLEM, MISUSE, ELSEWHERE, DRIFTED, EMPTY = range(6)
HUNG_UP, INTERRUPTED, BROKEN_PIPE, TERMINATED = 129, 130, 141, 143

# shown by `coterie --help` and in the documentation
MEANING = {
    DONE: "success",
    PROBLEM: "an error, explained in a message; your files were not changed",
    MISUSE: "the command or its options are wrong",
    ELSEWHERE: "success, but the output existed by then, so the result has another name",
    DRIFTED: "predict --fail-if-drift: written, but the texts are no longer like those of the fit",
    EMPTY: "the input has no rows; predict has written a table without rows, fit nothing",
    HUNG_UP: "ended by SIGHUP, as when the terminal is closed; what was incomplete was removed",
    INTERRUPTED: "interrupted by Ctrl-C; a message says what was written, if anything",
    BROKEN_PIPE: "the program reading the output stopped early, as in coterie ... | head",
    TERMINATED: "ended by SIGTERM; what was incomplete was removed",
}


class End(Exception):
    """Ends a command with this exit code and one sentence on standard error."""

    def __init__(self, code: int, sentence: str, has_result: bool = False) -> None:
        super().__init__(sentence)
        self.code = code
        self.has_result = has_result  # it was written and printed before
