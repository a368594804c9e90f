"""`coterie info` and `coterie report`: what a saved model holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from coterie.cli import places, sources, summary
from coterie.cli.words import tame


def info(model: Path, *, as_json: bool) -> None:
    """Texts, clusters, settings and notes."""
    groups = sources.open_model(model)
    facts = summary.facts(groups)
    facts["n_words"] = len(groups.vectorizer.words)
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
        return
    console = summary.open_console()
    summary.clusters(console, groups)
    width = max((len(s.name) for s in groups.settings), default=0)
    settings = [f"{s.name:<{width}}  {s.value:>6}  {s.why}" for s in groups.settings]
    summary.bullets(console, "Settings", settings)
    words = (
        f"{facts['n_words']:,} words; the texts were those of the column {facts['text_column']!r}."
    )
    summary.bullets(console, "Notes", [words, *facts["notes"]])
    summary.bullets(console, "How it ended", [groups.reason])


def report(model: Path, out: Path | None, *, quiet: bool, force: bool) -> None:
    """Write the page."""
    folder = sources.model_folder(model).resolve()
    around = folder.parent if folder.name == "model" else folder
    name = around.name.removesuffix(".coterie") or "report"
    target = out if out is not None else Path(f"{name}.html")
    places.check(target, force)
    groups = sources.open_model(model)
    target.parent.mkdir(parents=True, exist_ok=True)
    groups.report(target, title=name)
    if not quiet:
        sys.stderr.write(f"Written to {tame(str(target))}: open it in a browser.\n")
