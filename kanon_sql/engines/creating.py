"""Creating tables on engines that can comment on existing tables."""

from __future__ import annotations

from contextlib import suppress

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import KanonError
from kanon_sql.queries import Relation


def create_and_comment(engine: Engine, relation: Relation, query: str, form: str, comment: str) -> int | None:
    """Create a lasting table or view from a query, and comment on it; returns the rows written, if reported."""
    rows = engine.run(queries.create_as(relation, query, engine.dialect, form))
    try:
        engine.run(queries.comment(relation, comment, engine.dialect, form))
    except BaseException:  # a table without our comment would look foreign
        with suppress(KanonError):  # a lost transaction has rolled it back
            engine.run(queries.drop(relation, engine.dialect, form))
        raise
    return rows
