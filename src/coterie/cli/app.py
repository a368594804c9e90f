"""The commands and their options (typer). Each command is implemented in the file named after it."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from coterie import _disk
from coterie._system import ended_by_signals, keep_no_freed_arrays
from coterie.cli import ABOUT, COMMANDS
from coterie.cli.fit_options import (
    Alpha,
    Beta,
    By,
    Checkpoint,
    Embedder,
    Id,
    Kappa,
    Language,
    Levels,
    MaxClusters,
    MaxDf,
    MaxTime,
    MinDf,
    ModelFolder,
    NClusters,
    OnDask,
    Out,
    Outliers,
    OutOfCore,
    Over,
    PerGroup,
    ReportPage,
    Seed,
    Seeds,
    SeedWeight,
    StopWords,
    Sweeps,
    TableFormat,
)
from coterie.cli.options import (
    Debug,
    Encoding,
    Files,
    Force,
    Header,
    Json,
    Model,
    Quiet,
    Sheet,
    Show,
    Text,
)
from coterie.cli.pointing import PointingGroup
from coterie.cli.problems import errors_in_words
from coterie.cli.streams import tell_from_a_signal

app = typer.Typer(
    name="coterie",
    cls=PointingGroup,
    help=ABOUT,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in our help are not markup
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str]) -> int:
    """Run the command given by the arguments and return its exit code."""
    keep_no_freed_arrays()
    try:
        with ended_by_signals(_clean_up):
            app(args=list(arguments), prog_name="coterie")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(bool(done.code))
    return 0


def _clean_up(number: int) -> None:
    """What is done before a signal ends the command."""
    _disk.abandon_all()
    tell_from_a_signal(
        f"\nEnded by {signal.Signals(number).name}. What was incomplete was removed.\n"
    )


@app.callback()
def first_page(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", is_eager=True)
    ] = False,
) -> None:
    """Options of all commands."""
    if version:
        from coterie._version import __version__

        typer.echo(f"coterie {__version__}")
        raise typer.Exit()


@app.command(
    help=COMMANDS["fit"],
    epilog="Press Ctrl-C while sampling to stop early: the clusters found so far are written. While"
    " results are being written, the first Ctrl-C lets the writing finish and the second one stops it."
    " The exit code is 130.",
)
def fit(
    files: Files,
    text: Text = None,
    id: Id = None,
    out: Out = None,
    seeds: Seeds = None,
    seed_weight: SeedWeight = None,
    n_clusters: NClusters = None,
    max_clusters: MaxClusters = None,
    outliers: Outliers = "flag",
    levels: Levels = True,
    alpha: Alpha = None,
    beta: Beta = None,
    sweeps: Sweeps = None,
    embedder: Embedder = "auto",
    kappa: Kappa = None,
    checkpoint: Checkpoint = None,
    language: Language = "auto",
    stop_words: StopWords = "auto",
    min_df: MinDf = "auto",
    max_df: MaxDf = "auto",
    encoding: Encoding = None,
    header: Header = None,
    sheet: Sheet = None,
    seed: Seed = 0,
    max_time: MaxTime = None,
    format: TableFormat = None,
    by: By = None,
    over: Over = None,
    show: Show = None,
    per_group: PerGroup = False,
    out_of_core: OutOfCore = False,
    dask: OnDask = None,
    model: ModelFolder = None,
    report: ReportPage = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Cluster a file and write table, clusters, report and model."""
    with errors_in_words(debug, json):
        from coterie.cli import fit as command

        command.run(
            files,
            out,
            format=None if format is None else format.value,
            model=model,
            report=report,
            force=force,
            as_json=json,
            quiet=quiet,
            per_group=per_group,
            by=by or [],
            over=over,
            show=show or [],
            out_of_core=out_of_core,
            dask=dask,
            options={
                "text": text,
                "id": id,
                "seeds": seeds,
                "seed_weight": seed_weight,
                "n_clusters": n_clusters,
                "max_clusters": max_clusters,
                "levels": levels,
                "outliers": outliers,
                "alpha": alpha,
                "beta": beta,
                "n_sweeps": sweeps,
                "embedder": embedder,
                "kappa": kappa,
                "checkpoint": checkpoint,
                "language": language,
                "stop_words": stop_words,
                "min_df": min_df,
                "max_df": max_df,
                "encoding": encoding,
                "header": header,
                "sheet": sheet,
                "random_state": seed,
                "max_time": max_time,
            },
        )


