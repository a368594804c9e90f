"""The attacks of `make fuzz`, a few cases of each, and that they would notice."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.trust import cases, inputs, kills, models, races

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("attack", "n"),
    [(models.folder, 150), (models.saved_run, 40), (inputs.matrix, 300), (inputs.knowledge, 80)],
    ids=["folders", "checkpoints", "matrices", "vectors"],
)
def test_nothing_is_believed(attack: Callable[[int, int], str], n: int) -> None:
    verdicts = [attack(number, 20261115) for number in range(n)]
    assert [(i, v) for i, v in enumerate(verdicts) if v not in cases.GOOD] == []
    assert "refused" in verdicts
    assert "fine" in verdicts


def odd_case(number: int, seed: int) -> str:
    if number == 1:
        os.kill(os.getpid(), 9)
    if number == 2:
        raise KeyError("raw")
    if number == 3:
        time.sleep(60)
    return "wrong labels" if number == 4 else cases.GOOD[number % 2]


def test_the_harness_counts_crashes_hangs_and_raw_exceptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    monkeypatch.setattr(cases, "LIMIT", 1.0)
    monkeypatch.chdir(ROOT)
    row = cases.run("test_trust:odd_case", 8, children=1)
    counts = {key: row[key] for key in ("fine", "refused", "wrong", "raw", "crash", "hang")}
    assert counts == {"fine": 2, "refused": 2, "wrong": 1, "raw": 1, "crash": 1, "hang": 1}
    assert len(row["failures"]) == 4


def test_array_indices_are_checked_when_asked(tmp_path: Path) -> None:
    """`make test-bounds` would otherwise pass whatever the kernels do."""
    code = (
        "import numpy as np\n"
        "from coterie.kernels import tally\n"
        "try:\n"
        "    tally.has_repeats(np.array([0, 2]), np.array([9, 3], np.int32), np.full(4, -1))\n"
        "except IndexError:\n"
        "    print('noticed')\n"
    )
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "noticed\n"


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@needs_fork
@pytest.mark.slow
def test_kills() -> None:
    found = kills.measure(10)
    assert found["kills"] == 10
    assert found["failures"] == []
    assert found["lost"] == found["changed"] == found["leftovers"] == 0


@needs_fork
@pytest.mark.slow
def test_races() -> None:
    found = races.measure(4)
    assert found["races"] == 4
    assert found["failures"] == []
    assert found["lost"] == found["tracebacks"] == found["leftovers"] == 0
