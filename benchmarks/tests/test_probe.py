"""What a command takes is its own, not that of the process that starts it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.harness.probe import CannotLimit, ran


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say what a process took")
def test_the_memory_of_a_command_is_its_own(tmp_path: Path) -> None:
    held = np.ones(2**25)  # 256 MB
    found = ran(["-c", "print('ab' * 3)"], tmp_path)
    assert found.printed == b"ababab\n"
    assert 1 < found.peak_mb < 100
    assert held.sum() == 2**25


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say what a process took")
def test_the_memory_of_a_command_is_all_of_it(tmp_path: Path) -> None:
    assert ran(["-c", "a = b'x' * 200_000_000"], tmp_path).peak_mb > 190


def test_a_command_is_refused_the_memory_that_it_may_not_have(tmp_path: Path) -> None:
    held = "a = b'x' * {0}; print(len(a))"
    try:
        assert ran(["-c", held.format(10**7)], tmp_path, 10**8).printed == b"10000000\n"
    except CannotLimit as problem:
        pytest.skip(str(problem))
    with pytest.raises(subprocess.CalledProcessError):
        ran(["-c", held.format(2 * 10**8)], tmp_path, 10**8)
