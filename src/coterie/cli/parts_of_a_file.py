"""`coterie fit` of a file that is read in parts, because it does not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli import places
from coterie.cli.progress import Stages
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.large.clustering import Large


def wanted(file: str | list[Path], asked: bool) -> bool:
    """Whether to read the file in parts: as asked, or because it does not fit into memory."""
    if asked:
        return True
    from coterie.text.batches import too_large_for_memory

    return file != "-" and too_large_for_memory(file)


def check(target: str, format: str | None, kind: str, whole: dict[str, Any]) -> None:
    """Refuse what needs the whole table at once; `whole` are such options, and whether they are given."""
    why = "A file that is read in parts (--out-of-core, or too large for memory)"
    if target == "-":
        raise InvalidInput(
            f"{why} cannot be written to standard output. Name a file or a folder with -o."
        )
    given = [option for option, value in whole.items() if value]
    if given:
        raise InvalidInput(
            f"{given[0]} does not work for a file that is read in parts. Leave it out."
        )
    if {format or kind, places.kind_of(target) or kind} != {kind}:
        raise InvalidInput(f"{why} keeps its type, so the table must be {kind}.")


def cluster(file: Any, given: dict[str, Any], stages: Stages, folder: Path) -> Large:
    """Cluster the file; its words are kept in `folder`."""
    stages.enter("starting")
    import polars  # noqa: F401  count loading polars as starting, not as reading

    from coterie.large.clustering import defaults, fit_large

    large = fit_large(
        file,
        folder=folder,
        **{
            **defaults(),
            "out": None,
            **given,
            "n_jobs": -1,
            "callbacks": [stages.sweep],
            "on_stage": stages.enter,
        },
    )
    stages.enter("describing")
    _ = large.groups.added, large.groups.clusters
    return large


def facts(large: Large | None) -> dict[str, Any]:
    """What `--json` and run.json say of the whole file, instead of the sample."""
    if large is None:
        return {}
    return {
        "n_texts": large.n_texts,
        "n_without_words": large.n_without_words,
        "n_sampled": len(large.groups.rows),
    }
