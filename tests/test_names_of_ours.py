"""Columns called like those of our own queries; all words of `sql/` are tried by `support.names`."""

from typing import Any

import pytest

from kanon_sql.engines.duckdb import DuckDB
from support.engines import ByHand
from support.names import problems, rows_of, words

# The names that once were ambiguous somewhere, and such as nearly every query has.
ONCE_AMBIGUOUS = [
    ["place", "raw", "overall_c", "overall_size", "overall_values"],
    ["level", "label", "leaves", "value", "class"],
]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["duckdb", "postgres"])
@pytest.mark.parametrize("names", ONCE_AMBIGUOUS, ids=lambda names: names[0])
def test_a_column_may_be_called_like_one_of_ours(
    names: list[str], place: str, request: pytest.FixtureRequest, tmp_path: Any, make_table: Any
) -> None:
    assert set(names) <= set(words())
    database = str(request.getfixturevalue("postgres_dsn")) if place == "postgres" else str(tmp_path / "new.duckdb")
    engine = ByHand.open(database) if place == "postgres" else DuckDB.open(database, create=True)
    make_table(engine, "people", dict.fromkeys(names, "INTEGER"), rows_of(names))
    engine.close()
    assert [*problems("people", names, database=database)] == []
