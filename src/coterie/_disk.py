"""Files and folders: written so that a crash leaves the old or the new, read only if they are files.

Whoever writes holds a `Claim` on the place: a lock that ends with the process. The new content grows
in a staging folder beside the place and takes its name in one step. These are the only names of ours
beside a place called `name`, and the next claim on it removes what a killed run left of them:

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from coterie import _system
from coterie.errors import CoterieError, ModelFileError

NEW, OLD = "new", "old"  # inside a staging folder
TRIES = 50  # at steps that somebody else may foil
LONGEST = 180  # bytes of a name that are repeated in ours; a file system allows about 255

# why what stands at a path must stay, in words that follow "it"; "" if it may be replaced
Refusal = Callable[[Path], str]


class InUse(ModelFileError):
    """A place that another run is writing to."""


class Taken(ModelFileError):
    """A place where something stands that must not be replaced."""


class NotReadable(OSError):
    """A file that must not be read: no regular file, or too large. `strerror` says which."""


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    A pipe would wait forever and a device never end, so neither is opened for longer than it takes
    to see what it is. Of a file that grows meanwhile, what was there at first is read.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        _check_regular(path, about)
        if about.st_size > most:
            raise NotReadable(0, f"it is larger than {most:,} bytes", str(path))
        return file.read(about.st_size)


def check_regular(path: Path) -> None:
    """Raise `NotReadable` for a pipe, a device, a folder."""
    _check_regular(path, os.stat(path))


def _check_regular(path: Path, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise NotReadable(0, "it is not a regular file", str(path))


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file, over an older one if there is one: the old or the new file, never a half."""
    check_free(path, no_file)  # before a lock is put beside a device
    with Claim(path) as place, place.staged() as fresh:
        fresh.write_bytes(content)
        place.put(fresh, no_file)


def check_free(path: Path, refusal: Refusal) -> None:
    """Refuse a place where something stands that must not be replaced."""
    why = refusal(_real(path)) if os.path.lexists(_real(path)) else ""
    if why:
        raise Taken(f"{path} cannot be written: {why}.")


def no_file(path: Path) -> str:
    """A refusal: folders, devices and pipes are not replaced by a file."""
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return ""
    return "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"


def free_names(path: Path) -> Iterator[Path]:
    """Other names for a place that is taken: reviews-2.coterie, reviews-3.coterie, ..."""
    for number in range(2, 10_000):
        yield path.with_name(f"{path.stem[:200]}-{number}{path.suffix}")


def recover(path: str | os.PathLike[str]) -> None:
    """If nothing has this name because a run was killed at the wrong moment, restore what had."""
    try:
        place = Claim(path)
    except ModelFileError:  # no path at all: loading says so
        return
    for _ in range(TRIES):
        if os.path.lexists(place.real) or not any(place.left_behind(OLD)):
            return
        try:
            with place:
                return
        except InUse:  # by a run that is just renaming
            time.sleep(0.02)
        except ModelFileError:  # a folder that is not ours to write: loading says what is missing
            return


