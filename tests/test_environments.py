"""The same labels in every environment: the table of docs/howto/same-result.md, tried.

One process for each environment makes all the runs of `environment_cases`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import environment_cases
import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent

# A seed means these labels in every environment. A change here is a change of results: it belongs in
# the CHANGELOG, with the version in which it happened.
GOLDEN = {
    "gibbs": "d5a0cfd210fa1891",
    "blocked": "7c78e6c652438e99",
    "metropolis": "448bed4b63c32839",
    "uncollapsed": "ab1080bd8362dcd7",
    "em": "5c5d803c7a40320b",
    "process": "ecdba43cfc3b7871",
    "seeded": "7247c7e8c35e6ade",
    "related": "5f303347ee52f5f9",
    "cluster()": "f2a234a3f4acf2cc",
}

# what is read by numpy, BLAS, numba, Python, or the C library, and must not matter: two of them in
# one process, which takes seconds
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "one thread, in another country": {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        "POLARS_MAX_THREADS": "1",
        "PYTHONHASHSEED": "1",
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "TZ": "Asia/Kathmandu",
    },
    "many threads, in memory that is not blank": {
        "OMP_NUM_THREADS": "7",
        "OPENBLAS_NUM_THREADS": "7",
        "MKL_NUM_THREADS": "7",
        "POLARS_MAX_THREADS": "7",
        "PYTHONHASHSEED": "2",
        "MALLOC_PERTURB_": "165",
        "PYTHONOPTIMIZE": "1",
    },
}
SIMPLER_NUMPY = {
    "NPY_DISABLE_CPU_FEATURES": "FMA3 AVX2 AVX512F AVX512CD AVX512_SKX",
    "OPENBLAS_CORETYPE": "Prescott",
}


def made_in(environment: dict[str, str], folder: Path, *arguments: str) -> dict[str, Any]:
    """What a new process finds, in a folder of its own."""
    return json.loads(process(environment, folder, *arguments).stdout)


def process(
    environment: dict[str, str], folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "environment_cases.py"), *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def labels(found: dict[str, Any]) -> dict[str, str]:
    return {name: case["labels"] for name, case in found.items()}


@pytest.fixture(scope="module")
def here() -> dict[str, Any]:
    return environment_cases.outcomes()


def test_golden_labels(here: dict[str, Any]) -> None:
    assert labels(here) == GOLDEN


def test_the_runs_are_runs(here: dict[str, Any]) -> None:
    """Every sampler gives other labels, so each of them was asked."""
    assert len(set(labels(here).values())) == len(GOLDEN)
    assert set(environment_cases.SAMPLERS) < set(GOLDEN)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_another_environment(name: str, here: dict[str, Any], tmp_path: Path) -> None:
    """Labels, and scores to the last bit: it is the same machine."""
    assert made_in(ENVIRONMENTS[name], tmp_path) == here


def test_another_way_of_numpy_to_calculate(here: dict[str, Any], tmp_path: Path) -> None:
    """As on a processor without its vector instructions: the same labels; scores may end otherwise."""
    found = made_in(SIMPLER_NUMPY, tmp_path)
    assert labels(found) == GOLDEN
    for name in GOLDEN:
        np.testing.assert_allclose(found[name]["scores"], here[name]["scores"], rtol=1e-9)


@pytest.mark.slow
def test_kernels_for_any_processor_are_compiled_once(tmp_path: Path) -> None:
    """numba compiles for the oldest processor of this kind, not for the one that is there.

    Compiling takes longest, so only the default sampler is tried, and this is also the test of the
    first fit on a machine: it says that it compiles, and the next process does not compile again.
    """
    generic = {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    first = process(generic, tmp_path, "gibbs")
    assert labels(json.loads(first.stdout)) == {"gibbs": GOLDEN["gibbs"]}
    assert first.stderr.count("compiles its kernels, once on this machine") == 1
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "numba").rglob("*.nb*")}
    assert kept
    second = process(generic, tmp_path, "gibbs")
    assert second.stderr == ""
    assert second.stdout == first.stdout
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "numba").rglob("*.nb*")}
    assert after == kept, "the second process compiled again"


def test_kernels_as_plain_python(tmp_path: Path) -> None:
    compiled = environment_cases.small_outcomes()
    assert labels(made_in({"NUMBA_DISABLE_JIT": "1"}, tmp_path, "small")) == labels(compiled)
