"""`coterie info` and `coterie report`: show a saved model, or write its report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli import places, sources, streams, summary
from coterie.cli.finishing import finishing
from coterie.cli.words import printable

if TYPE_CHECKING:
    from coterie.clustering import Clustering


def info(model: Path, *, as_json: bool) -> None:
    """Print clusters, settings and notes."""
    streams.check_output("the description of the model")
    groups = sources.open_model(model)
    facts = summary.facts(groups)
    facts["n_words"] = len(groups.vectorizer.words)
    with streams.printing([]):
        if as_json:
            sys.stdout.write(summary.to_json(facts) + "\n")
        else:
            _show(groups, facts)


def _show(groups: Clustering, facts: dict[str, Any]) -> None:
    console = summary.open_console()
    summary.clusters(console, groups)
    width = max((len(s.name) for s in groups.settings), default=0)
    settings = [f"{s.name:<{width}}  {s.value:>6}  {s.why}" for s in groups.settings]
    summary.bullets(console, "Settings", settings)
    column = facts["text_column"]
    column_note = [] if column is None else [f"The texts were read from the column {column!r}."]
    summary.bullets(console, "Notes", [*column_note, *facts["notes"]])
    summary.bullets(console, "Why sampling stopped", [groups.reason])
    made = f"{groups.created or 'at an unknown time'}, from texts with the fingerprint"
    summary.bullets(console, "Created", [f"{made} {groups.fingerprint}"])


def report(
    model: Path,
    out: Path | None,
    *,
    texts: bool,
    by: list[str],
    over: str | None,
    show: list[str],
    quiet: bool,
    force: bool,
) -> None:
    """Write the report."""
    folder = sources.model_folder(model).resolve()
    around = folder.parent if folder.name == "model" else folder
    name = around.name.removesuffix(".coterie") or "report"
    target = out if out is not None else Path(f"{name}.html")
    place = places.for_file(target, force, [folder])
    found: list[Clustering] = []
    with finishing([place], lambda: bool(found)), place:
        found.append(sources.open_model(model))
        target = place.write(
            lambda fresh: found[0].report(
                fresh, title=name, texts=texts, by=by, over=over, columns=show
            )
        )
        if not quiet:
            sys.stderr.write(f"Report written to {printable(str(target))}. Open it in a browser.\n")
