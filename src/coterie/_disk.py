"""Writes files and folders atomically: a crash leaves either the old or the new content.

A writer holds a `Claim` on a path: a lock that ends with the process. The new content is created in a
staging folder next to the path and renamed in one step. For a path called `name`, these are the only
other names that coterie creates, and the next claim removes what a killed run left behind:

    .name.coterie.lock                      the lock
    .name.coterie-<16 hex digits>.tmp/      the staging folder: `new`, and `old` while it is set aside
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from coterie import _system
from coterie.errors import CoterieError, InvalidInput, ModelFileError

NEW, OLD = "new", "old"  # inside a staging folder
_INSIDE = re.compile(rf"{OLD}|{NEW}(\.part-\d+)?")  # parts: of a parquet table that grows
TRIES = 50  # retries of steps that another process may disturb
LONGEST = 180  # bytes of a name that are repeated in ours; file systems allow about 255

# returns why the content of a path must not be replaced ("it is ..."), or "" if it may be
Refusal = Callable[[Path], str]
# what was read: files, folders, and 0 for standard input
Read = Sequence[Path | int]


class InUse(ModelFileError):
    """The path is in use by another run."""


class Taken(ModelFileError):
    """The path holds something that must not be replaced."""


class NotReadable(OSError):
    """The file is not a regular file, or is too large; see `strerror`."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; pipes could block and devices be endless: both are refused."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags)
    try:
        check_regular(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file of at most `most` bytes; if it grows meanwhile, only its initial size."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise NotReadable(0, f"it is larger than {most:,} bytes", str(path))
        return file.read(size)


def check_regular(path: Path, about: os.stat_result | None = None) -> None:
    """Raise `NotReadable` for pipes, devices and folders."""
    if not stat.S_ISREG((about or os.stat(path)).st_mode):
        raise NotReadable(0, "it is not a regular file", str(path))


def write_atomically(path: Path, content: bytes, read: Read = ()) -> None:
    """Write or replace a file, but none that was `read`; a crash leaves the old or the new file."""
    check_free(path, no_file)  # before creating a lock next to a device
    with Claim(path, read=read) as place, place.staged() as fresh:
        fresh.write_bytes(content)
        place.put(fresh, no_file)


def check_not_read(path: Path, read: Read) -> None:
    """Refuse an output that is a file that was read, by whatever name, or a folder that holds one.

    Of a folder that was read, such as a model, no file may be replaced; all of it may be, by another.
    """
    held = {_key(at): at for at in read}
    held.pop(None, None)
    target = _real(path)
    if not held or not os.path.lexists(target):
        return
    if target.is_dir():  # those of a run, which may be replaced, have no more levels
        outputs, said = [*target.glob("*"), *target.glob("*/*")], "a folder that contains "
    else:
        folders = [at for at in held.values() if isinstance(at, Path) and at.is_dir()]
        held |= {_key(at): at for folder in folders for at in folder.rglob("*")}
        outputs, said = [target], ""
    for at in outputs:
        found = held.get(_key(at, follow=False))
        if found is not None:
            name = "of standard input" if isinstance(found, int) else found.name
            raise InvalidInput(f"{path} is {said}the input file {name}. Choose another output.")


def check_free(path: Path, refusal: Refusal) -> None:
    """Raise `Taken` if the path holds something that must not be replaced."""
    why = refusal(_real(path)) if os.path.lexists(_real(path)) else ""
    if why:
        raise Taken(f"{path} cannot be written: {why}.")


def no_file(path: Path) -> str:
    """Why a path must not be replaced by a file: it is a folder, device or pipe; "" if it may be."""
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return ""
    return "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"


def free_names(path: Path) -> Iterator[Path]:
    """Alternative names for a path that is taken: reviews-2.coterie, reviews-3.coterie, ..."""
    for number in range(2, 10_000):
        yield path.with_name(f"{path.stem[:200]}-{number}{path.suffix}")


def recover(path: str | os.PathLike[str]) -> None:
    """Restore the old content if a run was killed while it replaced this path."""
    try:
        place = Claim(path)
    except ModelFileError:  # not a valid path: loading reports it
        return
    for _ in range(TRIES):
        if os.path.lexists(place.real) or not any(place.left_behind(OLD)):
            return
        try:
            with place:
                return
        except InUse:  # another run is renaming right now
            time.sleep(0.02)
        except ModelFileError:  # the folder is not writable: loading reports what is missing
            return


class Claim:
    """An exclusive claim on a path that will be written.

    Entering it locks the path, restores old content that a killed run had moved aside, and removes
    what that run left behind. Symbolic links are kept: the claim is on their target. With `parents`,
    missing parent folders are created, and removed again if nothing was written. A path that was `read`
    is refused.
    """

    def __init__(
        self, path: str | os.PathLike[str], parents: bool = False, read: Read = ()
    ) -> None:
        self.path = Path(path)
        self.real = _real(self.path)
        self._parents, self._read = parents, read
        self._made: list[Path] = []
        self._staging: list[Path] = []
        self._lock = self.real.parent / f".{_label(self.real.name)}.coterie.lock"
        self._handle = -1
        # identity of the file found on entering, or last written by `rewrite`
        self._last: Any = None

    def __enter__(self) -> Claim:
        """Lock the path, and clean up after a killed run."""
        check_not_read(self.path, self._read)
        _held.add(self)
        with _errors_as_sentences(self.path):
            try:
                locked = self._take_lock()
                for folder in self.left_behind() if locked else ():
                    _clear(folder, self.real)
                self._last = identity(self.real)
            except BaseException:
                self.__exit__()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        """Unlock the path."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with suppress(OSError):
                _system.unlock(handle, self._lock)
        while self._made:
            with suppress(OSError):
                self._made.pop().rmdir()
        _held.discard(self)

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Yield a temporary path for the new content; `put` it in place before the block ends."""
        name = f".{_label(self.real.name)}.coterie-{secrets.token_hex(8)}.tmp"
        folder = self.real.parent / name
        self._staging.append(folder)
        with _errors_as_sentences(self.path, folder / NEW):
            try:
                folder.mkdir()
                yield folder / NEW
            finally:
                _clear(folder, self.real)
                self._staging.remove(folder)

    def abandon(self) -> None:
        """Remove what is incomplete, and unlock the path."""
        for folder in self._staging:
            _clear(folder, self.real)
        self.__exit__()

    def put(self, fresh: Path, refusal: Refusal, at: Path | None = None) -> None:
        """Rename the staged content to the claimed path, or to `at` next to it, in one step.

        Raises `Taken` if `refusal` gives a reason not to replace existing content.
        """
        target = self.real if at is None else _real(at.parent) / at.name
        _flush(fresh)
        for _ in range(TRIES):
            try:
                _system.move_in(fresh, target)
            except FileExistsError:
                try:
                    _replace(fresh, target, refusal)
                except FileNotFoundError:  # the existing content disappeared meanwhile
                    if os.path.lexists(fresh):
                        continue
                    raise
            with suppress(OSError):  # already renamed; not every system can flush a folder
                flush_folder(target.parent)
            return
        raise Taken("it keeps changing")

    def rewrite(self, content: bytes) -> None:
        """Replace the file that was found on entering, or that was last written here."""

        def another(path: Path) -> str:
            changed = "another file was put there during the run"
            return "" if identity(path) == self._last else changed

        with self.staged() as fresh:
            fresh.write_bytes(content)
            written = identity(fresh)
            self.put(fresh, another)
            self._last = written

    def left_behind(self, holding: str = "") -> Iterator[Path]:
        """Staging folders of this path, recognised by their exact name and content."""
        pattern = re.compile(
            rf"\.{re.escape(_label(self.real.name))}\.coterie-[0-9a-f]{{16}}\.tmp", re.DOTALL
        )
        with suppress(OSError):
            for path in sorted(self.real.parent.iterdir()):
                if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                    inside = {entry.name for entry in path.iterdir()}
                    if all(map(_INSIDE.fullmatch, inside)) and (not holding or holding in inside):
                        yield path

    def _take_lock(self) -> bool:
        """Take the lock, or raise InUse; return False if the file system does not support locks."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        for _ in range(TRIES):
            if self._parents:
                self._make_parents()
            try:
                handle = os.open(self._lock, flags, 0o666)
            except FileNotFoundError:  # another run just removed the empty folder
                if self._parents:
                    continue
                raise
            locked: bool | None = False
            try:
                locked = _system.lock(handle)
                if locked is not False and _is_at(handle, self._lock):
                    self._handle = handle
                    return bool(locked)
            finally:
                if self._handle != handle:
                    os.close(handle)
            if locked is False:
                break  # else the previous owner removed this file: try again
        raise InUse(
            f"{self.path} is in use by another run of coterie. Wait until that run has finished, or"
            " choose another path."
        )

    def _make_parents(self) -> None:
        missing = []
        above = self.real.parent
        while not above.exists():
            missing.append(above)
            above = above.parent
        for folder in reversed(missing):
            with suppress(FileExistsError):
                folder.mkdir()
                self._made.append(folder)


_held: set[Claim] = set()


def abandon_all() -> None:
    """Remove what is incomplete of all that this process writes, before it ends at once."""
    for claim in list(_held):
        claim.abandon()


def flush_folder(folder: Path) -> None:
    """Make a rename durable, if the system can flush folders."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _replace(fresh: Path, target: Path, refusal: Refusal) -> None:
    """Replace the content of `target` with `fresh`, unless `refusal` gives a reason not to."""
    why = refusal(target)
    if why:
        raise Taken(why)
    if _system.exchange(fresh, target):
        why = refusal(fresh)  # check again: now that it has moved, nobody can add to it unnoticed
        if why:
            _system.exchange(fresh, target)
            raise Taken(why)
        return
    if not fresh.is_dir():
        os.replace(fresh, target)
        return
    old = fresh.parent / OLD  # `_clear` restores it if the process ends here
    os.rename(target, old)
    why = refusal(old)
    if why:
        os.rename(old, target)
        raise Taken(why)
    try:
        os.rename(fresh, target)
    except OSError:
        if os.path.lexists(target):  # something else appeared: keep the old content elsewhere
            _rescue(old, target)
        raise


def _rescue(old: Path, target: Path) -> None:
    for name in free_names(target):
        with suppress(FileExistsError):
            _system.move_in(old, name)
            return


def _clear(staging: Path, target: Path) -> None:
    """Remove a staging folder; old content in it is restored if its path is free."""
    with suppress(OSError):
        if (staging / OLD).exists() and not os.path.lexists(target):
            os.rename(staging / OLD, target)
        shutil.rmtree(staging, ignore_errors=True)


def _flush(path: Path) -> None:
    """Flush a file, or all files of a folder, to the disk."""
    if path.is_dir():
        for inside in path.iterdir():
            _flush(inside)
        with suppress(OSError):
            flush_folder(path)
        return
    # Windows only flushes files that are open for writing
    flags = os.O_RDWR if _system.PLATFORM == "win32" else os.O_RDONLY
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _errors_as_sentences(path: Path, fresh: Path | None = None) -> Iterator[None]:
    """Turn errors of the system into a sentence about the path that the user named."""
    try:
        yield
    except (Taken, InUse) as error:
        said = str(error)
        if not said.endswith("."):  # a reason, not yet a sentence, perhaps about another path
            said = f"{path} cannot be written: {said}."
        raise type(error)(said) from None
    except CoterieError as error:
        if fresh is None or str(fresh) not in str(error):
            raise
        raise type(error)(str(error).replace(str(fresh), str(path))) from None
    except Exception as error:
        why = _system_error(error)
        if not why:
            raise
        raise ModelFileError(f"{path} cannot be written: {why}.") from None


def _system_error(error: Exception) -> str:
    """The message of an error of the operating system; "" for other errors.

    Libraries written in Rust wrap errors of the system in their own types.
    """
    before, is_wrapped, _ = str(error).partition(" (os error ")
    if is_wrapped:
        return before.rpartition(":")[2].strip()
    return str(error.strerror or error) if isinstance(error, OSError) else ""


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise ModelFileError(
            f"{str(path)!r} is not a path: it contains a null character."
        ) from None


def _label(name: str) -> str:
    """The part of a name that is repeated in ours; a long name is shortened and gets a digest."""
    raw = os.fsencode(name)
    if len(raw) <= LONGEST:
        return name
    digest = hashlib.blake2b(raw, digest_size=8).hexdigest()
    return f"{raw[:100].decode('utf-8', 'ignore')}-{digest}"


def _key(at: Path | int, follow: bool = True) -> Any:
    """What all names of a file have in common: links, upper and lower case."""
    try:
        about = os.stat(at, follow_symlinks=follow)
    except (OSError, ValueError):
        return None
    return about.st_dev, about.st_ino


def identity(path: Path) -> Any:
    """What distinguishes a file from another file at the same path."""
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open, empty file (our locks are empty) is the one at a path."""
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_size:
        raise FileExistsError(0, f"{path.name} is in the way and has to be moved", str(path))
    try:
        return os.path.samestat(about, path.lstat())
    except FileNotFoundError:
        return False
