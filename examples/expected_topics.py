"""Pass the topics you expect, and see which texts they find and which other clusters there are.

    python examples/expected_topics.py

The answers, in German, are invented. A topic is a list of words, a text, or some example texts.
"""

import coterie
from coterie import datasets

EXPECTED = {
    "Kantine": ["Kantine", "Essen", "Mittagessen"],
    "Weg zur Arbeit": "ein Parkplatz für das Auto oder ein Stellplatz für das Fahrrad",
}


def main() -> None:
    """Cluster the answers with the expected topics, and print what became of each topic."""
    answers = datasets.survey_de(300)
    groups = coterie.cluster(answers, text="antwort", seeds=EXPECTED, random_state=0)
    for row in groups.clusters.iter_rows(named=True):
        origin = "expected" if row["name"] in EXPECTED else "new"
        print(f"{row['size']:4} answers, {origin}: {row['name']}")
    print()
    print(groups.seed_report())


if __name__ == "__main__":
    main()
