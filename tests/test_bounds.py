"""Memory: what is too large, or never ends, is refused before it is read."""

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from coterie import _cgroups, _memory
from coterie._memory import allowed_memory, free_memory
from coterie.backends import threads
from coterie.errors import InvalidInput
from coterie.text.readers import read


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "5MB")


def refused(data: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(data)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# ---------------------------------------------------------------- the bound
@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("8GB", 8 * 10**9),
        ("1.5 GiB", 3 * 2**29),
        ("512mb", 512 * 10**6),
        ("1000", 1000),
        ("2T", 2 * 10**12),
    ],
)
def test_the_bound_can_be_set(monkeypatch, said, size):
    monkeypatch.setenv("COTERIE_MAX_MEMORY", said)
    assert allowed_memory() == size


@pytest.mark.parametrize("said", ["lots", "-1GB", "0", "8XB", "GB"])
def test_a_bound_that_is_no_size(monkeypatch, said):
    monkeypatch.setenv("COTERIE_MAX_MEMORY", said)
    with pytest.raises(InvalidInput, match="COTERIE_MAX_MEMORY"):
        allowed_memory()


# the groups of a process, the file that limits one of them or one around it, and where its use is
GROUPS = [
    ("0::/a/b\n", "a/b/memory.max", "a/b/memory.stat", "anon {}\nfile 9\nshmem 5\n"),
    ("0::/a/b\n", "a/memory.high", "a/memory.stat", "anon {}\nfile 9\nshmem 5\n"),
    ("0::/a/b\n", "memory.max", "memory.stat", "anon {}\nfile 9\nshmem 5\n"),
    (
        "4:cpu,memory:/a\n0::/\n",
        "memory/a/memory.limit_in_bytes",
        "memory/a/memory.stat",
        "rss 1\ntotal_rss {}\ntotal_cache 9\ntotal_shmem 5\n",
    ),
    (
        "4:memory:/elsewhere\n",
        "memory/memory.limit_in_bytes",
        "memory/memory.stat",
        "rss 1\ntotal_rss {}\ntotal_cache 9\ntotal_shmem 5\n",
    ),
]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, str], None]:
    """Write a file of the system: /proc/self/cgroup is "groups", the others are in /sys/fs/cgroup."""
    monkeypatch.delenv("COTERIE_MAX_MEMORY", raising=False)
    monkeypatch.setattr(_cgroups, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(_cgroups, "_FOLDER", tmp_path)
    monkeypatch.setattr(_memory, "_MACHINE", tmp_path / "meminfo")

    def write(name: str, content: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)

    return write


@pytest.mark.parametrize(("groups", "file", "stat", "content"), GROUPS)
def test_the_memory_of_a_container(put, groups, file, stat, content):
    put("groups", groups)
    put(file, "1000000\n")
    assert allowed_memory() == free_memory() == 750_000
    put(stat, content.format(100_000))
    assert free_memory() == 750_000  # a quarter is left to others anyway
    put(stat, content.format(400_000))
    assert free_memory() == 1_000_000 - 400_005
    put(stat, content.format(2_000_000))
    assert free_memory() == 0
    assert allowed_memory() == 750_000
    put(file, "max\n")
    assert allowed_memory() > 750_000


def test_the_smallest_limit_holds(put):
    put("groups", "0::/a/b\n")
    for name, limit in [("a/b/memory.max", 9), ("a/b/memory.high", 8), ("memory.max", 7)]:
        put(name, f"{limit}000000\n")
        assert allowed_memory() == limit * 750_000
    put("a/memory.max", "4000000\n")
    assert allowed_memory() == 3_000_000


def test_the_memory_that_others_use(put):
    for kilobytes, free in [(10**12, allowed_memory()), (5000, 5_120_000)]:
        put("meminfo", f"MemTotal: 9 kB\nMemAvailable:    {kilobytes} kB\nBuffers: 7 kB\n")
        assert free_memory() == free


@pytest.mark.parametrize(
    ("groups", "files", "n"),
    [
        ("0::/a/b\n", {"a/b/cpu.max": "200000 100000"}, 2),
        ("0::/a/b\n", {"a/cpu.max": "150000 100000", "a/b/cpu.max": "max 100000"}, 2),
        ("0::/a/b\n", {"cpu.max": "20000 100000", "a/b/cpu.max": "300000 100000"}, 1),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000"}, 8),
        ("0::/a/b\n", {"a/b/cpu.max": "9900000 100000"}, 8),
        ("0::/a/b\n", {}, 8),
        (
            "1:cpu,cpuacct:/a\n0::/\n",
            {"cpu/a/cpu.cfs_quota_us": "300000", "cpu/a/cpu.cfs_period_us": "100000"},
            3,
        ),
        (
            "1:cpu,cpuacct:/a\n",
            {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"},
            8,
        ),
        ("nonsense\n\n7:\n", {"cpu.max": "nonsense", "memory.max": "-"}, 8),
    ],
)
def test_the_processors_of_a_container(put, monkeypatch, groups, files, n):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    put("groups", groups)
    for name, content in files.items():
        put(name, f"{content}\n")
    assert [threads(jobs) for jobs in (-1, None, 5)] == [n, 1, 5]
    assert allowed_memory() > 0


# ---------------------------------------------------------------- what does not fit
def test_a_large_file(tmp_path, little):
    path = tmp_path / "x.csv"
    path.write_bytes(b"text\n" + b"some words\n" * 100_000)
    sentence = refused(path)
    assert "holds 1.1 MB" in sentence
    assert "5.0 MB" in sentence
    assert "COTERIE_MAX_MEMORY" in sentence
    with open(path, "rb") as file:
        assert "is larger than" in refused(file)
    assert "is larger than" in refused(io.StringIO(path.read_text()))


def test_gzip_that_grows(tmp_path, little):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"text\n" + b"some words\n" * 1_000_000))
    assert path.stat().st_size < 100_000
    assert "unpacks to more than" in refused(path)


