"""Writing to the disk: one writer at a time, old or new but never neither, and only names of ours."""

import errno
import os
import stat
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from coterie import _disk, _system
from coterie._disk import Claim, InUse, Taken
from coterie.errors import ModelFileError

STAGING = ".out.coterie-0123456789abcdef.tmp"
NATIVE = sys.platform
SYSTEMS = pytest.mark.parametrize("platform", [NATIVE, "a system without such renames", "win32"])
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX systems")


class Locks(types.ModuleType):
    """Stands in for Windows's msvcrt: locks by file, as that system does."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.holders: dict[tuple[int, int], int] = {}

    def locking(self, handle: int, mode: int, size: int) -> None:
        assert (mode, size) == (self.LK_NBLCK, 1)
        about = os.fstat(handle)
        key = about.st_dev, about.st_ino
        holder = self.holders.get(key)
        if holder not in (None, handle) and _is_open(holder, key):
            raise OSError(errno.EACCES, "Permission denied")
        self.holders[key] = handle


def _is_open(handle: int | None, key: tuple[int, int]) -> bool:
    try:
        about = os.fstat(-1 if handle is None else handle)
    except OSError:
        return False
    return (about.st_dev, about.st_ino) == key


@pytest.fixture
def system(platform: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """This system, or one that stands in for another."""
    monkeypatch.setattr(_system, "PLATFORM", platform)
    if platform == "win32" and platform != sys.platform:
        monkeypatch.setitem(sys.modules, "msvcrt", Locks())
        plain = os.rename

        def rename(source: Any, target: Any) -> None:  # Windows replaces nothing
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "File exists", str(target))
            plain(source, target)

        monkeypatch.setattr(os, "rename", rename)
    return platform


def make(path: Path, content: str) -> None:
    """A folder with one file."""
    path.mkdir()
    (path / "content").write_text(content)


def content_of(path: Path) -> str:
    return (path / "content" if path.is_dir() else path).read_text()


def put(path: Path, write: Any, refusal: Any, meanwhile: Any = lambda: None) -> None:
    """Write something new to a place; something else may happen meanwhile."""
    with Claim(path) as place, place.staged() as fresh:
        write(fresh, "new")
        meanwhile()
        place.put(fresh, refusal)


def anything(path: Path) -> str:
    return ""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@SYSTEMS
@pytest.mark.usefixtures("system")
class TestPut:
    @pytest.mark.parametrize("write", [Path.write_text, make], ids=["file", "folder"])
    def test_a_new_name_and_a_replaced_one(self, write: Any, tmp_path: Path) -> None:
        for content in ("first", "second"):
            with Claim(tmp_path / "out") as place, place.staged() as fresh:
                write(fresh, content)
                place.put(fresh, anything)
            assert content_of(tmp_path / "out") == content
            assert names(tmp_path) == ["out"]

    @pytest.mark.parametrize("write", [Path.write_text, make], ids=["file", "folder"])
    @pytest.mark.parametrize("intruder", [Path.write_text, make], ids=["file", "folder"])
    def test_what_must_stay_stays(self, write: Any, intruder: Any, tmp_path: Path) -> None:
        out = tmp_path / "out"
        with pytest.raises(Taken, match="out cannot be written: it is precious"):
            put(out, write, lambda path: "it is precious", lambda: intruder(out, "thesis"))
        assert content_of(tmp_path / "out") == "thesis"
        assert names(tmp_path) == ["out"]

    def test_what_changes_at_the_last_moment_is_put_back(self, tmp_path: Path) -> None:
        make(tmp_path / "out", "old")

        def refusal(path: Path) -> str:
            found = names(path)
            (path / "thesis").touch()  # after the first look, before the second
            return "" if found == ["content"] else "it holds a thesis"

        with pytest.raises(Taken, match="it holds a thesis"):
            put(tmp_path / "out", make, refusal)
        assert names(tmp_path / "out") == ["content", "thesis"]
        assert names(tmp_path) == ["out"]

    def test_an_empty_folder_may_be_filled(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        with Claim(tmp_path / "out") as place, place.staged() as fresh:
            make(fresh, "new")
            place.put(fresh, anything)
        assert content_of(tmp_path / "out") == "new"

    def test_another_name(self, tmp_path: Path) -> None:
        (tmp_path / "out-2.txt").touch()
        free = _disk.free_names(tmp_path / "out.txt")
        with Claim(tmp_path / "out.txt") as place, place.staged() as fresh:
            fresh.write_text("new")
            with pytest.raises(Taken):
                place.put(fresh, lambda _: "it exists", at=next(free))
            place.put(fresh, lambda _: "it exists", at=next(free))
        assert (tmp_path / "out-3.txt").read_text() == "new"

    def test_a_failure_leaves_nothing(self, tmp_path: Path) -> None:
        def bug() -> None:
            raise RuntimeError("a bug")

        with pytest.raises(RuntimeError):
            put(tmp_path / "out", make, anything, bug)
        assert names(tmp_path) == []

    def test_two_writers(self, tmp_path: Path) -> None:
        with Claim(tmp_path / "out"):
            with pytest.raises(InUse, match="in use by another run"):
                Claim(tmp_path / "out").__enter__()
            with Claim(tmp_path / "another"):
                pass
        with Claim(tmp_path / "out"):
            pass
        assert names(tmp_path) == []


def test_an_intruder_between_two_renames_costs_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_system, "PLATFORM", "a system without exchange")
    make(tmp_path / "out", "old")
    plain, calls = os.rename, []

    def rename(source: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) == 3:  # move_in, then the old one aside, then the new one in
            make(tmp_path / "out", "thesis")
        plain(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(ModelFileError):
        put(tmp_path / "out", make, anything)
    assert content_of(tmp_path / "out") == "thesis"
    assert content_of(tmp_path / "out-2") == "old"


class TestNoHardLinks:
    def test_files_are_renamed_then(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def link(*_: Any) -> None:
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(_system, "PLATFORM", "a system without such renames")
        monkeypatch.setattr(os, "link", link)
        (tmp_path / "new").write_text("new")
        (tmp_path / "old").write_text("old")
        with pytest.raises(FileExistsError):
            _system.move_in(tmp_path / "new", tmp_path / "old")
        _system.move_in(tmp_path / "new", tmp_path / "free")
        assert (tmp_path / "old").read_text() == "old"
        assert (tmp_path / "free").read_text() == "new"

    def test_no_such_function_in_the_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
        assert _system._native_rename.__wrapped__("linux") is None
        assert _system._native_rename.__wrapped__("darwin") is None

    def test_a_file_system_without_exchange(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_system, "PLATFORM", "linux")
        monkeypatch.setattr(_system, "_native_rename", lambda _: lambda *_: errno.EINVAL)
        assert not _system.exchange(tmp_path / "a", tmp_path / "b")


class TestSweeping:
    @pytest.mark.parametrize("inside", [[], ["new"], ["old"], ["new", "old"]], ids=str)
    @pytest.mark.parametrize("stands", [True, False])
    def test_after_a_kill(self, inside: list[str], stands: bool, tmp_path: Path) -> None:
        """Whatever a killed run left, the next one removes; what was set aside comes back."""
        (tmp_path / STAGING).mkdir()
        for name in inside:
            make(tmp_path / STAGING / name, name)
        if stands:
            make(tmp_path / "out", "stands")
        with Claim(tmp_path / "out"):
            pass
        restored = "old" in inside and not stands
        assert names(tmp_path) == (["out"] if stands or restored else [])
        if stands or restored:
            assert content_of(tmp_path / "out") == ("stands" if stands else "old")

    @pytest.mark.parametrize(
        "name",
        [
            ".out.local",
            ".out.0123456789abcdef",
            ".out.coterie-0123456789abcde.tmp",
            ".out.coterie-0123456789ABCDEF.tmp",
            ".out.coterie-0123456789abcdef.tmp2",
            ".outer.coterie-0123456789abcdef.tmp",
            "out.coterie-0123456789abcdef.tmp",
            ".out.lock",
        ],
    )
    def test_what_is_not_ours_stays(self, name: str, tmp_path: Path) -> None:
        make(tmp_path / name, "mine")
        with Claim(tmp_path / "out"):
            pass
        assert content_of(tmp_path / name) == "mine"

    def test_a_name_of_ours_with_something_else_in_it(self, tmp_path: Path) -> None:
        make(tmp_path / STAGING, "mine")
        (tmp_path / ".file.coterie-0123456789abcdef.tmp").write_text("mine")
        for name in ("out", "file"):
            with Claim(tmp_path / name):
                pass
        assert content_of(tmp_path / STAGING) == "mine"
        assert len(names(tmp_path)) == 2

    def test_only_by_the_one_who_holds_the_lock(self, tmp_path: Path) -> None:
        with Claim(tmp_path / "out") as place, place.staged() as fresh:
            fresh.write_text("new")
            with pytest.raises(InUse):
                Claim(tmp_path / "out").__enter__()
            assert fresh.read_text() == "new"

    def test_not_without_locks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the file system knows no locks, another run may be at work."""
        make(tmp_path / STAGING, "")
        (tmp_path / STAGING / "content").rename(tmp_path / STAGING / "new")
        monkeypatch.setattr(_system, "lock", lambda handle: None)
        with Claim(tmp_path / "out") as place, place.staged() as fresh:
            fresh.write_text("new")
            place.put(fresh, anything)
        assert names(tmp_path) == [STAGING, "out"]

    def test_recover(self, tmp_path: Path) -> None:
        (tmp_path / STAGING).mkdir()
        make(tmp_path / STAGING / "old", "old")
        _disk.recover(tmp_path / "nothing of this name")
        _disk.recover(tmp_path / "out")
        assert content_of(tmp_path / "out") == "old"
        assert names(tmp_path) == ["out"]

    def test_a_lock_of_somebody_else(self, tmp_path: Path) -> None:
        (tmp_path / ".out.coterie.lock").write_text("not empty, so not ours")
        with pytest.raises(ModelFileError, match=r"\.out\.coterie\.lock is in the way"):
            Claim(tmp_path / "out").__enter__()
        assert (tmp_path / ".out.coterie.lock").read_text() == "not empty, so not ours"


