"""Pass the topics you expect, and see which texts they find and which other clusters there are.

    python examples/expected_topics.py

The survey answers are invented. A topic is a list of words, a text, or some example texts.
"""

import random

import coterie

WORDS = {
    "food": "soup bread vegetarian canteen menu lunch portion salad kitchen",
    "travel": "train bicycle parking bus ticket commute station garage road",
    "noise": "loud phone open office headphones meeting corridor quiet door",
}

EXPECTED = {
    "Canteen": ["lunch", "menu", "canteen"],
    "Getting to work": "the commute by train, by bus or by bicycle",
}


def make_answers(n: int = 240) -> list[str]:
    """Answers to the question of what should be improved."""
    rng = random.Random(1)
    return [" ".join(rng.sample(WORDS[rng.choice(list(WORDS))].split(), 5)) for _ in range(n)]


def main() -> None:
    """Cluster the answers with the expected topics, and print what became of each topic."""
    groups = coterie.cluster(make_answers(), seeds=EXPECTED, random_state=0)
    for row in groups.clusters.iter_rows(named=True):
        origin = "expected" if row["name"] in EXPECTED else "new"
        print(f"{row['size']:4} answers, {origin}: {row['name']}")
    print()
    print(groups.seed_report())


if __name__ == "__main__":
    main()
