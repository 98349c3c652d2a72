"""Staged files: private until they are placed, placed together or not at all, and never over foreign files."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.errors import TargetError
from kanon_sql.interrupts import Stopped
from kanon_sql.staging import PrivateFolder, Staging, abandoned


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def stage(staging: Staging, path: Path, text: str, overwrite: bool = False) -> None:
    with staging.file(path, overwrite) as temporary:
        temporary.write_text(text)


def texts(folder: Path) -> dict[str, str]:
    """Every file of a folder, hidden ones too, with what is in it."""
    return {path.name: path.read_text() if path.is_file() else "a folder" for path in folder.iterdir()}


def test_a_file_is_private_until_it_is_placed(tmp_path: Path, umask: Callable[[int], int]) -> None:
    umask(0)
    target = tmp_path / "release.csv"
    with Staging() as staging:
        with staging.file(target, overwrite=False) as temporary:
            assert (mode(temporary), mode(temporary.parent)) == (0o600, 0o700)
            assert temporary.parent.parent == tmp_path
            temporary.write_text("a")
        assert mode(temporary) == 0o600
        assert not target.exists()
        staging.place()
        assert target.read_text() == "a"
    assert texts(tmp_path) == {"release.csv": "a"}


@pytest.mark.parametrize(("mask", "new"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640)])
def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path, umask: Callable[[int], int], mask: int, new: int) -> None:
    umask(mask)
    with Staging() as staging:
        stage(staging, tmp_path / "new", "a")
        stage(staging, tmp_path / "other", "a", overwrite=True)
        staging.place()
    assert (mode(tmp_path / "new"), mode(tmp_path / "other")) == (new, new)


@pytest.mark.parametrize("old", [0o600, 0o640, 0o666, 0o444])
@pytest.mark.usefixtures("umask")
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, old: int) -> None:
    target = tmp_path / "release.csv"
    target.write_text("old")
    target.chmod(old)
    with Staging() as staging:
        stage(staging, target, "new", overwrite=True)
        staging.place()
    assert (target.read_text(), mode(target)) == ("new", old)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away; run as root")
def test_a_replaced_file_keeps_its_owner_and_group(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"
    target.write_text("old")
    os.chown(target, 12345, 23456)
    target.chmod(0o640)
    with Staging() as staging:
        stage(staging, target, "new", overwrite=True)
        staging.place()
    assert (target.stat().st_uid, target.stat().st_gid, mode(target)) == (12345, 23456, 0o640)


def test_the_rights_of_a_group_are_not_granted_to_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "release.csv"
    target.write_text("old")
    target.chmod(0o660)

    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    with Staging() as staging:
        stage(staging, target, "new", overwrite=True)
        staging.place()
    assert (target.read_text(), mode(target)) == ("new", 0o600)


def without_links(*_: Any, **__: Any) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("links", [True, False])
def test_a_target_created_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", without_links)
    target = tmp_path / "release.csv"

    def late() -> None:
        with Staging() as staging:
            stage(staging, target, "ours")
            stage(staging, tmp_path / "beside.csv", "ours")
            target.write_text("theirs")
            staging.place()

    with pytest.raises(
        TargetError, match=r"release.csv was created by another program meanwhile.*; use `overwrite=True` to"
    ):
        late()
    assert texts(tmp_path) == {"release.csv": "theirs"}


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.usefixtures("umask")
def test_a_file_system_without_links_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", without_links)
    (tmp_path / "old").write_text("old")
    with Staging() as staging:
        stage(staging, tmp_path / "old", "new", overwrite=True)
        stage(staging, tmp_path / "new", "new")
        staging.place()
    assert texts(tmp_path) == {"old": "new", "new": "new"}
    assert mode(tmp_path / "new") == 0o644


@pytest.mark.parametrize("links", [True, False])
def test_an_error_afterwards_takes_files_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """As when the transaction of the table that they tell of cannot be ended."""
    if not links:
        monkeypatch.setattr(os, "link", without_links)

    def fail() -> None:
        raise ValueError("late")

    (tmp_path / "old").write_text("old")
    with pytest.raises(ValueError, match="late"):
        place_all([tmp_path / "new", tmp_path / "old"], fail)
    assert texts(tmp_path) == {"old": "old"}


def test_an_early_error_leaves_everything_unchanged(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")

    def fail() -> None:
        with Staging() as staging:
            stage(staging, tmp_path / "old", "new", overwrite=True)
            raise ValueError("early")

    with pytest.raises(ValueError, match="early"):
        fail()
    assert texts(tmp_path) == {"old": "old"}


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("failing", ["names", "counts", "rows"])
def test_an_error_while_files_are_placed_takes_them_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, links: bool
) -> None:
    """Two files are replaced and one is new; placing any of them may fail."""
    targets = [tmp_path / name for name in ("rows", "counts", "names")]
    for target in targets[:2]:
        target.write_text(f"old {target.name}")
    before, tried = texts(tmp_path), []

    def but_once(place: Callable[..., None]) -> Callable[..., None]:
        def instead(source: Path, target: Path, **how: Any) -> None:
            if target in targets and not str(source).endswith("-old"):
                tried.append(target.name)
                if target.name == failing:
                    raise OSError(errno.ENOSPC, "No space left on device")
            place(source, target, **how)

        return instead

    monkeypatch.setattr(os, "replace", but_once(os.replace))
    monkeypatch.setattr(os, "link", but_once(os.link) if links else without_links)
    with pytest.raises(TargetError, match=f"{failing} cannot be written: No space left on device; free some space"):
        place_all(targets)
    order = ["names", "counts", "rows"]
    assert list(dict.fromkeys(tried)) == order[: order.index(failing) + 1]
    assert texts(tmp_path) == before


def place_all(targets: Sequence[Path], then: Callable[[], None] = lambda: None) -> None:
    """Stage all targets, replacing those that are there, place them, and go on in the same block."""
    with Staging() as staging:
        for target in targets:
            stage(staging, target, f"new {target.name}", overwrite=target.exists())
        staging.place()
        then()


def test_the_first_file_is_placed_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link, placed = os.link, []
    monkeypatch.setattr(os, "link", lambda *given, **how: (placed.append(given[1].name), link(*given, **how))[1])
    with Staging() as staging:
        with staging.file(tmp_path / "rows", False) as rows, staging.file(tmp_path / "counts", False) as counts:
            rows.touch()
            counts.touch()
        stage(staging, tmp_path / "trace", "")
        staging.place()
    assert placed == ["trace", "counts", "rows"]


def test_files_placed_meanwhile_by_others_are_not_removed(tmp_path: Path) -> None:
    target = tmp_path / "release.csv"

    def replaced() -> None:
        target.unlink()
        target.write_text("theirs")
        raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        place_all([target], replaced)
    assert texts(tmp_path) == {"release.csv": "theirs"}


@pytest.mark.parametrize("where", ["nowhere", "file"])
def test_an_unwritable_place_is_reported(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("a")
    with (
        pytest.raises(TargetError, match=f"{where}/release.csv cannot be written: (No such|Not a).*; free some space"),
        Staging() as staging,
    ):
        stage(staging, tmp_path / where / "release.csv", "a")


# Leftovers


LEFT = """
import os, signal, sys
from pathlib import Path
from kanon_sql.staging import Staging
staging = Staging()
with staging.file(Path(sys.argv[1]), False) as temporary:
    temporary.write_text("left")
    print(temporary.parent, flush=True)
    sys.stdin.read()
