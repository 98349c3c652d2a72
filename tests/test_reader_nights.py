"""What a reader of a release can see of the data that a pipeline keeps, even if granted every new table."""

import json
from pathlib import Path
from typing import Any

import psycopg

from kanon_sql import anonymize, run
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.plan.observer import Observer
from support.school import LOCAL, Role

NODE = {"node": {"age": 0, "zip": 0}, "incremental": True, "waiting": "later", "suppression_limit": 0.0}


def answer_of(reader: Role, statement: str) -> str:
    try:
        return str(reader.session.execute(statement).fetchall())
    except psycopg.Error as error:
        return str(error)


def test_a_reader_sees_the_release_but_no_waiting_rows_and_no_audit_trail(
    server: PostgreSQL, postgres_dsn: str, roles: list[Role], tmp_path: Path
) -> None:
    reader, schema = roles[0], server.rows("SELECT current_schema()")[0][0]
    server.run(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {reader.name}")
    server.run("INSERT INTO pupils VALUES ('Ada Hidden', 99, 'hidden', 'rare')")
    seen: list[str] = []

    def look(_: str) -> None:
        seen.append(
            answer_of(reader, "SELECT relname FROM pg_class WHERE relname LIKE '%kanon%' OR relname = 'school'")
        )
        seen.append(
            answer_of(
                reader, "SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%pupils%'"
            )
        )

    options: dict[str, Any] = {"database": postgres_dsn, "into": "school", "observer": Observer(look)}
    manifest = anonymize("pupils", {**LOCAL, **NODE}, **options).manifest
    assert manifest["waiting_rows"] == 1
    spec = {**LOCAL, "source": "pupils", "database": postgres_dsn, "suppression_limit": 0.1, "audit": True}
    (tmp_path / "nightly.json").write_text(json.dumps({**spec, "target": {"table": "nightly"}}))
    run(tmp_path / "nightly.json")
    assert len(seen) >= 6
    assert {text for text in seen if text.startswith("[")} == {"[]"}, "what is not released yet is not there for others"
    assert reader.reads("school")
    assert reader.reads("nightly")
    for private in ("pupils", "later", "kanon_releases"):
        if private != "pupils":
            assert server.rows(f"SELECT 1 FROM {private}")
            server.run(f"ANALYZE {private}")
        for statement in (f"SELECT * FROM {private}", f"EXPLAIN SELECT * FROM {private}", f"TABLE {private}"):
            assert "permission denied" in answer_of(reader, statement)
    for statement in (
        "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE tablename <> 'school'",
        "SELECT description FROM pg_description",
        "SELECT * FROM school",
        "SELECT * FROM nightly",
    ):
        assert "hidden" not in answer_of(reader, statement).lower()