@app.command(
    help=COMMANDS["predict"],
    epilog="The columns cluster, name, probability, outlier_score and trust are added to your table.",
)
def predict(
    model: Model,
    files: Files,
    text: Text = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="A .csv, .tsv, .xlsx, .jsonl or .parquet file, or - for standard output (as csv).",
        ),
    ] = "-",
    embedder: Annotated[
        str | None,
        typer.Option(
            help="Where the model's own vectors are, if it was fitted with a file or folder."
        ),
    ] = None,
    fail_if_drift: Annotated[
        bool,
        typer.Option(
            "--fail-if-drift",
            help="End with exit code 4 if the texts are no longer like those of the fit.",
        ),
    ] = False,
    out_of_core: Annotated[
        bool,
        typer.Option(
            "--out-of-core",
            help="Read, predict and write FILE in parts, so that it need not fit into memory. Used by"
            " default if FILE is too large.",
        ),
    ] = False,
    encoding: Encoding = None,
    header: Header = None,
    sheet: Sheet = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Assign new texts to the clusters of a saved model."""
    with errors_in_words(debug, json):
        from coterie.cli import predict as command

        command.run(
            model,
            files,
            text,
            out,
            encoding,
            header,
            sheet,
            embedder=embedder,
            out_of_core=out_of_core,
            fail_if_drift=fail_if_drift,
            as_json=json,
            quiet=quiet,
            force=force,
        )


@app.command(
    help=COMMANDS["edit"],
    epilog="All numbers are those of the clusters before the command; afterwards, clusters are numbered by"
    " size again. Words are dropped first, then clusters are merged, split and renamed.",
)
def edit(
    model: Model,
    rename: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="N=NAME", help="Rename a cluster. May be repeated."),
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            "--merge", metavar="N,N", help="Make one cluster of several. May be repeated."
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option("--split", metavar="N=K", help="Split a cluster into K. May be repeated."),
    ] = None,
    drop_words: Annotated[
        str | None,
        typer.Option("--drop-words", metavar="WORDS", help="Words to leave out: please,thanks."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Write a new folder instead of changing MODEL.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Edit a saved model."""
    with errors_in_words(debug, json):
        from coterie.cli import edit as command

        edits = command.Edits.parse(rename or [], merge or [], split or [], drop_words)
        command.run(model, edits, out, as_json=json, quiet=quiet, force=force)


@app.command(help=COMMANDS["info"])
def info(model: Model, json: Json = False, debug: Debug = False) -> None:
    """Show the clusters, settings and notes of a saved model."""
    with errors_in_words(debug, json):
        from coterie.cli import saved

        saved.info(model, as_json=json)


@app.command(help=COMMANDS["report"], epilog="The page is self-contained and needs no network.")
def report(
    model: Model,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PAGE",
            help="The file to write. Default: the name of MODEL with .html, in the current folder.",
        ),
    ] = None,
    texts: Annotated[
        bool, typer.Option(help="Show the texts. --no-texts writes a page without any text.")
    ] = True,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Show the clusters in each value of this column."),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Show the clusters over this column of times."),
    ] = None,
    show: Show = None,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Write the report of a saved model."""
    with errors_in_words(debug):
        from coterie.cli import saved

        by, show = by or [], show or []
        saved.report(model, out, texts=texts, by=by, over=over, show=show, quiet=quiet, force=force)


@app.command(help=COMMANDS["demo"])
def demo(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where to write the table and the report."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Cluster an invented corpus; nothing is downloaded."""
    with errors_in_words(debug):
        from rich.console import Console

        import coterie.demo

        coterie.demo.run(out, Console(highlight=False))
