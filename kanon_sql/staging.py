"""Staged files: written where no other user can read them, and renamed in one step at the end.

    with Staging() as staging:
        with staging.file(path, overwrite=False) as temporary:
            ...  # write it, read it back, check it
        ...  # everything else that can fail
        staging.place()

If the block raises, all files are unchanged. A killed process leaves at most a folder `.kanon-HOST-PID-RANDOM`, next to
the target or where DuckDB spilled; the next run there removes it if it is `abandoned`.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import stat
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType

from kanon_sql.errors import KanonError, TargetError
from kanon_sql.relation import Relation

if sys.platform != "win32":
    import fcntl

_HOST = re.sub(r"[^\w.-]", "_", socket.gethostname())[:64]
_NAME = re.compile(r"\.kanon-(?P<host>.*)-(?P<pid>\d+)-[^-]*")
_SETTLED = 60  # seconds after which the folder of a living process is certainly locked


class PrivateFolder:
    """A folder of mode 0700 with a recognizable name; removed with its contents by `remove`, at the latest at exit.

    It is locked while its process lives: process numbers are reused, and occur in several containers.
    """

    def __init__(self, parent: Path) -> None:
        for left in parent.glob(".kanon-*"):
            if abandoned(left):
                shutil.rmtree(left, ignore_errors=True)
        self.path = parent.absolute() / f".kanon-{_HOST}-{os.getpid()}-{secrets.token_hex(8)}"
        # Registered first: a signal can raise between any two statements, also directly after the folder was created.
        locks: list[int | None] = []
        self.remove = weakref.finalize(self, _remove, self.path, locks)
        self.path.mkdir(mode=0o700)
        locks.append(_lock(self.path))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def abandoned(folder: Path) -> bool:
    """Whether a killed process of this machine left the folder behind."""
    name = _NAME.fullmatch(folder.name)
    if not name or name["host"] != _HOST or not folder.is_dir() or folder.is_symlink():
        return False
    try:
        lock = _lock(folder)
    except BlockingIOError:
        return False
    if lock is None:
        return not _alive(int(name["pid"]))
    os.close(lock)
    return not _alive(int(name["pid"])) or time.time() - folder.stat().st_mtime > _SETTLED


@dataclass
class _Staged:
    """A staged file; `identity` identifies the file itself, whatever its name."""

    file: Path
    target: Path
    overwrite: bool
    identity: tuple[int, int] = (0, 0)
    replaces: bool = False
    private: bool = False

    @property
    def old(self) -> Path:
        """Where the replaced file is kept until everything is done."""
        return self.file.with_name(f"{self.file.name}-old")


class Staging:
    """A few files that become visible together, the first of them last.

    `staged_tables`: tables that no transaction hides, by their final names, with their current names.
    """

    def __init__(self) -> None:
        self.staged_tables: dict[Relation, Relation] = {}
        self._folders: dict[Path, PrivateFolder] = {}
        self._numbers = count()
        self._waiting: list[_Staged] = []
        self._placed: list[_Staged] = []
        self._deferred: list[tuple[Callable[[], None], Callable[[], None]]] = []

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self._roll_back()
        for folder in self._folders.values():
            folder.remove()

    @contextmanager
    def file(self, path: Path, overwrite: bool, private: bool = False) -> Iterator[Path]:
        """An empty file of mode 0600 to write to, which `place` renames to `path`; TargetError if that fails.

        `overwrite`: whether it may replace a file that exists by then. `private`: it keeps its mode.
        """
        target = path.absolute()
        with _explained(path):
            if target.parent not in self._folders:
                self._folders[target.parent] = PrivateFolder(target.parent)
            # Without the ending of a data file, so that no glob includes it in a source if the process is killed.
            file = self._folders[target.parent].path / str(next(self._numbers))
            staged = _Staged(file, target, overwrite, private=private)
            self._waiting.append(staged)
            staged.file.touch(mode=0o600, exist_ok=False)
            yield staged.file
            staged.identity = _flushed(staged.file)

    def write(self, path: Path, content: str | bytes, overwrite: bool, private: bool = False) -> None:
        """Stage a file with this content; a text as UTF-8."""
        with self.file(path, overwrite, private) as temporary:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode())

    @property
    def staged_files(self) -> dict[Path, Path]:
        """The staged files, by their final paths, with their current paths."""
        return {staged.target: staged.file for staged in self._waiting}

    def place(self) -> None:
        """Rename all files, the last one first, so that the first file, the release, becomes visible last."""
        for staged in self._waiting:
            with _explained(staged.target):
                _set_mode(staged)
        folders = {staged.target.parent for staged in self._waiting}
        while self._waiting:
            staged = self._waiting.pop()
            self._placed.append(staged)
            with _explained(staged.target):
                _replace(staged, must_keep=bool(self._waiting)) if staged.overwrite else _link(staged)
        for folder in folders:
            with suppress(OSError):  # the release is visible, even if the folder cannot be flushed to disk
                _flushed(folder)

        while self._deferred:
            place, _ = self._deferred[0]
            place()
            del self._deferred[0]

    def defer(self, place: Callable[[], None], discard: Callable[[], None]) -> None:
        """Run `place` after the files, or `discard` at the end of `deferring` if that never happens."""
        self._deferred.append((place, discard))

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """A block that, if it raises, discards the deferred work at its end."""
        try:
            yield
        except BaseException:
            while self._deferred:
                _, discard = self._deferred.pop()
                with suppress(KanonError):
                    discard()
            raise

    def _roll_back(self) -> None:
        while self._placed:
            staged = self._placed.pop()
            with suppress(OSError):
                if _identity(staged.target) != staged.identity:
                    continue
                if staged.old.exists():
                    os.replace(staged.old, staged.target)
                elif not staged.replaces:
                    staged.target.unlink()


class NewFile:
    """A file that another program creates: `file` in a private folder, which `place` moves to its `path`.

    TargetError if the folder cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        with _explained(path):
            self._folder = PrivateFolder(self.path.parent)
        self.file = self._folder.path / path.name

    def place(self) -> None:
        """Move the finished file to its path; TargetError if another file was created there meanwhile."""
        staged = _Staged(self.file, self.path, overwrite=False)
        with _explained(self.path):
            _set_mode(staged)
            _flushed(self.file)
            _link(staged, "run again to add to it, or name another file")

    def remove(self) -> None:
        """Remove the folder and its contents; a placed file stays."""
        self._folder.remove()


