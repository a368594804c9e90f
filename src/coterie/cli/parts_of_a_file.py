"""`coterie fit` of files that are read in parts, here or by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie._sentence import example
from coterie.cli import places
from coterie.cli.light import import_estimators
from coterie.cli.progress import Stages
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.large.clustering import Large
    from coterie.large.on_dask import OnWorkers
    from coterie.text._which_files import Need


def why_wanted(file: str | list[Path], out_of_core: bool, dask: bool) -> str:
    """Why to read the file in parts, as the beginning of a sentence; "" for reading it at once."""
    if dask:
        return "With --dask, workers read the file in parts"
    from coterie.text._which_files import FIT

    return _why(file, out_of_core, FIT)


def why_predicted(file: str | list[Path], out_of_core: bool, model: Path) -> str:
    """The same of `coterie predict`, which has the model in memory as well."""
    from coterie.text._which_files import PREDICT

    size = sum(path.stat().st_size for path in model.glob("*"))
    return _why(file, out_of_core, PREDICT, 2 * size)


def _why(file: str | list[Path], out_of_core: bool, needs: Sequence[Need], more: int = 0) -> str:
    if out_of_core:
        return "With --out-of-core, the file is read in parts"
    from coterie.text._which_files import too_large_for_memory

    is_large = file != "-" and too_large_for_memory(file, needs, more)
    return "The file is too large for memory and is read in parts" if is_large else ""


def check_dask(kind: str, options: dict[str, Any]) -> None:
    """Refuse files that workers cannot read a stretch of, and options for other files."""
    if kind != "parquet":
        raise InvalidInput(
            "--dask reads parquet files, as in 'big/*.parquet'. For other files, use --out-of-core, which"
            " needs no cluster."
        )
    for name in ("header", "encoding"):
        if options[name] is not None:
            raise InvalidInput(
                example(name, options[name]) + " has no effect on parquet files. Leave it out."
            )


def check(why: str, target: str, format: str | None, kind: str, whole: dict[str, Any]) -> None:
    """Refuse what needs the whole table at once; `whole` are such options, and whether they are given.

    `why` the file is read in parts is the beginning of a sentence.
    """
    if target == "-":
        raise InvalidInput(
            f"{why}, so the table cannot be written to standard output. Name a file or a folder with -o."
        )
    check_options(why, whole)
    if {format or kind, places.kind_of(target) or kind} != {kind}:
        raise InvalidInput(f"{why}, so the table must be {kind} as well.")


def check_options(why: str, whole: dict[str, Any]) -> None:
    """Refuse options that need the whole table at once, if they are given."""
    given = [option for option, value in whole.items() if value]
    if given:
        raise InvalidInput(f"{why}, so {given[0]} does not work. Leave it out.")


def cluster(
    file: Any, given: dict[str, Any], stages: Stages, folder: Path, client: Any = None
) -> Large | OnWorkers:
    """Cluster the file; its words are kept in `folder`, or by the workers of a Dask client."""
    stages.enter("starting")
    import polars  # noqa: F401  count loading polars as starting, not as reading

    import_estimators()
    from coterie.large.clustering import defaults, fit_large
    from coterie.large.settings import asked

    how = {**given, "n_jobs": -1, "callbacks": [stages.sweep], "on_stage": stages.enter}
    how["on_progress"] = partial(stages.part, unit="texts" if client is None else "partitions")
    what = asked({**defaults(), "data": file, "out": None, **how})
    large: Large | OnWorkers
    if client is None:
        large = fit_large(what, folder)
    else:
        from coterie.large.on_dask import Partitions, fit_dask

        stages.enter("reading")
        large = fit_dask(what, Partitions.of_files(what, client))
    stages.enter("describing")
    _ = large.groups.added, large.groups.clusters
    return large


def facts(large: Large | OnWorkers | None) -> dict[str, Any]:
    """What `--json` and run.json say of the whole file, instead of the sample."""
    if large is None:
        return {}
    return {
        "n_texts": large.n_texts,
        "n_without_words": large.n_without_words,
        "n_sampled": len(large.groups.rows),
    }
