"""Cluster support tickets, and write a table and a report.

    python examples/tickets.py [folder]

The tickets are invented. Instead of `datasets.tickets(300)`, pass a table of your own or the name of
your file to `cluster()`.
"""

import sys
from pathlib import Path

import coterie
from coterie import datasets


def main(folder: Path) -> None:
    """Cluster the tickets, print the clusters, write `tickets.csv` and `report.html`."""
    groups = coterie.cluster(datasets.tickets(300), text="body", random_state=0)
    for row in groups.clusters.iter_rows(named=True):
        print(f"{row['size']:4} tickets: {row['name']}")
        print(f"     example: {row['examples'][0]}")

    folder.mkdir(parents=True, exist_ok=True)
    groups.table.write_csv(folder / "tickets.csv")  # your columns, cluster, probability, ...
    groups.report(folder / "report.html", title="Tickets", by="channel", over="created_at")
    print(f"Written: {folder / 'tickets.csv'} and {folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "tickets"))
