"""The commands and their options (typer); what they do is in the files named after them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli import ABOUT, COMMANDS
from coterie.cli.exits import INTERRUPTED, NOBODY_READS, PROBLEM, End
from coterie.cli.words import in_terms_of_options, printable
from coterie.errors import CoterieError

app = typer.Typer(
    name="coterie",
    help=ABOUT,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # our help has brackets that are not markup
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """Kinds of files a table can be written as."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="csv, tsv, jsonl, json, parquet or txt (a text a line), gzip or not; a folder of txt"
        " files; or - for standard input.",
    ),
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="What `coterie fit` wrote: OUT, or the model in it."),
]
Text = Annotated[
    str | None,
    typer.Option("--text", "-t", metavar="COLUMN", help="The texts; found if it is obvious."),
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of FILE, such as latin-1; found if left out.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default=False,
        help="Whether the first line of a csv or tsv file names the columns; found if left out.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace what an earlier run wrote.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")]


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; the exit code."""
    try:
        app(args=list(arguments), prog_name="coterie")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(bool(done.code))
    return 0


@app.callback()
def first_page(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", is_eager=True)
    ] = False,
) -> None:
    """What holds for all commands."""
    if version:
        from coterie._version import __version__

        typer.echo(f"coterie {__version__}")
        raise typer.Exit()


@app.command(
    help=COMMANDS["fit"],
    epilog="Ctrl-C while sampling stops it, keeps what was found, and still writes. While writing, a"
    " first Ctrl-C lets it finish (exit code 130), and a second one stops it.",
)
def fit(
    file: File,
    text: Text = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="The column that names the rows.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="A folder for table, clusters.csv, report.html and model/; or, if it ends in .csv,"
            " .tsv, .jsonl or .parquet, the table alone; or - for the table on standard output."
            " Left out: FILE's name with .coterie, here.",
        ),
    ] = None,
    seeds: Annotated[
        Path | None,
        typer.Option(
            metavar="TOPICS",
            help="Topics you expect: a yaml, json or csv file of names and words; or what an earlier"
            " `coterie fit` wrote, to go on from its clusters.",
        ),
    ] = None,
    seed_weight: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="How sure you are of them: as if N texts spoke for each (1)."
        ),
    ] = None,
    n_clusters: Annotated[
        int | None, typer.Option(metavar="K", help="Clusters at most; usually fewer are found.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="How readily a text opens a cluster of its own (0.1).")
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(help="How much texts of a cluster may differ; larger: fewer clusters (0.2)."),
    ] = None,
    sweeps: Annotated[int | None, typer.Option(help="Passes over the texts, at most (40).")] = None,
    language: Annotated[
        str, typer.Option(help="Such as en or de, for stop words; auto finds it; none uses none.")
    ] = "auto",
    min_df: Annotated[
        str, typer.Option(metavar="N", help="Leave out words of fewer texts: 5, or 0.001 of all.")
    ] = "auto",
    max_df: Annotated[
        str, typer.Option(metavar="N", help="Leave out words of more texts: 900, or 0.5 of all.")
    ] = "auto",
    encoding: Encoding = None,
    header: Header = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same clusters.")] = 0,
    max_time: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop sampling then, with what was found."),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option("--format", help="Of the table; left out: as OUT ends, or like FILE."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to save the model, if not in OUT.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="PAGE", help="Where to write the report, if not in OUT.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """A file in; table, clusters, report and model out."""
    with errors_in_words(debug):
        from coterie.cli import fit as command

        command.run(
            file,
            out,
            format=None if format is None else format.value,
            model=model,
            report=report,
            force=force,
            as_json=json,
            quiet=quiet,
            options={
                "text": text,
                "id": id,
                "seeds": seeds,
                "seed_weight": seed_weight,
                "n_clusters": n_clusters,
                "alpha": alpha,
                "beta": beta,
                "n_sweeps": sweeps,
                "language": language,
                "min_df": min_df,
                "max_df": max_df,
                "encoding": encoding,
                "header": header,
                "random_state": seed,
                "max_time": max_time,
            },
        )


@app.command(
    help=COMMANDS["predict"],
    epilog="The table comes back with the columns cluster, name and probability.",
)
def predict(
    model: Model,
    file: File,
    text: Text = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="A .csv, .tsv, .jsonl or .parquet file; - is standard output (csv).",
        ),
    ] = "-",
    encoding: Encoding = None,
    header: Header = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """New texts into clusters found before."""
    with errors_in_words(debug):
        from coterie.cli import predict as command

        command.run(
            model, file, text, out, encoding, header, as_json=json, quiet=quiet, force=force
        )


@app.command(help=COMMANDS["info"])
def info(model: Model, json: Json = False, debug: Debug = False) -> None:
    """Texts, clusters, settings, notes."""
    with errors_in_words(debug):
        from coterie.cli import saved

        saved.info(model, as_json=json)


@app.command(help=COMMANDS["report"], epilog="The page needs no network, and nothing beside it.")
def report(
    model: Model,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PAGE", help="Left out: MODEL's name with .html, here."
        ),
    ] = None,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """The page of a saved model."""
    with errors_in_words(debug):
        from coterie.cli import saved

        saved.report(model, out, quiet=quiet, force=force)


@app.command(help=COMMANDS["demo"])
def demo(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where to write the table and the report."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Nothing is downloaded."""
    with errors_in_words(debug):
        from rich.console import Console

        import coterie.demo

        coterie.demo.run(out, Console(highlight=False))


@contextmanager
def errors_in_words(debug: bool) -> Iterator[None]:
    """Problems as one sentence on stderr and an exit code; with --debug also where they arose."""
    try:
        yield
    except typer.Exit:
        raise
    except BrokenPipeError:  # `coterie ... | head`: the reader has seen enough
        raise typer.Exit(NOBODY_READS) from None
    except KeyboardInterrupt:
        _fail("Interrupted; nothing was written.", INTERRUPTED)
    except End as end:
        _fail(str(end), end.code)
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        _fail(_sentence(error), PROBLEM)


def _sentence(error: Exception) -> str:
    if isinstance(error, CoterieError):
        return in_terms_of_options(error.sentence)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'The output'}: {error.strerror}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; try a part of the file, or a larger --min-df."
    return (
        f"coterie failed in a way it should not ({type(error).__name__}: {error}); run it again with"
        " --debug and report what it says."
    )


def _fail(sentence: str, code: int) -> Any:
    sys.stderr.write(f"Error: {printable(sentence)}\n")
    raise typer.Exit(code)
