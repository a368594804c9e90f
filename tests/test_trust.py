"""Small versions of the measurements in benchmarks/trust."""

import os

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")
from benchmarks.trust import kills, races

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL"),
]


def test_kills() -> None:
    found = kills.measure(14)
    assert found["kills"] == 14
    assert found["failures"] == []
    assert found["lost"] == found["changed"] == found["leftovers"] == 0


def test_races() -> None:
    found = races.measure(4)
    assert found["races"] == 4
    assert found["failures"] == []
    assert found["lost"] == found["tracebacks"] == found["leftovers"] == 0
