"""The summary in the terminal: the largest clusters, notes, files written, and what to try next."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coterie._sentence import counted
from coterie.cli.words import duration, in_terms_of_options, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

    from coterie.clustering import Clustering

Parts = Sequence[tuple[str, list[str]]]
SHOWN = 12  # clusters
_WIDTH = 110  # if there is no terminal


def facts(groups: Clustering) -> dict[str, Any]:
    """A clustering as plain data for JSON."""
    return {
        "n_texts": len(groups.rows),
        "n_clusters": groups.n_clusters,
        "n_without_words": int((groups.labels < 0).sum()),
        "text_column": groups.rows.column,
        "converged": groups.converged,
        "reason": groups.reason,
        "seconds": round(groups.seconds, 4),
        "created": groups.created,
        "fingerprint": groups.fingerprint,
        "settings": [{**s._asdict(), "value": _number(s.value)} for s in groups.settings],
        "notes": notes(groups),
        "clusters": groups.clusters.to_dicts(),
        **({} if groups.model.seeds is None else {"seeds": groups.seed_report().to_dicts()}),
    }


def to_json(facts: Any, **how: Any) -> str:
    """Plain data as JSON that any program can read: what is not a finite number becomes null."""
    return json.dumps(_finite(facts), allow_nan=False, **how)


def notes(groups: Clustering) -> list[str]:
    """Notes for the user, in terms of options; writing the table may have added some."""
    later = [note for note in groups.rows.notes if note not in groups.notes]
    return [in_terms_of_options(note) for note in [*groups.notes, *later]]


def show(
    groups: Clustering, said: dict[str, Any], to_stderr: bool = False, parts: Parts = ()
) -> None:
    """Print the summary; `parts` are headings and lines of breakdowns."""
    console = open_console(to_stderr)
    clusters(console, groups, n_texts=said["n_texts"], empty=said["n_without_words"])
    for heading, lines in parts:
        bullets(console, heading, lines)
    if groups.model.seeds is not None:
        report = groups.seed_report().to_text(
            console.width - 4, new=False
        )  # new ones are shown above
        bullets(console, "Seeds", report.splitlines())
    bullets(console, "Trust", trust(groups))
    bullets(console, "Notes", said["notes"])
    if groups.stop is not None and groups.stop.kind in ("interrupted", "time"):
        words = f"{groups.stop.words}; the clusters found so far were kept."
        bullets(console, "Stopped early", [words])
    bullets(console, "Time", [" · ".join(_times(said["stages"]))])
    what = {
        "table": "your rows, with cluster, name, probability, outlier_score and trust",
        "clusters": "names, sizes, words and examples",
        "report": "the report: open it in a browser",
        "model": "for coterie predict, info and report",
    }
    for name in said["paths"]:
        if name.startswith(("by_", "over_", "changes_")):
            what[name] = "groups compared: counts, shares and ratios"
    shown = [(said["paths"][name], about) for name, about in what.items() if name in said["paths"]]
    width = max((len(path) for path, _ in shown), default=0)
    bullets(console, "Written", [f"{path:<{width}}  {about}" for path, about in shown])
    bullets(console, "Not what you need?", how_to_change(groups))


def clusters(
    console: Console,
    groups: Clustering,
    most: int = SHOWN,
    n_texts: int | None = None,
    empty: int | None = None,
) -> None:
    """A heading, and a table of the largest clusters; the numbers of texts are those of the rows."""
    from rich.table import Table
    from rich.text import Text

    empty = int((groups.labels < 0).sum()) if empty is None else empty
    n_texts = len(groups.rows) if n_texts is None else n_texts
    n, missing = groups.n_clusters, groups.n_missing
    said = f"{counted(n_texts, 'text')} in {counted(n - missing, 'cluster')}"
    said += f" ({empty:,} without words: cluster -1)" if empty else ""
    said += f", and {counted(missing, 'seed')} without texts" if missing else ""
    console.print()
    console.print(Text(said, style="bold"))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in ("cluster", "texts", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    # fixed widths: otherwise a long example would squeeze the other columns
    room = max(console.width - 30, 30)
    named = min(max(len(one_line(name)) for name in groups.names[:most]), room * 2 // 5)
    table.add_column("name", no_wrap=True, overflow="ellipsis", width=named)
    table.add_column("example", no_wrap=True, max_width=room - named, style="dim")
    for row in groups.clusters.head(most).iter_rows(named=True):
        example = row["examples"][0] if row["examples"] else ""
        table.add_row(
            str(row["cluster"]),
            f"{row['size']:,}",
            f"{row['share']:.1%}",
            Text(one_line(row["name"])),
            Text(one_line(example)),
        )
    console.print(table)
    if n > most:
        rest = int(groups.model.frozen.size[most:].sum())
        console.print(Text(f"... and {n - most:,} more, with {counted(rest, 'text')}", style="dim"))


def how_to_change(groups: Clustering) -> list[str]:
    """Which numbers of clusters to ask for, if these are too many or too few."""
    from coterie.levels import stops

    n, good = groups.n_clusters, stops(groups.level_rows)
    least = groups.model.urn.seeds.weight.size + 2
    fewer = max([s for s in good if least <= s < n] or [n // 2])
    more = min([s for s in good if s > n] or [2 * n])
    lines = [f"For fewer, broader clusters: --clusters {fewer}"] if fewer >= least else []
    return [*lines, f"For more, finer clusters: --clusters {more}"]


def trust(groups: Clustering) -> list[str]:
    """How many clusters several runs agree on, and which they do not."""
    from coterie.levels import DOUBT

    sure = groups.cluster_trust
    known = int((sure >= 0.0).sum())
    if not known:
        return []
    doubtful = [k for k in range(groups.n_clusters) if sure[k] < DOUBT]
    if not doubtful:
        return [f"All {known} clusters were found again in other runs."]
    names = ", ".join(f"{k} ({one_line(groups.names[k], 40)})" for k in doubtful[:6])
    more = ", ..." if len(doubtful) > 6 else ""
    return [
        f"{known - len(doubtful)} of {counted(known, 'cluster')} were found again in other runs.",
        f"Doubt {'this one' if len(doubtful) == 1 else f'these {len(doubtful)}'}: {names}{more}",
    ]


def open_console(to_stderr: bool = False) -> Console:
    """Open the console; it writes plain text if the stream is not a terminal."""
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)


def bullets(console: Console, heading: str, lines: list[str]) -> None:
    """Print a heading with lines under it; control characters in all of it are made visible."""
    from rich.padding import Padding
    from rich.text import Text

    if not lines:
        return
    console.print()
    console.print(Text(str(printable(heading)), style="bold"))
    for line in lines:
        console.print(Padding(Text(str(printable(line))), (0, 0, 0, 2), expand=False))


def _times(stages: dict[str, float]) -> list[str]:
    """The stages that took at least 2% of the time, and the total."""
    total = sum(stages.values())
    shown = [(name, t) for name, t in stages.items() if t >= 0.02 * total or name == "report"]
    return [*(f"{name} {duration(t)}" for name, t in shown), f"{duration(total)} in total"]


def _number(value: str) -> float | int | str:
    """A setting as a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
