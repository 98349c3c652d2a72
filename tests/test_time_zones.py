"""The days and hours of timestamps: in the time zone of the spec, whatever that of the session and machine."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest
import yaml

from kanon_sql import anonymize, run
from kanon_sql.dbt import release as dbt_release
from kanon_sql.errors import SpecError
from support.database import create_table

MOMENTS = [datetime(2024, 2, 28, 12, tzinfo=UTC) + timedelta(hours=hour) for hour in range(0, 72, 2)]
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"at": {"hierarchy": {"dates": ["day", "month"]}, "min_level": 1, "max_level": 1}},
    "privacy": {"k": 1},
}


def days(zone: str) -> list[str]:
    return sorted(f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d}" for moment in MOMENTS)


def labels(source: Any) -> list[str]:
    return sorted(str(at) for (at,) in source.to_df().itertuples(index=False))


@pytest.mark.parametrize("search_in", ["embedded", "engine"])
def test_labels_are_of_the_time_zone_of_the_spec_or_of_the_server(postgres: Any, search_in: str) -> None:
    create_table(postgres, "visits", {"at": "TIMESTAMPTZ"}, [(moment,) for moment in MOMENTS])
    ((default,),) = postgres.rows("SELECT reset_val FROM pg_settings WHERE name = 'TimeZone'")
    postgres.run("SET TimeZone TO 'Asia/Tokyo'")
    for given in (None, "America/New_York"):
        release = anonymize("visits", SPEC, connection=postgres.connection, search_in=search_in, time_zone=given)
        assert labels(release) == days(given or default)
        assert release.manifest["time_zone"] == (given or default)
        assert any("time zone" in warning for warning in release.manifest["warnings"]) == (given is None)
    assert postgres.rows("SHOW TimeZone") == [("Asia/Tokyo",)]
    with pytest.raises(SpecError, match="there is no time zone 'nowhere'"):
        anonymize("visits", SPEC, connection=postgres.connection, time_zone="nowhere")


def test_labels_of_files_are_of_utc_whatever_the_machine_is(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    with duckdb.connect("visits.duckdb") as connection:
        connection.execute("CREATE TABLE visits AS SELECT UNNEST(?) AS at", [MOMENTS])
        connection.execute("COPY visits TO 'visits.parquet'")
        for zone in ("Asia/Tokyo", "UTC"):  # a connection of one's own has the time zone that one set there
            connection.execute(f"SET TimeZone = '{zone}'")
            release = anonymize("visits", SPEC, connection=connection)
            assert (labels(release), release.manifest["time_zone"]) == (days(zone), zone)
        with pytest.raises(SpecError, match="`time_zone` do not go with a DuckDB connection of your own"):
            anonymize("visits", SPEC, connection=connection, time_zone="UTC")
    for source in ({"source": "visits.parquet"}, {"source": "visits", "database": "visits.duckdb"}):
        for given in (None, "Asia/Tokyo"):
            release = anonymize(None, {**SPEC, **source}, time_zone=given, output="anon.csv", overwrite=True)
            assert release.manifest["time_zone"] == (given or "UTC")
            read = duckdb.read_csv("anon.csv", all_varchar=True).fetchall()
            assert sorted(at for (at,) in read) == days(given or "UTC")
    with pytest.raises(SpecError, match="there is no time zone 'nowhere'"):
        anonymize("visits.parquet", SPEC, time_zone="nowhere")


def test_a_dbt_model_has_the_time_zone_of_its_spec_on_every_machine() -> None:
    with duckdb.connect() as session:
        session.execute("CREATE TABLE visits AS SELECT UNNEST(?) AS at", [MOMENTS])
        session.execute("SET TimeZone = 'Asia/Tokyo'")
        for given in ("America/New_York", None):
            model = dbt_release(session.table("visits"), session, {**SPEC, "time_zone": given})
            assert sorted(at for (at,) in model.fetchall()) == days(given or "Asia/Tokyo")
            assert session.execute("SELECT CURRENT_SETTING('TimeZone')").fetchall() == [("Asia/Tokyo",)]
        with pytest.raises(SpecError, match="there is no time zone 'nowhere'"):
            dbt_release(session.table("visits"), session, {**SPEC, "time_zone": "nowhere"})


def test_a_run_names_the_time_zone_that_changed(
    postgres: Any, postgres_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_table(postgres, "visits", {"at": "TIMESTAMPTZ"}, [(moment,) for moment in MOMENTS])
    spec: dict[str, Any] = {**SPEC, "source": "visits", "database": postgres_dsn, "target": {"table": "anon"}}
    spec["differencing_limit"] = "unlimited"

    def ran(**more: Any) -> tuple[str, tuple[str, ...]]:
        Path("nightly.yml").write_text(yaml.safe_dump({**spec, **more}), encoding="utf-8")
        (release,) = run("nightly.yml").releases
        return release.status, release.why

    monkeypatch.setenv("PGTZ", "Asia/Tokyo")  # a default
    assert ran() == ("released", ("there is no release yet",))
    monkeypatch.setenv("PGTZ", "America/New_York")
    assert ran() == ("released", ("the time zone changed from Asia/Tokyo to America/New_York",))
    zones = "the spec changed", "the time zone changed from America/New_York to UTC"
    assert ran(time_zone="UTC") == ("released", zones)
    monkeypatch.setenv("PGTZ", "Asia/Tokyo")
    assert ran(time_zone="UTC")[0] == "unchanged"


def test_a_time_zone_without_moments_in_the_release_changes_nothing(
    postgres: Any, postgres_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_table(postgres, "visits", {"at": "TIMESTAMPTZ", "age": "INTEGER"}, [(moment, 30) for moment in MOMENTS])
    recipes = {"age": {"hierarchy": "suppress"}}
    spec = {"source": "visits", "database": postgres_dsn, "identifiers": ["at"], "quasi_identifiers": recipes}
    content = yaml.safe_dump({**spec, "privacy": {"k": 2}, "target": {"table": "anon"}})
    Path("nightly.yml").write_text(content, encoding="utf-8")
    for zone, status in (("Asia/Tokyo", "released"), ("America/New_York", "unchanged")):
        monkeypatch.setenv("PGTZ", zone)
        (release,) = run("nightly.yml").releases
        assert release.status == status