class TestLock:
    @POSIX
    def test_a_lock_file_removed_by_its_owner_is_not_enough(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Opened, then the owner goes and another run comes: the lock on the removed file is void."""
        plain, calls = _system.lock, []
        first = Claim(tmp_path / "out")
        first.__enter__()
        third = Claim(tmp_path / "out")

        def late(handle: int) -> bool | None:
            calls.append(handle)
            if len(calls) == 1:
                first.__exit__()
                third.__enter__()  # calls this again
                return plain(handle)
            return plain(handle)

        monkeypatch.setattr(_system, "lock", late)
        with pytest.raises(InUse):
            Claim(tmp_path / "out").__enter__()
        third.__exit__()
        assert names(tmp_path) == []

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_dies_with_its_owner(self, tmp_path: Path) -> None:
        child = os.fork()
        if child == 0:
            Claim(tmp_path / "out").__enter__()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert names(tmp_path) == [".out.coterie.lock"]
        with Claim(tmp_path / "out"):
            pass
        assert names(tmp_path) == []


@POSIX
class TestPlaces:
    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "far").mkdir()
        (tmp_path / "page.html").symlink_to(tmp_path / "far" / "real.html")
        for content in (b"first", b"second"):
            _disk.write_atomically(tmp_path / "page.html", content)
            assert (tmp_path / "far" / "real.html").read_bytes() == content
        assert (tmp_path / "page.html").is_symlink()

    @pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002])
    def test_modes_follow_the_umask(self, umask: int, tmp_path: Path) -> None:
        before = os.umask(umask)
        try:
            _disk.write_atomically(tmp_path / "file", b"")
            with Claim(tmp_path / "out") as place, place.staged() as fresh:
                fresh.mkdir()
                place.put(fresh, anything)
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~umask
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o777 & ~umask

    def test_no_device_or_folder_is_replaced_by_a_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="not a regular file"):
            _disk.write_atomically(tmp_path / "pipe", b"page")
        with pytest.raises(ModelFileError, match="it is a folder"):
            _disk.write_atomically(tmp_path, b"page")
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)

    @pytest.mark.parametrize("kind", ["folder", "pipe"])
    def test_what_is_refused_does_not_stay_open(
        self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / kind
        path.mkdir() if kind == "folder" else os.mkfifo(path)
        opened: list[int] = []
        plain = os.open
        monkeypatch.setattr(os, "open", lambda *how: opened.append(plain(*how)) or opened[-1])
        with pytest.raises(_disk.NotReadable, match="not a regular file"):
            _disk.open_regular(path)
        (handle,) = opened
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)

    @pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, "line\nfeed", "a.coterie", "-"])
    def test_names_of_any_kind(self, name: str, tmp_path: Path) -> None:
        _disk.write_atomically(tmp_path / name, b"page")
        _disk.write_atomically(tmp_path / name, b"other")
        assert names(tmp_path) == [name]

    def test_what_is_no_path(self) -> None:
        with pytest.raises(ModelFileError, match="contains a null character"):
            _disk.write_atomically(Path("a\0b"), b"page")
        _disk.recover("a\0b")

    def test_folders_made_for_nothing_go_again(self, tmp_path: Path) -> None:
        with Claim(tmp_path / "a" / "b" / "out", parents=True):
            assert (tmp_path / "a" / "b").is_dir()
        assert names(tmp_path) == []


class RustError(Exception):
    """As libraries written in Rust raise them."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("File too large (os error 27)"), "File too large"),
        (RustError("parquet: IO error: No space left on device (os error 28)"), "No space left on"),
    ],
    ids=str,
)
def test_a_full_disk(error: Exception, said: str, tmp_path: Path) -> None:
    def write(fresh: Path, content: str) -> None:
        fresh.touch()
        raise error

    with pytest.raises(ModelFileError) as caught:
        put(tmp_path / "out", write, anything)
    assert f"{tmp_path / 'out'} cannot be written: {said}" in str(caught.value)
    assert names(tmp_path) == []


# The limit holds for all files of a process, so it must not be set in the one that runs the tests.
LIMITED = """
import resource, signal, sys
from pathlib import Path
from coterie import _disk
from coterie.errors import ModelFileError

page = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
_disk.write_atomically(page, b"old")
try:
    _disk.write_atomically(page, b"new" * 1000)
except ModelFileError as error:
    print(error)
"""


@POSIX
def test_what_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, page], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == f"{page} cannot be written: File too large.\n", done.stderr
    assert page.read_bytes() == b"old"
    assert names(tmp_path) == ["page"]
