"""The largest clusters of reddit titles, before and now."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.engine import levels


def test_the_shares_of_the_largest_three_are_shown_side_by_side() -> None:
    rows = {
        levels.BEFORE: {"texts": 20_000, "above 2": 4, "largest": [0.4, 0.2, 0.1, 0.05]},
        levels.SHARES: {"texts": 20_000, "above 2": 9, "largest": [0.04, 0.02, 0.01]},
    }
    text = levels.table(rows)
    assert "| before (commit 2aac04e) | 20,000 | 4 | 70% |" in text
    assert "| now | 20,000 | 9 | 7% |" in text


def test_titles_are_evenly_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    import coterie

    class Groups:
        model = type("Model", (), {"frozen": type("Frozen", (), {"size": np.array([1, 5, 4])})})

    asked = []
    monkeypatch.setattr(levels, "TITLES", 10)
    monkeypatch.setattr(levels, "texts_of", lambda name: [{"text": str(i)} for i in range(25)])
    monkeypatch.setattr(
        coterie, "cluster", lambda texts: asked.extend(texts) or Groups, raising=False
    )
    assert levels._shares() == {"texts": 10, "above 2": 2, "largest": [0.5, 0.4, 0.1]}
    assert asked == [str(i) for i in range(0, 20, 2)]