"""


def test_the_folder_of_a_killed_process_is_recognized_as_abandoned(tmp_path: Path) -> None:
    line, pipe = [sys.executable, "-c", LEFT, str(tmp_path / "release.csv")], subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        folder = Path(process.stdout.readline().strip())
        os.utime(folder, (0, 0))
        assert not abandoned(folder), "its process lives"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert f"-{process.pid}-" in folder.name
    assert abandoned(folder)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_folder_of_another_process_is_never_treated_as_abandoned(tmp_path: Path) -> None:
    with Staging() as staging:
        stage(staging, tmp_path / "release.csv", "a")
        (ours,) = tmp_path.iterdir()
        os.utime(ours, (0, 0))
        assert not abandoned(ours), "it is this process's own"
    elsewhere = tmp_path / ".kanon-another_machine-999999999-abcdefgh"
    plain, file = tmp_path / "kanon", tmp_path / ours.name
    elsewhere.mkdir()
    plain.mkdir()
    file.touch()
    assert not any(map(abandoned, (elsewhere, plain, file, tmp_path / "nothing")))


def test_the_number_of_a_dead_process_can_be_reused(tmp_path: Path) -> None:
    """In a container that is started again, the next run may have the very number of the killed one."""
    folder = PrivateFolder(tmp_path)
    left = tmp_path / f"{folder.path.name[:-8]}leftover"
    folder.remove()
    left.mkdir()
    assert not abandoned(left), "it may have been made this moment, and not be locked yet"
    an_hour_ago = time.time() - 3600
    os.utime(left, (an_hour_ago, an_hour_ago))
    assert abandoned(left)


def test_a_private_folder_is_removed_with_its_process(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path)
    path = folder.path
    (path / "spilled").touch()
    assert path.is_dir()
    del folder
    assert not path.exists()


def test_a_signal_directly_after_the_folder_was_created_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir

    def mkdir_and_stop(self: Path, mode: int = 0o777) -> None:
        mkdir(self, mode=mode)
        raise Stopped(signal.SIGINT)

    monkeypatch.setattr(Path, "mkdir", mkdir_and_stop)
    with pytest.raises(Stopped):
        PrivateFolder(tmp_path)
    assert texts(tmp_path) == {}
