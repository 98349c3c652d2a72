"""How engines that can say something of a table at any time make one."""

from __future__ import annotations

from contextlib import suppress

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import KanonError
from kanon_sql.queries import Relation


def create_and_comment(engine: Engine, relation: Relation, query: str, form: str, comment: str) -> int | None:
    """Make a lasting table or view of a query, then comment on it; the rows that were written, if the engine says."""
    rows = engine.run(queries.create_as(relation, query, engine.dialect, form))
    try:
        engine.run(queries.comment(relation, comment, engine.dialect, form))
    except BaseException:  # what has no comment of ours could not be told from somebody else's
        with suppress(KanonError):  # a transaction that is lost has taken it back
            engine.run(queries.drop(relation, engine.dialect, form))
        raise
    return rows
