"""Whole runs give what they gave: the judge of every change that is meant to move code only."""

import json
import sys
from typing import Any

import pytest
from frozen_cases import RUNS, STORED, digests

FROZEN = json.loads(STORED.read_text(encoding="utf-8"))


def test_all_runs_are_frozen() -> None:
    assert list(FROZEN) == list(RUNS)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the digests are of runs on Linux")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_what_it_gave(name: str, monkeypatch: Any) -> None:
    if "ask" in name:
        pytest.importorskip("distributed", reason="needs coterie[dask]")
    monkeypatch.setenv("COLUMNS", "110")
    assert digests(name) == FROZEN[name]