def test_parquet_of_many_rows(tmp_path, little):
    path = tmp_path / "x.parquet"
    pl.select(pl.lit("a b").repeat_by(1_000_000).explode().alias("text")).write_parquet(path)
    assert path.stat().st_size < 100_000
    assert "holds 1,000,000 rows" in refused(path)


def test_parquet_of_one_long_text_for_all_rows(tmp_path, little):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"text": ["x y " * 50_000] * 100}), path)  # the text is kept once
    assert path.stat().st_size < 100_000
    assert "rows of long texts" in refused(path)


def test_a_folder_of_many_texts(tmp_path, little):
    for i in range(8):
        (tmp_path / f"{i}.txt").write_bytes(b"words " * 30_000)
    assert "memory" in refused(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    assert "not a regular file" in refused(tmp_path / "x.csv")
    for device in ("/dev/zero", "/dev/null"):
        if Path(device).exists():
            link = tmp_path / f"{Path(device).name}.csv"
            link.symlink_to(device)
            assert "not a regular file" in refused(link)


def test_a_stream_that_never_ends(little):
    class Endless:
        def read(self, size: int = -1) -> bytes:
            return b"words " * 100_000

    assert "is larger than" in refused(Endless())


def test_standard_input_that_never_ends():
    """`yes | coterie predict`: read up to the bound, in a process that may not take much more."""
    code = (
        "from coterie.text.readers import read\n"
        "from coterie.errors import InvalidInput\n"
        "try:\n read('-')\nexcept InvalidInput as error:\n print(error)"
    )
    with open("/dev/zero", "rb") as zero:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=zero,
            capture_output=True,
            env={**os.environ, "COTERIE_MAX_MEMORY": "50MB"},
            check=True,
        )
    assert b"is larger than 10.0 MB" in done.stdout


def test_a_name_that_is_too_long():
    assert "is a text, not a file" in refused("a" * 5_000)


def test_what_fits_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "60MB")
    path = tmp_path / "x.csv"
    path.write_bytes(b"id,text\n" + b"7,some words of a text\n" * 400_000)
    assert len(read(path)) == 400_000
