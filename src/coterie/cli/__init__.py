"""The command line: `main` is what `coterie` runs.

`coterie --help` is asked for often and by people in a hurry, and importing typer alone takes six
times as long as starting Python. So the first page is plain text made here, from the same sentences
that typer gets, and typer, rich and all the rest are imported only for an actual command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

# name -> the sentence that `coterie --help` and `coterie NAME --help` say about it
COMMANDS = {
    "fit": "Group the texts of a file, and write your table back with a cluster for each row.",
    "predict": "Say for new texts which of the clusters found before they belong to.",
    "info": "Show what a saved model holds.",
    "report": "Write a saved model's report: one HTML page to look at and pass on.",
    "demo": "Try it on messages made up for the purpose.",
}
ABOUT = "coterie groups texts that share interests, and says what each group is about."


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 a problem, 2 misuse, 130 interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _forgive_odd_characters()
    try:
        if "_COTERIE_COMPLETE" not in os.environ and arguments in ([], ["--help"], ["-h"]):
            _say(_first_page())
            return 0 if arguments else 2
        if arguments in (["--version"], ["-V"]):
            from coterie._version import __version__

            _say(f"coterie {__version__}\n")
            return 0
        from coterie.cli.app import run

        code = run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return nobody_reads()


def nobody_reads() -> int:
    """After a broken pipe: nothing more can be said, not even when Python ends; the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 141  # what the shell reports for other programs in this case


def _first_page() -> str:
    lines = [
        "Usage: coterie COMMAND ...",
        "",
        ABOUT,
        "",
        "Commands:",
        *(f"  {name:<8} {about}" for name, about in COMMANDS.items()),
        "",
        "Try:",
        "  coterie fit reviews.csv               writes reviews.coterie/ (table, clusters, report, model)",
        "  coterie fit reviews.csv --text body --n-clusters 50 -o result",
        "  cat titles.txt | coterie fit -",
        "  coterie predict reviews.coterie new.csv -o new_with_clusters.csv",
        "",
        "Options:",
        "  -h, --help               this page; coterie COMMAND --help says more",
        "  -V, --version            the version",
        "  --install-completion     let your shell complete commands and options",
        "  --show-completion        show what that would install",
    ]
    return "\n".join(lines) + "\n"


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _forgive_odd_characters() -> None:
    """A terminal that cannot show a letter shows a question mark, rather than a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
