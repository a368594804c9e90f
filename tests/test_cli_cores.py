"""`coterie fit` uses all cores: the clusters do not depend on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coterie import grouping
from coterie.cli import main


def test_fit_asks_for_all_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("red apple pie\napple pie recipe\nfast car race\ncar race\n", encoding="utf-8")
    asked: list[Any] = []
    cluster = grouping.cluster

    def noted(*arguments: Any, **options: Any) -> Any:
        asked.append(options["n_jobs"])
        return cluster(*arguments, **options)

    monkeypatch.setattr(grouping, "cluster", noted)
    table = str(tmp_path / "table.csv")
    assert main(["fit", str(file), "-o", table, "--quiet", "--embedder", "none"]) == 0
    assert asked == [-1]