def make_private(folder: Path) -> None:
    """Create a folder of mode 0700 unless it exists; TargetError if it is a link, or writable by everybody."""
    if folder.is_symlink():
        raise TargetError(f"{folder}, which is for its owner alone, is a link; replace it by a folder")
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.name == "posix" and folder.stat().st_mode & stat.S_IWOTH:
        raise TargetError(
            f"anybody can write to {folder}, which must be private; check its contents, and make it private with "
            "its owner alone (`chmod 700`)"
        )


@contextmanager
def locked(path: Path, seconds: float, busy: str) -> Iterator[None]:
    """A block that only one process runs at a time, by a lock on a file or folder; otherwise TargetError `busy`.

    `seconds`: how long to wait for the lock. It ends with its process, however that ends.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            descriptor = _lock(path)
            break
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TargetError(busy) from None
            time.sleep(0.05)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _link(staged: _Staged, way_out: str = "use `overwrite=True` to replace it, or name another file") -> None:
    """Place a file where none exists, or fail; of two concurrent runs, only one succeeds."""
    try:
        try:
            os.link(staged.file, staged.target)
        except FileExistsError:
            raise
        except OSError:
            _reserve_and_replace(staged)
    except FileExistsError:
        raise TargetError(
            f"{staged.target} was created by another program meanwhile, and nothing was released; {way_out}"
        ) from None


def _reserve_and_replace(staged: _Staged) -> None:
    """The same without hard links: an empty file reserves the name, which no other program can then create."""
    os.close(os.open(staged.target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        os.replace(staged.file, staged.target)
    except BaseException:
        staged.target.unlink()
        raise


def _replace(staged: _Staged, must_keep: bool) -> None:
    """Place a file and replace an existing one, which is kept aside for `_roll_back`."""
    staged.replaces = os.path.lexists(staged.target)
    if staged.replaces:
        try:
            os.link(staged.target, staged.old, follow_symlinks=False)
        except OSError:
            if must_keep:
                shutil.copy2(staged.target, staged.old, follow_symlinks=False)
    os.replace(staged.file, staged.target)


def _set_mode(staged: _Staged) -> None:
    """Set the mode, owner and group of the replaced file, as far as permitted; otherwise the umask's mode."""
    if staged.private:
        return
    try:
        old = staged.target.stat() if staged.overwrite else None
    except FileNotFoundError:
        old = None
    if old is None:
        staged.file.chmod(_ordinary_mode(staged.file.parent))
        return
    mode = stat.S_IMODE(old.st_mode) & 0o777
    try:
        os.chown(staged.file, -1, old.st_gid)
    except OSError:
        mode &= ~0o070  # the rights belonged to that group, not to ours
    with suppress(OSError):
        os.chown(staged.file, old.st_uid, -1)
    staged.file.chmod(mode)


def _ordinary_mode(folder: Path) -> int:
    """The mode by the umask, read from a new file: other ways to read the umask change it for all threads."""
    probe = folder / "mode"
    probe.unlink(missing_ok=True)
    os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return stat.S_IMODE(probe.stat().st_mode)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat(follow_symlinks=False)
    return status.st_dev, status.st_ino


def _flushed(path: Path) -> tuple[int, int]:
    """Flush a file, or the names in a folder, to disk; returns its identity."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return _identity(path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise TargetError(f"{path} cannot be written: {reason}; free some space, or name another place") from error


def _remove(folder: Path, locks: Sequence[int | None]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for lock in locks:
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder until the descriptor is closed; None if not supported, BlockingIOError if it is locked."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return descriptor


def _alive(process: int) -> bool:
    if sys.platform == "win32":  # where signal 0 is not a test
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def write_file(path: Path, content: str | bytes, overwrite: bool, private: bool = False) -> None:
    """Write one file in one step; TargetError if it exists and must not be replaced."""
    with Staging() as staging:
        staging.write(path, content, overwrite, private)
        staging.place()


def make_folder(folder: Path, another: str = "place", mode: int = 0o777) -> None:
    """Create a folder and those above it, if they are missing; TargetError names what to choose another of."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"the folder {folder} cannot be created: {error.strerror}; name another {another}") from None
