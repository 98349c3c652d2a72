"""The mapping tables of a compiled model as private tables in the database of the source, next to its table."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql import queries
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.plan.source import Source
from kanon_sql.queries import PrintedStatement, Relation
from kanon_sql.release import tables
from kanon_sql.release.pieces import companion


def created(source: Source, model: str, statements: Sequence[PrintedStatement]) -> dict[str, Relation]:
    """Create or replace the mapping tables of statements; their places, by the names that the statements use.

    They are named after the model and have its name in their comment. Only such a table is replaced. Only its owner can
    read it: others, such as the role of dbt, need a GRANT.
    """
    engine = source.engine
    _check(source, [statement.dialect for statement in statements])
    places = {}
    for statement in statements:
        for table in statement.tables:
            place = companion(source.table.relation.sibling(model), table.name.removeprefix("kanon_"))
            engine.check_writable(place)
            if engine.existing(place) and tables.about(engine, place) != _about(model):
                raise TargetError(
                    f"there is a table {place.name} that is not a mapping table of {model}; rename it, or name another "
                    "model with `into`"
                )
            engine.run(queries.drop(place, engine.dialect))
            for sql in table.statements(engine.dialect, place):
                engine.run(sql)
            engine.run(queries.comment(place, tables.comment(_about(model)), engine.dialect))
            tables.keep_private(engine, place)
            places[table.name] = place
    return places


def _check(source: Source, dialects: Sequence[str]) -> None:
    """SpecError unless the tables can be where the model reads."""
    others = [dialect for dialect in dialects if dialect != source.engine.dialect]
    if others or source.counted_by is not None:
        raise SpecError(
            f"the mapping tables would be in {source.engine.name}, where a model for {', '.join(others or dialects)} "
            "cannot read them; leave out these dialects, or use `mappings='seed'`"
        )
    if source.files or len(source.table.relation.parts) < 2 or source.table.relation.parts[0] == "temp":
        raise SpecError(
            "the mapping tables are created next to the source's table, and the source is not a table of a database; "
            "name its `database`, or use `mappings='seed'`"
        )


def _about(model: str) -> dict[str, str]:
    return {"is": "a mapping table", "of": model}