class Claim:
    """A place to write to that nobody else writes to at the same time.

    Entering it locks the place, restores what a killed run had set aside, and removes what it left
    behind. A symbolic link stays a link: what it points to is the place. With `parents`, missing
    folders above are made, and removed again if nothing was written into them.
    """

    def __init__(self, path: str | os.PathLike[str], parents: bool = False) -> None:
        self.path = Path(path)
        self.real = _real(self.path)
        self._parents = parents
        self._made: list[Path] = []
        self._lock = self.real.parent / f".{_label(self.real.name)}.coterie.lock"
        self._handle = -1
        self._last: Any = None  # what stood here on entering, or what `rewrite` wrote last

    def __enter__(self) -> Claim:
        """Lock, restore, sweep."""
        with _in_words(self.path):
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
        """Give the place back."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with suppress(OSError):
                _system.unlock(handle, self._lock)
        while self._made:
            with suppress(OSError):
                self._made.pop().rmdir()

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Where to make the new file or folder; `put` it in place before the block ends."""
        name = f".{_label(self.real.name)}.coterie-{secrets.token_hex(8)}.tmp"
        folder = self.real.parent / name
        with _in_words(self.path, folder / NEW):
            try:
                folder.mkdir()
                yield folder / NEW
            finally:
                _clear(folder, self.real)

    def put(self, fresh: Path, refusal: Refusal, at: Path | None = None) -> None:
        """Give what was staged the place's name, or another one beside it, in one step.

        Raises `Taken` if something stands there that `refusal` does not let go.
        """
        target = self.real if at is None else _real(at.parent) / at.name
        _flush(fresh)
        for _ in range(TRIES):
            try:
                _system.move_in(fresh, target)
            except FileExistsError:
                try:
                    _replace(fresh, target, refusal)
                except FileNotFoundError:  # what stood there has gone by now
                    if os.path.lexists(fresh):
                        continue
                    raise
            with suppress(OSError):  # it stands; not every system lets a folder be flushed
                flush_folder(target.parent)
            return
        raise Taken("it changes all the time")

    def rewrite(self, content: bytes) -> None:
        """Write a file over the one that was here on entering, or that was written here last."""

        def another(path: Path) -> str:
            changed = "another file was put there while the run was going on"
            return "" if identity(path) == self._last else changed

        with self.staged() as fresh:
            fresh.write_bytes(content)
            written = identity(fresh)
            self.put(fresh, another)
            self._last = written

    def left_behind(self, holding: str = "") -> Iterator[Path]:
        """Staging folders of this place, by their exact name and content."""
        pattern = re.compile(
            rf"\.{re.escape(_label(self.real.name))}\.coterie-[0-9a-f]{{16}}\.tmp", re.DOTALL
        )
        with suppress(OSError):
            for path in sorted(self.real.parent.iterdir()):
                if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                    inside = {entry.name for entry in path.iterdir()}
                    if inside <= {NEW, OLD} and (not holding or holding in inside):
                        yield path

    def _take_lock(self) -> bool:
        """Hold the lock, or raise InUse; False if the file system knows no locks."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        for _ in range(TRIES):
            if self._parents:
                self._make_parents()
            try:
                handle = os.open(self._lock, flags, 0o666)
            except FileNotFoundError:  # another run took an empty folder away just now
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
                break  # otherwise the owner before removed this file: lock the next one
        raise InUse(
            f"{self.path} is in use by another run of coterie; wait until that run has finished, or"
            " name another place."
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


def flush_folder(folder: Path) -> None:
    """Make a rename durable, where the system lets a folder be flushed."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _replace(fresh: Path, target: Path, refusal: Refusal) -> None:
    """Put `fresh` in the place of what stands there, unless that must stay."""
    why = refusal(target)
    if why:
        raise Taken(why)
    if _system.exchange(fresh, target):
        why = refusal(fresh)  # nobody can add to it unseen any more: it has left its place
        if why:
            _system.exchange(fresh, target)
            raise Taken(why)
        return
    if not fresh.is_dir():
        os.replace(fresh, target)
        return
    old = fresh.parent / OLD  # restored by `_clear` if this is where it ends
    os.rename(target, old)
    why = refusal(old)
    if why:
        os.rename(old, target)
        raise Taken(why)
    try:
        os.rename(fresh, target)
    except OSError:
        if os.path.lexists(target):  # something came in between: keep what stood there before
            _rescue(old, target)
        raise


def _rescue(old: Path, target: Path) -> None:
    for name in free_names(target):
        with suppress(FileExistsError):
            _system.move_in(old, name)
            return


def _clear(staging: Path, target: Path) -> None:
    """Remove a staging folder; what was set aside gets its name back if nothing else has it."""
    with suppress(OSError):
        if (staging / OLD).exists() and not os.path.lexists(target):
            os.rename(staging / OLD, target)
        shutil.rmtree(staging, ignore_errors=True)


def _flush(path: Path) -> None:
    """Write a file, or all files of a folder, through to the disk."""
    if path.is_dir():
        for inside in path.iterdir():
            _flush(inside)
        with suppress(OSError):
            flush_folder(path)
        return
    # Windows flushes only what is open for writing
    flags = os.O_RDWR if _system.PLATFORM == "win32" else os.O_RDONLY
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _in_words(path: Path, fresh: Path | None = None) -> Iterator[None]:
    """What the system refuses, as a sentence about the place that the user named."""
    try:
        yield
    except (Taken, InUse) as error:
        said = str(error)
        if not said.startswith(str(path)):
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
    """What the system refused, in its own words; "" if it was not the system.

    Libraries written in Rust hand on an error of the system in errors of their own, of any type.
    """
    told = re.search(r"([^:]*) \(os error \d+\)", str(error))
    if told is not None:
        return told[1].strip()
    return str(error.strerror or error) if isinstance(error, OSError) else ""


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise ModelFileError(f"{str(path)!r} is no path: it holds a null character.") from None


def _label(name: str) -> str:
    """A name as it is repeated in ours: whole, or its beginning and a digest if it is too long."""
    raw = os.fsencode(name)
    if len(raw) <= LONGEST:
        return name
    digest = hashlib.blake2b(raw, digest_size=8).hexdigest()
    return f"{raw[:100].decode('utf-8', 'ignore')}-{digest}"


def identity(path: Path) -> Any:
    """What tells a file from another one at the same path."""
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open, empty file (as all our locks are) is the one at a path."""
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_size:
        raise FileExistsError(0, f"{path.name} is in the way; move it away", str(path))
    try:
        return os.path.samestat(about, path.lstat())
    except FileNotFoundError:
        return False
