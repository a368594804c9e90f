"""`coterie edit`: changes clusters of a saved model, and the table, clusters and report beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.cli import fit, places, records, sources, streams, summary
from coterie.cli.finishing import finishing
from coterie.cli.progress import Stages
from coterie.cli.words import printable
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.breakdown import Breakdown
    from coterie.clustering import Clustering


class Edits(NamedTuple):
    """What to change, by the numbers that the clusters have before."""

    rename: dict[int, str]
    merge: list[list[int]]
    split: dict[int, int]
    drop_words: list[str]

    @staticmethod
    def parse(rename: list[str], merge: list[str], split: list[str], words: str | None) -> Edits:
        """Read the options; a mistake is one sentence."""
        renamed = {_number("--rename", k): name for k, name in map(_pair("--rename"), rename)}
        merged = [[_number("--merge", k) for k in group.split(",")] for group in merge]
        parts = {
            _number("--split", k): _number("--split", n) for k, n in map(_pair("--split"), split)
        }
        dropped = [w.strip() for w in words.split(",") if w.strip()] if words else []
        found = Edits(renamed, merged, parts, dropped)
        if not any(found):
            raise InvalidInput(
                "There is nothing to change. Use --rename 3=Cards, --merge 3,7, --split 5=2 or"
                " --drop-words please,thanks."
            )
        twice = [k for group in merged for k in group] + list(parts)
        if len(twice) != len(set(twice)):
            raise InvalidInput("A cluster can only be merged or split once in one command.")
        return found

    def apply(self, groups: Clustering) -> None:
        """Change the groups. Clusters are followed by a text of theirs, since numbers change."""
        for k in [*self.rename, *self.split, *(k for group in self.merge for k in group)]:
            groups.representatives(k, 1)  # refuses a cluster that is not there
        at = {k: int((groups.labels == k).nonzero()[0][0]) for k in self._clusters(groups)}
        if self.drop_words:
            groups.drop_words(self.drop_words)
        for group in self.merge:
            groups.merge([int(groups.labels[at[k]]) for k in group])
        for k, n in self.split.items():
            groups.split(int(groups.labels[at[k]]), n)
        for k, name in self.rename.items():
            groups.rename(int(groups.labels[at[k]]), name)

    def _clusters(self, groups: Clustering) -> list[int]:
        named = {*self.rename, *self.split, *(k for group in self.merge for k in group)}
        empty = [k for k in named if not (groups.labels == k).any()]
        if empty:
            raise InvalidInput(f"Cluster {empty[0]} has no texts, so it cannot be changed.")
        return sorted(named)


def run(
    model: Path, edits: Edits, out: Path | None, *, as_json: bool, quiet: bool, force: bool
) -> None:
    """Change a saved model, or write a changed copy."""
    folder = sources.model_folder(model).resolve()
    around = folder.parent if (folder.parent / places.RUN).exists() else None
    if as_json:
        streams.check_output("the result")
    target = out if out is not None else around or folder
    whole = around is not None or out is not None
    make = places.for_run if whole else places.for_model
    place = make(target, force or out is None)
    before = records.read(around) if around is not None else {}
    stages = Stages(quiet or as_json)
    found: list[Clustering] = []
    with finishing([place], lambda: bool(found)), place:
        groups = sources.open_model(model)
        if whole and groups.of_sample:
            raise InvalidInput(
                f"The model in {folder} has a sample of the texts, so the table of all of them cannot be"
                " written from it. Rename clusters in Python (coterie.load, rename, save), then use"
                " coterie predict; for other changes, run coterie fit again."
            )
        if around is not None and out is None and not force:
            _check_unchanged(around, before)
        edits.apply(groups)
        found.append(groups)
        paths = {"model": str(target)}
        if whole:
            kind = "csv" if around is None else _kind(before, around)
            title = (around or folder).name.removesuffix(".coterie")
            options = before.get("options")
            options = options if isinstance(options, dict) else {}
            per_group = options.get("per_group") is True
            per_group |= around is not None and (around / places.GROUPS).is_dir()
            parts, show = _asked(groups, before)
            result = fit.Result(groups, parts, kind, title, per_group, show, options)
            paths = fit.write_folder(result, place, {}, stages)
        else:
            place.write(groups.save)
        stages.close()
    notes = list(groups.rows.lost)
    if around is not None and out is not None and "files" in before:
        notes += [
            f"{around / name} was changed since coterie wrote it; {target} does not have these changes."
            for name in records.changed(around, before)[:1]
        ]
    with streams.printing([place.written]):
        if as_json:
            facts = {**summary.facts(groups), "edits": groups.edits, "paths": paths}
            sys.stdout.write(summary.to_json(facts) + "\n")
        elif not quiet:
            console = summary.open_console()
            summary.clusters(console, groups)
            summary.bullets(console, "Edits", groups.edits)
            summary.bullets(console, "Notes", notes)
            summary.bullets(console, "Written", [printable(str(target))])


def _check_unchanged(folder: Path, run: dict[str, Any]) -> None:
    """Refuse to replace files in which somebody has worked since coterie wrote them."""
    if "files" not in run:
        raise InvalidInput(
            f"{folder} was written by an earlier version of coterie, which did not keep the cells of its"
            " table exactly, nor how to tell whether it was changed since. Run coterie fit again, write a"
            " new folder with -o, or use --force to replace all files."
        )
    if changed := records.changed(folder, run):
        raise InvalidInput(
            f"{folder / changed[0]} was changed since coterie wrote it, and an edit would replace it. Move"
            " it to another folder to keep it, write a new folder with -o, or use --force."
        )


def _kind(run: dict[str, Any], folder: Path) -> str:
    """The file type of the table that an earlier run wrote."""
    try:
        name = str(run["paths"]["table"])
    except (KeyError, TypeError):
        name = next((path.name for path in sorted(folder.glob("table.*"))), "")
    return places.kind_of(name) or "csv"


def _asked(groups: Clustering, run: dict[str, Any]) -> tuple[list[Breakdown], list[str]]:
    """The breakdowns of an earlier run, of the groups as they are now, and the columns it showed."""
    try:
        asked = [(str(p["column"]), p.get("every")) for p in run.get("breakdowns", [])]
        show = [str(column) for column in run.get("show", [])]
    except (TypeError, KeyError, AttributeError):
        return [], []
    columns = set(groups.rows.frame.columns)
    parts = [
        groups.over(column, every) if every else groups.by(column)
        for column, every in asked
        if column in columns
    ]
    return parts, [column for column in show if column in columns]


def _pair(option: str) -> Any:
    def parse(given: str) -> tuple[str, str]:
        before, sign, after = given.partition("=")
        if not sign or not after.strip():
            example = "3=Cards" if option == "--rename" else "5=2"
            raise InvalidInput(f"{option} {given} is not complete. Write it as {option} {example}.")
        return before, after.strip()

    return parse


def _number(option: str, given: str) -> int:
    try:
        return int(given)
    except ValueError:
        raise InvalidInput(
            f"{option} takes numbers of clusters, but {given.strip()!r} is not one."
        ) from None
