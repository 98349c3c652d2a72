"""What the tests of engines load and search for."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL, explained
from kanon_sql.queries import Relation

NASTY = [
    "",
    " ",
    "plain",
    "NULL",
    "\\N",
    "\\.",
    "\\",
    '"',
    '""',
    "'",
    "a'b\"c",
    "a;b,c|d\te",
    "line\nline",
    "\r\n",
    "\r",
    "\n",
    "%s {} $1 ?",
    "--",
    "Zoë 東京 🏥",
    "e\u0301",
    "\ufeff",
    "nan",
    "x" * 5000,
]
TABLE = Relation("kanon_loaded")


class ByHand(PostgreSQL):
    """PostgreSQL as a test asks it by hand: what it runs itself is looked up in the schema of the test.

    What is released through its `connection` is not.
    """

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with explained():
            return self._cursor.execute(sql, prepare=False).fetchall()

    def run(self, sql: str) -> int | None:
        with explained():
            self._cursor.execute(sql, prepare=False)
        return self._cursor.rowcount if self._cursor.rowcount >= 0 else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        ((path,),) = self.rows("SHOW search_path")
        with super().transaction():
            self.run(f"SET LOCAL search_path TO {path}")
            yield


def read(engine: Engine, relation: Relation = TABLE) -> list[tuple[Any, ...]]:
    return engine.rows(queries.select_all(relation, engine.dialect))
