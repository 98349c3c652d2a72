"""Releases with a population: table, file, view and statement, verified by their labels, and refused options."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError, ReleaseWarning, SourceError, SpecError, VerificationError
from kanon_sql.plan import problem
from kanon_sql.privacy import PrivacyModel, delta_presence, k_anonymity, k_map, l_diversity
from support.command_line import kanon
from support.database import create_table
from support.population import Requirement, _numbers, people

# From source to release


TYPES = {"age": "BIGINT", "zip": "VARCHAR", "ill": "VARCHAR"}
RECIPES: dict[str, Any] = {
    "age": {"hierarchy": {"ranges": [5, 10, 20]}},
    "zip": {"hierarchy": {"redact": "right"}},
}
NAMES = ["age", "zip"]


@dataclass(frozen=True)
class Tables:
    """A sample and its population, as tables of an engine."""

    engine: Engine
    sample: str
    population: str

    def released(self, into: str) -> list[tuple[Any, ...]]:
        return self.engine.rows(f'SELECT age, zip, ill FROM "{into}"')


@pytest.fixture
def tables(engine: Engine) -> Iterator[Tables]:
    number = next(_numbers)
    everybody = people(400)
    created = Tables(engine, f"sample_{number}", f"voters_{number}")
    made_tables = [
        create_table(engine, created.sample, TYPES, everybody[::5]),
        create_table(engine, created.population, TYPES, everybody),
    ]
    yield created
    for table in made_tables:
        engine.run(queries.drop(table.relation, engine.dialect))


def shown(value: Any, label: Any) -> bool:
    """Whether a released label, a value, a range or a redacted text, may stand for a value."""
    if value is None or label is None or label == "*":
        return label == "*" or label == value
    if isinstance(value, int):
        low, *high = map(int, re.findall(r"\d+", str(label)))
        return low <= value <= (high[0] - str(label).endswith(")") if high else low)
    return len(value) == len(label) and all(b in ("*", a) for a, b in zip(value, label, strict=True))


def assert_holds(
    rows: Sequence[tuple[Any, ...]], everybody: Sequence[tuple[Any, ...]], requirement: Requirement
) -> None:
    """Count every released class, and by its labels alone whoever in the population it may be."""
    classes = Counter(row[:2] for row in rows)
    assert classes
    for labels, size in classes.items():
        alike = sum(all(map(shown, row[:2], labels)) for row in everybody)
        assert requirement.is_safe(size, alike, 9), (labels, size, alike)


ASKED = {
    "k-map": Requirement(k_map=8),
    "presence": Requirement(most=Fraction(2, 5)),
    "both, and k": Requirement(k=2, k_map=12, most=Fraction(3, 10)),
}


@pytest.mark.parametrize("requirement", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("form", ["table", "csv", "parquet"])
@pytest.mark.sampled
def test_a_release_is_safe_in_its_population(
    tables: Tables, tmp_path: Path, form: str, requirement: Requirement
) -> None:
    into, path = f"{tables.sample}_anon", tmp_path / f"anon.{form}"
    target: dict[str, Any] = {"into": into} if form == "table" else {"output": path}
    release = kanon_sql.anonymize(
        tables.sample,
        quasi_identifiers=RECIPES,
        sensitive=["ill"],
        privacy=requirement.models(tables.population),
        connection=tables.engine.connection,
        suppression_limit=0.1,
        **target,
    )
    try:
        reader = tables.engine if form == "table" else DuckDB()
        name = {"table": f'"{into}"', "csv": f"READ_CSV('{path}', all_varchar = TRUE)"}.get(form, f"'{path}'")
        rows = reader.rows(f"SELECT age, zip, ill FROM {name}")
    finally:
        tables.engine.run(queries.drop(queries.Relation(into), tables.engine.dialect))
    assert_holds(rows, people(400), requirement)
    findings = {finding["model"]: finding for finding in release.manifest["privacy"]}
    assert findings["k-map"]["achieved"] >= requirement.k_map
    assert "δ-presence" not in findings or findings["δ-presence"]["achieved"] <= float(requirement.most)
    assert release.manifest["verified"]
    assert release.manifest["classes"] > 2


def test_every_class_of_the_population_is_in_a_release_with_a_least_presence(tables: Tables) -> None:
    models = [delta_presence(0.1, 0.4, tables.population)]
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "privacy": models}
    options |= {"connection": tables.engine.connection}
    with pytest.raises(SpecError, match="no row may be suppressed; use `suppression_limit=0`"):
        kanon_sql.anonymize(tables.sample, **options)
    release = kanon_sql.anonymize(tables.sample, **options, suppression_limit=0.0)
    rows = [
        tuple(row) for row in release.to_df()[[*NAMES, "ill"]].astype(object).where(lambda x: x.notna(), None).values
    ]
    for person in people(400):
        assert any(all(map(shown, person[:2], row)) for row in rows)
    tables.engine.run(f"INSERT INTO {tables.population} VALUES (59, '999', 'x')")  # whom no class of zips but * holds
    release = kanon_sql.anonymize(tables.sample, **options, suppression_limit=0.0)
    assert release.manifest["node"]["zip"] == 3


@pytest.mark.parametrize("strategy", ["mondrian", "mondrian_relaxed", "refine", "kaca", "prioprivacy", "modes"])
@pytest.mark.sampled
def test_a_local_recoding_is_safe_in_its_population(tables: Tables, strategy: str) -> None:
    into, requirement = f"{tables.sample}_local", Requirement(k_map=12)
    how: dict[str, Any] = {"show": "mode"} if strategy == "modes" else {"strategy": strategy, "time_limit": 5.0}
    release = kanon_sql.anonymize(
        tables.sample,
        quasi_identifiers=RECIPES,
        sensitive=["ill"],
        privacy=[k_map(12, tables.population)],
        connection=tables.engine.connection,
        into=into,
        **how,
    )
    rows = tables.released(into)
    tables.engine.run(queries.drop(queries.Relation(into), tables.engine.dialect))
    (privacy,) = release.manifest["privacy"]
    assert (privacy["model"], privacy["required"]) == ("k-map", 12)
    # Its own rows' equals are fewer than all whom a class's labels may be.
    assert privacy["achieved"] >= 12
    assert release.manifest["classes"] > 2
    if strategy not in ("modes",):
        assert len(rows) == 80
        assert_holds(rows, people(400), requirement)


# The population, wherever it is


@pytest.mark.parametrize("given", ["table", "csv", "parquet", "frame"])
def test_a_population_is_a_table_a_file_or_data(tables: Tables, tmp_path: Path, given: str) -> None:
    frame = pandas.DataFrame(people(400), columns=list(TYPES)).astype({"age": "Int64"})
    path = tmp_path / f"voters.{given}"
    if given in ("csv", "parquet"):
        frame.to_csv(path, index=False) if given == "csv" else frame.to_parquet(path)
    population: Any = {"table": tables.population, "frame": frame}.get(given, path)
    release = kanon_sql.anonymize(
        tables.sample,
        quasi_identifiers=RECIPES,
        sensitive=["ill"],
        privacy=[k_map(8, population)],
        connection=tables.engine.connection,
    )
    assert release.manifest["privacy"][0]["achieved"] >= 8
    assert release.manifest["node"] == {"age": 4, "zip": 0}
    named = {"table": tables.population, "frame": "in memory"}.get(given, str(path))
    assert release.manifest["population"] == {"source": named, "rows": 400}


def test_the_manifest_names_the_population_whole() -> None:
    everybody = pandas.DataFrame({"age": [30, 31, 31, 50] * 10, "who": [*range(20)] * 2})
    options: dict[str, Any] = {
        "quasi_identifiers": {"age": RECIPES["age"]},
        "privacy": [k_map(2, everybody)],
        "keep": "*",
    }
    local = kanon_sql.anonymize(everybody[everybody.age < 50], **options, strategy="mondrian")
    assert local.manifest["population"] == {"source": "in memory", "rows": 40}  # whoever is like nobody, too
    people = kanon_sql.anonymize(everybody[::2], **options, unit="who")
    assert people.manifest["population"] == {"source": "in memory", "people": 20}
    options["privacy"] = [k_map(5, everybody[["age"]])]
    with pytest.raises(SpecError, match="the population has no column 'who', which is needed to count its people"):
        kanon_sql.anonymize(everybody[::2], **options, unit="who")


def test_a_population_that_changes_while_it_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody, path = pandas.DataFrame({"age": [30, 31, 31, 50] * 10}), tmp_path / "voters.csv"
    everybody.to_csv(path, index=False)
    build = problem.build_frequency_set

    def change(*given: Any) -> Any:
        hierarchy = build(*given)
        everybody[:39].to_csv(path, index=False)
        return hierarchy

    monkeypatch.setattr(problem, "build_frequency_set", change)
    with pytest.raises(SourceError, match=r"voters\.csv changed while it was read, and nothing was released"):
        kanon_sql.anonymize(everybody[::2], quasi_identifiers={"age": RECIPES["age"]}, privacy=[k_map(2, path)])


# What counts its classes itself


@pytest.fixture
def view(tables: Tables) -> Iterator[str]:
    name, connection = f"{tables.sample}_view", tables.engine.connection
    yield name
    tables.engine.run(queries.drop(queries.Relation(name), tables.engine.dialect, "view"))
    for table in [f"{name}__{stem}" for stem in (*NAMES, "assignment", "classes")]:
        tables.engine.run(queries.drop(queries.Relation(table), tables.engine.dialect))
    assert connection is not None


@pytest.mark.parametrize("requirement", ASKED.values(), ids=ASKED)
@pytest.mark.sampled
def test_a_view_counts_the_population_whenever_it_is_read(tables: Tables, view: str, requirement: Requirement) -> None:
    engine, everybody = tables.engine, people(400)
    kanon_sql.anonymize(
        tables.sample,
        quasi_identifiers=RECIPES,
        sensitive=["ill"],
        privacy=[*requirement.models(tables.population), l_diversity("ill", 2)],
        connection=engine.connection,
        suppression_limit=0.1,
        into=view,
        form="view",
    )
    rows = tables.released(view)
    assert_holds(rows, everybody, requirement)
    # Who leaves the population takes whole classes out of the view, and who joins it brings them back.
    engine.run(f"DELETE FROM {tables.population} WHERE age BETWEEN 20 AND 39")
    left = [row for row in everybody if row[0] is None or row[0] > 39]
    now = tables.released(view)
    assert len(now) < len(rows)
    if requirement.most == 1:
        assert_holds(now, left, requirement)
    engine.run(f"DELETE FROM {tables.population}")
    assert tables.released(view) == []


LOCAL: dict[str, tuple[dict[str, Any], Requirement]] = {
    "mondrian": ({"strategy": "mondrian"}, Requirement(k_map=12, most=Fraction(3, 5))),
    "relaxed": ({"strategy": "mondrian_relaxed"}, Requirement(k_map=12)),
    "prioprivacy": ({"strategy": "prioprivacy"}, Requirement(k_map=12)),
    "modes": ({"show": "mode"}, Requirement(k_map=12)),
}


@pytest.mark.parametrize(("how", "requirement"), LOCAL.values(), ids=LOCAL)
@pytest.mark.sampled
def test_a_view_of_a_local_recoding_counts_the_population(
    tables: Tables, view: str, how: dict[str, Any], requirement: Requirement
) -> None:
    engine, everybody = tables.engine, people(400)
    release = kanon_sql.anonymize(
        tables.sample,
        quasi_identifiers=RECIPES,
        sensitive=["ill"],
        privacy=[*requirement.models(tables.population), l_diversity("ill", 2)],
        connection=engine.connection,
        into=view,
        form="view",
        **how,
    )
    rows = tables.released(view)
    assert len(rows) == release.manifest["released_rows"] > 60
    assert release.manifest["classes"] > 2
    if "show" not in how:  # a mode is no label that others may stand behind
        assert_holds(rows, everybody, requirement)
    # Who is like nobody of the sample stands behind no class, however many there are; who is like somebody does.
    engine.run(f"DELETE FROM {tables.population} WHERE age BETWEEN 20 AND 39")
    now = tables.released(view)
    assert 0 < len(now) < len(rows)
    left = [row for row in everybody if row[0] is None or row[0] > 39]
    if "show" not in how:
        assert_holds(now, left, requirement)
    engine.run(f"DELETE FROM {tables.population}")
    assert tables.released(view) == []


def test_a_view_of_split_tuples_counts_the_population_once_per_class(tables: Tables, view: str) -> None:
    engine = tables.engine
    engine.run(f"DELETE FROM {tables.sample}")
    engine.run(f"DELETE FROM {tables.population}")
    for name, rows in ((tables.sample, 12), (tables.population, 13)):
        engine.run(f"INSERT INTO {name} VALUES {', '.join(['(30, NULL, NULL)'] * rows)}")
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "strategy": "mondrian_relaxed", "sensitive": ["ill"]}
    options |= {"privacy": [k_map(13, tables.population), k_anonymity(3)], "connection": engine.connection}
    kanon_sql.anonymize(tables.sample, into=view, form="view", **options)
    assert len(tables.released(view)) == 12
    # Parts of a tuple that others put into one class bring the population's rows into it once.
    engine.run(f'UPDATE "{view}__assignment" SET class = (SELECT MIN(class) FROM "{view}__assignment")')
    assert len(tables.released(view)) == 12
    engine.run(f"DELETE FROM {tables.population}")
    engine.run(f"INSERT INTO {tables.population} VALUES {', '.join(['(30, NULL, NULL)'] * 12)}")
    assert tables.released(view) == []


@pytest.mark.parametrize("how", [{}, {"strategy": "mondrian"}], ids=["node", "locally"])
def test_a_view_counts_the_people_of_a_population(engine: Engine, how: dict[str, Any]) -> None:
    number = next(_numbers)
    sample, population, view = f"voters_of_{number}", f"all_of_{number}", f"shown_{number}"
    everybody = [(row[0] or 20, i // 2) for i, row in enumerate(people(400))]
    types = {"age": "BIGINT", "person": "BIGINT"}
    created = [create_table(engine, sample, types, everybody[::5]), create_table(engine, population, types, everybody)]
    options: dict[str, Any] = {"quasi_identifiers": {"age": RECIPES["age"]}, "unit": "person", "into": view}
    try:
        kanon_sql.anonymize(
            sample, privacy=[k_map(20, population)], form="view", connection=engine.connection, **options, **how
        )
        rows = engine.rows(f'SELECT age FROM "{view}"')
        assert len(rows) > 60
        engine.run(f"UPDATE {population} SET person = 1")  # of whom everybody is now
        assert engine.rows(f'SELECT age FROM "{view}"') == []
    finally:
        engine.run(queries.drop(queries.Relation(view), engine.dialect, "view"))
        for table in (*created, *(f"{view}__{stem}" for stem in ("age", "assignment", "classes"))):
            relation = queries.Relation(table) if isinstance(table, str) else table.relation
            engine.run(queries.drop(relation, engine.dialect))


@pytest.mark.parametrize("how", [{}, {"strategy": "mondrian"}], ids=["node", "locally"])
def test_a_materialized_view_counts_the_population_when_it_is_filled(tables: Tables, how: dict[str, Any]) -> None:
    engine, requirement, into = tables.engine, Requirement(k_map=12), f"{tables.sample}_filled"
    if not engine.has_materialized_views:
        pytest.skip("needs materialized views: add postgres to --engines")
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "connection": engine.connection}
    options |= {"privacy": [k_map(12, tables.population)], "into": into, "form": "materialized"}
    try:
        kanon_sql.anonymize(tables.sample, **options, **how)
        rows = tables.released(into)
        assert_holds(rows, people(400), requirement)
        engine.run(f"DELETE FROM {tables.population} WHERE zip = '123'")
        with pytest.raises(SpecError, match=f"only by its population {tables.population}, shown as the release shows"):
            kanon_sql.refresh(into, connection=engine.connection)
        assert tables.released(into) == rows
        engine.run(f'REFRESH MATERIALIZED VIEW "{into}"')  # what is not verified is withheld all the same
        now = tables.released(into)
        assert 0 < len(now) < len(rows)
        assert_holds(now, [row for row in people(400) if row[1] != "123"], requirement)
    finally:
        engine.run(queries.drop(queries.Relation(into), engine.dialect, "materialized"))
        for stem in (*NAMES, "assignment", "classes"):
            engine.run(queries.drop(queries.Relation(f"{into}__{stem}"), engine.dialect))


@pytest.mark.parametrize("how", [{}, {"strategy": "mondrian"}], ids=["node", "locally"])
def test_a_standalone_statement_counts_the_population(tables: Tables, how: dict[str, Any]) -> None:
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "suppression_limit": 0.1}
    options |= {"privacy": [k_map(12, tables.population)], "connection": tables.engine.connection}
    sql = kanon_sql.anonymize_sql(tables.sample, **options, **how)
    rows = tables.engine.rows(sql)
    assert len(rows) >= 72
    assert_holds(rows, people(400), Requirement(k_map=12))
    tables.engine.run(f"DELETE FROM {tables.sample} WHERE age < 30")  # whose classes the population has still
    assert 0 < len(tables.engine.rows(sql)) < len(rows)
    assert (None, None, None) not in tables.engine.rows(sql)
    assert_holds(tables.engine.rows(sql), people(400), Requirement(k_map=12))
    tables.engine.run(f"DELETE FROM {tables.population}")
    with pytest.raises(Exception, match=r"64 of 64 rows would be left out, and the suppression limit is 0\.1"):
        tables.engine.connection.execute(sql).fetchall()
    tables.engine.run(f"DELETE FROM {tables.sample}")
    with pytest.raises(Exception, match="0 rows in the source"):
        tables.engine.connection.execute(sql).fetchall()


NOT_AS_A_QUERY: dict[str, tuple[PrivacyModel, dict[str, Any], str]] = {
    "nothing": (
        k_map(2, "voters.csv"),
        {},
        "voters.csv is not a table in the source's database, .* check its name, or load it",
    ),
    "a frame": (k_map(2, pandas.DataFrame({"age": [1]})), {}, "the population in memory is not a table"),
    "dealt": (delta_presence(0, 0.5, "{}"), {"strategy": "mondrian_relaxed"}, "puts equal rows into several classes"),
    "a least share": (delta_presence(0.1, 0.5, "{}"), {"suppression_limit": 0.0}, "counts class by class"),
}


@pytest.mark.parametrize(("model", "how", "message"), NOT_AS_A_QUERY.values(), ids=NOT_AS_A_QUERY)
def test_views_that_a_population_does_not_allow(
    tables: Tables, model: PrivacyModel, how: dict[str, Any], message: str
) -> None:
    if isinstance(model.population, str):
        model = replace(model, population=model.population.format(tables.population))
    with pytest.raises(SpecError, match=message):
        kanon_sql.anonymize(
            tables.sample,
            quasi_identifiers=RECIPES,
            privacy=[model],
            connection=tables.engine.connection,
            **{"into": "any_view", "form": "view", **how},
        )
    assert tables.engine.find("any_view") is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_view_explains_how_to_load_the_file_of_a_population(
    tables: Tables, view: str, tmp_path: Path, ending: str
) -> None:
    engine, path = tables.engine, tmp_path / f"some_{tables.population}.{ending}"
    frame = pandas.DataFrame(people(400), columns=list(TYPES)).astype({"age": "Int64"})
    frame.to_csv(path.with_suffix(".csv"), index=False)
    frame.to_parquet(tmp_path / f"some_{tables.population}.parquet")
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "connection": engine.connection}
    options |= {"into": view, "form": "view"}
    with pytest.raises(SpecError, match=r"load it into a table there, with .*, and name that table") as refused:
        kanon_sql.anonymize(tables.sample, privacy=[k_map(12, path)], **options)
    try:
        for statement in re.findall("`([^`]+)`", str(refused.value)):
            if statement.startswith("\\copy"):
                assert f"'{path.with_suffix('.csv')}' CSV HEADER" in statement
                copy = re.sub("'.*'", "STDIN", statement.removeprefix("\\"))
                with engine.connection.cursor().copy(copy) as into:
                    into.write(path.with_suffix(".csv").read_bytes())
            else:
                engine.run(statement)
        release = kanon_sql.anonymize(tables.sample, privacy=[k_map(12, path.stem)], **options)
        assert release.manifest["privacy"][0]["achieved"] >= 12
    finally:
        engine.run(queries.drop(queries.Relation(view), engine.dialect, "view"))
        engine.run(queries.drop(queries.Relation(path.stem), engine.dialect))


def test_a_statement_over_a_file_names_the_required_locations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame({"age": [30, 31]}).to_csv("sample.csv", index=False)
    pandas.DataFrame({"age": [30, 31]}).to_csv("voters.csv", index=False)
    pandas.DataFrame({"age": [30, 31], "all": ["*", "*"]}).to_csv("age.csv", index=False, header=False, sep=";")
    arguments = ["--quasi-identifiers", "age", "--hierarchies", ".", "--k-map", "2:voters.csv", "--sql"]
    line = kanon("anonymize", "sample.csv", *arguments)
    assert line.code != 0
    assert "load it and the source into tables of one database, with" in line.err
    assert """`CREATE TABLE "voters" ("age" BIGINT)` and `COPY "voters" FROM 'voters.csv'`, and name""" in line.err


# A release that somebody else made, or says that he did


@pytest.mark.parametrize("form", ["table", "csv", "parquet"])
@pytest.mark.sampled
def test_a_release_is_verified_by_its_labels(tables: Tables, tmp_path: Path, form: str) -> None:
    into, path, engine = f"{tables.sample}_made", tmp_path / f"anon.{form}", tables.engine
    frame = pandas.DataFrame(people(400), columns=list(TYPES)).astype({"age": "Int64"})
    frame.to_parquet(tmp_path / "voters.parquet")
    population = tables.population if form == "table" else str(tmp_path / "voters.parquet")
    models = [k_map(12, population), delta_presence(0, 0.4, population)]
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "privacy": models}
    target: dict[str, Any] = {"into": into} if form == "table" else {"output": path}
    release = kanon_sql.anonymize(tables.sample, sensitive=["ill"], connection=engine.connection, **options, **target)
    given: dict[str, Any] = {"connection": engine.connection} if form == "table" else {}
    check = kanon_sql.verify(into if form == "table" else path, **options, **given)
    assert check
    achieved = [finding["achieved"] for finding in release.manifest["privacy"]]
    assert [finding.achieved for finding in check.summary.findings] == pytest.approx(achieved)
    more = [k_map(achieved[0] + 1, population), delta_presence(0, achieved[1] - 0.001, population)]
    missed = kanon_sql.verify(into if form == "table" else path, **{**options, "privacy": more}, **given)
    assert [finding.unsafe_classes > 0 for finding in missed.summary.findings] == [True, True]
    if form == "table":
        engine.run(queries.drop(queries.Relation(into), engine.dialect))


@pytest.mark.parametrize("how", [{}, {"strategy": "mondrian_relaxed"}], ids=["node", "locally"])
@pytest.mark.parametrize("form", ["table", "csv"])
@pytest.mark.sampled
def test_a_release_verifies_itself_in_its_population(
    tables: Tables, tmp_path: Path, form: str, how: dict[str, Any]
) -> None:
    into, path, engine = f"{tables.sample}_self", tmp_path / f"anon.{form}", tables.engine
    share = [] if how.get("strategy") == "mondrian_relaxed" else [delta_presence(0, 0.6, tables.population)]
    options: dict[str, Any] = {"privacy": [k_map(12, tables.population), *share], "sensitive": ["ill"]}
    options |= {"into": into} if form == "table" else {"output": path}
    release = kanon_sql.anonymize(
        tables.sample, quasi_identifiers=RECIPES, connection=engine.connection, **options, **how
    )
    try:
        check = release.verify()
        assert check
        achieved = [finding["achieved"] for finding in release.manifest["privacy"]]
        assert [finding.achieved for finding in check.summary.findings] == pytest.approx(achieved)
        with warnings.catch_warnings(action="error"):
            release.write(tmp_path / "copy.csv")
        if not how:  # by its labels, a population is counted as it is now
            engine.run(f"DELETE FROM {tables.population} WHERE zip = '123'")
            assert not release.verify()
            with pytest.raises(VerificationError, match="in classes that do not meet the model"):
                release.write(tmp_path / "other.csv")
        elif form == "table":  # and the rows are those that are there now
            engine.run(f"UPDATE \"{into}\" SET zip = '***'")
            assert not release.verify()
    finally:
        engine.run(queries.drop(queries.Relation(into), engine.dialect))


@pytest.mark.parametrize("how", [{}, {"strategy": "mondrian_relaxed"}], ids=["node", "locally"])
def test_a_view_verifies_itself_in_the_current_population(tables: Tables, view: str, how: dict[str, Any]) -> None:
    engine = tables.engine
    options: dict[str, Any] = {"privacy": [k_map(12, tables.population)], "sensitive": ["ill"], "into": view}
    release = kanon_sql.anonymize(
        tables.sample, quasi_identifiers=RECIPES, connection=engine.connection, form="view", **options, **how
    )
    (before,) = release.verify().summary.findings
    assert before.achieved == release.manifest["privacy"][0]["achieved"]
    engine.run(f"INSERT INTO {tables.population} SELECT * FROM {tables.population}")
    (doubled,) = release.verify().summary.findings
    assert doubled.achieved == 2 * before.achieved
    engine.run(f"DELETE FROM {tables.population} WHERE zip = '123'")
    (now,) = release.verify().summary.findings
    assert now.holds
    assert now.achieved >= 12


def test_a_copy_is_verified_with_what_is_still_available(tmp_path: Path) -> None:
    everybody = pandas.DataFrame(people(400), columns=list(TYPES)).astype({"age": "Int64"})
    everybody.to_csv(tmp_path / "voters.csv", index=False)
    options: dict[str, Any] = {"sensitive": ["ill"], "privacy": [k_map(12, tmp_path / "voters.csv"), k_anonymity(2)]}
    release = kanon_sql.anonymize(everybody[::5], quasi_identifiers=RECIPES, output=tmp_path / "anon.csv", **options)
    assert release.verify()
    (tmp_path / "voters.csv").unlink()
    with pytest.raises(SourceError, match=r"the population .*voters\.csv is neither a table"):
        release.verify()
    with pytest.warns(ReleaseWarning, match="not again by all of k-map and k-anonymity: the population .* is neither"):
        assert release.write(tmp_path / "copy.csv").exists()


def test_a_release_of_labels_that_the_population_has_itself() -> None:
    release = pandas.DataFrame({"age": ["20-29", "20-29", "30-39"]})
    population = pandas.DataFrame({"age": ["20-29"] * 6 + ["30-39"] * 2})
    check = kanon_sql.verify(release, quasi_identifiers=["age"], privacy=[k_map(3, population)])
    assert not check
    assert [(finding.achieved, finding.unsafe_rows) for finding in check.summary.findings] == [(2, 1)]
    assert kanon_sql.verify(release, quasi_identifiers=["age"], privacy=[k_map(2, population)])
    with pytest.raises(SpecError, match="'age' of the release has labels that are not all on one level"):
        kanon_sql.verify(release, quasi_identifiers=["age"], privacy=[k_map(2, population[:6])])
    with pytest.raises(SourceError, match="the population has no column 'age'"):
        kanon_sql.verify(release, quasi_identifiers=["age"], privacy=[k_map(2, pandas.DataFrame({"zip": ["1"]}))])
    nobody = pandas.DataFrame({"age": ["20-29"] * 6 + ["30-39"] * 2 + ["40-49"]})
    least = kanon_sql.verify(release, quasi_identifiers=["age"], privacy=[delta_presence(0.2, 1, nobody)])
    assert not least  # of those of 40 to 49 nobody is in it
    assert [finding.unsafe_classes for finding in least.summary.findings] == [1]


def test_the_command_line_verifies_in_a_population(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame({"age": ["20-29", "20-29", "30-39"]}).to_csv("anon.csv", index=False)
    pandas.DataFrame({"age": ["20-29"] * 6 + ["30-39"] * 2}).to_csv("voters.csv", index=False)
    arguments = ["verify", "anon.csv", "--quasi-identifiers", "age"]
    assert kanon(*arguments, "--k-map", "2:voters.csv").code == 0
    line = kanon(*arguments, "--k-map", "3:voters.csv")
    assert line.code == 1
    assert "k-map" in line.out


BAD: dict[str, tuple[str, str]] = {
    "no column": ("SELECT age FROM {}", "the population has no column 'zip', which is a quasi-identifier"),
    "another type": ("SELECT zip AS age, zip FROM {}", "column 'age' is .* in the population and .* in the source"),
    "another table": (
        "SELECT age + 100 AS age, zip FROM {}",
        "the population lacks [0-9]+ of the sample's combinations of quasi-identifiers",
    ),
    "one row less": (
        "SELECT age, zip FROM {} WHERE COALESCE(NOT (age = 34 AND zip = '123'), TRUE)",
        "the population lacks 1 of the sample's combinations of quasi-identifiers",
    ),
}


@pytest.mark.parametrize(("query", "message"), BAD.values(), ids=BAD)
def test_a_population_that_the_source_was_not_drawn_from(tables: Tables, query: str, message: str) -> None:
    tables.engine.run(f"INSERT INTO {tables.sample} VALUES (34, '123', 'x')")
    tables.engine.run(f"INSERT INTO {tables.population} VALUES (34, '123', 'x')")
    name = f"{tables.population}_bad"
    tables.engine.run(f"CREATE TABLE {name} AS {query.format(tables.population)}")
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "into": f"{name}_anon"}
    try:
        with pytest.raises(SourceError, match=message):
            kanon_sql.anonymize(tables.sample, privacy=[k_map(2, name)], connection=tables.engine.connection, **options)
        assert tables.engine.find(f"{name}_anon") is None
    finally:
        tables.engine.run(f"DROP TABLE {name}")


REFUSED: dict[str, tuple[list[PrivacyModel], dict[str, Any], str]] = {
    "no such table": (
        [k_map(2, "nobody")],
        {},
        "the population nobody is neither a table in the source's database nor",
    ),
    "two populations": ([k_map(2, "a"), delta_presence(0, 0.5, "b")], {}, "two models name different populations"),
    "masked": ([k_map(2, "a")], {"mask": True}, "cannot be verified for masked rows, .* leave out `mask`"),
    "a least, locally": (
        [delta_presence(0.1, 0.5, "a")],
        {"strategy": "mondrian", "suppression_limit": 0.0},
        "a local recoding has classes of the sample only",
    ),
    "dealt": ([delta_presence(0, 0.5, "a")], {"strategy": "mondrian_relaxed"}, "puts equal rows into several classes"),
    "dropped rows": ([delta_presence(0.1, 1, "a")], {}, "no row may be suppressed"),
}


@pytest.mark.parametrize(("models", "how", "message"), REFUSED.values(), ids=REFUSED)
def test_options_refused_with_a_population(models: list[PrivacyModel], how: dict[str, Any], message: str) -> None:
    data = pandas.DataFrame({"age": [30, 31], "zip": ["12", "13"]})
    with pytest.raises((SpecError, SourceError), match=message):
        kanon_sql.anonymize(data, quasi_identifiers=RECIPES, privacy=models, **how)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda p: k_map(5, p), "k is 5 and the population has only 4 rows; lower k"),
        (lambda p: delta_presence(0, 0.4, p), "2 rows or more are released of a population of 4"),
        (lambda p: delta_presence(0.6, 1, p), "the sample has 2 rows of a population of 4"),
    ],
)
def test_unreachable_requirements_are_reported_before_the_search(model: Any, message: str) -> None:
    population = pandas.DataFrame({"age": [30, 31, 32, 33], "zip": ["12", "13", "12", "13"]})
    with pytest.raises(InfeasibleError, match=message):
        kanon_sql.anonymize(
            population[:2], quasi_identifiers=RECIPES, privacy=[model(population)], suppression_limit=0.0
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: k_map(0, "a"), "k of k-map is 0"),
        (lambda: k_map(2, ""), "k-map needs a population"),
        (lambda: delta_presence(0, 1, "a"), "requires nothing"),
        (lambda: delta_presence(0.5, 0.4, "a"), "the lower one first"),
        (lambda: delta_presence(0, 0, "a"), "the upper one above 0"),
    ],
)
def test_an_impossible_model(make: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make()


def test_a_spec_names_the_population_by_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = pandas.DataFrame(people(400), columns=list(TYPES)).astype({"age": "Int64"})
    folder = tmp_path / "survey"
    folder.mkdir()
    everybody.to_csv(folder / "voters.csv", index=False)
    everybody[::5].to_csv(folder / "sample.csv", index=False)
    spec = {
        "source": "sample.csv",
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": "suppress"}},
        "sensitive": ["ill"],
        "privacy": {
            "k_map": {"k": 8, "population": "voters.csv"},
            "delta_presence": {"max": 0.5, "population": "voters.csv"},
        },
    }
    (folder / "release.yml").write_text(yaml.safe_dump(spec))
    monkeypatch.chdir(tmp_path)
    release = kanon_sql.anonymize(spec=folder / "release.yml")
    assert [finding["model"] for finding in release.manifest["privacy"]] == ["k-map", "δ-presence"]
    arguments = ["--k", "3", "--k-map", "20:survey/voters.csv", "--output", "anon.csv", "--json"]
    line = kanon("anonymize", "--spec", "survey/release.yml", *arguments)
    achieved = {finding["model"]: finding["achieved"] for finding in json.loads(line.out)["privacy"]}
    assert achieved["k-anonymity"] >= 3
    assert achieved["k-map"] >= 20
