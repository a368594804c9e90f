"""Every command of README and docs runs, in the order of its page."""

import io
import random
import shlex
import sys
from pathlib import Path

import pytest
from test_docs import PAGES, ROOT, blocks

from coterie.cli import main

KINDS = [
    "card lost stolen block plastic", "exchange rate currency euro dollar",
    "password login code username reset", "bread flour oven yeast dough",
    "bike wheel gear saddle chain", "comet planet orbit moon star",
    "train late ticket station delay", "invoice refund amount charged twice",
]  # fmt: skip
WITH_COMMANDS = [
    page for page in PAGES if any("coterie " in code for _, code in blocks(page, "sh"))
]


def texts(n: int = 160) -> list[str]:
    draw = random.Random(4)
    return [" ".join([*draw.choices(KINDS[i % 8].split(), k=5), "please thanks"]) for i in range(n)]


def prepare() -> None:
    """The files that the pages speak of."""

    def put(name: str, header: str, row: str) -> None:
        rows = [
            row.format(text=text, i=i, day=1 + i % 28, channel=("phone", "mail")[i % 2])
            for i, text in enumerate(texts())
        ]
        lines = [header, *rows] if header else rows
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    for name in ("reviews.csv", "new.csv", "tuesday.csv"):
        put(name, "id,body", "k{i},{text}")
    put("tickets.csv", "created_at,channel,body", "2024-03-{day:02},{channel},{text}")
    for name in ("tickets-january.csv", "tickets-february.csv"):
        put(name, "title,body", "a title,{text}")
    put("survey.csv", "Timestamp,What did you like most about our service?", "2024/01/02,{text}")
    put("lines.csv", "", "{text}")
    put("titles.txt", "", "{text}")
    Path("topics.csv").write_text("name,words\ncards,card stolen\nrates,exchange rate\n")
    words = sorted({word for kind in KINDS for word in kind.split()})
    vectors = [f"{word} {i % 7}.5 {i % 5}.25 1.0" for i, word in enumerate(words)]
    Path("glove.txt").write_text("\n".join(vectors) + "\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_commands_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare()
    lines = [line for _, code in blocks(page, "sh") for line in code.splitlines()]
    lines = [line for line in lines if "coterie " in line and "coterie demo" not in line]
    if "coterie fit reviews.csv" not in " ".join(lines) and " reviews" in " ".join(lines):
        assert (
            main(["fit", "reviews.csv", "--text", "body", "-o", "reviews", "--clusters", "8"]) == 0
        )
    for line in lines:
        words = shlex.split(line, comments=True)
        given = Path(words[1]).read_bytes() if words[0] == "cat" else b""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        called = words[words.index("coterie") + 1 :]
        again = [] if called[0] == "info" or "--force" in called else ["--force"]
        code = main([*called, *again])
        assert code == 0, f"{line}: {capfd.readouterr().err}"
