"""Files that are clustered in parts, and the run is stopped: by Ctrl-C, or by a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from coterie import cluster, sampler
from coterie.demo.synthetic import make_corpus

signals = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither SIGINT for a process nor SIGKILL"
)

N = 1200
FAST = ["--embedder", "none", "--max-clusters", "30", "--sweeps", "12"]

# The command, which says where it is: after a sweep of the sample, while its runs are compared, or after
# a sweep over all texts. Then it waits there for the signal.
COMMAND = """
import signal, sys, time
from coterie import levels, sampler
from coterie.cli import main
from coterie.cli.progress import Stages

(where, _, sweep), arguments = sys.argv[1].partition(" "), sys.argv[2:]
enter, tell, find, stage = Stages.enter, sampler._tell, levels.find, []
heard = []

def wait():
    if heard:
        return
    take = signal.getsignal(signal.SIGINT)
    def hear(*what):
        heard.append(1)
        take(*what)
    signal.signal(signal.SIGINT, hear)
    print("here", file=sys.stderr, flush=True)
    while not heard:
        time.sleep(0.01)

def entered(self, name):
    stage.append(name)
    print("stage", name, file=sys.stderr, flush=True)
    enter(self, name)

def told(plan, trace, *others):
    stop = tell(plan, trace, *others)
    if len(trace) == int(sweep or 0) and where == stage[-1]:
        wait()
    return stop

def compared(*args, **how):
    if where == "levels":
        wait()
    return find(*args, **how)

Stages.enter, sampler._tell, levels.find = entered, told, compared
sys.exit(main(["fit", *arguments]))
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stopped") / "texts.parquet"
    documents, _ = make_corpus(N, seed=5)
    pl.DataFrame({"text": [" ".join(words) for words in documents]}).write_parquet(path)
    return path


def stopped(file: Path, folder: Path, where: str, by: int, *options: str) -> tuple[int, str, str]:
    """The command, sent a signal at this place; returns the exit code and what it printed."""
    arguments = [str(file), "--out-of-core", *FAST, *options]
    started = subprocess.Popen(
        [sys.executable, "-c", COMMAND, where, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stderr is not None
    before = []
    for line in started.stderr:
        before.append(line)
        if line == "here\n":
            started.send_signal(by)
            break
    try:
        out, err = started.communicate(timeout=120)
    finally:
        started.kill()
    assert before[-1:] == ["here\n"], "".join(before)
    return started.returncode, out, err


@signals
@pytest.mark.parametrize(
    ("where", "options"),
    [
        ("sample 2", ["--no-levels"]),
        ("sample 2", ["--n-clusters", "5", "--checkpoint", "ckpt"]),
        ("levels", []),
    ],
    ids=str,
)
def test_ctrl_c_in_the_sample_ends_the_command(
    file: Path, tmp_path: Path, where: str, options: list[str]
) -> None:
    """No text has a cluster yet, so there is nothing to keep, and no reason to read all texts again."""
    code, out, err = stopped(file, tmp_path, where, signal.SIGINT, "-o", "out", "--json", *options)
    assert code == 130, err
    assert "Interrupted before any clusters were found. Nothing was written." in err
    assert "stage" not in err  # neither encoding nor sweeps over all texts
    assert json.loads(out)["error"]["kind"] == "interrupted"
    assert not list(tmp_path.iterdir())


@signals
@pytest.mark.parametrize("out", ["out", "out.parquet"])
def test_ctrl_c_in_the_sweeps_over_all_texts_keeps_them(
    file: Path, tmp_path: Path, out: str
) -> None:
    how = ["-o", out, "--json", "--no-levels"]
    code, said, err = stopped(file, tmp_path, "sampling 1", signal.SIGINT, *how)
    assert code == 130, err
    assert "the clusters found so far were written" in err
    facts = json.loads(said)
    assert facts["reason"].startswith("interrupted after sweep 2 over all texts")
    assert facts["n_texts"] == N
    table = pl.read_parquet(tmp_path / facts["paths"]["table"])
    assert table.height == N
    assert table["cluster"].n_unique() == len(facts["clusters"])
    assert [path.name for path in tmp_path.iterdir()] == [out]


def test_no_more_tries_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """For an exact number of clusters there are several runs; an interrupted one is the last."""
    documents, _ = make_corpus(200, seed=5)
    run, tries = sampler.run, []

    def second_is_interrupted(counts: Any, urn: Any, plan: Any, backend: Any) -> Any:
        done = run(counts, urn, plan, backend)
        if plan.n_sweeps != 7:
            return done
        tries.append(urn)
        if len(tries) == 2:
            return done._replace(stop=sampler.Stop("interrupted", "interrupted after sweep 7"))
        return done

    monkeypatch.setattr(sampler, "run", second_is_interrupted)
    texts = [" ".join(words) for words in documents]
    groups = cluster(texts, n_clusters=60, n_sweeps=7, embedder=None)
    assert groups.n_clusters == 60
    assert groups.stop is not None
    assert groups.stop.kind == "interrupted"
    assert len(tries) == 2
    assert not groups.levels.height  # nothing is compared any more


@signals
def test_a_killed_run_goes_on_from_its_checkpoint(file: Path, tmp_path: Path) -> None:
    """The same command again does what is left of the sweeps, with the result of a run never killed."""
    how = ["-o", "out", "--json", "--no-levels", "--checkpoint", "ckpt"]
    code, said, err = stopped(file, tmp_path, "sampling 3", signal.SIGKILL, *how)
    assert (code, said) == (-signal.SIGKILL, ""), err
    assert (tmp_path / "ckpt").exists()
    assert not (tmp_path / "out").exists()
    seen = []
    for folder, options in ((tmp_path, how), (tmp_path / "whole", how[:-2])):
        folder.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", SWEEPS, str(file), "--out-of-core", *FAST, *options],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        seen.append([int(line[6:]) for line in done.stderr.splitlines() if line[:6] == "sweep "])
    # killed after the third sweep and before that was saved: the second is where it goes on from
    assert seen == [[2, 3], [1, 2, 3]]
    mine, whole = (
        pl.read_parquet(at / "out/table.parquet") for at in (tmp_path, tmp_path / "whole")
    )
    assert mine.equals(whole, null_equal=True)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"out", "ckpt", "whole"}  # what the killed run kept beside its output is gone


# The command, which says after which sweep over all texts it is; the first is where a checkpoint was.
SWEEPS = """
import sys
from coterie.cli import main
from coterie.cli.progress import Stages
show = Stages.sweep
def sweep(self, event):
    print("sweep", event.record.sweep, file=sys.stderr)
    show(self, event)
Stages.sweep = sweep
sys.exit(main(["fit", *sys.argv[1:]]))
"""
