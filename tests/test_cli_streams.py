"""Streams that are closed, full or not read: an exit code that is documented, and no lost result."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import texts, write_csv

from coterie.cli import exits

ROOT = Path(__file__).resolve().parents[1]
FIT = f"{sys.executable} -m coterie fit reviews.csv --sweeps 2 --no-levels --embedder none"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to mount a small disk"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_csv(tmp_path / "reviews.csv", [{"body": text} for text in texts()])
    return tmp_path


def shell(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it; `>&UNREAD` is a pipe that nobody reads any more."""
    reader, unread = os.pipe()
    os.close(reader)
    done = subprocess.run(
        ["bash", "-c", command.replace("UNREAD", str(unread))],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        pass_fds=[unread],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **env},
    )
    os.close(unread)
    for said in (done.stdout, done.stderr):
        assert "Traceback" not in said
        assert "Exception ignored" not in said
    return done


def is_whole(result: Path) -> bool:
    """A result with all its files, and nothing of ours beside it."""
    inside = {path.name for path in result.iterdir()}
    beside = {path.name for path in result.parent.iterdir()}
    whole = inside == {"table.csv", "clusters.csv", "report.html", "model", "run.json"}
    return whole and beside <= {result.name, "reviews.csv"}


@pytest.mark.parametrize(
    ("streams", "code"),
    [
        (">&-", 0),
        ("2>&-", 0),
        ("<&- >&- 2>&-", 0),
        pytest.param("2>/dev/full", 0, marks=full),
        pytest.param(">/dev/full", 1, marks=full),
        pytest.param(">/dev/full 2>&1", 1, marks=full),
        (">&UNREAD", 141),
        (">&UNREAD 2>&1", 141),
        ("2>&UNREAD", 0),
    ],
)
def test_the_result_is_kept(streams: str, code: int, folder: Path) -> None:
    done = shell(f"{FIT} {streams}", folder)
    assert done.returncode == code, done.stderr
    assert is_whole(folder / "reviews.coterie")
    if streams == ">/dev/full":
        last = done.stderr.splitlines()[-1]
        assert last.startswith("Error: Standard output cannot be written: No space left on device")
        assert last.endswith("the result was written to reviews.coterie.")


@pytest.mark.parametrize("options", ["-o -", "--json"])
def test_a_result_for_a_closed_output_is_refused_at_once(options: str, folder: Path) -> None:
    done = shell(f"{FIT} {options} >&-", folder)
    assert done.returncode == 1
    assert done.stderr == "Error: Standard output is closed, so the result cannot be printed.\n"
    assert [path.name for path in folder.iterdir()] == ["reviews.csv"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("--help >&-", 0),
        ("--help >&UNREAD", 141),
        ("fit --help >&UNREAD", 141),
        ("nonsense 2>&-", 2),
        pytest.param("--help >/dev/full", 1, marks=full),
        pytest.param("fit --help >/dev/full", 1, marks=full),
        pytest.param("fit nothing.csv 2>/dev/full", 1, marks=full),
    ],
)
def test_pages_and_errors(command: str, code: int, folder: Path) -> None:
    done = shell(f"{sys.executable} -m coterie {command}", folder)
    assert done.returncode == code, done.stderr


def test_no_home(folder: Path) -> None:
    kept = {name: os.environ[name] for name in ("NUMBA_CACHE_DIR",) if name in os.environ}
    given = " ".join(f"{name}={value}" for name, value in kept.items())
    done = shell(f"env -i {given} PYTHONPATH={ROOT / 'src'} {FIT}", folder)
    assert done.returncode == 0, done.stderr
    assert is_whole(folder / "reviews.coterie")


LIMITED = "ulimit -f 1; "  # kilobytes that a file may have


@pytest.mark.parametrize("out", ["out", "out.csv", "out.parquet", "out.jsonl"])
def test_a_file_that_does_not_fit(out: str, folder: Path) -> None:
    write_csv(folder / "reviews.csv", [{"body": text + " x" * 99} for text in texts()])
    done = shell(f"{LIMITED} {FIT} -q -o {out}", folder)
    assert done.returncode == 1
    assert re.fullmatch(rf"Error: {out}\S* cannot be written: File too large\.\n", done.stderr)
    assert [path.name for path in folder.iterdir()] == ["reviews.csv"]


@as_root
def test_a_full_disk_keeps_the_old_result(folder: Path) -> None:
    """A disk of its own, mounted in a name space of its own, which ends with the shell."""
    (folder / "disk").mkdir()
    mount = "mount -t tmpfs -o size=400k tmpfs disk"
    if shell(f"unshare -m bash -c '{mount}'", folder).returncode:
        pytest.skip("no disk can be mounted here")
    steps = [
        mount,
        f"{FIT} -q -o disk/out && cp disk/out/run.json before.json",
        "head -c 1000000 /dev/zero > disk/full",
        f"{FIT} -q -o disk/out --force --seed 1; echo exit code $?",
        "cmp before.json disk/out/run.json && ls -A disk",
    ]
    done = shell(f"unshare -m bash -c '{'; '.join(steps)}'", folder)
    assert "exit code 1\nfull\nout\n" in done.stdout, done.stdout + done.stderr
    assert "cannot be written: No space left on device." in done.stderr


@as_root
def test_a_read_only_working_folder(folder: Path) -> None:
    steps = f"mount --bind -o ro . . && cd $PWD && {FIT} -q"
    done = shell(f"unshare -m bash -c '{steps}'", folder)
    if done.returncode == 32:  # mount's own
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 1
    assert done.stderr == "Error: reviews.coterie cannot be written: Read-only file system.\n"


def test_exit_codes_are_documented() -> None:
    page = (ROOT / "docs" / "howto" / "command-line.md").read_text(encoding="utf-8")
    listed = {int(code) for code in re.findall(r"^\| `(\d+)` \|", page, re.MULTILINE)}
    assert listed == set(exits.MEANING)
