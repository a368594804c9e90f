"""Cluster support tickets, and write a table and a report.

    python examples/tickets.py [folder]

The tickets are invented. Replace `make_tickets()` with `polars.read_csv("tickets.csv")`, or pass the
name of your file to `cluster()`.
"""

import random
import sys
from pathlib import Path

import polars as pl

import coterie

WORDS = {
    "delivery": "parcel courier tracking address doorstep depot driver van late",
    "payment": "invoice refund card bank receipt transfer charged twice fee",
    "login": "password account code email link username locked reset browser",
}


def make_tickets(n: int = 300) -> pl.DataFrame:
    """A table with one ticket per row."""
    rng = random.Random(0)
    chosen = [rng.choice(list(WORDS)) for _ in range(n)]
    texts = [" ".join(rng.sample(WORDS[name].split(), 5)) for name in chosen]
    return pl.DataFrame({"ticket": range(1000, 1000 + n), "message": texts})


def main(folder: Path) -> None:
    """Cluster the tickets, print the clusters, write `tickets.csv` and `report.html`."""
    groups = coterie.cluster(make_tickets(), text="message", random_state=0)
    for row in groups.clusters.iter_rows(named=True):
        print(f"{row['size']:4} tickets: {row['name']}")
        print(f"     example: {row['examples'][0]}")

    folder.mkdir(parents=True, exist_ok=True)
    groups.table.write_csv(folder / "tickets.csv")  # your columns, cluster, probability, ...
    groups.report(folder / "report.html", title="Tickets")
    print(f"Written: {folder / 'tickets.csv'} and {folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "tickets"))
