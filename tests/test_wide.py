"""Very many quasi-identifiers: no statement with more joins than an engine can plan, and the same releases."""

import random
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.frequency import frequency_set
from kanon_sql.queries import split_joins
from kanon_sql.recode import show
from support.database import MakeTable

VALUES = [None, "aa", "ab", "ba", "bb", "b"]


def rows(count: int, columns: int) -> list[list[Any]]:
    draw = random.Random(7)
    return [[str(i), *(draw.choice(VALUES) for _ in range(columns))] for i in range(count)]


def spec(columns: int, **more: Any) -> dict[str, Any]:
    of_one = {"hierarchy": {"redact": "right"}}
    return {"quasi_identifiers": {f"q{i}": of_one for i in range(columns)}, "identifiers": ["id"], **more}


def types(columns: int) -> dict[str, str]:
    return {"id": "VARCHAR(9)", **{f"q{i}": "VARCHAR(9)" for i in range(columns)}}


ASKED: list[dict[str, Any]] = [
    {"strategy": "best_first", "form": "view"},
    {"strategy": "best_first", "mask": True, "suppression_limit": 0.4},
    {"strategy": "mondrian", "show": "mode"},
    {"strategy": "mondrian", "form": "view"},
    {"strategy": "mondrian_relaxed"},
    {"strategy": "refine", "seed": 3},
    {"strategy": "prioprivacy", "wildcard_suppression": True},
]


@pytest.mark.parametrize("options", ASKED, ids=str)
@pytest.mark.slow
@pytest.mark.sampled
def test_a_release_in_pieces_is_the_same_release(
    engine: Engine, make_table: MakeTable, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    if engine.name == "postgresql" and options["strategy"] not in ("best_first", "prioprivacy"):
        pytest.skip("the others are recoded in an embedded DuckDB, and split there as these are on a server")
    make_table(engine, "people", types(4), rows(60, 4))
    options = {"connection": engine.connection, "k": 3, "suppression_limit": 0.1, **options}  # type: ignore[attr-defined]
    released = []
    for most in (split_joins.MOST_JOINS, 1):
        monkeypatch.setattr(split_joins, "MOST_JOINS", most)
        monkeypatch.setattr(show, "_ATTRIBUTES", 3 * most)
        release = kanon_sql.anonymize("people", spec(4), into=f"anon{most}", **options)
        assert ("kanon_piece_1" in release.manifest["sql"]["frequency_set"][1]) == (most < 4)
        released.append((str(release.to_df().values.tolist()), release.manifest["information_loss"]))
    (shown, lost), *others = released
    assert others == [(shown, pytest.approx(lost))]  # sums of floats depend on the order of what is added


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that a DuckDB is given."""
    given: list[str] = []
    for method in ("run", "rows"):
        before = getattr(DuckDB, method)

        def noting(self: DuckDB, sql: str, before: Any = before) -> Any:
            given.append(sql)
            return before(self, sql)

        monkeypatch.setattr(DuckDB, method, noting)
    return given


@pytest.mark.parametrize("strategy", ["auto", "mondrian", "refine"])
@pytest.mark.slow
@pytest.mark.sampled
def test_no_select_joins_more_than_can_be_planned(statements: list[str], strategy: str) -> None:
    """DuckDB plans a hundred joins in some seconds and three hundred in minutes, and cannot be interrupted in it."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT range AS id FROM RANGE(40)")
    for i in range(30):
        connection.execute(f"ALTER TABLE people ADD COLUMN q{i} VARCHAR DEFAULT 'a'")
        connection.execute(f"UPDATE people SET q{i} = IF(id % {i + 2} = 0, 'ab', 'bb')")
    release = kanon_sql.anonymize("people", spec(30), connection=connection, k=2, strategy=strategy, time_limit=1)
    assert release.manifest["verified"]
    joins = [len(s.args.get("joins") or ()) for sql in statements for s in select_trees(sql)]
    assert 2 <= max(joins) <= split_joins.MOST_JOINS + 1


def select_trees(sql: str) -> list[exp.Select]:
    return (
        list(sqlglot.parse_one(sql, "duckdb").find_all(exp.Select))
        if sql.count("JOIN") > split_joins.MOST_JOINS
        else []
    )


@pytest.mark.parametrize("strategy", ["mondrian", "refine"])
@pytest.mark.sampled
def test_cells_counted_together_give_the_same_release(
    monkeypatch: pytest.MonkeyPatch, statements: list[str], strategy: str
) -> None:
    """With values that are NULL, and values in no hierarchy, which are shown as `*`."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT CASE WHEN i % 11 > 0 THEN i * i % 23 END AS age, (i * 7 % 5) / 4 AS weight, "
        "i % 9 AS rooms, CASE i % 4 WHEN 0 THEN 'x' WHEN 1 THEN 'y' ELSE 'z' END AS ward FROM range(90) AS t(i)"
    )
    hierarchies: dict[str, Any] = {
        "age": {"hierarchy": {"ranges": [5, 10]}, "show": "common"},
        "weight": {"hierarchy": {"ranges": [0.5]}, "show": "ranges"},
        "rooms": {"hierarchy": {"ranges": [3]}, "show": "mean"},
        "ward": {"hierarchy": {"groups": [{"xy": ["x", "y"]}]}},
    }
    options: dict[str, Any] = {"k": 4, "suppression_limit": 0.2, "strategy": strategy, "unmapped": "top", "seed": 1}
    released, figures = [], []
    for few in (24, 0):
        monkeypatch.setattr(frequency_set, "_FEW_ATTRIBUTES", few)
        monkeypatch.setattr(show, "_FEW", few)
        release = kanon_sql.anonymize(
            "people", {"quasi_identifiers": hierarchies}, connection=connection, into=f"anon{few}", **options
        )
        damage = {f"{row['column']} {name}": value for row in release.manifest["damage"] for name, value in row.items()}
        released.append(release.to_df().to_dict())
        figures.append(release.manifest["information_loss"] | damage)
        assert any(" AS covered" in statement for statement in statements) == (few == 0)
    assert released[0] == released[1]
    one_by_one, together = figures
    assert together == pytest.approx(one_by_one, abs=1e-12)
    assert 0 < together["age squared_error"] < 1
