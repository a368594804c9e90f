"""What a user is told about seeds that found nothing, or whose words are not kept, is true."""

from pathlib import Path

import pytest

import coterie
from coterie.cli import main

TEXTS = [
    "oven bread dough",
    "bread dough bake",
    "bike ride gear",
    "gear bike hill",
    "bread oven",
] * 4
MANY = {f"seed {i}": {"hill": 1000 + i} for i in range(30)} | {"Baking": ["bread", "oven"]}


def test_empty_seeds_are_not_counted_as_clusters_in_use(tmp_path: Path) -> None:
    groups = coterie.cluster(TEXTS, seeds=MANY, language=None)
    used = int((groups.model.frozen.size > 0).sum())
    assert groups.n_missing == groups.n_clusters - used >= 20
    first = groups.summary().splitlines()[0]
    assert first.startswith(f"20 texts in {used} clusters, and {groups.n_missing} seeds without")
    assert not any("are in use" in note for note in groups.notes)
    page = groups.report(tmp_path / "page.html").read_text()
    assert f"{used} clusters in 20 texts" in page


def test_a_cap_that_leaves_no_room_beside_the_seeds_is_said() -> None:
    groups = coterie.cluster(TEXTS, seeds=MANY, language=None, max_clusters=len(MANY))
    assert any("0 of at most 0 clusters beside the seeds" in note for note in groups.notes)


def test_a_word_that_was_pruned_is_not_said_to_be_in_no_text() -> None:
    texts = [*TEXTS, "gear hill zebra"]
    seeds = {"Zoo": ["zebra", "hill"], "Bikes": ["bike", "unicorn"]}
    groups = coterie.cluster(texts, seeds=seeds, min_df=2, language=None)
    said = next(note for note in groups.notes if "Words of seeds" in note)
    assert "or that are not kept: zebra (Zoo), and of 1 other seed;" in said


def test_the_terminal_suggests_only_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("\n".join(TEXTS))
    lines = [f"seed {i}: {{hill: {1000 + i}}}" for i in range(30)]
    Path("topics.yaml").write_text("\n".join([*lines, "Baking: {words: [bread, unicorn]}"]))
    assert main(["fit", "texts.txt", "--seeds", "topics.yaml", "--language", "none"]) == 0
    said = capsys.readouterr()
    shown = said.out + said.err
    assert "seeds without texts" in shown
    assert "--n-clusters" not in shown  # fewer than the seeds would be refused
    assert "seed_report()" not in shown
    assert main(["fit", "texts.txt", "--seed-weight", "2", "-o", "other"]) == 1
    assert "--seeds" in capsys.readouterr().err
