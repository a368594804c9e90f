"""The demo: clusters an invented inbox, writes the results, and compares them with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.demo.corpus import make_messages
from coterie.demo.synthetic import make_corpus
from coterie.errors import InvalidInput

__all__ = ["make_corpus", "make_messages", "run"]

N_SHOWN = 25


def run(out: Path | None, console: Any, n: int = 4000) -> None:
    """Cluster the messages, print the clusters, write table and report to `out`."""
    import polars as pl
    from rich.markup import escape
    from rich.table import Table

    from coterie import metrics
    from coterie._disk import write_atomically
    from coterie.grouping import cluster
    from coterie.report.clean import printable
    from coterie.trace import Progress

    out = out if out is not None else Path("coterie-demo")
    _check_free(out)
    texts, known, languages = make_messages(n)
    messages = pl.DataFrame({"message": texts, "known_group": known, "language": languages})
    console.print(f"\n{len(texts):,} invented messages to the service desk of a small town.\n")
    groups = cluster(messages, text="message", callbacks=[Progress()])
    table = Table("cluster", "texts", "name", "example", title="Clusters")
    for row in groups.clusters.head(N_SHOWN).iter_rows(named=True):
        example = str(printable(row["examples"][0] if row["examples"] else ""))
        example = example if len(example) <= 60 else example[:57] + "..."
        table.add_row(str(row["cluster"]), f"{row['size']:,}", escape(row["name"]), escape(example))
    console.print(table)
    if groups.n_clusters > N_SHOWN:
        console.print(f"... and {groups.n_clusters - N_SHOWN} smaller clusters.")
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / "messages.csv", groups.table.write_csv().encode())
    groups.report(out / "report.html", title="A town's inbox")
    groups.save(out / "model")
    belongs = [i for i, group in enumerate(known) if not group.startswith("(")]
    truth = [known[i] for i in belongs]
    found = groups.labels[belongs]
    console.print(
        f"\nThe messages were written for {len(set(truth))} known groups. The {groups.n_clusters}"
        f" clusters agree with them to NMI {metrics.nmi(truth, found):.3f}, ARI"
        f" {metrics.ari(truth, found):.3f} (1 is perfect).\n"
    )
    console.print(
        f"Written: {out / 'messages.csv'}, {out / 'report.html'} (open it in a browser), {out / 'model'}"
    )
    console.print(
        "Try next:\n"
        f"  coterie fit {out / 'messages.csv'} --text message --beta 2     (fewer, broader clusters)\n"
        "  coterie fit your.csv --text your_column                          (your own texts)"
    )


def _check_free(out: Path) -> None:
    """Refuse a folder that holds anything but the output of an earlier demo."""
    inside = {path.name for path in out.iterdir()} if out.is_dir() else set()
    table = out / "messages.csv"
    ours = not inside or (
        inside <= {"messages.csv", "report.html", "model"}
        and table.is_file()
        and table.read_bytes()[:29] == b"message,known_group,language,"
    )
    if not ours or (out.exists() and not out.is_dir()):
        raise InvalidInput(
            f"{out} already exists and is not the output of an earlier demo. Name another folder with -o."
        )
