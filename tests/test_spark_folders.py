"""A release as a folder of Parquet files that the cluster writes, and such a folder as the source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from kanon_sql import anonymize, verify
from kanon_sql.engines.spark import Spark
from kanon_sql.errors import KanonError, SourceError, SpecError, TargetError, VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release import findings, tables
from kanon_sql.release.findings import Summary
from support.database import create_table

pytestmark = pytest.mark.spark
TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
ROWS = [(f"p{i}", None if i % 40 == 7 else 20 + i % 4, f"z{i % 3}{i % 2}", ("flu", "acne")[i % 2]) for i in range(120)]
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
}


@pytest.fixture
def cluster(chosen_spark: Spark) -> Iterator[Spark]:
    """The Spark engine that was chosen, with a table of people, and no other at the end."""
    create_table(chosen_spark, "people", TYPES, ROWS)
    yield chosen_spark
    assert [table.name for table in chosen_spark.connection.catalog.listTables() if table.name != "made"] == ["people"]


def release(engine: Spark, folder: Path, source: str = "people", **options: Any) -> Any:
    given = {"connection": engine.connection, "k": 3, "into": f"parquet.`{folder}`", **options}
    return anonymize(source, SPEC, **given)


def rows(engine: Spark, name: str) -> list[tuple[Any, ...]]:
    return sorted(engine.rows(f"SELECT age, zip, ill FROM {name}"), key=str)


@pytest.mark.capability("a release as a folder of Parquet files that the server writes")
def test_a_folder_has_the_rows_of_a_table_and_can_be_verified_and_read(cluster: Spark, tmp_path: Path) -> None:
    folder = tmp_path / "out.d" / "it's anon"
    released = release(cluster, folder)
    anonymize("people", SPEC, connection=cluster.connection, k=3, into="made")
    assert rows(cluster, f"parquet.`{folder}`") == rows(cluster, "made")
    assert released.manifest["target"] == {"table": f"parquet.`{folder}`", "as": "folder"}
    assert "a reader may have found a part of the files" in released.manifest["not_atomic"]
    assert released.verify()
    assert len(released.to_df()) == 120
    options = {"quasi_identifiers": ["age", "zip"], "connection": cluster.connection}
    assert verify(f"parquet.`{folder}`", k=3, **options)
    assert not verify(f"parquet.`{folder}`", k=100, **options)

    again = {**SPEC, "identifiers": []}
    read = anonymize(f"parquet.`{folder}`", again, connection=cluster.connection, k=7, into=f"parquet.`{folder}2`")
    assert read.manifest["released_rows"] == 120
    assert verify(f"parquet.`{folder}2`", k=7, **options)

    with pytest.raises(TargetError, match="exists already, and spark cannot replace a folder"):
        release(cluster, folder, overwrite=True)


def test_the_files_of_a_folder_reveal_only_the_release(cluster: Spark, tmp_path: Path) -> None:
    """Not of the source's name, the order of its rows, nor of where they were staged."""
    released = []
    for name, given in (("one", ROWS), ("other", ROWS[::-1])):
        create_table(cluster, f"secret_{name}", TYPES, given)
        release(cluster, tmp_path / name, f"secret_{name}")
        cluster.run(f"DROP TABLE secret_{name}")
        paths = sorted(path for path in (tmp_path / name).rglob("*.parquet") if not path.name.startswith("."))
        released.append([pyarrow.parquet.read_table(path).to_pylist() for path in paths])
        for path in paths:
            assert path.parent == tmp_path / name
            for word in (b"secret", b"kanon"):
                assert word not in path.name.encode() + path.read_bytes()
    assert released[0] == released[1]


@pytest.mark.parametrize(
    ("folder", "options", "kind", "sentence"),
    [
        ("there", {}, KanonError, "exists already|there is no Parquet file"),
        ("a*", {}, SpecError, "read as a pattern"),
        ("x", {"form": "view"}, SpecError, "has rows, and is not a view"),
        ("me:secret@x", {}, SpecError, "may have a password"),
        ("file/x", {}, KanonError, "Spark"),
    ],
)
def test_an_impossible_folder_is_refused_in_one_sentence(
    cluster: Spark, tmp_path: Path, folder: str, options: dict[str, Any], kind: type[KanonError], sentence: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(kind, match=sentence) as raised:
        release(cluster, tmp_path / folder, **options)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]


def test_a_missing_folder_is_not_a_source(cluster: Spark, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no table"):
        release(cluster, tmp_path / "out", f"parquet.`{tmp_path}/nothing`")


def test_an_unverified_release_is_never_in_the_folder(
    cluster: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a folder, that others would take for a release, left without an error if it has other rows."""
    with monkeypatch.context() as patch:
        patch.setattr(findings, "summarize", lambda *_, **__: Summary(9, 2, 1, 1, 1))
        with pytest.raises(VerificationError):
            release(cluster, tmp_path / "out")
    assert not list(tmp_path.iterdir())
    write = Spark.write_folder
    monkeypatch.setattr(Spark, "write_folder", lambda of, sql, to: write(of, f"{sql} LIMIT 119", to))
    with pytest.raises(TargetError, match="delete that folder, and release again"):
        release(cluster, tmp_path / "out")


class Killed(BaseException):
    """The end of a process: nothing is undone."""


def test_the_next_run_removes_what_a_killed_run_staged(
    cluster: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Spark, "write_folder", killed)
        patch.setattr(tables, "discard", lambda _: None)
        with pytest.raises(Killed):
            release(cluster, tmp_path / "out")
    assert len(cluster.connection.catalog.listTables()) == 2
    assert not list(tmp_path.iterdir())
    release(cluster, tmp_path / "out")
    assert verify(f"parquet.`{tmp_path}/out`", k=3, quasi_identifiers=["age", "zip"], connection=cluster.connection)


def test_a_folder_created_meanwhile_by_others_is_kept(
    cluster: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Spark.write_folder

    def late(of: Spark, sql: str, to: Relation) -> None:
        write(of, "SELECT 1 AS age, 'x' AS zip, 'y' AS ill", to)
        write(of, sql, to)

    monkeypatch.setattr(Spark, "write_folder", late)
    with pytest.raises(TargetError, match="exists already; name another"):
        release(cluster, tmp_path / "out")
    assert rows(cluster, f"parquet.`{tmp_path}/out`") == [(1, "x", "y")]
