"""The command line: `main` is what `coterie` runs.

`coterie --help` is asked for often and by people in a hurry, and importing typer alone takes six
times as long as starting Python. So the first page is plain text made here, from the same sentences
that typer gets, and typer, rich and all the rest are imported only for an actual command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from coterie.cli import exits, streams

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
    """Run a command; returns the exit code, of which exits.MEANING tells the meaning."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with streams.ready() as output:
        try:
            code = _run(arguments)
            output.flush()
        except BrokenPipeError:
            code = exits.NOBODY_READS
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted; nothing was written.\n")
            code = exits.INTERRUPTED
        except OSError as error:  # what a command does says its own sentences; this is a help page
            where = error.filename or "Standard output"
            sys.stderr.write(f"Error: {where} cannot be written: {error.strerror or error}.\n")
            output.drop()
            code = exits.PROBLEM
        if output.broken:
            code = exits.NOBODY_READS
        if code == exits.NOBODY_READS:
            output.drop()
        return code


def _run(arguments: list[str]) -> int:
    if "_COTERIE_COMPLETE" not in os.environ and arguments in ([], ["--help"], ["-h"]):
        _say(_first_page())
        return exits.DONE if arguments else exits.MISUSE
    if arguments in (["--version"], ["-V"]):
        from coterie._version import __version__

        _say(f"coterie {__version__}\n")
        return exits.DONE
    from coterie.cli.app import run

    return run(arguments)


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
        "",
        "Exit codes:",
        *(f"  {code:<8} {meaning}" for code, meaning in exits.MEANING.items()),
    ]
    return "\n".join(lines) + "\n"


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
