"""SIGTERM and SIGHUP end a command at any moment, and nothing is left beside its output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from coterie import cluster, cluster_large

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")

WORDS = ("bread flour yeast oven dough", "bike wheel gear saddle tyre")
TEXTS = [" ".join(WORDS[i % 2].split()[j] for j in range(5) if j != i % 5) for i in range(60)]
FAST = ["--embedder", "none", "--sweeps", "3", "--no-levels", "--quiet"]
PARTS = ["--out-of-core", "-o", "t.parquet", "--report", "page.html"]

# A command that waits where it is told to: when a stage begins, or in a function once that has begun.
COMMAND = """
import importlib, sys, time
from coterie.cli import main
from coterie.cli.progress import Stages

where, arguments = sys.argv[1], sys.argv[2:]

def wait():
    print("here", flush=True)
    time.sleep(60)

def entered(self, name, enter=Stages.enter):
    enter(self, name)
    if name == where:
        wait()

Stages.enter = entered
if ":" in where:
    module, _, names = where.partition(":")
    owner, (*above, name) = importlib.import_module(module), names.split(".")
    for part in above:
        owner = getattr(owner, part)
    plain = getattr(owner, name)

    def called(*args, **how):
        plain(*args, **how)
        wait()

    setattr(owner, name, called)
sys.exit(main(arguments))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    folder = tmp_path_factory.mktemp("read")
    pl.DataFrame({"text": TEXTS}).write_parquet(folder / "in.parquet")
    cluster(TEXTS, embedder=None, levels=False, n_sweeps=3).save(folder / "model")
    return folder


def ended(folder: Path, where: str, *arguments: str, by: int = signal.SIGTERM) -> tuple[int, str]:
    """The command, sent a signal where it waits: its exit code and what it said."""
    started = subprocess.Popen(
        [sys.executable, "-c", COMMAND, where, *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        before = started.stdout.readline()
        started.send_signal(by)
        _, err = started.communicate(timeout=60)
    finally:
        started.kill()
    assert before == "here\n", err
    return started.returncode, err


STAGES = ("reading", "words", "sampling", "report", "writing")


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("where", [*STAGES, "coterie._disk:flush_folder"])
def test_fit(made: Path, tmp_path: Path, where: str, by: int) -> None:
    code, err = ended(tmp_path, where, "fit", made / "in.parquet", "-o", "deep/out", *FAST, by=by)
    assert code == 128 + by
    assert f"Ended by {signal.Signals(by).name}." in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "where",
    [*STAGES, "sample", "encoding", "placing", "coterie.text.batch_files:TableFile.add"],
)
def test_fit_in_parts(made: Path, tmp_path: Path, where: str) -> None:
    """Gigabytes of words, and parts of the table."""
    code, err = ended(tmp_path, where, "fit", made / "in.parquet", *FAST, *PARTS)
    assert code == 143, err
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= ({"page.html"} if "." in where or where == "writing" else set())


def test_what_was_there_stays(made: Path, tmp_path: Path) -> None:
    """The result that was to be replaced, and the checkpoint."""
    command = ["fit", str(made / "in.parquet"), "-o", "out", "--checkpoint", "ckpt", *FAST]
    assert subprocess.run([sys.executable, "-m", "coterie", *command], cwd=tmp_path).returncode == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert ended(tmp_path, "report", *command, "--force")[0] == 143
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("command", "where"),
    [
        (["predict", "MODEL", "FILE", "-o", "t.csv"], "coterie.text.writing:write_table"),
        (["report", "MODEL", "-o", "page.html"], "coterie.clustering:Clustering.report"),
        (["edit", "MODEL", "--rename", "0=A", "-o", "out"], "writing"),
    ],
    ids=["predict", "report", "edit"],
)
def test_other_commands(made: Path, tmp_path: Path, command: list[str], where: str) -> None:
    names = {"MODEL": str(made / "model"), "FILE": str(made / "in.parquet")}
    code, err = ended(tmp_path, where, *(names.get(word, word) for word in command))
    assert code == 143, err
    assert not list(tmp_path.iterdir())
    assert len(list(made.rglob("*"))) == 7


def test_nohup(made: Path, tmp_path: Path) -> None:
    """A signal that is ignored does not end the command."""
    script = 'trap "" HUP; exec "$@"'
    command = [sys.executable, "-c", HUNG_UP, "fit", str(made / "in.parquet"), "-o", "out", *FAST]
    done = subprocess.run(["sh", "-c", script, "sh", *command], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# sends itself SIGHUP at each stage
HUNG_UP = """
import os, signal, sys
from coterie.cli import main
from coterie.cli.progress import Stages

def entered(self, name, enter=Stages.enter):
    enter(self, name)
    os.kill(os.getpid(), signal.SIGHUP)

Stages.enter = entered
sys.exit(main(sys.argv[1:]))
"""


# forks, and ends that process with SIGTERM once it runs
FORKING = """
    ready, told = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(told, b"!")
        while True:
            signal.pause()
    os.read(ready, 1)
    os.kill(pid, signal.SIGTERM)
    assert os.waitpid(pid, 0)[1] == 143 << 8
"""


def test_a_forked_process_removes_nothing(made: Path, tmp_path: Path) -> None:
    forking = HUNG_UP.replace(
        "    os.kill(os.getpid(), signal.SIGHUP)",
        FORKING,
    )
    command = [sys.executable, "-c", forking, "fit", str(made / "in.parquet"), "-o", "out", *FAST]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_python_installs_nothing(made: Path, tmp_path: Path) -> None:
    seen = set()

    def look(*_: object) -> None:
        seen.update((signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)))

    how = {"embedder": None, "levels": False, "n_sweeps": 3, "on_stage": look}
    cluster(TEXTS, **how)
    cluster_large(made / "in.parquet", tmp_path / "t.parquet", **how)
    assert seen == {signal.SIG_DFL}


def test_what_a_killed_run_left_is_removed_by_the_next(made: Path, tmp_path: Path) -> None:
    """Also the parts of a table."""
    where = "coterie.text.batch_files:TableFile.add"
    command = ["fit", str(made / "in.parquet"), *FAST, *PARTS]
    assert ended(tmp_path, where, *command, by=signal.SIGKILL)[0] == -signal.SIGKILL
    assert list(tmp_path.glob(".*.tmp/new.part-*"))
    run = [sys.executable, "-m", "coterie", *command, "--force"]
    assert subprocess.run(run, cwd=tmp_path).returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["page.html", "t.parquet"]
