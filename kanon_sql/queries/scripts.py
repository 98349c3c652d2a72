"""Scripts that create a release as a table or view, and replace an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.errors import SpecError
from kanon_sql.queries import dialects
from kanon_sql.queries import statements as s
from kanon_sql.queries import tree as t
from kanon_sql.queries.inlined_tables import PrintedStatement
from kanon_sql.relation import Relation


def replaced(statement: PrintedStatement, relation: Relation) -> list[Relation]:
    """The tables and views that a script with `replace` might drop."""
    return [relation, _new(relation), *statement.places.values()]


def creating(
    statement: PrintedStatement, relation: Relation, form: str, columns: Sequence[str], replace: bool = False
) -> str:
    """The script that creates a release from a statement, with the tables that it needs.

    `columns`: of the release. `replace`: an earlier release; readers see the earlier or the new one, where the system
    can do that, and a script that fails leaves the earlier one. SpecError where it cannot be replaced.
    """
    dialect = statement.dialect
    if not replace:
        return statement.script(_create(relation, statement.query, dialect, form, columns))
    match dialects.replacing(form, dialect):
        case "or replace":
            return statement.script(_create(relation, statement.query, dialect, form, columns, True), replace=True)
        case "transaction":
            create = _create(relation, statement.query, dialect, form, columns)
            after_drop = statement.script(create, replace=True)
            return _SEPARATOR.join(["BEGIN", s.drop(relation, dialect, form), after_drop, "COMMIT"])
        case "rename":
            new = _new(relation)
            create = _create(new, statement.query, dialect, form, columns)
            script = statement.script(create, replace=True)
            in_catalog = Relation(*relation.parts[-2:]) if dialect == "spark" else relation  # which is the old one's
            moved = f"ALTER TABLE {t.named(new, dialect)} RENAME TO {t.named(in_catalog, dialect)}"
            return _SEPARATOR.join([s.drop(new, dialect), script, s.drop(relation, dialect), moved])
    raise SpecError(
        f"{dialect} cannot replace a table by a statement; use `form='view'`, which it can replace, or drop the table "
        "first and leave out `overwrite`"
    )


def _new(relation: Relation) -> Relation:
    return relation.sibling(f"{relation.name}__new")


_SEPARATOR = ";\n\n"


def _create(
    relation: Relation, query: str, dialect: str, form: str, columns: Sequence[str], replace: bool = False
) -> str:
    options = dialects.table_options(columns, dialect) if form == "table" else ""
    return s.create_as(relation, query, dialect, form, replace=replace, options=options)
