"""In a fork of a process every door answers, or says at once what to do; none waits for ever."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
# what may be refused in a fork of a process in which polars had threads: reading and writing tables
TABLES = (
    "cluster a.",
    "cluster polars",
    "cluster_large",
    "predict polars",
    "write ",
    "save",
    "load",
)
TABLES = (*TABLES, "by", "over", "report", "tickets")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks by itself"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("forks")
    told(made, "write")
    return made


def told(folder: Path, how: str) -> str:
    script = [sys.executable, "-W", "ignore", str(TESTS / "forked.py"), str(folder), how]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_after_polars_had_threads(folder: Path) -> None:
    found = json.loads(told(folder, "threads"))
    others = {door: said for door, said in found.items() if said != "answers"}
    assert {door for door in others if not door.startswith(TABLES)} == set()
    assert not any("estimator" in door for door in others)
    for said in others.values():
        assert said.startswith("This process was forked from one in which polars had threads")
        assert said.endswith(".")
        assert "spawn" in said


def test_before_polars_had_threads(folder: Path) -> None:
    found = json.loads(told(folder, "none"))
    assert {door: said for door, said in found.items() if said != "answers"} == {}
    assert len(found) > 70


def test_coterie_may_be_imported_in_the_fork(folder: Path) -> None:
    """And used by the parent for nothing but the import of its name."""
    script = """
import os, pathlib, signal, time, coterie, polars as pl
pl.DataFrame({"a": [1]}).select(pl.col("a") + 1)
names = lambda: {path.read_text() for path in pathlib.Path("/proc/self/task").glob("*/comm")}
while names().isdisjoint({"polars-0\\n", "polars-1\\n"}):
    time.sleep(0.01)  # a thread gives itself its name
child = os.fork()
if not child:
    signal.alarm(40)
    try:
        coterie.cluster("a.csv")
    except coterie.errors.Forked as error:
        os._exit(7 if error.kind == "forked" else 1)
    os._exit(2)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, cwd=folder, timeout=60, check=False).returncode == 7
