"""Verification by every model: of a release alone, and against its source."""

from pathlib import Path
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import SpecError
from kanon_sql.privacy import t_closeness
from support.command_line import kanon
from support.database import create_table

TYPES = {"age": "INTEGER", "ill": "VARCHAR", "pay": "INTEGER"}
# Of those below 30 all are ill, of the others half; the whole table has two in three.
SOURCE = [(20 + i % 10, "ill", 1 + i % 2) for i in range(40)] + [(30 + i, ["ill", "well"][i % 2], 3) for i in range(80)]
# The classes of a release that lost the first: half of each is ill, where of the source two in three are.
RELEASED = [("30-109", ["ill", "well"][i % 2], 3) for i in range(80)]
SAID = {"quasi_identifiers": ["age"], "k": 5}


def frame(rows: list[tuple[Any, ...]]) -> pandas.DataFrame:
    return pandas.DataFrame(rows, columns=list(TYPES))


@pytest.mark.parametrize("released", ["table", "frame", "file"])
@pytest.mark.parametrize("source", ["table", "frame", "file"])
@pytest.mark.sampled("postgres", "sail")
def test_a_release_is_compared_with_itself_or_with_its_source(
    engine: Engine, tmp_path: Path, released: str, source: str
) -> None:
    """Half are ill where two in three are: a distance of 1/6, and none from itself."""
    if "table" not in (released, source) and engine.name != "duckdb":
        pytest.skip("without a table no connection is used: the same as with DuckDB")
    create_table(engine, "people", TYPES, SOURCE)
    create_table(engine, "released", {**TYPES, "age": "VARCHAR"}, RELEASED)
    frame(SOURCE).to_csv(tmp_path / "people.csv", index=False)
    frame(RELEASED).to_csv(tmp_path / "released.csv", index=False)
    of = {"table": "released", "frame": frame(RELEASED), "file": tmp_path / "released.csv"}[released]
    against = {"table": "people", "frame": frame(SOURCE), "file": tmp_path / "people.csv"}[source]
    where = {"connection": engine.connection} if "table" in (released, source) else {}
    if released == "file" and source == "table" and engine.name != "duckdb":
        pytest.skip("a connection is to a server, which reads no file")
    alone = kanon_sql.verify(of, **SAID, t_closeness={"ill": 0.16}, **(where if released == "table" else {}))
    assert alone.holds
    assert (alone.compared_with, alone.summary.findings[1].achieved) == ("itself", 0)
    for t, holds in ((0.16, False), (0.17, True)):
        check = kanon_sql.verify(of, **SAID, t_closeness={"ill": t}, against=against, **where)
        assert (check.holds, check.summary.findings[1].achieved) == (holds, pytest.approx(1 / 6))
        assert check.compared_with == ("in memory" if source == "frame" else str(against))
    # By the order of pay, from 1 to 3, all have moved to the end: (20 + 40) of 120 rows and 2 steps.
    check = kanon_sql.verify(
        of, **SAID, t_closeness={"pay": {"t": 0.25, "distance": "ordered"}}, against=against, **where
    )
    assert (check.holds, check.summary.findings[1].achieved) == (True, 0.25)


def test_models_without_a_comparison_do_not_mention_one() -> None:
    check = kanon_sql.verify(frame(RELEASED), **SAID, l_diversity={"ill": 2}, against=frame(SOURCE))
    assert check.holds
    assert check.compared_with is None
    assert not kanon_sql.verify(frame(RELEASED), **SAID, l_diversity={"ill": 3})


@pytest.mark.parametrize(
    "options", [{"t_closeness": {"ill": 0.9}}, {"l_diversity": {"ill": {"l": 1, "kind": "entropy"}}}]
)
def test_shares_of_people_with_several_values_are_unknown(options: dict[str, Any]) -> None:
    """Everybody in the first class has both values, everybody in the second one of them."""
    rows = [("a", i, ill) for i in range(10) for ill in ("ill", "well")]
    rows += [("b", 10 + i, ["ill", "well"][i % 2]) for i in range(10)]
    people = pandas.DataFrame(rows, columns=["zip", "person", "ill"])
    check = kanon_sql.verify(people, quasi_identifiers=["zip"], unit="person", k=5, **options)
    assert not check
    finding = check.summary.findings[1]
    assert finding.achieved is None
    assert finding.unsafe_classes == (2 if "t_closeness" in options else 1)
    assert "required, unknown found" in str(check)


def test_impossible_comparisons_are_refused() -> None:
    with pytest.raises(SpecError, match=r"in memory has no column 'ill', to compare .* use `against` the source"):
        kanon_sql.verify(frame(RELEASED), **SAID, t_closeness={"ill": 0.2}, against=frame(SOURCE)[["age", "pay"]])
    with pytest.raises(SpecError, match="people are counted by 'person', which the release does not have"):
        kanon_sql.verify(frame(RELEASED), **SAID, unit="person")


RECIPE = {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 40]}}}}


@pytest.mark.parametrize("target", ["memory", "connection", "file", "database"])
def test_a_release_compares_itself_with_its_source_while_it_exists(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str
) -> None:
    """The class below 30 is suppressed, so that the released rows are not spread as the source's are."""
    monkeypatch.chdir(tmp_path)
    frame(SOURCE).to_csv("people.csv", index=False)
    options: dict[str, Any] = {**RECIPE, "privacy": [t_closeness("ill", 0.2)], "suppression_limit": 0.4}
    if target == "memory":
        release = kanon_sql.anonymize(frame(SOURCE), **options)
    elif target == "connection":
        import duckdb

        connection = duckdb.connect()
        connection.execute("CREATE TABLE people AS SELECT * FROM 'people.csv'")
        release = kanon_sql.anonymize("people", connection=connection, into="anon", **options)
    elif target == "file":
        release = kanon_sql.anonymize("people.csv", output="anon.csv", **options)
    else:
        import duckdb

        with duckdb.connect("office.duckdb") as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM 'people.csv'")
        release = kanon_sql.anonymize("people", database="office.duckdb", into="anon", **options)
    (privacy,) = release.manifest["privacy"]
    assert release.manifest["suppressed_rows"] == 40
    assert privacy["achieved"] == pytest.approx(1 / 6)
    check = release.verify()
    assert check.holds
    assert check.compared_with == release.manifest["source"]
    assert check.summary.findings[0].achieved == privacy["achieved"]
    if target == "file":
        Path("people.csv").unlink()
        alone = release.verify()
        assert (alone.holds, alone.compared_with, alone.summary.findings[0].achieved) == (True, "itself", 0)


def test_the_command_line_reports_what_was_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame(SOURCE).to_csv("people.csv", index=False)
    frame(RELEASED).to_csv("anon.csv", index=False)
    options = ["--quasi-identifiers", "age", "--k", "5", "--t-closeness", "ill=0.16", "--l-diversity", "ill=2"]
    alone = kanon("verify", "anon.csv", *options)
    assert alone.code == 0
    held = "satisfied: 5-anonymous, distinct l-diversity of ill (2), t-closeness of ill (equal distance) (0.16) on age"
    text = " ".join(alone.out.split())
    assert text.startswith(held)
    assert (
        "compared with the release itself, which can lack suppressed rows; to compare them with its source, name "
        "it" in text
    )
    against = kanon("verify", "anon.csv", *options, "--against", "people.csv")
    text = " ".join(against.out.split())
    assert against.code == 1
    assert "not satisfied: 5-anonymous, distinct" in text
    assert "80 rows in 1 class do not meet t-closeness of ill (equal distance) (0.16): 0.1667 found" in text
    assert text.endswith("The classes were compared with people.csv.")
