"""The command line: `main` is what `coterie` runs.

`coterie --help` is called often, and importing typer alone takes six times as long as starting
Python. So the first help page is plain text built here, from the same sentences that typer gets.
typer, rich and everything else are imported only when a command runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from coterie.cli import exits, streams

# name -> its description in `coterie --help` and `coterie NAME --help`
COMMANDS = {
    "fit": "Cluster the texts in a file and write your table with a cluster for each row.",
    "predict": "Assign new texts to the clusters of a saved model.",
    "edit": "Rename, merge or split clusters of a saved model, or drop words from it.",
    "info": "Show the clusters, settings and notes of a saved model.",
    "report": "Write the report of a saved model, a single HTML page.",
    "demo": "Try coterie on a small invented corpus.",
}
ABOUT = "coterie clusters texts by topic and describes each cluster."


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code (see exits.MEANING)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with streams.ready() as output:
        try:
            code = _run(arguments)
            output.flush()
        except BrokenPipeError:
            code = exits.BROKEN_PIPE
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted. Nothing was written.\n")
            code = exits.INTERRUPTED
        except OSError as error:  # commands report their own errors; this is a help page
            where = error.filename or "Standard output"
            sys.stderr.write(f"Error: {where} cannot be written: {error.strerror or error}.\n")
            output.drop()
            code = exits.PROBLEM
        if output.broken:
            code = exits.BROKEN_PIPE
        if code == exits.BROKEN_PIPE:
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
        "Examples:",
        "  coterie fit reviews.csv               writes reviews.coterie/ (table, clusters, report, model)",
        "  coterie fit reviews.csv --text body --clusters 50 -o result",
        "  cat titles.txt | coterie fit -",
        "  coterie predict reviews.coterie new.csv -o new_with_clusters.csv",
        "",
        "Options:",
        "  -h, --help               show this page; coterie COMMAND --help shows the options",
        "  -V, --version            show the version",
        "  --install-completion     install shell completion of commands and options",
        "  --show-completion        show what would be installed",
        "",
        "Exit codes:",
        *(f"  {code:<8} {meaning}" for code, meaning in exits.MEANING.items()),
    ]
    return "\n".join(lines) + "\n"


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
