"""What the tests of engines load and look for."""

from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
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


def read(engine: Engine, relation: Relation = TABLE) -> list[tuple[Any, ...]]:
    return engine.rows(queries.select_all(relation, engine.dialect))
