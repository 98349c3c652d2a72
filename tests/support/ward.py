"""A folder with sources, hierarchies, a database and targets that exist, to see what a failing command changes."""

import os
import resource
from pathlib import Path

import pytest

from support.command_line import ask, command, write_files

HEADER = "name,age,zip,disease\n"
QI = "--identifiers name --quasi-identifiers age,zip --hierarchies h"
TABLE = f"anonymize people --database hospital.duckdb {QI}"
OUT = "--output out.csv"
LARGE = 20_000  # bytes that any file may hold, far below what is written
Files = dict[str, str | bytes]


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file of a folder with its content."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


@pytest.fixture(scope="session")
def _ward(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes | None]:
    """A folder with sources, hierarchies, a database and targets that exist, as a snapshot."""
    folder = tmp_path_factory.mktemp("ward")
    write_files(folder)
    for old in ("old.csv", "old.parquet"):
        (folder / old).write_text("old")
    for statement in (
        "CREATE TABLE people AS FROM 'people.csv'",
        "CREATE VIEW seen AS FROM people",
        "CREATE TABLE anon AS SELECT 'old' AS old",
        """COMMENT ON TABLE anon IS 'kanon_sql: {"is": "release"}'""",
        "CREATE TABLE mine__age AS SELECT 1 AS mine",
        "CREATE TABLE mine__zip AS SELECT 1 AS mine",
    ):
        ask(str(folder / "hospital.duckdb"), statement.replace("people.csv", f"{folder}/people.csv"))
    return snapshot(folder)


@pytest.fixture
def ward(_ward: dict[str, bytes | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a copy of all that."""
    put(tmp_path, {name: content for name, content in _ward.items() if content is not None})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, files: Files) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def on_a_full_disk(*arguments: object, cwd: Path, largest: int = LARGE) -> None:
    """Run a command that may write no file beyond so many bytes: it must say so in one line."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    # Compiled modules would be cut off at the limit, too, and left so for the processes that follow.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run = command(*arguments, "--overwrite", cwd=cwd, env=environment, preexec_fn=limit)
    assert (run.code, run.out, run.err[:7], run.err.count("\n")) == (2, "", "kanon: ", 1), run
    assert "File too large" in run.err
