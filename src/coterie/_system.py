"""What differs between Linux, macOS and Windows: renaming, locking, signals, and freed memory."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

PLATFORM: str = sys.platform  # a name of our own, so that tests can replace it

# flags of Linux's renameat2 and of macOS's renamex_np
_NO_REPLACE = {"linux": 1, "darwin": 4}
_EXCHANGE = {"linux": 2, "darwin": 2}
_AT_FDCWD = -100
_M_MMAP_THRESHOLD, _LARGE = -3, 2**20  # of mallopt: pieces so large are separate from all others
# A kernel, file system or sandbox without such a rename. EPERM may also be a real refusal; then the
# plain rename that follows fails as well.
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
_OCCUPIED = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR}


def exchange(first: Path, second: Path) -> bool:
    """Exchange the names of two files or folders in one step; False if the system cannot do that."""
    return _rename(first, second, _EXCHANGE)


def move_in(source: Path, target: Path) -> None:
    """Rename to a name that must be free; raises FileExistsError if it is not.

    Existing content is never replaced, even if it appears at the last moment.
    """
    if _rename(source, target, _NO_REPLACE):
        return
    try:
        if PLATFORM == "win32" or source.is_dir():
            # Windows never replaces; elsewhere a folder can only replace an empty folder
            os.rename(source, target)
        else:
            _link_in(source, target)
    except OSError as error:
        if error.errno in _OCCUPIED and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        raise


def _link_in(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(source, target)
    else:
        os.unlink(source)


def _rename(source: Path, target: Path, flags: dict[str, int]) -> bool:
    call = _native_rename(PLATFORM)
    if call is None:
        return False
    number = call(os.fsencode(source), os.fsencode(target), flags[PLATFORM])
    if number in _CANNOT:
        return False
    if number:
        raise OSError(number, os.strerror(number), str(source), None, str(target))
    return True


@cache
def _native_rename(platform: str) -> Callable[[bytes, bytes, int], int] | None:
    """The rename of the system with flags; it returns 0 or an error number."""
    import ctypes

    if platform not in _EXCHANGE:
        return None
    try:
        library = ctypes.CDLL(None, use_errno=True)
        call = library.renameat2 if platform == "linux" else library.renamex_np
    except (OSError, AttributeError):
        return None
    text, number = ctypes.c_char_p, ctypes.c_int
    if platform == "linux":
        call.argtypes = (number, text, number, text, ctypes.c_uint)
        return lambda a, b, flag: (
            ctypes.get_errno() if call(_AT_FDCWD, a, _AT_FDCWD, b, flag) else 0
        )
    call.argtypes = (text, text, ctypes.c_uint)
    return lambda a, b, flag: ctypes.get_errno() if call(a, b, flag) else 0


def lock(handle: int) -> bool | None:
    """Lock an open file until it is closed or the process ends, however it ends.

    False if another process holds the lock; None if the file system does not support locks.
    """
    try:
        if PLATFORM == "win32":
            windows: Any = importlib.import_module("msvcrt")
            windows.locking(handle, windows.LK_NBLCK, 1)
        else:
            posix: Any = importlib.import_module("fcntl")
            posix.flock(handle, posix.LOCK_EX | posix.LOCK_NB)
    except OSError as error:
        held = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
        return False if error.errno in held else None
    return True


def unlock(handle: int, path: Path) -> None:
    """Release a lock and remove its file, in the order that the system allows."""
    if PLATFORM != "win32":  # while the lock is held, so that others notice that the file is gone
        path.unlink(missing_ok=True)
        os.close(handle)
        return
    os.close(
        handle
    )  # Windows cannot remove an open file, which protects the lock of the next owner
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return


@contextmanager
def noted_interrupts(
    say: Callable[[], Any] = lambda: None, worth: Callable[[], bool] = lambda: True
) -> Iterator[Callable[[], bool]]:
    """Record the first Ctrl-C instead of raising, so that work in progress can finish.

    Yields a function that returns whether Ctrl-C was pressed. The first Ctrl-C calls `say`, which must
    be safe in a signal handler. A second Ctrl-C raises KeyboardInterrupt, and so does the first while
    `worth` says that there is nothing to keep. Signals are only handled in the main thread.
    """
    asked = threading.Event()
    ours = threading.current_thread() is threading.main_thread()
    # None: not set from Python. SIG_IGN: a background job, or a program that ignores Ctrl-C.
    if not ours or signal.getsignal(signal.SIGINT) in (None, signal.SIG_IGN):
        yield asked.is_set
        return

    def note(number: int, frame: Any) -> None:
        if asked.is_set() or not worth():
            raise KeyboardInterrupt
        asked.set()
        say()

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # a sub-interpreter or embedding that does not allow it
        yield asked.is_set
        return
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ended_by_signals(last: Callable[[int], Any]) -> Iterator[None]:
    """Let SIGTERM and SIGHUP call `last` with their number, and then end the process with 128 and that.

    A signal that is ignored, as SIGHUP is by nohup, stays so, and so does one that the program handles. No
    exception is raised: it could be lost in code that catches all of them.
    """
    ours, before = os.getpid(), {}

    def end(number: int, frame: Any) -> None:
        try:
            if os.getpid() == ours:  # and no process that was forked from it
                last(number)
        finally:
            os._exit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                with suppress(ValueError):  # a sub-interpreter
                    before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Threads that start meanwhile never get Ctrl-C, nor do the processes that they start, then or later.

    A terminal sends it to all processes of a command. What comes meanwhile reaches this thread afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # else the thread that starts it later would hear again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def release_memory() -> None:
    """Give freed memory back to the system: the C library of most Linux systems keeps it."""
    if PLATFORM == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def keep_no_freed_arrays() -> None:
    """Let freed arrays of a megabyte go back to the system at once, in this process from now on.

    The C library of most Linux systems keeps ever larger pieces instead, once one has been freed: after
    clustering a million titles, 130 MB.
    """
    if PLATFORM == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
